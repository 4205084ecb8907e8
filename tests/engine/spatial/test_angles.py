"""Functions of angles against those of the standard library."""

from __future__ import annotations

import math

import numpy as np

from cardan.engine.spatial.quaternion import multiply, nearly_unit, unit
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
