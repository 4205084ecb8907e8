"""The spanning forest of a scene's joints, and its nodes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.components import components
from cardan.engine.build.memoised import memoised
from cardan.engine.build.poses import Poses
from cardan.engine.build.rotations import inverse, product, turn
from cardan.engine.trees.arrays import as_arrays
from cardan.engine.world.model import (
    BALL,
    COUPLING,
    CYLINDRICAL,
    DYNAMIC,
    FIXED,
    HINGE,
    HINGE2,
    MOTOR_NONE,
    PLANAR,
    SCREW,
    SLIDER,
    STATIC,
    UNIVERSAL,
    Bodies,
    Joints,
)
from cardan.engine.world.tree import (
    AFLOAT,
    ALONE,
    HELD,
    NODE_BALL,
    NODE_FIXED,
    NODE_FREE,
    NODE_HINGE,
    NODE_SCREW,
    NODE_SLIDER,
    Tree,
)

Array = NDArray[np.float64]
NO_AXIS = np.array([0.0, 0.0, 1.0])

# joints that may be part of a tree; all others are equations between bodies
TREE_KINDS = (FIXED, HINGE, SLIDER, UNIVERSAL, HINGE2, BALL, CYLINDRICAL, PLANAR, SCREW)


class Motion(NamedTuple):
    """One elementary motion of a joint, parent to child."""

    kind: int
    axis_W: Array  # (3,) - at the start
    coordinate: int  # of the joint, -1: none of its own


def motions(joints: Joints, j: int, q: Array) -> list[Motion]:
    """The elementary motions of joint j, in their order from parent to child.

    q   (n, 4) orientations of all bodies at the start
    """
    a, b, kind = int(joints.body_a[j]), int(joints.body_b[j]), int(joints.kind[j])
    s = turn(q[a], joints.axis_A[j])
    if kind == FIXED:
        return [Motion(NODE_FIXED, NO_AXIS, -1)]
    if kind == BALL:
        return [Motion(NODE_BALL, NO_AXIS, 0)]
    if kind == HINGE:
        return [Motion(NODE_HINGE, s, 0)]
    if kind == SLIDER:
        return [Motion(NODE_SLIDER, s, 0)]
    if kind == SCREW:
        return [Motion(NODE_SCREW, s, 0)]
    if kind == CYLINDRICAL:
        return [Motion(NODE_SLIDER, s, 0), Motion(NODE_HINGE, s, 1)]
    if kind == PLANAR:
        t1 = turn(q[a], joints.tangent1_A[j])
        t2 = turn(q[a], joints.tangent2_A[j])
        return [Motion(NODE_SLIDER, t1, 0), Motion(NODE_SLIDER, t2, 1), Motion(NODE_HINGE, s, 2)]
    turns = [Motion(NODE_HINGE, s, 0), Motion(NODE_HINGE, turn(q[b], joints.axis_B[j]), 1)]
    if kind == HINGE2 and joints.spring_on[j] == 1:
        return [Motion(NODE_SLIDER, s, -1), *turns]
    return turns


def has_drives(joints: Joints) -> NDArray[np.bool_]:
    """Joints with a motor, friction, a damper or a spring."""
    found: NDArray[np.bool_] = (joints.motor_kind != MOTOR_NONE).any(axis=1)
    return found | (joints.friction != 0.0) | (joints.damping != 0.0) | (joints.spring_on != 0)


def silent_joints(
    joints: Joints, inner: NDArray[np.int64], driven: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """1 for inner joints that never have rows: they have no stops, and are not driven by rows."""
    loud = (joints.limit_on != 0).any(axis=1) | driven
    found: NDArray[np.int64] = np.where(loud, 0, inner)
    return found


def stopped_nodes(joints: Joints, tree: Tree, driven: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Nodes of inner joints whose only rows are the stops of one coordinate; -1: others.

    driven: which joints have rows of drives
    """
    found = np.full(len(joints.kind), -1)
    for i in range(len(tree.kind)):
        j = int(tree.joint[i])
        if j >= 0 and joints.kind[j] in (HINGE, SLIDER, SCREW):
            found[j] = i
    apart = joints.limit_lower[:, 0] < joints.limit_upper[:, 0]
    found[driven | (joints.limit_on[:, 0] == 0) | ~apart] = -1
    return found


def may_be_inner(bodies: Bodies, joints: Joints, j: int) -> bool:
    """Whether a joint may be part of a tree: rigid, unbreakable, without a kinematic body."""
    kinds = {int(bodies.kind[joints.body_a[j]]), int(bodies.kind[joints.body_b[j]])}
    return (
        int(joints.kind[j]) in TREE_KINDS
        and joints.cfm[j] == 0.0
        and math.isinf(joints.breaking_force[j])
        and DYNAMIC in kinds
        and kinds <= {DYNAMIC, STATIC}
    )


class Forest:
    """Collects the nodes of all trees."""

    def __init__(self, bodies: Bodies, joints: Joints, start: Poses) -> None:
        """Start without nodes."""
        self.bodies, self.joints, self.start = bodies, joints, start
        self.node = np.full(len(bodies.kind), -1)
        self.inner = np.zeros(len(joints.kind), np.int64)
        self.rows: list[dict[str, object]] = []
        self.roots: list[tuple[int, int]] = []
        self.at: dict[int, list[int]] = {}
        for j in range(len(joints.kind)):
            if may_be_inner(bodies, joints, j):
                for body in {int(joints.body_a[j]), int(joints.body_b[j])}:
                    self.at.setdefault(body, []).append(j)

    def reached(self) -> NDArray[np.bool_]:
        """(n,) bodies that joints connect, one by one, with a body of a tree: part of trees too.

        Equations between a tree and what is in none would need accelerations ahead, and corrections
        of position and energy, for both kinds of bodies.
        """
        joints, moves = self.joints, self.bodies.kind == DYNAMIC
        both = (joints.kind != COUPLING) & moves[joints.body_a] & moves[joints.body_b]
        part = components(len(moves), joints.body_a[both], joints.body_b[both])
        within = np.zeros(len(moves), bool)
        within[part[[body for body in self.at if moves[body]]]] = True
        found: NDArray[np.bool_] = moves & within[part]
        return found

    def add_node(self, body: int, parent: int, tree: int, **more: object) -> int:
        """Add a node that leads to a body; returns its number."""
        mass, moments = 0.0, np.zeros(6)
        if more.pop("last", True):
            mass, inertia = float(self.bodies.mass[body]), self.bodies.inertia_B[body]
            moments = np.array([*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]])
            self.node[body] = len(self.rows)
            more["body"] = body
        blank = {
            "body": -1,
            "joint": -1,
            "axis": -1,
            "lead": 0.0,
            "axis_B": NO_AXIS,
            "armature": 0.0,
        }
        zero = {"q_PB0": [1.0, 0.0, 0.0, 0.0], "anchor_P": np.zeros(3), "anchor_B": np.zeros(3)}
        found = {"parent": parent, "tree": tree, "mass": mass, "inertia_B": moments}
        self.rows.append({**blank, **zero, **found, **more})
        return len(self.rows) - 1

    def add_root(self, body: int) -> None:
        """Add a floating tree whose root is a free body."""
        self.roots.append((len(self.rows), 1))
        self.add_node(body, -1, len(self.roots) - 1, kind=NODE_FREE)
        self.grow(body)

    def add_joint(self, j: int, known: int) -> int:
        """Add the nodes of joint j from a body that is known to its other body."""
        joints, p, q = self.joints, self.start.p, self.start.q
        a, b = int(joints.body_a[j]), int(joints.body_b[j])
        child = b if known == a else a
        steps = motions(joints, j, self.start.q)
        if child == a:
            steps = [step._replace(axis_W=-step.axis_W) for step in reversed(steps)]
        anchor = p[b] + turn(q[b], joints.anchor_B[j])
        parent = int(self.node[known])
        self.inner[j] = 1
        if parent < 0:
            placed = {"q_PB0": q[child], "anchor_P": anchor}
        else:
            back = inverse(q[known])
            placed = {"q_PB0": product(back, q[child]), "anchor_P": turn(back, anchor - p[known])}
        for k, step in enumerate(steps):
            last = k == len(steps) - 1
            to_anchor = turn(inverse(q[child]), anchor - p[child]) if last else np.zeros(3)
            parent = self.add_node(
                child,
                parent,
                len(self.roots) - 1,
                last=last,
                kind=step.kind,
                joint=j,
                axis=step.coordinate,
                axis_B=turn(inverse(q[child]), step.axis_W),
                lead=float(joints.ratio[j]) if step.kind == NODE_SCREW else 0.0,
                armature=float(joints.armature[j]) if step.coordinate >= 0 else 0.0,
                anchor_B=to_anchor,
                **placed,
            )
            placed = {}
        return child

    def grow(self, body: int) -> None:
        """Add all bodies connected to a body by joints, depth first in the order of the scene."""
        stack = [(body, iter(self.at.get(body, [])))]
        while stack:
            known, left = stack[-1]
            j = next(left, None)
            if j is None:
                stack.pop()
                continue
            ends = (int(self.joints.body_a[j]), int(self.joints.body_b[j]))
            other = ends[1] if ends[0] == known else ends[0]
            if self.inner[j] or self.is_known(other):
                continue
            child = self.add_joint(j, known)
            stack.append((child, iter(self.at.get(child, []))))

    def is_known(self, body: int) -> bool:
        """Whether a body is static or already has a node."""
        return bool(self.bodies.kind[body] != DYNAMIC or self.node[body] >= 0)

    def plant(self, j: int) -> None:
        """Add a tree fixed to the ground, from joint j."""
        ends = (int(self.joints.body_a[j]), int(self.joints.body_b[j]))
        standing = ends[0] if self.bodies.kind[ends[0]] != DYNAMIC else ends[1]
        other = ends[0] if standing == ends[1] else ends[1]
        if not self.is_known(other):
            self.roots.append((len(self.rows), 0))
            self.grow(self.add_joint(j, standing))


def tied_trees(
    bodies: Bodies, joints: Joints, forest: Forest
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of the trees that equations tie to each tree, -1: none or moving bodies; its bond.

    Trees tied together are held by the ground if one of them stands on it or is tied to it.
    """
    n = len(forest.roots)
    leader, closed, torn = np.arange(n), np.zeros(n, bool), np.zeros(n, bool)
    held = np.array([free == 0 for _, free in forest.roots], bool)
    tree_of = [forest.rows[k]["tree"] if k >= 0 else -1 for k in forest.node]
    for j in np.flatnonzero((forest.inner == 0) & (joints.cfm == 0.0) & (joints.kind != COUPLING)):
        ends = [int(joints.body_a[j]), int(joints.body_b[j])]
        trees = [int(tree_of[k]) for k in ends if tree_of[k] >= 0]
        if not trees:
            continue
        old = [int(leader[t]) for t in trees]
        leader[np.isin(leader, old)] = min(old)
        closed[trees] = True
        fixed = [k for k in ends if tree_of[k] < 0]
        held[trees] |= bool(fixed)
        torn[trees] |= any(bodies.kind[k] != STATIC for k in fixed)
    tied, bond = np.full(n, -1), np.full(n, HELD)
    for t in np.unique(leader[closed]):
        group = leader == t
        if not torn[group].any():
            tied[group] = t
            if not held[group].any():
                bond[group] = ALONE if group.sum() == 1 else AFLOAT
    return tied, bond


def build_tree(
    bodies: Bodies, joints: Joints, start: Poses, lone: bool = False
) -> tuple[Tree, Array]:
    """Trees of all bodies connected by joints, and their initial coordinates.

    Trees on the ground start there, in the order of the scene's joints; floating ones start at
    their first body. A body without joints of trees is a tree itself if other joints connect it
    with one, or if `lone`.
    """
    tree, q = _built_tree(bodies, joints, start, lone)
    return Tree(*(array.copy() for array in tree)), q.copy()


@memoised
def _built_tree(bodies: Bodies, joints: Joints, start: Poses, lone: bool) -> tuple[Tree, Array]:
    forest = Forest(bodies, joints, start)
    reached = forest.reached()
    for j in range(len(joints.kind)):
        ends = bodies.kind[[joints.body_a[j], joints.body_b[j]]]
        if may_be_inner(bodies, joints, j) and (ends != DYNAMIC).any():
            forest.plant(j)
    for body in range(len(bodies.kind)):
        if not forest.is_known(body) and (lone or reached[body]):
            forest.add_root(body)
    ties = tied_trees(bodies, joints, forest)
    tree = as_arrays(forest.rows, forest.roots, forest.node, forest.inner, ties)
    driven = has_drives(joints)
    tree = tree._replace(silent=silent_joints(joints, forest.inner, driven))
    tree = tree._replace(stopped=stopped_nodes(joints, tree, driven))
    q = np.zeros(int(tree.q_start[-1]))
    for i, kind in enumerate(tree.kind):
        k, body = int(tree.q_start[i]), int(tree.body[i])
        if kind == NODE_BALL:
            q[k] = 1.0
        elif kind == NODE_FREE:
            q[k : k + 3], q[k + 3 : k + 7] = start.p[body], start.q[body]
    return tree, q
