"""Runs from start to end: how often they tell their progress and listen."""

from itertools import pairwise

from cardan.engine import Simulation
from cardan.engine.runs.whole import MOST_BODY_STEPS, advance_to_end
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document


def test_a_heap_that_forms_cannot_take_long_without_a_word() -> None:
    """Bodies that fall are cheap; how long their next steps take is not known."""
    simulation = Simulation(load_scene(example_document("pile")))
    bodies, told = len(simulation.model.bodies.kind), [0]
    advance_to_end(simulation, lambda step, _: told.append(step))
    assert told[-1] == simulation.total_steps
    assert all(b - a <= MOST_BODY_STEPS // bodies for a, b in pairwise(told))
    assert simulation.total_steps > 2 * MOST_BODY_STEPS // bodies
