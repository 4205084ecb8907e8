"""Joint forces of smooth integrators: closed forms, and those of small steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cardan.engine.integrators import schemes
from tests.engine.scenes import Document, brick, document, simulate

pytestmark = pytest.mark.reference

FIELDS = ("fx", "fy", "fz", "tx", "ty", "tz", "motor_force")
SMOOTH = ("implicit_midpoint", "rk4", "dop853", "radau")


def forces(scene: Document, integrator: str, dt: float, duration: float) -> np.ndarray:
    """(rows, 7) N, N m of the joint table at the end."""
    options = {**scene.get("simulation", {}), "dt": dt, "duration": duration}
    options |= {"integrator": integrator, "formulation": "reduced"}
    sim = simulate(scene | {"simulation": options})
    sim.advance(sim.total_steps)
    table = sim.joint_table()
    return np.column_stack([table[name] for name in FIELDS])


def bob() -> Document:
    """A point mass of 2 kg on an arm of 1 m, let go level."""
    one = {"name": "bob", "position": [1, 0, 0], "mass": 2.0, "inertia": [1e-9] * 3}
    pin: Document = {"name": "pin", "type": "hinge", "parent": "world", "child": "bob"}
    pin |= {"anchor": [0, 0, 0], "axis": [0, 1, 0]}
    return document([one], [pin])


@pytest.mark.parametrize("integrator", SMOOTH)
def test_the_pivot_of_a_pendulum_carries_three_times_its_weight_at_the_bottom(
    integrator: str,
) -> None:
    """3 m g z / l towards the pivot, z below it, from its energy."""
    scene = bob()
    options = {"dt": 1e-3, "duration": 0.6, "integrator": integrator, "formulation": "reduced"}
    sim = simulate(scene | {"simulation": options})
    for _ in range(6):
        sim.advance(100)
        place = sim.poses()[0, :3]
        table = sim.joint_table()[0]
        true = 3.0 * 2.0 * 9.81 * place[2] * place
        found = np.array([table[name] for name in ("fx", "fy", "fz")])
        assert found == pytest.approx(true, abs=1e-4 if integrator == "implicit_midpoint" else 1e-7)


def chain() -> Document:
    """Bricks on joints of several motions with a damper, a spring, drives and forces; one joint
    names its ends the other way."""
    bodies = [brick(f"b{i}", position=[0.5 * i + 0.25, 0.0, 0.0]) for i in range(4)]
    joints = []
    for i, kind in enumerate(("universal", "hinge", "slider", "hinge")):
        ends = ["world" if i == 0 else f"b{i - 1}", f"b{i}"]
        parent, child = ends if i != 2 else ends[::-1]
        joint: Document = {"type": kind, "name": f"j{i}", "parent": parent, "child": child}
        joint |= {"anchor": [0.5 * i, 0.0, 0.1], "axis": [0.0, 0.6, 0.8]}
        joints.append(joint)
    joints[0]["axis2"] = [1, 0, 0]
    joints[1] |= {"damping": 0.4, "spring": {"stiffness": 30.0, "damping": 0.5, "rest": 0.2}}
    joints[2]["motor"] = {"type": "force", "target": 7.0}
    drive = {"type": "position", "target": 0.3, "stiffness": 40.0, "damping": 2.0}
    joints[3]["motor"] = drive
    spring: Document = {"type": "spring", "parent": "world", "child": "b2", "anchor": [1, 1, 0]}
    spring |= {"anchor2": [1.25, 0, 0], "stiffness": 50.0, "damping": 3.0, "rest": 0.7}
    drag: Document = {"type": "drag", "body": "b3", "linear": 0.8}
    return document(bodies, joints, forces=[spring, drag])


def four_bar() -> Document:
    """A loop whose joints hold it once: two hinges, a ball and a universal joint."""
    places = [[0.0, 0.0, 0.25], [0.5, 0.0, 0.5], [1.0, 0.0, 0.25]]
    bodies = [brick(f"b{i}", position=place) for i, place in enumerate(places)]
    joints: list[Document] = [
        {"type": "hinge", "parent": "world", "child": "b0", "anchor": [0, 0, 0]},
        {"type": "universal", "parent": "b0", "child": "b1", "anchor": [0, 0, 0.5]},
        {"type": "ball", "parent": "b1", "child": "b2", "anchor": [1, 0, 0.5]},
        {"type": "hinge", "parent": "world", "child": "b2", "anchor": [1, 0, 0]},
    ]
    for i, joint in enumerate(joints):
        joint["name"] = f"j{i}"
        joint |= {} if joint["type"] == "ball" else {"axis": [0, 1, 0]}
    joints[1]["axis2"] = [0, 0, 1]
    joints[0]["motor"] = {"type": "force", "target": 5.0}
    return document(bodies, joints)


def geared() -> Document:
    """Two pendulums whose hinges a rigid coupling ties."""
    bodies = [brick(f"b{i}", position=[2.0 * i + 0.3, 0, 0]) for i in range(2)]
    joints: list[Document] = [
        {"type": "hinge", "name": f"h{i}", "parent": "world", "child": f"b{i}"} for i in range(2)
    ]
    for i, joint in enumerate(joints):
        joint |= {"anchor": [2.0 * i, 0, 0], "axis": [0, 1, 0]}
    terms = [{"joint": "h0", "factor": 1.0}, {"joint": "h1", "factor": 2.0}]
    return document(bodies, [*joints, {"type": "coupling", "name": "tie", "terms": terms}])


@pytest.mark.parametrize("make", [chain, four_bar, geared])
def test_joint_forces_are_those_of_small_steps(make: Callable[[], Document]) -> None:
    scene, dt = make(), 1e-4
    # forces of a step are those of its middle
    stepped = forces(scene, "semi_implicit_euler", dt, 0.1)
    exact = forces(scene, "dop853", 0.1 - 0.5 * dt, 0.1 - 0.5 * dt)
    assert np.abs(exact).max() > 5.0
    assert np.abs(stepped - exact).max() < 1e-3 * np.abs(exact).max()


def test_reading_forces_changes_no_bit() -> None:
    scene = four_bar()
    options = {"dt": 0.01, "duration": 0.3, "integrator": "dop853", "formulation": "reduced"}
    once, often = (simulate(scene | {"simulation": options}) for _ in range(2))
    once.advance(30)
    for _ in range(30):
        often.advance(1)
        often.joint_table()
    assert np.array_equal(once.poses(), often.poses())
    assert np.array_equal(once.velocities(), often.velocities())


def test_a_run_that_is_stopped_inside_a_step_has_the_forces_of_the_step_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schemes, "ASK_S", -1.0)
    options = {"dt": 0.01, "duration": 0.3, "integrator": "dop853", "formulation": "reduced"}
    stopped, other = (simulate(four_bar() | {"simulation": options}) for _ in range(2))
    stops = iter([False] * 100)
    done = stopped.advance(30, should_stop=lambda: next(stops, True))
    assert 0 < done < 30
    other.advance(done)
    assert np.array_equal(stopped.joint_table(), other.joint_table())
