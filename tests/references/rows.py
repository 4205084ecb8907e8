"""What was asked, what was reached: the rows that tests assert and `make verify` prints.

A case is one published problem or one law. Its `measure` runs it and returns rows. A module of this
folder offers `CASES: dict[str, Case]`; `sections.py` lists the modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """One expectation of one case."""

    what: str
    asked: str
    reached: str
    ok: bool


class Case(NamedTuple):
    """One problem: where its answer is from, and how ours is measured."""

    source: str
    measure: Callable[[], list[Row]]
    slow: bool = False


def at_most(what: str, value: float, bound: float, unit: str) -> Row:
    """An upper bound."""
    asked, reached = f"<= {bound:g} {unit}", f"{value:.3g} {unit}"
    return Row(what, asked.rstrip(), reached.rstrip(), bool(value <= bound))


def at_least(what: str, value: float, bound: float, unit: str) -> Row:
    """A lower bound."""
    asked, reached = f">= {bound:g} {unit}", f"{value:.4g} {unit}"
    return Row(what, asked.rstrip(), reached.rstrip(), bool(value >= bound))


def near(what: str, value: float, expected: float, tolerance: float, unit: str) -> Row:
    """A value within an absolute tolerance."""
    ok = abs(value - expected) <= tolerance
    asked, reached = f"{expected:.6g} +- {tolerance:.2g} {unit}", f"{value:.7g} {unit}"
    return Row(what, asked.rstrip(), reached.rstrip(), bool(ok))


def share(what: str, asked: str, used: float, reached: str) -> Row:
    """A tolerance that varies along a run: holds where no more than all of it is `used`."""
    return Row(what, asked, f"{reached} ({100 * used:.0f} % of what is allowed)", bool(used <= 1.0))
