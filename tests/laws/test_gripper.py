"""Two pads that hold a box by friction alone: how much they carry, and that it slips straight."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, document, ground, simulate

pytestmark = pytest.mark.law

FRICTION, MASS, GRAVITY, LIFT = 0.6, 0.5, 9.81, 1.0
# time to come to rest on the floor, time of the lift with 1 m/s^2, end [s]
REST, RISE, END = 0.1, 0.3, 0.5
H = 1e-3


def gripper(share: float, size: float = 0.08, **options: object) -> Document:
    """Fingers on sliders press with a share of what the box needs while it is lifted."""
    force = share * MASS * (GRAVITY + LIFT) / (2.0 * FRICTION)
    speed = LIFT * RISE
    lift = {"times": [0, REST, REST + RISE, END], "values": [0, 0, speed, speed]}
    pad = {"type": "box", "size": [0.02, 0.04, 0.08], "material": "p"}
    cube = {"type": "box", "size": [size, size, size], "material": "p"}
    bodies: list[Document] = [
        ground(),
        {"name": "palm", "position": [0, 0, 0.3], "mass": 1.0, "inertia": [0.01, 0.01, 0.01]},
    ]
    joints: list[Document] = [
        {"name": "lift", "type": "slider", "parent": "world", "child": "palm", "axis": [0, 0, 1]}
    ]
    joints[0]["motor"] = {"type": "velocity", "target": lift}
    for k, side in enumerate((1.0, -1.0)):
        place = [side * (0.5 * size + 0.02), 0, 0.05]
        bodies.append({"name": f"f{k}", "position": place, "mass": 0.1, "shapes": [pad]})
        slide = {"name": f"g{k}", "type": "slider", "parent": "palm", "child": f"f{k}"}
        motor = {"type": "force", "target": -force}
        joints.append(slide | {"axis": [side, 0, 0], "motor": motor})
    bodies.append({"name": "box", "position": [0, 0, 0.5 * size], "mass": MASS, "shapes": [cube]})
    materials = {"p": {"friction": FRICTION}}
    simulation = {"dt": H, "duration": END, **options}
    return document(bodies, joints, materials=materials, simulation=simulation)


def lifted(scene: Document) -> tuple[Simulation, float, float]:
    """The run, how far the box slipped down along the pads [m], its largest turn [rad]."""
    sim, turn = simulate(scene), 0.0
    box, pad = sim.body_names.index("box"), sim.body_names.index("f0")
    start = sim.poses()[box, 2] - sim.poses()[pad, 2]
    for _ in range(50):
        sim.advance(round(END / H / 50))
        turn = max(turn, 2.0 * float(np.linalg.norm(sim.poses()[box, 4:])))
    now = sim.poses()[box, 2] - sim.poses()[pad, 2]
    return sim, float(start - now), turn


def slip(share: float) -> float:
    """Friction is constant: the box lags while the pads accelerate, and catches up after it."""
    friction = share * (GRAVITY + LIFT)
    lag = GRAVITY + LIFT - friction
    return 0.5 * lag * RISE**2 + (lag * RISE) ** 2 / (2.0 * (friction - GRAVITY))


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_the_box_holds_just_above_the_critical_force(formulation: str) -> None:
    sim, slipped, turn = lifted(gripper(1.005, formulation=formulation))
    assert abs(slipped) < 1e-7
    assert turn < 1e-6
    assert sim.summary()["verdict"]["status"] == "trusted"


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("share", [0.995, 0.98])
def test_the_box_slips_straight_just_below_it(share: float, formulation: str) -> None:
    _, slipped, turn = lifted(gripper(share, formulation=formulation))
    # the lift changes its acceleration within a step
    assert slipped == pytest.approx(slip(share), rel=0.01)
    assert turn < 1e-6


def test_equal_pads_press_alike() -> None:
    """Nearly: what one pad has more on the left and the other on the right balances itself."""
    sim, _, _ = lifted(gripper(1.005))
    table = sim.contact_table()
    for pad in ("f0", "f1"):
        mine = table[table["body_a"] == sim.body_names.index(pad)]
        left, right = (mine[mine["py"] * side > 0]["normal_force"].sum() for side in (1, -1))
        assert left == pytest.approx(right, rel=0.15)
