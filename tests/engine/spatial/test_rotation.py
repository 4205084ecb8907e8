"""Rotation vectors: series and functions are one curve, to rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cardan.engine.spatial.rotation import SMALL, exponential, logarithm, nearest_turn

ANGLES = [0.0, 1e-12, 1e-6, 1e-4, 1e-2, 0.1, 0.3, 0.99 * SMALL, 1.01 * SMALL, 1.0, 3.0]
AXIS = np.array([2.0, -3.0, 6.0]) / 7.0


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_is_exact_to_rounding(angle: float) -> None:
    # eleven bits more than a float has
    half = np.longdouble(angle) / 2
    exact = [np.cos(half), *(np.sin(half) * AXIS.astype(np.longdouble))]
    found = exponential(tuple(angle * AXIS))
    assert found[0] == pytest.approx(float(exact[0]), abs=2.3e-16)
    assert found[1:] == pytest.approx([float(x) for x in exact[1:]], rel=6e-16, abs=1e-300)


@pytest.mark.parametrize("angle", ANGLES)
def test_logarithm_undoes_it(angle: float) -> None:
    assert logarithm(exponential(tuple(angle * AXIS))) == pytest.approx(
        tuple(angle * AXIS), rel=1e-14
    )


def test_the_nearest_turn_differs_by_whole_turns_and_by_half_a_turn_at_most() -> None:
    draw = np.random.default_rng(4)
    for angle, last in zip(draw.uniform(-4, 4, 200), draw.uniform(-40, 40, 200), strict=True):
        found = nearest_turn(angle, last)
        turns = (found - angle) / (2.0 * math.pi)
        assert turns == pytest.approx(round(turns), abs=1e-14)
        assert abs(found - last) <= math.pi + 1e-13
