"""Decomposition of a Problem into islands: sets of rows without common movable bodies.

Many small piles and mechanisms are then small problems that can be solved exactly. The result of an
island depends on its own rows and their order only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.bodies.union_find import find_root, make_sets, union
from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.coupled import goes_on
from cardan.engine.problem.operator import copy_geometry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.islands import Islands
    from cardan.engine.world.problem import Lanes, Problem
    from cardan.engine.world.tree import Tree


@kernel
def _body_of(problem: Problem, inverse_mass: NDArray, i: int) -> int:
    """A movable body of row i; the world if there is none."""
    if inverse_mass[problem.body_a[i]] > 0.0:
        return problem.body_a[i]
    if inverse_mass[problem.body_b[i]] > 0.0:
        return problem.body_b[i]
    return inverse_mass.shape[0] - 1


@kernel
def root_of(problem: Problem, inverse_mass: NDArray, islands: Islands, i: int) -> int:
    """The root body of the island of row i."""
    return find_root(islands.parent, _body_of(problem, inverse_mass, i))


@kernel
def _join_row(problem: Problem, inverse_mass: NDArray, islands: Islands, i: int) -> None:
    """Join the bodies of row i to one island."""
    a, b = problem.body_a[i], problem.body_b[i]
    if inverse_mass[a] > 0.0 and inverse_mass[b] > 0.0:
        union(islands.parent, a, b)


@kernel
def _join_couplings(problem: Problem, inverse_mass: NDArray, islands: Islands) -> None:
    """Join the bodies of all terms of each coupling to one island."""
    for i in range(problem.count[2]):
        if goes_on(problem, i):
            last = _body_of(problem, inverse_mass, i - 1)
            union(islands.parent, last, _body_of(problem, inverse_mass, i))


@kernel
def _share_pair(problem: Problem, i: int, j: int) -> bool:
    """Whether rows i and j have the same two bodies."""
    return bool(problem.body_a[i] == problem.body_a[j] and problem.body_b[i] == problem.body_b[j])


@kernel
def join_trees(tree: Tree, parent: NDArray) -> None:
    """Join the bodies of each tree, with or without rows."""
    first, which = -1, -1
    for i in range(tree.kind.shape[0]):
        if tree.body[i] < 0:
            continue
        if tree.tree[i] != which:
            first, which = tree.body[i], tree.tree[i]
        else:
            union(parent, first, tree.body[i])


@kernel
def join_bodies(problem: Problem, inverse_mass: NDArray, islands: Islands) -> None:
    """Join the bodies of every row, and of every tree, to islands.

    Writes  islands.parent
    """
    n_rows, n_box = problem.count[0], problem.count[1]
    make_sets(islands.parent)
    for i in range(n_box):
        _join_row(problem, inverse_mass, islands, i)
    for i in range(n_box, n_rows, 3):
        if i == n_box or not _share_pair(problem, i, i - 3):
            _join_row(problem, inverse_mass, islands, i)
    _join_couplings(problem, inverse_mass, islands)
    join_trees(problem.mobility.tree, islands.parent)


@kernel
def find_islands(problem: Problem, inverse_mass: NDArray, islands: Islands) -> int:
    """Sort rows by island; returns the number of islands.

    Islands are numbered by their first row, rows keep their order within an island (so boxes stay
    before contacts). Rows without movable bodies form one island. The time is proportional to
    rows + bodies.

    Reads   inverse_mass (n_bodies + 1,) 1/kg   0 for bodies that impulses do not move
    Writes  islands, except part
    Check   tests/engine/problem/test_islands.py
    """
    n_rows, n_box = problem.count[0], problem.count[1]
    join_bodies(problem, inverse_mass, islands)
    for k in range(islands.number.shape[0]):
        islands.number[k] = -1
        islands.boxes[k] = 0
        islands.start[k + 1] = 0
    n = 0
    # here `place` holds the island of the row
    for i in range(n_rows):
        if i > n_box and ((i - n_box) % 3 > 0 or _share_pair(problem, i, i - 3)):
            # rows of one contact, or of one pair of bodies
            islands.place[i] = islands.place[i - 1]
            islands.start[islands.place[i] + 1] += 1
            continue
        first = root_of(problem, inverse_mass, islands, i)
        if islands.number[first] < 0:
            islands.number[first] = n
            n += 1
        k = islands.number[first]
        islands.place[i] = k
        islands.start[k + 1] += 1
        if i < n_box:
            islands.boxes[k] += 1
    islands.start[0] = 0
    for k in range(n):
        islands.start[k + 1] += islands.start[k]
        islands.number[k] = islands.start[k]
    # from here `number` is the next free place of an island
    for i in range(n_rows):
        k = islands.place[i]
        to = islands.number[k]
        islands.number[k] = to + 1
        islands.order[to] = i
        islands.place[i] = to - islands.start[k]
    islands.count[0] = n
    return n


@kernel
def gather(problem: Problem, islands: Islands, k: int) -> None:
    """Copy the rows of island k to islands.part."""
    part = islands.part
    start, end = islands.start[k], islands.start[k + 1]
    part.count[0] = end - start
    part.count[1] = islands.boxes[k]
    part.count[2] = 0
    part.friction_kind[0] = problem.friction_kind[0]
    part.friction_kind[1] = problem.friction_kind[1]
    for r in range(end - start):
        i = islands.order[start + r]
        part.count[2] += i < problem.count[2]
        copy_geometry(problem, i, part, r)
        part.cfm[r] = problem.cfm[i]
        part.b[r] = problem.b[i]
        part.sweep_bias_delta[r] = problem.sweep_bias_delta[i]
        part.lo[r] = problem.lo[i]
        part.hi[r] = problem.hi[i]
        normal = problem.normal_row[i]
        part.normal_row[r] = islands.place[normal] if normal >= 0 else -1
        part.mu[r] = problem.mu[i]
        part.lam[r] = problem.lam[i]


@kernel
def scatter(islands: Islands, k: int, problem: Problem) -> None:
    """Copy the solution of island k to problem.lam, w, sweep_bias_delta."""
    start = islands.start[k]
    for r in range(islands.start[k + 1] - start):
        i = islands.order[start + r]
        problem.lam[i] = islands.part.lam[r]
        problem.w[i] = islands.part.w[r]
        problem.sweep_bias_delta[i] = islands.part.sweep_bias_delta[r]


@kernel
def list_rows(islands: Islands, k: int, lanes: Lanes) -> int:
    """List the contacts of island k, which has no box rows; return their number."""
    n = (islands.start[k + 1] - islands.start[k]) // 3
    for c in range(n):
        lanes.listed[c] = islands.order[islands.start[k] + 3 * c]
    return n
