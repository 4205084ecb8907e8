"""Motions of kinematic bodies over time: samples to cubic pieces.

SciPy's splines are slow to load, so each function imports what it needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import Faults
from cardan.engine.world.model import PrescribedMotion
from cardan.schemas import Scene

Array = NDArray[np.float64]

# tolerated difference between a body's pose in the scene and that of its motion at t = 0 [m], [rad]
START_WAY, START_TURN = 1e-6, 1e-6


def position_pieces(times: Array, positions: Array, cubic: bool) -> Array:
    """(k, 4, 3): coefficients p0 ... p3 of each interval, then of rest at the last sample."""
    from scipy.interpolate import CubicSpline

    n = len(times)
    out = np.zeros((n, 4, 3))
    out[:, 0] = positions
    if n > 1 and cubic:
        out[:-1] = CubicSpline(times, positions).c[::-1].transpose(1, 0, 2)
    elif n > 1:
        out[:-1, 1] = np.diff(positions, axis=0) / np.diff(times)[:, None]
    return out


def turning_pieces(times: Array, orientations: Array, cubic: bool) -> Array:
    """(k, 3, 3): coefficients d1 ... d3 of each interval, then of rest at the last sample."""
    from scipy.spatial.transform import Rotation, RotationSpline

    n = len(times)
    out = np.zeros((n, 3, 3))
    if n == 1:
        return out
    turns = Rotation.from_quat(np.roll(orientations, -1, axis=1))
    if cubic:
        out[:-1] = RotationSpline(times, turns).interpolator.c[2::-1].transpose(1, 0, 2)
    else:
        steps = (turns[:-1].inv() * turns[1:]).as_rotvec()
        out[:-1, 0] = steps / np.diff(times)[:, None]
    return out


def joined(bodies: list[int], parts: list[tuple[Array, Array, Array, Array]]) -> PrescribedMotion:
    """The pieces (time, position, orientation, turning) of all bodies, one after another."""
    empty = (np.zeros(0), np.zeros((0, 4, 3)), np.zeros((0, 4)), np.zeros((0, 3, 3)))
    arrays = [np.concatenate(column) for column in zip(empty, *parts, strict=True)]
    counts = [len(part[0]) for part in parts]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return PrescribedMotion(np.array(bodies, np.int64), start, *arrays)


def start_of(motion: PrescribedMotion, m: int) -> tuple[Array, Array, Array, Array]:
    """p, q, v, w of motion m at t = 0, W; the velocity is that just after it."""
    from scipy.spatial.transform import Rotation

    pieces = slice(int(motion.start[m]), int(motion.start[m + 1]))
    times = motion.time[pieces]
    k = int(np.searchsorted(times, 0.0, side="right")) - 1
    s = -times[k] if k >= 0 else 0.0
    moves = 1.0 if k >= 0 else 0.0
    k = pieces.start + max(k, 0)
    p, d = motion.position[k], motion.turning[k]
    base = Rotation.from_quat(np.roll(motion.orientation[k], -1))
    phi, rate = s * (d[0] + s * (d[1] + s * d[2])), d[0] + s * (2.0 * d[1] + 3.0 * s * d[2])
    # the rate of a rotation vector as an angular velocity: to first order in a short time
    beside = 1e-6
    turned = Rotation.from_rotvec(phi + beside * rate) * Rotation.from_rotvec(phi).inv()
    w = base.apply(turned.as_rotvec()) / beside
    q = np.roll((base * Rotation.from_rotvec(phi)).as_quat(), 1)
    v = p[1] + s * (2.0 * p[2] + 3.0 * s * p[3])
    return p[0] + s * (p[1] + s * (p[2] + s * p[3])), q, moves * v, moves * w


def start_faults(body: Any, i: int, p: Array, q: Array, faults: Faults) -> None:
    """Add faults where the pose of a body differs from that of its motion at t = 0."""
    if np.linalg.norm(p - np.array(body.position)) > START_WAY:
        faults.add(
            f"/bodies/{i}/position",
            "motion_start",
            f"Body '{body.name}' stands at {list(body.position)}, and its motion is at "
            f"{p.round(9).tolist()} at t = 0.",
            "Give the place where the motion begins as `position`.",
        )
    half = min(np.linalg.norm(q - body.orientation), np.linalg.norm(q + body.orientation))
    if 2.0 * half > START_TURN:
        faults.add(
            f"/bodies/{i}/orientation",
            "motion_start",
            f"Body '{body.name}' has the orientation {list(body.orientation)}, and its motion "
            f"{q.round(9).tolist()} at t = 0.",
            "Give the orientation with which the motion begins as `orientation`.",
        )


def build_prescribed(scene: Scene, faults: Faults) -> PrescribedMotion:
    """The motions of all kinematic bodies that have one."""
    bodies: list[int] = []
    parts: list[tuple[Array, Array, Array, Array]] = []
    for i, body in enumerate(scene.bodies):
        motion = body.motion
        if motion is None:
            continue
        times, cubic = np.array(motion.times), motion.interpolation == "cubic"
        n = len(times)
        p = np.array(motion.positions or [body.position] * n, float)
        q = np.array(motion.orientations or [body.orientation] * n, float)
        parts.append((times, position_pieces(times, p, cubic), q, turning_pieces(times, q, cubic)))
        bodies.append(i)
    found = joined(bodies, parts)
    for m, i in enumerate(bodies):
        start_faults(scene.bodies[i], i, *start_of(found, m)[:2], faults)
    if bodies and scene.simulation.contact.impact_time == "exact":
        what = "`motion` of a body with `impact_time` 'exact'"
        faults.missing("/simulation/contact/impact_time", what, "step")
    return found
