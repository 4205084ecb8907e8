"""Reactions of joints in loops, of least norm: a door on three hinges, planar and Bennett's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cardan.engine import run
from cardan.engine.statics.statics import statics
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document, simulate
from tests.laws.linkages import Linkage

pytestmark = pytest.mark.reference

Array = NDArray[np.float64]
SCENES = Path(__file__).parents[2] / "benchmarks" / "trust" / "scenes"
FORMULATIONS = ("maximal", "reduced")
G, M, WIDTH, HEIGHT, APART = 9.81, 20.0, 0.8, 2.0, 0.9
PLACES = (-APART, 0.0, APART)
FORCES = ("fx", "fy", "fz", "tx", "ty", "tz")


def reactions_of(sim: Any) -> Array:
    """(j, 6) forces and torques on the children at their anchors, W."""
    table = sim.joint_table()
    count = int(table["joint"].max()) + 1
    rows = [table[table["joint"] == j][0] for j in range(count)]
    return np.array([[row[name] for name in FORCES] for row in rows])


def door(formulation: str, places: tuple[float, ...] = PLACES, **more: Any) -> Document:
    """A door in the xz plane that hangs on three or more hinges with a vertical axis."""
    body = {"name": "door", "mass": M, "position": [0.5 * WIDTH, 0, 0]}
    body |= {"inertia": [6.7, 7.7, 1.1]}
    body["shapes"] = [{"type": "box", "size": [WIDTH, 0.04, HEIGHT]}]
    hinge = {"type": "hinge", "parent": "world", "child": "door", "axis": [0, 0, 1], **more}
    joints = [hinge | {"name": f"h{k}", "anchor": [0, 0, z]} for k, z in enumerate(places)]
    simulation = {"dt": 1e-3, "duration": 0.02, "formulation": formulation}
    return document([body], joints, simulation=simulation)


def shares_of_a_door(places: tuple[float, ...] = PLACES) -> Array:
    """Each of n hinges bears its share of the weight; forces X and torques Y bear its moment,
    sum X z + n Y = m g b / 2, with sum X^2 + n (Y / L)^2 the least: X = k z, Y = k L^2.
    """
    moment, length = 0.5 * M * G * WIDTH, HEIGHT
    k = moment / (float(np.square(places).sum()) + len(places) * length**2)
    share = M * G / len(places)
    # the weight turns the door about +y; force +x above and -x below would do so too
    return np.array([[-k * z, 0.0, share, 0.0, -k * length**2, 0.0] for z in places])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_forty_hinges_share_alike(formulation: str) -> None:
    places = tuple(float(z) for z in np.linspace(-APART, APART, 40))
    simulation = simulate(door(formulation, places))
    simulation.advance(5)
    assert reactions_of(simulation) == pytest.approx(shares_of_a_door(places), abs=1e-6 * M * G)
    _, summary = run(load_scene(door(formulation, places)))
    not_unique = summary["joints"]["not_unique"]
    assert [one["least"] for one in not_unique] == [True] * 40


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_hinges_of_a_door_share_its_weight(formulation: str) -> None:
    sim = simulate(door(formulation))
    sim.advance(20)
    assert reactions_of(sim) == pytest.approx(shares_of_a_door(), abs=1e-7 * M * G)


def test_statics_shares_it_alike() -> None:
    found = statics(load_scene(door("maximal")))
    given = [[*one["force"], *one["torque"]] for one in found.joints]
    assert np.array(given) == pytest.approx(shares_of_a_door(), abs=1e-7 * M * G)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_weakest_of_hinges_breaks_under_its_share(formulation: str) -> None:
    # each bears 65.4 N and a few more across; if one bore all, it would break
    scene = door(formulation, breaking_force=100.0)
    sim = simulate(scene)
    sim.advance(20)
    assert not sim.broken_joints()
    scene["joints"][1]["breaking_force"] = 65.0
    sim = simulate(scene)
    sim.advance(20)
    assert [one["joint"] for one in sim.broken_joints()] == ["h1"]


def four_bar(formulation: str, offset: float) -> Document:
    """A crank-rocker in the xz plane of space; the coupler's mass lies beside that plane."""
    points = [(0.0, 0.0), (0.0, 0.3), (0.9, 0.7), (0.8, 0.0)]
    names = ("world", "crank", "coupler", "rocker")
    bodies, joints = [], []
    for k, name in enumerate(names[1:]):
        x, z = 0.5 * (np.array(points[k]) + np.array(points[k + 1]))
        y = offset if name == "coupler" else 0.0
        one = {"name": name, "position": [float(x), y, float(z)], "mass": 1.0 + k}
        bodies.append(one | {"inertia": [0.02, 0.03, 0.025]})
    for k in range(4):
        hinge = {"name": f"j{k}", "type": "hinge", "parent": names[k], "child": names[(k + 1) % 4]}
        if k == 3:
            hinge |= {"parent": "world", "child": "rocker"}
        joints.append(hinge | {"anchor": [points[k][0], 0, points[k][1]], "axis": [0, 1, 0]})
    joints[0]["motor"] = {"type": "velocity", "target": 3.0}
    return document(bodies, joints, simulation={"dt": 1e-3, "formulation": formulation})


@pytest.mark.parametrize("offset", [0.0, 0.15])
def test_planar_four_bar_in_space(offset: float) -> None:
    found = []
    for formulation in FORMULATIONS:
        sim = simulate(four_bar(formulation, offset))
        sim.advance(300)
        found.append(reactions_of(sim))
    maximal, reduced = found
    assert maximal == pytest.approx(reduced, abs=1e-3 * np.abs(reduced).max())
    across = reduced[:, [1, 3, 5]]
    if offset:
        # nothing pushes along y, and what turns about x and z is borne by all four
        assert np.abs(across[:, 1:]).max(axis=0).min() > 0.1
    else:
        assert np.abs(across).max() < 1e-9


def self_balancing(linkage: Linkage, angles: Array, length: float) -> Array:
    """(6 j, k): forces and scaled torques of hinges that add up to nothing on every body."""
    screws, joints = linkage.screws(angles), [*linkage.tree, *linkage.closing]
    bodies = sorted(linkage.bodies)
    rows = []
    for number, joint in enumerate(joints):
        place = screws[joint["parent"]]
        anchor = place.R @ np.array(joint["anchor"]) + place.p
        axis = place.R @ np.array(joint["axis"]) / np.linalg.norm(joint["axis"])
        across = np.linalg.svd(axis[None])[2][1:]
        for push, turn in [*((e, 0 * e) for e in np.eye(3)), *((0 * e, e) for e in across)]:
            effect, unit = np.zeros(6 * len(bodies)), np.zeros(6 * len(joints))
            for name, sign in ((joint["parent"], -1.0), (joint["child"], 1.0)):
                if name in bodies:
                    at = 6 * bodies.index(name)
                    effect[at : at + 3] += sign * push
                    effect[at + 3 : at + 6] += sign * (length * turn + np.cross(anchor, push))
            unit[6 * number : 6 * number + 3], unit[6 * number + 3 : 6 * number + 6] = push, turn
            rows.append((effect, unit))
    effects, units = (np.array(part) for part in zip(*rows, strict=True))
    left, values, _ = np.linalg.svd(effects)
    rank = int((values > 1e-7 * values[0]).sum())
    assert rank < len(effects)
    return (left[:, rank:].T @ units).T


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_nothing_in_a_bennett_linkage_balances_itself(formulation: str) -> None:
    scene: Document = json.loads((SCENES / "bennett-maximal.json").read_text())
    scene["simulation"] = {"dt": 1e-3, "formulation": formulation}
    sim, linkage = simulate(scene), Linkage(scene)
    order = [sim.joint_names.index(one["name"]) for one in [*linkage.tree, *linkage.closing]]
    length = float(sim.model.joints.reaction_length[0])
    for _ in range(3):
        sim.advance(150)
        angle = float(sim.joint_table()[0]["q"]) - 0.5 * 1e-3 * 3.0
        angles = linkage.angles(np.array([angle]))[0]
        found = reactions_of(sim)[order]
        found[:, 3:] /= length
        none = self_balancing(linkage, angles, length)
        assert np.abs(none.T @ found.ravel()).max() < 1e-5 * np.linalg.norm(found)


def test_the_summary_names_channels() -> None:
    _, summary = run(load_scene(door("maximal")))
    marked = {one["joint"]: one for one in summary["joints"]["not_unique"]}
    assert set(marked) == {"h0", "h1", "h2"}
    for one in marked.values():
        # a hinge bears no torque about its axis
        assert one["channels"] == ["fx", "fy", "fz", "tx", "ty"]
        assert one["least"] is True
