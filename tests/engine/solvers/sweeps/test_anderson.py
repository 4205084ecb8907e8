"""Sweeps that carry on where the last two were going: sooner there, and to the same answer."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.build.simd import simd_arrays
from cardan.engine.problem.residual import residual
from cardan.engine.solvers.stopping import StoppingRules
from cardan.engine.solvers.sweeps.simd.accelerated import sweep_accelerated
from cardan.engine.solvers.sweeps.simd.anderson import (
    BUSY_SWEEPS,
    GROUNDLESS_SWEEPS,
    MOST_SWEEPS,
    list_moving,
    longest_way,
    sweeps_for,
)
from cardan.engine.solvers.sweeps.simd.packing import store_groups
from cardan.engine.solvers.sweeps.simd.solver import (
    list_contacts,
    start_listed,
    start_mixed,
    sweep_listed,
)
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_STALLED
from tests.engine.solvers.problems import chain, copy_problem, pgs, pile, tower, velocity_scratch


def garbage_lanes(problem):
    """Room for all contacts, full of nonsense."""
    lanes = simd_arrays(len(problem.inverse_mass), problem.count[0] // 3, 0)
    for field in lanes[:-1]:
        field[...] = -(2**40) if field.dtype.kind == "i" else np.nan
    return lanes


def accelerated(problem, most, tolerance):
    """Solve in place; STOPPED_..., sweeps, velocities, lanes."""
    lanes, v = garbage_lanes(problem), velocity_scratch(problem)
    n = list_contacts(problem, lanes)
    start_listed(problem, lanes, n, v)
    rules = StoppingRules(most, -1.0, tolerance)
    found = sweep_accelerated(problem, lanes, n, v, rules, np.inf)
    store_groups(problem, lanes, 0, int(lanes.count[0]))
    return *found, v, lanes


@pytest.mark.parametrize("height", [8, 16])
def test_a_load_through_many_bodies_takes_a_few_sweeps_of_each(height):
    plain = tower(height)
    lanes, v = garbage_lanes(plain), velocity_scratch(plain)
    n = list_contacts(plain, lanes)
    _, many = sweep_listed(plain, lanes, n, v, StoppingRules(100_000, -1.0, 1e-9), 1.0)
    problem = tower(height)
    status, few, _, _ = accelerated(problem, 100_000, 1e-9)
    assert status == STOPPED_STALLED
    assert residual(problem, velocity_scratch(problem))[0] < 1e-8
    assert few < many / 3


@pytest.mark.parametrize("make", [lambda: pile(15, 60), lambda: tower(5, push=0.3)])
def test_impulses_after_any_sweep_are_admissible_and_velocities_are_theirs(make):
    for most in (1, 2, 3, 7, 20):
        problem = make()
        status, done, v, _ = accelerated(problem, most, -1.0)
        assert (status, done) == (STOPPED_MAX_ITERATIONS, most)
        lam = problem.lam[: problem.count[0]].reshape(-1, 3)
        mu = problem.mu[1 : problem.count[0] : 3]
        assert (lam[:, 0] >= 0.0).all()
        assert (np.hypot(lam[:, 1], lam[:, 2]) <= mu * lam[:, 0] * (1.0 + 1e-12)).all()
        fresh = velocity_scratch(problem)
        residual(problem, fresh)
        moved = problem.inverse_mass > 0.0
        np.testing.assert_allclose(v[moved], fresh[moved], rtol=1e-9, atol=1e-11)


def test_sliding_heaps_are_solved_too():
    problem = pile(15, 60)
    accelerated(problem, 20_000, 1e-11)
    assert residual(problem, velocity_scratch(problem))[0] < 1e-9


def test_contacts_without_a_colour_are_carried_on_as_well():
    """A hundred contacts of two bodies, no two alike: more than there are colours."""
    problem = pile(2, 100)
    status, sweeps, _, lanes = accelerated(problem, 20_000, 1e-12)
    assert lanes.count[1] > 0
    assert status == STOPPED_STALLED
    assert residual(problem, velocity_scratch(problem))[0] < 1e-9
    plain = pile(2, 100)
    lanes, v = garbage_lanes(plain), velocity_scratch(plain)
    n = list_contacts(plain, lanes)
    rules = StoppingRules(20_000, -1.0, 1e-12)
    assert sweeps < sweep_listed(plain, lanes, n, v, rules, 1.0)[1]


def test_joints_are_carried_on_as_well():
    problem = chain(6, 30)
    plain = copy_problem(problem)
    lanes, v = simd_arrays(7, 30, int(problem.count[0])), velocity_scratch(problem)
    for field in lanes[:-1]:
        field[...] = -(2**40) if field.dtype.kind == "i" else np.nan
    n = list_contacts(problem, lanes)
    start_mixed(problem, lanes, n, v)
    rules = StoppingRules(20_000, -1.0, 1e-10)
    status, few = sweep_accelerated(problem, lanes, n, v, rules, np.inf)
    store_groups(problem, lanes, 0, int(lanes.count[0]))
    assert status == STOPPED_STALLED
    assert residual(problem, velocity_scratch(problem))[0] < 1e-8
    assert few < pgs(plain, velocity_scratch(plain), rules, 1.0)[1] / 2


def way(problem):
    """Bodies that the longest load goes through, and all that move."""
    lanes = garbage_lanes(problem)
    n, lanes.count[2] = list_contacts(problem, lanes), 0
    moving = list_moving(problem, lanes, n)
    return longest_way(problem, lanes, n, moving), set(lanes.moving[:moving].tolist())


def test_a_load_goes_through_all_boxes_of_a_tower():
    assert way(tower(7)) == (7, set(range(7)))
    # contacts from the top down
    problem = tower(7)
    turned = copy_problem(problem)
    for name in ("body_a", "body_b"):
        field = getattr(problem, name)[: problem.count[0]].reshape(-1, 3)
        getattr(turned, name)[: problem.count[0]] = field[::-1].ravel()
    assert way(turned) == (7, set(range(7)))


def test_what_has_no_ground_has_no_way_to_it():
    problem = tower(4)
    problem.inverse_mass[4] = 1.0
    assert way(problem) == (0, set(range(5)))
    assert sweeps_for(0, 9) == GROUNDLESS_SWEEPS


def test_longer_ways_and_slender_stacks_take_more_sweeps():
    assert sweeps_for(8, 999) < sweeps_for(20, 999) < sweeps_for(20, 80)
    assert sweeps_for(1000, 999) == MOST_SWEEPS


def test_where_much_changes_there_are_more_sweeps_and_they_end_sooner():
    """A hit is spread through the heap; what bodies in motion need next is another impulse."""

    def sweeps(busy):
        problem = pile(6, 12)
        lanes, v = garbage_lanes(problem), velocity_scratch(problem)
        n = list_contacts(problem, lanes)
        start_listed(problem, lanes, n, v)
        return sweep_accelerated(problem, lanes, n, v, StoppingRules(0, -1.0, 1e-9), busy)

    calm, hit, shaken = sweeps(np.inf), sweeps(1e-9), sweeps(1e-2)
    assert calm[0] == hit[0] == STOPPED_MAX_ITERATIONS
    assert calm[1] < hit[1] == BUSY_SWEEPS
    assert shaken[0] == STOPPED_STALLED
    assert calm[1] < shaken[1] < hit[1]
