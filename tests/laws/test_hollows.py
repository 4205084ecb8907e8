"""Bodies that slide in a smooth hollow, or over another body, without turning: nothing hits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.law

G = 9.81
HALF = float(np.sqrt(0.5))
# lies along y; path of the centre of a ball in it, and in the bowl [m]
PIPE = {"type": "tube", "inner_radius": 0.3, "outer_radius": 0.4, "length": 0.4}
BOWL = {"type": "bowl", "inner_radius": 0.3, "outer_radius": 0.33, "angle": 1.5}
PATH = 0.25


def marble(hollow: Document, body: Document, **simulation: object) -> Document:
    """A ball without friction within a hollow that stands."""
    parts = [{**hollow, "material": "m"}]
    ball = {"type": "sphere", "radius": 0.3 - PATH, "material": "m"}
    lying: Document = {"orientation": [HALF, HALF, 0, 0]} if hollow is PIPE else {}
    bodies: list[Document] = [
        {"name": "hollow", "type": "static", "shapes": parts, **lying},
        {"name": "ball", "mass": 1.0, "shapes": [ball], **body},
    ]
    return document(bodies, [], materials={"m": {"friction": 0.0}}, simulation=simulation)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_marble_circles_without_a_loss(formulation: str) -> None:
    """Friction that would make it roll is nothing; 7.9 % of its speed were lost as an impact."""
    start = {"position": [0, 0, -PATH], "linear_velocity": [6.0, 0, 0]}
    scene = marble(PIPE, start, dt=1e-3, duration=0.2, formulation=formulation)
    sim = simulate(scene | {"gravity": [0, 0, 0]})
    sim.advance(200)
    x, _, z = sim.poses()[1, :3]
    angle = 2.0 * np.pi + np.arctan2(x, -z)
    assert np.hypot(x, z) == pytest.approx(PATH, abs=2e-5)
    assert angle == pytest.approx(6.0 * 0.2 / PATH, abs=2e-3)
    assert np.linalg.norm(sim.velocities()[1, :3]) == pytest.approx(6.0, rel=1e-4)
    # that of the first step, in which the hollow is met; 2.7 J of 18 before
    assert sim.summary()["energy"]["dissipated_impact"] == pytest.approx(0.0, abs=5e-3)


def test_a_spin_in_place_and_a_low_threshold_change_nothing() -> None:
    """Neither is a turn of the surface, or a blow: a twentieth of the speed was lost to each."""
    start = {"position": [0, 0, -PATH], "linear_velocity": [6.0, 0, 0]}
    fast = {**start, "angular_velocity": [0, 600.0, 0]}
    low = {"restitution_threshold": 0.01}
    for body, more in ((fast, {}), (start, {"contact": low})):
        scene = marble(PIPE, body, dt=1e-3, duration=0.2, **more)
        sim = simulate(scene | {"gravity": [0, 0, 0]})
        sim.advance(200)
        assert np.linalg.norm(sim.velocities()[1, :3]) == pytest.approx(6.0, rel=1e-4)


def test_a_large_ball_rolls_fast_round_a_large_loop() -> None:
    """What curvature makes in a step, 0.64 m/s, is more than the restitution threshold."""
    path, speed, h = 10.0, 40.0, 4e-3
    shape: Document = {"type": "tube", "inner_radius": 10.5, "outer_radius": 11.0, "length": 2.0}
    bodies: list[Document] = [
        {"name": "loop", "type": "static", "orientation": [HALF, HALF, 0, 0],
         "shapes": [{**shape, "material": "m"}]},
        {"name": "ball", "mass": 1.0, "position": [0, 0, -path], "linear_velocity": [speed, 0, 0],
         "angular_velocity": [0, speed / 0.5, 0],
         "shapes": [{"type": "sphere", "radius": 0.5, "material": "m"}]},
    ]  # fmt: skip
    simulation = {"dt": h, "duration": 1.5}
    sim = simulate(document(bodies, [], materials={"m": {"friction": 1.0}}, simulation=simulation))
    sim.advance(375)
    truth = solve_ivp(
        lambda _, y: [y[1], -G / (1.4 * path) * np.sin(y[0])], (0, 1.5), [0, speed / path],
        rtol=1e-10, atol=1e-12,
    ).y[:, -1]  # fmt: skip
    x, _, z = sim.poses()[1, :3]
    assert np.arctan2(x, -z) % (2.0 * np.pi) == pytest.approx(truth[0], abs=1e-3)
    assert np.linalg.norm(sim.velocities()[1, :3]) == pytest.approx(path * truth[1], rel=1e-3)


def test_a_marble_loops_the_loop_just_above_the_least_speed() -> None:
    """It came off the track, which it leaves at the top below sqrt(5 g r)."""
    speed = float(np.sqrt(1.03 * 5.0 * G * PATH))
    start = {"position": [0, 0, -PATH], "linear_velocity": [speed, 0, 0]}
    sim = simulate(marble(PIPE, start, dt=1e-3, duration=0.9))
    truth = solve_ivp(
        lambda _, y: [y[1], -G / PATH * np.sin(y[0])], (0, 0.9), [0, speed / PATH],
        rtol=1e-10, atol=1e-12, t_eval=np.linspace(0, 0.9, 91),
    ).y[0]  # fmt: skip
    for angle in truth[1:]:
        sim.advance(10)
        x, _, z = sim.poses()[1, :3]
        assert np.hypot(x, z) == pytest.approx(PATH, abs=1e-5)
        expected = PATH * np.array([np.sin(angle), -np.cos(angle)])
        assert np.array([x, z]) == pytest.approx(expected, abs=1.5e-3)
    assert sim.summary()["verdict"]["status"] == "trusted"


def test_a_marble_in_a_bowl_is_a_spherical_pendulum() -> None:
    place = PATH * np.array([np.sin(0.8), 0.0, -np.cos(0.8)])
    velocity = np.array([0.0, 0.5, 0.0])
    start = {"position": place.tolist(), "linear_velocity": velocity.tolist()}
    sim = simulate(marble(BOWL, start, dt=1e-3, duration=5.0))

    def derivative(_: float, y: np.ndarray) -> np.ndarray:
        pull = (y[3:] @ y[3:] - G * y[2]) / PATH**2
        return np.concatenate([y[3:], -pull * y[:3] - [0, 0, G]])

    y = np.concatenate([place, velocity])
    truth = solve_ivp(derivative, (0, 5), y, rtol=1e-10, atol=1e-12, t_eval=[5.0]).y[:3, -1]
    sim.advance(5000)
    assert sim.poses()[1, :3] == pytest.approx(truth, abs=2e-3)
    assert sim.summary()["energy"]["dissipated_impact"] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("spin", [0.0, 0.01])
def test_what_leaves_a_dome_is_not_pushed_off_it(spin: float) -> None:
    """It has nothing to carry while it is still below the tangent plane for some steps, in which a
    row of the first order threw a ball that turned off: 0.9 mm in 0.3 s, of first order in h."""
    path, start, h = 1.1, 0.2, 1e-3

    def derivative(_: float, y: np.ndarray) -> list[float]:
        return [y[1], G / path * np.sin(y[0])]

    def leaves(_: float, y: np.ndarray) -> float:
        return float(np.cos(y[0]) - 2.0 / 3.0 * np.cos(start))

    leaves.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(derivative, (0, 9), [start, 0], rtol=1e-10, atol=1e-12, events=leaves)
    ((angle, rate),) = found.y_events[0]
    dome: Document = {"type": "sphere", "radius": 1.0, "material": "m"}
    bodies: list[Document] = [
        {"name": "dome", "type": "static", "shapes": [dome]},
        {"name": "ball", "position": [path * np.sin(start), 0, path * np.cos(start)], "mass": 1.0,
         "angular_velocity": [0, 0, spin], "shapes": [{**dome, "radius": 0.1}]},
    ]  # fmt: skip
    materials = {"m": {"friction": 0.0}}
    sim = simulate(document(bodies, [], materials=materials, simulation={"dt": h, "duration": 1}))
    sim.advance(round((found.t_events[0][0] + 0.3) / h))
    t = sim.step_count * h - found.t_events[0][0]
    radial = np.array([np.sin(angle), np.cos(angle)])
    along = np.array([np.cos(angle), -np.sin(angle)])
    expected = path * (radial + rate * t * along) - [0, 0.5 * G * t * t]
    assert sim.poses()[1, [0, 2]] == pytest.approx(expected, abs=1e-5)
