"""Sets of bodies that equations join, and which of them take part in a pass of corrections."""

from __future__ import annotations

from math import sqrt

import numpy as np

from cardan.engine.bodies.union_find import find_root, make_sets, union
from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.elimination_order import is_equation
from cardan.engine.solvers.direct.island_factors import NONE
from cardan.engine.world.equations import Factor, Graph
from cardan.engine.world.world import World

# [m or rad] a joint with a smaller error is in place
IN_PLACE = 1e-9
# a pass that would move bodies by this multiple of the error is skipped: the equations of a flat
# loop are nearly inconsistent, and one step later they are not
LEVER = 300.0
# columns of positions.passes; in the fourth: whether the set takes part, or has no factor
ERROR, SHIFT, SPIN, TAKES_PART, BEFORE = 0, 1, 2, 3, 4
NO, YES, LEFT = 0.0, 1.0, -1.0


@kernel
def join_equations(world: World) -> None:
    """Find the sets of bodies that equations join; all take part in the first pass.

    Writes  positions.parent: the first body of each body's set; passes
    """
    problem, positions = world.work.problem, world.work.positions
    parent = positions.parent
    make_sets(parent)
    for i in range(problem.count[2], problem.count[1]):
        a, b = problem.body_a[i], problem.body_b[i]
        if not (problem.inverse_mass[a] > 0.0 and problem.inverse_mass[b] > 0.0):
            continue
        if is_equation(problem, i):
            union(parent, a, b)
    for i in range(parent.shape[0]):
        parent[i] = find_root(parent, i)
        positions.passes[i, TAKES_PART] = YES
        # no pass came before the first
        positions.passes[i, ERROR] = np.inf


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
def end_pass(world: World) -> None:
    """Sets that are in place, or that cannot be moved, no longer take part.

    Writes  positions.passes
    """
    passes, h = world.work.positions.passes, world.options.time_step
    for s in range(passes.shape[0]):
        if passes[s, TAKES_PART] == YES:
            wanted, shift = passes[s, ERROR], passes[s, SHIFT]
            left = wanted * (h * sqrt(passes[s, SPIN]) + shift)
            if left <= 0.5 * IN_PLACE or not shift <= LEVER * wanted:
                passes[s, TAKES_PART] = NO
