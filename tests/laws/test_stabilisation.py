"""Position errors go, and what that costs is known: energy booked, momenta kept, nothing thrown."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cardan.engine import Simulation
from cardan.engine.build.allocate import workspace
from cardan.engine.build.room import room_of
from cardan.engine.stabilisation.equations import write_errors
from cardan.engine.stabilisation.one_sided import CONTACT_SLOP
from cardan.engine.world.options import Stabilisation
from cardan.schemas import load_scene
from tests.engine.scenes import Document, brick, document, ground, rod, simulate
from tests.laws.test_determinism import poison
from tests.laws.test_energy import chain
from tests.laws.test_islands import pendulum

pytestmark = pytest.mark.law

MODES = ["baumgarte", "split_impulse", "projection"]


def stabilised(scene: Document, mode: str, **simulation: Any) -> Simulation:
    scene["simulation"] = {**scene["simulation"], "stabilisation": mode, **simulation}
    return simulate(scene)


def floating(n: int) -> Document:
    """n bricks on balls and hinges in a row, spinning in free space."""
    bodies = [
        brick(
            f"b{k}",
            position=[0.5 * k, 0.02 * k, 0],
            angular_velocity=[1.0, 2.0 - k, 3.0 * (-1) ** k],
        )
        for k in range(n)
    ]
    joints: list[Document] = [
        {
            "name": f"j{k}",
            "type": "hinge" if k % 2 else "ball",
            "parent": f"b{k}",
            "child": f"b{k + 1}",
            "anchor": [0.5 * k + 0.25, 0, 0.05],
            **({"axis": [0, 1, 0.3]} if k % 2 else {}),
        }
        for k in range(n - 1)
    ]
    return document(bodies, joints, gravity=[0, 0, 0], simulation={"dt": 0.002})


def limp(n: int, joint: str) -> Document:
    """A chain whose links pass through each other."""
    scene = chain(n, joint)
    for body in scene["bodies"]:
        body["shapes"][0]["collision_mask"] = 0
    return scene


def mixed() -> Document:
    """Rods with stops, a motor and a spring that fall on the ground, and a box between them."""
    limits = {"lower": -0.4, "upper": 0.3}
    bodies = [rod(f"rod-{k}", [0.2 * k, 0, 0.12], 0.2) for k in range(4)]
    shape = {"type": "box", "size": [0.1, 0.1, 0.1]}
    bodies.append({"name": "box", "position": [0.3, 0, 0.3], "mass": 0.5, "shapes": [shape]})
    kinds: tuple[Document, ...] = (
        {"type": "hinge", "axis": [0, 1, 0], "limits": limits},
        {"type": "ball"},
        {"type": "hinge", "axis": [0, 1, 0], "spring": {"stiffness": 2.0, "damping": 0.01}},
    )
    joints = [
        {
            "name": f"j{k}",
            "parent": f"rod-{k}",
            "child": f"rod-{k + 1}",
            "anchor": [0.2 * (k + 1), 0, 0.12],
            **kind,
        }
        for k, kind in enumerate(kinds)
    ]
    return document([ground(), *bodies], joints, simulation={"dt": 0.002})


def loop() -> Document:
    """A four-bar linkage: fifteen of its equations' twenty are enough."""
    corners = [[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 0, 0]]
    bodies, joints = [], []
    for k in range(3):
        middle = (0.5 * (np.array(corners[k]) + corners[k + 1])).tolist()
        bodies.append(
            {"name": f"bar{k}", "position": middle, "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
        )
    for k in range(4):
        joints.append(
            {
                "name": f"pin{k}",
                "type": "hinge",
                "parent": "world" if k in (0, 3) else f"bar{k - 1}",
                "child": f"bar{min(k, 2)}",
                "anchor": corners[k],
                "axis": [0, 1, 0],
            }
        )
    bodies[0]["linear_velocity"] = [0.5, 0, 0]
    bodies[0]["angular_velocity"] = [0, 1.0, 0]
    bodies[1]["linear_velocity"] = [1.0, 0, 0]
    bodies[2]["linear_velocity"] = [0.5, 0, 0]
    bodies[2]["angular_velocity"] = [0, 1.0, 0]
    return document(bodies, joints, simulation={"dt": 0.002})


SCENES = {
    "chain": lambda: chain(3, "hinge"),
    "floating": lambda: floating(4),
    "mixed": mixed,
    "loop": loop,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SCENES)
def test_every_joule_and_every_newton_second_is_booked(name: str, mode: str) -> None:
    sim = stabilised(SCENES[name](), mode)
    sim.advance(1000)
    summary = sim.summary()
    assert summary["energy"]["balance_error"] <= 1e-11
    assert summary["momentum"]["max_linear_drift"] <= 1e-10
    assert summary["momentum"]["max_angular_drift"] <= 1e-10
    assert summary["joints"]["max_position_error"] <= (1e-8 if mode == "projection" else 1e-2)
    assert summary["joints"]["max_angle_error"] <= (1e-8 if mode == "projection" else 1e-2)


@pytest.mark.parametrize("joint", ["ball", "hinge"])
def test_joints_neither_give_nor_take_energy(joint: str) -> None:
    drift = {}
    for mode in MODES:
        sim = stabilised(chain(3, joint), mode)
        sim.advance(5000)
        drift[mode] = sim.summary()["energy"]["max_relative_drift"]
    assert drift["projection"] <= 1e-5
    assert drift["split_impulse"] <= 1e-5
    assert drift["baumgarte"] >= 2.0 * drift["projection"]


@pytest.mark.parametrize("joint", ["ball", "hinge"])
@pytest.mark.parametrize("n", [2, 10])
def test_chains_keep_their_energy_for_ten_seconds(n: int, joint: str) -> None:
    sim = stabilised(limp(n, joint), "projection")
    sim.advance(10000)
    summary = sim.summary()
    assert summary["energy"]["max_relative_drift"] <= 1e-3
    assert summary["joints"]["max_position_error"] <= 1e-8


STEPS = (4e-3, 2e-3, 1e-3)


@functools.cache
def double_pendulum(dt: float, returns: bool) -> Simulation:
    """Two rods of 0.2 m on hinges, 0.2 s after their release from the horizontal."""
    sim = stabilised(limp(2, "hinge"), "projection", dt=dt, energy_return=returns)
    sim.advance(round(0.2 / dt))
    return sim


def exact_double_pendulum(sim: Simulation, time: float) -> np.ndarray:
    """Middles of both rods in the plane (2, 2) [m], by Lagrange's equations of two angles."""
    m, g, length, half = 1.0, 9.81, 0.2, 0.1
    inertia = float(np.linalg.eigvalsh(sim.model.bodies.inertia_B[0])[-1])
    coupling = m * length * half

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        a, b, da, db = y
        M = np.array([[inertia + m * half**2 + m * length**2, coupling * np.cos(a - b)],
                      [coupling * np.cos(a - b), inertia + m * half**2]])  # fmt: skip
        force = [
            -coupling * np.sin(a - b) * db**2 - m * g * (half + length) * np.cos(a),
            coupling * np.sin(a - b) * da**2 - m * g * half * np.cos(b),
        ]
        return np.r_[da, db, np.linalg.solve(M, force)]

    y = solve_ivp(rates, (0.0, time), np.zeros(4), "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    along = np.array([[np.cos(y[0]), np.sin(y[0])], [np.cos(y[1]), np.sin(y[1])]])
    return np.array([half * along[0], length * along[0] + half * along[1]])


def orders(errors: list[float]) -> np.ndarray:
    """Observed orders from errors of steps that are halved."""
    return np.log2(np.array(errors[:-1]) / errors[1:])


@pytest.mark.parametrize("returns", [True, False])
def test_the_trajectory_of_a_double_pendulum_is_of_second_order(returns: bool) -> None:
    """Whether joints get their energy back or not: that is no part of the order."""
    errors = []
    for dt in STEPS:
        sim = double_pendulum(dt, returns)
        exact = exact_double_pendulum(sim, sim.time)
        errors.append(float(np.abs(sim.poses()[:2][:, [0, 2]] - exact).max()))
    assert errors[1] <= 2e-5
    assert orders(errors).min() >= 1.9
    assert orders(errors).max() <= 2.1


def test_energy_without_the_return_is_of_second_order() -> None:
    lost = []
    for dt in STEPS:
        energy = double_pendulum(dt, False).summary()["energy"]
        assert energy["returned"]["sum"] == energy["returned"]["share"] == 0.0
        assert energy["returned"]["largest_step"] == energy["returned"]["largest_time"] == 0.0
        lost.append(energy["initial"] - energy["final"])
    assert min(lost) > 0.0
    assert orders(lost).min() >= 1.9
    assert orders(lost).max() <= 2.1


def test_what_joints_get_back_is_what_they_lose_without_it() -> None:
    for dt in STEPS:
        kept = double_pendulum(dt, True).summary()["energy"]
        lost = double_pendulum(dt, False).summary()["energy"]
        returned, missing = kept["returned"], kept["final"] - lost["final"]
        assert kept["max_relative_drift"] <= 0.01 * lost["max_relative_drift"]
        assert returned["net"] == pytest.approx(missing, rel=1e-3)
        assert returned["sum"] >= abs(returned["net"])
        assert 0.0 < returned["largest_step"] <= returned["sum"]
        assert 0.0 < returned["largest_time"] <= 0.2
        assert returned["share"] == pytest.approx(returned["sum"] / kept["max_kinetic"])


def test_what_is_returned_is_part_of_a_snapshot() -> None:
    loaded = load_scene(limp(2, "hinge"))
    whole, resumed = Simulation(loaded), Simulation(loaded)
    whole.advance(150)
    resumed.restore(whole.snapshot())
    whole.advance(50)
    resumed.advance(50)
    assert whole.summary()["energy"]["returned"]["sum"] > 0.0
    assert resumed.summary()["energy"]["returned"] == whole.summary()["energy"]["returned"]


def test_the_return_changes_nothing_where_nothing_is_returned() -> None:
    found = []
    for returns in (True, False):
        sim = stabilised(limp(2, "hinge"), "baumgarte", energy_return=returns)
        sim.advance(200)
        assert sim.summary()["energy"]["returned"]["sum"] == 0.0
        found.append(sim.state_hash())
    assert found[0] == found[1]


def test_loops_of_trees_report_what_they_get_back() -> None:
    """A four-bar linkage in joint coordinates: its loop keeps closed without the return too."""
    summary = {}
    for returns in (True, False):
        scene = loop()
        options = {"dt": 0.002, "formulation": "reduced", "energy_return": returns}
        sim = simulate(scene | {"simulation": options})
        sim.advance(500)
        summary[returns] = sim.summary()
    kept, lost = summary[True]["energy"], summary[False]["energy"]
    assert kept["returned"]["sum"] > 0.0
    assert kept["returned"]["flight"] > 0.0
    assert lost["returned"]["sum"] == 0.0
    missing = kept["final"] - lost["final"]
    assert kept["returned"]["net"] == pytest.approx(missing, rel=0.05)
    assert kept["max_relative_drift"] < lost["max_relative_drift"]
    assert lost["balance_error"] <= 1e-8
    assert summary[False]["joints"]["max_position_error"] <= 1e-6


def test_joints_of_a_whip_of_a_hundred_links_stay_in_place() -> None:
    sim = stabilised(limp(100, "hinge"), "projection")
    fastest = 0.0
    for _ in range(120):
        sim.advance(50)
        fastest = max(fastest, float(np.abs(sim.velocities()[:, 3:]).max()))
    assert fastest >= 100.0
    assert sim.summary()["joints"]["max_position_error"] <= 1e-6
    assert sim.summary()["joints"]["max_angle_error"] <= 1e-6


def test_what_floats_keeps_energy_and_both_momenta() -> None:
    scene = floating(4)
    for joint in scene["joints"]:
        joint["anchor"][2] = 0.02
    sim = stabilised(scene, "projection")
    # the first steps take what joints do not allow of the velocities they are given
    sim.advance(5)
    before, momentum = sim.energy()["total"], sim.momentum()
    sim.advance(3000)
    assert sim.energy()["total"] == pytest.approx(before, rel=1e-6)
    assert np.abs(sim.momentum() - momentum).max() <= 1e-11 * np.abs(momentum).max()
    assert np.abs(sim.state.momentum_in).max() == 0.0


def matrix_of_joint(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """J (rows, 12) of the only joint between bodies 0 and 1, and M^-1 (12, 12)."""
    rows, n = sim.work.rows, int(sim.work.rows.count[0])
    M = np.zeros((12, 12))
    for k in range(2):
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = sim.work.motion.inverse_inertia_W[k]
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = (
            np.eye(3) * sim.model.bodies.inverse_mass[k]
        )
    return np.hstack([rows.J_a[:n], rows.J_b[:n]]), M


@pytest.mark.parametrize("mode", MODES)
def test_what_a_jolt_takes_is_not_given_back(mode: str) -> None:
    """A push on one of two bodies at rest: the joint takes what a plastic impact takes."""
    bodies = [brick("a"), brick("b", position=[0.6, 0, 0])]
    pin = {"name": "pin", "type": "ball", "parent": "a", "child": "b", "anchor": [0.3, 0, 0]}
    sim = stabilised(document(bodies, [pin], gravity=[0, 0, 0], simulation={"dt": 1e-3}), mode)
    sim.advance(1)
    J, W = matrix_of_joint(sim)
    sim.apply_impulse("a", [0.0, 3.0, 1.0])
    v = np.r_[sim.state.w_WB_W[0], sim.state.v_WB_W[0], sim.state.w_WB_W[1], sim.state.v_WB_W[1]]
    free = 0.5 * v @ np.linalg.inv(W) @ v
    v = v - W @ J.T @ np.linalg.solve(J @ W @ J.T, J @ v)
    expected = 0.5 * v @ np.linalg.inv(W) @ v
    sim.advance(1)
    assert expected <= 0.8 * free
    assert sim.energy()["kinetic"] == pytest.approx(expected, rel=1e-2)


def between(speed: float) -> Document:
    """Two bodies that hang between two supports, one of which moves."""
    links: Document = {"mass": 1.0, "inertia": [0.01, 0.02, 0.02]}
    bodies = [
        {"name": "left", "type": "kinematic", "linear_velocity": [speed, 0, 0]},
        {"name": "a", "position": [0.125, 0, -0.08], "angular_velocity": [2, 0, 0], **links},
        {"name": "b", "position": [0.375, 0, -0.08], "angular_velocity": [2, 0, 0], **links},
    ]
    for body in bodies[1:]:
        body["linear_velocity"] = [speed, 0.16, 0]
    joints = [
        {"name": "first", "type": "ball", "parent": "left", "child": "a", "anchor": [0, 0, 0]},
        {"name": "knee", "type": "ball", "parent": "a", "child": "b", "anchor": [0.25, 0, -0.16]},
        {"name": "last", "type": "ball", "parent": "world", "child": "b", "anchor": [0.5, 0, 0]},
    ]
    return document(bodies, joints, simulation={"dt": 1e-3})


@pytest.mark.parametrize("speed", [0.0, 0.05])
def test_supports_that_move_apart_are_booked(speed: float) -> None:
    sim = stabilised(between(speed), "projection")
    sim.advance(2000)
    summary = sim.summary()
    assert summary["energy"]["balance_error"] <= 1e-11
    assert summary["joints"]["max_position_error"] <= 1e-6


def test_a_support_that_moves_is_as_good_as_one_that_rests() -> None:
    """What hangs on a body in steady motion is scaled about that motion."""
    found = []
    for speed in (0.0, 2.0):
        scene = chain(3, "ball")
        scene["bodies"].insert(
            0, {"name": "car", "type": "kinematic", "linear_velocity": [speed, 0, 0]}
        )
        scene["joints"][0]["parent"] = "car"
        for body in scene["bodies"][1:]:
            body["linear_velocity"] = [speed, 0, 0]
        sim = stabilised(scene, "projection")
        sim.advance(1000)
        assert sim.summary()["energy"]["balance_error"] <= 1e-11
        assert sim.summary()["momentum"]["max_linear_drift"] <= 1e-10
        found.append(sim.poses()[1:, :3] - [speed * sim.time, 0, 0])
    assert found[1] == pytest.approx(found[0], abs=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_apart_comes_together(mode: str) -> None:
    sim = stabilised(floating(4), mode)
    sim.advance(100)
    rng = np.random.default_rng(2)
    sim.state.p_WB[:4] += rng.uniform(-1e-3, 1e-3, (4, 3))
    masses = sim.model.bodies.mass[:4, None]
    centre, momentum = (masses * sim.state.p_WB[:4]).sum(axis=0), sim.momentum()
    sim.advance(1)
    moved = (masses * sim.state.p_WB[:4]).sum(axis=0) - centre
    assert np.abs(moved - momentum[:3] * sim.time_step).max() <= 1e-13
    assert np.abs(sim.momentum() - momentum).max() <= 1e-12
    sim.advance(200)
    assert sim.solver_report()["joint_position_error"] <= 5e-3
    projecting = sim.options._replace(stabilisation=int(Stabilisation.PROJECTION))
    positions = workspace(sim.model, projecting, room_of(sim.work, sim.collision)).positions
    world = sim.world._replace(work=sim.work._replace(positions=positions))
    write_errors(world, True)
    left = np.abs(positions.rows.error[: positions.rows.count[0]]).max()
    assert left <= (2e-9 if mode == "projection" else 1e-4)


@pytest.mark.parametrize("mode", ["split_impulse", "projection"])
def test_what_is_sunk_rises_without_speed(mode: str) -> None:
    box = {"type": "box", "size": [0.2, 0.2, 0.2]}
    body = {"name": "box", "position": [0, 0, 0.098], "mass": 1.0, "shapes": [box]}
    scene = document([ground(), body], gravity=[0, 0, 0], simulation={"dt": 0.002})
    sim = stabilised(scene, mode)
    slop = CONTACT_SLOP * sim.options.margin
    sim.advance(1)
    assert sim.poses()[1, 2] == pytest.approx(0.098 + 0.2 * (0.002 - slop), abs=1e-9)
    sim.advance(100)
    assert sim.poses()[1, 2] == pytest.approx(0.1, abs=2e-6)
    assert np.abs(sim.velocities()).max() == 0.0
    assert sim.energy()["kinetic"] == 0.0


@pytest.mark.parametrize("mode", ["split_impulse", "projection"])
def test_a_violated_stop_is_left_without_speed(mode: str) -> None:
    scene = chain(1, "hinge", limits={"lower": 0.02, "upper": 1.0})
    scene["gravity"] = [0, 0, 0]
    sim = stabilised(scene, mode)
    sim.advance(100)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(0.02, abs=3e-6)
    assert np.abs(sim.velocities()).max() <= 1e-18


@pytest.mark.parametrize("mode", ["split_impulse", "projection"])
def test_lifting_is_booked_as_correction(mode: str) -> None:
    box = {"type": "box", "size": [0.2, 0.2, 0.2]}
    body = {"name": "box", "position": [0, 0, 0.098], "mass": 1.0, "shapes": [box]}
    sim = stabilised(document([ground(), body], simulation={"dt": 0.002}), mode)
    sim.advance(200)
    energy = sim.energy()
    assert energy["correction"] == pytest.approx(9.81 * 0.002, rel=2e-3)
    assert (
        sim.summary()["energy"]["balance_error"] * sim.summary()["energy"]["max_kinetic"] <= 1e-13
    )


def test_a_soft_joint_stays_soft() -> None:
    """A compliant joint hangs by its load; nobody puts it in place."""
    found = []
    for mode in MODES:
        sim = stabilised(chain(1, "ball", cfm=1e-3, erp=0.2), mode)
        sim.advance(500)
        found.append(sim.poses().tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("mode", ["split_impulse", "projection"])
@pytest.mark.parametrize("name", ["mixed", "loop"])
def test_pieces_snapshots_and_poison_change_nothing(name: str, mode: str) -> None:
    scene = SCENES[name]()
    scene["simulation"]["stabilisation"] = mode
    loaded = load_scene(scene)
    whole, pieces, resumed = Simulation(loaded), Simulation(loaded), Simulation(loaded)
    whole.advance(200)
    pieces.advance(90)
    resumed.restore(pieces.snapshot())
    poison(resumed)
    for field in ("error", "wanted", "lost", "sums"):
        getattr(resumed.work.positions, field)[...] = np.nan
    pieces.advance(110)
    resumed.advance(110)
    assert pieces.state_hash() == whole.state_hash()
    assert resumed.state_hash() == whole.state_hash()


@pytest.mark.parametrize("mode", ["split_impulse", "projection"])
def test_a_far_away_stranger_does_not_change_a_bit(mode: str) -> None:
    arm, hinges = pendulum("arm", 0.0)
    other, others = pendulum("other", 3.0)
    other[1]["mass"] = 2.5
    options = {"dt": 0.002, "stabilisation": mode}
    alone = simulate(document([*arm], hinges, simulation=options))
    crowd = simulate(document([*arm, *other], [*hinges, *others], simulation=options))
    for _ in range(10):
        alone.advance(50)
        crowd.advance(50)
        assert crowd.poses()[:2].tobytes() == alone.poses().tobytes()
