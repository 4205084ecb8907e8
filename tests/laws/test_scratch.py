"""Nothing is read of scratch memory before it is written: what it held changes no bit of a run."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.families.draw import draw
from benchmarks.families.ours import document
from cardan.engine import Simulation

# of the model: masses, and constants of trees
CONSTANT = ("inverse_mass", ".mobility.tree.")

SCENES = {
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
}


def numbers(whole: Any, path: str = "") -> Iterator[NDArray[Any]]:
    """Arrays of floats of a workspace that are no constants."""
    if isinstance(whole, tuple):
        for name in getattr(whole, "_fields", ()):
            yield from numbers(getattr(whole, name), f"{path}.{name}")
    elif isinstance(whole, np.ndarray) and whole.dtype.kind == "f":
        if not any(name in path for name in CONSTANT):
            yield whole


def final_hash(scene: dict[str, Any], steps: int, filled: float | None) -> str:
    """State hash after so many steps, with scratch memory filled before each of them."""
    simulation = Simulation(scene)
    for _ in range(steps):
        if filled is not None:
            for array in numbers(simulation.world.work):
                array.fill(filled)
        simulation.advance(1)
    assert simulation.failure is None
    return simulation.state_hash()


@pytest.mark.parametrize("name", SCENES)
def test_scratch_memory_carries_nothing_from_step_to_step(name: str) -> None:
    """1e30 where nothing was written would be felt."""
    drawn = draw(name, 1)
    scene = document(drawn)
    scene["simulation"] |= SCENES[name]
    steps = min(drawn["steps"], 90)
    alone = final_hash(scene, steps, None)
    assert final_hash(scene, steps, 1e30) == alone
    assert final_hash(scene, steps, -1.0) == alone
