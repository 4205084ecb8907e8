"""Joints that break: when, under what, and where their energy goes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import rollout_states, run
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document, ground, simulate

pytestmark = pytest.mark.reference


def hung(strength: float, joint: dict[str, Any] | None = None, **scene: Any) -> Any:
    """2 kg under a joint that is pulled down ever more: 10 N more each second."""
    pull = {"times": [0, 10], "values": [[0, 0, 0], [0, 0, -100]]}
    stone = {"name": "stone", "mass": 2.0, "inertia": [0.1, 0.1, 0.1]}
    hook: Document = {"name": "hook", "type": "fixed", "parent": "world", "child": "stone"}
    hook |= {"breaking_force": strength, **(joint or {})}
    forces = [{"type": "wrench", "body": "stone", "force": pull}]
    return simulate(document([stone], [hook], forces=forces, simulation={"dt": 1e-3}, **scene))


@pytest.mark.parametrize("kind", ["fixed", "ball", "distance"])
def test_breaks_when_the_pull_reaches_its_strength(kind: str) -> None:
    joint: dict[str, Any] = {"type": kind}
    if kind == "ball":
        joint |= {"anchor": [0, 0, 0]}
    if kind == "distance":
        joint |= {"anchor": [0, 0, 1], "anchor2": [0, 0, 0]}
    sim = hung(2 * 9.81 + 5.0005, joint)
    sim.advance(400)
    assert sim.summary()["joints"]["broken"] == []
    assert float(sim.joint_table()["fz"][0]) == pytest.approx(2 * 9.81 + 3.995, rel=1e-9)
    sim.advance(200)
    broken = sim.summary()["joints"]["broken"]
    assert [one["joint"] for one in broken] == ["hook"]
    assert broken[0]["time"] == pytest.approx(0.501, abs=1e-9)
    assert broken[0]["force"] == pytest.approx(2 * 9.81 + 5.005, rel=1e-9)
    assert any("'hook' broke at 0.501 s" in text for text in sim.warnings())
    table = sim.joint_table()
    assert [float(table[name][0]) for name in ("fx", "fy", "fz", "tx", "ty", "tz")] == [0.0] * 6
    # falls from the step after: 99 steps under weight and pull
    acceleration = 9.81 + 0.5 * (5.01 + 6.0) / 2.0
    assert sim.velocities()[0, 2] == pytest.approx(-acceleration * 0.099, rel=1e-6)
    assert sim.summary()["energy"]["balance_error"] < 1e-12


def test_what_its_spring_held_is_booked_as_lost() -> None:
    joint = {
        "type": "slider",
        "axis": [0, 0, 1],
        "spring": {"stiffness": 500.0, "damping": 100.0},
        "breaking_force": 2 * 9.81 + 5.0,
    }
    sim = hung(1.0, joint)
    while not sim.summary()["joints"]["broken"]:
        before = sim.energy()
        sim.advance(1)
    after = sim.energy()
    stretch = sim.poses()[0, 2]
    held = 0.5 * 500.0 * stretch**2
    assert held > 0.1
    lost = after["dissipated_impact"] - before["dissipated_impact"]
    assert lost == pytest.approx(held, rel=1e-12)
    drift = sim.summary()["energy"]["max_relative_drift"]
    sim.advance(300)
    assert sim.summary()["energy"]["max_relative_drift"] <= max(drift, 1e-9)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_motor_of_a_broken_joint_is_refused_and_triggers_leave_it(formulation: str) -> None:
    joint = {
        "type": "hinge",
        "anchor": [0, 0, 0],
        "axis": [0, 0, 1],
        "motor": {"type": "velocity", "target": 0.0},
        "breaking_force": 2 * 9.81 + 1.0005,
    }
    again = {"op": "set_motor", "joint": "hook", "target": 1.0}
    pull = {"times": [0, 10], "values": [[0, 0, 0], [0, 0, -100]]}
    simulation = {"dt": 1e-3, "duration": 0.3, "formulation": formulation}
    scene = document(
        [{"name": "stone", "mass": 2.0, "inertia": [0.1, 0.1, 0.1]}],
        [{"name": "hook", "parent": "world", "child": "stone", **joint}],
        forces=[{"type": "wrench", "body": "stone", "force": pull}],
        simulation=simulation,
        triggers=[{"name": "late", "when": {"type": "time", "at": 0.2}, "do": [again]}],
    )
    sim = simulate(scene)
    sim.set_motor("hook", 0.0)
    sim.advance(150)
    assert [one["joint"] for one in sim.broken_joints()] == ["hook"]
    with pytest.raises(ValueError, match=r"'hook' broke at 0\.1"):
        sim.set_motor("hook", 1.0)
    assert sim.state.motor_target[0, 0] == 0.0
    sim.advance(150)
    assert sim.summary()["triggers"][0]["times"] == 1
    found = rollout_states(scene, controls=np.zeros((10, 1)), metrics=["joints.broken"])
    assert len(found.metrics["joints.broken"][0]) == 1


def test_broken_joints_stay_broken_in_snapshots() -> None:
    sim, again = hung(30.0), hung(30.0)
    sim.advance(1200)
    assert sim.summary()["joints"]["broken"]
    again.restore(sim.snapshot())
    assert again.summary()["joints"]["broken"] == sim.summary()["joints"]["broken"]
    sim.advance(100)
    again.advance(100)
    assert again.state_hash() == sim.state_hash()


def test_gear_breaks_by_its_torque() -> None:
    bodies = [
        {"name": name, "mass": 1.0, "inertia": [0.5] * 3, "position": [x, 0, 0]}
        for name, x in (("a", 0.0), ("b", 1.0))
    ]
    push = {"times": [0, 1], "values": [0, 10]}
    joints: list[dict[str, Any]] = [
        {"name": "ha", "type": "hinge", "parent": "world", "child": "a", "axis": [0, 0, 1]},
        {"name": "hb", "type": "hinge", "parent": "world", "child": "b", "axis": [0, 0, 1]},
        {"name": "g", "type": "gear", "parent": "a", "child": "b", "axis": [0, 0, 1]},
    ]
    joints[0] |= {"anchor": [0, 0, 0], "motor": {"type": "force", "target": push}}
    joints[1] |= {"anchor": [1, 0, 0]}
    joints[2] |= {"ratio": -1.0, "breaking_force": 2.0}
    sim = simulate(document(bodies, joints, gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    sim.advance(600)
    # half of the torque goes through the gear: 2 N m at 0.4 s
    broken = sim.summary()["joints"]["broken"]
    assert broken[0]["time"] == pytest.approx(0.401, abs=1.1e-3)
    speed = sim.velocities()[1, 5]
    sim.advance(100)
    assert sim.velocities()[1, 5] == pytest.approx(speed, rel=1e-12)


def test_blow_breaks_only_what_it_reaches() -> None:
    links = [
        {"name": f"l{k}", "mass": 1.0, "inertia": [0.01] * 3, "position": [0.2 * k, 0, 1]}
        for k in range(4)
    ]
    joints = [
        {
            "name": f"j{k}",
            "type": "fixed",
            "parent": "world" if k == 0 else f"l{k - 1}",
            "child": f"l{k}",
            "breaking_force": 60.0 if k == 2 else 1000.0,
        }
        for k in range(4)
    ]
    sim = simulate(document([ground(), *links], joints, simulation={"dt": 1e-3}))
    sim.advance(100)
    assert sim.summary()["joints"]["broken"] == []
    sim.apply_wrench("l3", [0, 0, -100.0], [0, 0, 0], duration=0.01)
    sim.advance(1000)
    assert [one["joint"] for one in sim.summary()["joints"]["broken"]] == ["j2"]
    # two links fall as one, the others stay
    assert sim.poses()[1:3, 2] == pytest.approx([1.0, 1.0], abs=1e-5)
    assert np.linalg.norm(sim.poses()[3, :3] - sim.poses()[4, :3]) == pytest.approx(0.2, abs=1e-6)
    assert math.isfinite(sim.energy()["total"])
    assert sim.poses()[3, 2] < 0.0


def test_bodies_of_a_broken_joint_touch_from_then_on() -> None:
    # two boxes one above the other, with a gap, on a joint that does not bear the upper one
    boxes = [
        {"name": n, "mass": 1.0, "position": [0, 0, z], "shapes": [box]}
        for box in [{"type": "box", "size": [0.2, 0.2, 0.2]}]
        for n, z in (("low", 0.1), ("high", 0.5))
    ]
    weak: Document = {"name": "weak", "type": "fixed", "parent": "low", "child": "high"}
    weak |= {"breaking_force": 5.0}
    for keeps in (False, True):
        # a second joint, whole, keeps them from touching
        extra: Document = {"name": "extra", "type": "slider", "parent": "low", "child": "high"}
        extra |= {"axis": [0, 0, 1]}
        sim = simulate(
            document(
                [ground(), *boxes], [weak, extra] if keeps else [weak], simulation={"dt": 1e-3}
            )
        )
        saved = sim.snapshot()
        sim.advance(1000)
        assert sim.summary()["joints"]["broken"][0]["joint"] == "weak"
        height = sim.poses()[2, 2]
        assert height == pytest.approx(0.1 if keeps else 0.3, abs=2e-3)
        # restored, the joint is whole and excludes again
        sim.restore(saved)
        assert sim.summary()["joints"]["broken"] == []
        sim.advance(1000)
        assert sim.poses()[2, 2] == height


def test_a_break_is_an_event() -> None:
    strength = 2 * 9.81 + 5.0005
    sim = hung(strength)
    sim.watch_events()
    sim.advance(600)
    broken = sim.broken_joints()[0]
    events = sim.events()
    assert list(events["kind"]) == [2]
    event = events[0]
    assert (float(event["time"]), int(event["step"])) == (broken["time"], 501)
    assert [int(event[name]) for name in ("joint", "body_a", "body_b")] == [0, 1, 0]
    assert [int(event[name]) for name in ("shape_a", "shape_b")] == [-1, -1]
    # the hook held the stone up, at its origin
    assert [float(event[name]) for name in ("nx", "ny", "nz")] == pytest.approx([0, 0, 1])
    assert [float(event[name]) for name in ("px", "py", "pz")] == pytest.approx([0, 0, 0], abs=1e-5)
    assert float(event["approach_speed"]) == 0.0
    assert len(sim.events()) == 0


def test_breaks_are_recorded_among_contacts_by_name() -> None:
    """A stone that falls off its hook onto the floor."""
    stone = {
        "name": "stone", "mass": 2.0, "position": [0, 0, 0.2],
        "shapes": [{"type": "sphere", "radius": 0.1}],
    }  # fmt: skip
    hook = {
        "name": "hook", "type": "fixed", "parent": "world", "child": "stone", "breaking_force": 1.0,
    }  # fmt: skip
    scene = document(
        [ground(), stone], [hook], simulation={"dt": 1e-3, "duration": 0.3},
        record={"channels": ["pose", "events"]},
    )  # fmt: skip
    recording, _ = run(load_scene(scene))
    table = recording.tables()["events"]
    assert list(table["kind"][:2]) == ["break", "begin"]
    assert list(table["joint"][:2]) == ["hook", ""]
    assert list(table["body_a"][:2]) == ["world", "ground"]
    assert list(table["body_b"][:2]) == ["stone", "stone"]


@pytest.mark.parametrize("max_force", [None, 1e6])
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("start", [0.0, 0.1, 0.1003])
def test_a_drive_that_starts_at_once_strikes_as_one_with_a_bound(
    max_force: float | None, formulation: str, start: float
) -> None:
    """A cart of 1 kg with 10 kg on it has 1 m/s within a step of 1 ms: 10 kN on the weld.

    Tables, sensors and what breaks a joint knew nothing of it where the drive has no bound.
    """
    speed: Any = {"times": [0.0, start], "values": [0.0, 1.0], "interpolation": "step"}
    motor = {"type": "velocity", "target": speed if start > 0.0 else 1.0}
    motor |= {} if max_force is None else {"max_force": max_force}
    cart = {"name": "cart", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    load = {**cart, "name": "load", "mass": 10.0, "position": [1, 0, 0]}
    rail: Document = {"name": "rail", "type": "slider", "parent": "world", "child": "cart"}
    rail |= {"axis": [1, 0, 0], "motor": motor}
    weld: Document = {"name": "weld", "type": "fixed", "parent": "cart", "child": "load"}
    scene = document(
        [cart, load],
        [rail, weld],
        gravity=[0, 0, 0],
        simulation={"dt": 1e-3, "duration": 0.2, "formulation": formulation},
        sensors=[{"name": "weld", "type": "force_torque", "joint": "weld"},
                 {"name": "load", "type": "imu", "body": "load"}],
        record={"every": 1},
    )  # fmt: skip
    tables = run(load_scene(scene))[0].tables()
    joints, sensors, h = tables["joints"], tables["sensors"], 1e-3
    of_weld, of_rail = joints["joint"] == "weld", joints["joint"] == "rail"
    assert h * joints["fx"][of_weld].sum() == pytest.approx(10.0, rel=1e-5)
    assert h * joints["motor_force"][of_rail].sum() == pytest.approx(11.0, rel=1e-5)
    force, acceleration = (sensors["sensor"] == name for name in ("weld", "load"))
    assert sensors["fx"][force][1:] == pytest.approx(
        10.0 * sensors["ax"][acceleration][1:], abs=0.1
    )
    weld["breaking_force"] = 1e3
    broken = run(load_scene({**scene, "sensors": []}))[1]["joints"]["broken"]
    assert [one["joint"] for one in broken] == ["weld"]
    assert broken[0]["force"] == pytest.approx(1e4, rel=1e-5)


@pytest.mark.parametrize("stiffness", [None, 500.0])
@pytest.mark.parametrize("ends", ["force", "trigger", "vanishes"])
def test_a_coupling_ends_with_its_joints(stiffness: float | None, ends: str) -> None:
    """Two carts on vertical rails, of which one loses its rail: no error and no energy is left."""
    carts: list[Document] = [
        {"name": name, "mass": mass, "inertia": [0.1, 0.1, 0.1], "position": [mass, 0, 0]}
        for name, mass in (("light", 1.0), ("heavy", 2.0))
    ]
    rails: list[Document] = [
        {"name": f"rail of {cart['name']}", "type": "slider", "parent": "world",
         "child": cart["name"], "axis": [0, 0, 1]}
        for cart in carts
    ]  # fmt: skip
    terms = [{"joint": rail["name"], "factor": 1.0} for rail in rails]
    rope: Document = {"name": "rope", "type": "coupling", "terms": terms}
    rope |= {} if stiffness is None else {"stiffness": stiffness}
    more: Document = {}
    if ends == "force":
        rails[1]["breaking_force"] = 30.0
        aside = {"times": [0, 0.3], "values": [[0, 0, 0], [50, 0, 0]], "interpolation": "step"}
        more["forces"] = [{"type": "wrench", "body": "heavy", "force": aside}]
    elif ends == "trigger":
        cut = {"op": "break_joint", "joint": rails[1]["name"]}
        more["triggers"] = [{"name": "cut", "when": {"type": "time", "at": 0.3}, "do": [cut]}]
    else:
        carts[1]["vanishes"] = 0.3
    scene = document(carts, [*rails, rope], simulation={"dt": 1e-3, "duration": 0.6}, **more)
    recording, summary = run(load_scene(scene))
    assert summary["verdict"] == {"status": "trusted", "findings": []}
    assert summary["joints"]["max_position_error"] < 1e-9
    assert summary["energy"]["balance_error"] < 1e-9
    if stiffness is None and ends != "force":
        # 0.3 s upwards with g/3, 0.3 s of free fall
        assert recording.tables()["bodies"]["pz"][-2] == pytest.approx(0.0, abs=1e-9)


def test_a_blow_that_breaks_a_joint_with_smaller_steps_makes_a_run_suspect() -> None:
    """A cart runs into the stop of its rail: the force of the blow is its impulse over the step.

    Without its rail it would fall."""
    cart: Document = {"name": "cart", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    rail: Document = {"name": "rail", "type": "slider", "parent": "world", "child": "cart"}
    rail |= {"axis": [1, 0, 0], "limits": {"upper": 0.2}, "initial": {"velocity": 1.0}}
    found = {}
    for strength in (150.0, 2000.0):
        rail["breaking_force"] = strength
        scene = document([cart], [rail], simulation={"dt": 0.01, "duration": 1})
        summary = run(load_scene(scene))[1]
        assert summary["joints"]["broken"] == []
        found[strength] = summary["verdict"]["status"]
    assert found == {150.0: "suspect", 2000.0: "trusted"}


@pytest.mark.parametrize("rope", [False, True])
@pytest.mark.parametrize("way", [0.1, 0.1004, 0.1006])
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_blow_that_breaks_its_joint_is_whole(formulation: str, way: float, rope: bool) -> None:
    """Wherever in the step a stop or a rope's end is met, it takes all of 2 kg m/s, then breaks."""
    cart: Document = {"name": "cart", "mass": 2.0, "inertia": [0.1] * 3}
    cart["linear_velocity"] = [1.0, 0, 0]
    end: Document = {"name": "end", "type": "slider", "parent": "world", "child": "cart"}
    end |= {"axis": [1, 0, 0], "limits": {"upper": way}, "breaking_force": 50.0}
    if rope:
        end |= {"type": "distance", "anchor": [-1, 0, 0], "anchor2": [0, 0, 0]}
        end["limits"] = {"upper": 1.0 + way}
        del end["axis"]
    options = {"dt": 1e-3, "duration": 0.3, "formulation": formulation}
    recording, summary = run(
        load_scene(document([cart], [end], gravity=[0, 0, 0], simulation=options))
    )
    assert summary["verdict"]["status"] == "trusted"
    [broken] = summary["joints"]["broken"]
    assert broken["force"] == pytest.approx(2000.0, rel=1e-9)
    assert recording.tables()["bodies"]["vx"][-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("through", ["fixed", "ball"])
@pytest.mark.parametrize("gap", [0.85, 0.851, 0.8543])
@pytest.mark.parametrize(
    ("formulation", "law"),
    [("maximal", "newton"), ("maximal", "poisson"), ("maximal", "propagating"),
     ("reduced", "newton")],
)  # fmt: skip
def test_a_ball_that_breaks_a_joint_gives_it_all_it_has(
    formulation: str, law: str, gap: float, through: str
) -> None:
    """The plate that is struck hangs on a bracket, whose weld takes 1 N s, then breaks.

    The ball gave a part of it when it came near, and the plate, free then, the rest."""
    ball: Document = {"name": "ball", "mass": 0.1, "position": [-0.15 - gap, 0, 0]}
    ball |= {"linear_velocity": [10.0, 0, 0], "shapes": [{"type": "sphere", "radius": 0.05}]}
    plate: Document = {
        "name": "plate",
        "mass": 1.0,
        "shapes": [{"type": "box", "size": [0.2, 1, 1]}],
    }
    bracket: Document = {"name": "bracket", "mass": 0.5, "inertia": [0.01] * 3}
    bracket["position"] = [0.2, 0, 0]
    weld: Document = {"name": "weld", "type": "fixed", "parent": "world", "child": "bracket"}
    weld |= {"breaking_force": 50.0}
    link: Document = {"name": "link", "type": through, "parent": "bracket", "child": "plate"}
    link["anchor"] = [0.1, 0, 0]
    options: Document = {"dt": 2.5e-3, "duration": 0.3, "formulation": formulation}
    options["contact"] = {"restitution_law": law}
    scene = document([ball, plate, bracket], [weld, link], gravity=[0, 0, 0], simulation=options)
    summary, sim = run(load_scene(scene))[1], simulate(scene)
    sim.advance(sim.total_steps)
    [broken] = summary["joints"]["broken"]
    assert broken["joint"] == "weld"
    assert broken["force"] == pytest.approx(1.0 / 2.5e-3, rel=1e-6)
    assert sim.velocities()[:, 0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


@pytest.mark.parametrize("strength", [5e3, 1e4])
def test_blows_that_break_nothing_close_the_gap(strength: float) -> None:
    """8003 N: on a shelf whose weld holds that, and on a floor beside one that does not."""
    size = [1, 1, 0.1]
    shelf: Document = {"name": "shelf", "mass": 1.0, "shapes": [{"type": "box", "size": size}]}
    weld: Document = {"name": "weld", "type": "fixed", "parent": "world", "child": "shelf"}
    weld["breaking_force"] = strength
    balls: list[Document] = [
        {"name": f"ball {x:g}", "mass": 1.0, "position": [x, 0, 0.8],
         "linear_velocity": [0, 0, -8.003], "shapes": [{"type": "sphere", "radius": 0.05}]}
        for x in (0.0, 2.0)
    ]  # fmt: skip
    floor = ground()
    floor["position"] = [0, 0, 0.05]
    sim = simulate(
        document([shelf, *balls, floor], [weld], gravity=[0, 0, 0], simulation={"dt": 1e-3})
    )
    sim.advance(100)
    on_shelf, on_floor = sim.poses()[1:3, 2]
    assert on_floor == pytest.approx(0.1, abs=1e-9)
    broken = sim.summary()["joints"]["broken"]
    if strength > 8003.0:
        assert broken == []
        assert on_shelf == pytest.approx(0.1, abs=1e-9)
    else:
        assert broken[0]["force"] == pytest.approx(8003.0, rel=1e-6)
        assert 1e-4 < on_shelf - 0.1 < 8.003e-3
