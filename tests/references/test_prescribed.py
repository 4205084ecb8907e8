"""Kinematic bodies along poses over time, and what they carry: against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import SceneInvalid
from tests.engine.scenes import Document, document, simulate
from tests.references.test_following import wave

pytestmark = pytest.mark.reference

H, AMPLITUDE, SWING = 1e-3, 0.1, 0.4
AXIS = np.array([0.6, 0.0, 0.8])


def shaken(frequency: float, end: float, interpolation: str = "cubic", **more: Any) -> Document:
    """A kinematic body that shakes along x and about a tilted axis, told at the ends of steps."""
    times = np.arange(round(end / H) + 1) * H
    phase = 2.0 * math.pi * frequency * times
    positions = np.outer(AMPLITUDE * np.sin(phase), [1.0, 0.0, 0.0])
    half = 0.5 * SWING * np.sin(phase)
    turns = np.column_stack([np.cos(half), np.outer(np.sin(half), AXIS)])
    motion = {"times": times.tolist(), "positions": positions.tolist()}
    motion |= {"orientations": turns.tolist(), "interpolation": interpolation}
    return {"name": "table", "type": "kinematic", "motion": motion, **more}


def test_poses_at_100_hz_have_neither_lag_nor_loss() -> None:
    sim = simulate(document([shaken(100.0, 0.3)], simulation={"dt": H}))
    times, path, turned, speed = [], [], [], []
    for _ in range(200):
        sim.advance(1)
        times.append(sim.time)
        path.append(sim.poses()[0, 0])
        turned.append(2.0 * math.asin(sim.poses()[0, 4:] @ AXIS))
        speed.append((sim.velocities()[0, 0], sim.velocities()[0, 3:] @ AXIS))
    for values, full in ((path, AMPLITUDE), (turned, SWING)):
        amplitude, lag = wave(np.array(values), np.array(times), 100.0)
        assert amplitude == pytest.approx(full, rel=1e-9)
        assert abs(lag) < 1e-6 * H
    w = 2.0 * math.pi * 100.0
    for k, full in ((0, AMPLITUDE), (1, SWING)):
        amplitude, lag = wave(np.array(speed)[20:, k], np.array(times)[20:], 100.0)
        assert amplitude == pytest.approx(full * w, rel=2e-3)
        assert abs(lag + 0.25 / 100.0) < 1e-3 * H


def test_what_is_fixed_to_it_follows_and_weighs_what_it_should() -> None:
    load = {"name": "load", "position": [0.0, 0.0, 0.5], "mass": 2.0, "inertia": [0.1, 0.2, 0.3]}
    joint = {"name": "j", "type": "fixed", "parent": "table", "child": "load"}
    table, w = shaken(5.0, 0.6), 2.0 * math.pi * 5.0
    table["motion"].pop("orientations")
    load["linear_velocity"] = [AMPLITUDE * w, 0.0, 0.0]
    sim = simulate(document([table, load], [joint], gravity=[0, 0, 0], simulation={"dt": H}))
    for _ in range(500):
        sim.advance(1)
        assert sim.poses()[1, 0] == pytest.approx(AMPLITUDE * math.sin(w * sim.time), abs=1e-8)
        middle = sim.time - 0.5 * H
        force = -2.0 * AMPLITUDE * w * w * math.sin(w * middle)
        # of second order: (w h)^2 of the largest force
        assert sim.joint_table()["fx"][0] == pytest.approx(force, abs=2e-3 * 197.4)
    assert abs(sim.summary()["energy"]["balance_error"]) < 1e-9


def test_a_box_rides_along_until_friction_ends() -> None:
    plate = {"type": "box", "size": [1.0, 1.0, 0.1], "position": [0, 0, -0.05]}
    box = {"name": "box", "position": [0, 0, 0.1], "mass": 1.0}
    box |= {"shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]}
    slip = {}
    # largest acceleration over mu g: below and above one
    for frequency in (0.9, 1.3):
        table = shaken(frequency, 2.0, shapes=[plate])
        table["motion"].pop("orientations")
        box["linear_velocity"] = [2.0 * math.pi * frequency * AMPLITUDE, 0.0, 0.0]
        sim = simulate(document([table, box], simulation={"dt": H}))
        sim.advance(1500)
        slip[frequency] = abs(sim.poses()[1, 0] - sim.poses()[0, 0])
    assert slip[0.9] < 1e-4
    assert slip[1.3] > 1e-3


def carried(table: Document, load: Document, surface: Document, dt: float) -> Simulation:
    """A load on a kinematic table, both with one surface."""
    for body in (table, load):
        body["shapes"] = [shape | {"material": "m"} for shape in body["shapes"]]
    return simulate(document([table, load], materials={"m": surface}, simulation={"dt": dt}))


@pytest.mark.parametrize("part", [0.0, 0.1, 0.4, 0.6, 0.9])
def test_what_lies_on_a_table_that_stops_slides_from_then_on(part: float) -> None:
    """v^2/(2 mu g), from the end of the step in which the table stops, or its start: the nearer."""
    dt, speed, mu = 0.01, 1.0, 0.3
    stop = 0.5 + part * dt
    plate = {"type": "box", "size": [6.0, 1.0, 0.1], "position": [0, 0, -0.05]}
    motion = {"times": [0, stop], "positions": [[0, 0, 0], [speed * stop, 0, 0]]}
    table = {"name": "table", "type": "kinematic", "motion": motion, "shapes": [plate]}
    box = {"name": "box", "position": [0, 0, 0.1], "mass": 1.0, "linear_velocity": [speed, 0, 0]}
    box["shapes"] = [{"type": "box", "size": [0.2, 0.2, 0.2]}]
    sim = carried(table, box, {"friction": mu}, dt)
    sim.advance(100)
    way = speed * stop + speed**2 / (2.0 * mu * 9.81)
    late = min(part, 1.0 - part) * dt * speed
    assert abs(sim.poses()[1, 0] - way) < late + 1e-5


@pytest.mark.parametrize("restitution", [0.5, 1.0])
@pytest.mark.parametrize("part", [0.0, 0.25, 0.75])
def test_a_plate_that_starts_at_once_strikes_once(part: float, restitution: float) -> None:
    dt, speed = 1e-3, 1.0
    start = 0.1 + part * dt
    plate = {"type": "box", "size": [1.0, 1.0, 0.1], "position": [0, 0, -0.05]}
    places = [[0, 0, 0], [0, 0, 0], [0, 0, speed]]
    motion = {"times": [0, start, start + 1.0], "positions": places}
    table = {"name": "table", "type": "kinematic", "motion": motion, "shapes": [plate]}
    ball = {"name": "ball", "position": [0, 0, 0.1], "mass": 1.0}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1}]
    sim = carried(table, ball, {"restitution": restitution}, dt)
    sim.advance(130)
    thrown = (1.0 + restitution) * speed - 9.81 * (sim.time - start)
    assert sim.velocities()[1, 2] == pytest.approx(thrown, abs=1.5 * 9.81 * dt)
    energy = sim.summary()["energy"]
    # m (1 + e) v^2 of work, of which m (1 - e^2) v^2/2 are lost
    assert energy["work_in"] == pytest.approx((1.0 + restitution) * speed**2, rel=0.02)
    lost = 0.5 * (1.0 - restitution**2) * speed**2
    assert energy["dissipated_impact"] == pytest.approx(lost, abs=0.02)
    assert abs(energy["correction"]) < 3e-3
    assert sim.findings() == []


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
@pytest.mark.parametrize("dt", [2e-3, 0.01, 0.02])
def test_what_a_lift_carries_stays_on_it(interpolation: str, dt: float) -> None:
    """Up and down by 10 cm, told at 50 Hz: at kinks nothing is pressed in or left behind."""
    w, times = 2.0 * math.pi, np.arange(150) * 0.02
    plate = {"type": "box", "size": [1.0, 1.0, 0.1], "position": [0, 0, -0.05]}
    places = np.outer(0.05 * (1.0 - np.cos(w * times)), [0.0, 0.0, 1.0])
    motion = {"times": times.tolist(), "positions": places.tolist(), "interpolation": interpolation}
    table = {"name": "table", "type": "kinematic", "motion": motion, "shapes": [plate]}
    box = {"name": "box", "position": [0, 0, 0.1], "mass": 1.0}
    box["shapes"] = [{"type": "box", "size": [0.2, 0.2, 0.2]}]
    sim = carried(table, box, {"friction": 0.5}, dt)
    sim.advance(round(2.5 / dt))
    assert sim.poses()[1, 2] - 0.1 == pytest.approx(sim.poses()[0, 2], abs=2e-4)
    assert sim.findings() == []


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("damping", [0.0, 1e-6])
def test_the_work_of_a_body_that_pulls_at_a_spring_is_booked(
    damping: float, formulation: str
) -> None:
    """x = v t - (v/w) sin(w t), w^2 = k/m, and the energy of body and spring is the work done."""
    v, k, end = 0.5, 4.0, 2.0
    puller = {"name": "puller", "type": "kinematic", "position": [2, 0, 0]}
    pulled = {"name": "pulled", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    spring: Document = {"name": "s", "type": "spring", "parent": "puller", "child": "pulled"}
    spring |= {"anchor": [2, 0, 0], "anchor2": [0, 0, 0], "stiffness": k, "damping": damping}
    simulation = simulate(
        document(
            [puller | {"linear_velocity": [v, 0, 0]}, pulled],
            gravity=[0, 0, 0],
            forces=[spring],
            simulation={"dt": 1e-3, "duration": end, "formulation": formulation},
        )
    )
    simulation.advance(simulation.total_steps)
    w = math.sqrt(k)
    x, speed = v * end - v / w * math.sin(w * end), v - v * math.cos(w * end)
    assert simulation.poses()[1, 0] == pytest.approx(x, abs=1e-6)
    energy = 0.5 * speed**2 + 0.5 * k * (v * end - x) ** 2
    summary = simulation.summary()
    assert summary["energy"]["work_in"] == pytest.approx(energy, rel=1e-5)
    assert summary["energy"]["balance_error"] < 1e-5
    assert summary["verdict"]["status"] == "trusted"


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("kind", ["static", "kinematic", "dynamic"])
def test_bodies_of_every_kind_attract(kind: str, formulation: str) -> None:
    """A circular orbit about a heavy body takes 2 pi sqrt(r^3/(G M))."""
    sun: Document = {"name": "sun", "type": kind, "mass": 1e6}
    sun |= {"inertia": [1.0, 1.0, 1.0]} if kind == "dynamic" else {}
    planet: Document = {"name": "planet", "position": [1, 0, 0], "linear_velocity": [0, 2, 0]}
    planet |= {"mass": 1e-3, "inertia": [1e-6, 1e-6, 1e-6]}
    simulation = simulate(
        document(
            [sun, planet],
            gravity=[0, 0, 0],
            forces=[{"name": "pull", "type": "point_gravity", "constant": 4e-6}],
            simulation={"dt": math.pi / 4000, "duration": math.pi, "formulation": formulation},
        )
    )
    simulation.advance(simulation.total_steps)
    assert simulation.poses()[1, :3] == pytest.approx([1.0, 0.0, 0.0], abs=1e-5)
    assert simulation.summary()["energy"]["max_relative_drift"] < 1e-6


def test_straight_lines_and_rest_before_and_after() -> None:
    motion = {"times": [0.1, 0.2, 0.4], "positions": [[0, 0, 0], [1, 0, 0], [1, 2, 0]]}
    body = {"name": "b", "type": "kinematic", "motion": motion}
    sim = simulate(document([body], simulation={"dt": H}))
    found = {}
    for step in (50, 150, 200, 300, 500):
        sim.advance(step - sim.step_count)
        found[step] = (sim.poses()[0, :2].tolist(), sim.velocities()[0, :2].tolist())
    for step, place, speed in (
        (50, [0.0, 0.0], [0.0, 0.0]),
        (150, [0.5, 0.0], [10.0, 0.0]),
        # at a kink the mean of both sides
        (200, [1.0, 0.0], [5.0, 5.0]),
        (300, [1.0, 1.0], [0.0, 10.0]),
        (500, [1.0, 2.0], [0.0, 0.0]),
    ):
        assert found[step][0] == pytest.approx(place, abs=1e-9)
        assert found[step][1] == pytest.approx(speed, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"type": "static"}, "/bodies/0/motion"),
        ({"linear_velocity": [1, 0, 0]}, "/bodies/0/linear_velocity"),
        ({"position": [1, 0, 0]}, "/bodies/0/position"),
        ({"motion": {"times": [0, 1]}}, "/bodies/0/motion"),
        ({"motion": {"times": [0, 1], "positions": [[0, 0, 0]]}}, "/bodies/0/motion/positions"),
        (
            {"motion": {"times": [0, 0], "positions": [[0, 0, 0], [1, 0, 0]]}},
            "/bodies/0/motion/times/1",
        ),
    ],
)
def test_faults(change: Document, pointer: str) -> None:
    with pytest.raises(SceneInvalid) as caught:
        simulate(document([shaken(1.0, 0.1) | change]))
    assert pointer in [fault.pointer for fault in caught.value.errors]
