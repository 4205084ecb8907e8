"""Friction of contacts as vectors: Newton's and Coulomb's laws, and the weight on a slope."""

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.runs.whole import run
from cardan.schemas.load import load_scene

MASS, H, G = 2.0, 0.002, 9.81
FLOOR: dict[str, Any] = {
    "name": "floor",
    "type": "static",
    "shapes": [{"type": "plane", "normal": [0, 0, 1]}],
}


def block(**more: Any) -> dict[str, Any]:
    shape = {"type": "box", "size": [0.2, 0.3, 0.2]}
    return {"name": "block", "mass": MASS, "position": [0, 0, 0.1], "shapes": [shape], **more}


def scene(*bodies: dict[str, Any], **more: Any) -> Any:
    simulation = {"dt": H, "duration": 0.2, **more.pop("simulation", {})}
    document = {"version": 1, "name": "friction", "simulation": simulation, **more}
    return load_scene({**document, "bodies": list(bodies)})


def vectors(table: Any, names: str) -> np.ndarray:
    return np.stack([table[name] for name in names.split()], axis=-1)


def friction(table: Any) -> np.ndarray:
    return vectors(table, "friction_x friction_y friction_z")


def test_friction_opposes_sliding_with_the_coefficient_times_the_normal_force() -> None:
    simulation = Simulation(scene(FLOOR, block(linear_velocity=[1.0, 0.5, 0.0])))
    simulation.advance(20)
    table, mu = simulation.contact_table(), simulation.friction_coefficients()
    assert len(table) == len(mu) == 4
    np.testing.assert_array_equal(table["friction_coefficient"], mu)
    along = simulation.velocities()[1, :3] / np.linalg.norm(simulation.velocities()[1, :3])
    expected = -(mu * table["normal_force"])[:, None] * along
    np.testing.assert_allclose(friction(table), expected, rtol=1e-9, atol=1e-9)
    assert friction(table).sum(axis=0)[0] < -1.0


@pytest.mark.parametrize("cone", ["cone", "box", "polyhedral"])
def test_contact_forces_of_a_tumbling_box_are_its_change_of_momentum(cone: str) -> None:
    """m (v+ - v-)/h = sum of n f_n + friction + m g, whichever of the two bodies is the second."""
    tumbling = block(
        position=[0, 0, 0.3], linear_velocity=[2, -1, -2], angular_velocity=[3, 5, -4],
        orientation=[0.9, 0.3, 0.3, 0.1],
    )  # fmt: skip
    contact = {"friction_cone": cone}
    for bodies, sign in (((FLOOR, tumbling), 1.0), ((tumbling, FLOOR), -1.0)):
        simulation = Simulation(scene(*bodies, simulation={"contact": contact}))
        index, rubbed = simulation.body_names.index("block"), 0
        for _ in range(150):
            before = simulation.momentum()[:3]
            simulation.advance(1)
            table = simulation.contact_table()
            normal = vectors(table, "nx ny nz") * table["normal_force"][:, None]
            force = sign * (normal + friction(table)).sum(axis=0)
            assert set(table["body_b" if sign > 0 else "body_a"]) <= {index}
            change = (simulation.momentum()[:3] - before) / H
            np.testing.assert_allclose(change, force + np.array([0, 0, -MASS * G]), atol=1e-7)
            size = np.linalg.norm(friction(table), axis=1)
            np.testing.assert_allclose(size, table["friction_force"], rtol=1e-12, atol=1e-12)
            rubbed += int((size > 0.1).any())
        assert rubbed > 10


def test_recorded_friction_holds_a_block_on_a_slope() -> None:
    angle = math.radians(20.0)
    gravity = [G * math.sin(angle), 0.0, -G * math.cos(angle)]
    tables = run(scene(FLOOR, block(), gravity=gravity, record={"every": 10}))[0].tables()
    last = tables["contacts"]["step"] == tables["contacts"]["step"].max()
    held = friction(tables["contacts"])[last].sum(axis=0)
    np.testing.assert_allclose(held, [-MASS * G * math.sin(angle), 0, 0], atol=1e-6)


def test_recordings_have_the_coefficient_of_each_contact() -> None:
    """Of the pair of materials, so that cones can be drawn of what is stored."""
    rough = {**FLOOR, "shapes": [{**FLOOR["shapes"][0], "material": "rough"}]}
    materials = {"rough": {"friction": 0.8}}
    record = {"every": 2, "channels": ["contacts"]}
    made = scene(
        rough, block(), materials=materials, record=record, simulation={"duration": 10 * H}
    )
    simulation = Simulation(made)
    simulation.advance(10)
    mu = simulation.friction_coefficients()
    table = run(made)[0].tables()["contacts"]
    assert len(mu) == 4
    assert len(table["friction_coefficient"]) >= 5 * 4
    np.testing.assert_array_equal(table["friction_coefficient"], mu[0])
    assert 0.5 < mu[0] <= 0.8
