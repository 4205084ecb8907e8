"""Functions of angles against those of the standard library."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cardan.engine.spatial.quaternion import multiply, nearly_unit, unit, unit_again
from cardan.engine.spatial.rotation import MANY_TURNS, sine_cosine


def test_sine_and_cosine_are_those_of_the_library() -> None:
    rng = np.random.default_rng(0)
    angles = rng.uniform(-1.0, 1.0, 2000) * 10.0 ** rng.uniform(-8.0, 5.0, 2000)
    quarters = math.pi / 2.0 * np.arange(-40, 41)
    for x in [*angles.tolist(), *quarters.tolist(), 0.0, 3.0 * MANY_TURNS]:
        sine, cosine = sine_cosine(x)
        assert abs(sine - math.sin(x)) <= 2e-16
        assert abs(cosine - math.cos(x)) <= 2e-16
    assert all(math.isnan(y) for y in sine_cosine(math.nan))


def test_products_of_unit_quaternions_stay_unit() -> None:
    rng = np.random.default_rng(1)
    q = (1.0, 0.0, 0.0, 0.0)
    exact = q
    for _ in range(1000):
        turn = unit(tuple(float(x) for x in rng.normal(size=4)))  # type: ignore[arg-type]
        q, exact = nearly_unit(multiply(q, turn)), unit(multiply(exact, turn))
    assert abs(sum(x * x for x in q) - 1.0) <= 4e-16
    assert np.abs(np.array(q) - np.array(exact)).max() <= 1e-13


@pytest.mark.parametrize("share", [0.0, 1e-12, 1e-9, 4e-9, 6e-9, 1e-7, 1e-4, 0.3])
def test_a_quaternion_is_of_unit_length_again_however_far_it_was_from_that(share: float) -> None:
    q = np.array([0.4, -0.2, 0.8, 0.4])
    for factor in (1.0 + share, 1.0 - share):
        assert unit_again(tuple(factor * q)) == pytest.approx(q, abs=2.3e-16)
