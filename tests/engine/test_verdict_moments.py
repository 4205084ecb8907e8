"""What happens at a moment within a step, what impacts pass on, and what drives take back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.trust import blows, everyday, friction, machines, mechanisms
from benchmarks.trust.case import Family, looked, off_by
from benchmarks.trust.measure import RIGHT
from cardan.engine.accounting.body_records import AIM_P, AIM_V, RELEASES
from cardan.engine.build.mobility import driven_mechanisms
from cardan.engine.verdict.estimates import variations
from tests.engine.scenes import Document, document, simulate


def judged(family: Family, *parameters: object) -> tuple[float, str, list[str]]:
    """How far the scene of these parameters is off, its status and its findings."""
    (case,) = family([parameters])
    simulation, times, values = looked(case.document, case)
    assert case.truth is not None
    true = np.array([np.atleast_1d(case.truth(t)) for t in times], float)
    verdict = simulation.summary()["verdict"]
    found = [one["quantity"] for one in verdict["findings"]]
    return off_by(case, times, values, true), verdict["status"], found


@pytest.mark.parametrize(
    ("family", "careless", "sensible"),
    [
        # static friction lets go a step late, each time
        (friction.sticks, (0.02, 1000.0, 0.002), (0.1, 200.0, 0.001)),
        # drag takes half of the velocity within the first step
        (everyday.shots, (1000.0, 0.1, 0.02), (30.0, 0.05, 0.001)),
        # the wood takes from the blow what it should take after it: the nail does not move
        (blows.nails, (4.2, 2300.0, 0.0029), (7.2, 610.0, 0.00023)),
        # the normal of an early impact of round bodies is another one
        (blows.obliques, (0.15, 0.01), (0.05, 0.001)),
        # a blow off the middle comes early, and the box turns by that
        (everyday.off_centres, (0.08, 0.01), (0.03, 0.001)),
    ],
)
def test_wrong_moments_are_said(
    family: Family, careless: tuple[float, ...], sensible: tuple[float, ...]
) -> None:
    off, status, found = judged(family, *careless)
    assert off > RIGHT
    assert status == "suspect"
    assert found == ["step_error"]
    off, status, found = judged(family, *sensible)
    assert off < RIGHT
    assert (status, found) == ("trusted", [])


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        (mechanisms.yokes, (30.0, 0.01)),
        (mechanisms.quick_returns, (20.0, 0.01)),
        (machines.sliders, (60.0, 0.005, 1.0)),
    ],
)
def test_driven_mechanisms_take_errors_back(family: Family, parameters: tuple[float, ...]) -> None:
    off, status, found = judged(family, *parameters)
    assert off < 0.01
    assert (status, found) == ("trusted", [])


def test_mechanisms_with_a_motion_of_their_own_are_not_driven() -> None:
    def mobile(family: Callable[..., Any], *parameters: object) -> list[bool]:
        (case,) = family([parameters])
        model = simulate(case.document).model
        return driven_mechanisms(model).tolist()

    # crank, rod, piston, world; the crank is driven itself
    assert mobile(machines.sliders, 60.0, 0.005, 1.0) == [False, True, True, False]
    assert not any(mobile(machines.four_bars, 1e-3, 2.0, 1.0))


def test_impacts_pass_errors_on() -> None:
    """The early blow on a ball off its middle: the error of its velocity, by the true normal."""
    (case,) = blows.obliques([(0.1, 0.02)])
    simulation, times, values = looked(case.document, case)
    assert case.truth is not None
    wrong = values[-1] - np.array(case.truth(times[-1]))
    kept = variations(simulation.model, simulation.state)
    for body in range(2):
        error = kept[body, AIM_P : AIM_P + 2]
        assert error == pytest.approx(wrong[2 * body : 2 * body + 2], rel=0.35, abs=0.01)
    p = simulation.model.bodies.mass[:2] @ kept[:2, AIM_V : AIM_V + 3]
    assert np.abs(p).max() < 1e-12


def test_releases_are_counted_once_a_slip() -> None:
    (case,) = friction.sticks([(0.02, 1000.0, 0.002)])
    simulation = simulate(case.document)
    simulation.advance(simulation.total_steps)
    block = simulation.body_names.index("block")
    # it slides three times longer than it could stick once
    assert variations(simulation.model, simulation.state)[block, RELEASES] == 2.0


def test_a_ball_that_rolls_and_spins_is_never_released() -> None:
    """Where it touches it stands; half a step later, beside its middle, it would slide."""
    material = {"friction": 1.2, "static_friction": 1.56}
    shape = {"type": "sphere", "radius": 0.03, "material": "m"}
    rolling: Document = {"name": "ball", "mass": 0.17, "position": [0, 0, 0.03], "shapes": [shape]}
    rolling |= {"linear_velocity": [0.384, 0, 0], "angular_velocity": [0, 12.8, 3.0]}
    floor: Document = {"name": "floor", "type": "static"}
    floor |= {"shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "m"}]}
    scene = document([floor, rolling], materials={"m": material}, simulation={"dt": 0.004})
    simulation = simulate(scene)
    simulation.advance(300)
    ball = simulation.body_names.index("ball")
    assert variations(simulation.model, simulation.state)[ball, RELEASES] == 0.0


def test_balls_may_turn_early() -> None:
    """Of a ball it cannot be seen how it is turned; of a box with the same inertia it can."""

    def dropped(kind: str) -> str:
        size = {"radius": 0.05} if kind == "sphere" else {"size": [0.1] * 3}
        shapes = [{"type": kind, "material": "m", **size}]
        lean = [math.cos(0.3), 0, math.sin(0.3), 0] if kind == "box" else [1, 0, 0, 0]
        body = {"name": "body", "position": [0, 0, 0.6], "mass": 1.0, "orientation": lean}
        body |= {"inertia": [0.001] * 3, "linear_velocity": [4.0, 0, 0], "shapes": shapes}
        floor: Document = {"name": "floor", "type": "static"}
        floor |= {"shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "m"}]}
        materials = {"m": {"friction": 0.8, "restitution": 0.8}}
        options = {"dt": 0.01, "duration": 0.5}
        simulation = simulate(document([floor, body], materials=materials, simulation=options))
        simulation.advance(simulation.total_steps)
        return str(simulation.summary()["verdict"]["status"])

    assert (dropped("sphere"), dropped("box")) == ("trusted", "suspect")
