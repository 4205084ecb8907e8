"""Trees tied to bodies that hang on nothing else: as in maximal coordinates, with the same laws."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.world.tree import AFLOAT, ALONE, HELD
from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.law

STILL, CENTRED, OFF_CENTRE = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.1, 0.05, -0.05]
KINDS = ("distance", "ball", "hinge", "universal", "fixed")
FALLS = [0.0, 0.0, -9.81]


def tie(kind: str, anchor: list[float], **more: Any) -> Document:
    """A joint that is an equation: a rod, or one that may break and never does."""
    joint: Document = {"type": kind, "name": "tie", "parent": "a", "child": "b", "anchor": anchor}
    if kind != "distance":
        joint["breaking_force"] = 1e6
    if kind in ("hinge", "universal"):
        joint["axis"] = [0.0, 0.6, 0.8]
    if kind == "universal":
        joint["axis2"] = [1.0, 0.0, 0.0]
    return joint | more


def tied(
    kind: str, centre: list[float], floats: bool, gravity: list[float], **more: Any
) -> Document:
    """A tree (a on a hinge to the world, or to a body that flies) tied to b, which all else leaves.

    All turn as one body at first, about the hinge of what stands on the ground.
    """
    turn = [1.0, 2.5, -3.0] if floats else [0.0, 2.0, 0.0]
    b: Document = {
        "position": [0.9, 0.1, 0.4],
        "inertia": [0.012, 0.03, 0.026],
        "center_of_mass": centre,
    }
    bodies: list[Document] = [
        {"name": "a", "position": [0.3, 0, 0], "inertia": [0.012, 0.03, 0.035]},
        {"name": "b", **b},
    ]
    hinge = {"type": "hinge", "name": "hinge", "child": "a", "parent": "world", "axis": [0, 1, 0]}
    if floats:
        bodies.append({"name": "w", "position": [0, 0, 0], "inertia": [0.02, 0.02, 0.03]})
        hinge["parent"] = "w"
    for body in bodies:
        speed = np.cross(np.array(turn), np.array(body["position"]))
        body |= {"mass": 1.2, "angular_velocity": turn, "linear_velocity": speed.tolist()}
    ends = {"anchor2": [0.8, 0.1, 0.4]} if kind == "distance" else {}
    joints = [hinge | {"anchor": [0, 0, 0]}, tie(kind, [0.6, 0, 0], **ends, **more)]
    return document(bodies, joints, gravity=gravity)


def moved(scene: Document, formulation: str, dt: float, seconds: float = 0.5) -> Simulation:
    sim = simulate(scene | {"simulation": {"dt": dt, "formulation": formulation}})
    sim.advance(round(seconds / dt))
    return sim


def apart(scene: Document, dts: tuple[float, ...], finest: float = 2.5e-5) -> list[float]:
    """How far trees are from maximal coordinates of the finest step [m, -], for each step."""
    true = moved(scene, "maximal", finest).poses()
    return [float(np.abs(moved(scene, "reduced", dt).poses() - true).max()) for dt in dts]


@pytest.mark.parametrize("gravity", [STILL, FALLS], ids=["", "falls"])
@pytest.mark.parametrize("floats", [False, True], ids=["grounded", "floats"])
@pytest.mark.parametrize("centre", [CENTRED, OFF_CENTRE], ids=["centred", "off"])
@pytest.mark.parametrize("kind", KINDS)
def test_they_converge_to_maximal_coordinates_at_second_order(
    kind: str, centre: list[float], floats: bool, gravity: list[float]
) -> None:
    found = apart(tied(kind, centre, floats, gravity), (2e-3, 1e-3, 5e-4))
    assert found[0] < 3e-4
    assert found[1] < found[0] / 3.0
    assert found[2] < found[0] / 10.0


@pytest.mark.parametrize("floats", [False, True], ids=["grounded", "floats"])
@pytest.mark.parametrize("kind", KINDS)
def test_energy_and_momenta_are_kept(kind: str, floats: bool) -> None:
    sim = moved(tied(kind, OFF_CENTRE, floats, STILL), "reduced", 1e-3, 2.0)
    summary = sim.summary()
    # of a tree on the ground to rounding; in the air a drift ends by momenta, then by energy
    assert summary["energy"]["max_relative_drift"] < (2e-5 if floats else 1e-12)
    assert summary["energy"]["balance_error"] < 1e-12
    assert summary["momentum"]["max_linear_drift"] < 1e-11
    assert summary["momentum"]["max_angular_drift"] < 1e-11


@pytest.mark.parametrize("kind", KINDS)
def test_energy_is_kept_where_gravity_acts(kind: str) -> None:
    sim = moved(tied(kind, OFF_CENTRE, False, FALLS), "reduced", 1e-3, 2.0)
    assert sim.summary()["energy"]["max_relative_drift"] < 3e-5


def drawn(rng: np.random.Generator, k: int) -> Document:
    """Masses, inertias, centres and anchors at random; every kind, on both kinds of trees."""
    axis, kind, floats = rng.normal(size=3), KINDS[k % 5], k % 2 == 1
    more: Document = {}
    if kind in ("hinge", "universal"):
        more["axis"] = (axis / np.linalg.norm(axis)).tolist()
    if kind == "universal":
        across = np.cross(axis, [0.3, 0.5, 0.8])
        more["axis2"] = (across / np.linalg.norm(across)).tolist()
    if k % 3 == 0:
        more |= {"parent": "b", "child": "a"}
    centre = rng.uniform(-0.1, 0.1, 3).tolist()
    scene = tied(kind, centre, floats, [STILL, FALLS][k // 2 % 2])
    anchor = np.array([0.6, 0.0, 0.0]) + rng.uniform(-0.1, 0.1, 3)
    scene["joints"][1] |= more | {"anchor": anchor.tolist()}
    for body in scene["bodies"][:2]:
        moments = np.sort(rng.uniform(0.02, 0.04, 3))
        body |= {"mass": float(rng.uniform(0.5, 3.0)), "inertia": moments.tolist()}
    scene["bodies"][0]["center_of_mass"] = rng.uniform(-0.05, 0.05, 3).tolist()
    return scene


@cache
def draws() -> list[list[float]]:
    rng = np.random.default_rng(940)
    return [apart(drawn(rng, k), (2e-3, 1e-3), 5e-5) for k in range(20)]


@pytest.mark.parametrize("k", range(20))
def test_whatever_masses_and_anchors_they_have(k: int) -> None:
    coarse, fine = draws()[k]
    assert fine < 1e-4
    assert fine < coarse / 3.0 + 1e-7


def test_what_hangs_on_what_is_tied_is_tied_too() -> None:
    scene = tied("ball", OFF_CENTRE, False, FALLS)
    turn = scene["bodies"][1]["angular_velocity"]
    for name, x in (("c", 1.3), ("alone", 3.0)):
        speed = np.cross(turn, [x, 0.1, 0.4]).tolist()
        inertia = {"mass": 0.7, "inertia": [0.01, 0.02, 0.025], "angular_velocity": turn}
        scene["bodies"].append({"name": name, "position": [x, 0.1, 0.4], **inertia})
        scene["bodies"][-1]["linear_velocity"] = speed
    ends = {"anchor2": [1.2, 0.1, 0.4], "name": "next", "parent": "b", "child": "c"}
    scene["joints"].append(tie("distance", [1.0, 0.1, 0.4], **ends))
    sim = simulate(scene | {"simulation": {"formulation": "reduced"}})
    assert sim.model.tree.floating.tolist() == [0, 1, 1]
    assert (sim.model.bodies.node[:4] >= 0).tolist() == [True, True, True, False]
    coarse, fine = apart(scene, (2e-3, 1e-3))
    assert fine < 1e-4
    assert fine < coarse / 3.2


def test_which_trees_share_their_energy() -> None:
    def bonds(scene: Document) -> tuple[list[int], list[int]]:
        tree = simulate(scene | {"simulation": {"formulation": "reduced"}}).model.tree
        return tree.tied.tolist(), tree.bond.tolist()

    assert bonds(tied("ball", CENTRED, False, FALLS)) == ([0, 0], [HELD, HELD])
    scene = tied("ball", CENTRED, True, FALLS)
    assert bonds(scene) == ([0, 0], [AFLOAT, AFLOAT])
    to_world = tie("distance", [0, 0, 1], parent="world", child="w", name="rope", anchor2=[0, 0, 0])
    scene["joints"].append(to_world)
    assert bonds(scene) == ([0, 0], [HELD, HELD])
    # a body that moves as it is told gives and takes energy
    scene["bodies"].append({"name": "k", "type": "kinematic", "position": [0, 0, 1]})
    to_world["parent"] = "k"
    assert bonds(scene)[0] == [-1, -1]
    # a loop within a tree that flies
    loop = tied("ball", CENTRED, True, FALLS)
    loop["joints"][1].pop("breaking_force")
    loop["joints"].append(
        tie("distance", [0.0, 0, 0], parent="w", child="b", name="brace", anchor2=[0.9, 0.1, 0.4])
    )
    assert bonds(loop) == ([0], [ALONE])


def test_when_the_tie_breaks_each_goes_its_own_way() -> None:
    scene = tied("ball", OFF_CENTRE, True, STILL, breaking_force=5.0)
    scene["simulation"] = {"dt": 1e-3, "formulation": "reduced"}
    sim = simulate(scene)
    sim.advance(100)
    assert np.isfinite(sim.state.broken[1, 0])
    v, energy = sim.state.v_WB_W[1].copy(), sim.energy()["total"]
    sim.advance(1000)
    assert np.abs(sim.state.v_WB_W[1] - v).max() < 1e-13
    assert abs(sim.energy()["total"] - energy) < 1e-6 * energy
    assert sim.summary()["momentum"]["max_angular_drift"] < 1e-11
