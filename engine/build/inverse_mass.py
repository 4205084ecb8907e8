"""Upper bounds of J M^-1 J^T that hold in any pose."""

from __future__ import annotations

import numpy as np

from cardan.engine.world.model import FORCE_TORSION, Bodies, Forces, Joints


def largest_inverse_inertias(bodies: Bodies) -> list[float]:
    """(n,): the largest eigenvalue of the inverse inertia of each body [1/(kg m^2)]."""
    largest: list[float] = np.linalg.eigvalsh(bodies.inverse_inertia_B)[:, -1].tolist()
    return largest


def write_joint_masses(joints: Joints, bodies: Bodies) -> None:
    """joints.inverse_mass: 1/m + arm^2 / smallest moment, and 1 / smallest moment, both ends.

    arm: of the anchor and the radius of a wheel about it.
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
