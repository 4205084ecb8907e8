"""Three laws of impact: which gives what, and what it does to energy and momentum."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cardan.engine.build.faults import SceneError
from cardan.schemas import SceneInvalid, load_scene
from tests.engine.scenes import document, ground, simulate
from tests.references.impact_scenes import (
    KANE_RATES,
    LAWS,
    TIMES,
    ball,
    cluster,
    gain,
    kane,
    newton,
    poisson,
    row_of_balls,
    slanted_rod,
    steel,
)
from tests.references.scenes import first_impact_speeds

pytestmark = pytest.mark.reference

SPEED = np.array([-1.0, 0.5])  # of the rod's end: normal, tangent [m/s]


def friction_and_impact(simulation) -> float:
    energy = simulation.energy()
    return energy["dissipated_friction"] + energy["dissipated_impact"]


# ------------------------------------------------------------------ one after the other


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_as_many_balls_leave_a_touching_row_as_come(k: int, time: str) -> None:
    sim = row_of_balls([1.0] * k + [0.0] * (5 - k), "propagating", time)
    sim.advance(5)
    assert sim.velocities()[:5, 0] == pytest.approx([0.0] * (5 - k) + [1.0] * k, abs=1e-12)
    summary = sim.summary()
    assert summary["energy"]["max_relative_drift"] < 1e-12
    assert summary["energy"]["dissipated_impact"] == pytest.approx(0.0, abs=1e-12)
    assert summary["momentum"]["max_linear_drift"] < 1e-12
    assert summary["momentum"]["max_angular_drift"] < 1e-12


def test_a_striker_from_afar_on_a_table() -> None:
    """One comes, one goes, at any place in a step and with gravity and a table under the row."""
    bodies = [ball("striker", [-0.2567, 0, 0.1], [1.3, 0, 0]), ground(material="steel")]
    sim = row_of_balls([0.0] * 5, "propagating", bodies=bodies, gravity=[0, 0, -9.81])
    sim.advance(100)
    assert sim.velocities()[:6, 0] == pytest.approx([0, 0, 0, 0, 1.3, 0], abs=1e-12)


def test_balls_that_meet_a_row_from_both_sides_pass_through_it() -> None:
    sim = row_of_balls([1.0, 0.0, 0.0, 0.0, -0.7], "propagating")
    sim.advance(5)
    assert sim.velocities()[:, 0] == pytest.approx([-0.7, 0, 0, 0, 1.0], abs=1e-12)


@pytest.mark.parametrize("e", [1.0, 0.9])
def test_masses_that_double_pass_on_by_two_body_impacts(e: float) -> None:
    """v1 = (m1 - e m2)/(m1 + m2) v, v2 = (1 + e) m1/(m1 + m2) v, then the same between 2 and 3."""
    sim = row_of_balls([1.0, 0.0, 0.0], "propagating", materials=steel(e))
    for k in range(3):
        factor = 2.0**k
        sim.model.bodies.mass[k] *= factor
        sim.model.bodies.inverse_mass[k] /= factor
    sim.advance(3)
    second = (1 + e) / 3
    expected = [(1 - 2 * e) / 3, (1 - 2 * e) / 3 * second, second * second]
    assert sim.velocities()[:, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_what_is_symmetric_stays_symmetric(law: str) -> None:
    """A ball between two: they part as mirror images, whoever stands first in the scene."""
    h = 0.1 * math.sqrt(3.0)
    struck = [ball("left", [h, 0.1, 0.1], [0, 0, 0]), ball("right", [h, -0.1, 0.1], [0, 0, 0])]
    sim = row_of_balls([1.0], law, bodies=struck)
    sim.advance(3)
    v = sim.velocities()
    assert v[1, 0] > 0.3
    assert v[1, 0] == pytest.approx(v[2, 0], abs=1e-13)
    assert v[1, 1] == pytest.approx(-v[2, 1], abs=1e-13)
    assert v[0, 1] == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("law", ["poisson", "propagating"])
def test_the_order_of_bodies_changes_nothing(law: str) -> None:
    speeds = [1.0, 0.4, 0.0, -0.2, 0.0]
    forward = row_of_balls(
        speeds, law, materials=steel(0.7), contact={"restitution_threshold": 0.1}
    )
    backward = row_of_balls(
        [-v for v in speeds[::-1]],
        law,
        materials=steel(0.7),
        contact={"restitution_threshold": 0.1},
    )
    forward.advance(10)
    backward.advance(10)
    assert forward.velocities()[:, 0] == pytest.approx(-backward.velocities()[::-1, 0], abs=1e-12)


@pytest.mark.parametrize("time", TIMES)
def test_a_box_that_lands_flat_does_not_turn(time: str) -> None:
    """Its four corners are struck at once: they approach equally fast."""
    box = {"name": "box", "position": [0, 0, 0.21], "mass": 1.0, "linear_velocity": [0, 0, -3]}
    box["shapes"] = [{"type": "box", "size": [0.4, 0.6, 0.4], "material": "steel"}]
    for law in LAWS:
        scene = document(
            [ground(material="steel"), box],
            materials=steel(0.6, 0.3),
            gravity=[0, 0, 0],
            simulation={"dt": 1e-3},
            contact={"restitution_law": law, "impact_time": time},
        )
        sim = simulate(scene)
        # a hair's tilt: the corners do not come down at exactly the same moment
        sim.state.q_WB[1, 1] = 1e-10
        sim.advance(20)
        assert sim.velocities()[1] == pytest.approx([0, 0, 1.8, 0, 0, 0], abs=1e-9)


def test_the_cradle_sends_one_ball_out() -> None:
    """Balls on hinges: the joints of all of them take part, 99 % of the speed leaves."""
    speed = math.sqrt(2 * 9.81 * 0.5 * (1 - math.cos(math.radians(40))))
    after = first_impact_speeds("propagating")
    assert after[4] > 0.99 * speed
    assert np.abs(after[:4]).max() < 0.01 * speed


# ------------------------------------------------------------------ Poisson's law


@pytest.mark.parametrize("law", LAWS)
def test_all_laws_agree_where_two_bodies_meet_without_friction(law: str) -> None:
    sim = row_of_balls([1.0, -0.5], law, materials=steel(0.7))
    sim.advance(3)
    assert sim.velocities()[:, 0] == pytest.approx([-0.275, 0.775], abs=1e-12)


@pytest.mark.parametrize(("first", "second"), [(0.25, 1.0), (0.3, 0.8), (0.5, 0.5)])
def test_impulses_of_touching_balls_are_given_back_by_their_own_contact(
    first: float, second: float
) -> None:
    """Three balls: lam_c = (2/3, 1/3) m v; v = 1 - 2(1 + e1)/3, (1 + 2 e1 - e2)/3, (1 + e2)/3."""
    names = ["a", "b", "c"]
    bodies = [ball(n, [0.2 * k, 0, 0], [0, 0, 0], material=n) for k, n in enumerate(names)]
    bodies[0]["linear_velocity"] = [1, 0, 0]
    scene = document(
        bodies,
        materials={n: {"friction": 0.0} for n in names},
        material_pairs=[
            {"materials": ["a", "b"], "restitution": first},
            {"materials": ["b", "c"], "restitution": second},
        ],
        gravity=[0, 0, 0],
        contact={"restitution_law": "poisson"},
    )
    sim = simulate(scene)
    sim.advance(3)
    expected = [1 - 2 * (1 + first) / 3, (1 + 2 * first - second) / 3, (1 + second) / 3]
    assert sim.velocities()[:, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("across", [0.3, 3.0])
def test_an_oblique_ball_sticks_or_slides(law: str, across: float) -> None:
    """It sticks while u_t <= 7/2 mu (1 + e) u_n, else loses mu (1 + e) u_n; all laws alike."""
    e, mu, fall = 0.6, 0.2, 2.0
    thrown = ball("ball", [0, 0, 0.1], [across, 0, -fall])
    scene = document(
        [ground(material="steel"), thrown],
        materials=steel(e, mu),
        gravity=[0, 0, 0],
        contact={"restitution_law": law, "impact_time": "exact"},
    )
    sim = simulate(scene)
    sim.advance(1)
    lost = min(mu * (1 + e) * fall, 2 / 7 * across)
    v = sim.velocities()[1]
    assert v[[0, 2]] == pytest.approx([across - lost, e * fall], abs=1e-9)
    assert v[4] == pytest.approx(2.5 * lost / 0.1, abs=1e-7)


# ------------------------------------------------------------------ energy with friction


def test_newtons_law_creates_energy_in_a_slanted_rod_and_says_so() -> None:
    """Kane's paradox in its simplest form; closed form of a plane contact."""
    e, mu = 0.9, 0.8
    sim, A = slanted_rod("newton", e, mu)
    start = sim.energy()["kinetic"]
    sim.advance(1)
    expected = gain(A, SPEED, newton(A, SPEED, e, mu))
    assert expected > 0.04
    assert sim.energy()["kinetic"] - start == pytest.approx(expected, abs=1e-6)
    assert sim.energy()["correction"] == pytest.approx(expected, abs=1e-6)
    assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("mu", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.9, 1.0])
def test_poissons_law_never_creates_energy_in_a_slanted_rod(e: float, mu: float) -> None:
    sim, A = slanted_rod("poisson", e, mu)
    start = sim.energy()["kinetic"]
    sim.advance(1)
    lam = poisson(A, SPEED, e, mu)
    expected = gain(A, SPEED, lam)
    assert expected <= 0.0
    assert sim.energy()["kinetic"] - start == pytest.approx(expected, abs=1e-6)
    assert sim.energy()["correction"] == pytest.approx(0.0, abs=1e-12)
    assert friction_and_impact(sim) == pytest.approx(-expected, abs=1e-6)
    assert sim.velocities()[1, 2] == pytest.approx(SPEED[0] + lam[0], abs=1e-6)


def test_the_propagating_law_lowers_e_to_what_keeps_the_energy() -> None:
    sim, _ = slanted_rod("propagating", 0.9, 0.8)
    start = sim.energy()["kinetic"]
    sim.advance(1)
    assert sim.energy()["kinetic"] == pytest.approx(start, abs=1e-12)
    v = sim.velocities()[1]
    assert 0.5 < v[2] + v[4] * math.sin(math.radians(45)) < 0.9


@pytest.mark.parametrize("e", [0.5, 0.8])
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_kanes_double_pendulum(law: str, e: float) -> None:
    """Energy grows under Newton's law and falls under Poisson's; rates from two coordinates."""
    sim, rates = kane(law, e, 0.5)
    start = sim.energy()["kinetic"]
    sim.advance(1)
    assert -sim.velocities()[1:3, 4] == pytest.approx(rates, abs=1e-6)
    change = sim.energy()["kinetic"] - start
    assert change > 0.02 * start if law == "newton" else change < 0.0
    assert np.abs(rates - KANE_RATES).max() > 0.05
    assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("law", ["poisson", "propagating"])
def test_no_impact_of_many_contacts_creates_energy(law: str, time: str) -> None:
    for seed in range(4):
        sim = cluster(law, time, seed)
        start = sim.energy()["kinetic"]
        sim.advance(1)
        assert sim.energy()["kinetic"] <= start * (1 + 1e-12)
        assert sim.summary()["energy"]["balance_error"] < 1e-12
        assert sim.summary()["momentum"]["max_linear_drift"] < 1e-12
        assert sim.summary()["momentum"]["max_angular_drift"] < 1e-12


# ------------------------------------------------------------------ books


def busy(law: str, time: str):
    """Gravity, a rough floor, a moving paddle, a chain on hinges and balls that hit all of them."""
    paddle = {"name": "paddle", "type": "kinematic", "position": [0.9, 0, 0.3]}
    paddle["linear_velocity"] = [-1.5, 0, 0]
    paddle["shapes"] = [{"type": "box", "size": [0.1, 1.0, 0.5], "material": "steel"}]
    bodies = [ground(material="steel"), paddle]
    joints = []
    for k in range(3):
        link = {"name": f"link-{k}", "position": [-0.3, 0, 1.0 - 0.25 * k], "mass": 0.3}
        link["shapes"] = [{"type": "box", "size": [0.05, 0.05, 0.2], "material": "steel"}]
        bodies.append(link)
        parent = "world" if k == 0 else f"link-{k - 1}"
        hinge = {"name": f"hinge-{k}", "type": "hinge", "parent": parent, "child": f"link-{k}"}
        joints.append({**hinge, "anchor": [-0.3, 0, 1.125 - 0.25 * k], "axis": [0, 1, 0]})
    for k in range(6):
        at, v = [0.05 * k, 0.02 * k, 0.3 + 0.25 * k], [-2.0 + 0.3 * k, 0.1, -1.0]
        bodies.append(ball(f"ball-{k}", at, v, angular_velocity=[0, 5.0, 2.0]))
    return simulate(
        document(
            bodies,
            joints,
            materials=steel(0.7, 0.3),
            simulation={"dt": 1e-3},
            contact={"restitution_law": law, "impact_time": time},
        )
    )


@pytest.mark.parametrize(("law", "time"), [(law, t) for law in LAWS for t in TIMES])
def test_the_books_close_whatever_the_law(law: str, time: str) -> None:
    sim = busy(law, time)
    sim.advance(600)
    summary = sim.summary()
    assert summary["energy"]["dissipated_impact"] > 0.1
    assert summary["energy"]["balance_error"] < 1e-9
    assert summary["momentum"]["max_linear_drift"] < 1e-10
    assert summary["momentum"]["max_angular_drift"] < 1e-10


@pytest.mark.parametrize(("law", "time"), [("poisson", "step"), ("propagating", "exact")])
def test_snapshots_continue_to_the_same_bits(law: str, time: str) -> None:
    whole = busy(law, time)
    whole.advance(200)
    part = busy(law, time)
    part.advance(90)
    saved = part.snapshot()
    resumed = busy(law, time)
    resumed.restore(saved)
    for array in (resumed.work.impacts.velocity, resumed.work.impacts.problem.b):
        array[...] = np.nan
    for array in resumed.work.motion:
        array[...] = np.nan if array.dtype.kind == "f" else 7
    resumed.advance(110)
    assert resumed.state_hash() == whole.state_hash()


def test_tables_show_the_impulse_of_an_impact() -> None:
    """m (1 + e) v over the step, whoever acts first in it."""
    for law in LAWS:
        sim = row_of_balls([1.0, 0.0], law, gap=0.0008, materials=steel(0.5))
        sim.advance(1)
        assert sim.contact_table()["normal_force"] == pytest.approx(
            [0.5 * 1.5 / 2 / 1e-3], rel=1e-9
        )


# ------------------------------------------------------------------ what is asked wrongly


@pytest.mark.parametrize(
    ("field", "value"), [("restitution_law", "sequential"), ("impact_time", "now")]
)
def test_a_law_or_time_that_does_not_exist_is_refused_by_name(field: str, value: str) -> None:
    scene = document([ground()], contact={field: value})
    with pytest.raises((SceneInvalid, SceneError)) as refused:
        load_scene(scene)
    fault = refused.value.errors[0]
    assert fault.pointer == f"/simulation/contact/{field}"
