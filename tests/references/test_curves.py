"""Couplings with curves: cams, grooves and beads on wires in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.engine.constraints.coupling_terms import curve_at
from cardan.schemas import load_scene
from cardan.schemas.error import SceneInvalid
from tests.engine.scenes import Document, document, simulate
from tests.references.test_couplings import FORM, coupling, rows_of

pytestmark = pytest.mark.reference

G = 9.81
LIFT, CORNERS = 0.02, 72
TURN = 2.0 * math.pi


def cam_points() -> list[list[float]]:
    """e (1 - cos phi), closed exactly."""
    at = [TURN * k / CORNERS for k in range(CORNERS)]
    return [[x, LIFT * (1.0 - math.cos(x))] for x in at] + [[TURN, 0.0]]


def cam(formulation: str, speed: float, slack: bool, **simulation: Any) -> Document:
    """A follower of 1 kg above a cam that a drive turns."""
    small = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01]}
    bodies: list[Document] = [{"name": "cam", **small}, {"name": "follower", **small}]
    motor = {"type": "velocity", "target": speed}
    turn = {"type": "hinge", "anchor": [0, 0, 0], "axis": [0, 1, 0], "motor": motor}
    joints: list[Document] = [
        {"name": "turn", "parent": "world", "child": "cam", **turn},
        {
            "name": "lift",
            "type": "slider",
            "parent": "world",
            "child": "follower",
            "axis": [0, 0, 1],
        },
        coupling("law", {"turn": 1.0, "lift": -1.0}, slack=slack, offset=0.0),
    ]
    joints[2]["terms"][0]["curve"] = {"points": cam_points(), "periodic": True}
    settings = {"dt": 1e-3, "formulation": formulation, "collisions": False, **simulation}
    return document(bodies, joints, simulation=settings)


@FORM
def test_a_groove_leads_its_follower_over_many_turns(formulation: str) -> None:
    w = 20.0
    sim = simulate(cam(formulation, w, slack=False))
    for _ in range(10):
        sim.advance(100)
        rows = rows_of(sim)
        phi = rows["turn"]["q"]
        assert rows["lift"]["q"] == pytest.approx(LIFT * (1.0 - math.cos(phi)), abs=1e-7)
        # forces are those of the kick, in the middle of the step
        middle = phi - 0.5e-3 * w
        force = G + LIFT * w**2 * math.cos(middle)
        assert -rows["law"]["limit_force"] == pytest.approx(force, rel=2e-3)
        torque = force * LIFT * math.sin(middle)
        assert rows["turn"]["motor_force"] == pytest.approx(torque, abs=2e-3)
    assert sim.summary()["verdict"]["status"] == "trusted"


@FORM
def test_a_follower_leaves_its_cam_where_that_falls_faster(formulation: str) -> None:
    w = 30.0
    sim = simulate(cam(formulation, w, slack=True))
    off = math.acos(-G / (LIFT * w**2)) / w
    sim.advance(math.floor(off / 1e-3) - 2)
    phi = rows_of(sim)["turn"]["q"]
    assert rows_of(sim)["lift"]["q"] == pytest.approx(LIFT * (1.0 - math.cos(phi)), abs=5e-5)
    assert rows_of(sim)["law"]["limit_force"] < 0.0
    sim.advance(20)
    t = sim.time - off
    wanted = LIFT * (1.0 - math.cos(w * off)) + LIFT * w * math.sin(w * off) * t - 0.5 * G * t * t
    assert rows_of(sim)["lift"]["q"] == pytest.approx(wanted, abs=2e-4)
    assert rows_of(sim)["law"]["limit_force"] == 0.0


def bead(formulation: str, x: float, slack: bool = False, **simulation: Any) -> Document:
    """A bead of 2 kg on the wire z = x^2/(2 R), R = 0.5; three points determine the parabola."""
    bodies = [
        {"name": "carriage", "mass": 1e-6, "inertia": [1e-6] * 3},
        {"name": "bead", "mass": 2.0, "inertia": [0.01] * 3},
    ]
    joints: list[Document] = [
        {"name": "x", "type": "slider", "parent": "world", "child": "carriage", "axis": [1, 0, 0]},
        {"name": "z", "type": "slider", "parent": "carriage", "child": "bead", "axis": [0, 0, 1]},
        coupling("wire", {"x": 1.0, "z": -1.0}, slack=slack, offset=0.0),
    ]
    joints[2]["terms"][0]["curve"] = {"points": [[-2, 4], [0, 0], [2, 4]]}
    joints[0]["initial"] = {"position": x}
    joints[1]["initial"] = {"position": x * x}
    settings = {"dt": 1e-3, "formulation": formulation, "collisions": False, **simulation}
    return document(bodies, joints, simulation=settings)


@FORM
def test_a_bead_on_a_wire_keeps_its_energy(formulation: str) -> None:
    sim = simulate(bead(formulation, 0.5))
    lowest = math.inf
    for _ in range(200):
        sim.advance(10)
        rows = rows_of(sim)
        assert rows["z"]["q"] == pytest.approx(rows["x"]["q"] ** 2, abs=2e-6)
        lowest = min(lowest, rows["x"]["q"])
    assert lowest == pytest.approx(-0.5, abs=2e-3)
    assert sim.summary()["energy"]["balance_error"] < 1e-6


@pytest.mark.parametrize("slack", [False, True])
def test_statics_and_modes_know_the_curve(slack: bool) -> None:
    """At rest at the bottom, the frequency is sqrt(g z''), z'' = 2; a drive holds it elsewhere."""
    if not slack:
        model = cardan.linearize(load_scene(bead("maximal", 0.0)))
        assert max(abs(model.eigenvalues.imag)) == pytest.approx(math.sqrt(2.0 * G), rel=1e-5)
    held = bead("maximal", 0.3, slack)
    held["joints"][0]["motor"] = {"type": "position", "target": 0.3}
    found = cardan.statics(load_scene(held), search=False)
    assert found.status == "equilibrium"
    force = next(one["drives"][0] for one in found.joints if one["joint"] == "x")
    assert abs(force) == pytest.approx(2.0 * G * 0.6, rel=1e-4)


def test_curves_are_cubic_where_they_are_and_straight_beyond() -> None:
    from cardan.engine.build.couplings import period_of, pieces_of
    from cardan.schemas.joint import Curve

    law = np.polynomial.Polynomial([0.3, -1.0, 0.5, 2.0])
    cubic = Curve(points=tuple((x, float(law(x))) for x in (-1.0, 0.0, 0.5, 2.0)))
    pieces = pieces_of(cubic)
    for q in (-0.7, 0.1, 0.5, 1.9):
        found = curve_at(pieces, (0, len(pieces)), 0.0, q)
        np.testing.assert_allclose(found, [law(q), law.deriv()(q), law.deriv(2)(q)], rtol=1e-12)
    for end, q in ((-1.0, -3.0), (2.0, 4.0)):
        value, slope, bend = curve_at(pieces, (0, len(pieces)), 0.0, q)
        assert slope == pytest.approx(law.deriv()(end), rel=1e-12)
        assert value == pytest.approx(law(end) + slope * (q - end), rel=1e-12)
        assert bend == 0.0
    closed = Curve(points=tuple(tuple(p) for p in cam_points()), periodic=True)
    pieces, period = pieces_of(closed), period_of(closed)
    for q in (0.4, 0.4 + 3 * TURN, 0.4 - 5 * TURN):
        value, slope, bend = curve_at(pieces, (0, len(pieces)), period, q)
        assert value == pytest.approx(LIFT * (1.0 - math.cos(0.4)), abs=1e-8)
        assert slope == pytest.approx(LIFT * math.sin(0.4), abs=1e-6)
        assert bend == pytest.approx(LIFT * math.cos(0.4), abs=1e-4)


@pytest.mark.parametrize(
    ("curve", "more", "code"),
    [
        ({"points": [[0, 0], [0, 1]]}, {}, "not_ascending"),
        ({"points": [[0, 0], [1, 1]], "periodic": True}, {}, "period_open"),
        ({"points": [[0, 0], [1, 1]]}, {"stiffness": 10.0}, "curve_spring"),
    ],
)
def test_what_is_no_curve_is_refused(curve: Document, more: Document, code: str) -> None:
    scene = bead("maximal", 0.0)
    del scene["joints"][2]["slack"]
    scene["joints"][2]["terms"][0]["curve"] = curve
    scene["joints"][2].update(more)
    with pytest.raises(SceneInvalid) as refused:
        load_scene(scene)
    assert code in {fault.code for fault in refused.value.errors}
