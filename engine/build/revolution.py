"""Bodies of revolution: their angle about their own axis is in no equation of motion.

What touches such a body, holds it or pulls at it does so alike however far it has turned about that
axis, and of its free rotation the drift is exact. So it may turn about it by any angle in a step;
the axis itself may not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.memoised import memoised
from cardan.engine.build.rotations import rotation_matrices
from cardan.engine.world.model import (
    BALL,
    BOWL,
    CAPSULE,
    CONE,
    COUPLING,
    CYLINDER,
    CYLINDRICAL,
    DISTANCE,
    DYNAMIC,
    ELLIPSOID,
    FORCE_SPRING,
    FORCE_TORSION,
    FORCE_WRENCH,
    HINGE,
    HINGE2,
    RING,
    SCREW,
    SPHERE,
    TUBE,
    UNIVERSAL,
    Bodies,
    Forces,
    Joints,
    Model,
    Shapes,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# share of a length or of a moment that counts as none; of lengths below this [m] it is one of this
NONE, SMALL = 1e-9, 1e-3
# shapes whose own axis is z of their frame
OF_REVOLUTION = (CAPSULE, CYLINDER, CONE, TUBE, RING, BOWL)
# joints that let a body turn about its axis of the joint
PINS = (HINGE, CYLINDRICAL, SCREW, HINGE2, UNIVERSAL)


def off_axis(v: Array, axis: Array) -> Mask:
    """(m,): which of the vectors (m, 3) are not along their axes (m, 3), which are unit or 0."""
    (x, y, z), (a, b, c) = v.T, axis.T
    # np.cross costs ten times as much for a few vectors
    across = np.sqrt((y * c - z * b) ** 2 + (z * a - x * c) ** 2 + (x * b - y * a) ** 2)
    far: Mask = across > NONE * np.maximum(np.sqrt(x * x + y * y + z * z), SMALL)
    return far


def touching(shapes: Shapes) -> Mask:
    """(m,): shapes that can touch others."""
    return (shapes.group != 0) & (shapes.mask != 0)


def axes_of_inertia(bodies: Bodies, shapes: Shapes, joints: Joints) -> Array:
    """(n, 3): axis about which the moments of inertia of each dynamic body are alike, or 0.

    Where all three are equal it is that of its first shape of revolution, or the line to the middle
    of its first ball beside its centre of mass; else that of the first joint that it turns on.
    """
    found = np.zeros((len(bodies.kind), 3))
    moving = np.flatnonzero(bodies.kind == DYNAMIC)
    moments, axes = np.linalg.eigh(bodies.inertia_B[moving])
    apart = np.diff(moments, axis=1) > NONE * moments[:, 2:]
    flat, long = ~apart[:, 0] & apart[:, 1], apart[:, 0] & ~apart[:, 1]
    found[moving[flat]], found[moving[long]] = axes[flat, :, 2], axes[long, :, 0]
    even = np.zeros(len(found), bool)
    even[moving[~apart.any(axis=1)]] = True
    pins = is_one_of(joints.kind, PINS)
    for body, pin in ((joints.body_a, joints.axis_A), (joints.body_b, joints.axis_B)):
        held = np.flatnonzero(pins & even[body])[::-1]
        found[body[held]] = pin[held]
    line, away = rotation_matrices(shapes.q_BS)[:, :, 2], np.linalg.norm(shapes.p_BS, axis=1)
    balls = (shapes.kind == SPHERE) & (away > 0.0)
    line[balls] = shapes.p_BS[balls] / away[balls, None]
    known = touching(shapes) & (balls | is_one_of(shapes.kind, OF_REVOLUTION))
    chosen = np.flatnonzero(known & even[shapes.body])[::-1]
    found[shapes.body[chosen]] = line[chosen]
    return found


def spoiling_shapes(shapes: Shapes, axis: Array) -> Mask:
    """(m,): shapes that can touch and are not of revolution about the axis of their body."""
    own, R = axis[shapes.body], rotation_matrices(shapes.q_BS)
    along = ~off_axis(R[:, :, 2], own) & is_one_of(shapes.kind, OF_REVOLUTION)
    of_ellipsoid = np.abs(np.einsum("mji,mj->mi", R, own))
    k = np.argmax(of_ellipsoid, axis=1)
    rows = np.arange(len(k))
    across = shapes.size[rows, (k + 1) % 3] - shapes.size[rows, (k + 2) % 3]
    alike = (of_ellipsoid[rows, k] > 1.0 - NONE) & (np.abs(across) <= NONE * shapes.size[:, 0])
    good = along | (shapes.kind == SPHERE) | ((shapes.kind == ELLIPSOID) & alike)
    return touching(shapes) & (~good | off_axis(shapes.p_BS, own))


def spoiled_by_joints(joints: Joints, axis: Array) -> Mask:
    """(n,): bodies that a joint holds off their axis, or in an angle about it."""
    spoiled = np.zeros(len(axis), bool)
    pins = is_one_of(joints.kind, PINS)
    points = is_one_of(joints.kind, (BALL, DISTANCE)) & ~joints.wheel.any(axis=1)
    holds_angle = joints.limit_on.any(axis=1) | joints.motor_kind.any(axis=1)
    points &= ~(holds_angle & (joints.kind == BALL))
    ends = (
        (joints.body_a, joints.anchor_A, joints.axis_A),
        (joints.body_b, joints.anchor_B, joints.axis_B),
    )
    for body, anchor, pin in ends:
        own = axis[body]
        good = (points | (pins & ~off_axis(pin, own))) & ~off_axis(anchor, own)
        np.logical_or.at(spoiled, body, ~good & (joints.kind != COUPLING))
    return spoiled


def spoiled_by_forces(forces: Forces, axis: Array) -> Mask:
    """(n,): bodies that a spring pulls at off their axis, or a force in their own axes."""
    spoiled = np.zeros(len(axis), bool)
    for body, anchor in ((forces.body_a, forces.anchor_A), (forces.body_b, forces.anchor_B)):
        bad = (forces.kind == FORCE_SPRING) & off_axis(anchor, axis[body])
        bad |= (forces.kind == FORCE_TORSION) | (
            (forces.kind == FORCE_WRENCH) & (forces.body_axes == 1)
        )
        np.logical_or.at(spoiled, body, bad)
    return spoiled


def spin_axes(model: Model) -> Array:
    """(n, 3): the axis of each body of revolution, body axes; 0 for others."""
    return _spin_axes(model.bodies, model.shapes, model.joints, model.forces)


@memoised
def _spin_axes(bodies: Bodies, shapes: Shapes, joints: Joints, forces: Forces) -> Array:
    axis = axes_of_inertia(bodies, shapes, joints)
    spoiled = spoiled_by_joints(joints, axis) | spoiled_by_forces(forces, axis)
    spoiled[shapes.body[spoiling_shapes(shapes, axis)]] = True
    return np.where(spoiled[:, None], 0.0, axis)
