"""What J M^-1 J^T of joints and springs is: bounds for any pose, and for drives at the start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.joint_frames import Place
from cardan.engine.build.rotations import rotation_matrix, turn
from cardan.engine.constraints.joints.coordinates import is_length, is_translation
from cardan.engine.world.model import (
    COUPLING,
    CYLINDRICAL,
    DISTANCE,
    DYNAMIC,
    FORCE_TORSION,
    GEAR,
    HINGE,
    HINGE2,
    PLANAR,
    RACK,
    SCREW,
    UNIVERSAL,
    Bodies,
    Forces,
    Joints,
)

Array = NDArray[np.float64]

# joints that leave more than the motion of their coordinates free
LOOSE = (COUPLING, DISTANCE, GEAR, RACK)
# rotations about an axis that is fixed in A: those of the first column, and all of a joint
ABOUT_FIRST, ABOUT_ONE = (HINGE2, UNIVERSAL), (HINGE, SCREW, CYLINDRICAL, PLANAR)


def largest_inverse_inertias(bodies: Bodies) -> list[float]:
    """(n,): the largest eigenvalue of the inverse inertia of each body [1/(kg m^2)]."""
    largest: list[float] = np.linalg.eigvalsh(bodies.inverse_inertia_B)[:, -1].tolist()
    return largest


def write_joint_masses(joints: Joints, bodies: Bodies, place: Place) -> None:
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
    write_drive_masses(joints, bodies, place)


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


def links_of(joints: Joints, n_bodies: int) -> list[list[tuple[int, int]]]:
    """Of each body the joints that hold it, each with the body at the other end."""
    links: list[list[tuple[int, int]]] = [[] for _ in range(n_bodies)]
    for j in np.flatnonzero(~np.isin(joints.kind, LOOSE)).tolist():
        a, b = int(joints.body_a[j]), int(joints.body_b[j])
        links[a].append((j, b))
        links[b].append((j, a))
    return links


def carried_by(links: list[list[tuple[int, int]]], body: int, joint: int) -> list[int]:
    """The bodies that are connected with a body other than through a joint."""
    found, seen = [body], {body}
    for i in found:
        for j, other in links[i]:
            if j != joint and other not in seen:
                seen.add(other)
                found.append(other)
    return found


def moments_about(bodies: Bodies, place: Place, parts: list[int], point: Array) -> Array:
    """Inertia of bodies as one about a point of W, (3, 3) kg m^2 in W."""
    total = np.zeros((3, 3))
    for i in parts:
        R, r = rotation_matrix(place.q[i]), place.p[i] - point
        total += R @ bodies.inertia_B[i] @ R.T
        total += bodies.mass[i] * (r @ r * np.eye(3) - np.outer(r, r))
    return total


def moment_of(joints: Joints, j: int, axis: int, moments: Array, line: Array) -> float:
    """Moment of inertia that a coordinate turns [kg m^2]; the least where its axis may turn, too.

    Reads   moments (3, 3) kg m^2; line: the first axis of joint j; both in W
    """
    kind = joints.kind[j]
    if kind in ABOUT_ONE or (kind in ABOUT_FIRST and axis == 0):
        return float(line @ moments @ line)
    return float(np.linalg.eigvalsh(moments)[0])


def locked_inverse_mass(
    joints: Joints,
    bodies: Bodies,
    place: Place,
    coordinate: tuple[int, int],
    sides: list[list[int]],
) -> float:
    """J M^-1 J^T of a coordinate between two sides, each one rigid body [1/kg or 1/(kg m^2)].

    What is held by a body that does not move freely does not move either.
    """
    (j, axis), total = coordinate, 0.0
    parent, child = joints.body_a[j], joints.body_b[j]
    free = [side for side in sides if (bodies.kind[side] == DYNAMIC).all()]
    for side in free:
        mass = bodies.mass[side]
        about = place.p[child] + turn(place.q[child], joints.anchor_B[j])
        if len(free) == 2:
            about = mass @ place.p[side] / mass.sum()
        if is_translation(int(joints.kind[j]), axis):
            moved = float(mass.sum())
        else:
            moments = moments_about(bodies, place, side, about)
            moved = moment_of(joints, j, axis, moments, turn(place.q[parent], joints.axis_A[j]))
        total += 1.0 / moved if moved > 0.0 else np.inf
    return total


def write_drive_masses(joints: Joints, bodies: Bodies, place: Place) -> None:
    """joints.motor_inverse_mass: of what a drive with a stiffness moves, other joints locked.

    Never more than joints.inverse_mass, which also stands for drives in loops, where what moves
    with a joint depends on others.
    """
    links = links_of(joints, len(bodies.kind))
    for j, axis in np.argwhere(joints.motor_stiffness.any(axis=2)).tolist():
        kind, parent, child = int(joints.kind[j]), int(joints.body_a[j]), int(joints.body_b[j])
        found = float(joints.inverse_mass[j, 0 if is_length(kind, axis) else 1])
        sides = [carried_by(links, parent, j), carried_by(links, child, j)]
        if kind not in LOOSE and child not in sides[0]:
            locked = locked_inverse_mass(joints, bodies, place, (j, axis), sides)
            found = min(found, locked)
        joints.motor_inverse_mass[j, axis] = found / (1.0 + joints.armature[j] * found)
