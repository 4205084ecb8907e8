"""Robots that others ship: imported, compared with MuJoCo's numbers, and run."""

import functools
import warnings
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.imported import ImportAnswer, ImportOptions
from cardan.service.importing import import_path
from tests.service.importing.robots import (
    ALL,
    DM_CONTROL,
    GYMNASIUM,
    compiled_by_mujoco,
    robot_path,
)

MJCF = [*(f"gymnasium/{n}" for n in GYMNASIUM), *(f"dm_control/{n}" for n in DM_CONTROL)]
URDF = [robot for robot in ALL if robot.startswith("urdf/")]


@functools.cache
def imported(robot: str, links: str = "merged") -> ImportAnswer:
    return import_path(
        robot_path(robot), ImportOptions.model_validate({"links": links, "visuals": False})
    )


def bodies_of(answer: ImportAnswer) -> dict[str, dict]:
    return {body["name"]: body for body in answer.scene["bodies"]}


def rotation(q) -> np.ndarray:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, np.array(q))
    return matrix.reshape(3, 3)


def tensor(values) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = values
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def total(parts) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about it of (mass, centre, inertia) in W."""
    mass = sum(m for m, _, _ in parts)
    center = sum(m * c for m, c, _ in parts) / mass
    inertia = np.zeros((3, 3))
    for m, c, about in parts:
        d = c - center
        inertia += about + m * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, center, inertia


def scene_total(answer: ImportAnswer):
    parts = []
    for body in answer.scene["bodies"]:
        if body.get("type", "dynamic") == "dynamic":
            R = rotation(body.get("orientation", [1, 0, 0, 0]))
            center = np.array(body["position"]) + R @ body["center_of_mass"]
            parts.append((body["mass"], center, R @ tensor(body["inertia"]) @ R.T))
    return total(parts)


@pytest.mark.parametrize("robot", ALL)
def test_robot_builds_and_runs(robot):
    answer = imported(robot)
    scene = load_scene(answer.scene)
    simulation = Simulation(scene)
    simulation.advance(round(0.2 / scene.simulation.dt))
    assert simulation.failure is None
    energy = simulation.energy()
    assert all(np.isfinite(value) for value in energy.values())
    # nothing explodes: what the motion gained is below what fell
    assert energy["kinetic"] < 1e3


@pytest.mark.parametrize("robot", ALL)
def test_report_says_where(robot):
    report = imported(robot).report
    assert report.compiler.startswith("MuJoCo ")
    assert report.bodies == len(imported(robot).scene["bodies"])
    placed = {"merged", "hull", "armature", "actuator", "tendon", "light_body", "light_link"}
    assert all(note.where for note in report.notes if note.code in placed)
    assert all(note.message.endswith((".", ")")) for note in report.notes)


@pytest.mark.parametrize("robot", MJCF)
def test_bodies_stand_where_mujoco_puts_them(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model, data = compiled_by_mujoco(robot_path(robot))
    bodies = bodies_of(imported(robot))
    compared = 0
    for index in range(1, model.nbody):
        body = bodies.get(model.body(index).name)
        if body is None:
            continue
        compared += 1
        assert np.allclose(body["position"], data.xpos[index], rtol=0, atol=1e-9)
        turn = rotation(body.get("orientation", [1, 0, 0, 0]))
        assert np.allclose(turn, data.xmat[index].reshape(3, 3), rtol=0, atol=1e-9)
    assert compared > 0
    scene_mass = sum(model.body_mass[i] for i in range(model.nbody) if model.body_weldid[i])
    mass, center, inertia = scene_total(imported(robot))
    assert mass == pytest.approx(scene_mass, rel=1e-9)
    moving = [i for i in range(model.nbody) if model.body_weldid[i]]
    parts = []
    for i in moving:
        axes = data.ximat[i].reshape(3, 3)
        parts.append(
            (model.body_mass[i], data.xipos[i], axes @ np.diag(model.body_inertia[i]) @ axes.T)
        )
    _, wanted_center, wanted_inertia = total(parts)
    assert np.allclose(center, wanted_center, rtol=0, atol=1e-9)
    assert np.allclose(inertia, wanted_inertia, rtol=1e-9, atol=1e-9 * np.abs(wanted_inertia).max())


def moving_mass_of_urdf(path) -> float:
    """Mass of the links that are not fixed to the root, as the file says it."""
    root = ET.parse(path).getroot()
    masses = {}
    for link in root.iter("link"):
        mass = link.find("inertial/mass")
        masses[link.get("name")] = 0.0 if mass is None else float(mass.attrib["value"])
    ends = [
        (parent.get("link"), child.get("link"), j)
        for j in root.findall("joint")
        if (parent := j.find("parent")) is not None and (child := j.find("child")) is not None
    ]
    base = set(masses) - {child for _, child, _ in ends}
    for _ in ends:
        base |= {child for parent, child, j in ends if j.get("type") == "fixed" and parent in base}
    return sum(mass for name, mass in masses.items() if name not in base)


@pytest.mark.parametrize("robot", URDF)
def test_urdf_keeps_its_mass(robot):
    merged, kept = imported(robot), imported(robot, "kept")
    guessed = {note.code for note in merged.report.notes} & {"light_link", "mass_from_shapes"}
    wanted = moving_mass_of_urdf(robot_path(robot))
    assert merged.report.mass == pytest.approx(wanted, rel=1e-2 if guessed else 1e-9)
    assert kept.report.bodies >= merged.report.bodies
    one, other = scene_total(merged), scene_total(kept)
    assert one[0] == pytest.approx(other[0], rel=1e-12)
    assert np.allclose(one[1], other[1], rtol=0, atol=1e-12)
    assert np.allclose(one[2], other[2], rtol=1e-9, atol=1e-12)


def test_kept_links_are_bodies_on_fixed_joints():
    answer = imported("urdf/panda", "kept")
    joints = {joint.get("child"): joint for joint in answer.scene["joints"]}
    assert joints["panda_hand"]["type"] == "fixed"
    simulation = Simulation(load_scene(answer.scene))
    simulation.advance(50)
    assert simulation.failure is None


def test_floating_robot_falls():
    free = import_path(robot_path("urdf/talos"), ImportOptions(root="free", visuals=False))
    fixed = imported("urdf/talos")
    assert free.report.mass is not None
    assert fixed.report.mass is not None
    assert free.report.mass > fixed.report.mass
    assert "fixed_root" in {note.code for note in fixed.report.notes}
    assert "fixed_root" not in {note.code for note in free.report.notes}
    simulation = Simulation(load_scene(free.scene))
    simulation.advance(50)
    assert simulation.failure is None
    fallen = -9.81 * simulation.time * free.report.mass
    assert simulation.momentum()[2] == pytest.approx(fallen, rel=1e-6)
