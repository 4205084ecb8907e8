"""A body in free flight keeps what Euler and Newton say it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cardan.engine import Simulation
from cardan.engine.accounting.crossings import LIMITS
from tests.engine.scenes import brick, document, simulate

pytestmark = pytest.mark.law

INERTIA = np.array([0.3, 0.5, 0.7])


# near the unstable axis
W0 = (0.2, 6.0, 0.1)


def tumbling(
    dt: float, steps: int, w0: tuple[float, ...] = W0, **simulation: object
) -> tuple[np.ndarray, np.ndarray]:
    """Angular momentum (n, 3) and kinetic energy (n,) of a box that starts with w0."""
    body = brick("box", inertia=INERTIA.tolist(), angular_velocity=list(w0))
    scene = document([body], gravity=[0, 0, 0], simulation={"dt": dt, **simulation})
    sim = simulate(scene)
    L, T = [], []
    for _ in range(steps):
        sim.advance(1)
        L.append(sim.momentum()[3:])
        T.append(sim.energy()["kinetic"])
    return np.array(L), np.array(T)


@pytest.mark.parametrize("w0", [(0.2, 6.0, 0.1), (1.0, 2.0, 3.0), (5.0, 0.3, 7.0)])
def test_free_body_keeps_angular_momentum_and_energy_to_rounding(w0: tuple[float, ...]) -> None:
    L, T = tumbling(1 / 240, 4800, w0)
    start = INERTIA * w0
    assert np.abs(L - start).max() <= 1e-14 * np.linalg.norm(start)
    assert np.abs(T / (0.5 * start @ w0) - 1.0).max() <= 1e-12


def test_momentum_follows_what_was_done_between_flights() -> None:
    body = brick("box", inertia=INERTIA.tolist(), angular_velocity=[0.2, 6.0, 0.1])
    sim = simulate(document([body], gravity=[0, 0, 0], simulation={"dt": 1 / 240}))
    sim.advance(100)
    before = sim.momentum()[3:]
    sim.apply_impulse("box", [0.0, 0.0, 0.5], sim.poses()[0, :3] + [0.3, 0.0, 0.0])
    struck = before + np.cross([0.3, 0.0, 0.0], [0.0, 0.0, 0.5])
    sim.advance(1000)
    p, v = sim.state.p_WB[0], sim.state.v_WB_W[0] * sim.model.bodies.mass[0]
    spin = sim.momentum()[3:] - np.cross(p, v)
    assert spin == pytest.approx(struck, rel=1e-13)


def test_a_body_that_spins_about_a_principal_axis_goes_on_so() -> None:
    body = brick("box", inertia=INERTIA.tolist(), angular_velocity=[0.0, 0.0, 9.0])
    sim = simulate(document([body], gravity=[0, 0, 0], simulation={"dt": 1 / 240}))
    sim.advance(2400)
    assert sim.velocities()[0, 3:] == pytest.approx([0.0, 0.0, 9.0], abs=1e-12)


def test_implicit_treatment_beats_the_explicit_one() -> None:
    start = 0.5 * INERTIA @ np.square([0.2, 6.0, 0.1])
    _, implicit = tumbling(1 / 240, 2400)
    _, explicit = tumbling(1 / 240, 2400, gyroscopic="explicit")
    error = [np.abs(T / start - 1.0).max() for T in (implicit, explicit)]
    assert error[0] < 1e-4 * error[1]


def test_spin_follows_euler_equations() -> None:
    w0 = np.array([0.2, 6.0, 0.1])

    def euler(_: float, w: np.ndarray) -> np.ndarray:
        return -np.cross(w, INERTIA * w) / INERTIA

    exact = solve_ivp(euler, (0.0, 2.0), w0, rtol=1e-12, atol=1e-12).y[:, -1]
    body = brick("box", inertia=INERTIA.tolist(), angular_velocity=w0.tolist())
    error = []
    for dt in (2e-2, 1e-2):
        sim = simulate(document([body], gravity=[0, 0, 0], simulation={"dt": dt}))
        sim.advance(round(2.0 / dt))
        q = sim.poses()[0, 3:]
        axes_W = np.array([rotated(q, e) for e in np.eye(3)])
        error.append(np.abs(axes_W @ sim.velocities()[0, 3:] - exact).max())
    assert error[1] < 1e-6
    assert error[0] / error[1] > 28.0


def rotated(q: np.ndarray, e: np.ndarray) -> np.ndarray:
    """The body axis e in W."""
    w, v = q[0], q[1:]
    return e + 2.0 * np.cross(v, np.cross(v, e) + w * e)


def spun(**simulation: object) -> Simulation:
    """A thrown brick that spins; its own path (step/drift.py) unless sleeping is asked for."""
    motion = {"linear_velocity": [1.0, 2.0, 5.0], "angular_velocity": [1.0, 2.0, 3.0]}
    return simulate(document([brick("stone", **motion)], simulation={"dt": 1 / 240, **simulation}))


def test_steps_of_a_body_alone_are_those_that_look_for_contacts() -> None:
    alone, watched = spun(), spun(sleeping={"enabled": True})
    for sim in (alone, watched):
        sim.advance(240)
    assert alone.poses() == pytest.approx(watched.poses(), abs=1e-11)
    assert alone.velocities() == pytest.approx(watched.velocities(), abs=1e-10)
    assert alone.state.momentum_in == pytest.approx(watched.state.momentum_in, rel=1e-13)
    # without the sums over kicks, which are alike where only gravity acts
    extremes = [sim.state.extremes[: LIMITS + 1] for sim in (alone, watched)]
    assert extremes[0] == pytest.approx(extremes[1], rel=1e-9, abs=1e-11)
    assert alone.summary()["verdict"] == watched.summary()["verdict"]
    assert alone.solver_report()["rows"] == alone.solver_report()["contacts"] == 0
    assert alone.solver_report()["stop_reason"] == watched.solver_report()["stop_reason"]


def test_a_body_alone_is_pushed_while_a_wrench_lasts() -> None:
    still = spun()
    still.apply_wrench("stone", [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], duration=0.5)
    still.advance(240)
    moved = still.poses()[0, 2] - 0.5 * 9.81 * -1.0 - 5.0
    # 3 N on 2 kg for 0.5 s, and on with 0.75 m/s
    assert moved == pytest.approx(0.5 * 1.5 * 0.25 + 0.75 * 0.5, rel=1e-2)
    assert still.summary()["energy"]["max_relative_drift"] < 1e-12


def test_pauses_and_snapshots_change_nothing_for_a_body_alone() -> None:
    whole, parts = spun(), spun()
    for sim in (whole, parts):
        sim.apply_wrench("stone", [0.0, 1.0, 3.0], [0.1, 0.0, 0.0], duration=0.3)
    whole.advance(200)
    for n in (1, 70, 3, 26):
        parts.advance(n)
    saved, other = parts.snapshot(), spun()
    other.restore(saved)
    other.advance(100)
    assert other.state_hash() == whole.state_hash()


def test_a_value_that_is_not_finite_ends_the_steps_of_a_body_alone() -> None:
    sim = spun()
    sim.advance(5)
    sim.state.v_WB_W[0, 0] = np.nan
    assert sim.advance(100) == 1
    assert sim.failure is not None


def test_thrown_body_follows_the_parabola_exactly() -> None:
    body = brick("stone", linear_velocity=[1.0, 2.0, 5.0], center_of_mass=[0.0, 0.0, 0.0])
    sim = simulate(document([body], simulation={"dt": 0.01}))
    sim.advance(100)
    exact = np.array([1.0, 2.0, 5.0 - 0.5 * 9.81])
    assert sim.poses()[0, :3] == pytest.approx(exact, abs=1e-12)
    assert sim.velocities()[0, 2] == pytest.approx(5.0 - 9.81, abs=1e-12)


# at rest, about a principal axis, slow, so fast that series do not reach, near an unstable axis
SPINS = ([0, 0, 0], [0, 0, 9.0], [0.1, 0.2, 0.05], [150.0, 40.0, 90.0], [0.2, 6.0, 0.1])


def struck_on_the_way(bodies: list[dict], struck: list[str], drift: str) -> Simulation:
    """Bodies in free flight, of which some are struck on the way, one every third step."""
    # those that may fall asleep are advanced by half a step twice
    sleep = {"sleeping": {"enabled": True}} if drift == "halves" else {}
    sim = simulate(document(bodies, gravity=[0, 0, 0], simulation={"dt": 0.01, **sleep}))
    for name in struck:
        sim.advance(3)
        for one in bodies:
            if one["name"] == name:
                at = np.add(one["position"], [0.2, 0.1, 0.0])
                sim.apply_impulse(name, [0.0, 0.1, 0.3], at)
    sim.advance(60)
    return sim


@pytest.mark.parametrize("drift", ["whole", "halves"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 11])
def test_bodies_among_others_turn_as_each_alone(n: int, drift: str) -> None:
    dice = np.random.default_rng(n)
    bodies = []
    for k in range(n):
        inertia = [0.4, 0.4, 0.4] if k == 5 else (INERTIA * dice.uniform(0.98, 1.02, 3)).tolist()
        spin = SPINS[(k + n) % len(SPINS)]
        where = [5.0 * k, 0.0, 0.0]
        bodies.append(brick(f"b{k}", inertia=inertia, angular_velocity=spin, position=where))
    struck = [one["name"] for one in bodies[::2]]
    together = struck_on_the_way(bodies, struck, drift)
    for k, one in enumerate(bodies):
        alone = struck_on_the_way([one], struck, drift)
        for of in ("q_WB", "w_WB_W"):
            found, wanted = getattr(together.state, of)[k], getattr(alone.state, of)[0]
            assert found.tobytes() == wanted.tobytes(), (k, of)
