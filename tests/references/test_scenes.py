"""The example scenes run as they stand and show what they are meant to show."""

from __future__ import annotations

import pytest

from schemas.examples import example_names
from tests.references.scenes import MEASURES, measure

pytestmark = pytest.mark.reference


def test_every_example_is_measured() -> None:
    assert sorted(MEASURES) == sorted(example_names())


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_example_shows_what_it_should(name: str) -> None:
    missed = [
        f"{row.what}: asked {row.asked}, got {row.reached}" for row in measure(name) if not row.ok
    ]
    assert not missed
