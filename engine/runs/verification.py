"""How far a run can be believed: the same scene with half and a quarter of the step.

With x(h) the answer of a step h and an error C h^p, three answers give the order and the error:

    x(h) - x(h/2)  =  C h^p (1 - 2^-p)
    p              =  log2 (|x(h) - x(h/2)| / |x(h/2) - x(h/4)|)
    error of x(h)  =  |x(h) - x(h/2)| / (1 - 2^-p)

(Richardson 1911). The trust horizon is the time up to which this error stays within a share of the
scene's size: before it the answer does not depend on the step, after it it does, as in chaotic
motion and after impacts that come in another order. What is small beside the scene is judged by its
own motion (engine/runs/own_motions.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.rotations import turned_apart
from cardan.engine.outputs.reports import joint_forces
from cardan.engine.runs.own_motions import Motions, largest_share, lengths
from cardan.engine.simulation import Simulation
from cardan.engine.verdict import sentence, verdict_with
from cardan.engine.verdict.springs import stretches
from cardan.schemas import GivenScene, Scene, scene_of

Array = NDArray[np.float64]

# moments that are compared, evenly spread, at most
MOMENTS = 200
# two answers that are closer than this share of the tolerance need no third
CLEAR = 1e-3
# orders that errors are extrapolated by: that of impacts and of smooth motion
LEAST_ORDER, LARGEST_ORDER = 1.0, 2.0
# differences below this share of the size are rounding
ROUNDING = 1e-11


class Track(NamedTuple):
    """A run at the moments that are compared."""

    dt: float
    """Step of the scene [s]."""
    time: Array
    """(k,) s."""
    poses: Array
    """(k, n, 7): origin [m], orientation."""
    velocities: Array
    """(k, n, 6): of the origin [m/s], angular [rad/s]."""
    reactions: Array
    """(k, j, 3) N: force of each joint on its child, in W; of steps the mean of those before and
    after the moment."""
    stretches: Array
    """(k, s) m or rad: coordinates of springs."""
    methods: int
    """Bits 1 << SolverMethod of what solved its steps."""

    def motions(self) -> Motions:
        """The motions that are compared, each with its own reach."""
        return Motions(self.poses[:, :, :3], self.poses[:, :, 3:], self.stretches)


class Stopped(Exception):  # noqa: N818 - it is no error
    """The verification was stopped on request."""


def forces_of_joints(simulation: Simulation) -> Array:
    """(j, 3) N: force of each joint on its child in the last step, in W."""
    reaction, _ = joint_forces(simulation.world, simulation._handle)
    return reaction[:, :3]


def track(
    scene: Scene,
    refinement: int,
    moments: Sequence[int],
    tell: Callable[[int], None],
    should_stop: Callable[[], bool] | None = None,
) -> Track:
    """Run a scene with dt / refinement and look at it after these steps of dt.

    A run that fails has nan from there on. should_stop: as of Simulation.advance.
    """
    options = scene.simulation
    finer = options.model_copy(update={"dt": options.dt / refinement})
    simulation = Simulation(scene.model_copy(update={"simulation": finer}))
    poses, velocities, reactions, springs = [], [], [], []
    for moment in moments:
        simulation.advance(refinement * moment - simulation.step_count, should_stop)
        tell(refinement)
        failed = simulation.failure is not None
        poses.append(simulation.poses() * (math.nan if failed else 1.0))
        velocities.append(simulation.velocities())
        motion = simulation.placement.joint_motion(simulation.state)
        springs.append(stretches(simulation.model, simulation.state, motion))
        reactions.append(forces_of_joints(simulation))
        if options.integrator == "semi_implicit_euler" and moment > 0:
            # forces of a step are those of its middle: so this is of second order
            simulation.advance(1, should_stop)
            reactions[-1] = 0.5 * (reactions[-1] + forces_of_joints(simulation))
    times = options.dt * np.array(moments, float)
    return Track(
        options.dt,
        times,
        np.array(poses),
        np.array(velocities),
        np.array(reactions),
        np.array(springs),
        int(simulation.report.methods[0]),
    )


def apart(a: Track, b: Track, length: Array) -> Array:
    """(k, n) m: how far the bodies of two runs are apart, ends of long bodies included."""
    way = np.linalg.norm(a.poses[:, :, :3] - b.poses[:, :, :3], axis=2)
    turned = turned_apart(a.poses[:, :, 3:], b.poses[:, :, 3:])
    found: Array = np.maximum(way, 0.5 * length * turned)
    return found


def scene_size(run: Track, length: Array) -> float:
    """The diagonal of the box about all ways of the bodies, at least the longest body [m]."""
    corners = run.poses[:, :, :3].reshape(-1, 3)
    corners = corners[np.isfinite(corners).all(axis=1)]
    ways = float(np.linalg.norm(np.ptp(corners, axis=0))) if len(corners) else 0.0
    return max(ways, float(length.max(initial=0.0)))


def observed_order(first: Array, second: Array, least: float, most: float) -> float | None:
    """log2 of the ratio of two differences, over moments where both mean something; else None."""
    told = (second > least) & (first > least) & (first < most)
    if not told.any():
        return None
    return float(np.median(np.log2(first[told] / second[told])))


def extrapolated(difference: Array, order: float | None) -> Array:
    """Error of the coarser of two answers, by their difference and the order [as difference]."""
    p = LEAST_ORDER if order is None else min(max(order, LEAST_ORDER), LARGEST_ORDER)
    error: Array = difference / (1.0 - 2.0**-p)
    return error


def largest(difference: Array) -> Array:
    """(k,): the largest of each moment; where there is no number inf."""
    flat = difference.reshape(len(difference), -1)
    return np.nan_to_num(flat.max(axis=1, initial=0.0), nan=math.inf)


@overload
def verify(
    scene: GivenScene,
    tolerance: float | None = None,
    progress: Callable[[float], None] | None = None,
    should_stop: None = None,
) -> dict[str, Any]: ...
@overload
def verify(
    scene: GivenScene,
    tolerance: float | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    should_stop: Callable[[], bool],
) -> dict[str, Any] | None: ...
def verify(
    scene: GivenScene,
    tolerance: float | None = None,
    progress: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, Any] | None:
    """Run a scene with dt, dt/2 and, unless the two agree, dt/4; tell what depends on the step.

    tolerance [-]: share of the scene's size; none: `simulation.verify_tolerance`.
    Returns the keys of schemas.summary.Verification; None if should_stop() said so. Raises
    SceneInvalid, SceneError.
    """
    scene = scene_of(scene)
    if tolerance is None:
        tolerance = scene.simulation.verify_tolerance
    total = max(1, round(scene.simulation.duration / scene.simulation.dt))
    moments = np.unique(np.linspace(0, total, MOMENTS + 1).round().astype(int)).tolist()
    done = 0.0

    def tell(refinement: int) -> None:
        nonlocal done
        done += refinement / (7 * len(moments))
        if should_stop is not None and should_stop():
            raise Stopped
        if progress is not None:
            progress(min(done, 1.0))

    probe = Simulation(scene)
    try:
        runs = [track(scene, refinement, moments, tell, should_stop) for refinement in (1, 2)]
        if not agree(runs, tolerance, probe):
            runs.append(track(scene, 4, moments, tell, should_stop))
    except Stopped:
        return None
    return report(runs, tolerance, probe)


def agree(runs: Sequence[Track], tolerance: float, probe: Simulation) -> bool:
    """Whether two runs need no third: of all the scene, and of each motion of its own."""
    length = lengths(probe)
    most = largest(apart(runs[0], runs[1], length)).max()
    if not most < CLEAR * tolerance * scene_size(runs[0], length):
        return False
    return motion_error(runs, None, probe)[0] < CLEAR


def motion_error(
    runs: Sequence[Track], order: float | None, probe: Simulation
) -> tuple[float, int, str]:
    """The largest error of a motion over its own reach, its body, and whose motion it is
    (largest_share)."""
    return largest_share(
        [run.motions() for run in runs], lambda difference: extrapolated(difference, order), probe
    )


def report(runs: Sequence[Track], tolerance: float, probe: Simulation) -> dict[str, Any]:
    """The keys of schemas.summary.Verification; probe: the scene at its start."""
    length, names = lengths(probe), probe.body_names
    times, size = runs[0].time, scene_size(runs[0], length)
    first = apart(runs[0], runs[1], length)
    order, second = None, first
    if len(runs) > 2:
        second = apart(runs[1], runs[2], length)
        order = observed_order(largest(first), largest(second), ROUNDING * size, tolerance * size)
    # a finer pair that differs more than the coarser one has not begun to converge
    error = extrapolated(np.fmax(first, second), order)
    most = largest(error)
    over = np.flatnonzero(~(most <= tolerance * size))
    within = len(over) == 0
    horizon = float(times[-1]) if within else float(times[max(over[0] - 1, 0)])
    believed = slice(None) if within else slice(0, max(int(over[0]), 1))
    worst = int(np.nanargmax(np.where(np.isfinite(error), error, np.inf).max(axis=0)))
    fast = np.linalg.norm(runs[0].velocities[:, :, :3] - runs[1].velocities[:, :, :3], axis=2)
    forces = np.linalg.norm(runs[0].reactions - runs[1].reactions, axis=2)
    share, moved, of = motion_error(runs, order, probe)
    return {
        "tolerance": tolerance,
        "size": size,
        "runs": len(runs),
        "order": order,
        "horizon": horizon,
        "horizon_step": round(horizon / runs[0].dt),
        "within": within,
        "position_error": float(most[believed].max()),
        "final_error": float(most[-1]) if math.isfinite(most[-1]) else None,
        "velocity_error": float(largest(extrapolated(fast, order))[believed].max()),
        "reaction_error": (
            float(largest(extrapolated(forces, order))[believed].max()) if forces.size else None
        ),
        "worst": names[worst],
        "motion_error": share if math.isfinite(share) else None,
        "motion_worst": names[moved],
        "motion_of": of,
    }


def add_verification(summary: dict[str, Any], found: dict[str, Any]) -> None:
    """Put a verification into a summary: under its key, into the verdict and the warnings."""
    withdrawn = [sentence(one) for one in summary["verdict"]["findings"]]
    summary["verification"] = found
    summary["verdict"] = verdict_with(summary["verdict"], found)
    said = [sentence(one) for one in summary["verdict"]["findings"]]
    notes = [text for text in summary["warnings"] if text not in withdrawn]
    summary["warnings"] = [*said, *notes]
