"""External forces to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.inverse_mass import write_force_masses
from cardan.engine.build.joint_drives import stiffness_terms
from cardan.engine.build.poses import Poses
from cardan.engine.build.rotations import inverse, product, unit
from cardan.engine.build.targets import TargetTable
from cardan.engine.world.model import (
    FORCE_DRAG,
    FORCE_POINT_GRAVITY,
    FORCE_SPRING,
    FORCE_TORSION,
    FORCE_WRENCH,
    Bodies,
    Forces,
)

FORCE_KINDS = {
    "spring": FORCE_SPRING,
    "torsion": FORCE_TORSION,
    "wrench": FORCE_WRENCH,
    "drag": FORCE_DRAG,
    "point_gravity": FORCE_POINT_GRAVITY,
}


def empty_forces(n: int, world: int) -> Forces:
    """Arrays for n force elements."""
    return Forces(
        kind=np.zeros(n, np.int64),
        body_a=np.full(n, world, np.int64),
        body_b=np.full(n, world, np.int64),
        anchor_A=np.zeros((n, 3)),
        anchor_B=np.zeros((n, 3)),
        stiffness=np.zeros((n, 3)),
        damping=np.zeros(n),
        rest=np.zeros(n),
        inverse_mass=np.zeros(n),
        q_AB0=np.zeros((n, 4)),
        table=np.zeros((n, 6), np.int64),
        body_axes=np.zeros(n, np.int64),
        coefficient=np.zeros((n, 2)),
    )


def write_pair(forces: Forces, f: int, force: Any, index: dict[str, int], poses: Poses) -> None:
    """A spring or torsion spring between two bodies."""
    a, b = index[force.parent], index[force.child]
    forces.body_a[f], forces.body_b[f] = a, b
    forces.stiffness[f] = stiffness_terms(force.stiffness)
    forces.damping[f] = force.damping
    if force.type == "torsion":
        forces.anchor_A[f] = poses.direction(a, unit(np.array(force.axis)))
        forces.q_AB0[f] = product(inverse(poses.q[a]), poses.q[b])
        forces.rest[f] = force.rest
        return
    start, end = np.array(force.anchor), np.array(force.anchor2)
    forces.anchor_A[f], forces.anchor_B[f] = poses.point(a, start), poses.point(b, end)
    forces.rest[f] = np.linalg.norm(end - start) if force.rest is None else force.rest


def write_wrench(
    forces: Forces,
    f: int,
    force: Any,
    poses: Poses,
    com_B: NDArray[np.float64],
    targets: TargetTable,
) -> None:
    """A force at a point and a torque."""
    body = int(forces.body_a[f])
    forces.body_axes[f] = int(force.axes == "body")
    if force.point is not None:
        point = np.array(force.point)
        if force.axes == "body":
            forces.anchor_A[f] = point - com_B[body]
        else:
            forces.anchor_A[f] = poses.point(body, point)
    for k in range(3):
        forces.table[f, k] = targets.add(force.force, k)
        forces.table[f, 3 + k] = targets.add(force.torque, k)


def build_forces(
    scene_forces: Any,
    index: dict[str, int],
    poses: Poses,
    bodies: Bodies,
    targets: TargetTable,
) -> Forces:
    """All external forces as arrays."""
    forces = empty_forces(len(scene_forces), len(bodies.kind) - 1)
    for f, force in enumerate(scene_forces):
        forces.kind[f] = FORCE_KINDS[force.type]
        if force.type in ("spring", "torsion"):
            write_pair(forces, f, force, index, poses)
        elif force.type == "wrench":
            forces.body_a[f] = index[force.body]
            write_wrench(forces, f, force, poses, bodies.com_B, targets)
        elif force.type == "drag":
            forces.body_a[f] = index[force.body]
            forces.coefficient[f] = (force.linear, force.quadratic)
        else:
            forces.coefficient[f] = (force.constant, force.softening)
    write_force_masses(forces, bodies)
    return forces
