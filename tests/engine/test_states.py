"""States by joint coordinates: where joints start, what is read and set, and open loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Dynamics, SceneError, Simulation
from cardan.engine.interaction.states import of_unit_length
from cardan.schemas import load_scene, scene_warnings
from tests.engine.scenes import Document, brick, document, ground, simulate
from tests.engine.trees.trees import random_scene

FORMULATIONS = ("maximal", "reduced")
COUNTS = {"ball": 3, "planar": 3, "universal": 2, "hinge2": 2, "cylindrical": 2, "fixed": 0}


def with_starts(seed: int, floating: bool, formulation: str) -> tuple[Document, dict[str, Any]]:
    """A random tree whose joints all have initial coordinates and velocities, and these."""
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, 9, floating=floating)
    scene["simulation"] = {"formulation": formulation, "dt": 1e-4}
    starts: dict[str, Any] = {}
    for joint in scene["joints"]:
        n = COUNTS.get(joint["type"], 1)
        if n == 0:
            continue
        values = rng.uniform(-1.0, 1.0, (2, n))
        position, velocity = values.tolist() if n > 1 else values[:, 0].tolist()
        joint["initial"] = {"position": position, "velocity": velocity}
        starts[joint["name"]] = values
    return scene, starts


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("floating", [False, True])
def test_joints_of_every_kind_start_where_they_are_put(floating: bool, formulation: str) -> None:
    for seed in range(3):
        scene, starts = with_starts(seed, floating, formulation)
        simulation = simulate(scene)
        errors = simulation.placement.errors(simulation.state)
        assert np.abs(errors).max() < 1e-12
        table = simulation.joint_table()
        kinds = {joint["name"]: joint["type"] for joint in scene["joints"]}
        for name, values in starts.items():
            rows = table[table["joint"] == simulation.joint_names.index(name)]
            assert rows["q"] == pytest.approx(values[0], abs=1e-12)
            if kinds[name] == "ball":
                # a table has the angular velocity along axes fixed in the parent, as `initial`
                assert rows["qd"] == pytest.approx(values[1], abs=1e-12)
            else:
                assert rows["qd"] == pytest.approx(values[1], abs=1e-11)


@pytest.mark.parametrize("floating", [False, True])
def test_bodies_are_where_forward_kinematics_puts_them(floating: bool) -> None:
    scene, _ = with_starts(7, floating, "maximal")
    simulation = simulate(scene)
    q, qd = simulation.joint_state()
    plain = {
        **scene,
        "joints": [{k: v for k, v in j.items() if k != "initial"} for j in scene["joints"]],
    }
    tree = Dynamics(load_scene(plain))
    assert tree.coordinates == simulation.coordinates
    found = tree.kinematics(q, qd)
    assert simulation.poses()[:, :3] == pytest.approx(found["position"], abs=1e-12)
    assert simulation.velocities()[:, :3] == pytest.approx(found["velocity"], abs=1e-11)
    assert simulation.velocities()[:, 3:] == pytest.approx(found["angular_velocity"], abs=1e-11)


def pendulum(**hinge: Any) -> Document:
    """A bar of 1 m on a hinge at the origin, hanging; heavy at its middle."""
    bar = {"name": "bar", "mass": 2.0, "position": [0, 0, -0.5], "inertia": [0.2, 0.2, 0.01]}
    pin = {"name": "pin", "type": "hinge", "parent": "world", "child": "bar"}
    return document([bar], [pin | {"anchor": [0, 0, 0], "axis": [0, 1, 0], **hinge}])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_run_from_initial_coordinates_is_that_from_moved_bodies(formulation: str) -> None:
    angle, speed = 0.7, -1.3
    scene = pendulum(initial={"position": angle, "velocity": speed})
    scene["simulation"] |= {"formulation": formulation}
    placed = pendulum()
    place = [-0.5 * math.sin(angle), 0, -0.5 * math.cos(angle)]
    placed["bodies"][0] |= {
        "position": place,
        "orientation": [math.cos(0.5 * angle), 0, math.sin(0.5 * angle), 0],
        "angular_velocity": [0, speed, 0],
        "linear_velocity": np.cross([0, speed, 0], place).tolist(),
    }
    placed["simulation"] |= {"formulation": formulation}
    one, other = simulate(scene), simulate(placed)
    one.advance(300), other.advance(300)
    assert one.poses() == pytest.approx(other.poses(), abs=1e-9)
    assert one.joint_table()["q"] == pytest.approx(other.joint_table()["q"] + angle, abs=1e-9)
    assert one.summary()["energy"]["max_relative_drift"] < 1e-4


def test_turns_beyond_a_half_are_kept() -> None:
    simulation = simulate(pendulum(initial={"position": 20.0}))
    assert simulation.joint_table()["q"][0] == pytest.approx(20.0)
    simulation.advance(1)
    assert simulation.joint_table()["q"][0] == pytest.approx(20.0, abs=1e-3)


def wheels(first: float, second: float, ratio: float = -2.5) -> Document:
    """Two wheels on hinges, joined by a gear."""
    bodies = [brick("sun"), brick("planet", position=[1, 0, 0])]
    joints: list[Document] = [
        {"name": "a", "type": "hinge", "parent": "world", "child": "sun", "anchor": [0, 0, 0]},
        {"name": "b", "type": "hinge", "parent": "world", "child": "planet", "anchor": [1, 0, 0]},
    ]
    for joint, start in zip(joints, (first, second), strict=True):
        joint |= {"axis": [0, 0, 1], "initial": {"position": start}}
    gear = {"name": "mesh", "type": "gear", "parent": "sun", "child": "planet", "ratio": ratio}
    return document(bodies, [*joints, gear | {"axis": [0, 0, 1]}])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_gear_fits_over_whole_turns(formulation: str) -> None:
    scene = wheels(8.0, -20.0)
    scene["simulation"] |= {"formulation": formulation}
    simulation = simulate(scene)
    simulation.advance(20)
    table = simulation.joint_table()
    assert table["q"][0] == pytest.approx(8.0, abs=1e-3)
    assert table["q"][1] == pytest.approx(-20.0, abs=3e-3)


def test_a_gear_that_does_not_fit_is_named_with_its_error() -> None:
    with pytest.raises(SceneError) as found:
        simulate(wheels(8.0, -19.5))
    fault = found.value.errors[0]
    assert (fault.pointer, fault.code) == ("/joints/2", "loop_open")
    assert "'mesh'" in fault.message
    assert "0.5 rad" in fault.message


def four_bar(crank: float, rocker: float | None = None, **coupler: Any) -> Document:
    """A parallelogram of three bars: the crank and the rocker turn alike, the coupler does not."""
    bodies = [brick("crank", position=[0, 0, 0.5]), brick("coupler", position=[0.5, 0, 1])]
    bodies.append(brick("rocker", position=[1, 0, 0.5]))
    joints: list[Document] = [
        {"name": "a", "parent": "world", "child": "crank", "anchor": [0, 0, 0]},
        {"name": "b", "parent": "crank", "child": "coupler", "anchor": [0, 0, 1]},
        {"name": "c", "parent": "coupler", "child": "rocker", "anchor": [1, 0, 1]},
        {"name": "d", "parent": "world", "child": "rocker", "anchor": [1, 0, 0]},
    ]
    starts = {"a": crank, "b": -crank, "c": crank if rocker is None else rocker}
    for joint in joints:
        joint |= {"type": "hinge", "axis": [0, 1, 0]}
        if joint["name"] in starts:
            joint["initial"] = {"position": starts[str(joint["name"])]}
    joints[1] |= coupler
    return document(bodies, joints)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_loop_that_closes_starts(formulation: str) -> None:
    scene = four_bar(0.4)
    scene["simulation"] |= {"formulation": formulation}
    simulation = simulate(scene)
    assert simulation.joint_table()["q"] == pytest.approx([0.4, -0.4, 0.4, 0.4], abs=1e-12)
    simulation.advance(10)
    assert simulation.failure is None


def test_a_loop_that_does_not_close_names_the_joint_and_the_gap() -> None:
    with pytest.raises(SceneError) as found:
        simulate(four_bar(0.4, 0.6))
    fault = found.value.errors[0]
    assert (fault.pointer, fault.code) == ("/joints/3", "loop_open")
    # the rocker of 1 m is turned by 0.2 rad about the joint above it
    assert f"{2 * math.sin(0.1):.6g} m" in fault.message


def test_the_coordinate_of_a_loop_joint_is_checked_against_the_others() -> None:
    scene = four_bar(0.4)
    scene["joints"][3]["initial"] = {"position": 0.4}
    simulate(scene)
    scene["joints"][3]["initial"] = {"position": 0.5, "velocity": 0.0}
    with pytest.raises(SceneError) as found:
        simulate(scene)
    assert {fault.code for fault in found.value.errors} == {"initial_outside_tree"}
    assert "is 0.4, not 0.5" in " ".join(fault.message for fault in found.value.errors)


def test_velocities_of_bodies_and_of_their_joints_are_one_too_many() -> None:
    scene = pendulum(initial={"velocity": 1.0})
    scene["bodies"][0]["linear_velocity"] = [0, 0, 1]
    with pytest.raises(SceneError) as found:
        simulate(scene)
    assert found.value.errors[0].code == "velocity_twice"
    # a position alone leaves velocities as the scene has them, in W
    scene["joints"][0]["initial"] = {"position": 1.0}
    assert simulate(scene).velocities()[0, :3] == pytest.approx([0, 0, 1])


def test_a_start_beyond_a_limit_is_a_warning() -> None:
    inside = pendulum(initial={"position": 0.5}, limits={"lower": 0.2, "upper": 0.6})
    assert scene_warnings(load_scene(inside)) == []
    beyond = pendulum(initial={"position": 0.7}, limits={"lower": 0.2, "upper": 0.6})
    assert [w.code for w in scene_warnings(load_scene(beyond))] == ["starts_beyond_limit"]
    degrees = pendulum(initial={"position": 90})
    assert [w.code for w in scene_warnings(load_scene(degrees))] == ["looks_like_degrees"]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_what_is_read_can_be_set(formulation: str) -> None:
    scene, _ = with_starts(4, True, formulation)
    simulation = simulate(scene)
    simulation.advance(20)
    state, poses, velocities = simulation.joint_state(), simulation.poses(), simulation.velocities()
    simulation.advance(50)
    simulation.set_state(state.q, state.qd)
    assert simulation.poses() == pytest.approx(poses, abs=1e-7)
    assert simulation.velocities() == pytest.approx(velocities, abs=1e-6)
    again = simulation.joint_state()
    assert again.q == pytest.approx(state.q, abs=1e-12)
    assert again.qd == pytest.approx(state.qd, abs=1e-10)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_reset_has_the_same_bits_whatever_came_before(formulation: str) -> None:
    scene = pendulum()
    scene["simulation"] |= {"formulation": formulation}
    scene["bodies"].append(ground())
    simulation = simulate(scene)
    fresh = simulation.state_hash()
    hashes = set()
    for before in (0, 3, 40):
        simulation.advance(before)
        simulation.reset({"pin": 0.6}, {"pin": [-2.0]})
        assert simulation.step_count == 0
        simulation.advance(30)
        hashes.add(simulation.state_hash())
    assert len(hashes) == 1
    simulation.reset()
    assert simulation.state_hash() == fresh
    assert Simulation(simulation.scene).state_hash() == fresh


def test_a_state_that_is_set_is_booked_as_work_from_outside() -> None:
    simulation = simulate(pendulum(damping=0.1))
    simulation.advance(100)
    simulation.set_state({"pin": 2.0}, {"pin": 3.0})
    simulation.advance(400)
    assert simulation.energy()["work_in"] > 2.0
    assert simulation.summary()["energy"]["max_relative_drift"] < 1e-3


@pytest.mark.parametrize(
    ("q", "qd", "words"),
    [
        ({"pins": 1.0}, None, "no joint 'pins'"),
        ({"pin": [1.0, 2.0]}, None, "q of joint 'pin' must be 1 finite number"),
        ({"pin": "far"}, None, "must be 1 finite number"),
        (None, {"pin": math.nan}, "qd of joint 'pin'"),
        ([1.0, 2.0], None, "q must be 1 finite number"),
    ],
)
def test_values_that_do_not_fit_change_nothing(q: Any, qd: Any, words: str) -> None:
    simulation = simulate(pendulum())
    before = simulation.state_hash()
    with pytest.raises(ValueError, match=words.replace("[", r"\[")):
        simulation.set_state(q, qd)
    assert simulation.state_hash() == before


def test_a_state_that_opens_a_loop_is_refused_and_changes_nothing() -> None:
    simulation = simulate(four_bar(0.4))
    before = simulation.state_hash()
    with pytest.raises(ValueError, match="Joint 'd' does not close"):
        simulation.set_state({"a": 0.6})
    assert simulation.state_hash() == before
    simulation.set_state({"a": 0.6, "b": -0.6, "c": 0.6})
    assert simulation.joint_table()["q"][3] == pytest.approx(0.6, abs=1e-12)
    with pytest.raises(ValueError, match="'d' closes a loop"):
        simulation.set_state({"d": 0.7})
    simulation.set_state({"a": 0.5, "b": -0.5, "c": 0.5, "d": 0.5})
    rest = {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}
    simulation.set_state({"a": 0.4, "b": -0.4, "c": 0.4, "d": 0.4}, rest)
    with pytest.raises(ValueError, match=r"'d' closes a loop .* moves at \[0.0\], not \[0.1\]"):
        simulation.set_state(None, {"d": 0.1})
    simulation.set_state(None, {"a": 0.1, "b": -0.1, "c": 0.1, "d": 0.1})
    assert simulation.joint_table()["qd"] == pytest.approx([0.1, -0.1, 0.1, 0.1])


def test_after_a_joint_broke_its_coordinates_are_no_state() -> None:
    simulation = simulate(pendulum(breaking_force=1.0))
    simulation.advance(5)
    with pytest.raises(ValueError, match="joint 'pin' broke"):
        simulation.set_state({"pin": 0.1})
    simulation.reset({"pin": 0.1})
    assert simulation.joint_table()["q"][0] == pytest.approx(0.1)


def test_quaternions_are_divided_by_their_length_once() -> None:
    q = np.random.default_rng(4).standard_normal((100_000, 4))
    once = of_unit_length(q, np.linalg.norm(q, axis=-1))
    assert np.abs(np.linalg.norm(once, axis=-1) - 1.0).max() < 4e-16
    assert of_unit_length(once, np.linalg.norm(once, axis=-1)).tobytes() == once.tobytes()
    for row in once[:2000]:
        assert of_unit_length(row, float(np.linalg.norm(row))).tobytes() == row.tobytes()
