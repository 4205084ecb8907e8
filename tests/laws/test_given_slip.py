"""Surfaces whose sliding joints, motors and kinematic bodies give: friction at its limit.

No impulse changes such a slip, so that friction has nothing to stop; it loads what gives it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cardan.engine import run
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document
from tests.laws.transforms import moved

pytestmark = pytest.mark.law

MU, G, MASS = 0.5, 9.81, 2.0
LIMIT = MU * MASS * G
BOX: Document = {"type": "box", "size": [0.2, 0.2, 0.2]}
BALL: Document = {"type": "sphere", "radius": 0.1}
FORMULATIONS = ["maximal", "reduced"]
METHODS = ["auto", "proximal", "sor", "gauss_seidel", "apgd", "nncg"]


def scene_of(bodies: list[Document], joints: list[Document], **simulation: Any) -> Document:
    """A scene with one material of friction MU."""
    found = document(bodies, joints, gravity=[0, 0, -G], simulation={"dt": 1e-3, **simulation})
    for body in found["bodies"]:
        for shape in body.get("shapes", []):
            shape.setdefault("material", "rough")
    return found | {"materials": {"rough": {"friction": MU}}, "record": {"every": 1}}


def belt(speed: float) -> Document:
    """A kinematic floor that runs along x."""
    floor = {"type": "box", "size": [20, 20, 1], "position": [0, 0, -0.5]}
    found: Document = {"name": "belt", "type": "kinematic", "linear_velocity": [speed, 0, 0]}
    return found | {"shapes": [floor]}


def load(shape: Document) -> Document:
    """What stands on the belt."""
    return {"name": "load", "mass": MASS, "position": [0, 0, 0.1], "shapes": [{**shape}]}


def gate(shape: Document = BOX, more: Document | None = None, **simulation: Any) -> Document:
    """A load that only a vertical guide holds on a belt."""
    guide: Document = {"name": "guide", "type": "slider", "parent": "world", "child": "load"}
    guide |= {"axis": [0, 0, 1], **(more or {})}
    return scene_of([belt(1.0), load(shape)], [guide], duration=0.1, **simulation)


def results(scene: Document, trusted: bool = True) -> tuple[Any, Any]:
    """Tables and summary of a run."""
    recording, summary = run(load_scene(scene))
    if trusted:
        assert summary["verdict"]["status"] == "trusted"
    return recording.tables(), summary


def last(table: Any, name: str, *columns: str) -> np.ndarray:
    """The last values of a body or joint."""
    names = table["joint"] if "joint" in table else table["body"]
    row = np.flatnonzero(np.asarray(names).astype(str) == name)[-1]
    return np.array([float(table[column][row]) for column in columns])


@pytest.mark.parametrize("shape", [BOX, BALL])
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_a_guide_holds_a_load_on_a_belt(shape: Document, formulation: str, method: str) -> None:
    """Friction was 0, the guide without load, and the verdict `trusted`."""
    tables, _ = results(gate(shape, formulation=formulation, solver={"method": method}))
    assert last(tables["joints"], "guide", "fx")[0] == pytest.approx(-LIMIT, rel=1e-6)
    assert tables["energy"]["dissipated_friction"][-1] == pytest.approx(0.1 * LIMIT, rel=1e-6)
    assert tables["energy"]["work_in"][-1] == pytest.approx(0.1 * LIMIT, rel=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("q", [[0.8, 0, 0, 0.6], [0.8, 0.6, 0, 0], [0.5, 0.1, 0.5, 0.7]])
def test_the_same_in_other_axes(formulation: str, q: list[float]) -> None:
    turned = (np.array(q) / np.linalg.norm(q)).tolist()
    tables, _ = results(moved(gate(formulation=formulation), turned, [3, -2, 1], [0, 0, 0]))
    force = last(tables["joints"], "guide", "fx", "fy", "fz")
    assert np.linalg.norm(force) == pytest.approx(LIMIT, rel=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("surface", [{"compliance": 1e-6}, {"stiffness_per_area": 1e7}, {}])
def test_a_guide_that_is_too_weak_breaks(formulation: str, surface: Document) -> None:
    scene = gate(more={"breaking_force": 0.5 * LIMIT}, formulation=formulation)
    scene["materials"]["rough"] |= surface
    _, summary = results(scene, False)
    assert [one["joint"] for one in summary["joints"]["broken"]] == ["guide"]


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("guide", ["planar", "sliders"])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5])
def test_what_slides_across_a_belt_has_little_friction_along(
    formulation: str, guide: str, angle: float
) -> None:
    """The belt runs at 2 m/s along x, a force of 3 N pushes along y: m a = F - mu N v/|slip|. The
    whole friction cone was left for y, and the box stuck."""
    joints: list[Document] = [{"name": "g", "type": "planar", "parent": "world", "child": "load"}]
    joints[0] |= {"axis": [1, 0, 0]}
    bodies = [belt(2.0), load(BOX)]
    if guide == "sliders":
        bodies.append({"name": "c", "mass": 1e-3, "inertia": [1e-5] * 3, "position": [0, 0, 0.5]})
        joints = [
            {"name": "y", "type": "slider", "parent": "world", "child": "c", "axis": [0, 1, 0]},
            {"name": "z", "type": "slider", "parent": "c", "child": "load", "axis": [0, 0, 1]},
        ]
    scene = scene_of(bodies, joints, duration=1.0, formulation=formulation)
    scene["forces"] = [{"type": "wrench", "body": "load", "force": [0, 3.0, 0]}]
    moves = MASS + (1e-3 if guide == "sliders" else 0.0)
    truth = solve_ivp(
        lambda t, y: [y[1], (3.0 - LIMIT * y[1] / np.hypot(2.0, y[1])) / moves],
        (0.0, 1.0),
        [0.0, 0.0],
        method="DOP853",
        rtol=1e-11,
        atol=1e-12,
    )
    q = [float(np.cos(0.5 * angle)), 0.0, 0.0, float(np.sin(0.5 * angle))]
    tables, _ = results(moved(scene, q, [0, 0, 0], [0, 0, 0]))
    along = np.array([-np.sin(angle), np.cos(angle)])
    way = along @ last(tables["bodies"], "load", "px", "py")
    assert way == pytest.approx(truth.y[0, -1], abs=5e-4)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("height", [0.0, 0.3])
def test_a_motor_that_spins_a_held_wheel_feels_the_floor(formulation: str, height: float) -> None:
    """A car in the plane, tied by a rod at a height; its driven wheel slips under a rigid motor.

    Moments about the foot of the other wheel: N base = W base/2 + mu N height.
    """
    r, base, weight = 0.2, 1.2, 12.0 * G
    wheel = {"type": "sphere", "radius": r}
    bodies: list[Document] = [belt(0.0)]
    bodies.append({"name": "car", "mass": 10.0, "inertia": [1.0] * 3, "position": [0, 0, 0.4]})
    joints: list[Document] = [
        {"name": "plane", "type": "planar", "parent": "world", "child": "car", "axis": [0, 1, 0]},
        {"name": "rod", "type": "distance", "parent": "world", "child": "car"}
        | {"anchor": [-3.0, 0, height], "anchor2": [-0.5 * base, 0, height]},
    ]
    for name, x in (("driven", -0.5 * base), ("other", 0.5 * base)):
        one: Document = {"name": name, "mass": 1.0, "position": [x, 0, r], "shapes": [{**wheel}]}
        bodies.append(one)
        axle = {"name": f"axle of {name}", "type": "hinge", "parent": "car", "child": name}
        joints.append(axle | {"anchor": [x, 0, r], "axis": [0, 1, 0]})
    joints[2]["motor"] = {"type": "velocity", "target": 20.0}
    bodies[2]["angular_velocity"] = [0, 20.0, 0]
    tables, _ = results(scene_of(bodies, joints, duration=0.2, formulation=formulation))
    N = 0.5 * weight * base / (base - MU * height)
    torque = last(tables["joints"], "axle of driven", "motor_force")[0]
    assert torque == pytest.approx(MU * N * r, rel=1e-6)
    assert abs(last(tables["joints"], "rod", "fx")[0]) == pytest.approx(MU * N, rel=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_spinning_friction_on_a_turntable(formulation: str) -> None:
    """A ball on a vertical guide above a table that turns."""
    scene = gate(BALL, formulation=formulation)
    scene["bodies"][0] |= {"linear_velocity": [0, 0, 0], "angular_velocity": [0, 0, 5.0]}
    scene["materials"]["rough"]["spinning_friction"] = 0.01
    tables, _ = results(scene)
    torque = last(tables["joints"], "guide", "tz")[0]
    assert abs(torque) == pytest.approx(0.01 * MASS * G, rel=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("shape", [BOX, BALL])
@pytest.mark.parametrize("dt", [1e-3, 4e-3, 1.0 / 60.0])
def test_what_turns_with_its_floor_does_not_slide(
    formulation: str, shape: Document, dt: float
) -> None:
    """A load on a turntable that also has its guide: what a step makes of the turn, 2 um/s to 5
    mm/s, is no slip, and the guide has the centripetal force alone."""
    turn, r = 2.0, 1.0
    scene = gate(shape, {"parent": "belt", "collide_connected": True}, formulation=formulation)
    scene["simulation"] |= {"dt": dt, "duration": 0.5}
    scene["bodies"][0] |= {"linear_velocity": [0, 0, 0], "angular_velocity": [0, 0, turn]}
    spin = {"linear_velocity": [0, turn * r, 0], "angular_velocity": [0, 0, turn]}
    scene["bodies"][1] |= {"position": [r, 0, 0.1], **spin}
    tables, _ = results(scene)
    force = np.hypot(tables["joints"]["fx"], tables["joints"]["fy"])
    assert force[2:] == pytest.approx(MASS * turn**2 * r, rel=5e-3)
    assert force.max() < 1.1 * MASS * turn**2 * r


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("speed", [1e-3, 1e-2, 1.0])
def test_a_light_pad_under_a_heavy_load_has_its_friction(formulation: str, speed: float) -> None:
    """1 g in a guide below 100 kg that is welded on it."""
    scene = gate(formulation=formulation)
    scene["bodies"][0]["linear_velocity"] = [speed, 0, 0]
    scene["bodies"][1]["mass"] = 1e-3
    heavy: Document = {"name": "heavy", "mass": 100.0, "inertia": [1.0] * 3}
    scene["bodies"].append(heavy | {"position": [0, 0, 0.5]})
    weld = {"name": "weld", "type": "fixed", "parent": "load", "child": "heavy"}
    scene["joints"].append(weld | {"anchor": [0, 0, 0.3]})
    tables, _ = results(scene)
    assert last(tables["joints"], "guide", "fx")[0] == pytest.approx(-MU * G * 100.001, rel=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_no_slip_has_no_friction(formulation: str) -> None:
    """The rounding of a slip that is zero loads nothing: a load that is let down on a floor in a
    tilted guide, in axes that no number is round in."""
    scene = gate(BOX, formulation=formulation)
    scene["bodies"][0]["linear_velocity"] = [0, 0, 0]
    q = np.array([0.5, 0.1, 0.5, 0.7])
    tables, _ = results(moved(scene, (q / np.linalg.norm(q)).tolist(), [30, -20, 10], [0, 0, 0]))
    assert np.abs(tables["contacts"]["friction_force"]).max() < 1e-6 * LIMIT
