"""The equations of a joint are solved together in sweeps."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.build.simd import simd_arrays
from cardan.engine.problem.residual import residual
from cardan.engine.solvers.direct.dense import solve_dense
from cardan.engine.solvers.sweeps.blocks import write_box_steps
from cardan.engine.solvers.sweeps.joints import sweep_joints
from cardan.engine.solvers.sweeps.pgs import sweep_boxes
from cardan.engine.solvers.sweeps.simd.solver import start_mixed
from cardan.engine.world.options import SolverMethod
from tests.engine.solvers.problems import (
    WORLD,
    add_free_velocity,
    box_body,
    chain,
    copy_problem,
    dense_scratch,
    direction_rows,
    empty_problem,
    put_row,
    velocity_scratch,
)


def bars(n, of_one=3):
    """n bars on balls off their axes, so that the three rows of a ball act on each other."""
    bodies = [box_body(1.0, (1, 0.3, 0.2), (k + 0.5, 0, 0)) for k in range(n)] + [WORLD]
    problem = empty_problem(of_one * n, of_one * n, capacity=of_one * n + 3)
    rng = np.random.default_rng(4)
    for k in range(n):
        pair, anchor = (n if k == 0 else k - 1, k), np.array([float(k), 0.4, 0.3])
        for r in range(of_one):
            i = of_one * k + r
            rows = direction_rows(bodies, pair, anchor, np.eye(3)[r % 3])
            put_row(problem, i, bodies, pair, *rows)
            problem.lo[i], problem.hi[i], problem.b[i] = -np.inf, np.inf, 0.0
            problem.joint[i] = k
    add_free_velocity(problem, np.vstack([rng.normal(size=(n, 6)), np.zeros(6)]))
    return problem


def lanes_of(problem):
    """Scratch full of nonsense."""
    lanes = simd_arrays(len(problem.inverse_mass), problem.count[0] // 3, problem.count[1])
    for field in lanes[:-1]:
        field[...] = -(2**40) if field.dtype.kind == "i" else np.nan
    return lanes


def started(problem):
    """Box rows ready to be swept: lanes, velocities."""
    lanes, v = lanes_of(problem), velocity_scratch(problem)
    start_mixed(problem, lanes, 0, v)
    return lanes, v


def equation_errors(problem):
    """|w| of the equations."""
    residual(problem, velocity_scratch(problem))
    free = np.isinf(problem.lo) & np.isinf(problem.hi)
    return np.abs(problem.w[: problem.count[1]][free[: problem.count[1]]])


def turns(problem, sweep):
    """Sweeps until nothing changes by more than 1e-12 any more."""
    done = 0
    while sweep(problem) > 1e-12:
        done += 1
    return done


def together(problem):
    """A sweep that solves joints as one."""
    lanes, v = started(problem)
    return lambda problem: sweep_joints(problem, lanes, v)


def one_by_one(problem):
    """A sweep row by row."""
    v = np.zeros((len(problem.inverse_mass), 6))
    write_box_steps(problem, problem.count[1])
    return lambda problem: sweep_boxes(problem, v, problem.count[1], 1.0)


def test_one_joint_is_exact_after_its_turn():
    problem, single = bars(1), bars(1)
    together(problem)(problem)
    assert equation_errors(problem).max() < 1e-14
    one_by_one(single)(single)
    assert equation_errors(single).max() > 1e-3


@pytest.mark.parametrize("n", [2, 6])
def test_sweeps_together_go_where_single_rows_go_in_fewer_turns(n):
    problem, single = bars(n), bars(n)
    assert turns(problem, together(problem)) < turns(single, one_by_one(single))
    np.testing.assert_allclose(problem.lam, single.lam, rtol=1e-6, atol=1e-9)


def test_equations_that_depend_on_each_other_are_taken_apart():
    problem = bars(3, of_one=6)
    lanes, v = started(problem)
    # of two balls in one place the last three rows are taken together
    assert list(lanes.together[:4]) == [1, 1, 1, 3]
    turns(problem, lambda problem: sweep_joints(problem, lanes, v))
    assert np.isfinite(problem.lam[: problem.count[1]]).all()
    assert equation_errors(problem).max() < 1e-9


def test_stops_and_motors_stay_within_their_bounds():
    problem = chain(5)
    free = np.isinf(problem.lo) & np.isinf(problem.hi)
    rows = np.flatnonzero(free[: problem.count[1]])
    problem.joint[rows] = np.arange(len(rows)) // 3
    dense = copy_problem(problem)
    turns(problem, together(problem))
    assert (problem.lam >= problem.lo)[: problem.count[1]].all()
    assert (problem.lam <= problem.hi)[: problem.count[1]].all()
    solve_dense(dense, dense_scratch(40), SolverMethod.PIVOTING, 100, 1e-12)
    np.testing.assert_allclose(problem.lam, dense.lam, rtol=1e-6, atol=1e-9)
