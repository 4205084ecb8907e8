"""Proximal points: the derivative of the map, and what makes it more than sweeps."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.complementarity import problem, solve_cone
from cardan.engine.complementarity.proximal import Held, natural_map, newton_matrix


@pytest.mark.parametrize("tangents", [1, 2])
def test_derivative_is_that_of_finite_differences(tangents):
    rng = np.random.default_rng(4)
    n_box, contacts = 3, 5
    n = n_box + contacts * (1 + tangents)
    A, b = rng.normal(size=(n, n)) + 3.0 * np.eye(n), rng.normal(size=n)
    asked = problem(A, b, [-np.inf, 0.0, -1.0], [np.inf, np.inf, 1.0], [0.5] * 5, tangents=tangents)
    held = Held(asked, np.full(n, 0.1), rng.normal(size=n), 1.0 / asked.block_size)
    x, step = rng.normal(size=n), 1e-7
    _, slopes = natural_map(held, x)
    M = newton_matrix(held, slopes).toarray()
    for j in range(n):
        e = np.zeros(n)
        e[j] = step
        difference = (natural_map(held, x + e)[0] - natural_map(held, x - e)[0]) / (2 * step)
        np.testing.assert_allclose(M[:, j], difference, atol=1e-6)


def redundant_stack(ratio, levels=3):
    """Point masses on each other, each level `ratio` times the mass of the one below, four
    contacts at each level where one would do: W has a quarter of the rank."""
    masses = ratio ** (np.arange(levels) / max(levels - 1, 1))
    J = np.zeros((12 * levels, 3 * levels))
    for level in range(levels):
        for c in range(4):
            row = 12 * level + 3 * c
            J[row : row + 3, 3 * level : 3 * level + 3] = np.eye(3)[[2, 0, 1]]
            if level:
                J[row : row + 3, 3 * level - 3 : 3 * level] = -np.eye(3)[[2, 0, 1]]
    inverse = np.repeat(1.0 / masses, 3)
    W = (J * inverse) @ J.T
    fall = np.tile([0.02, 0.0, -0.1], levels)
    return W, J @ fall, np.full(4 * levels, 0.5), masses


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
def test_heavy_on_light_is_solved(ratio):
    W, q, mu, masses = redundant_stack(ratio)
    s = solve_cone(W, q, mu, tolerance=1e-9)
    assert s.solved
    # the ground carries the momentum of all
    normals = s.x.reshape(-1, 4, 3)[:, :, 0].sum(axis=1)
    assert normals[0] == pytest.approx(0.1 * masses.sum(), rel=1e-6)
    np.testing.assert_allclose(normals, 0.1 * np.cumsum(masses[::-1])[::-1], rtol=1e-5)
