"""Integrators of smooth motion: their order, on the manifold, and the laws they keep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cardan.engine import run
from cardan.engine.build.faults import SceneError
from cardan.engine.world.state import LEDGER_WORK_IN
from cardan.schemas import load_scene
from tests.engine.scenes import Document, brick, document, rod, simulate
from tests.references.mechanism_scenes import four_bars, governor, table

pytestmark = pytest.mark.law


def figure() -> Document:
    """Bricks that tumble on balls and hinges, one of them on a spring: quaternions everywhere."""
    bodies = [brick(f"b{i}", position=[0.5 * i, 0.0, 0.0]) for i in range(3)]
    bodies[0] |= {"angular_velocity": [2.0, -1.0, 3.0], "linear_velocity": [0.3, 0.0, 1.0]}
    joints: list[Document] = [
        {"type": "ball", "name": "j0", "parent": "b0", "child": "b1", "anchor": [0.25, 0, 0.1]},
        {"type": "hinge", "name": "j1", "parent": "b1", "child": "b2", "anchor": [0.75, 0, 0.1]},
    ]
    joints[1] |= {"axis": [0, 0.6, 0.8], "damping": 0.1}
    spring: Document = {"type": "spring", "parent": "world", "child": "b2", "anchor": [1, 0, 1]}
    spring |= {"anchor2": [1, 0, 0], "stiffness": 20.0, "damping": 0.3}
    return document(bodies, joints, forces=[spring])


def end_of(scene: Document, integrator: str, dt: float, seconds: float, **more: Any) -> np.ndarray:
    options = {"formulation": "reduced", "integrator": integrator, "dt": dt, **more}
    sim = simulate(scene | {"simulation": options})
    sim.advance(round(seconds / dt))
    assert sim.failure is None
    return np.concatenate([sim.poses().ravel(), sim.velocities().ravel()])


@pytest.fixture(scope="module")
def known() -> np.ndarray:
    return end_of(figure(), "dop853", 0.04, 0.4, integrator_tolerance=1e-13)


@pytest.mark.parametrize(
    ("integrator", "order", "dt"),
    [("rk4", 4, 0.02), ("implicit_midpoint", 2, 0.02), ("semi_implicit_euler", 2, 0.005)],
)
def test_order(known: np.ndarray, integrator: str, order: int, dt: float) -> None:
    errors = [np.abs(end_of(figure(), integrator, h, 0.4) - known).max() for h in (dt, 0.5 * dt)]
    assert np.log2(errors[0] / errors[1]) > order - 0.3


def test_adaptive_ones_agree(known: np.ndarray) -> None:
    assert np.abs(end_of(figure(), "dop853", 0.1, 0.4) - known).max() < 1e-8
    assert np.abs(end_of(figure(), "radau", 0.1, 0.4) - known).max() < 1e-7


def two_links(t: float, x: np.ndarray) -> np.ndarray:
    """Rates of the angles of a rod of 0.76 m and of a bob hung on it 0.3 m above its centre."""
    rod, bob, inertia, gravity = math.hypot(0.3, 0.7), 0.3, 0.05 / 4.0, 9.81
    apart = x[0] - x[1]
    M = np.array([[rod**2, rod * bob * math.cos(apart)], [0.0, bob**2 + inertia]])
    M[1, 0] = M[0, 1]
    f = rod * bob * math.sin(apart) * np.array([-(x[3] ** 2), x[2] ** 2])
    f -= gravity * np.array([rod * math.sin(x[0]), bob * math.sin(x[1])])
    return np.concatenate([x[2:], np.linalg.solve(M, f)])


@pytest.mark.parametrize(
    ("integrator", "dt", "most"),
    [("dop853", 0.01, 1e-8), ("radau", 0.01, 1e-7), ("rk4", 0.002, 1e-8)],
)
def test_a_bob_on_a_rod_is_as_exact_as_its_integrator(
    integrator: str, dt: float, most: float
) -> None:
    # one equation, open by the errors of stages, which are no sign of a singular place
    bob = {"name": "bob", "mass": 4.0, "inertia": [0.05] * 3, "position": [-0.3, 0, -1.0]}
    line: Document = {"name": "rod", "type": "distance", "parent": "world", "child": "bob"}
    line |= {"anchor": [0, 0, 0], "anchor2": [-0.3, 0, -0.7]}
    end = end_of(document([bob], [line], gravity=[0, 0, -9.81]), integrator, dt, 1.0)
    start = [math.atan2(-0.3, 0.7), 0.0, 0.0, 0.0]
    x = solve_ivp(two_links, (0.0, 1.0), start, rtol=1e-12, atol=1e-13).y[:, -1]
    ends = math.hypot(0.3, 0.7) * np.exp(1j * x[0]) + 0.3 * np.exp(1j * x[1])
    assert end[:3] == pytest.approx([ends.imag, 0, -ends.real], abs=most)


def test_the_ledger_of_an_integrator() -> None:
    options = {"formulation": "reduced", "integrator": "dop853", "dt": 0.02}
    sim = simulate(figure() | {"simulation": options})
    sim.advance(20)
    summary = sim.summary()
    assert summary["energy"]["dissipated_damping"] > 0.01
    assert summary["energy"]["max_relative_drift"] < 1e-8
    assert summary["momentum"]["max_linear_drift"] < 1e-7
    resumed = simulate(figure() | {"simulation": options})
    resumed.advance(7)
    saved = resumed.snapshot()
    again = simulate(figure() | {"simulation": options})
    again.restore(saved)
    again.advance(13)
    assert again.state_hash() == sim.state_hash()


def follow_bars(n: int, integrator: str, dt: float, seconds: float) -> float:
    """How far B0 is from the exact solution at most, over the whole time."""
    known = table(f"A02_N{n}_exact.csv")
    sim = simulate(four_bars(n, integrator=integrator, dt=dt))
    worst = 0.0
    for row in known[known["t"] <= seconds + 1e-9]:
        steps = round(row["t"] / dt)
        if abs(steps * dt - row["t"]) > 1e-9:
            continue
        sim.advance(steps - sim.step_count)
        x, _, z = 2.0 * sim.poses()[0, :3]
        worst = max(worst, abs(x - row["B0x"]), abs(z - row["B0y"]))
    return worst


@pytest.mark.reference
@pytest.mark.parametrize(
    ("n", "integrator", "dt", "seconds"),
    [(2, "dop853", 0.05, 10.0), (2, "rk4", 0.005, 10.0), (40, "rk4", 0.01, 3.0)],
)
def test_a02_through_its_singular_places_to_1e_6(
    n: int, integrator: str, dt: float, seconds: float
) -> None:
    assert follow_bars(n, integrator, dt, seconds) < 1e-6


@pytest.mark.reference
def test_a05_stiff_governor_to_1e_6() -> None:
    known = table("A05_flyball_omega2pi.csv")
    sim = simulate(governor(2.0 * np.pi, integrator="radau", dt=0.5, integrator_tolerance=1e-6))
    for row in known[50::50]:
        sim.advance(1)
        assert abs(sim.poses()[1, 2] - row["s_m"]) < 1e-6


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"limits": {"lower": -1.0, "upper": 1.0}}, "/joints/0/limits"),
        ({"friction": 1.0}, "/joints/0/friction"),
        ({"motor": {"type": "velocity", "target": 1.0, "max_force": 1.0}}, "/joints/0/motor"),
    ],
)
def test_what_jumps_is_refused(change: Document, pointer: str) -> None:
    joint = {"type": "hinge", "name": "j", "parent": "world", "child": "r", "anchor": [0, 0, 0]}
    scene = document([rod("r", [0, 0, 0], 0.4)], [joint | {"axis": [0, 1, 0]} | change])
    scene["simulation"] = {"formulation": "reduced", "integrator": "rk4"}
    with pytest.raises(SceneError) as caught:
        simulate(scene)
    assert pointer in [fault.pointer for fault in caught.value.errors]


def stiff(integrator: str) -> Document:
    """A disc on a torsion spring of 1e7 rad/s: explicit steps of 1e-7 s in a grid of 0.1 s."""
    disc = {"name": "disc", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    hinge = {"type": "hinge", "name": "j", "parent": "world", "child": "disc", "axis": [0, 0, 1]}
    spring = {"stiffness": 1e14, "damping": 1.0, "rest": 0.1}
    options = {"formulation": "reduced", "integrator": integrator, "dt": 0.1, "duration": 1.0}
    return document([disc], [hinge | {"anchor": [0, 0, 0], "spring": spring}], simulation=options)


def test_a_step_without_end_fails_with_a_remedy() -> None:
    sim = simulate(stiff("dop853"))
    start = sim.poses()
    assert sim.advance(3) == 0
    assert sim.failure is not None
    assert sim.failure.quantity == "work"
    assert "integrator_tolerance" in sim.failure.message
    assert sim.summary()["status"] == "failed"
    assert np.array_equal(sim.poses(), start)


@pytest.mark.parametrize("integrator", ["dop853", "radau"])
def test_a_request_to_stop_is_obeyed_inside_a_step(integrator: str) -> None:
    recording, summary = run(load_scene(stiff(integrator)), should_stop=lambda: True)
    assert (summary["status"], summary["steps"]) == ("cancelled", 0)
    assert len(recording.times()) == 1


def test_the_hand_is_refused_by_name() -> None:
    sim = simulate(figure() | {"simulation": {"formulation": "reduced", "integrator": "rk4"}})
    with pytest.raises(ValueError, match=r"'grab' needs semi_implicit_euler.*'rk4'"):
        sim.grab("b0", [0, 0, 0])
    assert sim.grab_state() is None


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint", "dop853", "radau"])
def test_a_push_of_whole_steps_has_its_impulse(integrator: str, steps: int) -> None:
    """All that is evaluated of a step, also at its end, is pushed until then."""
    body = {"name": "b", "mass": 2.0, "inertia": [1, 1, 1]}
    options = {"formulation": "reduced", "integrator": integrator, "dt": 0.01, "duration": 0.2}
    sim = simulate(document([body], gravity=[0, 0, 0], simulation=options))
    sim.advance(3)
    sim.apply_wrench("b", [50.0, 0, 0], [0, 0, 0], duration=0.0 if steps == 1 else 0.01 * steps)
    sim.advance(17)
    assert sim.state.v_WB_W[0, 0] == pytest.approx(50.0 * 0.01 * steps / 2.0, rel=1e-8)
    assert sim.state.ledger[LEDGER_WORK_IN] == pytest.approx(sim.state.v_WB_W[0, 0] ** 2, rel=1e-8)
