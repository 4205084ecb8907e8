"""Trial runs of a scene that names a tolerance: their errors, and the work they were.

Places, velocities, orientations and forces of joints are compared at the same moments, each over
what was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import SceneError
from cardan.engine.build.options import with_options
from cardan.engine.build.rotations import turned_apart
from cardan.engine.build.scene import build
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
from cardan.schemas import Scene

Array = NDArray[np.float64]

# observed orders from here on are those of smooth motion [-]
SMOOTH = 1.5
# differences of runs above this share of the scene's size say nothing about the order
CONVERGING = 0.1


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
            (self.asked.reaction, "N"),
        )
        self.limits = [(limit, unit) for limit, unit in limits if limit is not None]
        self.scene = with_options(scene)
        self.total = max(1, round(scene.simulation.duration / scene.simulation.dt))
        self.steps, self.runs = 0, 0
        self.reasons: list[str] = []
        # why smooth integrators do not take the scene, or their tolerance says nothing of its error
        self.jumps = refusal(with_options(scene, formulation="reduced", integrator="rk4"))
        if self.jumps is None and scene.triggers:
            self.jumps = "triggers act at the end of the step in which they fire."
        self.smooth = self.jumps is None
        self._progress, self._should_stop = progress, should_stop
        spread = np.linspace(0, self.total, MOMENTS + 1)
        self._moments = np.unique(spread.round().astype(int)).tolist()
        probe = Simulation(self.scene)
        self._length = lengths(probe)
        self._children = probe.model.joints.body_b
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
        forces = np.zeros_like(speeds)
        for j, child in enumerate(self._children.tolist()):
            of_joint = np.linalg.norm(a.reactions[:, j] - b.reactions[:, j], axis=1)
            forces[:, child] = np.maximum(forces[:, child], of_joint)
        all_of = {"m": apart(a, b, self._length), "m/s": speeds, "rad": turned, "N": forces}
        return np.stack([all_of[unit] / limit for limit, unit in self.limits], axis=2)

    def difference(self, runs: list[Track]) -> tuple[Array, float | None]:
        """(k, n, q): error of the last of several runs, each with half the step, over each limit;
        observed order."""
        pairs = [self.distance(a, b) for a, b in pairwise(runs)]
        size = self.size / self.asked.position
        least, most = ROUNDING * size, CONVERGING * size
        coarse, fine = (largest(pair[:, :, :1]) for pair in pairs[-2:])
        order = observed_order(coarse, fine, least, most)
        if self.smooth and order is not None and order >= SMOOTH:
            return pairs[-1] / (2.0 ** min(order, LARGEST_ORDER) - 1.0), order
        error = pairs[-1]
        for j, pair in enumerate(reversed(pairs[:-1]), 1):
            error = np.fmax(error, 0.5**j * pair)
        return np.where(np.isfinite(pairs[-1]), error, math.inf), order


def refusal(scene: Scene) -> str | None:
    """Why the engine does not take a scene, in its own words; None: it does."""
    try:
        build(scene)
    except SceneError as error:
        return error.errors[0].message
    return None


def judged(scene: Scene, error: Array, order: float | None) -> Trial:
    """A trial with errors (k, n, q) of its bodies over the limits; no number is infinite."""
    flat = np.where(np.isfinite(error), error, math.inf)
    shares = tuple(flat.max(axis=(0, 1), initial=0.0).tolist())
    worst = flat.max(axis=(0, 2), initial=0.0)
    return Trial(scene, shares, order, int(np.argmax(worst)) if len(worst) else 0)
