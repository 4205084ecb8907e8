"""Drives with stiffness and damping: an oscillator that is followed to second order."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.reference

FORMULATIONS = ("maximal", "reduced")
INERTIA, OMEGA = 0.2, 82.0


def driven_arm(ratio: float, dt: float, formulation: str, omega: float = OMEGA, **more: Any) -> Any:
    """A body on a hinge whose drive goes from 0 to 1 rad, or as `more` says."""
    drive = {"type": "position", "target": 1.0, "stiffness": INERTIA * omega**2}
    drive["damping"] = 2.0 * ratio * omega * INERTIA
    arm = {"name": "arm", "mass": 1.0, "inertia": [INERTIA] * 3}
    hinge: Document = {"name": "hinge", "type": "hinge", "parent": "world", "child": "arm"}
    hinge |= {"anchor": [0, 0, 0], "axis": [0, 0, 1], "motor": {**drive, **more}}
    options = {"dt": dt, "duration": 0.3, "formulation": formulation}
    return simulate(document([arm], [hinge], gravity=[0, 0, 0], simulation=options))


def angles(sim: Simulation) -> list[float]:
    """The only coordinate after each step [rad]."""
    found = []
    for _ in range(sim.total_steps):
        sim.advance(1)
        found.append(float(sim.joint_table()["q"][0]))
    return found


def step_response(ratio: float, t: float) -> float:
    """x of x'' + 2 r w x' + w^2 (x - 1) = 0 from rest at 0."""
    root = cmath.sqrt(ratio**2 - 1.0)
    a, b = OMEGA * (-ratio + root), OMEGA * (-ratio - root)
    return float((1.0 + (b * cmath.exp(a * t) - a * cmath.exp(b * t)) / (a - b)).real)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("ratio", "off"), [(0.3, 0.025), (1.4, 0.01)])
def test_a_drive_is_followed_to_second_order(ratio: float, off: float, formulation: str) -> None:
    """0.87 % off with a damping ratio of 1.4 and 13 steps a turn, a quarter with twice those."""
    errors = []
    for dt in (5.7e-3, 2.85e-3, 1.425e-3):
        path = angles(driven_arm(ratio, dt, formulation))
        errors.append(max(abs(q - step_response(ratio, (k + 1) * dt)) for k, q in enumerate(path)))
    assert errors[0] < off
    assert np.log2(errors[0] / errors[1]) > 1.9
    assert np.log2(errors[1] / errors[2]) > 1.9


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("phase", [2.5, 10.0, 1000.0])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 1.0])
def test_a_drive_that_is_too_stiff_for_the_step_comes_to_rest(
    ratio: float, phase: float, formulation: str
) -> None:
    """It never overshoots by more than it came from, with a damper or without."""
    off = np.abs(np.array(angles(driven_arm(ratio, 1e-3, formulation, phase / 1e-3))) - 1.0)
    assert off.max() < 1.0
    assert off[10] < 0.1
    assert off[-1] < 1e-6


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("stiffness", [3e3, 3e5])
def test_stiff_drives_of_a_chain_never_grow(stiffness: float, formulation: str) -> None:
    """Five links against one another: they are lighter than what a drive takes them for."""
    bodies, joints, parent = [], [], "world"
    for k in range(5):
        name = f"link{k}"
        bodies.append({"name": name, "position": [0.4 * k + 0.2, 0, 0], "mass": 0.5})
        bodies[-1]["inertia"] = [0.001, 0.007, 0.007]
        drive: Document = {"type": "position", "target": 1e-3 * (-1.0) ** k}
        drive["stiffness"] = stiffness
        hinge: Document = {"name": f"hinge{k}", "type": "hinge", "parent": parent, "child": name}
        hinge |= {"anchor": [0.4 * k, 0, 0], "axis": [0, 0, 1], "motor": drive}
        joints.append(hinge)
        parent = name
    options = {"dt": 2e-3, "duration": 1.0, "formulation": formulation}
    sim = simulate(document(bodies, joints, gravity=[0, 0, 0], simulation=options))
    energy = []
    for _ in range(10):
        sim.advance(sim.total_steps // 10)
        off = sim.joint_table()["q"] - 1e-3 * (-1.0) ** np.arange(5)
        energy.append(sim.energy()["kinetic"] + 0.5 * stiffness * float(off @ off))
    # at the start all drives are off by 1e-3
    assert max(energy) <= 0.5 * stiffness * 5e-6 * (1.0 + 1e-3)
    assert sim.summary()["energy"]["balance_error"] < 1e-9


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("phase", [0.4, 10.0])
def test_a_drive_never_exceeds_its_force(phase: float, formulation: str) -> None:
    dt, bound = 5e-3, 30.0
    sim = driven_arm(0.7, dt, formulation, phase / dt, max_force=bound)
    sim.advance(4)
    q, forces = float(sim.joint_table()["q"][0]), []
    # the full torque, as long as the error is large: q = T t^2/(2 I), half a step late
    assert q == pytest.approx(0.5 * bound / INERTIA * (4 * dt) ** 2, rel=1e-9)
    for _ in range(56):
        sim.advance(1)
        forces.append(abs(float(sim.joint_table()["motor_force"][0])))
    assert max(forces) == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_drive_follows_a_moving_target_to_second_order(formulation: str) -> None:
    """A ramp of 2 rad/s from rest: behind by the transient of x - r t, which is that of a push."""
    ratio, rate, errors = 0.8, 2.0, []
    target = {"times": [0.0, 1.0], "values": [0.0, rate], "interpolation": "linear"}
    damped = OMEGA * np.sqrt(1.0 - ratio**2)
    for dt in (4e-3, 2e-3, 1e-3):
        path = np.array(angles(driven_arm(ratio, dt, formulation, target=target)))
        t = dt * np.arange(1, len(path) + 1)
        behind = -rate / damped * np.exp(-ratio * OMEGA * t) * np.sin(damped * t)
        errors.append(np.abs(path - rate * t - behind).max())
    assert errors[0] < 0.02 * rate / OMEGA
    assert np.log2(errors[0] / errors[1]) > 1.9
    assert np.log2(errors[1] / errors[2]) > 1.9


def arm_of_two(**more: Any) -> Document:
    """Two links of 1 kg and 1 m in a row; the drive of the first one moves both."""
    inertia, drive = [0.01, 0.1, 0.1], {"type": "position", "target": 0.0, "stiffness": 50.0}
    bodies: list[Document] = [
        {"name": "upper", "position": [0.5, 0, 0], "mass": 1.0, "inertia": inertia},
        {"name": "lower", "position": [1.5, 0, 0], "mass": 1.0, "inertia": inertia},
    ]
    joints: list[Document] = [
        {"name": "shoulder", "parent": "world", "child": "upper", "anchor": [0, 0, 0], **more},
        {"name": "elbow", "parent": "upper", "child": "lower", "anchor": [1, 0, 0]},
    ]
    joints = [{"type": "hinge", "axis": [0, 1, 0], "motor": drive, **joint} for joint in joints]
    return document(bodies, joints)


def test_the_mass_of_a_drive_is_that_of_all_it_carries() -> None:
    """Of the shoulder both links about it, of the elbow the lower one, with a rotor that too."""
    both, lower = 0.2 + 0.5**2 + 1.5**2, 0.1 + 0.5**2
    found = simulate(arm_of_two()).model.joints.motor_inverse_mass
    # about its own axis a link has the least moment, which bounds that of an arm
    assert found[:, 0] == pytest.approx([1.0 / both, 1.0 / lower])
    with_rotor = arm_of_two(armature=0.7)
    with_rotor["simulation"] = {"formulation": "reduced"}
    found = simulate(with_rotor).model.joints.motor_inverse_mass
    assert found[:, 0] == pytest.approx([1.0 / (both + 0.7), 1.0 / lower])


def test_the_mass_of_a_drive_between_free_bodies_and_in_a_loop() -> None:
    floating = arm_of_two()
    floating["joints"] = floating["joints"][1:]
    assert simulate(floating).model.joints.motor_inverse_mass[0, 0] == pytest.approx(2.0 / 0.1)
    loop = arm_of_two()
    loop["joints"].append({"name": "foot", "type": "hinge", "parent": "world", "child": "lower"})
    loop["joints"][-1] |= {"anchor": [2, 0, 0], "axis": [0, 1, 0]}
    joints = simulate(loop).model.joints
    # where a loop moves with it: the bound of the two bodies alone
    assert joints.motor_inverse_mass[:2, 0] == pytest.approx(joints.inverse_mass[:2, 1])


def test_a_chain_to_a_body_on_a_path_is_a_loop_through_the_ground() -> None:
    closed = arm_of_two()
    closed["bodies"].append({"name": "wagon", "type": "kinematic", "position": [2.5, 0, 0]})
    closed["joints"].append({"name": "hand", "type": "hinge", "parent": "lower", "child": "wagon"})
    closed["joints"][-1] |= {"anchor": [2, 0, 0], "axis": [0, 1, 0]}
    joints = simulate(closed).model.joints
    assert joints.motor_inverse_mass[:2, 0] == pytest.approx(joints.inverse_mass[:2, 1])


@pytest.mark.parametrize("seed", range(6))
def test_what_drives_of_a_branched_arm_carry_is_the_sum_of_its_bodies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    parents = [int(rng.integers(-1, i)) if i else -1 for i in range(n)]
    p, mass = rng.uniform(-1, 1, (n, 3)), rng.uniform(0.5, 2.0, n)
    anchors, axis = rng.uniform(-1, 1, (n, 3)), np.array([0.0, 1.0, 0.0])
    drive = {"type": "position", "target": 0.0, "stiffness": 50.0}
    bodies: list[Document] = [
        {"name": f"b{i}", "position": list(p[i]), "mass": mass[i], "inertia": [0.1, 0.2, 0.15]}
        for i in range(n)
    ]
    joints: list[Document] = [
        {"type": "hinge", "name": f"j{i}", "parent": f"b{k}" if k >= 0 else "world",
         "child": f"b{i}", "anchor": list(anchors[i]), "axis": list(axis), "motor": drive}
        for i, k in enumerate(parents)
    ]  # fmt: skip
    found = simulate(document(bodies, joints)).model.joints
    carried = [{i} for i in range(n)]
    for i in reversed(range(n)):
        if parents[i] >= 0:
            carried[parents[i]] |= carried[i]
    for i, parts in enumerate(carried):
        arms = np.cross(axis, p[list(parts)] - anchors[i])
        moment = 0.2 * len(parts) + mass[list(parts)] @ (arms**2).sum(axis=1)
        wanted = min(1.0 / moment, found.inverse_mass[i, 1])
        assert found.motor_inverse_mass[i, 0] == pytest.approx(wanted, rel=1e-12)
