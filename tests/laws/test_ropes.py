"""Heavy loads on light links: steps that cannot follow how links swing carry the load all the same.

A ball of 190 kg hangs on eight rods of 12 cm between ball joints and is let go 60 degrees from the
vertical.
"""

import functools
from typing import Any

import numpy as np
import pytest

from cardan import engine
from cardan.schemas import load_scene

pytestmark = pytest.mark.law

LENGTH, RODS = 0.12, 8


def hanging_ball(mass: float, dt: float, formulation: str) -> dict[str, Any]:
    """Rods of `mass` [kg] each, in a straight line, and the ball below them."""
    tilt = np.radians(60.0)
    along = np.array([np.sin(tilt), 0.0, -np.cos(tilt)])
    turned = [np.cos(tilt / 2), 0.0, -np.sin(tilt / 2), 0.0]
    bodies: list[dict[str, Any]] = []
    joints: list[dict[str, Any]] = []
    above = "world"
    for k in range(RODS):
        rod = {"type": "capsule", "radius": 0.03, "length": LENGTH - 0.06}
        body = {"name": f"rod{k}", "mass": mass, "shapes": [rod | {"collision_mask": 0}]}
        place = [float(x) for x in (k + 0.5) * LENGTH * along]
        bodies.append(body | {"position": place, "orientation": turned})
        anchor = [float(x) for x in k * LENGTH * along]
        joints.append(
            {"type": "ball", "name": f"j{k}", "parent": above, "child": f"rod{k}", "anchor": anchor}
        )
        above = f"rod{k}"
    end = [float(x) for x in RODS * LENGTH * along]
    centre = [float(x) for x in (RODS * LENGTH + 0.15) * along]
    ball = {"type": "sphere", "radius": 0.15, "collision_mask": 0}
    bodies.append({"name": "ball", "mass": 190.0, "position": centre, "shapes": [ball]})
    joints.append({"type": "ball", "name": "j", "parent": above, "child": "ball", "anchor": end})
    simulation = {"dt": dt, "duration": 2.0, "formulation": formulation}
    return {"version": 1, "simulation": simulation, "bodies": bodies, "joints": joints}


def path_of_ball(scene: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """Centre of the ball every tenth of a second; the summary."""
    simulation = engine.Simulation(load_scene(scene))
    i, seen = simulation.body_names.index("ball"), []
    for _ in range(20):
        simulation.advance(round(0.1 / scene["simulation"]["dt"]))
        seen.append(simulation.poses()[i, :3].copy())
    assert simulation.failure is None
    return np.array(seen), simulation.summary()


@functools.cache
def truth(mass: float) -> np.ndarray:
    """The path in joint coordinates, by steps that follow the links."""
    steps = {0.27: 3840, 0.02: 15360, 0.001: 61440}[mass]
    return path_of_ball(hanging_ball(mass, 1.0 / steps, "reduced"))[0]


@pytest.mark.parametrize("mass", [0.27, 0.02, 0.001])
@pytest.mark.parametrize(("steps", "most"), [(240, 4e-4), (480, 1e-4), (960, 2.5e-5)])
def test_the_load_swings_as_on_links_that_steps_follow(mass: float, steps: int, most: float):
    """Of second order in the step; before, such chains flew apart."""
    path, summary = path_of_ball(hanging_ball(mass, 1.0 / steps, "auto"))
    assert np.abs(path - truth(mass)).max() <= most
    assert summary["verdict"]["status"] != "wrong"
    assert summary["joints"]["max_position_error"] <= 1e-6


def test_joint_coordinates_are_left_where_links_are_too_fast_for_them():
    """`auto` takes them for the same chain at a step that follows it."""
    fast = engine.Simulation(load_scene(hanging_ball(0.27, 1.0 / 240.0, "auto")))
    slow = engine.Simulation(load_scene(hanging_ball(0.27, 1.0 / 3840.0, "auto")))
    assert (fast.built.formulation, slow.built.formulation) == ("maximal", "reduced")


def test_links_that_steps_follow_have_no_inertia_added():
    """A pendulum of rods as heavy as its ball, at the step of the others."""
    simulation = engine.Simulation(load_scene(hanging_ball(100.0, 1.0 / 240.0, "maximal")))
    simulation.advance(240)
    assert not simulation.world.state.link_inertia.any()


def test_a_snapshot_goes_on_with_the_same_bits():
    scene = load_scene(hanging_ball(0.02, 1.0 / 240.0, "maximal"))
    one, other = engine.Simulation(scene), engine.Simulation(scene)
    one.advance(100)
    assert one.world.state.link_inertia.any()
    other.restore(one.snapshot())
    one.advance(50)
    other.advance(50)
    assert one.state_hash() == other.state_hash()
