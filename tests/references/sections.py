"""Everything that is verified, in the order of the report.

To add a problem: write a function that returns rows in a module of this folder, name it in that
module's `CASES`, and the module here. `test_published.py` asserts every case, `make verify` prints
them all.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.laws import measures as laws
from tests.references import (
    adams,
    closed_forms,
    friction_forms,
    impacts,
    rolling_forms,
    scenes,
    simbenchmark,
    smooth_contact,
)
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
        "the stiff spring, 1e-5 s where a rod cracks like a whip. Size is that of the "
        "quantity at that time, of forces, torques and rates its largest; a torque is allowed its "
        "absolute part for every metre of its arm.",
        adams.CASES,
    ),
    Section(
        "closed-forms",
        "Closed forms",
        "Classic checks with an answer in closed form, or known to many digits.",
        closed_forms.CASES,
    ),
    Section(
        "friction",
        "Contact and friction",
        "Classic checks of rolling, sliding, toppling and standing, steps of 1 ms.",
        friction_forms.CASES,
    ),
    Section(
        "rolling",
        "What rolls and walks",
        "A bicycle beside the published linear equations of its balance, a ball on a turntable, a "
        "wheel of spokes that walks down a slope.",
        rolling_forms.CASES,
    ),
    Section(
        "smooth-contact",
        "Smooth contact",
        "Curved bodies that rock, roll and spin at steps of 1 ms, default settings; what was "
        "reached when contacts were of first order stands in brackets.",
        smooth_contact.CASES,
    ),
    Section(
        "impacts",
        "Impacts",
        "Impacts at their exact moment (impact_time exact), in turn (propagating) and, where "
        "it is said, by stepping; steps of 1 ms.",
        impacts.CASES,
    ),
    Section(
        "simbenchmark",
        "SimBenchmark",
        "Means over all steps of squared errors, error correction off, as published there. The "
        "best published figures are 4.9e-9 (Bullet, rolling), 1.35e-4 m^2 (RaiSim, penetration of "
        "666 balls) and 0.0186 J^2 (RaiSim, bouncing), each at 1 ms. The balls that roll touch the "
        "box from the start.",
        simbenchmark.CASES,
    ),
    Section(
        "laws",
        "Laws of mechanics",
        "Two scenes with a bit of everything, a machine of six joints with motors, stops, springs "
        "and a heap of round solids that collide: as they stand and seen otherwise. Largest "
        "difference of positions, orientations and velocities, all in SI units.",
        laws.CASES,
    ),
)
