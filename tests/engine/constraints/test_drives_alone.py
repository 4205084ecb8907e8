"""Drives that act alone on trees are solved without rows: the motion is that of their rows."""

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.outputs.reports import JOINT_FIELDS
from cardan.schemas import apply_overrides, load_scene

Document = dict[str, Any]
SERIES = {"times": [0.0, 0.05, 0.2], "values": [0.0, 0.6, -0.4]}
SERVO = {"type": "position", "stiffness": 300.0, "damping": 4.0}
# a solver that is named gets the rows of drives
BY_ROWS = {"/simulation/solver": {"method": "pivoting"}}


def body(name: str, x: float) -> Document:
    """A small brick with a ball around it."""
    at = {"name": name, "position": [x, 0, 0], "mass": 1.0, "inertia": [0.02, 0.03, 0.04]}
    return {**at, "shapes": [{"type": "sphere", "radius": 0.05}]}


def arm(steps: int = 300) -> Document:
    """A servo on a series, one on a constant, a spring with a damper, a damper, a torque."""
    joints: list[Document] = [
        {"type": "hinge", "axis": [0, 0, 1], "motor": {**SERVO, "target": SERIES}},
        {"type": "hinge", "axis": [0, 1, 0], "motor": {**SERVO, "target": 0.3}, "damping": 0.2},
        {"type": "slider", "axis": [1, 0, 0], "spring": {"stiffness": 800.0, "damping": 3.0}},
        {"type": "hinge", "axis": [0, 1, 0], "armature": 0.01, "damping": 0.05},
    ]
    joints[3]["motor"] = {"type": "force", "target": 0.7}
    for i, joint in enumerate(joints):
        joint |= {"name": f"j{i}", "parent": f"b{i - 1}" if i else "world", "child": f"b{i}"}
        joint["anchor"] = [0.4 * i, 0, 0]
    return {
        "simulation": {
            "dt": 1e-3,
            "duration": steps * 1e-3,
            "formulation": "reduced",
            "contact": {"friction_cone": "box"},
        },
        "bodies": [body(f"b{i}", 0.2 + 0.4 * i) for i in range(4)],
        "joints": joints,
    }


def simulated(document: Document, *changes: Document) -> Simulation:
    """A simulation before its first step."""
    for change in changes:
        document = apply_overrides(document, change)
    return Simulation(load_scene(document))


def alone_in_last_step(simulation: Simulation) -> bool:
    """Whether the drives were solved without rows."""
    return bool(simulation.work.drives.alone[0])


def assert_same_motion(one: Simulation, other: Simulation, error: float = 1e-11) -> None:
    """Compare coordinates, rates, impulses of joints and the ledger."""
    for name in ("tree_q", "tree_qd", "joint_lam", "ledger", "momentum_in"):
        a, b = getattr(one.state, name), getattr(other.state, name)
        assert np.abs(a - b).max() < error * max(1.0, np.abs(b).max()), name


def test_the_motion_is_that_of_rows() -> None:
    free, by_rows = simulated(arm()), simulated(arm(), BY_ROWS)
    for _ in range(30):
        free.advance(10)
        by_rows.advance(10)
        assert alone_in_last_step(free)
        assert not alone_in_last_step(by_rows)
        assert_same_motion(free, by_rows)
    assert abs(free.state.tree_q[0]) > 0.05


def test_reports_are_those_of_rows() -> None:
    """Forces of motors, reactions and rows are there as soon as somebody asks."""
    free, by_rows = simulated(arm()), simulated(arm(), BY_ROWS)
    for one in (free, by_rows):
        one.advance(57)
    here, there = free.joint_table(), by_rows.joint_table()
    for name in JOINT_FIELDS:
        assert here[name] == pytest.approx(there[name], rel=1e-9, abs=1e-9)
    assert np.abs(here["motor_force"]).max() > 0.5
    n = int(by_rows.work.rows.count[0])
    assert int(free.work.rows.count[0]) == n == 6
    assert free.work.problem.lam[:n] == pytest.approx(by_rows.work.problem.lam[:n], abs=1e-11)


def test_who_looks_changes_nothing() -> None:
    """Rows that are written for reports leave no trace in the state."""
    once, often = simulated(arm()), simulated(arm())
    once.advance(120)
    for _ in range(120):
        often.advance(1)
        often.joint_table()
    assert once.state_hash() == often.state_hash()


@pytest.mark.parametrize(
    "change",
    [
        {"/joints/0/motor/max_force": 60.0},
        {"/joints/1/limits": {"lower": -0.02, "upper": 0.02}},
        {"/bodies/4": {"name": "wall", "type": "static", "position": [1.42, 0.0, 0.25],
                       "shapes": [{"type": "box", "size": [3, 3, 0.1]}]}},
    ],
    ids=["force", "stop", "contact"],
)  # fmt: skip
def test_where_a_bound_is_reached_there_are_rows(change: Document) -> None:
    document = arm()
    if "/bodies/4" in change:
        document["bodies"].append(change["/bodies/4"])
        document["joints"][1]["motor"]["target"] = -0.6
        change = {}
    free, by_rows = simulated(document, change), simulated(document, change, BY_ROWS)
    seen = set()
    for _ in range(100):
        free.advance(1)
        by_rows.advance(1)
        seen.add(alone_in_last_step(free))
        assert_same_motion(free, by_rows, 1e-9)
    assert seen == {True, False}


def test_commands_are_followed() -> None:
    free, by_rows = simulated(arm()), simulated(arm(), BY_ROWS)
    for one in (free, by_rows):
        one.advance(20)
        one.set_motor("j0", 0.4)
        one.set_motor("j1", -0.1, max_force=1e3)
        one.advance(60)
    assert alone_in_last_step(free)
    assert_same_motion(free, by_rows)
    # a bound that is commanded is kept
    for one in (free, by_rows):
        one.set_motor("j1", -0.5, max_force=0.5)
        one.advance(5)
    assert not alone_in_last_step(free)
    assert_same_motion(free, by_rows)
    assert abs(free.joint_table()["motor_force"]).max() > 0.5 - 1e-9


def test_a_grab_needs_rows() -> None:
    free, by_rows = simulated(arm()), simulated(arm(), BY_ROWS)
    for one in (free, by_rows):
        one.advance(10)
        one.grab("b3", one.state.p_WB[3])
        one.grab_move([1.4, 0.2, 0.3])
        one.advance(10)
    assert not alone_in_last_step(free)
    assert_same_motion(free, by_rows, 1e-9)
    for one in (free, by_rows):
        one.release()
        one.advance(1)
    assert alone_in_last_step(free)


def test_what_a_kick_of_drives_would_drive_through_a_wall_stops_at_it() -> None:
    """The contact is found after the kick; its rows are those of the step."""
    document = arm()
    document["joints"][3]["motor"] = {"type": "force", "target": 2e5}
    document["bodies"].append(
        {"name": "plate", "type": "static", "position": [1.4, 0.0, -0.12],
         "shapes": [{"type": "box", "size": [0.5, 0.5, 0.01]}]}
    )  # fmt: skip
    free, by_rows = simulated(document), simulated(document, BY_ROWS)
    for one in (free, by_rows):
        one.advance(1)
    assert not alone_in_last_step(free)
    assert int(free.work.contacts.count[0]) > 0
    assert free.state.p_WB[3, 2] > -0.12
    assert_same_motion(free, by_rows, 1e-9)


def test_scenes_where_more_acts_have_no_drives_of_this_kind() -> None:
    for change in (
        {"/joints/3/friction": 0.1},
        {"/joints/0/motor": {"type": "velocity", "target": 1.0, "max_force": 1.0}},
        {"/simulation/formulation": "maximal", "/joints/3/armature": 0.0},
    ):
        assert simulated(arm(), change).model.drives.alone[0] == 0
