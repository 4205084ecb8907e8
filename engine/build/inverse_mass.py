"""J M^-1 J^T of joints and springs: bounds for any pose, and values for drives at the start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.mobility import rigid_drives
from cardan.engine.build.poses import Poses
from cardan.engine.build.reflected_mass import joint_motions, reflected_inverse_mass
from cardan.engine.build.rotations import turn_all
from cardan.engine.build.sides import Side, sides_of_joints, spatial_inertias
from cardan.engine.constraints.joints.coordinates import is_length
from cardan.engine.world.model import (
    BALL,
    COUPLING,
    CYLINDRICAL,
    DISTANCE,
    DYNAMIC,
    FORCE_SPRING,
    FORCE_TORSION,
    HINGE2,
    MOTOR_POSITION,
    SLIDER,
    Bodies,
    Forces,
    Joints,
    Model,
)

Array = NDArray[np.float64]

Held = tuple[int, int, list[Side]]
"""A joint, one of its coordinates, and the sides between which it acts."""


def largest_inverse_inertias(bodies: Bodies) -> list[float]:
    """(n,): the largest eigenvalue of the inverse inertia of each body [1/(kg m^2)]."""
    largest: list[float] = np.linalg.eigvalsh(bodies.inverse_inertia_B)[:, -1].tolist()
    return largest


def write_joint_masses(joints: Joints, bodies: Bodies, poses: Poses) -> None:
    """joints.inverse_mass: 1/m + arm^2 / smallest moment, and 1 / smallest moment, both ends.

    arm: of the anchor and the radius of a wheel about it. With joints.motor_inverse_mass.
    """
    inverse_inertias = largest_inverse_inertias(bodies) if len(joints.kind) else []
    for j in range(len(joints.kind)):
        sides = ((joints.body_a, joints.anchor_A), (joints.body_b, joints.anchor_B))
        for (ends, arms), radius in zip(sides, joints.wheel[j], strict=True):
            body = int(ends[j])
            inverse_inertia = inverse_inertias[body]
            arm = float(np.linalg.norm(arms[j])) + radius
            joints.inverse_mass[j, 0] += bodies.inverse_mass[body] + arm * arm * inverse_inertia
            joints.inverse_mass[j, 1] += inverse_inertia
    write_drive_masses(joints, bodies, poses)


def write_force_masses(forces: Forces, bodies: Bodies) -> None:
    """forces.inverse_mass of springs (a shift of both ends) and torsion springs (a turn)."""
    inverse_inertias = largest_inverse_inertias(bodies) if len(forces.kind) else []
    for f in range(len(forces.kind)):
        for ends, arms in ((forces.body_a, forces.anchor_A), (forces.body_b, forces.anchor_B)):
            body = int(ends[f])
            inverse_inertia = inverse_inertias[body]
            if forces.kind[f] == FORCE_TORSION:
                forces.inverse_mass[f] += inverse_inertia
            else:
                forces.inverse_mass[f] += (
                    bodies.inverse_mass[body] + arms[f] @ arms[f] * inverse_inertia
                )


def locked_inverse_masses(joints: Joints, poses: Poses, held: Sequence[Held]) -> list[float]:
    """J M^-1 J^T of coordinates between sides that move freely [1/kg or 1/(kg m^2)].

        m = s^T I s,    I = I_A (I_A + I_B)^-1 I_B,  or that of the only side

    Spatial inertias about the anchor, s the motion of the child; other coordinates of the joint are
    locked. The axes of a ball joint turn: the least moment for drives that yield, the largest for
    rigid ones, which err on the safe side.
    """
    if not held:
        return []
    child = joints.body_b[[j for j, _, _ in held]]
    anchors = poses.p[child] + turn_all(poses.q[child], joints.anchor_B[[j for j, _, _ in held]])
    moved = spatial_inertias([sides[0] for _, _, sides in held], anchors)
    two = [k for k, (_, _, sides) in enumerate(held) if len(sides) == 2]
    if two:
        other = spatial_inertias([held[k][2][1] for k in two], anchors[two])
        moved[two] = moved[two] @ np.linalg.solve(moved[two] + other, other)
    found = []
    for (j, axis, _), inertia in zip(held, moved, strict=True):
        S = joint_motions(joints, poses, j)
        masses = S.T @ inertia @ S
        if joints.kind[j] == BALL:
            yields = joints.motor_stiffness[j, axis].any()
            mass = float(np.linalg.eigvalsh(masses)[0 if yields else -1])
        else:
            mass = float(masses[axis, axis])
        found.append(1.0 / mass if mass > 0.0 else np.inf)
    return found


def write_drive_masses(joints: Joints, bodies: Bodies, poses: Poses) -> None:
    """joints.motor_inverse_mass: of what a drive to a position moves, other joints locked.

    In loops what moves with a joint depends on others. There drives that yield have the bound
    joints.inverse_mass, which nothing exceeds, and rigid ones count all bodies of the mechanism:
    the former must not be too stiff for the step, the latter must not brake too late. Rigid ones of
    a distance (cylinders, winches) have the mass of the mechanism along their line.
    """
    drives = np.argwhere(joints.motor_kind == MOTOR_POSITION).tolist()
    if not drives:
        return
    sides = sides_of_joints(joints, bodies, poses)
    held: list[Held] = []
    for j, axis in drives:
        rigid = not joints.motor_stiffness[j, axis].any()
        if rigid and joints.kind[j] == DISTANCE:
            joints.motor_inverse_mass[j] = reflected_inverse_mass(joints, bodies, poses, j)
            continue
        along = is_length(int(joints.kind[j]), axis)
        joints.motor_inverse_mass[j, axis] = joints.inverse_mass[j, 0 if along else 1]
        behind = sides.of_bridge.get(j)
        if behind is None and rigid:
            ends = (int(joints.body_b[j]), int(joints.body_a[j]))
            behind = [sides.whole[body] for body in ends if body in sides.whole][:1]
        if behind:
            held.append((j, axis, behind))
    for (j, axis, _), locked in zip(held, locked_inverse_masses(joints, poses, held), strict=True):
        joints.motor_inverse_mass[j, axis] = min(joints.motor_inverse_mass[j, axis], locked)
    turning = joints.motor_inverse_mass * joints.armature[:, None]
    joints.motor_inverse_mass[...] /= 1.0 + turning


def spring_inverse_masses(model: Model) -> Array:
    """(j + f,) 1/kg or 1/(kg m^2): of the coordinates of springs, of their two bodies alone.

    Lengths have that of the masses, angles that about an axis through the joint. What a rigid drive
    moves gives way to no spring; couplings, of more bodies than two, have 0.
    """
    bodies, joints, forces = model.bodies, model.joints, model.forces
    along = is_one_of(joints.kind, (SLIDER, DISTANCE, HINGE2, CYLINDRICAL))
    along = np.concatenate([along, forces.kind == FORCE_SPRING])
    least = np.zeros(len(bodies.kind))
    moving = bodies.kind == DYNAMIC
    least[moving] = np.linalg.eigvalsh(bodies.inertia_B[moving])[:, 0]
    driven = rigid_drives(joints).any(axis=1)
    inverse = bodies.inverse_mass.copy()
    for body in (joints.body_a[driven], joints.body_b[driven]):
        inverse[body], least[body] = 0.0, np.inf
    found = np.zeros(len(along))
    for of_joint, of_force, anchor in (
        (joints.body_a, forces.body_a, joints.anchor_A),
        (joints.body_b, forces.body_b, joints.anchor_B),
    ):
        body = np.concatenate([of_joint, of_force])
        moment = least[body]
        moment[: len(of_joint)] += bodies.mass[of_joint] * (anchor**2).sum(axis=1)
        turning = np.divide(1.0, moment, out=np.zeros(len(body)), where=moment > 0.0)
        found += np.where(along, inverse[body], turning)
    found[: len(joints.kind)][joints.kind == COUPLING] = 0.0
    return found
