"""The residual is zero exactly where the Coulomb law holds, and asks nobody's opinion."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.problem.residual import residual
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON
from tests.engine.solvers.problems import (
    GRAVITY,
    WORLD,
    Body,
    H,
    add_free_velocity,
    chain,
    empty_problem,
    put_contact,
    put_turning,
    tower,
    velocity_scratch,
)

MASS = 2.0


def measure(problem):
    return residual(problem, velocity_scratch(problem))


def particle(mu, slide, kind=FRICTION_CONE):
    """Mass point on the ground, about to fall by g h and sliding with a velocity (2,)."""
    bodies = [Body(1 / MASS, np.zeros((3, 3)), np.zeros(3)), WORLD]
    problem = empty_problem(3, 0, kind)
    up = np.array([0.0, 0, 1])
    put_contact(problem, 0, bodies, (1, 0), (np.zeros(3), up, 0.0), mu)
    v_free = np.zeros((2, 6))
    v_free[0, 5] = -GRAVITY * H
    # the tangents of this contact are y and -x
    v_free[0, 3:5] = slide
    add_free_velocity(problem, v_free)
    return problem


def law(problem, mu):
    """Closed form: the ground carries the weight; friction stops what it can."""
    normal = -MASS * problem.b[0]
    stop = -MASS * problem.b[1:3]
    share = min(1.0, mu * normal / max(np.linalg.norm(stop), 1e-300))
    return np.array([normal, *(share * stop)])


@pytest.mark.law
@pytest.mark.parametrize("slide", [(0.0, 0.0), (0.01, 0.0), (0.3, -0.4), (-1.0, 2.0)])
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.5])
def test_zero_at_the_closed_form(slide, mu):
    problem = particle(mu, slide)
    problem.lam[:] = law(problem, mu)
    worst, coulomb = measure(problem)
    assert worst < 1e-15
    assert coulomb < 1e-15
    # w is written, from scratch
    np.testing.assert_allclose(problem.w, problem.b + problem.lam / MASS, atol=1e-15)


@pytest.mark.law
@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("mu", [0.3, 1.5])
@pytest.mark.parametrize("slide", [(0.001, 0.0), (0.3, -0.4)])
def test_any_other_impulse_is_noticed_at_its_size(row, mu, slide):
    problem = particle(mu, slide)
    for size in (1e-9, -1e-5, 1e-2):
        problem.lam[:] = law(problem, mu)
        problem.lam[row] += size
        worst, coulomb = measure(problem)
        assert 0.1 * abs(size) / MASS < worst < 3 * abs(size) / MASS
        assert 0.1 * abs(size) / MASS < coulomb < 6 * abs(size) / MASS


def test_lifting_contact_wants_no_impulse():
    problem = particle(0.5, (1.0, 0.0))
    problem.b[0] = 0.2
    assert measure(problem) == (0.0, 0.0)
    problem.lam[0] = 0.01
    assert measure(problem)[0] == pytest.approx(0.01 / MASS)


def test_friction_that_does_not_oppose_sliding_is_wrong():
    problem = particle(0.5, (3.0, 0.0))
    right = law(problem, 0.5)
    problem.lam[:] = right
    assert measure(problem)[0] < 1e-15
    problem.lam[1:3] = right[2], right[1]
    assert measure(problem)[0] > 0.5 * np.linalg.norm(right[1:3]) / MASS


def test_square_and_disk_differ_only_on_the_diagonal():
    slide = (2.0, 2.0)
    square = particle(0.5, slide, FRICTION_BOX)
    limit = 0.5 * MASS * GRAVITY * H
    square.lam[:] = [2 * limit, *(-limit * np.sign(square.b[1:3]))]
    worst, coulomb = measure(square)
    assert worst < 1e-15
    # too strong by the root of two for the round cone
    assert coulomb > 0.1 * limit / MASS


@pytest.mark.parametrize(
    ("lo", "hi", "lam", "b", "expected"),
    [
        (-np.inf, np.inf, 3.0, -0.5, 1.0),
        (0.0, np.inf, 0.0, 0.4, 0.0),
        (0.0, np.inf, 0.0, -0.4, 0.4),
        (-1.0, 2.0, 2.0, -9.0, 0.0),
        (-1.0, 2.0, 2.0, 1.0, 1.5),
        (-1.0, 2.0, -1.0, 9.0, 0.0),
        (1.0, 1.0, 1.0, -77.0, 0.0),
        (-1.0, 2.0, 2.5, -9.0, 0.25),
    ],
)
def test_box_rows(lo, hi, lam, b, expected):
    """One row with D = 1/2: w = lam / 2 + b."""
    bodies = [Body(0.5, np.zeros((3, 3)), np.zeros(3)), WORLD]
    problem = empty_problem(3, 0)
    put_contact(problem, 0, bodies, (1, 0), (np.zeros(3), np.array([0.0, 0, 1]), b), 0.0)
    problem.count[:] = 1, 1, 0
    problem.lo[0], problem.hi[0], problem.lam[0] = lo, hi, lam
    assert measure(problem)[0] == pytest.approx(expected)


def test_not_a_number_is_not_hidden():
    problem = tower(2)
    problem.lam[7] = np.nan
    assert np.isnan(measure(problem)).all()
    problem = chain(3)
    problem.b[4] = np.nan
    assert np.isnan(measure(problem)[0])


@pytest.mark.law
def test_unit_is_speed():
    """Twice the masses and impulses: the same velocities, the same residual."""
    problem = tower(3, push=0.5)
    problem.lam[: problem.count[0]] = np.random.default_rng(0).normal(size=problem.count[0])
    before = measure(problem)
    for field in (problem.MJ_a, problem.MJ_b, problem.diagonal, problem.cfm):
        field *= 0.5
    problem.lam[:] *= 2.0
    assert measure(problem) == pytest.approx(before, rel=1e-13)


@pytest.mark.law
def test_polygon_of_a_particle_by_hand():
    """At a corner a polygon is as strong as the disk, between corners it is weaker."""
    mu = 0.5
    problem = particle(mu, (0.0, 1.0), FRICTION_POLYGON)
    problem.friction_kind[1] = 4
    normal = -MASS * problem.b[0]
    # the second tangent opposes: a corner of the square on its tip
    problem.lam[:] = normal, 0.0, -np.sign(problem.b[2]) * mu * normal
    if abs(problem.b[1]) > abs(problem.b[2]):
        problem.lam[:] = normal, -np.sign(problem.b[1]) * mu * normal, 0.0
    worst, coulomb = measure(problem)
    assert worst < 1e-15
    assert coulomb < 1e-15
    # across an edge its middle resists, which is weaker than the cone
    diagonal = particle(mu, (1.0, 1.0), FRICTION_POLYGON)
    diagonal.friction_kind[1] = 4
    signs = -np.sign(diagonal.b[1:3])
    diagonal.lam[:] = normal, *(0.5 * mu * normal * signs)
    worst, coulomb = measure(diagonal)
    assert worst < 1e-15
    assert coulomb > 1e-3
    diagonal.lam[1:] += [0.1 * mu * normal, 0.0]
    assert measure(diagonal)[0] > 1e-3


@pytest.mark.law
def test_followers_are_measured_by_the_normal_impulse():
    """A ball that spins and rolls on the ground: torques on their bounds, against the motion."""
    ball = Body(1 / MASS, np.eye(3) / 0.02, np.array([0, 0, 0.1]))
    problem = empty_problem(6, 3)
    up = np.array([0.0, 0, 1])
    put_contact(problem, 3, [ball, WORLD], (1, 0), (np.zeros(3), up, 0.0), 0.0)
    put_turning(problem, 0, [ball, WORLD], (1, 0), up, (1e-3, 2e-3))
    v_free = np.zeros((2, 6))
    v_free[0] = 3.0, 4.0, 5.0, 0.0, 0.0, -GRAVITY * H
    add_free_velocity(problem, v_free)
    normal = MASS * GRAVITY * H
    problem.lam[3] = normal
    for rows, arm in ((slice(0, 1), 1e-3), (slice(1, 3), 2e-3)):
        problem.lam[rows] = -arm * normal * problem.b[rows] / np.linalg.norm(problem.b[rows])
    assert measure(problem)[0] < 1e-14
    for row in range(3):
        kept = problem.lam[row]
        problem.lam[row] = 0.9 * kept
        assert measure(problem)[0] > 0.01 * abs(kept) / 0.02
        problem.lam[row] = kept
