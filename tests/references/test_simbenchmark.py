"""SimBenchmark's long runs in a short form; `make verify` runs them whole."""

from __future__ import annotations

import pytest

from tests.references.simbenchmark import bouncing_error, penetration_error

pytestmark = pytest.mark.reference


def test_falling_balls_do_not_penetrate() -> None:
    assert penetration_error(600) <= 1.35e-4


def test_bouncing_balls_keep_their_energy() -> None:
    assert bouncing_error(2500) <= 1e-10
