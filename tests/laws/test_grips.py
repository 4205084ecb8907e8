"""What is held by friction stays where it is held, also while the hand moves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.law

HELD: dict[str, Document] = {
    "box": {"type": "box", "size": [0.08, 0.08, 0.08]},
    "cylinder": {
        "type": "cylinder",
        "radius": 0.04,
        "length": 0.08,
        "orientation": [0.7071067811865476, 0.7071067811865475, 0.0, 0.0],
    },
}
DRIVES: dict[str, Document] = {
    "force": {"type": "force", "target": 30.0},
    "position": {"type": "position", "target": 0.02, "max_force": 30.0},
}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("dt", [2e-3, 1e-3, 2.5e-4])
def test_an_arm_that_turns_keeps_what_it_grips(
    name: str, drive: str, formulation: str, dt: float
) -> None:
    """1 kg half a metre out at 5.5 rad/s asks for 18 N of the 30 N that friction gives: it slipped
    by centimetres, and dropped, with every other step."""
    spin, pad = [0, 0, 5.5], {"type": "box", "size": [0.05, 0.02, 0.05], "material": "rubber"}
    places = {"hand": (0.0, 0.0), "fixed": (0.5, -0.05), "moved": (0.5, 0.05), "held": (0.5, 0.0)}
    bodies: list[Document] = []
    for body, (x, y) in places.items():
        one: Document = {"name": body, "mass": 0.2, "position": [x, y, 0], "angular_velocity": spin}
        bodies.append(one | {"linear_velocity": [-5.5 * y, 5.5 * x, 0], "shapes": [pad]})
    bodies[0] |= {"mass": 2.0, "inertia": [0.1] * 3, "shapes": []}
    bodies[3] |= {"mass": 1.0, "shapes": [HELD[name] | {"material": "rubber"}]}
    motor: Document = {"type": "velocity", "target": 5.5}
    hub: Document = {
        "name": "hub",
        "type": "hinge",
        "parent": "world",
        "child": "hand",
        "axis": [0, 0, 1],
    }
    fixed: Document = {"name": "jaw", "type": "fixed", "parent": "hand", "child": "fixed"}
    slide: Document = {"name": "slide", "type": "slider", "parent": "hand", "child": "moved"}
    joints = [
        hub | {"anchor": [0, 0, 0], "motor": motor},
        fixed | {"anchor": [0.5, -0.05, 0]},
        slide | {"axis": [0, -1, 0], "motor": DRIVES[drive]},
    ]
    simulation = {"dt": dt, "duration": 1.5, "formulation": formulation}
    scene = document(bodies, joints, simulation=simulation, gravity=[0, 0, -9.81])
    sim = simulate(scene | {"materials": {"rubber": {"friction": 0.5}}})
    sim.advance(sim.total_steps)
    x, y, z = sim.poses()[3, :3]
    assert float(np.hypot(x, y)) == pytest.approx(0.5, abs=2e-4)
    assert z == pytest.approx(0.0, abs=2e-4)
    assert sim.summary()["verdict"]["status"] == "trusted"


@pytest.mark.parametrize("gravity", [0.0, 1e-3])
def test_what_is_clamped_and_does_not_move_is_trusted(gravity: float) -> None:
    """A jaw presses a box on a wall: energies of nanometres under its load are none."""
    pad = {"type": "box", "size": [0.06, 0.02, 0.06]}
    jaw: Document = {"name": "jaw", "mass": 0.2, "position": [0, -0.06, 0], "shapes": [pad]}
    cube: Document = {"name": "cube", "mass": 1.0}
    cube |= {"shapes": [{"type": "box", "size": [0.1, 0.1, 0.1]}]}
    wall: Document = {"name": "wall", "type": "static", "position": [0, 0.06, 0]}
    wall |= {"shapes": [{"type": "box", "size": [0.1, 0.02, 0.1]}]}
    guide: Document = {"name": "guide", "type": "slider", "parent": "world", "child": "jaw"}
    guide |= {"axis": [0, 1, 0], "motor": {"type": "force", "target": 20.0}}
    simulation = {"dt": 1e-3, "duration": 0.3}
    scene = document([jaw, cube, wall], [guide], simulation=simulation, gravity=[0, 0, -gravity])
    sim = simulate(scene)
    sim.advance(300)
    assert np.abs(sim.poses()[1, :3]).max() < 1e-6
    assert sim.summary()["verdict"] == {"status": "trusted", "findings": []}
