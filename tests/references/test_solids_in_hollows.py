"""Boxes, cylinders and convex shapes on and in hollow shapes: closed forms of rest and motion."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, document, ground, simulate
from tests.references.test_hollow import BOWL, LYING, ROUGH, TUBE, H, held, swing_of

pytestmark = pytest.mark.reference

G, TILT = 9.81, 0.02
LEANING = [math.cos(0.5 * TILT), 0.0, -math.sin(0.5 * TILT), 0.0]
SMOOTH: Document = {"materials": {"rough": {"friction": 0.0}}, "simulation": {"dt": H}}
SMOOTH_WALL = {"material": "rough"}


def body(shape: Document, position: Any, orientation: Any = (1, 0, 0, 0), **more: Any) -> Document:
    """A body of 1 kg."""
    place = {"position": [float(x) for x in position], "orientation": list(orientation)}
    return {"name": "body", "mass": 1.0, "shapes": [shape], **place, **more}


def period_of(sim: Simulation, steps: int = 4000) -> float:
    """Of the swing of the second body, whose energy stays."""
    found = swing_of(sim, steps)
    assert sim.summary()["energy"]["balance_error"] < 1e-8
    assert sim.summary()["verdict"]["status"] == "trusted"
    return found


@pytest.mark.parametrize("length", [0.4, 2.0])
def test_a_cylinder_rolls_in_a_tube_with_its_closed_period(length: float) -> None:
    """Shorter than the tube it touches by its rims, longer by the edges of the bore."""
    r = 0.1
    shaft = {"type": "cylinder", "radius": r, "length": length, "material": "rough"}
    place = [(1.0 - r) * math.sin(TILT), 0.0, -(1.0 - r) * math.cos(TILT)]
    scene = document([held(TUBE, orientation=LYING), body(shaft, place, LYING)], **ROUGH)
    wanted = 2.0 * math.pi * math.sqrt(1.5 * (1.0 - r) / G)
    assert period_of(simulate(scene)) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("length", [0.3, 3.0])
def test_a_block_slides_in_a_tube_as_a_pendulum(length: float) -> None:
    """On two edges on the wall it turns about the axis."""
    w, h = 0.4, 0.2
    far, inertia = math.sqrt(1.0 - 0.25 * w * w) - 0.5 * h, (w * w + h * h) / 12.0
    block = {"type": "box", "size": [w, length, h], "material": "rough"}
    place = [far * math.sin(TILT), 0.0, -far * math.cos(TILT)]
    scene = document([held(TUBE, orientation=LYING), body(block, place, LEANING)], **SMOOTH)
    wanted = 2.0 * math.pi * math.sqrt((inertia + far * far) / (G * far))
    assert period_of(simulate(scene)) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("kind", ["box", "convex", "cylinder"])
def test_what_slides_in_a_bowl_on_its_corners_is_a_pendulum(kind: str) -> None:
    c = 0.4
    corners = [list(x) for x in itertools.product((-0.5 * c, 0.5 * c), repeat=3)]
    r = c / math.sqrt(2.0)
    shapes: dict[str, Document] = {
        "box": {"type": "box", "size": [c, c, c]},
        "convex": {"type": "convex", "points": corners},
        "cylinder": {"type": "cylinder", "radius": r, "length": c},
    }
    inertia = 0.25 * r * r + c * c / 12.0 if kind == "cylinder" else c * c / 6.0
    far = math.sqrt(1.0 - r * r) - 0.5 * c
    place = [far * math.sin(TILT), 0.0, -far * math.cos(TILT)]
    scene = document([held(BOWL), body(shapes[kind] | SMOOTH_WALL, place, LEANING)], **SMOOTH)
    wanted = 2.0 * math.pi * math.sqrt((inertia + far * far) / (G * far))
    assert period_of(simulate(scene)) == pytest.approx(wanted, rel=1e-3)


def test_ring_on_a_cylinder_swings_with_its_closed_period() -> None:
    major, minor, peg = 0.2, 0.02, 0.01
    inner = major - minor
    far = inner - peg
    bar = {"type": "cylinder", "radius": peg, "length": 0.4, "material": "rough"}
    ring = {"type": "ring", "major_radius": major, "minor_radius": minor, "material": "rough"}
    place = [far * math.sin(TILT), 0.0, -far * math.cos(TILT)]
    scene = document([held(bar, orientation=LYING), body(ring, place, LYING)], **ROUGH)
    inertia = (major**2 + 0.75 * minor**2) / inner**2
    wanted = 2.0 * math.pi * math.sqrt(far * (1.0 + inertia) / G)
    assert period_of(simulate(scene)) == pytest.approx(wanted, rel=1e-3)


CUP = {"type": "bowl", "inner_radius": 0.3, "outer_radius": 0.32}
PIPE = {"type": "tube", "inner_radius": 0.1, "outer_radius": 0.12, "length": 0.2}
HOOP = {"type": "ring", "major_radius": 0.2, "minor_radius": 0.02}
CUBE = {"type": "box", "size": [0.3, 0.3, 0.3]}
PLANK = {"type": "box", "size": [1.0, 0.06, 0.04]}
DISC = {"type": "cylinder", "radius": 0.11, "length": 0.05}


@pytest.mark.parametrize(
    ("support", "shape", "height", "q"),
    [
        (CUBE, PIPE, 0.25, (1, 0, 0, 0)),
        (CUBE, PIPE, 0.27, LYING),
        (CUBE, HOOP, 0.17, (1, 0, 0, 0)),
        (CUBE, CUP, 0.15 - math.sqrt(0.3**2 - 0.045), (0, 1, 0, 0)),
        (CUBE | {"size": [0.7, 0.7, 0.3]}, CUP, 0.15, (0, 1, 0, 0)),
        (PIPE, CUBE, 0.25, (1, 0, 0, 0)),
        (PIPE, PLANK, 0.12, (1, 0, 0, 0)),
        (PIPE, DISC, 0.125, (1, 0, 0, 0)),
        (HOOP, PLANK, 0.04, (1, 0, 0, 0)),
        (HOOP, DISC | {"radius": 0.3}, 0.045, (1, 0, 0, 0)),
        (CUP, PLANK, 0.02, (1, 0, 0, 0)),
        (CUP, DISC, 0.025 - math.sqrt(0.3**2 - 0.11**2), (1, 0, 0, 0)),
    ],
)
def test_shapes_rest_on_one_another(
    support: Document, shape: Document, height: float, q: Any
) -> None:
    sim = simulate(document([held(support), body(shape, [0, 0, height], q)], **ROUGH))
    sim.advance(500)
    np.testing.assert_allclose(sim.poses()[1, :3], [0, 0, height], atol=1e-5)
    np.testing.assert_allclose(np.abs(sim.poses()[1, 3:] @ q), 1.0, atol=1e-9)
    assert np.abs(sim.velocities()[1]).max() < 1e-4


@pytest.mark.parametrize("length", [0.15, 0.4])
def test_a_shaft_with_little_play_turns_in_its_bore(length: float) -> None:
    """Friction brakes it, and it stays within the play on every side.

    It climbs the wall within a step (sqrt(play/g) is 1.4 ms), so that its first steps are rough.
    """
    r, play, mu = 0.05, 2e-5, 0.1
    wall = {"type": "tube", "inner_radius": r + play, "outer_radius": 0.1, "length": 0.2}
    shaft = {"type": "cylinder", "radius": r, "length": length, "material": "rough"}
    inertia = 0.5 * r * r
    turning = body(shaft, [0, 0, -play], LYING, angular_velocity=[0, -30, 0])
    sim = simulate(
        document(
            [held(wall | SMOOTH_WALL, orientation=LYING), turning],
            materials={"rough": {"friction": mu}},
            simulation={"dt": H},
        )
    )
    sim.advance(500)
    # the contact lies where the wall is inclined by the friction angle
    share = mu / math.sqrt(1.0 + mu * mu)
    wanted = 30.0 - G * r * share / inertia * 0.5
    assert -sim.velocities()[1, 4] == pytest.approx(wanted, rel=2e-2)
    assert np.hypot(*sim.poses()[1, [0, 2]]) < 1.2 * play


def test_a_leaning_peg_is_held_by_both_ends_of_its_hole() -> None:
    """It leans by a with 2 R cos a - l sin a = 2 r: across it, opposite edges of the bore."""
    r, bore, depth = 0.05, 0.052, 0.2
    low, high = 0.0, 0.2
    for _ in range(60):
        a = 0.5 * (low + high)
        if 2.0 * bore * math.cos(a) - depth * math.sin(a) > 2.0 * r:
            low = a
        else:
            high = a
    wall = {"type": "tube", "inner_radius": bore, "outer_radius": 0.1, "length": depth}
    peg = {"type": "cylinder", "radius": r, "length": 0.6}
    push = {"type": "wrench", "body": "body", "torque": [0, 5, 0]}
    sim = simulate(
        document([held(wall), body(peg, [0, 0, 0])], forces=[push], gravity=[0, 0, 0], **ROUGH)
    )
    sim.advance(1500)
    q = sim.poses()[1, 3:]
    lean = math.acos(1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2))
    assert lean == pytest.approx(high, abs=2e-4)


def test_rollers_of_a_bearing_go_around_with_half_the_speed() -> None:
    """The cage of an inner race R and rollers r turns with w R/(2 (R + r)); nothing slips."""
    inner, r, w = 0.1, 0.02, 5.0
    outer = inner + 2.0 * r
    parts: list[Document] = [
        held({"type": "tube", "inner_radius": outer, "outer_radius": 0.16, "length": 0.06})
    ]
    race = {"type": "cylinder", "radius": inner, "length": 0.06}
    parts.append({"name": "race", "mass": 1.0, "shapes": [race], "angular_velocity": [0, 0, w]})
    cage = 0.5 * w * inner / (inner + r)
    for k in range(3):
        a = 2.0 * math.pi * k / 3.0
        middle = [(inner + r) * math.cos(a), (inner + r) * math.sin(a), 0.0]
        parts.append(
            {
                "name": f"roller {k}",
                "position": middle,
                "mass": 0.1,
                "shapes": [{"type": "cylinder", "radius": r, "length": 0.05}],
                "linear_velocity": [-cage * middle[1], cage * middle[0], 0.0],
                "angular_velocity": [0, 0, -0.5 * w * inner / r],
            }
        )
    drive = {"type": "velocity", "target": w}
    joint = {
        "name": "shaft",
        "type": "hinge",
        "parent": "world",
        "child": "race",
        "anchor": [0, 0, 0],
        "axis": [0, 0, 1],
        "motor": drive,
    }
    rails: list[Document] = [
        {
            "name": f"flat {k}",
            "type": "planar",
            "parent": "world",
            "child": f"roller {k}",
            "axis": [0, 0, 1],
        }
        for k in range(3)
    ]
    material = {"friction": 0.5}
    sim = simulate(
        document(
            parts,
            [joint, *rails],
            gravity=[0, 0, 0],
            materials={"default": material},
            simulation={"dt": H},
        )
    )
    sim.advance(1000)
    for k in range(3):
        x, y = sim.poses()[2 + k, :2]
        assert np.hypot(x, y) == pytest.approx(inner + r, abs=1e-4)
        turned = (math.atan2(y, x) - 2.0 * math.pi * k / 3.0) % (2.0 * math.pi)
        assert turned == pytest.approx(cage * 1.0, rel=1e-2)


def test_a_fast_peg_does_not_leave_its_tube() -> None:
    peg = {"type": "cylinder", "radius": 0.1, "length": 0.2}
    thrown = body(peg, [0.2, 0, 0], linear_velocity=[60, 30, 0], angular_velocity=[3, 5, 7])
    sim = simulate(document([held(TUBE | {"length": 4.0}), thrown], gravity=[0, 0, 0], **ROUGH))
    for _ in range(40):
        sim.advance(5)
        assert np.hypot(*sim.poses()[1, :2]) < 0.95


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.5])
def test_a_peg_that_misses_its_hole_gets_no_energy_of_its_edges(friction: float) -> None:
    """It comes down aslant on a hole that it fits into by half a millimetre, and jams or slips."""
    hole = {"type": "tube", "outer_radius": 0.1, "inner_radius": 0.0205, "length": 0.2}
    peg = {"type": "cylinder", "radius": 0.02, "length": 0.2, "material": "rough"}
    fixed = {"name": "hole", "type": "static", "position": [0, 0, 0.1]}
    turned = [math.cos(0.01), 0.0, math.sin(0.01), 0.0]
    sim = simulate(
        document(
            [
                ground(),
                fixed | {"shapes": [hole | {"material": "rough"}]},
                body(peg, [0.001, 0, 0.31], turned),
            ],
            materials={"rough": {"friction": friction}},
            simulation={"dt": H},
        )
    )
    least = start = G * 0.31
    for _ in range(1000):
        sim.advance(1)
        energy = sim.energy()
        total = energy["kinetic"] + energy["potential"]
        assert total < start + 1e-6
        assert total < least + 0.02 * start
        least = min(least, total)


def test_a_falling_tube_is_caught_by_a_post() -> None:
    """It comes down over the post, and stands on the ground around it."""
    post = {"type": "cylinder", "radius": 0.09, "length": 0.3}
    fixed = {"name": "post", "type": "static", "position": [0, 0, 0.15], "shapes": [post]}
    pipe = body(PIPE, [0.005, 0, 0.5])
    sim = simulate(document([ground(), fixed, pipe], simulation={"dt": H}))
    sim.advance(1500)
    assert sim.poses()[2, 2] == pytest.approx(0.1, abs=1e-4)
    assert np.hypot(*sim.poses()[2, :2]) < 0.0101


@pytest.mark.parametrize("kind", ["box", "cylinder", "convex"])
@pytest.mark.parametrize("hollow", ["bowl", "tube", "ring"])
def test_what_is_thrown_into_a_hollow_shape_keeps_the_books(hollow: str, kind: str) -> None:
    """Sizes, speeds and friction at random; nothing enters a wall, and no energy appears."""
    supports = {"bowl": BOWL, "tube": TUBE, "ring": HOOP | {"major_radius": 0.6}}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        ball = rng.normal(size=(14, 3))
        ball *= 0.25 / np.linalg.norm(ball, axis=1)[:, None] * np.array([1.0, 0.8, 0.6])
        shapes: dict[str, Document] = {
            "box": {"type": "box", "size": list(rng.uniform(0.1, 0.6, 3))},
            "cylinder": {
                "type": "cylinder",
                "radius": rng.uniform(0.05, 0.3),
                "length": rng.uniform(0.05, 0.8),
            },
            "convex": {"type": "convex", "points": ball.tolist()},
        }
        turn = rng.normal(size=4)
        thrown = body(
            shapes[kind] | {"material": "rough"},
            [0.6, 0, 0.6] if hollow == "ring" else [0, 0, 0],
            (turn / np.linalg.norm(turn)).tolist(),
            linear_velocity=rng.normal(size=3).tolist(),
            angular_velocity=(3.0 * rng.normal(size=3)).tolist(),
        )
        place = {"orientation": LYING} if hollow == "tube" else {}
        floor = {"name": "floor", "type": "static", "position": [0, 0, -1.5]}
        floor["shapes"] = [{"type": "plane", "normal": [0, 0, 1]}]
        scene = document(
            [held(supports[hollow], **place), thrown, floor],
            materials={"rough": {"friction": rng.uniform(), "restitution": 0.5 * (seed % 2)}},
            simulation={"dt": 2e-3},
        )
        sim = simulate(scene)
        sim.advance(1000)
        summary = sim.summary()
        assert summary["verdict"]["status"] != "wrong"
        assert summary["contacts"]["max_penetration"] < 5e-3
        assert summary["energy"]["balance_error"] < 1e-8
