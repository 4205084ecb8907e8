"""Disk, square and polygon of friction, told apart by pushing a block in every direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import SceneError, Simulation
from tests.engine.scenes import document, ground, simulate

pytestmark = pytest.mark.reference

G = 9.81
MU = 0.4


def pushed(phi: float, share: float, method: str = "auto", **contact: Any) -> Simulation:
    """A block of 1 kg on one foot, pushed there with `share` of mu m g for 0.05 s."""
    force = share * MU * G
    push = {"type": "wrench", "body": "block", "point": [0, 0, 0]}
    push["force"] = [force * math.cos(phi), force * math.sin(phi), 0]
    # one contact, where push and friction both act: nothing turns
    foot = {"type": "sphere", "radius": 0.05, "material": "rough"}
    block = {"name": "block", "position": [0, 0, 0.05], "mass": 1.0, "inertia": [1.0] * 3}
    block["shapes"] = [foot]
    pair = {"materials": ["rough", "rough"], "friction": MU}
    sim = simulate(
        document(
            [ground(material="rough"), block],
            forces=[push],
            materials={"rough": {}},
            material_pairs=[pair],
            simulation={"dt": 1e-3},
            contact=contact,
            solver={"method": method, "tolerance": 1e-12},
        )
    )
    sim.advance(50)
    return sim


def turned(sim: Simulation, phi: float) -> float:
    """Angle from the push to the motion [rad]."""
    v = sim.velocities()[1]
    return (math.atan2(v[1], v[0]) - phi + math.pi) % (2 * math.pi) - math.pi


def polygon_direction(phi: float, share: float, directions: int) -> float:
    """Angle of the motion that the law asks for: the push less its nearest point in the polygon."""
    angles = 2 * math.pi * np.arange(directions) / directions
    corners = MU * G * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    push = share * MU * G * np.array([math.cos(phi), math.sin(phi)])
    best = np.full(2, np.inf)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        s = np.clip((push - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        if np.linalg.norm(push - a - s * (b - a)) < np.linalg.norm(push - best):
            best = a + s * (b - a)
    moved = push - best
    return math.atan2(moved[1], moved[0]) - phi


@pytest.mark.parametrize("degrees", range(0, 360, 40))
def test_cone_slides_the_way_it_is_pushed(degrees: int) -> None:
    phi = math.radians(degrees)
    sim = pushed(phi, 1.05)
    assert abs(turned(sim, phi)) < 1e-6
    assert np.linalg.norm(sim.velocities()[1, :2]) == pytest.approx(0.05 * MU * G * 0.05, rel=1e-9)
    assert np.abs(pushed(phi, 0.999).velocities()[1]).max() < 1e-9


@pytest.mark.parametrize(("share", "sticks"), [(1.4, True), (1.43, False)])
def test_square_holds_its_diagonal_up_to_root_two(share: float, sticks: bool) -> None:
    """The axes of the square are those of the contact, here of the world."""
    speed = np.abs(pushed(math.pi / 4, share, friction_cone="box").velocities()[1]).max()
    assert speed < 1e-9 if sticks else speed > 1e-3


@pytest.mark.parametrize("method", ["auto", "lemke", "pgs"])
@pytest.mark.parametrize("directions", [4, 6, 8, 16, 64])
def test_polygon_is_off_by_half_a_sector_at_most(directions: int, method: str) -> None:
    worst = 0.0
    for phi in (0.1, 0.5, 1.0, 2.2):
        sim = pushed(phi, 3.0, method, friction_cone="polyhedral", directions=directions)
        off = turned(sim, phi)
        assert abs(off) <= math.pi / directions
        # the tangents' own axes: the first along x or y of the plane, both are corners for 4, 8, 16
        if directions % 4 == 0:
            expected = polygon_direction(phi, 3.0, directions)
            assert off == pytest.approx(expected, abs=1e-6)
        worst = max(worst, abs(off))
        assert sim.summary()["energy"]["balance_error"] < 1e-9
    assert worst > 0.0


def test_polygon_holds_less_between_its_corners() -> None:
    """A polygon of four is inscribed: at 45 degrees it holds cos(pi/4) of mu m g."""
    held = pushed(math.pi / 4, 0.70, friction_cone="polyhedral", directions=4)
    assert np.abs(held.velocities()[1]).max() < 1e-9
    slides = pushed(math.pi / 4, 0.72, friction_cone="polyhedral", directions=4)
    assert np.linalg.norm(slides.velocities()[1, :2]) > 1e-3


@pytest.mark.parametrize(
    ("method", "cone"), [("pivoting", "cone"), ("pivoting", "polyhedral"), ("lemke", "cone")]
)
def test_what_a_method_cannot_solve_is_refused(method: str, cone: str) -> None:
    with pytest.raises(SceneError) as refused:
        pushed(0.0, 1.0, method, friction_cone=cone)
    (fault,) = refused.value.errors
    assert fault.pointer == "/simulation/solver/method"
    assert cone in fault.message
    assert "/simulation/contact/friction_cone" in str(fault.hint)
