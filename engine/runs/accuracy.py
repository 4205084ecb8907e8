"""A tolerance instead of a step: which formulation, integrator and step reach it.

Smooth motion is solved by dop853, whose local error is made smaller until two runs agree. All
else is stepped with dt / n, n = 1, 2, 4, ...: with an error C h^p the finer of two runs errs by

    |x(h) - x(h/2)| / (2^p - 1),   p as in verification.py

for smooth motion, from three runs. The error of an impact, a stop, a drive that starts or a trigger
is of first order, with a factor that depends on where in a step it comes: two runs may agree by
chance, and three may seem to be of second order. The factor is taken from the worst pair of at
least four:

    max over all pairs of |x(h_j) - x(h_j/2)| / (h_j/2), times the last h

Trials end when this is within the tolerance, or when the next one would be beyond a limit of work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cardan.engine.build.faults import SceneError
from cardan.engine.build.options import with_options
from cardan.engine.build.scene import build
from cardan.engine.runs.overview import allowed_steps
from cardan.engine.runs.trials import Trial, Trials, judged
from cardan.engine.runs.verification import ROUNDING, Stopped, Track
from cardan.engine.simulation import Simulation
from cardan.engine.verdict import sentence, verdict_for
from cardan.engine.verdict.solver_errors import EXACT, EXACT_SWEEPS, EXACT_TOLERANCE
from cardan.engine.world.options import SolverMethod
from cardan.schemas import Scene, scene_hash

# local errors of dop853 and radau that are tried, one after the other
LOCAL_ERRORS = (1e-8, 1e-10, 1e-12)
ADAPTIVE = ("dop853", "radau")
# errors by their units
ERRORS = {
    "m": "position_error",
    "m/s": "velocity_error",
    "rad": "angle_error",
    "N": "reaction_error",
}
# by what factor a formulation must depend less on the step than the one that suits the joints
BETTER = 2.0
# both are only tried where that leaves work: so many times the first refinement are allowed
SPARED = 24
# share of what is asked for that the usual solution may differ from it
SOLVED = 0.1
# methods that solve to rounding; the others sweep until little changes
DIRECT = (SolverMethod.PIVOTING, SolverMethod.ELIMINATION, SolverMethod.LEMKE)


class Choice(NamedTuple):
    """How a scene with a tolerance is run."""

    scene: Scene
    """The scene with formulation, integrator and step, and without the tolerance."""
    found: dict[str, Any]
    """Keys of schemas.summary.Accuracy."""


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
    """The formulation whose answer depends less on the step, and its runs by their refinement.

    The runs are the first one and that with half of its step.

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


def exact_enough(
    trials: Trials, scene: Scene, runs: dict[int, Track]
) -> tuple[Scene, dict[int, Track]]:
    """The scene with a solver whose errors do not matter beside what is asked for, and its runs.

    The solver of the scene is compared with one that sweeps to EXACT_TOLERANCE, where it sweeps and
    the scene leaves that open.
    """
    named, refinement = scene.simulation.solver.model_fields_set, first_refinement(trials, scene)
    if {"tolerance", "max_iterations"} & named or not trials.affordable(SPARED * refinement):
        return scene, runs
    usual = runs.get(refinement) or trials.run(scene, refinement)
    if not sweeps(usual):
        return scene, {**runs, refinement: usual}
    exact = with_options(scene, solver=scene.simulation.solver.model_copy(update=EXACT))
    solved = trials.run(exact, refinement)
    found = judged(scene, trials.distance(usual, solved), None)
    dt = scene.simulation.dt / refinement
    enough = found.error <= SOLVED
    trials.reasons.append(
        f"Solver {scene.simulation.solver.method}, {'as it is' if enough else 'made exact'}: with "
        f"dt {dt:.3g} s, a tolerance of {EXACT_TOLERANCE:g} m/s and {EXACT_SWEEPS} sweeps change "
        f"the answer by {trials.told(found.shares)}."
    )
    return (scene, {**runs, refinement: usual}) if enough else (exact, {refinement: solved})


def sweeps(run: Track) -> bool:
    """Whether a run used a method that is not direct."""
    direct = sum(1 << method for method in DIRECT)
    return run.methods & ~direct != 0


def refinements(trials: Trials, scene: Scene, runs: dict[int, Track]) -> Iterator[int]:
    """1, 2, 4, ... times the first refinement, as far as the limit of work allows; what was run
    costs nothing."""
    refinement = first_refinement(trials, scene)
    while refinement in runs or trials.affordable(refinement):
        yield refinement
        refinement *= 2


def stepped_trial(trials: Trials) -> Trial:
    """The best of runs with half the step each."""
    scene, runs = exact_enough(trials, *better_formulation(trials))
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
        "reaction_asked": trials.asked.reaction,
    }
    for share, (limit, unit) in zip(best.shares, trials.limits, strict=True):
        errors[ERRORS[unit]] = share * limit if math.isfinite(share) else None
    if errors["position_error"] is not None:
        # two runs with the same bits differ by rounding from the truth
        errors["position_error"] = max(errors["position_error"], ROUNDING * trials.size)
    return {
        "asked": trials.asked.position,
        **errors,
        "reached": best.error <= 1.0,
        "formulation": build(best.scene).formulation,
        "integrator": options.integrator,
        "solver": options.solver.method,
        "solver_tolerance": options.solver.tolerance,
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
