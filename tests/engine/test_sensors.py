"""Sensors against closed forms: specific force, joint and contact forces, distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation, run
from cardan.engine.runs.recording import Recording
from cardan.schemas import SceneInvalid, load_scene
from tests.engine.scenes import document, ground, simulate

pytestmark = pytest.mark.reference

G, H = 10.0, 0.002
HALF = math.sqrt(0.5)
BOTH = pytest.mark.parametrize("formulation", ["maximal", "reduced"])
CUBE = {"type": "box", "size": [0.4, 0.4, 0.4]}
Document = dict[str, Any]


def values(simulation: Simulation, name: str) -> list[float]:
    return list(simulation.sensors()[name].values())


def scene_of(bodies: list[Document], sensors: list[Document], **more: Any) -> Document:
    simulation = {"dt": H, **more.pop("simulation", {})}
    gravity = more.pop("gravity", [0, 0, -G])
    joints = more.pop("joints", None)
    return document(bodies, joints, sensors=sensors, gravity=gravity, simulation=simulation, **more)


def resting() -> Document:
    """A cube of 3 kg on another of 2 kg on the ground."""
    cubes = [
        {"name": name, "mass": mass, "position": [0, 0, z], "shapes": [CUBE]}
        for name, mass, z in (("low", 2.0, 0.2), ("high", 3.0, 0.6))
    ]
    sensors: list[Document] = [
        {"name": "all", "type": "contact_force", "body": "low"},
        {"name": "above", "type": "contact_force", "body": "low", "other": "high"},
        {"name": "floor", "type": "contact_force", "body": "ground", "other": "low"},
        # its y is the z of the body
        {"name": "imu", "type": "imu", "body": "high", "orientation": [HALF, HALF, 0, 0]},
    ]
    return scene_of([ground(), *cubes], sensors)


def test_what_rests_reads_gravity_and_weights() -> None:
    simulation = simulate(resting())
    assert np.isnan(values(simulation, "all")).all()
    simulation.advance(50)
    assert values(simulation, "imu") == pytest.approx([0, G, 0, 0, 0, 0], abs=1e-6)
    assert values(simulation, "all")[:3] == pytest.approx([0, 0, 2.0 * G], abs=1e-6)
    assert values(simulation, "above")[:3] == pytest.approx([0, 0, -3.0 * G], abs=1e-6)
    assert values(simulation, "floor")[:3] == pytest.approx([0, 0, -5.0 * G], abs=1e-6)


def test_a_contact_force_has_its_torque_about_the_origin() -> None:
    """A cube whose mass is off its middle loads the floor there."""
    cube = {"name": "cube", "mass": 2.0, "position": [0, 0, 0.2], "center_of_mass": [0.1, 0, 0]}
    cube |= {"inertia": [0.1, 0.1, 0.1], "shapes": [CUBE]}
    sensor = {"name": "feet", "type": "contact_force", "body": "cube", "axes": "body"}
    simulation = simulate(scene_of([ground(), cube], [sensor]))
    simulation.advance(50)
    weight = 2.0 * G
    expected = [0, 0, weight, 0, -0.1 * weight, 0]
    assert values(simulation, "feet") == pytest.approx(expected, abs=1e-5)


@BOTH
def test_a_turning_arm_reads_its_centripetal_acceleration(formulation: str) -> None:
    rate, radius = 3.0, 0.7
    arm = {"name": "arm", "mass": 2.0, "inertia": [0.1, 0.2, 0.3], "position": [0.3, 0, 0]}
    pin: Document = {"name": "pin", "type": "hinge", "parent": "world", "child": "arm"}
    pin |= {"axis": [0, 0, 1]}
    pin |= {"anchor": [0, 0, 0], "initial": {"velocity": rate}}
    sensor = {"name": "imu", "type": "imu", "body": "arm", "position": [radius - 0.3, 0, 0]}
    simulation = simulate(
        scene_of(
            [arm],
            [sensor],
            joints=[pin],
            gravity=[0, 0, 0],
            simulation={"formulation": formulation},
        )
    )
    simulation.advance(123)
    # the mean of a vector that turns by rate H
    mean = rate**2 * radius * math.sin(0.5 * rate * H) / (0.5 * rate * H)
    # bodies in maximal coordinates fly straight between kicks: an error of the order (rate H)^2
    error = 0.5 * (rate * H) ** 2 if formulation == "maximal" else 2e-8
    assert values(simulation, "imu") == pytest.approx([-mean, 0, 0, 0, 0, rate], abs=error)


def test_what_falls_reads_nothing_but_its_turn() -> None:
    ball = {"name": "ball", "mass": 1.0, "inertia": [1, 1, 1], "angular_velocity": [0, 0.5, 2]}
    ball["orientation"] = [HALF, 0, HALF, 0]
    simulation = simulate(scene_of([ball], [{"name": "imu", "type": "imu", "body": "ball"}]))
    simulation.advance(200)
    # W turned by -90 degrees about y
    assert values(simulation, "imu") == pytest.approx([0, 0, 0, -2, 0.5, 0], abs=1e-9)


@BOTH
def test_joints_hand_on_all_that_holds_their_child(formulation: str) -> None:
    """A beam on a servo: the sensor bears its weight and its moment, which the drive gives."""
    mass, length = 2.0, 0.6
    beam = {"name": "beam", "mass": mass, "inertia": [0.1, 0.2, 0.3], "position": [length, 0, 0]}
    pin: Document = {"name": "pin", "type": "hinge", "parent": "world", "child": "beam"}
    pin |= {"anchor": [0, 0, 0], "axis": [0, 1, 0]}
    pin["motor"] = {"type": "velocity", "target": 0.0, "max_force": 1e3}
    tip = {"name": "tip", "mass": 0.5, "inertia": [0.1, 0.1, 0.1], "position": [1, 0, 0]}
    weld: Document = {"name": "weld", "type": "fixed", "parent": "beam", "child": "tip"}
    weld["anchor"] = [0.8, 0, 0]
    sensors = [
        {"name": "base", "type": "force_torque", "joint": "pin"},
        {"name": "wrist", "type": "force_torque", "joint": "weld", "axes": "body"},
    ]
    simulation = simulate(
        scene_of([beam, tip], sensors, joints=[pin, weld], simulation={"formulation": formulation})
    )
    simulation.advance(100)
    moment = -G * (mass * length + 0.5 * 1.0)
    expected = [0, 0, 2.5 * G, 0, moment, 0]
    assert values(simulation, "base") == pytest.approx(expected, abs=1e-6)
    expected = [0, 0, 0.5 * G, 0, -0.5 * G * 0.2, 0]
    assert values(simulation, "wrist") == pytest.approx(expected, abs=1e-6)


def test_a_ray_meets_a_plane_and_not_its_own_body() -> None:
    angle = 0.4
    cube = {"name": "cube", "mass": 1.0, "position": [0, 0, 5], "shapes": [CUBE]}
    cube["orientation"] = [math.cos(0.5 * angle), math.sin(0.5 * angle), 0, 0]
    down = {"type": "ray", "body": "cube", "direction": [0, 0, -2]}
    sensors: list[Document] = [
        {"name": "height", **down},
        {"name": "short", **down, "max_distance": 1.0},
        {"name": "gate", "type": "ray", "body": "world", "position": [-3, 0, 5]}
        | {"direction": [1, 0, 0]},
    ]
    simulation = simulate(scene_of([ground(), cube], sensors))
    assert values(simulation, "height") == pytest.approx([5.0 / math.cos(angle)])
    assert math.isnan(values(simulation, "short")[0])
    assert values(simulation, "gate") == pytest.approx([2.8])
    simulation.advance(100)
    fallen = 5.0 - 0.5 * G * (100 * H) ** 2
    assert values(simulation, "height") == pytest.approx([fallen / math.cos(angle)])


def test_recordings_have_the_readings_and_the_same_motion() -> None:
    scene = resting() | {"record": {"every": 7}}
    scene["simulation"]["duration"] = 40 * H
    recording, summary = run(load_scene(scene))
    table = recording.tables()["sensors"]
    assert list(table)[:4] == ["time", "step", "force_time", "sensor"]
    assert set(table["step"]) == {0, 7, 14, 21, 28, 35, 40}
    assert len(table["step"]) == 7 * 4
    by_hand = simulate(scene)
    for step in (7, 14):
        by_hand.advance(7)
        here = (table["step"] == step) & (table["sensor"] == "all")
        found = [table[name][here][0] for name in ("fx", "fy", "fz", "tx", "ty", "tz")]
        assert found == values(by_hand, "all")
    assert np.isnan(table["fz"][table["step"] == 0]).all()
    assert np.isnan(table["distance"]).all()
    # measuring changes nothing
    deaf, without = run(load_scene({**scene, "sensors": []}))
    assert without["state_hash"] == summary["state_hash"]
    assert "sensors" not in deaf.tables()
    quiet = {"record": {"every": 7, "channels": ["pose"]}}
    assert "sensors" not in run(load_scene(scene | quiet))[0].tables()


def test_readings_go_on_after_a_checkpoint() -> None:
    scene = resting()
    scene["simulation"]["duration"] = 30 * H
    whole, _ = run(load_scene(scene))
    due = np.arange(0, 31, 10)
    first = simulate(scene)
    recording = Recording(first, due[1:])
    recording.observe()
    first.advance(15)
    part, snapshot = recording.part((0, 0)), first.snapshot()
    second = simulate(scene)
    second.restore(snapshot)
    assert np.isnan(values(second, "all")).all()
    resumed = Recording(second, due[1:])
    resumed.restore([part])
    second.advance(15)
    ours, theirs = whole.tables()["sensors"], resumed.tables()["sensors"]
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_without_collisions_bodies_pass_and_rays_still_meet_them() -> None:
    scene = resting()
    scene["simulation"]["collisions"] = False
    scene["sensors"].append({"name": "ray", "type": "ray", "body": "high", "direction": [0, 0, -1]})
    simulation = simulate(scene)
    assert values(simulation, "ray") == pytest.approx([0.2])
    simulation.advance(100)
    assert len(simulation.contact_table()) == 0
    assert simulation.poses()[2, 2] == pytest.approx(0.6 - 0.5 * G * (100 * H) ** 2)
    assert values(simulation, "all") == [0.0] * 6


def test_integrators_of_smooth_motion_have_readings_too() -> None:
    length, angle = 0.8, 0.5
    bob = {"name": "bob", "mass": 1.0, "inertia": [1e-6] * 3, "position": [0, 0, -length]}
    pin: Document = {"name": "pin", "type": "hinge", "parent": "world", "child": "bob"}
    pin |= {"axis": [0, 1, 0]}
    pin |= {"anchor": [0, 0, 0], "initial": {"position": angle}}
    sensor = {"name": "imu", "type": "imu", "body": "bob"}
    more = {"formulation": "reduced", "integrator": "rk4", "duration": 100 * H}
    scene = scene_of([bob], [sensor], joints=[pin], simulation=more) | {"record": {"every": 1}}
    recording, _ = run(load_scene(scene))
    table, bodies = recording.tables()["sensors"], recording.tables()["bodies"]
    height = bodies["pz"] + length
    # along the string: g cos + v^2/l with v^2/2 = g (h0 - h); across it nothing pulls
    speed2 = 2.0 * G * (height[0] - height)
    along = G * (1.0 - height / length) + speed2 / length
    mean = 0.5 * (along[1:] + along[:-1])
    # a mean of two ends is as good as H^2 allows
    assert table["az"][1:] == pytest.approx(mean, abs=5e-5)
    assert table["ax"][1:] == pytest.approx(np.zeros(100), abs=2e-4)


@pytest.mark.parametrize(
    ("sensor", "pointer", "said"),
    [
        ({"name": "s", "type": "imu", "body": "lwo"}, "/sensors/0/body", "lwo"),
        ({"name": "s", "type": "imu", "body": "world"}, "/sensors/0/body", "world"),
        ({"name": "s", "type": "force_torque", "joint": "pin"}, "/sensors/0/joint", "pin"),
        ({"name": "all", "type": "sonar"}, "/sensors/0/type", "sonar"),
        (
            {"name": "s", "type": "ray", "body": "low", "direction": [0, 0, 0]},
            "/sensors/0/direction",
            "length zero",
        ),
        ({"name": "all", "type": "imu", "body": "low"}, "/sensors/1/name", "taken"),
    ],
)
def test_bad_sensors_are_refused_by_name(sensor: Document, pointer: str, said: str) -> None:
    scene = resting()
    scene["sensors"] = [sensor, scene["sensors"][0]]
    with pytest.raises(SceneInvalid) as caught:
        load_scene(scene)
    fault = next(fault for fault in caught.value.errors if fault.pointer == pointer)
    assert said in fault.message


def test_what_sleeps_still_weighs() -> None:
    """Every reading of the plate below a crate that falls asleep is its weight, from 0.2 s on."""
    crate = {"name": "crate", "mass": 2.0, "position": [0.3, 0, 0.2], "shapes": [CUBE]}
    bob = {"name": "bob", "mass": 1.0, "position": [3, 0, 1], "inertia": [0.1] * 3}
    pin = {"name": "pin", "type": "hinge", "parent": "world", "child": "bob", "anchor": [3, 0, 2]}
    sensors = [
        {"name": "plate", "type": "contact_force", "body": "ground"},
        {"name": "feet", "type": "contact_force", "body": "crate", "other": "ground"},
        {"name": "pin", "type": "force_torque", "joint": "pin"},
    ]
    scene = scene_of(
        [ground(), crate, bob],
        sensors,
        joints=[pin | {"axis": [0, 1, 0]}],
        simulation={"sleeping": {"enabled": True, "time": 0.3}},
    )
    simulation = simulate(scene)
    simulation.advance(100)
    weight, asleep = 2.0 * G, 0
    for _ in range(200):
        simulation.advance(1)
        assert values(simulation, "plate")[:3] == pytest.approx([0, 0, -weight], abs=1e-6)
        assert values(simulation, "plate")[4] == pytest.approx(0.3 * weight, rel=1e-6)
        assert values(simulation, "feet") == pytest.approx([0, 0, weight, 0, 0, 0], abs=1e-6)
        asleep += simulation.asleep()[1]
        held = values(simulation, "pin")[2]
        assert math.isnan(held) if simulation.asleep()[2] else held == pytest.approx(G)
    assert 100 < asleep < 200
