"""Inverse kinematics: joint coordinates that bring points and frames of bodies to their targets.

    (J^T J + damping^2) d = J^T e,   J = J_task T,   e = target - now

Levenberg and Marquardt's damped least squares on the manifold of loops; coordinates stay within
their limits: one that a step would carry beyond is put on its limit, and the step is repeated with
the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.placement import logarithm
from cardan.engine.build.rotations import inverse, product, turn
from cardan.engine.statics.fields import check_fields
from cardan.engine.statics.smooth import SmoothModel
from cardan.engine.statics.smooth_scene import ENDINGS
from cardan.engine.statics.stops import beyond_limits
from cardan.engine.statics.tables import coordinates_of_joints
from cardan.schemas import GivenScene, scene_of
from cardan.schemas.given import GivenInvalid
from cardan.schemas.quantities import QUATERNION_TOLERANCE

Array = NDArray[np.float64]

MOST_STEPS = 200
# largest change of an angle in a step [rad], of a displacement as a share of the scene's length
LARGEST_STEP = 0.5
LEAST_DAMPING, FIRST_DAMPING, MOST_DAMPING = 1e-10, 1e-3, 1e6


@dataclass(frozen=True)
class Pose:
    """Coordinates that were found, and how far they miss."""

    found: bool  # every target within the tolerance
    coordinates: dict[str, list[float]]  # of joints [m, rad]
    errors: list[tuple[float, float]]  # of each target [m], [rad]
    steps: int
    starts: int  # from how many starts it was tried
    at_limits: list[str]  # joints with a coordinate on a limit


@dataclass(frozen=True)
class Target:
    """A point of a body, and perhaps its axes, in W."""

    body: int
    point: Array  # (3,) m  from the centre of mass, body axes
    position: Array | None  # (3,) m
    orientation: Array | None  # (4,)


def inverse_kinematics(
    scene: GivenScene,
    targets: Sequence[Mapping[str, Any]],
    *,
    q: Mapping[str, Any] | None = None,
    tolerance: float = 1e-8,
    starts: int = 8,
) -> Pose:
    """Joint coordinates that bring bodies to targets, within limits; free bodies stay.

    targets: {"body": name, "point": [x, y, z] in its axes from its origin (default: the origin),
        "position": [x, y, z] in W, "orientation": [w, x, y, z]}; one of the last two at least.
    q: where to begin, by names of joints; default: the start of the scene. If nothing is found
        from there, other starts within the limits follow, `starts` in all; they are the same in
        every call.
    tolerance: largest error of a target [m, rad].

    Raises SceneInvalid, SceneError, and ValueError for targets that make no sense.
    """
    scene = scene_of(scene)
    smooth = SmoothModel(scene, drives_hold=False)
    if q:
        smooth.set_state(q)
    wanted = [read_target(smooth, target, i) for i, target in enumerate(targets)]
    if not wanted:
        raise GivenInvalid(("targets",), "inverse kinematics needs at least one target")
    search = Search(smooth, wanted, tolerance)
    best, tried = search.run(smooth.q), 1
    rng = np.random.default_rng(0)
    while best[1] > tolerance and tried < starts:
        try:
            other = search.run(search.other_start(rng))
        except ValueError:
            other = best
        tried += 1
        if other[1] < best[1]:
            best = other
    coordinates, _, steps = best
    smooth.sample(coordinates, np.zeros(smooth.nv), np.zeros(smooth.nv))
    errors = search.errors_of_targets()
    beyond = beyond_limits(scene, smooth.simulation)
    return Pose(
        all(max(error) <= tolerance for error in errors) and not beyond,
        coordinates_of_joints(smooth.simulation.scene, smooth.simulation),
        errors,
        steps,
        tried,
        [*dict.fromkeys([*search.at_limits(coordinates), *beyond])],
    )


def read_target(smooth: SmoothModel, given: Mapping[str, Any], number: int) -> Target:
    """Target `number` from its description. Raises ValueError."""
    where = ("targets", number)
    check_fields("a target", given, ("body", "point", "position", "orientation"))
    names = smooth.simulation.body_names
    if given.get("body") not in names:
        raise GivenInvalid((*where, "body"), f"there is no body '{given.get('body')}'")
    b = names.index(given["body"])
    values: dict[str, Array | None] = {}
    for name, length in (("point", 3), ("position", 3), ("orientation", 4)):
        value = given.get(name)
        array = None if value is None else np.asarray(value, float)
        if array is not None and (array.shape != (length,) or not np.isfinite(array).all()):
            message = f"{name} of a target must be {length} finite numbers, not {value!r}"
            raise GivenInvalid((*where, name), message, value)
        values[name] = array
    position, orientation = values["position"], values["orientation"]
    if position is None and orientation is None:
        message = f"the target of body '{given['body']}' has no position or orientation"
        raise GivenInvalid(where, message)
    if orientation is not None:
        size = float(np.linalg.norm(orientation))
        if abs(size - 1.0) > QUATERNION_TOLERANCE:
            message = (
                f"the quaternion of a target has length {size:.6g}; 1 within "
                f"{QUATERNION_TOLERANCE} is needed"
            )
            raise GivenInvalid((*where, "orientation"), message)
        orientation = orientation / size
    point = np.zeros(3) if values["point"] is None else values["point"]
    return Target(b, point - smooth.model.bodies.com_B[b], position, orientation)


class Search:
    """The search for coordinates of one set of targets."""

    def __init__(self, smooth: SmoothModel, targets: list[Target], tolerance: float) -> None:
        """Read the limits of the scene."""
        self.smooth, self.targets, self.tolerance = smooth, targets, tolerance
        self.scale = smooth.scales()
        self.lower, self.upper = np.full(smooth.nv, -np.inf), np.full(smooth.nv, np.inf)
        self.place = np.zeros(smooth.nv, np.int64)  # of each velocity in q
        self.joint_of: dict[int, str] = {}
        self.movable = np.ones(smooth.nv, bool)
        for motion in smooth.coordinates:
            v = motion.v[0]
            self.place[v] = motion.q[0]
            if motion.joint is None:
                self.movable[v : motion.v[1]] = False
            elif motion.number is not None and motion.motion != "ball":
                self.joint_of[v] = motion.joint
                self._read_limits(v, motion.joint, motion.number)

    def _read_limits(self, v: int, name: str, axis: int) -> None:
        joint = next(one for one in self.smooth.scene.joints if one.name == name)
        limits = getattr(joint, f"limits{ENDINGS[axis]}", None)
        if limits is None:
            return
        if limits.lower is not None:
            self.lower[v] = limits.lower
        if limits.upper is not None:
            self.upper[v] = limits.upper

    def other_start(self, rng: np.random.Generator) -> Array:
        """Random coordinates within the limits, at most half a turn or a length from the start."""
        q = self.smooth.q.copy()
        y = np.zeros(self.smooth.nv)
        for v in range(self.smooth.nv):
            if not self.movable[v]:
                continue
            reach = np.pi if self.scale[v] == 1.0 else self.scale[v]
            if v not in self.joint_of:
                y[v] = rng.uniform(-1.0, 1.0)
                continue
            now = q[self.place[v]]
            low, high = max(self.lower[v], now - reach), min(self.upper[v], now + reach)
            y[v] = rng.uniform(min(low, high), max(low, high)) - now
        return self.smooth.moved(q, y)

    def run(self, q: Array) -> tuple[Array, float, int]:
        """Coordinates, the largest error [m, rad] and the steps it took, from coordinates q."""
        still = np.zeros(self.smooth.nv)
        q = self.smooth.sample(self._within(q), still, still).q
        damping = FIRST_DAMPING
        error = self.error()
        for step in range(MOST_STEPS):
            if self.largest() <= self.tolerance or damping > MOST_DAMPING:
                return q, self.largest(), step
            T, free = self.smooth.motions(q)
            T[:, ~self.movable[free]] = 0.0
            d = self._step(q, T, free, error, damping)
            kept = q
            try:
                q = self.smooth.sample(kept, T @ d, still).q
                after = self.error()
            except ValueError:
                after = error * np.inf
            if float(after @ after) < float(error @ error):
                error, damping = after, max(LEAST_DAMPING, 0.2 * damping)
            else:
                q = self.smooth.sample(kept, still, still).q
                damping *= 5.0
        return q, self.largest(), MOST_STEPS

    def _within(self, q: Array) -> Array:
        found = q.copy()
        for v in self.joint_of:
            found[self.place[v]] = np.clip(q[self.place[v]], self.lower[v], self.upper[v])
        return found

    def _step(
        self, q: Array, T: Array, free: NDArray[np.int64], error: Array, damping: float
    ) -> Array:
        """A damped step of the independent coordinates that keeps their limits."""
        J, unit = self.jacobian(q) @ T, self.scale[free]
        now = np.array([q[self.place[v]] if v in self.joint_of else 0.0 for v in free])
        low, high = self.lower[free] - now, self.upper[free] - now
        fixed, d = np.zeros(len(free), bool), np.zeros(len(free))
        size = max(float(np.abs(J * unit).max(initial=0.0)), 1e-300)
        for _ in range(len(free) + 1):
            part = J[:, ~fixed] * unit[~fixed]
            rest = error - J[:, fixed] @ d[fixed]
            damped = np.vstack([part, damping * size * np.eye(part.shape[1])])
            aim = np.concatenate([rest, np.zeros(part.shape[1])])
            d[~fixed] = unit[~fixed] * np.linalg.lstsq(damped, aim, rcond=None)[0]
            largest = float(np.abs(d / unit).max(initial=0.0))
            if largest > LARGEST_STEP:
                d *= LARGEST_STEP / largest
            beyond = ~fixed & ((d < low) | (d > high))
            if not beyond.any():
                break
            d[beyond] = np.clip(d, low, high)[beyond]
            fixed |= beyond
        return d

    # ------------------------------------------------------------------ at the last sample

    def _parts(self) -> list[tuple[Array, Array]]:
        """Errors of position [m] and orientation [rad] of each target, in W."""
        state, found = self.smooth.simulation.state, []
        for target in self.targets:
            q_WB = state.q_WB[target.body]
            at = state.p_WB[target.body] + turn(q_WB, target.point)
            apart = np.zeros(3) if target.position is None else target.position - at
            turned = np.zeros(3)
            if target.orientation is not None:
                turned = logarithm(product(target.orientation, inverse(q_WB)))
            found.append((apart, turned))
        return found

    def error(self) -> Array:
        """Errors of all targets; angles times the scene's length [m]."""
        length = self.smooth.length
        return np.concatenate([np.concatenate([a, length * r]) for a, r in self._parts()])

    def errors_of_targets(self) -> list[tuple[float, float]]:
        """Distance [m] and angle [rad] of each target."""
        return [(float(np.linalg.norm(a)), float(np.linalg.norm(r))) for a, r in self._parts()]

    def largest(self) -> float:
        """The largest distance or angle."""
        return max(max(pair) for pair in self.errors_of_targets())

    def jacobian(self, q: Array) -> Array:
        """(6 targets, nv): how velocities change positions and orientations, as `error`."""
        state, blocks = self.smooth.simulation.state, []
        for target in self.targets:
            J = self.smooth.jacobian(q, target.body)
            arm = turn(state.q_WB[target.body], target.point)
            moved = J[3:] - np.cross(arm, J[:3], axisb=0, axisc=0)
            turned = self.smooth.length * J[:3]
            blocks.append(moved * (target.position is not None))
            blocks.append(turned * (target.orientation is not None))
        return np.concatenate(blocks)

    def at_limits(self, q: Array) -> list[str]:
        """Joints with a coordinate on a limit."""
        return [
            name
            for v, name in self.joint_of.items()
            if min(q[self.place[v]] - self.lower[v], self.upper[v] - q[self.place[v]]) <= 1e-9
        ]
