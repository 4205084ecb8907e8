"""Islands: nothing but the parts of one problem, each solved as if the others were not there."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.build.allocate import island_arrays
from cardan.engine.problem.islands import find_islands
from cardan.engine.solvers.islands import solve_islands
from cardan.engine.solvers.solve import solve
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE, Problem
from cardan.engine.world.report import STOPPED_EXACT, STOPPED_MAX_ITERATIONS
from tests.engine.solvers.problems import (
    chain,
    copy_problem,
    dense_scratch,
    empty_problem,
    new_report,
    pile,
    solver_options,
    tower,
    velocity_scratch,
)

ROWS = [
    name
    for name in Problem._fields
    if name
    not in (
        "number",
        "count",
        "friction_kind",
        "body_a",
        "body_b",
        "inverse_mass",
        "inverse_inertia",
    )
    and name != "mobility"
]


def mixed(parts, seed=None):
    """Rows of many problems in one, boxes first; shuffled when there is a seed.

    Returns the problem, inverse masses, and for every part the rows it became, in its order.
    """
    # the world is the last body of each
    n_bodies = [
        max(part.body_a[: part.count[0]].max(), part.body_b[: part.count[0]].max())
        for part in parts
    ]
    first = np.concatenate([[0], np.cumsum(n_bodies)])
    world = first[-1]
    boxes = [(k, [i]) for k, part in enumerate(parts) for i in range(part.count[1])]
    contacts = [
        (k, [i, i + 1, i + 2])
        for k, part in enumerate(parts)
        for i in range(part.count[1], part.count[0], 3)
    ]
    if seed is not None:
        rng = np.random.default_rng(seed)
        for group in (boxes, contacts):
            whose = rng.permutation([k for k, _ in group]).astype(int)
            queues = [iter([rows for k, rows in group if k == part]) for part in range(len(parts))]
            group[:] = [(k, next(queues[k])) for k in whose]
    rows = [(k, i) for k, block in boxes + contacts for i in block]
    problem = empty_problem(len(rows), len(boxes), parts[0].friction_kind[0], len(rows) + 3)
    became = [np.full(part.count[0], -1) for part in parts]
    for to, (k, i) in enumerate(rows):
        part = parts[k]
        for name in ROWS:
            getattr(problem, name)[to] = getattr(part, name)[i]
        became[k][i] = to
        for name in ("body_a", "body_b"):
            body = getattr(part, name)[i]
            getattr(problem, name)[to] = world if body == n_bodies[k] else first[k] + body
    for k, part in enumerate(parts):
        for i in range(part.count[0]):
            normal = part.normal_row[i]
            problem.normal_row[became[k][i]] = became[k][normal] if normal >= 0 else -1
    for k, part in enumerate(parts):
        for name in ("inverse_mass", "inverse_inertia"):
            bodies = slice(first[k], first[k + 1])
            getattr(problem, name)[bodies] = getattr(part, name)[: n_bodies[k]]
    return problem, problem.inverse_mass[: world + 1], became


def new_islands(problem):
    """Scratch full of nonsense, but for what it knows of the bodies."""
    part = copy_problem(problem)
    islands = island_arrays(part, len(part.b))
    for field in (*islands[:-1], *islands.part):
        known = (islands.part.inverse_mass, islands.part.inverse_inertia, islands.part.mobility)
        if not any(field is one for one in known):
            assert isinstance(field, np.ndarray)
            field[...] = 7 if field.dtype.kind == "i" else np.nan
    return islands


def run(problem, inverse_mass, cap=400, **options):
    problem = problem._replace(inverse_mass=inverse_mass)
    report, islands = new_report(), new_islands(problem)
    v = np.full((len(inverse_mass), 6), np.nan)
    chosen = solver_options(**options)
    solve_islands(problem, inverse_mass, islands, dense_scratch(cap), v, chosen, report)
    return report


def many(kind=FRICTION_CONE):
    return [
        tower(3, push=0.3, friction_kind=kind),
        chain(5, friction_kind=kind),
        tower(1, friction_kind=kind),
        chain(4, 5, redundant=True, friction_kind=kind),
        pile(12, 20, friction_kind=kind),
        # boxes whose bounds depend on a contact's normal row, which has another number here
        pile(6, 8, friction_kind=kind, arms=(0.01, 0.02)),
    ]


@pytest.mark.parametrize("kind", [FRICTION_BOX, FRICTION_CONE])
@pytest.mark.parametrize("method", [SolverMethod.AUTO, SolverMethod.PGS])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_an_island_gets_the_bits_it_gets_alone(kind, method, seed):
    parts = many(kind)
    rng = np.random.default_rng(5)
    for part in parts:
        part.lam[: part.count[0]] = rng.normal(size=part.count[0])
    problem, inverse_mass, became = mixed(parts, seed)
    report = run(problem, inverse_mass, method=method)
    worst, iterations = 0.0, 0
    for part, rows in zip(parts, became, strict=True):
        alone = new_report()
        options = solver_options(method)
        solve(part, dense_scratch(400), velocity_scratch(part), options, alone)
        assert problem.lam[rows].tobytes() == part.lam[: part.count[0]].tobytes()
        assert problem.w[rows].tobytes() == part.w[: part.count[0]].tobytes()
        worst = max(worst, alone.residual[0])
        iterations += alone.iterations[0]
    assert report.residual[0] == worst
    assert report.iterations[0] == iterations
    assert report.islands[0] == len(parts)


def test_islands_are_a_partition_that_keeps_the_order_of_rows():
    parts = many()
    problem, inverse_mass, became = mixed(parts, seed=3)
    islands = new_islands(problem)
    assert find_islands(problem, inverse_mass, islands) == len(parts)
    n = problem.count[0]
    assert sorted(islands.order[:n]) == list(range(n))
    found = {
        tuple(islands.order[islands.start[k] : islands.start[k + 1]]) for k in range(len(parts))
    }
    assert found == {tuple(sorted(rows)) for rows in became}


def test_bodies_that_impulses_do_not_move_connect_nothing():
    problem, inverse_mass, _ = mixed([tower(2), tower(1), tower(1)])
    assert run(copy_problem(problem), inverse_mass).islands[0] == 3
    inverse_mass[0] = 0.0
    # the upper box of the first tower stands by itself; what holds the lower one moves nothing
    assert run(problem, inverse_mass).islands[0] == 4


def test_many_small_problems_are_solved_exactly_where_one_large_one_would_be_swept():
    parts = [tower(6) for _ in range(10)]
    problem, inverse_mass, _ = mixed(parts)
    swept = new_report()
    one = copy_problem(problem)
    solve(one, dense_scratch(400), velocity_scratch(one), solver_options(), swept)
    assert swept.method[0] == SolverMethod.PGS
    assert swept.residual[0] > 1e-8
    report = run(problem, inverse_mass)
    assert report.method[0] == SolverMethod.ELIMINATION
    assert report.methods[0] == 1 << SolverMethod.ELIMINATION
    assert report.residual[0] < 1e-10


def test_the_report_speaks_for_the_worst_and_names_every_method():
    problem, inverse_mass, _ = mixed([tower(2), tower(20), chain(5)])
    report = run(problem, inverse_mass)
    assert report.method[0] == SolverMethod.PGS, "the largest island"
    assert report.methods[0] == 1 << SolverMethod.PGS | 1 << SolverMethod.ELIMINATION
    assert report.solver_status[0] == STOPPED_MAX_ITERATIONS
    assert report.residual[0] > 1e-9


def test_what_is_not_a_number_stays_in_its_island_and_in_the_report():
    parts = [tower(2), tower(1), tower(2)]
    problem, inverse_mass, became = mixed(parts)
    problem.b[became[1][0]] = np.nan
    report = run(problem, inverse_mass)
    assert np.isnan(report.residual[0])
    assert np.isfinite(problem.lam[became[0]]).all()
    assert np.isfinite(problem.lam[became[2]]).all()


def test_no_rows_and_one_island():
    problem, inverse_mass, _ = mixed([tower(2)])
    assert run(problem, inverse_mass).islands[0] == 1
    problem.count[:] = 0
    report = run(problem, inverse_mass)
    assert (report.islands[0], report.solver_status[0]) == (0, STOPPED_EXACT)
    assert report.methods[0] == 0
