"""Pads that motors of a given force press on a disc: the whole pad brakes, not one corner."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.law

FRICTION, FORCE, SPEED, INERTIA = 0.4, 5.0, 5.0, 0.05
# distance of a pad from the axis, its extent along the track, thickness of pad and disc [m]
RADIUS, ALONG, THICK = 0.2, 0.05, 0.02
END = 0.1


def brake(sides: tuple[float, ...], across: float, **options: object) -> Document:
    """A disc about x, and pads on sliders at its sides; what presses a pad is its motor alone.

    Those beyond the first two are opposite to them.
    """
    half = float(np.sqrt(0.5))
    disc = {"type": "cylinder", "radius": 0.35, "length": THICK, "material": "p"}
    pad = {"type": "box", "size": [THICK, ALONG, across], "material": "p"}
    bodies: list[Document] = [
        {
            "name": "disc", "position": [0, 0, 0], "angular_velocity": [SPEED, 0, 0], "mass": 2.0,
            "inertia": [INERTIA, 0.03, 0.03],
            "shapes": [{**disc, "orientation": [half, 0, half, 0]}],
        }
    ]  # fmt: skip
    axle = {"name": "axle", "type": "hinge", "parent": "world", "child": "disc"}
    joints: list[Document] = [{**axle, "anchor": [0, 0, 0], "axis": [1, 0, 0]}]
    for k, side in enumerate(sides):
        place = [side * THICK, 0, RADIUS if k < 2 else -RADIUS]
        bodies.append({"name": f"p{k}", "position": place, "mass": 0.2, "shapes": [pad]})
        slide = {"name": f"s{k}", "type": "slider", "parent": "world", "child": f"p{k}"}
        motor = {"type": "force", "target": FORCE}
        joints.append({**slide, "axis": [-side, 0, 0], "motor": motor})
    return document(
        bodies,
        joints,
        materials={"p": {"friction": FRICTION}},
        simulation={"dt": 1e-3, "duration": END, **options},
    )


@pytest.mark.parametrize("gravity", [[0, 0, 0], [0, 0, -9.81]])
@pytest.mark.parametrize("across", [0.1, 0.25])
@pytest.mark.parametrize("sides", [(1.0,), (1.0, -1.0), (1.0, -1.0, 1.0, -1.0)])
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_pad_brakes_at_its_mean_radius(
    formulation: str, sides: tuple[float, ...], across: float, gravity: list[float]
) -> None:
    """Four corners that press nearly alike; one alone brakes by up to two thirds less or more."""
    scene = brake(sides, across, formulation=formulation) | {"gravity": gravity}
    sim = simulate(scene)
    sim.advance(round(END / 1e-3))
    corners = [np.hypot(RADIUS + 0.5 * s * across, 0.5 * ALONG) for s in (1, -1)]
    torque = len(sides) * FRICTION * FORCE * float(np.mean(corners))
    lost = SPEED - float(sim.velocities()[sim.body_names.index("disc"), 3])
    assert lost == pytest.approx(torque * END / INERTIA, rel=0.05)
    assert sim.summary()["verdict"]["status"] == "trusted"


@pytest.mark.parametrize("feet", [3, 4, 5])
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_chair_turns_on_the_spot(formulation: str, feet: int) -> None:
    """Box feet on a circle press alike: what is symmetric has no way to go."""
    turns = 2.0 * np.pi * np.arange(feet) / feet
    foot = {"type": "box", "size": [0.04, 0.04, 0.04], "material": "p"}
    feet_at = [[0.3 * float(np.cos(a)), 0.3 * float(np.sin(a)), 0.0] for a in turns]
    bodies: list[Document] = [
        {"name": "floor", "type": "static",
         "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "p"}]},
        {"name": "chair", "position": [0, 0, 0.02], "angular_velocity": [0, 0, SPEED],
         "mass": 2.0, "inertia": [0.2, 0.2, 0.3], "center_of_mass": [0, 0, 0],
         "shapes": [{**foot, "position": place} for place in feet_at]},
    ]  # fmt: skip
    materials = {"p": {"friction": FRICTION}}
    simulation = {"dt": 1e-3, "duration": END, "formulation": formulation}
    sim = simulate(document(bodies, [], materials=materials, simulation=simulation))
    sim.advance(round(END / 1e-3))
    corners = [np.hypot(0.3 + x, y) for x in (-0.02, 0.02) for y in (-0.02, 0.02)]
    lost = SPEED - float(sim.velocities()[1, 5])
    assert lost == pytest.approx(FRICTION * 2.0 * 9.81 * np.mean(corners) * END / 0.3, rel=0.005)
    assert np.linalg.norm(sim.poses()[1, :2]) < 1e-5
    assert sim.summary()["verdict"]["status"] == "trusted"
