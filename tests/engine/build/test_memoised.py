"""Results that are kept for equal arguments."""

import math

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.build.memoised import MOST_BYTES, MOST_RESULTS, memoised
from cardan.engine.build.mobility import driven_mechanisms
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document


def counted():
    """A function that keeps results, and its calls."""
    calls = []

    @memoised
    def double(values, factor=2.0):
        calls.append(factor)
        return factor * np.asarray(values)

    return double, calls


def test_equal_arguments_are_computed_once_and_others_are_not():
    double, calls = counted()
    first = double(np.array([1.0, 2.0]))
    assert double(np.array([1.0, 2.0])) is first
    assert len(calls) == 1
    # neither values, nor shapes, types nor signs of zero are mixed up
    for other in (
        np.array([1.0, 3.0]),
        np.array([[1.0, 2.0]]),
        np.array([1, 2]),
        np.array([1.0, 2.0], np.float32),
    ):
        assert double(other).dtype == (2.0 * other).dtype
    assert len(calls) == 5
    assert math.copysign(1.0, double(1.0, 0.0)) == 1.0
    assert math.copysign(1.0, double(1.0, -0.0)) == -1.0


def test_an_argument_that_is_written_into_is_another():
    double, calls = counted()
    values = np.array([1.0])
    double(values)
    values[0] = 5.0
    assert double(values).tolist() == [10.0]
    assert len(calls) == 2


def test_results_are_read_only():
    double, _ = counted()
    with pytest.raises(ValueError, match="read-only"):
        double(np.array([1.0]))[0] = 3.0


def test_few_results_are_kept_and_of_large_arguments_none():
    double, calls = counted()
    for k in range(MOST_RESULTS + 1):
        double(np.array([float(k)]))
    double(np.array([0.0]))
    assert len(calls) == MOST_RESULTS + 2
    large = np.zeros(MOST_BYTES // 8 + 1)
    double(large)
    assert double(large).flags.writeable
    assert len(calls) == MOST_RESULTS + 4


def test_what_the_verdict_asks_of_the_structure_is_computed_once_for_variants():
    document = example_document("slider-crank")
    first, again = (Simulation(load_scene(document)).model for _ in range(2))
    assert driven_mechanisms(first) is driven_mechanisms(again)
    document["bodies"][1]["mass"] = 2.0
    assert driven_mechanisms(Simulation(load_scene(document)).model) is driven_mechanisms(first)
