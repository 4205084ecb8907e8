"""Sets of bodies that equations join, and which of them take part in a pass of corrections."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cardan.engine.bodies.union_find import find_root, make_sets, union
from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.elimination_order import is_equation
from cardan.engine.solvers.direct.island_factors import NONE
from cardan.engine.world.equations import Factor, Graph
from cardan.engine.world.rows import Rows
from cardan.engine.world.world import World

# a joint with a smaller error is in place [m or rad]; in mechanisms of less than a centimetre, one
# with a smaller share of their span
IN_PLACE, IN_PLACE_SHARE = 1e-9, 1e-7
# a pass that would move bodies by more than this multiple of the error is skipped: the equations of
# a flat loop are nearly inconsistent, but usually no longer one step later
LEVER = 300.0
# columns of positions.passes; values of TAKES_PART: no, yes, or left out since it has no factor
ERROR, SHIFT, SPIN, TAKES_PART, BEFORE, MISSED, MOVED, LEAST = range(8)
NO, YES, LEFT = 0.0, 1.0, -1.0


@kernel
def join_equations(world: World) -> None:
    """Find the sets of bodies that equations join; all take part in the first pass.

    Writes  positions.parent: the first body of each body's set; passes
    """
    problem, positions = world.work.problem, world.work.positions
    parent, passes, span = positions.parent, positions.passes, world.model.bodies.span
    make_sets(parent)
    for i in range(problem.count[2], problem.count[1]):
        a, b = problem.body_a[i], problem.body_b[i]
        if not (problem.inverse_mass[a] > 0.0 and problem.inverse_mass[b] > 0.0):
            continue
        if is_equation(problem, i):
            union(parent, a, b)
    for i in range(parent.shape[0]):
        parent[i] = find_root(parent, i)
        passes[i, TAKES_PART], passes[i, LEAST] = YES, IN_PLACE
        # no pass came before the first
        passes[i, ERROR] = np.inf
    for i in range(parent.shape[0]):
        if span[i] > 0.0:
            s = parent[i]
            passes[s, LEAST] = min(passes[s, LEAST], IN_PLACE_SHARE * span[i])


@kernel
def set_of(world: World, a: int, b: int) -> int:
    """The set of two joined bodies, or NONE when neither can be moved."""
    inverse_mass, parent = world.work.problem.inverse_mass, world.work.positions.parent
    if inverse_mass[b] > 0.0:
        return int(parent[b])
    return int(parent[a]) if inverse_mass[a] > 0.0 else NONE


@kernel
def takes_part(world: World, a: int, b: int) -> bool:
    """Whether the set of two joined bodies takes part in this pass."""
    s = set_of(world, a, b)
    return bool(s >= 0 and world.work.positions.passes[s, TAKES_PART] == YES)


@kernel
def mark_due(world: World) -> None:
    """Mark the factors with a set that takes part in this pass.

    Writes  kept.due
    """
    kept, positions = world.work.dense.kept, world.work.positions
    for e in range(kept.count[0]):
        kept.due[e] = 0
    for s in range(positions.passes.shape[0]):
        if positions.passes[s, TAKES_PART] == YES:
            kept.due[kept.number[s]] = 1


@kernel
def mark_live(world: World, graph: Graph, factor: Factor) -> None:
    """Mark the nodes of the sets that take part in this pass.

    Writes  factor.live
    """
    positions = world.work.positions
    for k in range(graph.count[0]):
        s = positions.parent[graph.body[k]]
        live = 1 if positions.passes[s, TAKES_PART] == YES else 0
        factor.live[graph.body_node[k]] = live
    for g in range(graph.count[1]):
        k = max(graph.side[g, 0], graph.side[g, 1])
        factor.live[graph.group_node[g]] = factor.live[graph.body_node[k]]


@kernel
def way_of(rows: Rows, span: NDArray, i: int) -> float:
    """Displacement [m] per unit of the error of row i: 1 for a length, the span for an angle."""
    for k in range(3, 6):
        if rows.J_a[i, k] != 0.0 or rows.J_b[i, k] != 0.0:
            return 1.0
    return float(max(span[rows.body_a[i]], span[rows.body_b[i]]))


@kernel
def is_moved(passes: NDArray, s: int) -> bool:
    """Whether set s is moved in this pass: by no more than LEVER times the error of its joints."""
    return bool(passes[s, MOVED] <= LEVER * passes[s, MISSED])


@kernel
def end_pass(world: World) -> None:
    """Sets that are in place, or that cannot be moved, no longer take part.

    Writes  positions.passes
    """
    passes, h = world.work.positions.passes, world.options.time_step
    for s in range(passes.shape[0]):
        if passes[s, TAKES_PART] == YES:
            left = passes[s, ERROR] * (h * sqrt(passes[s, SPIN]) + passes[s, SHIFT])
            if left <= 0.5 * passes[s, LEAST] or not is_moved(passes, s):
                passes[s, TAKES_PART] = NO
