"""Scenes that nobody chose read nothing of what a step leaves behind: families and odd options."""

from typing import Any

import pytest

from benchmarks.families.draw import draw
from benchmarks.families.ours import document
from cardan.engine import Simulation
from tests.laws.test_determinism import poison

# family and seed (1 where none is given): options
SCENES: dict[str, dict[str, Any]] = {
    "ragdolls": {},
    "draped": {},
    "doors": {},
    "arms": {},
    "four_bars": {},
    "bridges": {},
    "nets": {},
    "cars_on_hills": {},
    "boxes": {"solver": {"method": "nncg"}},
    "pairs": {"contact": {"restitution_law": "propagating"}, "formulation": "maximal"},
    "grippers": {"solver": {"method": "small_steps"}, "formulation": "maximal"},
    "logs": {"solver": {"method": "proximal"}},
    "dominoes 8": {
        "contact": {"restitution_law": "propagating", "impact_time": "exact"},
        "formulation": "maximal",
    },
    "chains": {"contact": {"restitution_law": "poisson"}, "formulation": "maximal"},
}


@pytest.mark.parametrize("drawn_as", SCENES)
def test_what_a_step_leaves_behind_changes_no_bit_of_the_next(drawn_as: str) -> None:
    family, _, seed = drawn_as.partition(" ")
    drawn = draw(family, int(seed or 1))
    scene = document(drawn)
    scene["simulation"] |= SCENES[drawn_as]
    alone, poisoned = Simulation(scene), Simulation(scene)
    steps = min(drawn["steps"], 90)
    alone.advance(steps)
    for _ in range(steps):
        poison(poisoned)
        poisoned.advance(1)
    assert alone.failure is None
    assert poisoned.state_hash() == alone.state_hash()
