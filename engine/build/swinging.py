"""Links of trees that hang: do they swing faster than steps in joint coordinates follow?

Maximal coordinates slow such links (constraints/geometric_stiffness.py, with the formulas); joint
coordinates cannot. At the start only weights are known: what hangs on a joint pulls at it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.constraints.geometric_stiffness import LOOSE
from cardan.engine.world.model import BALL, HINGE, UNIVERSAL, Bodies, Joints
from cardan.engine.world.tree import Tree

Array = NDArray[np.float64]
# a weight that swings pulls some four times as hard as at rest
AT_REST = LOOSE / 4.0


def weights(tree: Tree, gravity: float) -> dict[int, float]:
    """Weight [N] of what is beyond a joint, of joints that hold points in trees on the ground."""
    beyond = tree.mass.copy()
    for k in reversed(range(len(tree.parent))):
        if tree.parent[k] >= 0:
            beyond[tree.parent[k]] += beyond[k]
    nodes = np.flatnonzero((tree.body >= 0) & (tree.joint >= 0) & (tree.floating[tree.tree] == 0))
    return {int(tree.joint[k]): gravity * float(beyond[k]) for k in nodes}


def mass_at(bodies: Bodies, i: int, arm: Array) -> float:
    """Mass of body i at an arm [m], body axes: mean of the two directions across it [kg]."""
    if bodies.inverse_mass[i] == 0.0:
        return np.inf
    M = bodies.inverse_inertia_B[i]
    turned = np.trace(M) * (arm @ arm) - arm @ M @ arm
    return float(1.0 / (bodies.inverse_mass[i] + 0.5 * turned))


def inertia_of(bodies: Bodies, i: int, arms: list[Array], masses: list[float]) -> float:
    """Least inertia of body i [kg m^2] with the masses that its joints shake at these arms."""
    M, u = bodies.inverse_inertia_B[i], arms[0] / np.linalg.norm(arms[0])
    centre = np.zeros(3)
    least = np.inf
    for pivot in [centre, *arms]:
        levers = [float((r - pivot) @ (r - pivot)) for r in arms]
        shaken = sum(m * s for m, s in zip(masses, levers, strict=True) if s > 0.0)
        least = min(least, float(pivot @ pivot) / float(bodies.inverse_mass[i]) + shaken)
    return float(2.0 / (np.trace(M) - u @ M @ u)) + least


def swings_fast(bodies: Bodies, joints: Joints, tree: Tree, h: float, gravity: float) -> bool:
    """Whether any link of a tree on the ground swings too fast for steps h [s] under its load.

    gravity: its size [m/s^2].
    Check   tests/laws/test_ropes.py
    """
    pulls = weights(tree, gravity)
    ends: dict[int, list[tuple[Array, float, float]]] = {}
    for j, weight in pulls.items():
        if joints.kind[j] not in (BALL, HINGE, UNIVERSAL):
            continue
        a, b = int(joints.body_a[j]), int(joints.body_b[j])
        for i, arm, other, its_arm in (
            (a, joints.anchor_A[j], b, joints.anchor_B[j]),
            (b, joints.anchor_B[j], a, joints.anchor_A[j]),
        ):
            if bodies.inverse_mass[i] > 0.0 and np.linalg.norm(arm) > 0.0:
                ends.setdefault(i, []).append((arm, weight, mass_at(bodies, other, its_arm)))
    for i, joined in ends.items():
        K = sum(float(np.linalg.norm(arm)) * weight for arm, weight, _ in joined)
        inertia = inertia_of(bodies, i, [e[0] for e in joined], [e[2] for e in joined])
        if h * h * K > AT_REST * inertia:
            return True
    return False
