"""Samples: laws that every method must keep, and quantiles that are known."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import truncnorm

from cardan import sample
from cardan.engine import rollout
from cardan.engine.runs.sampling import unit_cube, values_of
from cardan.schemas.examples import example_document
from cardan.schemas.sampling import Integers, LogUniform, Normal, Uniform

METHODS = ("random", "latin_hypercube", "sobol")
UNIFORM = {"type": "uniform", "low": -2.0, "high": 3.0}


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_draws_the_same_and_another_does_not(method):
    sources: dict[str, Any] = {"/a": UNIFORM, "/b": [1, "two", None]}
    first, again, other = (sample(sources, 20, method, seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert len(first) == 20
    assert all(list(run) == ["/a", "/b"] for run in first)


def test_a_latin_hypercube_meets_each_share_once():
    cube = unit_cube(37, 5, "latin_hypercube", 3)
    for column in cube.T:
        assert sorted(np.floor(37 * column).astype(int)) == list(range(37))


def test_sobol_points_fill_every_dyadic_interval_once_and_begin_with_the_shorter_sample():
    cube = unit_cube(64, 4, "sobol", 5)
    for column in cube.T:
        assert sorted(np.floor(64 * column).astype(int)) == list(range(64))
    # in each pair of dimensions: 4 x 4 boxes of four points each
    boxes = np.floor(4 * cube[:, :2]).astype(int)
    assert set(np.unique(boxes, axis=0, return_counts=True)[1]) == {4}
    assert np.array_equal(unit_cube(21, 4, "sobol", 5), cube[:21])
    assert np.array_equal(unit_cube(1, 4, "sobol", 5), cube[:1])


def test_quantiles_are_those_of_the_distributions():
    u = (np.arange(1000) + 0.5) / 1000
    assert np.allclose(values_of(Uniform(type="uniform", low=2.0, high=4.0), u), 2.0 + 2.0 * u)
    found = values_of(LogUniform(type="log_uniform", low=1e-3, high=1e3), u)
    assert np.allclose(np.log10(found), 6.0 * u - 3.0)
    whole = values_of(Normal(type="normal", mean=1.0, deviation=2.0), u)
    assert np.mean(whole) == pytest.approx(1.0, abs=1e-12)
    assert np.std(whole) == pytest.approx(2.0, rel=5e-3)
    for low, high in ((-1.0, 0.5), (2.0, None), (None, -3.0), (9.0, 10.0)):
        cut = Normal(type="normal", mean=0.0, deviation=1.5, low=low, high=high)
        a = -math.inf if low is None else low / 1.5
        b = math.inf if high is None else high / 1.5
        assert np.allclose(values_of(cut, u), truncnorm.ppf(u, a, b, scale=1.5), rtol=1e-9)


def test_whole_numbers_and_lists_are_equally_likely():
    u = (np.arange(600) + 0.5) / 600
    thrown = values_of(Integers(type="integers", low=1, high=6), u)
    assert all(type(value) is int for value in thrown)
    assert np.array_equal(np.bincount(thrown), [0, 100, 100, 100, 100, 100, 100])
    chosen = values_of(["a", None, {"b": 1}], u)
    assert [chosen.count(value) for value in ("a", None, {"b": 1})] == [200, 200, 200]


@pytest.mark.parametrize("u", [0.0, 2.0**-60, 1.0 - 2.0**-53])
def test_the_ends_of_the_unit_interval_stay_inside(u):
    ends = np.array([u])
    for source in (
        Uniform(type="uniform", low=-0.1, high=0.3),
        LogUniform(type="log_uniform", low=0.1, high=0.3),
        Normal(type="normal", mean=0.0, deviation=1.0, low=-0.1, high=0.3),
        Normal(type="normal", mean=0.0, deviation=1.0, low=50.0, high=51.0),
        Normal(type="normal", mean=0.0, deviation=1.0),
        Integers(type="integers", low=0, high=1),
    ):
        (value,) = values_of(source, ends)
        assert math.isfinite(value)
        assert getattr(source, "low", None) is None or value >= source.low
        assert getattr(source, "high", None) is None or value <= source.high


@pytest.mark.parametrize(
    ("sources", "n", "method", "words"),
    [
        ({}, 3, "sobol", "needs sources"),
        ({"/a": UNIFORM}, 0, "sobol", "n = 0"),
        ({"/a": []}, 3, "sobol", "at least one value"),
        ({"/a": UNIFORM}, 3, "halton", "no method 'halton'"),
        ({f"/{k}": UNIFORM for k in range(1001)}, 3, "sobol", "1000 dimensions"),
    ],
)
def test_what_cannot_be_drawn_is_refused(sources, n, method, words):
    with pytest.raises(ValueError, match=words):
        sample(sources, n, method)


def test_a_range_that_is_empty_is_refused():
    with pytest.raises(ValueError, match="must be smaller"):
        sample({"/a": {"type": "uniform", "low": 1.0, "high": 1.0}}, 3)


def test_a_rollout_takes_a_sample():
    document = example_document("double-pendulum")
    document["simulation"]["duration"] = 0.05
    drawn = sample({"/simulation/dt": {"type": "log_uniform", "low": 1e-4, "high": 1e-3}}, 4)
    found = rollout(document, drawn, ["steps"])
    asked = [round(0.05 / run["/simulation/dt"]) for run in drawn]
    assert np.all(np.abs(found.metrics["steps"] - asked) <= 1)
    assert len(set(found.metrics["steps"])) == 4
