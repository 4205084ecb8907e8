"""Mechanisms that peers are timed on, as trees: an arm of 7, a humanoid of 27, a chain of 100.

Several hinges between two bodies are massless nodes, as in the peers. Nothing is rotated where the
coordinates are zero, so that the peers' models are written down without a rotation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.trees.arrays import nearest_above, tree_work, unbroken_runs
from cardan.engine.world.tree import (
    HELD,
    NODE_COORDINATES,
    NODE_FREE,
    NODE_HINGE,
    NODE_VELOCITIES,
    Tree,
    TreeWork,
)

Array = NDArray[np.float64]
X, Y, Z = np.eye(3)


class Mechanism(NamedTuple):
    """A tree in a state of motion."""

    name: str
    tree: Tree
    work: TreeWork
    q: Array
    qd: Array
    qdd: Array


class Sketch:
    """Nodes as they are put down; places are those where all coordinates are zero, W."""

    def __init__(self) -> None:
        """Without any node."""
        self.kind: list[int] = []
        self.parent: list[int] = []
        self.place: list[Array] = []  # origin of each node, W
        self.anchor: list[Array] = []  # of its joint, W
        self.axis: list[Array] = []
        self.mass: list[float] = []
        self.moments: list[Array] = []

    def add(self, kind: int, parent: int, place: Array, anchor: Array, axis: Array) -> int:
        """A massless node."""
        self.kind.append(kind)
        self.parent.append(parent)
        self.place.append(np.asarray(place, float))
        self.anchor.append(np.asarray(anchor, float))
        self.axis.append(axis)
        self.mass.append(0.0)
        self.moments.append(np.zeros(3))
        return len(self.kind) - 1

    def add_rod(
        self, parent: int, place: Array, anchor: Array, axes: list[Array], along: Array, size: Array
    ) -> int:
        """A rod on one or more hinges; size: length, radius [m]. Density of water."""
        for axis in axes[:-1]:
            parent = self.add(NODE_HINGE, parent, anchor, anchor, axis)
        node = self.add(NODE_HINGE, parent, place, anchor, axes[-1])
        self.weigh(node, along, size)
        return node

    def weigh(self, node: int, along: Array, size: Array) -> None:
        """Mass and moments of a rod."""
        length, radius = size
        mass = 1000.0 * np.pi * radius**2 * length
        across = mass * (length**2 / 12.0 + radius**2 / 4.0)
        self.mass[node] = float(mass)
        self.moments[node] = across + (0.5 * mass * radius**2 - across) * np.asarray(along)

    def finish(self, name: str) -> Mechanism:
        """The tree, and one state: angles, rates and accelerations of no particular size."""
        n = len(self.kind)
        kind, parent = np.array(self.kind), np.array(self.parent)
        starts = [
            np.concatenate([[0], np.cumsum([size[k] for k in kind])]).astype(np.int64)
            for size in (NODE_COORDINATES, NODE_VELOCITIES)
        ]
        origin = np.array([self.place[p] if p >= 0 else np.zeros(3) for p in parent])
        above = nearest_above(starts[1], parent)
        tree = Tree(
            kind=kind,
            parent=parent,
            body=np.where(np.array(self.mass) > 0.0, np.arange(n), -1),
            node=np.zeros(0, np.int64),
            joint=np.arange(n),
            axis=np.zeros(n, np.int64),
            tree=np.zeros(n, np.int64),
            inner=np.zeros(0, np.int64),
            tied=np.full(1, -1),
            bond=np.full(1, HELD),
            silent=np.zeros(0, np.int64),
            stopped=np.zeros(0, np.int64),
            start=np.array([0, n]),
            floating=np.array([int(kind[0] == NODE_FREE)]),
            q_start=starts[0],
            v_start=starts[1],
            above=above,
            run=unbroken_runs(above),
            q_PB0=np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
            anchor_P=np.array(self.anchor) - origin,
            anchor_B=np.array(self.anchor) - np.array(self.place),
            axis_B=np.array(self.axis),
            lead=np.zeros(n),
            mass=np.array(self.mass),
            inertia_B=np.hstack([np.array(self.moments), np.zeros((n, 3))]),
            armature=np.zeros(starts[1][-1]),
        )
        q, qd, qdd = np.zeros(starts[0][-1]), np.zeros(starts[1][-1]), np.zeros(starts[1][-1])
        first = 6 if kind[0] == NODE_FREE else 0
        if first:
            q[:4] = [*self.place[0], 1.0]
        k = np.arange(len(qd) - first)
        q[len(q) - len(k) :], qd[first:] = 0.1 * np.sin(k + 1), 0.2 * np.cos(k + 1)
        qdd[first:] = 0.3 * np.sin(2.0 * k)
        return Mechanism(name, tree, tree_work(tree, dense=True), q, qd, qdd)


def arm7() -> Mechanism:
    """Seven rods upwards, their hinges along z and y in turns."""
    sketch, node = Sketch(), -1
    for i in range(7):
        middle, anchor = 0.25 * (i + 0.5) * Z, 0.25 * i * Z
        axis = [Z, Y][i % 2]
        node = sketch.add_rod(node, middle, anchor, [axis], Z, np.array([0.25, 0.05]))
    return sketch.finish("arm7")


def humanoid27() -> Mechanism:
    """13 bodies: a free torso, 21 hinges."""
    sketch = Sketch()
    torso = sketch.add(NODE_FREE, -1, np.array([0, 0, 1.3]), np.zeros(3), Z)
    sketch.weigh(torso, Y, np.array([0.3, 0.1]))

    def limb(parent: int, place: Array, anchor: Array, axes: list[Array], along: Array) -> int:
        size = np.array([0.3, 0.05])
        return sketch.add_rod(parent, np.array(place), np.array(anchor), axes, along, size)

    waist = limb(torso, np.array([0, 0, 1.04]), np.array([0, 0, 1.1]), [Z, Y], Y)
    pelvis = limb(waist, np.array([0, 0, 0.88]), np.array([0, 0, 0.96]), [X], Y)
    for y in (-0.1, 0.1):
        thigh = limb(pelvis, np.array([0, y, 0.67]), np.array([0, y, 0.84]), [X, Z, Y], Z)
        shin = limb(thigh, np.array([0, y, 0.27]), np.array([0, y, 0.47]), [Y], Z)
        limb(shin, np.array([0.03, y, 0.03]), np.array([0, y, 0.07]), [Y, X], X)
    for side in (-1.0, 1.0):
        upper = np.array([0, side * 0.33, 1.36]), np.array([0, side * 0.17, 1.36])
        arm = limb(torso, *upper, [X, Z], Y)
        limb(arm, np.array([0, side * 0.62, 1.36]), np.array([0, side * 0.48, 1.36]), [Z], Y)
    return sketch.finish("humanoid27")


def chain100() -> Mechanism:
    """A hundred rods of one metre in a row, hinges along y."""
    sketch, node = Sketch(), -1
    for i in range(100):
        size = np.array([1.0, 0.05])
        node = sketch.add_rod(node, (i + 0.5) * X, i * X, [Y], X, size)
    return sketch.finish("chain100")


MECHANISMS = (arm7, humanoid27, chain100)
