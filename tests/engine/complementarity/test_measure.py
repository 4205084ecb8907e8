"""Two codes that share nothing measure the same distance to the law."""

import numpy as np
import pytest

from cardan.engine.complementarity import problem
from cardan.engine.complementarity.measure import box_map, coulomb_error, residual
from cardan.engine.problem.residual import residual as residual_of_kernels
from tests.engine.problem.matrix import dense_matrix
from tests.engine.solvers.problems import chain, dense_scratch, pile, velocity_scratch


def plain(asked):
    """A problem of bodies as a plain one."""
    n, n_box, _ = asked.count
    dense = dense_scratch(n)
    dense_matrix(asked, dense)
    lo, hi = asked.lo[:n_box], asked.hi[:n_box]
    return problem(dense.S[:n, :n].copy(), asked.b[:n], lo, hi, asked.mu[n_box + 1 : n : 3])


@pytest.mark.parametrize("seed", range(5))
def test_contacts_are_measured_alike(seed):
    asked = pile(12, 20, seed=seed)
    n = asked.count[0]
    asked.lam[:n] = np.random.default_rng(seed).normal(size=n)
    _, theirs = residual_of_kernels(asked, velocity_scratch(asked))
    assert residual(plain(asked), asked.lam[:n]) == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_boxes_are_measured_alike(seed):
    asked = chain(4, seed=seed)
    n = asked.count[0]
    asked.lam[:n] = np.random.default_rng(seed).normal(size=n)
    theirs, _ = residual_of_kernels(asked, velocity_scratch(asked))
    assert box_map(plain(asked), asked.lam[:n]).max() == pytest.approx(theirs, rel=1e-10)


def test_the_published_error_by_hand():
    """One contact that slides the wrong way: r - P_K(r - u - mu |u_t| n), all numbers on paper."""
    asked = problem(np.eye(3), [0.0, 1.0, 0.0], mu=[0.5])
    r = np.array([1.0, 0.0, 0.0])
    # u = (1, 1, 0), with the correction (1.5, 1, 0); r - that = (-0.5, -1, 0), nearest (0, 0, 0)
    assert coulomb_error(asked, r) == pytest.approx(1.0)
    scaled = coulomb_error(asked, r, scaled=True)
    assert scaled == pytest.approx(1.0)


def test_a_huge_impulse_hides_nothing():
    """Beside x = 1e18 a velocity of -1 is rounding of x, and yet it is the whole error."""
    asked = problem(np.zeros((1, 1)), [-1.0], [0.0], [np.inf])
    assert residual(asked, np.array([1e18])) == 1.0
    contact = problem(np.diag([0.0, 1.0]), [-1.0, 0.0], mu=[0.5], tangents=1)
    assert residual(contact, np.array([1e18, 0.0])) == 1.0
    assert coulomb_error(contact, np.array([1e18, 0.0])) == 1.0
