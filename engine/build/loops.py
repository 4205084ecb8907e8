"""Which joints form loops together: their reactions may not be unique."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.components import components
from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.limits import body_lengths
from cardan.engine.build.memoised import memoised
from cardan.engine.build.rotations import turn_all
from cardan.engine.world.least import LeastReactions
from cardan.engine.world.model import BALL, DYNAMIC, HINGE, LARGE, NO_LOOP, UNIVERSAL, Joints, Model

Array = NDArray[np.float64]

# larger sets of joints keep the reactions of the solver: the cost grows with the cube; where one of
# them may break it is that of every step
MOST_JOINTS, MOST_BREAKING = 64, 24
# unit reactions of a joint: no body has more than six, one place is scratch of a screw
UNITS = 7
# bodies that a rope has at least: planar linkages of fewer have one or two freedoms
LINKS = 5
# deviation of the cosine between axes that are parallel
PARALLEL = 1e-9


def loop_sets(
    joints: Joints, kind: NDArray[np.int64], sets: Sequence[NDArray[np.int64]]
) -> NDArray[np.int64]:
    """(j,) the first joint of the set of each joint that may be part of a loop, NO_LOOP of others.

    Joints on the way to a body that nothing else holds are in no loop. Of soft ones, and of sets
    that are too large, reactions are not least: LARGE. What does not move is one with the world,
    and couples no sets.

    sets: of all joints, rigid or not (coupled_joints)
    """
    found = np.full(len(joints.kind), NO_LOOP, np.int64)
    for members in sets:
        found[members] = LARGE
    for members in coupled_joints(joints, kind, joints.cfm == 0.0):
        breaks = np.isfinite(joints.breaking_force[members]).any()
        if len(members) <= (MOST_BREAKING if breaks else MOST_JOINTS):
            found[members] = members[0]
    return found


def closes_loops(joints: Joints, kind: NDArray[np.int64]) -> bool:
    """Whether joints and bodies form a loop; bodies that are not dynamic are one with the world."""
    return _closes_loops(joints.body_a, joints.body_b, kind)


@memoised
def _closes_loops(
    body_a: NDArray[np.int64], body_b: NDArray[np.int64], kind: NDArray[np.int64]
) -> bool:
    if len(body_a) < 2:
        return False
    n = len(kind)
    node = np.where(kind == DYNAMIC, np.arange(n), n - 1)
    a, b = node[body_a], node[body_b]
    return len(a) > n - (int(components(n, a, b).max()) + 1)


def coupled_joints(
    joints: Joints, kind: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> list[NDArray[np.int64]]:
    """Sets of those chosen joints that may be part of loops."""
    if not closes_loops(joints, kind):
        return []
    n, moving = len(kind), kind == DYNAMIC
    a, b = joints.body_a, joints.body_b
    kept = chosen & (moving[a] | moving[b])
    while True:
        degree = np.bincount(a[kept], minlength=n) + np.bincount(b[kept], minlength=n)
        loose = (moving[a] & (degree[a] == 1)) | (moving[b] & (degree[b] == 1))
        if not (kept & loose).any():
            break
        kept &= ~loose
    both = kept & moving[a] & moving[b]
    part = components(n, a[both], b[both])
    of_joint = np.where(moving[a], part[a], part[b])
    sets = [np.flatnonzero(kept & (of_joint == one)) for one in np.unique(of_joint[kept])]
    return [members for members in sets if len(members) > 1]


def in_plane(model: Model, q_WB: Array, members: NDArray[np.int64]) -> bool:
    """Whether all hinges of some joints turn about one direction."""
    joints = model.joints
    hinges = members[joints.kind[members] == HINGE]
    axes = turn_all(q_WB[joints.body_a[hinges]], joints.axis_A[hinges])
    return bool((np.abs(axes @ axes[:1].T) > 1.0 - PARALLEL).all())


def ropes(model: Model, q_WB: Array, members: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Ropes and nets among joints that form loops together, each as indices of its joints.

    Nets have ball joints alone. A rope is a row of at least LINKS bodies, each held by two ball
    joints, or hinges about one direction. All else is a mechanism: its reactions may be of the
    equations alone, at dead centres, and none of its links is free.
    """
    joints, moving = model.joints, model.bodies.kind == DYNAMIC
    if (joints.kind[members] == BALL).all():
        yield members
        return
    n, a, b = len(moving), joints.body_a[members], joints.body_b[members]
    ends, others = np.concatenate([a, b]), ~is_one_of(joints.kind[members], (BALL, HINGE))
    held, elsewhere = np.bincount(ends, minlength=n), np.bincount(ends, np.tile(others, 2), n)
    link = moving & (held == 2) & (elsewhere == 0)
    both = link[a] & link[b]
    row = components(n, a[both], b[both])
    for one in np.unique(row[link]):
        of_rope = link & (row == one)
        held_by = members[of_rope[a] | of_rope[b]]
        if of_rope.sum() >= LINKS and in_plane(model, q_WB, held_by):
            yield held_by


def strung_joints(
    model: Model, q_WB: Array, sets: Sequence[NDArray[np.int64]]
) -> NDArray[np.bool_]:
    """(j,): joints that let two points coincide and their bodies turn; in loops those of ropes.

    sets: of all joints that form loops together
    """
    found = is_one_of(model.joints.kind, (BALL, HINGE, UNIVERSAL))
    for members in sets:
        found[members] = False
        for rope in ropes(model, q_WB, members):
            found[rope] = True
    return found


def write_loops(model: Model, p_WB: Array, q_WB: Array) -> None:
    """Write the sets of loop joints, the length of their reactions, and what is strung."""
    joints, kind = model.joints, model.bodies.kind
    sets = coupled_joints(joints, kind, np.ones(len(joints.kind), bool))
    joints.loop[:] = loop_sets(joints, kind, sets)
    joints.strung[:] = strung_joints(model, q_WB, sets)
    if (joints.loop >= 0).any():
        joints.reaction_length[:] = reaction_length(model, p_WB)


def reaction_length(model: Model, p_WB: Array) -> float:
    """m: the torque in N m that counts as one newton, the median length of bodies that move."""
    lengths = body_lengths(model, p_WB)[model.bodies.kind == DYNAMIC]
    lengths = lengths[lengths > 0.0]
    return float(np.median(lengths)) if len(lengths) else 1.0


def least_arrays(model: Model) -> LeastReactions:
    """Scratch for the largest set, also where a scene of the same structure has rigid joints."""
    loop = model.joints.loop
    sets = coupled_joints(model.joints, model.bodies.kind, np.ones(len(loop), bool))
    joints = min(max(map(len, sets), default=0), MOST_JOINTS)
    rows = UNITS * joints
    n = len(loop) if joints else 0
    return LeastReactions(
        found=np.zeros((n, 6)),
        shift=np.zeros((len(loop), 6)),
        place=np.zeros(len(model.bodies.kind), np.int64),
        joint=np.zeros(rows, np.int64),
        unit=np.zeros((rows, 6)),
        effect=np.zeros((rows, 6 * 2 * joints)),
        share=np.zeros(rows),
        column=np.zeros(rows),
        along=np.zeros(6 * 2 * joints),
        square=np.zeros(6 * 2 * joints),
    )
