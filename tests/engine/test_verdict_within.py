"""What is small beside a common motion, supports that let go early, bodies of revolution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.trust import further, machines, strangers, touching, workshop, yard
from benchmarks.trust.case import Case, Family, floor, looked, off_by
from benchmarks.trust.measure import RIGHT, true_values
from cardan.engine import Simulation
from cardan.engine.accounting.body_records import AIM_V, MOST_EARLY
from cardan.engine.accounting.stretches import (
    KEPT_X,
    MOST_VARIED_X,
    SEEN,
    VARIED_X,
    spring_records,
)
from cardan.engine.build.limits import may_pass
from cardan.engine.build.revolution import spin_axes
from cardan.engine.verdict.estimates import variations
from tests.engine.scenes import simulate


def case_of(family: Family, *parameters: object) -> Case:
    """The scene of a family with these parameters."""
    (case,) = family([parameters])
    return case


def judged(case: Case) -> tuple[float, list[str], Simulation]:
    """How far a run is off, its findings, and itself."""
    simulation, times, values = looked(case.document, case)
    true = true_values(case, times)
    assert true is not None
    found = [one["quantity"] for one in simulation.summary()["verdict"]["findings"]]
    return off_by(case, times, values, true), found, simulation


@pytest.mark.parametrize(
    ("family", "careless", "sensible"),
    [
        # a shaft that turns by radians is twisted by a hundredth of one
        (strangers.shaft_trains, (0.01,), (0.0005,)),
        # a belt that runs by metres is stretched by a millimetre: a coupling
        (strangers.elastic_belts, (0.01,), (0.0005,)),
        # a rope that a drum winds up
        (workshop.hoists, (3e5, 0.01), (3e4, 0.001)),
        # a flywheel on a spring, which turns at 100 rad/s
        (workshop.dual_mass_flywheels, (80.0, 0.01), (80.0, 0.0005)),
        # a car at 20 m/s: springs between bodies
        (workshop.quarter_cars, (20.0, 0.02), (20.0, 0.001)),
        # a leg that reaches its stop lifts its foot, which the ground carries no more
        (strangers.jumping_legs, (0.003,), (0.0005,)),
        # a brick that changes from edge to edge
        (yard.toppling_bricks, (0.2, 0.01), (0.3, 0.0005)),
        # a rope that breaks as a weight swings on it
        (yard.breaking_pendulums, (2.5, 0.02), (1.5, 0.0005)),
    ],
)
def test_what_happens_within_is_judged(
    family: Family, careless: tuple[float, ...], sensible: tuple[float, ...]
) -> None:
    off, found, _ = judged(case_of(family, *careless))
    assert off > RIGHT
    assert {"step_error", "stretch_error"} & set(found)
    off, found, _ = judged(case_of(family, *sensible))
    assert off < RIGHT
    assert found == []


@pytest.mark.parametrize("k", [0, 1])
def test_springs_are_followed_in_both_formulations(k: int) -> None:
    """What is kept of the twist of a shaft, against its values."""
    case = list(strangers.shaft_trains([(0.002,), (0.002,)]))[k]
    simulation = simulate(case.document)
    assert simulation.formulation == ("maximal", "reduced")[k]
    values = []
    for _ in range(100):
        simulation.advance(1)
        values.append(simulation.state.joint_q[2, 0])
    kept = spring_records(simulation.model, simulation.state)
    assert kept[2, SEEN] == 100.0
    # two discs on a shaft: half of what their damper takes from the amplitude is forgotten
    # their moments are those about the joint, which is 0.2 m from the middle of the first
    first, second = 0.1 + 5.0 * 0.2**2, 0.1
    keep = math.exp(-0.25 * 0.002 * 0.5 * (1.0 / first + 1.0 / second))
    assert kept[2, KEPT_X] == pytest.approx(keep, rel=1e-12)
    total, most = 0.0, 0.0
    for third in np.abs(np.diff(values, 3)):
        total = keep * total + float(third)
        most = max(most, total)
    assert most > 0.0
    assert kept[2, [VARIED_X, MOST_VARIED_X]].tolist() == pytest.approx([total, most], rel=1e-12)
    # the hinge of the motor has no spring
    assert kept[0, SEEN] == 0.0


def test_what_carried_a_block_lets_go_early() -> None:
    """The error of its velocity is about what its weight makes in a step, about the other edge."""
    case = case_of(strangers.rocking_blocks, 0.001)
    simulation = simulate(case.document)
    simulation.advance(round(0.30 / 0.001))
    assert not variations(simulation.model, simulation.state)[1, AIM_V : AIM_V + 3].any()
    simulation.advance(round(0.03 / 0.001))
    found = float(np.linalg.norm(variations(simulation.model, simulation.state)[1, AIM_V:][:3]))
    mass, tall, wide = 2.0, 0.5, 0.12
    arm = math.hypot(0.5 * tall, 0.5 * wide)
    moment = mass * ((tall**2 + wide**2) / 12.0 + arm**2)
    most = 3.0 * 0.001 * mass * 9.81 * wide / moment * arm
    assert 0.2 * most < found < most


def test_a_body_that_stands_has_no_error_of_its_supports() -> None:
    """A box that is laid down flat, and slides, is carried by its corners in turn."""
    block = {
        "name": "block", "position": [0, 0, 0.13], "mass": 1.0, "linear_velocity": [2.0, 0, 0],
        "shapes": [{"type": "box", "size": [0.4, 0.3, 0.2], "material": "m"}],
    }  # fmt: skip
    scene = {
        "version": 1, "gravity": [0, 0, -9.81], "bodies": [floor("m"), block],
        "materials": {"m": {"friction": 0.3}}, "simulation": {"dt": 0.005, "duration": 0.5},
    }  # fmt: skip
    simulation = simulate(scene)
    simulation.advance(simulation.total_steps)
    assert simulation.summary()["verdict"]["status"] == "trusted"


def test_corners_that_rebound_carried_nothing() -> None:
    """A box falls flat and bounces: in the step after the impact its corners bear no load, but none
    let go early."""
    block = {
        "name": "block", "position": [0, 0, 0.4], "mass": 1.0,
        "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "material": "m"}],
    }  # fmt: skip
    scene = {
        "version": 1, "gravity": [0, 0, -9.81], "bodies": [floor("m"), block],
        "materials": {"m": {"friction": 0.5, "restitution": 0.6}},
        "simulation": {"dt": 0.0012, "duration": 0.35},
    }  # fmt: skip
    simulation = simulate(scene)
    simulation.advance(simulation.total_steps)
    assert simulation.velocities()[1, 2] > 0.0
    kept = variations(simulation.model, simulation.state)[1]
    assert kept[MOST_EARLY] > 0.0
    # what an early impact displaces, in the direction of its rebound
    assert kept[AIM_V : AIM_V + 3] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize(
    "case",
    [
        case_of(further.strung_gyroscopes, 100.0, 0.01),
        list(workshop.rate_gyros([(300.0, 0.005)] * 2))[1],
        case_of(touching.brakes, 30.0, 0.7, 0.01),
        case_of(machines.servos, 1000.0, 1.0, 0.002, 1.0),
    ],
    ids=["gyroscope", "rate gyroscope", "brake", "servo"],
)
def test_right_results_are_trusted(case: Case) -> None:
    off, found, _ = judged(case)
    assert off < 0.02
    assert found == []


def uneven(moments: list[float]) -> Callable[[], Simulation]:
    """A wheel on a string with other moments of inertia."""
    case = case_of(further.strung_gyroscopes, 100.0, 0.01)
    wheel: dict[str, Any] = {**case.document["bodies"][0], "inertia": moments}
    return lambda: simulate({**case.document, "bodies": [wheel]})


def test_bodies_of_revolution_are_told() -> None:
    def axes(case: Case) -> list[list[float]]:
        model = simulate(case.document).model
        return np.abs(spin_axes(model)).round(12).tolist()

    none = [0.0, 0.0, 0.0]
    # table and frame are held in their angles, the disc turns on its own axis
    assert axes(case_of(workshop.rate_gyros, 300.0, 0.005)) == [none, none, [1.0, 0.0, 0.0], none]
    wheel = spin_axes(uneven([0.002, 0.002, 0.0039])().model)[0]
    assert np.abs(wheel).tolist() == [0.0, 0.0, 1.0]
    assert not spin_axes(uneven([0.002, 0.003, 0.0045])().model).any()
    # boxes have corners
    assert axes(case_of(touching.brakes, 3.0, 0.5, 0.001)) == [none, none, none]


def test_what_meets_planes_alone_may_move_far() -> None:
    case = case_of(touching.brakes, 30.0, 0.7, 0.01)
    # the box meets the plane alone; the plane meets the box
    assert may_pass(simulate(case.document).model).tolist() == [True, False, False]
    for place, is_met in ((99.0, False), (2.5, True)):
        wall = {"name": "wall", "type": "static", "position": [place, 0, 0]}
        wall |= {"shapes": [{"type": "box", "size": [1, 1, 1]}]}
        document = {**case.document, "bodies": [*case.document["bodies"], wall]}
        simulation = simulate(document)
        assert may_pass(simulation.model).tolist() == [True, True, True, False]
        simulation.advance(10)
        found = [one["quantity"] for one in simulation.summary()["verdict"]["findings"]]
        assert ("travel_per_step" in found) == is_met


def test_the_finding_names_the_spring() -> None:
    """Of a shaft its joint and the disc behind it, of a belt the wheel at its end."""
    for case, joint, body in (
        (case_of(strangers.shaft_trains, 0.01), "d2-d3", "d3"),
        (case_of(strangers.elastic_belts, 0.01), "belt", "load"),
    ):
        simulation = simulate(case.document)
        simulation.advance(simulation.total_steps)
        (finding,) = simulation.summary()["verdict"]["findings"]
        assert (finding["quantity"], finding["joint"], finding["body"]) == (
            "stretch_error",
            joint,
            body,
        )
