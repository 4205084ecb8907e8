"""Every problem of the verification report, one test each, except those marked slow."""

from __future__ import annotations

import pytest

from cardan.schemas.examples import example_names
from tests.references.closed_forms import checks
from tests.references.rows import Case
from tests.references.scenes import MEASURES
from tests.references.sections import SECTIONS


def mark(section: str) -> pytest.MarkDecorator:
    """Laws are laws, everything else has a published or exact answer."""
    return pytest.mark.law if section == "laws" else pytest.mark.reference


CASES = [
    pytest.param(case, id=f"{section.name}-{name}", marks=mark(section.name))
    for section in SECTIONS
    for name, case in section.cases.items()
    if not case.slow
]


@pytest.mark.reference
def test_every_example_is_measured() -> None:
    assert sorted(MEASURES) == sorted(example_names())


@pytest.mark.reference
def test_every_published_closed_form_has_a_case() -> None:
    entries = set(checks())
    assert entries - {name for section in SECTIONS for name in section.cases} == set()


@pytest.mark.parametrize("case", CASES)
def test_case_holds(case: Case) -> None:
    rows = case.measure()
    assert rows
    missed = [f"{row.what}: asked {row.asked}, got {row.reached}" for row in rows if not row.ok]
    assert missed == []
