"""A tolerance instead of a step: which formulation, integrator and step reach it.

Smooth motion is solved by dop853, whose local error is made smaller until two runs agree. All
else is stepped with dt / n, n = 1, 2, 4, ...: with an error C h^p the finer of two runs errs by

    |x(h) - x(h/2)| / (2^p - 1),   p as in verification.py

for smooth motion, from three runs. The error of an impact, a stop or a drive that starts is of
first order, with a factor that depends on where in a step it comes: two runs may agree by chance,
and three may seem to be of second order. The factor is taken from the worst pair of at least four:

    max over all pairs of |x(h_j) - x(h_j/2)| / (h_j/2), times the last h

Trials end when this is within the tolerance, or when the next one would be beyond a limit of work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import SceneError
from cardan.engine.build.options import with_options
from cardan.engine.build.rotations import turned_apart
from cardan.engine.build.scene import build
from cardan.engine.runs.overview import allowed_steps
from cardan.engine.runs.own_motions import lengths
from cardan.engine.runs.verification import (
    LARGEST_ORDER,
    MOMENTS,
    ROUNDING,
    Stopped,
    Track,
    apart,
    largest,
    observed_order,
    scene_size,
    track,
)
from cardan.engine.simulation import Simulation
from cardan.engine.verdict import sentence, verdict_for
from cardan.schemas import Scene, scene_hash

Array = NDArray[np.float64]

# local errors of dop853 and radau that are tried, one after the other
LOCAL_ERRORS = (1e-8, 1e-10, 1e-12)
# observed orders from here on are those of smooth motion [-]
SMOOTH = 1.5
# differences of runs above this share of the scene's size say nothing about the order
CONVERGING = 0.1
ADAPTIVE = ("dop853", "radau")
# errors by their units
ERRORS = {"m": "position_error", "m/s": "velocity_error", "rad": "angle_error"}
# by what factor a formulation must depend less on the step than the one that suits the joints
BETTER = 2.0
# both are only tried where that leaves work: so many times the first refinement are allowed
SPARED = 24


class Choice(NamedTuple):
    """How a scene with a tolerance is run."""

    scene: Scene
    """The scene with formulation, integrator and step, and without the tolerance."""
    found: dict[str, Any]
    """Keys of schemas.summary.Accuracy."""


class Trial(NamedTuple):
    """A run that was tried, and what is known of its error."""

    scene: Scene
    shares: tuple[float, ...]
    """Estimated errors over what was asked for: of positions, and of what else was [-]; inf before
    there are two runs."""
    order: float | None
    """Observed order [-]."""
    worst: int
    """The body that errs most."""

    @property
    def error(self) -> float:
        """The largest of the shares."""
        return max(self.shares)


class Trials:
    """Runs of one scene, compared at the same moments, and the work they were."""

    def __init__(
        self,
        scene: Scene,
        progress: Callable[[float], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        """Tell progress (share of the work that is allowed) and stop when should_stop says so."""
        assert scene.simulation.accuracy is not None
        self.asked = scene.simulation.accuracy
        # largest errors, with their units
        limits = (
            (self.asked.position, "m"),
            (self.asked.velocity, "m/s"),
            (self.asked.angle, "rad"),
        )
        self.limits = [(limit, unit) for limit, unit in limits if limit is not None]
        self.scene = with_options(scene)
        self.total = max(1, round(scene.simulation.duration / scene.simulation.dt))
        self.steps, self.runs = 0, 0
        self.reasons: list[str] = []
        # why smooth integrators do not take the scene
        self.jumps = refusal(with_options(scene, formulation="reduced", integrator="rk4"))
        self.smooth = self.jumps is None
        self._progress, self._should_stop = progress, should_stop
        spread = np.linspace(0, self.total, MOMENTS + 1)
        self._moments = np.unique(spread.round().astype(int)).tolist()
        probe = Simulation(self.scene)
        self._length = lengths(probe)
        # size of the scene: of all ways, at least the longest body [m]
        self.size = float(self._length.max(initial=0.0))

    def affordable(self, refinement: int) -> bool:
        """Whether a run with dt / refinement is within the limit of work."""
        return self.steps + refinement * self.total <= self.asked.max_steps

    def told(self, shares: Sequence[float]) -> str:
        """Errors, given as shares of the limits, in words."""
        errors = zip(shares, self.limits, strict=True)
        return ", ".join(f"{share * limit:.2g} {unit}" for share, (limit, unit) in errors)

    def run(self, scene: Scene, refinement: int) -> Track:
        """Run a scene with dt / refinement. Raises Stopped."""

        def tell(_refinement: int) -> None:
            if self._should_stop is not None and self._should_stop():
                raise Stopped
            if self._progress is not None:
                self._progress(min(self.steps / self.asked.max_steps, 1.0))

        found = track(scene, refinement, self._moments, tell, self._should_stop)
        self.steps += refinement * self.total
        self.runs += 1
        self.size = max(self.size, scene_size(found, self._length))
        return found

    def distance(self, a: Track, b: Track) -> Array:
        """(k, n, q): how far the bodies of two runs are apart, over each of the q limits."""
        speeds = np.linalg.norm(a.velocities[:, :, :3] - b.velocities[:, :, :3], axis=2)
        turned = turned_apart(a.poses[:, :, 3:], b.poses[:, :, 3:])
        all_of = {"m": apart(a, b, self._length), "m/s": speeds, "rad": turned}
        return np.stack([all_of[unit] / limit for limit, unit in self.limits], axis=2)

    def difference(self, runs: list[Track]) -> tuple[Array, float | None]:
        """(k, n, q): error of the last of several runs, each with half the step, over each limit;
        observed order."""
        pairs = [self.distance(a, b) for a, b in pairwise(runs)]
        size = self.size / self.asked.position
        least, most = ROUNDING * size, CONVERGING * size
        order = observed_order(largest(pairs[-2]), largest(pairs[-1]), least, most)
        if self.smooth and order is not None and order >= SMOOTH:
            return pairs[-1] / (2.0 ** min(order, LARGEST_ORDER) - 1.0), order
        error = pairs[-1]
        for j, pair in enumerate(reversed(pairs[:-1]), 1):
            error = np.fmax(error, 0.5**j * pair)
        return np.where(np.isfinite(pairs[-1]), error, math.inf), order


def choose(
    scene: Scene,
    progress: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Choice | None:
    """Find how a scene reaches `simulation.accuracy`, by trial runs.

    Formulation and integrator are kept where the scene names them. Returns None if should_stop()
    said so. Raises SceneError.
    """
    trials = Trials(scene, progress, should_stop)
    try:
        best = smooth_trial(trials)
        if best is None or not best.error <= 1.0:
            stepped = stepped_trial(trials)
            best = stepped if best is None or stepped.error < best.error else best
    except Stopped:
        return None
    return Choice(recorded_as(scene, best.scene), account(trials, best))


def refusal(scene: Scene) -> str | None:
    """Why the engine does not take a scene, in its own words; None: it does."""
    try:
        build(scene)
    except SceneError as error:
        return error.errors[0].message
    return None


def named_options(scene: Scene) -> frozenset[str]:
    """Options of the simulation that the scene itself chooses; `auto` leaves the choice open."""
    named = frozenset(scene.simulation.model_fields_set)
    return named - {"formulation"} if scene.simulation.formulation == "auto" else named


def smooth_trial(trials: Trials) -> Trial | None:
    """The best of runs with an adaptive integrator; None: the scene does not allow one."""
    named = named_options(trials.scene)
    integrator = trials.scene.simulation.integrator if "integrator" in named else "dop853"
    kept = "formulation" in named and trials.scene.simulation.formulation == "maximal"
    if integrator not in ADAPTIVE or kept:
        trials.reasons.append("Stepped: the scene names its formulation or integrator.")
        return None
    if trials.jumps is not None:
        trials.reasons.append(f"Stepped: {trials.jumps}")
        return None
    scene = with_options(trials.scene, formulation="reduced", integrator=integrator)
    best: Trial | None = None
    before: Track | None = None
    for local in LOCAL_ERRORS:
        if not trials.affordable(1):
            break
        finer = with_options(scene, integrator_tolerance=local)
        now = trials.run(finer, 1)
        if before is not None:
            # the coarser of two runs errs by their difference, the finer one by less
            best = judged(finer, trials.distance(before, now), None)
            if best.error <= 1.0:
                break
        before = now
    if best is not None and math.isfinite(best.error):
        trials.reasons.append(
            f"{integrator} in reduced coordinates: the motion is smooth, nothing touches."
        )
        return best
    trials.reasons.append(f"Stepped: {integrator} did not come to the end of the run.")
    return None


def judged(scene: Scene, error: Array, order: float | None) -> Trial:
    """A trial with errors (k, n, q) of its bodies over the limits; no number is infinite."""
    flat = np.where(np.isfinite(error), error, math.inf)
    shares = tuple(flat.max(axis=(0, 1), initial=0.0).tolist())
    worst = flat.max(axis=(0, 2), initial=0.0)
    return Trial(scene, shares, order, int(np.argmax(worst)) if len(worst) else 0)


def first_refinement(trials: Trials, scene: Scene) -> int:
    """The least power of two by which dt is within what stiffness, speeds and turns allow."""
    allowed = [one for one in allowed_steps(Simulation(scene)).values() if one is not None]
    ratio = scene.simulation.dt / min(allowed, default=math.inf)
    refinement = 1
    while refinement < ratio and trials.affordable(4 * refinement):
        refinement *= 2
    return refinement


def stepped_scenes(trials: Trials) -> list[Scene]:
    """The scene in each formulation that it leaves open, the one that suits it first: joint
    coordinates where all joints are part of a tree."""
    stepped = with_options(trials.scene, integrator="semi_implicit_euler")
    named = named_options(trials.scene)
    if "integrator" in named and trials.scene.simulation.integrator not in ADAPTIVE:
        stepped = trials.scene
    if "formulation" in named or not trials.scene.joints:
        return [stepped]
    maximal = with_options(stepped, formulation="maximal")
    reduced = with_options(stepped, formulation="reduced")
    try:
        built = build(reduced)
    except SceneError:
        return [maximal]
    return [reduced, maximal] if built.model.tree.inner.all() else [maximal, reduced]


def better_formulation(trials: Trials) -> tuple[Scene, dict[int, Track]]:
    """Of the formulations that are open the one whose answer depends less on the step, and what was
    run of it, by its refinement: the first one, and half of its step.

    The one that suits the joints is kept unless the other one depends on it BETTER times less.
    """
    scenes = stepped_scenes(trials)
    refinement = max(first_refinement(trials, scene) for scene in scenes)
    if len(scenes) == 1 or not trials.affordable(SPARED * refinement):
        return scenes[0], {}
    tried = (refinement, 2 * refinement)
    runs = [{n: trials.run(scene, n) for n in tried} for scene in scenes]
    errors = [judged(scenes[0], trials.distance(*pair.values()), None) for pair in runs]
    finer = [pair[2 * refinement] for pair in runs]
    apart_by = judged(scenes[0], trials.distance(*finer), None)
    chosen = 1 if BETTER * errors[1].error < errors[0].error else 0
    words = [scene.simulation.formulation for scene in scenes]
    dt = trials.scene.simulation.dt / refinement
    trials.reasons.append(
        f"{words[chosen].capitalize()} coordinates: with half of dt {dt:.3g} s the answer changes "
        f"by {trials.told(errors[chosen].shares)}, in {words[1 - chosen]} ones by "
        f"{trials.told(errors[1 - chosen].shares)}; the two are "
        f"{trials.told(apart_by.shares)} apart."
    )
    return scenes[chosen], runs[chosen]


def refinements(trials: Trials, scene: Scene, runs: dict[int, Track]) -> Iterator[int]:
    """1, 2, 4, ... times the first refinement, as far as the limit of work allows; what was run
    costs nothing."""
    refinement = first_refinement(trials, scene)
    while refinement in runs or trials.affordable(refinement):
        yield refinement
        refinement *= 2


def stepped_trial(trials: Trials) -> Trial:
    """The best of runs with half the step each."""
    scene, runs = better_formulation(trials)
    best = Trial(scene, (math.inf,) * len(trials.limits), None, 0)
    upto: list[Track] = []
    for refinement in refinements(trials, scene, runs):
        upto.append(runs.get(refinement) or trials.run(scene, refinement))
        finer = with_options(scene, dt=scene.simulation.dt / refinement)
        if len(upto) < (3 if trials.smooth else 4):
            best = best._replace(scene=finer)
            continue
        difference, order = trials.difference(upto)
        now = judged(finer, difference, order)
        best = now if now.error < best.error else best
        if best.error <= 1.0:
            trials.reasons.append(
                f"dt {finer.simulation.dt:.3g} s: {len(upto)} runs, each with half the step of the "
                f"one before, leave an error of {trials.told(best.shares)}."
            )
            return best
    trials.reasons.append(
        f"The limit of work, {trials.asked.max_steps} steps of all trials, was met."
    )
    return best


def recorded_as(scene: Scene, chosen: Scene) -> Scene:
    """A chosen scene that records at the times the given one does."""
    refinement = round(scene.simulation.dt / chosen.simulation.dt)
    if chosen.record.rate is not None or refinement == 1:
        return chosen
    record = chosen.record.model_copy(update={"every": chosen.record.every * refinement})
    return chosen.model_copy(update={"record": record})


def account(trials: Trials, best: Trial) -> dict[str, Any]:
    """The keys of schemas.summary.Accuracy."""
    options = best.scene.simulation
    names = [body.name for body in trials.scene.bodies]
    adaptive = options.integrator in ADAPTIVE
    errors: dict[str, float | None] = {
        "velocity_asked": trials.asked.velocity,
        "angle_asked": trials.asked.angle,
    }
    for share, (limit, unit) in zip(best.shares, trials.limits, strict=True):
        errors[ERRORS[unit]] = share * limit if math.isfinite(share) else None
    return {
        "asked": trials.asked.position,
        "position_error": None,
        **errors,
        "reached": best.error <= 1.0,
        "formulation": build(best.scene).formulation,
        "integrator": options.integrator,
        "integrator_tolerance": options.integrator_tolerance if adaptive else None,
        "dt": options.dt,
        "order": best.order,
        "runs": trials.runs,
        "trial_steps": trials.steps,
        "size": trials.size,
        "worst": names[best.worst] if names else None,
        "reasons": trials.reasons,
    }


def add_accuracy(summary: dict[str, Any], scene: Scene, found: dict[str, Any]) -> None:
    """Put what was chosen into the summary of the chosen run: it is that of the given scene."""
    withdrawn = [sentence(one) for one in summary["verdict"]["findings"]]
    summary["scene_hash"] = scene_hash(scene)
    summary["accuracy"] = found
    summary["verdict"] = verdict_for(summary["verdict"], found)
    said = [sentence(one) for one in summary["verdict"]["findings"]]
    summary["warnings"] = [*said, *(t for t in summary["warnings"] if t not in withdrawn)]
