"""What dampers forget, what drives carry and prescribe, and impacts that others pass on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benchmarks.trust import blows
from benchmarks.trust.case import G
from cardan.engine import Simulation
from cardan.engine.accounting.body_records import (
    AIM_V,
    BOUND_STEP,
    IMPACTS,
    MOST_AIM,
    MOST_EARLY,
)
from cardan.engine.build.damped import kept_shares
from cardan.engine.build.mobility import prescribed_bodies
from cardan.engine.build.revolution import spin_axes
from cardan.engine.verdict.estimates import variations
from cardan.schemas import load_scene
from tests.engine.scenes import document, ground

Document = dict[str, Any]
H = 0.01


def rotor(name: str, inertia: float, **more: Any) -> Document:
    return {"name": name, "mass": 1.0, "inertia": [inertia] * 3, **more}


def hinge(child: str, parent: str = "world", **more: Any) -> Document:
    where = {"anchor": [0, 0, 0], "axis": [0, 0, 1]}
    return {"name": f"{parent}-{child}", "type": "hinge", "parent": parent, "child": child} | (
        where | more
    )


def drive(k: float, d: float, **more: Any) -> Document:
    return {"type": "position", "target": 0.0, "stiffness": k, "damping": d, **more}


def started(bodies: list[Document], joints: list[Document], **more: Any) -> Simulation:
    simulation = {"dt": H, "duration": 1.0, **more.pop("simulation", {})}
    return Simulation(load_scene(document(bodies, joints, simulation=simulation, **more)))


def shares(simulation: Simulation) -> list[float]:
    kept, _ = kept_shares(simulation.model, simulation.state, H)
    found: list[float] = kept.tolist()
    return found


@pytest.mark.parametrize(
    ("k", "d", "rate"), [(1000.0, 4.0, 0.5 * 4.0 / 2.0 / 0.5), (10.0, 40.0, 0.5 * 10.0 / 40.0)]
)
@pytest.mark.parametrize("as_spring", [True, False])
def test_a_damped_joint_forgets_as_its_slowest_motion_does(k, d, rate, as_spring):
    law = {"spring": {"stiffness": k, "damping": d}} if as_spring else {"motor": drive(k, d)}
    one = started([rotor("arm", 0.5)], [hinge("arm") | law])
    assert shares(one)[0] == pytest.approx(math.exp(-rate * H))


def test_what_hardly_outweighs_gravity_forgets_slowly_or_never():
    found = []
    for k in (9.0, 10.0, 1000.0):
        pole = {**rotor("pole", 1e-3), "position": [0, 0, 1.0]}
        found.append(shares(started([pole], [hinge("pole", axis=[0, 1, 0], motor=drive(k, 0.5))])))
    rates = [-math.log(one[0]) / H for one in found]
    assert rates == pytest.approx([0.0, 0.5 * 0.5 / 2.0 / 1.001, 0.5 * 0.5 / 2.0 / 1.001])


def test_bodies_are_carried_by_what_they_hang_on():
    bodies = [rotor("light", 0.1), {**rotor("heavy", 0.3), "mass": 2.0}]
    rigid = {"type": "velocity", "target": 1.0}
    free = started(bodies, [hinge("heavy", "light", motor=drive(100.0, 1.0))])
    assert shares(free)[1] == 1.0
    assert shares(free)[0] < 1.0
    carried = started(bodies, [hinge("light"), hinge("heavy", "light", motor=rigid)])
    assert shares(carried)[:2] == [1.0, 0.0]


def test_relations_prescribe_what_they_drive():
    bodies = [rotor("a", 0.1), rotor("b", 0.1), rotor("c", 0.1)]
    joints = [hinge("a", motor={"type": "velocity", "target": 1.0}), hinge("b"), hinge("c")]
    points = [[0, 0], [1, 0.1], [2, 0.4], [3, 0.6]]
    law: Document = {"type": "coupling", "name": "law", "terms": [
        {"joint": "world-a", "factor": 1.0, "curve": {"points": points}},
        {"joint": "world-b", "factor": 1.0},
    ]}  # fmt: skip
    gear = {"type": "gear", "name": "gear", "parent": "b", "child": "c", "axis": [0, 0, 1]}
    simulation = started(bodies, [*joints, law, {**gear, "ratio": 2.0}])
    assert prescribed_bodies(simulation.model)[:3].all()
    law["slack"] = True
    simulation = started(bodies, [*joints, law, {**gear, "ratio": 2.0}])
    assert prescribed_bodies(simulation.model)[:3].tolist() == [True, False, False]


def test_a_ball_on_an_axle_is_of_revolution_about_it():
    wheel = {"name": "wheel", "mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}
    simulation = started([wheel], [hinge("wheel", axis=[0, 1, 0])])
    assert np.abs(spin_axes(simulation.model)[0]).tolist() == pytest.approx([0, 1, 0])
    assert not spin_axes(started([wheel], []).model).any()


@pytest.mark.parametrize("kind", ["hinge2", "universal"])
def test_a_wheel_is_of_revolution_about_the_axle_that_is_steered(kind):
    """What turns on the first axis of the joint is so about that one alone."""
    wheel = {"name": "wheel", "mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}
    joint = {"type": kind, "axis": [0, 0, 1], "axis2": [0, 1, 0], "name": "steering"}
    joint |= {"parent": "world", "child": "wheel", "anchor": [0, 0, 0]}
    assert np.abs(spin_axes(started([wheel], [joint]).model)[0]).tolist() == [0, 1, 0]
    fork = {"name": "fork", "mass": 1.0, "inertia": [0.1, 0.2, 0.2]}
    joint |= {"parent": "fork"}
    axes = np.abs(spin_axes(started([fork, wheel], [joint]).model))
    assert axes[:2].tolist() == [[0, 0, 0], [0, 1, 0]]


def quantities(simulation: Simulation) -> set[str]:
    simulation.advance(simulation.total_steps)
    return {one["quantity"] for one in simulation.findings()}


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_servo_that_follows_a_sine_adds_no_errors_up(formulation):
    times = np.linspace(0.0, 3.0, 1001)
    sine = {"times": times.tolist(), "values": (0.5 * np.sin(19.0 * times)).tolist()}
    joint = hinge("arm", motor=drive(1000.0, 60.0) | {"target": sine})
    options = {"duration": 3.0, "formulation": formulation}
    assert quantities(started([rotor("arm", 1.0)], [joint], simulation=options)) == set()


def test_a_drive_at_its_largest_force_forgets_nothing():
    joint = hinge("arm", motor=drive(1000.0, 60.0, max_force=1.0) | {"target": 1.0})
    simulation = started([rotor("arm", 1.0)], [joint])
    simulation.advance(10)
    assert variations(simulation.model, simulation.state)[0, BOUND_STEP] == 10.0


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_motor_on_what_turns_does_what_it_is_told(formulation):
    rate = {"type": "velocity", "target": 0.3}
    bodies = [rotor("jib", 10.0), {**rotor("trolley", 0.1), "position": [3.0, 0, 0]}]
    slider = hinge("trolley", "jib") | {"type": "slider", "axis": [1, 0, 0], "motor": rate}
    joints = [hinge("jib", motor={"type": "velocity", "target": 0.8}), slider]
    options = {"duration": 4.0, "formulation": formulation}
    simulation = started(bodies, joints, gravity=[0, 0, 0], simulation=options)
    assert "drive_error" not in quantities(simulation)


@pytest.mark.parametrize(("h", "sound"), [(0.0005, True), (0.005, False)])
def test_a_ball_on_a_damped_soft_floor_needs_a_step_for_its_bounce(h, sound):
    ball = {"name": "ball", "mass": 0.5, "position": [0, 0, 1.0]}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1, "material": "m"}]
    materials = {"m": {}, "s": {"compliance": 2e-5, "damping": 8.0}}
    options = {"duration": 1.5, "dt": h}
    scene = started([ground(material="s"), ball], [], materials=materials, simulation=options)
    assert ("step_error" not in quantities(scene)) == sound


def test_an_early_impact_is_passed_on():
    """A ball falls on one end of a plank on a hinge, which throws a cube on its other end."""
    plank = {"name": "plank", "mass": 4.0, "position": [0, 0, 0.5]}
    plank["shapes"] = [{"type": "box", "size": [3, 0.3, 0.05]}]
    ball = {"name": "ball", "mass": 3.0, "position": [-1.3, 0, 1.003]}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1}]
    cube = {"name": "cube", "mass": 1.0, "position": [1.3, 0, 0.625]}
    cube["shapes"] = [{"type": "box", "size": [0.2] * 3}]
    level = {"lower": -0.15, "upper": 0.0}
    joint = hinge("plank", anchor=[0, 0, 0.5], axis=[0, 1, 0], limits=level)
    simulation = started([plank, ball, cube], [joint], simulation={"duration": 0.5})
    simulation.advance(simulation.total_steps)
    kept = variations(simulation.model, simulation.state)
    assert simulation.velocities()[2, 2] > 0.1
    assert kept[2, MOST_EARLY] > 0.0
    assert kept[2, IMPACTS] <= 1.0


@pytest.mark.parametrize(("e", "matters"), [(0.04, False), (0.2, True), (1.0, True)])
def test_laws_of_restitution_differ_by_what_rebounds(e, matters):
    """A ball strikes another one that touches a third."""
    bodies = []
    for name, x in (("a", -0.3), ("b", 0.0), ("c", 0.1)):
        shape = {"type": "sphere", "radius": 0.05, "material": "m"}
        bodies.append({"name": name, "mass": 1.0, "position": [x, 0, 0], "shapes": [shape]})
    bodies[0]["linear_velocity"] = [2.0, 0, 0]
    materials = {"m": {"restitution": e}}
    scene = started(bodies, [], materials=materials, gravity=[0, 0, 0])
    assert ("simultaneous_impacts" in quantities(scene)) == matters


@pytest.mark.parametrize("friction", [0.6, 0.05])
def test_friction_of_an_early_impact_has_the_wrong_arm_where_it_holds(friction):
    """A ball thrown on to a floor takes 2/7 of its speed along it off if friction stops it there.

    The gap of 46 mm lengthens the arm of its 100 mm, and it loses less.
    """
    r, e, across, dt = 0.1, 0.8, 2.0, 0.014
    thrown: Document = {"name": "ball", "position": [0, 0, 1.0 + r], "mass": 1.0}
    thrown |= {"shapes": [{"type": "sphere", "radius": r, "material": "m"}]}
    plane: Document = {"name": "floor", "type": "static"}
    plane |= {"shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "m"}]}
    one = started(
        [plane, thrown | {"linear_velocity": [across, 0, 0]}], [],
        simulation={"dt": dt, "duration": 0.7},
        materials={"m": {"friction": friction, "restitution": e}},
    )  # fmt: skip
    one.advance(one.total_steps)
    told = np.abs(variations(one.model, one.state)[1, AIM_V : AIM_V + 3])
    if friction == 0.05:
        assert told.tolist() == [0.0, 0.0, 0.0]
        return
    error = one.velocities()[1, 0] - across * 5.0 / 7.0
    assert error > 0.1
    assert 0.7 * error < told[0] < 1.5 * error
    assert told[1:] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_impacts_that_follow_one_another_within_a_step_are_all_early():
    """Two balls fall 2 cm apart: the lower one bounces and meets the upper one in the same step."""
    case = next(iter(blows.towers([(0.043, 0.013)])))
    one = Simulation(load_scene(case.document))
    v = one.velocities()[2, 2]
    while v <= 0.0:
        one.advance(1)
        v = one.velocities()[2, 2]
    kept = variations(one.model, one.state)[1:3]
    # the lower one meets the floor half a step before the kick would have it there
    fall = math.sqrt(2.0 / G)
    early = fall - (one.step_count - 0.5) * one.time_step
    assert early == pytest.approx(0.003, abs=1e-4)
    assert kept[0, MOST_EARLY] > 2.0 * G * fall * early * 0.9
    assert case.truth is not None
    error = float(case.look(one)[0]) - float(case.truth(one.time)[0])
    assert error > 0.08
    assert 0.7 * error < kept[1, MOST_AIM] < 1.5 * error


def test_no_friction_holds_a_blow() -> None:
    """A hammer meets a nail within a step that ends anywhere before: in some of these the friction
    of the nail holds the whole step and takes from the hammer what the nail should have had."""
    speed, friction, dt = 6.2, 480.0, 0.00062
    way = (speed / 1.05) ** 2 * 1.05 / (2.0 * friction)
    wrong, held = [], 0
    for share in np.arange(0.0, 1.0, 0.05):
        document = next(iter(blows.nails([(speed, friction, dt)]))).document
        document["bodies"][0]["position"][0] -= share * dt * speed
        document["simulation"]["duration"] += share * dt
        one = Simulation(load_scene(document))
        before = [0.0, 0.0]
        while one.step_count < one.total_steps:
            one.advance(1)
            v = one.velocities()[:2, 0]
            held += int(v[1] == 0.0 and 0.0 < v[0] < speed and before[1] == 0.0)
            before = v.tolist()
        if abs(one.poses()[1, 0] - way) > 0.05 * way:
            wrong.append(one.summary()["verdict"]["status"])
    assert held > 0
    assert len(wrong) > 10
    assert "trusted" not in wrong


def test_errors_of_a_drum_that_stays_where_it_is_are_told_against_its_size():
    """The centre of a drum on a hinge has no way; what blows shift it by is compared with that."""
    sides = [
        {"type": "box", "size": size, "position": place}
        for size, place in (
            ([0.4, 0.4, 0.02], [0, 0, 0.2]),
            ([0.4, 0.4, 0.02], [0, 0, -0.2]),
            ([0.02, 0.4, 0.4], [0.2, 0, 0]),
            ([0.02, 0.4, 0.4], [-0.2, 0, 0]),
        )
    ]
    drum = {"name": "drum", "mass": 5.0, "angular_velocity": [0, 60, 0], "shapes": sides}
    boxes = [
        {
            "name": f"box {k}",
            "mass": 0.1,
            "position": [0.08 * (k % 3) - 0.1, 0, 0.08 * (k // 3) - 0.1],
            "shapes": [{"type": "box", "size": [0.05] * 3}],
        }
        for k in range(6)
    ]
    pin = hinge("drum", axis=[0, 1, 0])
    options = {"duration": 1.0, "dt": H, "formulation": "maximal"}
    scene = document([drum, *boxes], [pin], simulation=options)
    simulation = Simulation(load_scene(scene))
    simulation.advance(simulation.total_steps)
    errors = [one for one in simulation.findings() if one["quantity"] == "step_error"]
    assert 1.0 < errors[0]["value"] < 1e4
