"""Equations by bodies and joints: the same as the matrix, in any order, for any graph."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.build.equations import factor_arrays, graph_arrays
from cardan.engine.solvers.direct.block_ldlt import solve_one, write_factor
from cardan.engine.solvers.direct.elimination_order import (
    mark_loops,
    span,
    write_columns,
    write_graph,
    write_groups,
    write_nodes,
)
from cardan.engine.solvers.direct.minimum_degree import write_nodes_by_degree
from cardan.engine.solvers.direct.schur_complement import write_sides
from tests.engine.problem.matrix import dense_matrix
from tests.engine.solvers.problems import (
    WORLD,
    Body,
    add_free_velocity,
    dense_scratch,
    direction_rows,
    empty_problem,
    put_row,
)


def put_joint(problem, i, bodies, pair, point, rows):
    """Write the first equations of a joint at a point, those of ways first; the next row."""
    for k in range(rows):
        direction = np.eye(3)[k % 3]
        J = direction_rows(bodies, pair, point, direction)
        if k >= 3:
            turn = np.concatenate([direction, np.zeros(3)])
            J = (-turn, turn)
        put_row(problem, i, bodies, pair, *J)
        problem.lo[i], problem.hi[i], problem.b[i] = -np.inf, np.inf, 0.0
        i += 1
    return i


def mechanism(pairs, n_bodies, rows=3, seed=0, cfm=0.0):
    """Random bodies and joints of that many rows between them; body n_bodies is the world."""
    rng = np.random.default_rng(seed)
    bodies = []
    for _ in range(n_bodies):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inertia = R @ np.diag(rng.uniform(0.5, 3.0, 3)) @ R.T
        bodies.append(Body(1.0 / rng.uniform(0.1, 10.0), inertia, rng.uniform(-1, 1, 3)))
    bodies.append(WORLD)
    problem = empty_problem(rows * len(pairs), rows * len(pairs))
    problem.cfm[:] = cfm
    i = 0
    for a, b in pairs:
        point = 0.5 * (bodies[a].position + bodies[b].position) + 0.1 * rng.normal(size=3)
        i = put_joint(problem, i, bodies, (a, b), point, rows)
    add_free_velocity(problem, rng.normal(size=(n_bodies + 1, 6)))
    return problem


def chain(n):
    return [(n if k == 0 else k - 1, k) for k in range(n)]


def star(n):
    """The hub is body 0 and floats."""
    return [(0, k) for k in range(1, n)]


def ladder(n):
    """n uprights on the ground, rungs between their tops: n - 1 loops."""
    uprights = [(2 * n - 1, k) for k in range(n)]
    rungs = [pair for k in range(n - 1) for pair in ((k, n + k), (n + k, k + 1))]
    return uprights + rungs


def ring(n):
    return [(k, (k + 1) % n) for k in range(n)]


def branched(n, seed=5):
    rng = np.random.default_rng(seed)
    return [(n, 0)] + [(int(rng.integers(0, k)), k) for k in range(1, n)]


def net(n, m):
    """A lattice of n x m bodies, held at its corners; the world is body n m."""
    across = [(m * i + j, m * i + j + 1) for i in range(n) for j in range(m - 1)]
    along = [(m * i + j, m * i + j + m) for i in range(n - 1) for j in range(m)]
    return [*across, *along] + [(n * m, k) for k in (0, m - 1, n * m - m, n * m - 1)]


def net_with_tails(n, m):
    """What hangs on a net: a chain of three and a fork; the world is body n m + 6."""
    k = n * m
    tails = [(1, k), (k, k + 1), (k + 1, k + 2), (2, k + 3), (k + 3, k + 4), (k + 3, k + 5)]
    return [(a if a < k else k + 6, b) for a, b in net(n, m)] + tails


def wheel(n):
    """A hub, spokes to a rim of n bodies; it floats."""
    return [(0, k) for k in range(1, n + 1)] + [(k, k % n + 1) for k in range(1, n + 1)]


GRAPHS = {
    "one": (chain(1), 1, 5),
    "chain": (chain(12), 12, 5),
    "ball chain": (chain(12), 12, 3),
    "star": (star(15), 15, 3),
    "branched": (branched(20), 20, 5),
    "ladder": (ladder(6), 11, 3),
    "ring": (ring(7), 7, 3),
    "net": (net(5, 6), 30, 3),
    "net with tails": (net_with_tails(3, 4), 18, 3),
    "wheel": (wheel(9), 10, 3),
    "two components": ([*chain(4)[:2], (2, 3)], 4, 3),
    "doubled": ([(3, 0), (3, 0), (0, 1), (1, 2), (0, 2)], 3, 2),
}


def solve_sparse(problem, by_degree=False):
    n = int(problem.count[0])
    dense = dense_scratch(n)
    assert write_graph(problem, dense.graph)
    if by_degree:
        assert write_nodes_by_degree(dense.graph)
        assert write_columns(dense.graph)
    write_factor(problem, dense.graph, dense.equations)
    write_sides(dense.graph, problem.b, dense.equations.x)
    solve_one(dense.graph, dense.equations)
    lam = np.zeros(n)
    for g in range(dense.graph.count[1]):
        for r in range(dense.graph.size[g]):
            lam[dense.graph.member[g, r]] = -dense.equations.x[dense.graph.group_node[g], r]
    return lam, dense


def matrix_of(problem):
    n = int(problem.count[0])
    dense = dense_scratch(n)
    dense_matrix(problem, dense)
    return dense.S[:n, :n]


@pytest.mark.parametrize("by_degree", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("cfm", [0.0, 1e-3])
def test_sparse_is_dense(name, cfm, by_degree):
    pairs, n_bodies, rows = GRAPHS[name]
    problem = mechanism(pairs, n_bodies, rows, cfm=cfm)
    n = int(problem.count[0])
    A = matrix_of(problem)
    lam, _ = solve_sparse(problem, by_degree)
    expected = np.linalg.solve(A, -problem.b[:n])
    np.testing.assert_allclose(lam, expected, rtol=0, atol=1e-12 * np.linalg.cond(A))
    scale = (np.abs(A) @ np.abs(lam)).max()
    assert np.abs(A @ lam + problem.b[:n]).max() <= 1e-13 * max(scale, 1.0)


@pytest.mark.parametrize("name", ["chain", "star", "branched", "ladder", "net with tails"])
def test_names_of_bodies_do_not_matter(name):
    pairs, n_bodies, rows = GRAPHS[name]
    problem = mechanism(pairs, n_bodies, rows)
    lam, _ = solve_sparse(problem)
    rng = np.random.default_rng(1)
    new = np.append(rng.permutation(n_bodies), n_bodies)
    order = rng.permutation(len(pairs))
    blocks = (rows * order[:, None] + np.arange(rows)).ravel()
    n = int(problem.count[0])
    other = empty_problem(n, n)
    for field in ("J_a", "J_b", "MJ_a", "MJ_b", "diagonal", "cfm", "b", "lo", "hi"):
        getattr(other, field)[:] = getattr(problem, field)[blocks]
    for field in ("body_a", "body_b"):
        getattr(other, field)[:] = new[getattr(problem, field)[blocks]]
    for field in ("inverse_mass", "inverse_inertia"):
        getattr(other, field)[new] = getattr(problem, field)[: n_bodies + 1]
    again, _ = solve_sparse(other)
    np.testing.assert_allclose(again, lam[blocks], atol=1e-11 * np.abs(lam).max())


@pytest.mark.parametrize(
    ("family", "blocks"), [(chain, 2), (star, 2), (branched, 2), (ladder, 5), (ring, 4)]
)
def test_blocks_grow_with_bodies_only(family, blocks):
    for n in (10, 40, 160):
        pairs = family(n)
        n_bodies = max(max(pair) for pair in pairs) + (family in (star, ring))
        problem = mechanism(pairs, n_bodies, 1)
        dense = dense_scratch(len(pairs) + n_bodies)
        assert write_graph(problem, dense.graph)
        assert dense.graph.count[3] <= blocks * n_bodies


def test_what_a_loop_says_twice_is_left_out():
    """Two bodies, two hinges side by side on one axis: five of ten equations say nothing."""
    bodies = [Body(1.0, np.eye(3), np.zeros(3)), Body(0.5, 2 * np.eye(3), np.ones(3)), WORLD]
    pairs = [(2, 0), (0, 1), (0, 1)]
    problem = empty_problem(15, 15)
    i = 0
    for pair, z in zip(pairs, (0.0, 0.5, 1.5), strict=True):
        i = put_joint(problem, i, bodies, pair, np.array([0.3, 0.2, z]), 5)
    add_free_velocity(problem, np.random.default_rng(3).normal(size=(3, 6)))
    lam, dense = solve_sparse(problem)
    A = matrix_of(problem)
    assert np.abs(A @ lam + problem.b[:15]).max() < 1e-13
    assert (dense.equations.inverse[: dense.graph.count[2]] == 0.0).sum() - 3 == 5
    assert (lam == 0.0).sum() == 5


@pytest.mark.parametrize("by_degree", [False, True])
@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 3), (3, 5)])
def test_what_many_loops_say_twice_is_left_out(n, m, by_degree):
    """Hinges with parallel axes in a lattice: what is left out is what the rank lacks."""
    pairs, world = net(n, m), n * m
    place = [np.array([k // m, k % m, 0.0]) for k in range(world)]
    rng = np.random.default_rng(n + m)
    bodies = [Body(rng.uniform(0.5, 2.0), rng.uniform(0.5, 2.0) * np.eye(3), p) for p in place]
    bodies.append(WORLD)
    rows = 5 * len(pairs)
    problem = empty_problem(rows, rows)
    i = 0
    for pair in pairs:
        ends = [place[k] for k in pair if k != world]
        point = sum(ends) / len(ends) + np.array([0.1, 0.2, 0.0])
        i = put_joint(problem, i, bodies, pair, point, 5)
    add_free_velocity(problem, rng.normal(size=(world + 1, 6)))
    lam, dense = solve_sparse(problem, by_degree)
    A = matrix_of(problem)
    assert np.abs(A @ lam + problem.b[:rows]).max() < 1e-12
    graph = dense.graph
    left_out = sum(
        int((dense.equations.inverse[graph.group_node[g], : graph.size[g]] == 0.0).sum())
        for g in range(graph.count[1])
    )
    assert left_out == rows - np.linalg.matrix_rank(A, tol=1e-9) > 0


@pytest.mark.parametrize(("n", "m", "blocks"), [(8, 8, 18), (4, 20, 16), (16, 16, 32)])
def test_the_order_by_degrees_fills_less(n, m, blocks):
    """That of a spanning forest fills 21, 29 and 41 blocks for each body."""
    problem = mechanism(net(n, m), n * m, 1)
    graph = graph_arrays(50 * n * m, problem.count[0])
    assert write_graph(problem, graph)
    forest = int(graph.count[3])
    assert write_nodes_by_degree(graph)
    assert write_columns(graph)
    assert forest > 20 * n * m > 0
    assert graph.count[3] <= blocks * n * m


def test_nets_have_an_order_where_that_of_a_forest_has_no_room():
    n, m = 4, 20
    problem = mechanism(net(n, m), n * m, 3)
    # as the build makes them: for the bodies, the world and the joints
    graph = graph_arrays(n * m + 1, len(net(n, m)))
    write_groups(problem, graph)
    span(graph)
    mark_loops(graph)
    write_nodes(graph)
    assert not write_columns(graph)
    assert write_graph(problem, graph)
    factor = factor_arrays(graph)
    write_factor(problem, graph, factor)
    write_sides(graph, problem.b, factor.x)
    solve_one(graph, factor)
    lam, A, rows = np.zeros(problem.count[0]), matrix_of(problem), int(problem.count[0])
    for g in range(graph.count[1]):
        lam[graph.member[g, :3]] = -factor.x[graph.group_node[g], :3]
    assert np.abs(A @ lam + problem.b[:rows]).max() <= 1e-12 * (np.abs(A) @ np.abs(lam)).max()


def test_too_many_loops_are_refused():
    n = 30
    pairs = [(a, b) for a in range(n) for b in range(a)]
    problem = mechanism(pairs, n, 1)
    dense = dense_scratch(len(pairs))
    assert not write_graph(problem, dense.graph)
