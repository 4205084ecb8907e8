"""Rows that miss every rate of a tree: what rounding leaves of them pushes nothing.

A contact beside a rail, or the equations of a planar loop across its plane, act along no rate. In
axes of the world these are exact zeros; in any other frame they are rounding, and a solver that
divides by it moves a body by light years.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan.engine import Simulation
from cardan.schemas import load_scene

Document = dict[str, Any]

GRAVITY = [3.0, 1.0, -9.0]
TURNS = [(0.0, 0.0, 0.0), (0.3, 0.4, -0.7), (1.1, -2.0, 0.3), (2.9, 0.1, -0.2)]
# methods of joint coordinates, with the friction that they can solve
METHODS = {
    "auto": "cone",
    "pgs": "cone",
    "sor": "cone",
    "gauss_seidel": "cone",
    "pivoting": "box",
    "lemke": "polyhedral",
    "nncg": "cone",
    "pgs_sm": "cone",
    "apgd": "cone",
    "proximal": "cone",
}

pytestmark = pytest.mark.law


def scene(method: str, bodies: list[Document], joints: list[Document]) -> Simulation:
    """In joint coordinates."""
    simulation = {"dt": 1e-3, "formulation": "reduced", "solver": {"method": method}}
    contact = {"friction_cone": METHODS[method]}
    document = {"gravity": GRAVITY, "simulation": simulation | {"contact": contact}}
    return Simulation(load_scene(document | {"bodies": bodies, "joints": joints}))


def rail(turn: Rotation, method: str, gap: float, away: float = 0.0) -> Simulation:
    """A box on a rail along a plane, the gap between them as given; `away` from the origin."""
    q = np.roll(turn.as_quat(), 1).tolist()
    at = turn.apply([away, 0.0, 0.1 + gap]).tolist()
    box = {"name": "box", "mass": 1.0, "inertia": [0.05, 0.03, 0.02], "position": at}
    box |= {"orientation": q, "shapes": [{"type": "box", "size": [0.4, 0.2, 0.2]}]}
    plane = {"type": "plane", "normal": turn.apply([0, 0, 1]).tolist(), "offset": 0.0}
    ground = {"name": "ground", "type": "static", "shapes": [plane]}
    axis = turn.apply([1, 0, 0]).tolist()
    joint = {"name": "rail", "type": "slider", "parent": "world", "child": "box"}
    return scene(method, [box, ground], [joint | {"anchor": at, "axis": axis}])


def four_bar(turn: Rotation, method: str) -> Simulation:
    """A parallelogram of hinges, whose loop has three equations too many."""
    q = np.roll(turn.as_quat(), 1).tolist()
    middles = [[0.0, 0.0, 0.5], [0.5, 0.0, 1.0], [1.0, 0.0, 0.5]]
    bodies = [
        {"name": f"b{i}", "mass": 1.0 + i, "inertia": [0.05, 0.03, 0.02], "orientation": q}
        | {"position": turn.apply(at).tolist()}
        for i, at in enumerate(middles)
    ]
    links = [("world", "b0", 0, 0), ("b0", "b1", 0, 1), ("world", "b2", 1, 0), ("b2", "b1", 1, 1)]
    axis = turn.apply([0, 1, 0]).tolist()
    joints = [
        {"name": f"{a} to {b}", "type": "hinge", "parent": a, "child": b, "axis": axis}
        | {"anchor": turn.apply([x, 0, z]).tolist()}
        for a, b, x, z in links
    ]
    return scene(method, bodies, joints)


def twice(turn: Rotation, method: str) -> Simulation:
    """A body on a ball joint that another joint at the same place repeats."""
    at = turn.apply([0.3, -0.2, 0.6]).tolist()
    bodies = [
        {"name": "a", "mass": 0.2, "inertia": [0.01, 0.01, 0.01], "position": [0.4, -0.15, 0.2]},
        {"name": "b", "mass": 2.4, "inertia": [0.1, 0.12, 0.11], "position": at},
    ]
    bodies[0] |= {"linear_velocity": [-0.4, -1.1, -1.2]}
    joints = [
        {"name": name, "type": "ball", "parent": "a", "child": "b", "anchor": at}
        for name in ("joint", "again")
    ]
    return scene(method, bodies, joints)


@pytest.mark.parametrize("away", [0.0, 300.0])
@pytest.mark.parametrize("gap", [0.0, -1e-5])
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("method", METHODS)
def test_a_contact_beside_a_rail_does_nothing(
    method: str, turn: tuple[float, float, float], gap: float, away: float
) -> None:
    """The box falls along its rail, whether it touches the plane or overlaps it a little."""
    rotation = Rotation.from_rotvec(turn)
    one = rail(rotation, method, gap, away)
    start = one.poses()[0, :3].copy()
    one.advance(100)
    pull = float(rotation.apply([1.0, 0.0, 0.0]) @ np.array(GRAVITY))
    moved = rotation.inv().apply(one.poses()[0, :3] - start)
    assert one.find_contacts() == 4
    assert moved == pytest.approx([0.5 * pull * one.time**2, 0.0, 0.0], abs=1e-9)
    assert one.velocities()[0, :3] == pytest.approx(
        rotation.apply([pull * one.time, 0.0, 0.0]), abs=1e-9
    )
    assert one.summary()["verdict"]["status"] == "trusted"


@pytest.mark.parametrize("make", [four_bar, twice])
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("method", [one for one in METHODS if one not in ("lemke", "auto")])
def test_redundant_equations_move_nothing(
    method: str, turn: tuple[float, float, float], make: Any
) -> None:
    """A loop is as it is with the exact solver, in whatever frame."""
    rotation = Rotation.from_rotvec(turn)
    one, exact = make(rotation, method), make(rotation, "auto")
    one.advance(200)
    exact.advance(200)
    moved = np.abs(exact.velocities()).max()
    assert moved > 0.5
    assert np.abs(one.velocities() - exact.velocities()).max() < 1e-5 * moved
    assert np.abs(one.poses()[:, :3] - exact.poses()[:, :3]).max() < 1e-5
