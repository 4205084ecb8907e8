"""The layout of the coordinates of trees: which motion is where in q and in qd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan.engine.world.tree import NODE_FIXED, Tree

MOTIONS = ("fixed", "hinge", "slider", "screw", "ball", "free")
COORDINATE_NAMES = {"ball": ("w", "x", "y", "z"), "free": ("x", "y", "z", "qw", "qx", "qy", "qz")}
RATE_NAMES = {"ball": ("wx", "wy", "wz"), "free": ("wx", "wy", "wz", "vx", "vy", "vz")}


class Coordinate(NamedTuple):
    """One elementary motion of the tree and its indices in q and in qd, qdd, tau."""

    joint: str | None  # None: the six motions of a free body
    body: str  # the body it leads to
    motion: str  # hinge, slider, screw, ball, free
    number: int | None  # which coordinate of the joint; None: none of its own
    q: tuple[int, int]  # first and last + 1
    v: tuple[int, int]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]


def bodies_led_to(tree: Tree) -> list[int]:
    """The body of each node, or the one that massless nodes from it lead to."""
    leads_to = tree.body.tolist()
    for i in range(len(leads_to) - 1, -1, -1):
        if leads_to[i] < 0:
            leads_to[i] = leads_to[i + 1]
    return leads_to


def coordinates_of(
    tree: Tree, joint_names: Sequence[str], body_names: Sequence[str]
) -> tuple[Coordinate, ...]:
    """The motions of a tree in their order."""
    found = []
    leads_to = bodies_led_to(tree)
    for i, kind in enumerate(tree.kind):
        if kind == NODE_FIXED:
            continue
        motion, joint, axis = MOTIONS[kind], int(tree.joint[i]), int(tree.axis[i])
        found.append(
            Coordinate(
                joint_names[joint] if joint >= 0 else None,
                body_names[leads_to[i]],
                motion,
                axis if joint >= 0 and axis >= 0 else None,
                (int(tree.q_start[i]), int(tree.q_start[i + 1])),
                (int(tree.v_start[i]), int(tree.v_start[i + 1])),
                COORDINATE_NAMES.get(motion, ("q",)),
                RATE_NAMES.get(motion, ("qd",)),
            )
        )
    return tuple(found)
