"""Sides of joints: on each, the bodies that no other joint connects with the other side.

Joints and bodies are a graph in which all that does not move freely is one node, the ground. Its
bridges are the joints that are in no loop (Tarjan, 1974). All of them are found, and what lies
behind each is summed, in one walk over the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.memoised import memoised
from cardan.engine.build.poses import Poses
from cardan.engine.build.rotations import rotation_matrices
from cardan.engine.world.model import COUPLING, DISTANCE, DYNAMIC, GEAR, RACK, Bodies, Joints

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# joints that leave more than the motion of their coordinates free
LOOSE = (COUPLING, DISTANCE, GEAR, RACK)


class Side(NamedTuple):
    """Bodies as one rigid body."""

    mass: float  # kg
    first: Array  # (3,)    kg m    sum of m p, W
    inertia: Array  # (3, 3)  kg m^2  about the origin of W, in W

    def plus(self, other: Side) -> Side:
        """Both as one."""
        first, inertia = self.first + other.first, self.inertia + other.inertia
        return Side(self.mass + other.mass, first, inertia)

    def less(self, other: Side) -> Side:
        """This side without a part of it."""
        first, inertia = self.first - other.first, self.inertia - other.inertia
        return Side(self.mass - other.mass, first, inertia)

    def centre(self) -> Array:
        """The centre of mass [m], W."""
        return self.first / self.mass


def spatial_inertias(sides: Sequence[Side], points: Array) -> Array:
    """(k, 6, 6) of each side about its point (k, 3), in W: of (w, v) of the point, angular part
    first."""
    mass, first, inertia = (np.array(part) for part in zip(*sides, strict=True))
    cross = first[:, :, None] * points[:, None]
    square = points[:, :, None] * points[:, None]
    moved = cross + cross.transpose(0, 2, 1) - mass[:, None, None] * square
    x, y, z = (first - mass[:, None] * points).T
    found = np.zeros((len(sides), 6, 6))
    found[:, 0, 4], found[:, 0, 5], found[:, 1, 5] = -z, y, -x
    found[:, 1, 3], found[:, 2, 3], found[:, 2, 4] = z, -y, x
    found[:, 3:, :3] = found[:, :3, 3:].transpose(0, 2, 1)
    traces = np.trace(moved, axis1=1, axis2=2)[:, None, None]
    found[:, :3, :3] = inertia + moved - traces * np.eye(3)
    found[:, 3:, 3:] = mass[:, None, None] * np.eye(3)
    return found


def sides_of_bodies(bodies: Bodies, poses: Poses, chosen: NDArray[np.int64]) -> dict[int, Side]:
    """Each of the chosen bodies as a side, written in W about the origin."""
    R, p, mass = rotation_matrices(poses.q[chosen]), poses.p[chosen], bodies.mass[chosen]
    square = (p**2).sum(axis=1)[:, None, None] * np.eye(3) - p[:, :, None] * p[:, None]
    turned = R @ bodies.inertia_B[chosen] @ R.transpose(0, 2, 1)
    parts = mass.tolist(), mass[:, None] * p, turned + mass[:, None, None] * square
    return dict(zip(chosen.tolist(), map(Side, *parts), strict=True))


class Walk(NamedTuple):
    """A walk over the graph that takes each node once, in depth."""

    order: list[int]  # nodes as they are met
    parent: list[int]  # of each node, -1 of those at which the walk began
    through: list[int]  # the joint from the parent
    lowest: list[int]  # the earliest node that is reached from it or behind it by another joint


def walk(links: list[list[tuple[int, int]]], starts: list[int]) -> Walk:
    """Walk a graph in depth: links[node] are (other node, joint); `starts` come first."""
    n = len(links)
    order, met, parent, through = list[int](), [-1] * n, [-1] * n, [-1] * n
    for start in starts:
        stack = [(start, -1, -1)]
        while stack:
            node, before, joint = stack.pop()
            if met[node] >= 0:
                continue
            met[node], parent[node], through[node] = len(order), before, joint
            order.append(node)
            stack.extend((other, node, j) for j, other in links[node] if met[other] < 0)
    lowest = met.copy()
    for node in reversed(order):
        for j, other in links[node]:
            if j == through[node]:
                continue
            behind = lowest[other] if parent[other] == node and through[other] == j else met[other]
            lowest[node] = min(lowest[node], behind)
    return Walk(order, parent, through, [lowest[node] - met[node] for node in range(n)])


class Sides(NamedTuple):
    """The sides of joints."""

    of_bridge: dict[
        int, list[Side]
    ]  # of each joint in no loop the sides that move freely, one or two
    whole: dict[
        int, Side
    ]  # of each dynamic body all that joints connect with it but for the ground


def sides_of_joints(joints: Joints, bodies: Bodies, poses: Poses) -> Sides:
    """Find the sides of all joints but LOOSE ones, which are no part of the graph."""
    firm = np.flatnonzero(~is_one_of(joints.kind, LOOSE))
    ends = firm, joints.body_a[firm], joints.body_b[firm]
    # a scene asks twice: for its drives, and with nodes of trees for what its joints forget
    return _sides_of_joints(ends, bodies._replace(node=bodies.kind), poses)


@memoised
def _sides_of_joints(ends: tuple[Numbers, Numbers, Numbers], bodies: Bodies, poses: Poses) -> Sides:
    """Sides of joints by their numbers and bodies A and B."""
    n = len(bodies.kind)
    # the last body is the world
    node = np.where(bodies.kind == DYNAMIC, np.arange(n), n - 1)
    links: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for j, first, second in zip(*(part.tolist() for part in ends), strict=True):
        a, b = int(node[first]), int(node[second])
        if a != b:
            links[a].append((j, b))
            links[b].append((j, a))
    free = np.flatnonzero(bodies.kind == DYNAMIC)
    found = walk(links, [n - 1, *free.tolist()])
    behind = sides_of_bodies(bodies, poses, free)
    # a walk in depth enters what hangs together without the ground only once
    top = dict[int, int]()
    for i in found.order:
        top[i] = i if found.parent[i] in (-1, n - 1) else top[found.parent[i]]
    for i in reversed(found.order):
        if found.parent[i] >= 0 and found.parent[i] != n - 1:
            behind[found.parent[i]] = behind[found.parent[i]].plus(behind[i])
    sides = {}
    for i in found.order:
        if found.parent[i] >= 0 and found.lowest[i] == 0:
            own, whole = behind[i], behind[top[i]]
            floats = found.parent[top[i]] < 0
            sides[found.through[i]] = [own, whole.less(own)] if floats else [own]
    return Sides(sides, {i: behind[top[i]] for i in behind})
