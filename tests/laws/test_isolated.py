"""Isolated systems keep both momenta, whatever happens between their bodies."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.measures import momentum_drift

pytestmark = pytest.mark.law


@settings(max_examples=25, derandomize=True)
@given(seed=st.integers(min_value=100, max_value=100_000))
def test_random_isolated_scene_keeps_both_momenta(seed: int) -> None:
    linear, angular, _, _ = momentum_drift(seed, 200)
    assert linear <= 1e-12
    assert angular <= 1e-12
