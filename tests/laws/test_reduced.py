"""Joint coordinates: the same motion as in maximal ones, and the same laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.build.faults import SceneError
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document
from tests.engine.scenes import Document, brick, document, ground, rod, simulate
from tests.laws.test_determinism import poison

pytestmark = pytest.mark.law

ROUNDING = 1e-12


def reduced(scene: Document, **simulation: Any) -> Document:
    """The same scene in joint coordinates."""
    options = {k: v for k, v in scene.get("simulation", {}).items() if k != "stabilisation"}
    return scene | {"simulation": options | {"formulation": "reduced"} | simulation}


def example(name: str, **simulation: Any) -> Document:
    return reduced(example_document(name), **simulation)


def chain(kind: str, n: int) -> Document:
    """n rods from the horizontal, as the chains of the benchmarks; they do not touch each other."""
    thick = [{"type": "capsule", "radius": 0.02, "length": 0.16, "collision_mask": 0}]
    bodies = [
        rod(f"r{i}", [0.2 * i, 0.0, 0.0], 0.2) | {"shapes": thick, "mass": 0.2346} for i in range(n)
    ]
    joints = []
    for i in range(n):
        joint = {"type": kind, "name": f"j{i}", "anchor": [0.2 * i, 0.0, 0.0], "child": f"r{i}"}
        joint["parent"] = "world" if i == 0 else f"r{i - 1}"
        joints.append(joint | ({"axis": [0, 1, 0]} if kind == "hinge" else {}))
    return document(bodies, joints, simulation={"dt": 0.001})


def floating() -> Document:
    """A figure that tumbles: bricks on every kind of joint, nothing else near."""
    bodies = [brick(f"b{i}", position=[0.5 * i, 0.1 * i, 3.0]) for i in range(7)]
    bodies[0] |= {"angular_velocity": [1.0, -2.0, 3.0], "linear_velocity": [0.5, 0.2, 1.0]}
    bodies[6]["angular_velocity"] = [-2.0, 1.0, 4.0]
    kinds = ("ball", "hinge", "universal", "slider", "cylindrical", "planar")
    joints = []
    for i, kind in enumerate(kinds):
        joint: Document = {"type": kind, "name": f"j{i}", "parent": f"b{i}", "child": f"b{i + 1}"}
        joint |= {"anchor": [0.5 * i + 0.25, 0.1 * i, 3.1]}
        joint |= {} if kind == "ball" else {"axis": [0.6, 0.0, 0.8]}
        joints.append(joint | ({"axis2": [0, 1, 0]} if kind == "universal" else {}))
    return document(bodies, joints)


def test_trees_keep_their_joints_and_loops_keep_rows() -> None:
    sim = simulate(example("slider-crank"))
    assert sim.model.tree.inner.tolist().count(0) == 1
    sim.advance(300)
    assert sim.summary()["joints"]["max_position_error"] < 1e-5
    sim = simulate(example("double-pendulum"))
    sim.advance(300)
    assert sim.solver_report()["rows"] == 0
    assert sim.summary()["joints"]["max_position_error"] < 1e-14


@pytest.mark.parametrize("name", ["double-pendulum", "slider-crank", "heavy-top", "wheeled-cart"])
def test_the_ledger_closes(name: str) -> None:
    sim = simulate(example(name))
    sim.advance(300)
    summary = sim.summary()
    assert sim.failure is None
    assert summary["energy"]["balance_error"] < 1e-8
    assert summary["momentum"]["max_linear_drift"] < 1e-11
    assert summary["momentum"]["max_angular_drift"] < 1e-11


def test_what_floats_keeps_its_momenta_and_its_energy() -> None:
    scene = floating() | {"gravity": [0, 0, 0]}
    sim = simulate(reduced(scene, dt=0.002))
    sim.advance(1)
    energy = sim.energy()["total"]
    sim.advance(500)
    momentum = sim.summary()["momentum"]
    scale = np.abs(sim.momentum()).max()
    assert momentum["max_linear_drift"] < ROUNDING * scale
    assert momentum["max_angular_drift"] < ROUNDING * scale
    assert abs(sim.energy()["total"] - energy) < 1e-11 * energy


@pytest.mark.parametrize("kind", ["ball", "hinge"])
def test_chains_keep_their_energy(kind: str) -> None:
    sim = simulate(reduced(chain(kind, 10)))
    sim.advance(5000)
    assert sim.summary()["energy"]["max_relative_drift"] < 1e-4


def smooth(scene: Document) -> Document:
    """The scene without what jumps: stops, motors that reach their speed, dry friction."""
    for joint in scene["joints"]:
        for key in ("limits", "limits2", "motor", "motor2", "friction"):
            joint.pop(key, None)
    return scene


def difference(name: str, dt: float, seconds: float) -> float:
    """How far the formulations are apart after a while [m, -]."""
    ends = []
    for formulation in ("maximal", "reduced"):
        scene = smooth(example_document(name))
        scene["simulation"] |= {"dt": dt, "formulation": formulation}
        scene["simulation"].pop("stabilisation", None)
        if formulation == "maximal":
            # errors that go by a share a step are errors of first order
            scene["simulation"]["stabilisation"] = "projection"
        sim = simulate(scene)
        sim.advance(round(seconds / dt))
        ends.append(sim.poses())
    return float(np.abs(ends[0] - ends[1]).max())


@pytest.mark.parametrize(
    ("name", "seconds", "fall"),
    # second order: a quarter for half the step
    [
        ("double-pendulum", 0.3, 3.0),
        ("slider-crank", 0.1, 3.0),
        ("heavy-top", 0.1, 3.0),
        ("ragdoll", 0.1, 3.0),
    ],
)
def test_both_formulations_converge_to_each_other(name: str, seconds: float, fall: float) -> None:
    apart = [difference(name, dt, seconds) for dt in (1e-3, 5e-4, 2.5e-4)]
    assert apart[1] < apart[0] / fall
    assert apart[2] < apart[1] / fall
    assert apart[2] < 2e-5


@pytest.mark.parametrize("name", ["double-pendulum", "slider-crank", "wheeled-cart", "ragdoll"])
def test_pieces_snapshots_and_poison_change_nothing(name: str) -> None:
    scene = load_scene(example(name))
    whole = Simulation(scene)
    whole.advance(120)
    pieces = Simulation(scene)
    for n in (1, 7, 32):
        pieces.advance(n)
    saved = pieces.snapshot()
    resumed = Simulation(scene)
    resumed.restore(saved)
    poison(resumed)
    resumed.advance(80)
    assert resumed.state_hash() == whole.state_hash()


def test_an_impulse_is_passed_on_by_joints() -> None:
    scene = floating() | {"gravity": [0, 0, 0]}
    for joint in scene["joints"]:
        # what bodies do before their joints notice is not to be put right
        joint["erp"] = 0.0
    ends = []
    for formulation in ("maximal", "reduced"):
        sim = simulate(scene | {"simulation": {"formulation": formulation, "dt": 1e-5}})
        sim.advance(1)
        sim.apply_impulse("b3", [0.0, 3.0, 1.0])
        sim.advance(1)
        ends.append(sim.velocities())
        assert sim.summary()["momentum"]["max_linear_drift"] < 1e-11
    assert np.abs(ends[0] - ends[1]).max() < 1e-3


def test_figures_fall_on_the_ground() -> None:
    scene = floating()
    for body in scene["bodies"]:
        body["shapes"] = [{"type": "box", "size": [0.3, 0.2, 0.2]}]
        body["position"][2] = 0.6
    for joint in scene["joints"]:
        joint["anchor"][2] = 0.6
        joint["damping"] = 0.1
    scene["bodies"].append(ground())
    sim = simulate(reduced(scene, dt=0.002))
    sim.advance(600)
    summary = sim.summary()
    assert sim.failure is None
    assert summary["contacts"]["max_count"] > 4
    assert summary["contacts"]["max_penetration"] < 0.01
    assert summary["energy"]["balance_error"] < 1e-6
    assert summary["joints"]["max_position_error"] < 1e-12
    assert summary["momentum"]["max_linear_drift"] < 1e-9


@pytest.mark.parametrize(
    ("option", "pointer"),
    [
        ({"gyroscopic": "off"}, "/simulation/gyroscopic"),
        ({"orientation_update": "infinitesimal"}, "/simulation/orientation_update"),
        ({"contact": {"restitution_law": "poisson"}}, "/simulation/contact/restitution_law"),
        ({"contact": {"impact_time": "exact"}}, "/simulation/contact/impact_time"),
        ({"stabilisation": "projection"}, "/simulation/stabilisation"),
        ({"solver": {"method": "jacobi"}}, "/simulation/solver/method"),
        ({"sleeping": {"enabled": True}}, "/simulation/sleeping/enabled"),
    ],
)
def test_what_is_not_there_is_said(option: Document, pointer: str) -> None:
    with pytest.raises(SceneError) as caught:
        simulate(reduced(chain("ball", 1), **option))
    assert [fault.pointer for fault in caught.value.errors] == [pointer]
