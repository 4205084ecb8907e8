"""Eight pairs at a time: the colours are apart, and a sweep is a sweep in another order."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.build.simd import simd_arrays
from cardan.engine.problem.residual import residual
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.simd.layout import LAYER, POINTS, ROUND_SHARED, VECTOR, W
from cardan.engine.solvers.sweeps.simd.packing import store_groups
from cardan.engine.solvers.sweeps.simd.solver import (
    list_contacts,
    load_lanes,
    measure_listed,
    sweep_listed,
)
from cardan.engine.world.report import STOPPED_STALLED
from tests.engine.solvers.problems import copy_problem, pgs, pile, tower, velocity_scratch

# cubes turn as easily about every axis, bricks do not
BRICKS = ((1, 1, 1), (1, 0.7, 0.4), (0.5, 0.8, 1))
PILES = {
    "pile": lambda: pile(15, 60),
    "bricks": lambda: pile(15, 60, sizes=BRICKS[1:]),
    "both": lambda: pile(60, 240, sizes=BRICKS),
    "tower": lambda: tower(5, push=0.3),
}


def sweep_all(problem, lanes, v, rules, relaxation=1.0):
    """All contacts in the order of their colours, impulses back in the problem."""
    assert problem.count[1] == 0, "boxes are swept beside them"
    found = sweep_listed(problem, lanes, list_contacts(problem, lanes), v, rules, relaxation)
    store_groups(problem, lanes, 0, int(lanes.count[0]))
    return found


def garbage_lanes(problem):
    """Room for all contacts, full of nonsense."""
    lanes = simd_arrays(len(problem.inverse_mass), int(np.diff(problem.count[1::-1])[0]) // 3, 0)
    for field in lanes[:-1]:
        field[...] = -(2**40) if field.dtype.kind == "i" else np.nan
    return lanes


def placed(lanes):
    """Normal rows of every layer of every group, (W,) each, -1: none."""
    found = []
    rows = lanes.row.reshape(-1, W, POINTS)
    for g in range(lanes.count[0]):
        layers = (lanes.begin[g + 1] - lanes.layer[g]) // LAYER
        ended = np.cumsum(rows[g] < 0, axis=1) > 0
        ended[:, 1:] |= ended[:, :-1]
        found += [np.where(ended[:, p], -1, rows[g, :, p]) for p in range(layers)]
    return np.array(found)


def in_order(problem, normals):
    """The same problem with its contacts in the order of these normal rows."""
    order = np.concatenate([np.arange(i, i + 3) for i in normals])
    other = copy_problem(problem)
    for name in ("body_a", "body_b", "J_a", "J_b", "MJ_a", "MJ_b", "diagonal", "cfm", "b", "mu"):
        getattr(other, name)[: len(order)] = getattr(problem, name)[order]
    other.lam[: len(order)] = problem.lam[order]
    return other


@pytest.mark.parametrize("name", PILES)
def test_no_group_moves_a_body_twice(name):
    problem = PILES[name]()
    lanes = garbage_lanes(problem)
    load_lanes(problem, lanes, list_contacts(problem, lanes), velocity_scratch(problem))
    assert lanes.count[1] == 0
    used = placed(lanes)
    contacts = np.arange(problem.count[1], problem.count[0], 3)
    assert sorted(used[used >= 0]) == list(contacts)
    for group in used:
        rows = group[group >= 0]
        bodies = np.concatenate([problem.body_a[rows], problem.body_b[rows]])
        bodies = bodies[problem.inverse_mass[bodies] > 0.0]
        assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("name", PILES)
def test_lanes_of_a_layer_are_swept_as_far_as_it_has_contacts(name):
    problem = PILES[name]()
    lanes = garbage_lanes(problem)
    load_lanes(problem, lanes, list_contacts(problem, lanes), velocity_scratch(problem))
    layers = [
        g * POINTS + k
        for g in range(lanes.count[0])
        for k in range((lanes.begin[g + 1] - lanes.layer[g]) // LAYER)
    ]
    for rows, used in zip(placed(lanes), lanes.used[layers], strict=True):
        last = np.flatnonzero(rows >= 0).max()
        assert used == (last // VECTOR + 1) * VECTOR


@pytest.mark.parametrize("name", PILES)
@pytest.mark.parametrize("sweeps", [1, 4])
def test_a_sweep_in_the_order_of_the_lanes(name, sweeps):
    problem = PILES[name]()
    problem.lam[: problem.count[0]] = np.random.default_rng(0).normal(size=problem.count[0])
    coloured, lanes = copy_problem(problem), garbage_lanes(problem)
    rules = StoppingRules(sweeps, -1.0, -1.0)
    sweep_all(coloured, lanes, velocity_scratch(problem), rules, 1.2)
    order = placed(lanes)
    order = order[order >= 0]
    plain = in_order(problem, order)
    pgs(plain, velocity_scratch(problem), rules, 1.2)
    found = in_order(coloured, order)
    n = problem.count[0]
    np.testing.assert_allclose(found.lam[:n], plain.lam[:n], rtol=1e-11, atol=1e-12)


def test_groups_are_round_where_all_their_bodies_are():
    problem = PILES["both"]()
    lanes = garbage_lanes(problem)
    load_lanes(problem, lanes, list_contacts(problem, lanes), velocity_scratch(problem))
    kinds = set()
    for g in range(lanes.count[0]):
        bodies = np.concatenate([lanes.body_a[g * W : g * W + W], lanes.body_b[g * W : g * W + W]])
        moments = np.linalg.eigvalsh(problem.inverse_inertia[bodies])
        is_round = bool(np.all(np.ptp(moments, axis=1) <= 1e-12 * moments[:, 2]))
        assert (lanes.layer[g] - lanes.begin[g] == ROUND_SHARED) == is_round
        kinds.add(is_round)
    assert kinds == {False, True}


def test_points_of_a_pair_share_a_lane():
    """Boxes upon each other meet in four points: as many layers."""
    problem = tower(5, push=0.3)
    lanes = garbage_lanes(problem)
    load_lanes(problem, lanes, list_contacts(problem, lanes), velocity_scratch(problem))
    first = placed(lanes)[:POINTS, 0]
    assert list(first - first[0]) == [0, 3, 6, 9]


@pytest.mark.parametrize("name", PILES)
def test_errors_of_lanes_are_those_of_the_problem(name):
    problem = PILES[name]()
    n = problem.count[0]
    lanes, v = garbage_lanes(problem), velocity_scratch(problem)
    listed = list_contacts(problem, lanes)
    sweep_listed(problem, lanes, listed, v, StoppingRules(3, -1.0, -1.0), 1.0)
    found = measure_listed(problem, lanes, v)
    w, speeds = problem.w[:n].copy(), v.copy()
    assert found == pytest.approx(residual(problem, v), rel=1e-11)
    np.testing.assert_allclose(w, problem.w[:n], rtol=1e-11, atol=1e-11)
    moved = problem.inverse_mass > 0.0
    np.testing.assert_allclose(speeds[moved], v[moved], rtol=1e-11, atol=1e-12)


def test_a_layer_without_a_contact_has_no_error():
    """Pairs of one, two and more points side by side: some lanes have fewer than their group."""
    heap = pile(15, 60, seed=0)
    n = int(heap.count[0])
    together = np.argsort(100 * heap.body_b[:n:3] + heap.body_a[:n:3], kind="stable")
    rows = (3 * together[:, None] + np.arange(3)).ravel()
    problem = copy_problem(heap)
    for name in ("J_a", "J_b", "MJ_a", "MJ_b", "body_a", "body_b", "b", "mu", "diagonal"):
        getattr(problem, name)[:n] = getattr(heap, name)[rows]
    problem.b[:] *= 100.0
    lanes, v = garbage_lanes(problem), velocity_scratch(problem)
    listed = list_contacts(problem, lanes)
    sweep_listed(problem, lanes, listed, v, StoppingRules(20_000, -1.0, 1e-11), 1.0)
    assert np.abs(v[problem.inverse_mass > 0.0]).max() > 1.0
    assert max(measure_listed(problem, lanes, v)) < 1e-8


@pytest.mark.parametrize("column", range(6))
def test_rows_that_are_no_point_contacts_are_swept_one_by_one(column):
    """No point of the bodies moves as the row of a tangent says."""
    problem = PILES["pile"]()
    problem.J_b[31, column] += 1e-6
    lanes = garbage_lanes(problem)
    n = list_contacts(problem, lanes)
    load_lanes(problem, lanes, n, velocity_scratch(problem))
    assert list(lanes.count) == [0, n, 0]
    assert list(lanes.rest[:n]) == list(lanes.listed[:n])


def test_contacts_without_a_colour_are_swept_one_by_one():
    """A hundred contacts of two bodies, no two alike: more than there are colours."""
    problem = pile(2, 100)
    lanes = garbage_lanes(problem)
    rules = StoppingRules(20_000, -1.0, 1e-12)
    status, _ = sweep_all(problem, lanes, velocity_scratch(problem), rules)
    assert status == STOPPED_STALLED
    assert lanes.count[1] > 0
    assert residual(problem, velocity_scratch(problem))[0] < 1e-9
