"""Targets and wrenches that vary in time, by closed form: every motor, every component."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.reference

H = 1e-3
INERTIA = 0.5
# 0 to 2 in the first half second, held from 1 s on
RAMP = {"times": [0.0, 0.5, 1.0], "values": [0.0, 2.0, -1.0]}
STEPS = {**RAMP, "interpolation": "step"}


def value(t: float, interpolation: str) -> float:
    """The quantity at a time."""
    if interpolation == "step":
        return 0.0 if t < 0.5 else (2.0 if t < 1.0 else -1.0)
    return float(np.interp(t, RAMP["times"], RAMP["values"]))


def integral(t: float, interpolation: str) -> float:
    """Its integral from 0."""
    if interpolation == "step":
        return 2.0 * (min(max(t, 0.5), 1.0) - 0.5) - max(t - 1.0, 0.0)
    knots = [0.0, *(k for k in (0.5, 1.0) if k < t), t]
    values = [value(k, "linear") for k in knots]
    return float(np.trapezoid(values, knots))


def series(interpolation: str) -> dict[str, Any]:
    """The target as a scene says it."""
    return {**RAMP, "interpolation": interpolation}


def wheel(motor: dict[str, Any]) -> Any:
    """A disc on a hinge, driven."""
    disc = {"name": "disc", "mass": 1.0, "inertia": [INERTIA] * 3}
    axle: Document = {
        "name": "axle",
        "type": "hinge",
        "parent": "world",
        "child": "disc",
        "motor": motor,
    }
    axle |= {"anchor": [0, 0, 0], "axis": [0, 0, 1]}
    return simulate(document([disc], [axle], gravity=[0, 0, 0], simulation={"dt": H}))


@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_force_motor_gives_the_integral_of_its_target(interpolation: str) -> None:
    sim = wheel({"type": "force", "target": series(interpolation)})
    for _ in range(6):
        sim.advance(250)
        exact = integral(sim.time, interpolation) / INERTIA
        assert float(sim.joint_table()["qd"][0]) == pytest.approx(exact, abs=1e-11)


@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_velocity_motor_has_its_target_at_the_end_of_the_step(interpolation: str) -> None:
    """Also where the target bends or jumps: within steps, and at their ends."""
    sim = wheel({"type": "velocity", "target": series(interpolation)})
    for _ in range(6):
        sim.advance(250)
        # a jump at the end of a step is one of the next step
        exact = value(sim.time - (1e-9 if interpolation == "step" else 0.0), interpolation)
        assert float(sim.joint_table()["qd"][0]) == pytest.approx(exact, abs=1e-11)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(
        integral(sim.time, interpolation), abs=1e-6
    )


def test_rigid_position_motor_follows_a_ramp() -> None:
    sim = wheel({"type": "position", "target": {"times": [0, 10], "values": [0, 5]}})
    sim.advance(1000)
    row = sim.joint_table()[0]
    assert row["qd"] == pytest.approx(0.5, rel=1e-9)
    assert row["q"] == pytest.approx(0.5 * sim.time, abs=1e-12)


def test_rigid_position_motor_jumps_with_a_step() -> None:
    sim = wheel({"type": "position", "target": {**STEPS}})
    sim.advance(500)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(0.0, abs=1e-12)
    sim.advance(200)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(2.0, abs=1e-9)


def test_soft_position_motor_follows_a_slow_ramp() -> None:
    k, d, rate = 400.0, 40.0, 0.5
    motor = {"type": "position", "target": {"times": [0, 10], "values": [0, 5]}}
    sim = wheel({**motor, "stiffness": k, "damping": d})
    sim.advance(3000)
    row = sim.joint_table()[0]
    assert row["qd"] == pytest.approx(rate, rel=1e-6)
    # the damper is against the speed of the target, so nothing is left for the spring
    assert row["q"] == pytest.approx(sim.time * rate, abs=1e-9)


@pytest.mark.parametrize("interpolation", ["linear", "step"])
@pytest.mark.parametrize("axis", range(3))
def test_ball_motor_follows_each_component(axis: int, interpolation: str) -> None:
    values = np.zeros((3, 3))
    values[:, axis] = RAMP["values"]
    target = {**series(interpolation), "values": values.tolist()}
    body = {"name": "b", "mass": 1.0, "inertia": [INERTIA] * 3}
    joint: Document = {
        "name": "j",
        "type": "ball",
        "parent": "world",
        "child": "b",
        "anchor": [0, 0, 0],
    }
    joint |= {"motor": {"type": "force", "target": target}}
    sim = simulate(document([body], [joint], gravity=[0, 0, 0], simulation={"dt": H}))
    sim.advance(1250)
    expected = np.zeros(3)
    expected[axis] = integral(1.25, interpolation) / INERTIA
    assert sim.velocities()[0, 3:] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("axes", ["world", "body"])
@pytest.mark.parametrize("interpolation", ["linear", "step"])
@pytest.mark.parametrize("component", range(6))
def test_every_component_of_a_wrench_gives_its_impulse(
    component: int, interpolation: str, axes: str
) -> None:
    values = np.zeros((3, 3))
    values[:, component % 3] = RAMP["values"]
    series_of = {**series(interpolation), "values": values.tolist()}
    field = "force" if component < 3 else "torque"
    # body axes are x -> y -> z -> x
    turned = [0.5, 0.5, 0.5, 0.5]
    body = {"name": "b", "mass": 2.0, "inertia": [INERTIA] * 3, "orientation": turned}
    push = {"type": "wrench", "body": "b", field: series_of, "axes": axes}
    sim = simulate(document([body], forces=[push], gravity=[0, 0, 0], simulation={"dt": H}))
    sim.advance(1250)
    scale = 1.0 / 2.0 if component < 3 else 1.0 / INERTIA
    expected = np.zeros(6)
    shifted = component % 3 if axes == "world" else (component + 1) % 3
    expected[shifted + (0 if component < 3 else 3)] = integral(1.25, interpolation) * scale
    assert sim.velocities()[0] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("interpolation", ["step", "linear"])
@pytest.mark.parametrize("kind", ["wrench", "force", "position"])
@pytest.mark.parametrize("span", [(0.101, 0.104), (0.1025, 0.1075), (0.1051, 0.2051)])
def test_what_jumps_within_a_step_or_is_shorter_has_its_impulse(
    formulation: str, interpolation: str, kind: str, span: tuple[float, float]
) -> None:
    """100 N for 3 ms within a step of 10 ms: nothing was felt of it, and the run was trusted."""
    begin, end = span
    push: Document = {"times": [0.0, begin, end], "values": [0.0, 100.0, 0.0]}
    impulse = 100.0 * (end - begin)
    if interpolation == "linear":
        push = {"times": [begin, 0.5 * (begin + end), end], "values": [0.0, 100.0, 0.0]}
        impulse *= 0.5
    push["interpolation"] = interpolation
    cart: Document = {"name": "cart", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    rail: Document = {"name": "rail", "type": "slider", "parent": "world", "child": "cart"}
    rail["axis"] = [1, 0, 0]
    forces: list[Document] = []
    if kind == "wrench":
        push["values"] = [[value, 0, 0] for value in push["values"]]
        forces.append({"type": "wrench", "body": "cart", "force": push})
    else:
        # 1e-3 N/m and targets of 1e5 m
        rail["motor"] = {"type": kind, "target": push}
        if kind == "position":
            push["values"] = [1e3 * value for value in push["values"]]
            rail["motor"]["stiffness"] = 1e-3
    simulation = {"dt": 0.01, "duration": 0.5, "formulation": formulation}
    scene = document([cart], [rail], gravity=[0, 0, 0], forces=forces, simulation=simulation)
    sim = simulate(scene)
    sim.advance(50)
    # the spring is stretched by the way of the cart, a thousandth of a newton
    assert sim.velocities()[0, 0] == pytest.approx(impulse, rel=2e-4)
    way = impulse * (0.5 - 0.5 * (begin + end))
    assert sim.poses()[0, 0] == pytest.approx(way, rel=0.01)
    assert sim.summary()["energy"]["balance_error"] < 1e-9


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize(("duration", "impulse"), [(0.0, 1.0), (0.003, 0.3), (0.014, 1.4)])
def test_a_commanded_force_acts_as_long_as_it_says(
    duration: float, impulse: float, joined: bool
) -> None:
    """Of any share of a step; without a duration for one step."""
    cart: Document = {"name": "cart", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    rail: Document = {"name": "rail", "type": "slider", "parent": "world", "child": "cart"}
    rail["axis"] = [1, 0, 0]
    sim = simulate(document([cart], [rail] if joined else [], simulation={"dt": 0.01}))
    sim.set_gravity([0, 0, 0])
    sim.advance(3)
    sim.apply_wrench("cart", [100, 0, 0], [0, 0, 0], duration=duration)
    sim.advance(5)
    assert sim.velocities()[0, 0] == pytest.approx(impulse, rel=1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint", "dop853", "radau"])
@pytest.mark.parametrize("kind", ["wrench", "force", "position"])
def test_integrators_of_smooth_motion_take_targets_as_they_are(integrator: str, kind: str) -> None:
    """100 N from a tenth to two tenths of a second, that begin and end with steps; no means."""
    values: list[Any] = [0.0, 100.0, 0.0]
    push: Document = {"times": [0.0, 0.1, 0.2], "interpolation": "step", "values": values}
    cart: Document = {"name": "cart", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    rail: Document = {"name": "rail", "type": "slider", "parent": "world", "child": "cart"}
    rail["axis"] = [1, 0, 0]
    forces: list[Document] = []
    if kind == "wrench":
        push["values"] = [[value, 0, 0] for value in values]
        forces.append({"type": "wrench", "body": "cart", "force": push})
    else:
        rail["motor"] = {"type": kind, "target": push}
        if kind == "position":
            push["values"] = [1e3 * value for value in values]
            rail["motor"]["stiffness"] = 1e-3
    simulation = {"dt": 1e-3, "formulation": "reduced", "integrator": integrator}
    scene = document([cart], [rail], gravity=[0, 0, 0], forces=forces, simulation=simulation)
    sim = simulate(scene)
    sim.advance(300)
    # stages at the ends of a step see either side of a jump there
    assert sim.velocities()[0, 0] == pytest.approx(10.0, rel=5e-3)
