"""Cables over points and wheels of moving bodies: drums, tackles, belts, Atwood's machines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cardan
from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.error import SceneInvalid
from tests.engine.scenes import Document, simulate
from tests.references.test_couplings import FORM, ITERATED, coupling, rows_of, scene

pytestmark = pytest.mark.reference

G = 9.81
R = 0.2
Y = [0, 1, 0]


def body(name: str, at: tuple[float, float], mass: float, inertia: float = 0.1) -> Document:
    """A body in the plane of x and z."""
    return {"name": name, "mass": mass, "inertia": [inertia] * 3, "position": [at[0], 0, at[1]]}


def line(
    name: str, ends: tuple[str, str], a: tuple[float, float], b: tuple[float, float], **more: Any
) -> Document:
    """A distance joint from a point of the first to one of the second body."""
    joint = {"name": name, "type": "distance", "parent": ends[0], "child": ends[1]}
    return joint | {"anchor": [a[0], 0, a[1]], "anchor2": [b[0], 0, b[1]]} | more


def wheel(radius: float = R, sense: float = 1.0) -> Document:
    """A wheel about y: the cable runs from +z to +x."""
    return {"radius": radius, "axis": [0, sense, 0]}


def bearing(child: str, at: tuple[float, float], **more: Any) -> Document:
    """A hinge about y, of the name of the child."""
    joint = {"name": child, "type": "hinge", "parent": "world", "child": child}
    return joint | {"anchor": [at[0], 0, at[1]], "axis": Y} | more


def falling(
    bodies: list[Document], joints: list[Document], formulation: str, **more: Any
) -> Simulation:
    """A simulation under gravity without contacts."""
    return simulate(scene(bodies, joints, formulation, gravity=[0, 0, -G], **more))


# ---------------------------------------------------------------------- a drum

MASS, DRUM = 3.0, 0.05
AUTO = [("maximal", "auto"), ("reduced", "auto")]
SOLVED = [("maximal", method) for method in ("pgs", *ITERATED)]


def winch(formulation: str, simulation: Document | None = None, **motor: Any) -> Document:
    """A load on a drum, which hangs on its right side."""
    drum = bearing("drum", (0, 0), **({"motor": motor} if motor else {}))
    rope = line("rope", ("drum", "load"), (0, 0), (R, -2.0), wheel=wheel())
    bodies = [body("drum", (0, 0), 1.0, DRUM), body("load", (R, -2.0), MASS)]
    more = {"simulation": simulation} if simulation else {}
    return scene(bodies, [drum, rope], formulation, gravity=[0, 0, -G], **more)


@pytest.mark.parametrize(("formulation", "method"), [*SOLVED, *AUTO])
def test_a_load_unwinds_a_drum(formulation: str, method: str) -> None:
    options = {"method": method, "tolerance": 1e-12, "max_iterations": 5000}
    steps = 2000 if method == "auto" else 40
    sim = simulate(winch(formulation, {"solver": options}))
    sim.advance(steps)
    a = MASS * G / (MASS + DRUM / R**2)
    fallen = 0.5 * a * (1e-3 * steps) ** 2
    rows = rows_of(sim)
    assert sim.poses()[1, 2] == pytest.approx(-2.0 - fallen, rel=1e-7)
    assert sim.poses()[1, 0] == pytest.approx(R, abs=1e-7)
    # the drum turned several times, and the rope knows
    assert rows["drum"]["q"] == pytest.approx(fallen / R, rel=1e-7)
    assert rows["rope"]["q"] == pytest.approx(2.0, abs=1e-7)
    if method == "auto":
        assert fallen / R > 6 * math.pi
        assert rows["rope"]["fz"] == pytest.approx(MASS * (G - a), rel=1e-7)
        energy = sim.summary()["energy"]
        assert energy["balance_error"] < 1e-9
        assert energy["max_relative_drift"] < 1e-8


@FORM
def test_a_winch_winds_by_its_radius(formulation: str) -> None:
    sim = simulate(winch(formulation, type="velocity", target=-5.0))
    sim.advance(1500)
    rows = rows_of(sim)
    assert rows["drum"]["q"] == pytest.approx(-7.5, rel=1e-9)
    assert sim.poses()[1, 2] == pytest.approx(-2.0 + 7.5 * R, abs=1e-7)
    assert rows["drum"]["motor_force"] == pytest.approx(-MASS * G * R, rel=1e-6)
    assert rows["rope"]["q"] == pytest.approx(2.0, abs=1e-8)


def test_a_cable_wound_up_to_the_rim_is_told_what_mends_it() -> None:
    """A stop of the drum, which then holds the load; not a smaller step."""
    document = winch("maximal", type="velocity", target=-5.0, max_force=100.0)
    sim = simulate(document)
    sim.advance(2300)
    found = sim.summary()["verdict"]
    assert found["status"] == "wrong"
    assert all("let a stop" in one["change"] for one in found["findings"])
    document["joints"][0]["limits"] = {"lower": -9.0, "upper": 1.0}
    sim = simulate(document)
    sim.advance(2300)
    assert sim.summary()["verdict"]["status"] == "trusted"
    assert sim.poses()[1, 2] == pytest.approx(-2.0 + 9.0 * R, abs=1e-6)


@FORM
def test_states_that_are_set_count_whole_turns(formulation: str) -> None:
    document = winch(formulation)
    lift = {"name": "lift", "type": "slider", "parent": "world", "child": "load", "axis": [0, 0, 1]}
    document["joints"].append(lift)
    sim = simulate(document)
    sim.set_state({"drum": 12.0, "lift": -12.0 * R})
    assert rows_of(sim)["rope"]["q"] == pytest.approx(2.0, abs=1e-12)
    sim.advance(100)
    assert rows_of(sim)["rope"]["q"] == pytest.approx(2.0, abs=1e-7)
    with pytest.raises(ValueError, match="rope"):
        sim.set_state({"drum": 12.0, "lift": -12.0 * R + 2 * math.pi * R})


def test_statics_knows_the_torque_of_a_drum() -> None:
    held = winch("maximal", type="position", target=0.0)
    rest = cardan.statics(load_scene(held), search=False)
    assert rest.status == "equilibrium"
    drum = next(one for one in rest.joints if one["joint"] == "drum")
    assert drum["drives"][0] == pytest.approx(-MASS * G * R, rel=1e-9)


# ---------------------------------------------------------------------- Atwood's machine


def atwood(formulation: str, slides: bool, **more: Any) -> Document:
    """Two weights over one wheel, on which the cable slides, or which it takes along."""
    bodies = [body("pulley", (0, 0), 1.0, DRUM), body("heavy", (-R, -1.0), 3.0)]
    bodies.append(body("light", (R, -2.0), 2.0))
    joints = [bearing("pulley", (0, 0))]
    joints.append(line("up", ("heavy", "pulley"), (-R, -1.0), (0, 0), wheel2=wheel()))
    joints.append(line("down", ("pulley", "light"), (0, 0), (R, -2.0), wheel=wheel()))
    if slides:
        joints.append(coupling("cable", {"up": 1.0, "down": 1.0}))
    return scene(bodies, joints, formulation, gravity=[0, 0, -G], **more)


@FORM
@pytest.mark.parametrize("slides", [True, False])
def test_atwoods_machine_with_a_wheel(formulation: str, slides: bool) -> None:
    sim = simulate(atwood(formulation, slides))
    sim.advance(500)
    a = G / (5.0 if slides else 5.0 + DRUM / R**2)
    z = sim.poses()[:, 2]
    assert z[1:] == pytest.approx([-1.0 - 0.125 * a, -2.0 + 0.125 * a], abs=1e-7)
    rows = rows_of(sim)
    assert rows["pulley"]["q"] == pytest.approx(0.0 if slides else -0.125 * a / R, abs=1e-6)
    if slides:
        assert rows["cable"]["limit_force"] == pytest.approx(-2.0 * (G + a), rel=1e-7)
        assert rows["cable"]["q"] == pytest.approx(3.0, abs=1e-8)
        # the bearing carries both strands
        assert rows["pulley"]["fz"] == pytest.approx(4.0 * (G + a) + G, rel=1e-6)
    else:
        up, down = (abs(float(rows[name]["fz"])) for name in ("up", "down"))
        assert up == pytest.approx(3.0 * (G - a), rel=1e-6)
        assert down == pytest.approx(2.0 * (G + a), rel=1e-6)
    energy = sim.summary()["energy"]
    assert energy["balance_error"] < 1e-9
    assert energy["max_relative_drift"] < 1e-7


def swung(t: float, turns: bool) -> tuple[float, float]:
    """Tangent angle and wound length of a swinging Atwood machine on a wheel.

    T = (m + M + I/R^2) q'^2/2 + m l^2 phi'^2/2,  l = q + R phi,  q: length drawn from M's side
    V = m g (R sin phi - l cos phi) + M g q
    """
    m, M = 2.0, 3.0
    moved = m + M + (DRUM / R**2 if turns else 0.0)

    def rates(_: float, x: Any) -> list[float]:
        q, phi, dq, dphi = x
        length = q + R * phi
        ddq = (m * length * dphi**2 + m * G * math.cos(phi) - M * G) / moved
        ddphi = (-2.0 * dq * dphi - R * dphi**2 - G * math.sin(phi)) / length
        return [dq, dphi, ddq, ddphi]

    start = [2.0 - R * 0.6, 0.6, 0.0, 0.0]
    found = solve_ivp(rates, (0.0, t), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return float(found[0]), float(found[1])


def swinging(formulation: str, slides: bool, **simulation: Any) -> Simulation:
    """The lighter weight starts 0.6 rad aside, its strand 2 m long."""
    document = atwood(formulation, slides, simulation=simulation)
    c, s = math.cos(0.6), math.sin(0.6)
    at = [R * c + 2.0 * s, 0.0, R * s - 2.0 * c]
    document["bodies"][2]["position"] = document["joints"][2]["anchor2"] = at
    return simulate(document)


@FORM
@pytest.mark.parametrize("slides", [True, False])
def test_a_swinging_atwood_machine_is_of_second_order(formulation: str, slides: bool) -> None:
    q, phi = swung(0.6, not slides)
    length = q + R * phi
    c, s = math.cos(phi), math.sin(phi)
    wanted = np.array([R * c + length * s, R * s - length * c])
    errors = []
    for n in (150, 300):
        sim = swinging(formulation, slides, dt=0.6 / n)
        sim.advance(n)
        errors.append(float(np.abs(sim.poses()[2, [0, 2]] - wanted).max()))
        assert sim.summary()["energy"]["balance_error"] < 1e-9
    assert errors[0] < 2e-4
    assert 3.4 < errors[0] / errors[1] < 4.6
    if formulation == "reduced":
        exact = swinging(formulation, slides, dt=0.6 / 300, integrator="rk4")
        exact.advance(300)
        assert exact.poses()[2, [0, 2]] == pytest.approx(wanted, abs=1e-9)


# ---------------------------------------------------------------------- tackle, belts, a spring


def tackle(formulation: str, **more: Any) -> Document:
    """A load in a loop of a cable, from the ceiling around it and over a fixed wheel to a weight.

    The cable runs around the two wheels in opposite senses: its middle strand is a crossed tangent.
    """
    over, weight, back = (3 * R, 0.0), (5 * R, -1.0), wheel(2 * R, -1.0)
    bodies = [body("load", (0, -2.0), 5.0), body("weight", weight, 2.0)]
    joints = [
        line("first", ("world", "load"), (-R, 0), (0, -2.0), wheel2=wheel(sense=-1.0)),
        line("second", ("world", "load"), over, (0, -2.0), wheel=back, wheel2=wheel()),
        line("third", ("world", "weight"), over, weight, wheel=wheel(2 * R)),
    ]
    joints.append(coupling("cable", {"first": 1.0, "second": 1.0, "third": 1.0}) | more)
    return scene(bodies, joints, formulation, gravity=[0, 0, -G])


@FORM
def test_a_block_and_tackle_halves_the_force(formulation: str) -> None:
    sim = simulate(tackle(formulation))
    sim.advance(300)
    a = G * (5.0 - 2.0 * 2.0) / (5.0 + 4.0 * 2.0)
    assert sim.poses()[:, 2] == pytest.approx([-2.0 - 0.045 * a, -1.0 + 0.09 * a], abs=1e-7)
    assert sim.poses()[:, 0] == pytest.approx([0.0, 5 * R], abs=1e-7)
    assert rows_of(sim)["cable"]["limit_force"] == pytest.approx(-2.0 * (G + 2 * a), rel=1e-6)
    assert sim.summary()["energy"]["balance_error"] < 1e-9


@FORM
@pytest.mark.parametrize("crossed", [False, True])
def test_a_strand_turns_wheels_by_their_radii(formulation: str, crossed: bool) -> None:
    bodies = [body("small", (0, 0), 1.0, 0.01), body("large", (1.0, 0), 1.0, 0.03)]
    joints = [bearing("small", (0, 0)), bearing("large", (1.0, 0))]
    ends = {"wheel": wheel(0.1), "wheel2": wheel(0.25, -1.0 if crossed else 1.0)}
    joints.append(line("strand", ("small", "large"), (0, 0), (1.0, 0), **ends))
    forces = [{"type": "wrench", "body": "small", "torque": [0, -0.5, 0]}]
    sim = simulate(scene(bodies, joints, formulation, forces=forces))
    sim.advance(1000)
    sense = -1.0 if crossed else 1.0
    a = -0.5 / (0.01 + 0.03 * (0.1 / 0.25) ** 2)
    rows = rows_of(sim)
    assert rows["small"]["qd"] == pytest.approx(a, rel=1e-6)
    assert rows["large"]["qd"] == pytest.approx(sense * 0.4 * a, rel=1e-6)
    straight = math.sqrt(1.0 - (0.25 * sense - 0.1) ** 2)
    assert rows["strand"]["q"] == pytest.approx(straight, abs=1e-8)
    assert rows["small"]["q"] < -10.0


@FORM
def test_an_elastic_cable_swings_at_its_frequency(formulation: str) -> None:
    """Both weights hang at rest; the lighter one is pushed: m1 m2/(m1 + m2) x'' = -k x."""
    document = atwood(formulation, True, simulation={"dt": 2e-4})
    document["gravity"] = [0, 0, 0]
    document["joints"][3] |= {"stiffness": 3000.0}
    document["bodies"][2]["linear_velocity"] = [0, 0, -0.2]
    sim = simulate(document)
    omega, t = math.sqrt(3000.0 / 1.2), 0.02
    sim.advance(100)
    row = rows_of(sim)["cable"]
    assert row["q"] - 3.0 == pytest.approx(0.2 / omega * math.sin(omega * t), rel=1e-3)
    assert sim.summary()["energy"]["balance_error"] < 1e-10


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"anchor2": [0.1, 0, 0.1]}, "/wheel/radius", "no_tangent"),
        ({"wheel": {"radius": R, "axis": [0, 1, 0.2]}}, "/wheel/axis", "out_of_plane"),
        ({"wheel2": {"radius": R, "axis": [1, 1, 0]}}, "/wheel2/axis", "wheels_not_parallel"),
        ({"wheel": {"radius": 0.0, "axis": Y}}, "/wheel/radius", "out_of_range"),
        ({"wheel": {"axis": Y}}, "/wheel/radius", "missing"),
    ],
)
def test_what_a_wheel_cannot_be(change: Document, pointer: str, code: str) -> None:
    broken = winch("maximal")
    broken["joints"][1] |= change
    with pytest.raises(SceneInvalid) as refused:
        simulate(broken)
    assert (f"/joints/1{pointer}", code) in [
        (one.pointer, one.code) for one in refused.value.errors
    ]
