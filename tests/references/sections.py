"""Everything that is verified, in the order of the report.

To add a problem: write a function that returns rows in a module of this folder, name it in that
module's `CASES`, and the module here. `test_published.py` asserts every case, `make verify` prints
them all.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.references import adams, scenes
from tests.references.rows import Case


class Section(NamedTuple):
    """Cases of one kind."""

    name: str
    title: str
    intro: str
    cases: dict[str, Case]


SECTIONS = (
    Section(
        "examples",
        "Examples",
        "The examples as they stand, default settings.",
        scenes.CASES,
    ),
    Section(
        "joints",
        "One-joint systems against ADAMS",
        "Fourteen systems and an actuator, 5 s, compared every 0.01 s. Steps of 1 ms; 1e-4 s for "
        "the stiff spring, 1e-5 s where a rod cracks like a whip. `size` is the size of the "
        "quantity at that time, of forces, torques and rates its largest; a torque is allowed its "
        "absolute part for every metre of its arm.",
        adams.CASES,
    ),
)
