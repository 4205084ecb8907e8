"""Published friction problems to 1e-8 of the true Coulomb law, mixed LCPs to 1e-12."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.complementarity import solve_cone, solve_mixed_lcp
from cardan.engine.problem.projection import project_cone
from tests.engine.complementarity.collections import read_friction, read_mixed
from tests.published import FRICTION, data, names_in, needs_friction

pytestmark = pytest.mark.reference


def coulomb_error(asked, r):
    """|r - P_K(r - u - mu |u_t| n)| / |q|, as the collection defines it."""
    u = asked.A @ r + asked.b
    size = 1 + asked.tangents
    total = 0.0
    for c, mu in enumerate(asked.mu):
        i = c * size
        slip = np.linalg.norm(u[i + 1 : i + size])
        x = np.zeros(3)
        x[:size] = r[i : i + size] - u[i : i + size]
        x[0] -= mu * slip
        nearest = np.array(project_cone(x[0], x[1], x[2], mu))[:size]
        total += np.sum((r[i : i + size] - nearest) ** 2)
    return np.sqrt(total) / np.linalg.norm(asked.b)


@needs_friction
@pytest.mark.parametrize("name", names_in(FRICTION, "*.npz"))
def test_auto_finds_the_true_coulomb_answer(name):
    asked = read_friction(name)
    found = solve_cone(asked.A, asked.b, asked.mu, dimension=1 + asked.tangents, tolerance=2e-9)
    assert found.solved, found.stopped
    assert coulomb_error(asked, found.x) <= 1e-8
    # what the solution says of itself is that very number; the two sums round differently
    assert found.coulomb_error == pytest.approx(coulomb_error(asked, found.x), rel=1e-6, abs=1e-12)


@needs_friction
def test_the_relaxation_says_how_far_it_is_from_coulomb():
    asked = read_friction("contactbench_sliding_cube")
    found = solve_cone(asked.A, asked.b, asked.mu, law="relaxed")
    assert found.solved
    assert found.coulomb_error == pytest.approx(coulomb_error(asked, found.x), rel=1e-6)
    assert found.coulomb_error > 1e-3


@pytest.mark.parametrize("name", names_in(data("lcp"), "*_mlcp.dat"))
def test_mixed_problems_of_circuits(name):
    M, q, n = read_mixed(data("lcp", f"{name}.dat"))
    found = solve_mixed_lcp(M, q, np.arange(n))
    assert found.solved
    w = M @ found.x + q
    assert np.abs(w[:n]).max() <= 1e-12
    assert np.abs(np.minimum(found.x[n:], w[n:])).max() <= 1e-12
