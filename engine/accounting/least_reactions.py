"""Reactions of joints in loops: of all that balance the bodies, those of least norm.

The reactions r of the joints of a loop set give forces G^T r on its bodies. What G^T maps to zero
balances itself and is not determined by the laws of rigid bodies; solvers leave some of it. The
least reactions are orthogonal to all of it,

    min  sum over joints of |f|^2 + |t|^2 / L^2      f, t at the anchor, L: Joints.reaction_length

and are found by subtracting from r its part outside the range of G. They do not depend on the
formulation, and they are what joints of equal stiffness in every direction would bear.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.equations import write_equations
from cardan.engine.constraints.joints.frames import has_rows, joint_frame
from cardan.engine.constraints.row import wrench_of
from cardan.engine.spatial.vec3 import load3
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import ImpactTime, RestitutionLaw
from cardan.engine.world.rows import ROW_EQUATION, SLOT_LOWER

if TYPE_CHECKING:
    from cardan.engine.world.least import LeastReactions
    from cardan.engine.world.model import Joints
    from cardan.engine.world.world import World

NEWTON, EXACT = int(RestitutionLaw.NEWTON), int(ImpactTime.EXACT)
# a direction of forces smaller than this share of the largest is none: rounding; and at most that
# of a loop that is open by C, which leaves shares of C/L
NONE, MOST_OPEN = 1e-7, 1e-3


@kernel
def has_breaking_loops(joints: Joints) -> bool:
    """Whether least reactions decide when a joint breaks, and are required in every step."""
    for j in range(joints.loop.shape[0]):
        if joints.loop[j] >= 0 and joints.breaking_force[j] < inf:
            return True
    return False


@kernel
def read_reactions(world: World) -> None:
    """Reactions of joints in loops as the solver left them.

    Writes  least.found
    """
    joints, rows, least = world.model.joints, world.work.rows, world.work.least
    lam, tree, h = world.work.problem.lam, world.model.tree, world.clock.h[0]
    reaction = world.work.tree.reaction
    for j in range(joints.loop.shape[0]):
        for k in range(3):
            inner = joints.loop[j] >= 0 and tree.inner[j] == 1
            least.found[j, k] = reaction[j, 3 + k] if inner else 0.0
            least.found[j, 3 + k] = reaction[j, k] if inner else 0.0
    for i in range(rows.count[1]):
        j = rows.joint[i]
        if j < 0 or joints.loop[j] < 0:
            continue
        if rows.kind[i] == ROW_EQUATION and rows.slot[i] < SLOT_LOWER:
            push, turn = wrench_of(rows, i, load3(rows.joint_arm, j))
            for k in range(3):
                least.found[j, k] += lam[i] / h * push[k]
                least.found[j, 3 + k] += lam[i] / h * turn[k]


@kernel
def add_effect(world: World, r: int, side: int, i: int, columns: int) -> int:
    """Forces of unit reaction r on the body at one side of row i; returns columns in use.

    Writes  least.effect, place
    """
    rows, least, n = world.work.loop_rows, world.work.least, columns
    body = rows.body_a[i] if side == 0 else rows.body_b[i]
    if world.model.bodies.kind[body] != DYNAMIC:
        return n
    if least.place[body] < 0:
        least.place[body] = n // 6
        for s in range(r + 1):
            for k in range(6):
                least.effect[s, n + k] = 0.0
        n += 6
    length, first = world.model.joints.reaction_length[rows.joint[i]], 6 * least.place[body]
    J = rows.J_a if side == 0 else rows.J_b
    for k in range(3):
        least.effect[r, first + k] = J[i, 3 + k]
        least.effect[r, first + 3 + k] = J[i, k] / length
    return n


@kernel
def orthonormalise(least: LeastReactions, first: int, r: int, columns: int) -> None:
    """Make unit reaction r orthogonal to those of its joint, from `first` on, and a unit.

    Writes  least.unit, effect
    """
    for s in range(first, r + 1):
        along = 0.0
        for k in range(6):
            along += least.unit[s, k] * least.unit[r, k]
        scale, factor = 1.0, -along
        if s == r:
            scale, factor = 0.0, 1.0 / sqrt(along) if along > 0.0 else 0.0
        for k in range(6):
            least.unit[r, k] = scale * least.unit[r, k] + factor * least.unit[s, k]
        for k in range(columns):
            least.effect[r, k] = scale * least.effect[r, k] + factor * least.effect[s, k]


@kernel
def add_joint(
    world: World, j: int, r: int, columns: int, openness: float
) -> tuple[int, int, float]:
    """Append the unit reactions of joint j: their number so far, columns in use, largest C/L."""
    joints, work, least = world.model.joints, world.work, world.work.least
    rows, frame = work.loop_rows, joint_frame(joints, world.state, j)
    rows.count[0], rows.share[0] = 0, 1.0
    write_equations(rows, world.state, joints, j, frame, 1.0, work.motion.bias_acceleration)
    length, n, first = joints.reaction_length[j], r, r
    for i in range(rows.count[0]):
        push, turn = wrench_of(rows, i, frame.arm_b)
        for k in range(3):
            least.unit[n, k], least.unit[n, 3 + k] = push[k], turn[k] / length
        for k in range(columns):
            least.effect[n, k] = 0.0
        least.joint[n] = j
        for side in range(2):
            columns = add_effect(world, n, side, i, columns)
        orthonormalise(least, first, n, columns)
        is_turn = push[0] == 0.0 and push[1] == 0.0 and push[2] == 0.0
        error = abs(rows.error[i])
        openness = max(openness, error if is_turn else error / length)
        n += 1
    return n, columns, openness


@kernel
def write_squares(least: LeastReactions, n: int, columns: int) -> None:
    """Squared norms of the columns of `effect`.

    Writes  least.square
    """
    square = least.square
    for c in range(columns):
        square[c] = 0.0
    for r in range(n):
        row = least.effect[r]
        for c in range(columns):
            square[c] += row[c] ** 2


@kernel
def largest_column(least: LeastReactions, n: int, columns: int) -> tuple[int, float]:
    """The column of `effect` with the largest norm, and its square.

    The squares were reduced with every direction that was taken; where little is left of one it is
    formed anew.

    Writes  least.square
    """
    square = least.square
    while True:
        best, most = -1, 0.0
        for c in range(columns):
            if square[c] > most:
                best, most = c, square[c]
        if best < 0:
            return best, 0.0
        found = 0.0
        for r in range(n):
            found += least.effect[r, best] ** 2
        square[best] = found
        if found >= 0.5 * most:
            return best, found


@kernel
def take_direction(least: LeastReactions, n: int, columns: int, best: int, square: float) -> None:
    """Subtract the direction of one column from all others, and from the reactions.

    Writes  least.effect, share, column, along, square
    """
    along, total = least.along, 0.0
    for r in range(n):
        least.column[r] = least.effect[r, best] / sqrt(square)
        least.effect[r, best] = 0.0
        total += least.column[r] * least.share[r]
    for r in range(n):
        least.share[r] -= total * least.column[r]
    for c in range(columns):
        along[c] = 0.0
    for r in range(n):
        f, row = least.column[r], least.effect[r]
        # a joint that this force does not reach
        if f != 0.0:
            for c in range(columns):
                along[c] += f * row[c]
    for r in range(n):
        f, row = least.column[r], least.effect[r]
        if f != 0.0:
            for c in range(columns):
                row[c] -= along[c] * f
    for c in range(columns):
        least.square[c] -= along[c] ** 2
    least.square[best] = 0.0


@kernel
def take_what_balances_itself(world: World, n: int, columns: int, openness: float) -> None:
    """Shift the reactions of joints by the part of n unit reactions outside the range of `effect`.

    Writes  least.shift, share, effect
    """
    least, joints = world.work.least, world.model.joints
    for r in range(n):
        j, total = least.joint[r], 0.0
        for k in range(3):
            total += least.unit[r, k] * least.found[j, k]
            total += least.unit[r, 3 + k] * least.found[j, 3 + k] / joints.reaction_length[j]
        least.share[r] = total
    write_squares(least, n, columns)
    best, largest = largest_column(least, n, columns)
    share = max(NONE, min(openness, MOST_OPEN))
    square = largest
    for _ in range(min(n, columns)):
        if not square > share * share * largest:
            break
        take_direction(least, n, columns, best, square)
        best, square = largest_column(least, n, columns)
    for r in range(n):
        j = least.joint[r]
        for k in range(3):
            least.shift[j, k] -= least.share[r] * least.unit[r, k]
            turn = joints.reaction_length[j] * least.unit[r, 3 + k]
            least.shift[j, 3 + k] -= least.share[r] * turn


@kernel
def write_least_reactions(world: World) -> None:
    """Write the difference of the least-norm reactions of joints in loops and the solver's.

    Must be called in the middle of the step, after the kick and the reactions of trees. With impact
    laws and exact impacts reactions stay those of the solver.

    Writes  work.least, loop_rows
    Check   tests/references/test_least_reactions.py
    """
    joints, least, kind = world.model.joints, world.work.least, world.model.bodies.kind
    for j in range(least.shift.shape[0]):
        for k in range(6):
            least.shift[j, k] = 0.0
    options = world.options
    if options.restitution_law != NEWTON or options.impact_time == EXACT:
        return
    if least.share.shape[0] == 0:
        return
    read_reactions(world)
    n_joints = joints.loop.shape[0]
    for first in range(n_joints):
        if joints.loop[first] != first:
            continue
        for b in range(least.place.shape[0]):
            least.place[b] = -1
        n, columns, openness = 0, 0, 0.0
        for j in range(first, n_joints):
            if joints.loop[j] == first and has_rows(joints, kind, world.state, j):
                n, columns, openness = add_joint(world, j, n, columns, openness)
        take_what_balances_itself(world, n, columns, openness)
