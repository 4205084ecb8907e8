"""Drives of trees are solved without rows: the motion is that of their rows, whatever else acts."""

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.outputs.reports import JOINT_FIELDS
from cardan.engine.world.rows import ROW_MOTOR, ROW_SPRING, Rows
from cardan.engine.world.state import EXTREME_COULOMB, EXTREME_RESIDUAL, SUM_ITERATIONS
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
        document["bodies"] += change.get("more", [])
        document = apply_overrides(document, {k: v for k, v in change.items() if k != "more"})
    return Simulation(load_scene(document))


def with_rows(change: Document) -> Simulation:
    """The arm, with rows for all drives, and the same solver."""
    made = simulated(arm(), change)
    made.model.drives.count[0] = 0
    return made


def places(rows: Rows, i: int) -> tuple[int, ...]:
    """Joint, kind, coordinate and bodies of a row."""
    named = (rows.joint, rows.kind, rows.axis, rows.body_a, rows.body_b)
    return tuple(int(one[i]) for one in named)


def ordered(rows: Rows) -> list[int]:
    """Rows joint by joint, those of a joint by kind; then contacts, as they are."""
    boxes = sorted(range(int(rows.count[1])), key=lambda i: places(rows, i))
    return [*boxes, *range(int(rows.count[1]), int(rows.count[0]))]


def without_rows(simulation: Simulation) -> bool:
    """Whether the drives were solved without rows."""
    return bool(simulation.work.drives.without_rows[0])


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
        assert without_rows(free)
        assert not without_rows(by_rows)
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


WALL = {"name": "wall", "type": "static", "position": [1.42, 0.0, 0.25]}
WALL |= {"shapes": [{"type": "box", "size": [3, 3, 0.1]}]}
LOOSE = body("loose", 1.4) | {"position": [1.4, 0.05, 0.14], "mass": 0.3}
MET: Document = {"more": [WALL], "/joints/1/motor/target": -0.6}
STOPPED: Document = {"/joints/1/limits": {"lower": -0.02, "upper": 0.02}}
PUSHED = {"type": "position", "stiffness": 50.0, "damping": 1.0, "target": 0.1, "max_force": 90.0}
PUSHES = {"type": "velocity", "target": 1.0, "max_force": 1.0}
LIFT = {"type": "wrench", "body": "b2", "force": [0.5, 2.0, 4.0], "torque": [0.1, 0.0, 0.0]}
SMOOTH = {"shapes": [{"type": "box", "size": [3, 3, 0.1], "material": "smooth"}]}
WITH_OTHERS: dict[str, Document] = {
    "stop": STOPPED,
    "contact": MET,
    # without friction, which could hold what the stop holds
    "both": MET
    | {"more": [WALL | SMOOTH], "/materials": {"smooth": {"friction": 0.0}}}
    | {"/joints/0/limits": {"lower": -0.02, "upper": 0.02}},
    "friction": MET | {"/joints/3/friction": 0.3, "/joints/1/friction": 0.8},
    "body": MET | {"more": [WALL, LOOSE]},
    "velocity": MET | {"/joints/3/motor": PUSHES},
    "wrench": MET | {"/forces": [LIFT]},
}


@pytest.mark.parametrize("change", WITH_OTHERS.values(), ids=WITH_OTHERS)
def test_the_motion_beside_other_rows_is_that_of_rows(change: Document) -> None:
    """Also of drives beside joints that rub, joints with other motors, and bodies in no tree."""
    free, by_rows = simulated(arm(), change), with_rows(change)
    acted = 0.0
    for _ in range(150):
        free.advance(1)
        by_rows.advance(1)
        assert without_rows(free)
        assert_same_motion(free, by_rows, 1e-9)
        rows, problem = by_rows.work.rows, by_rows.work.problem
        for i in range(int(rows.count[0])):
            if rows.kind[i] not in (ROW_MOTOR, ROW_SPRING):
                acted = max(acted, abs(problem.lam[i]))
    assert acted > 1e-3


@pytest.mark.parametrize("change", WITH_OTHERS.values(), ids=WITH_OTHERS)
def test_reports_beside_other_rows_are_those_of_rows(change: Document) -> None:
    """Every row is where it would have been, with its impulse, so are reactions and contacts."""
    free, by_rows = simulated(arm(), change), with_rows(change)
    for n in (90, 30, 1):
        free.advance(n)
        by_rows.advance(n)
        here, there = free.joint_table(), by_rows.joint_table()
        for name in JOINT_FIELDS:
            assert here[name] == pytest.approx(there[name], rel=1e-7, abs=1e-7), name
        a, b = free.contact_table(), by_rows.contact_table()
        assert len(a) == len(b)
        assert a["normal_force"] == pytest.approx(b["normal_force"], rel=1e-6, abs=1e-6)
        one, other = free.work.rows, by_rows.work.rows
        assert one.count.tolist() == other.count.tolist()
        joints = one.joint[: int(one.count[1])].tolist()
        assert joints == sorted(joints)
        for i, k in zip(ordered(one), ordered(other), strict=True):
            assert places(one, i) == places(other, k)
            assert one.normal_row[i] == other.normal_row[k]
            given = by_rows.work.problem.lam[k]
            assert free.work.problem.lam[i] == pytest.approx(given, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("change", [MET, MET | {"/joints/2/motor": PUSHED}], ids=["arm", "motor"])
def test_verdicts_read_the_same_records(change: Document) -> None:
    """Of impacts, braking, variation: what rows of drives would have left."""
    free, by_rows = simulated(arm(), change), with_rows(change)
    for one in (free, by_rows):
        one.advance(150)
    assert int(free.work.contacts.count[0]) > 0
    here, there = free.state.extremes.copy(), by_rows.state.extremes.copy()
    # how long the solver took, and what it left
    of_solver = [EXTREME_RESIDUAL, EXTREME_COULOMB, SUM_ITERATIONS]
    here[of_solver], there[of_solver] = 0.0, 0.0
    assert here == pytest.approx(there, rel=1e-6, abs=1e-8, nan_ok=True)


@pytest.mark.parametrize(
    "change", [WITH_OTHERS["contact"], WITH_OTHERS["both"]], ids=["contact", "both"]
)
def test_who_looks_at_contacts_changes_nothing(change: Document) -> None:
    once, often = simulated(arm(), change), simulated(arm(), change)
    once.advance(150)
    for _ in range(150):
        often.advance(1)
        often.joint_table()
    assert once.state_hash() == often.state_hash()


def test_where_a_bound_is_reached_there_are_rows() -> None:
    change = {"/joints/0/motor/max_force": 60.0}
    free, by_rows = simulated(arm(), change), with_rows(change)
    seen = set()
    for _ in range(100):
        free.advance(1)
        by_rows.advance(1)
        seen.add(without_rows(free))
        assert_same_motion(free, by_rows, 1e-9)
    assert seen == {True, False}


def test_where_an_impact_drives_a_motor_to_its_bound_there_are_rows() -> None:
    """Without the contact the motor is within its bound: the kick is done twice."""
    change = MET | {"/joints/1/motor/max_force": 90.0}
    free, by_rows = simulated(arm(), change), with_rows(change)
    seen = set()
    for _ in range(200):
        free.advance(1)
        by_rows.advance(1)
        assert_same_motion(free, by_rows, 1e-9)
        at_bound = abs(free.joint_table()["motor_force"][1]) > 90.0 * (1.0 - 1e-9)
        assert without_rows(free) != at_bound
        seen.add((at_bound, int(free.work.contacts.count[0]) > 0))
    assert seen >= {(True, False), (False, False), (True, True)}


def test_commands_are_followed() -> None:
    free, by_rows = simulated(arm()), simulated(arm(), BY_ROWS)
    for one in (free, by_rows):
        one.advance(20)
        one.set_motor("j0", 0.4)
        one.set_motor("j1", -0.1, max_force=1e3)
        one.advance(60)
    assert without_rows(free)
    assert_same_motion(free, by_rows)
    # a bound that is commanded is kept
    for one in (free, by_rows):
        one.set_motor("j1", -0.5, max_force=0.5)
        one.advance(5)
    assert not without_rows(free)
    assert_same_motion(free, by_rows)
    assert abs(free.joint_table()["motor_force"]).max() > 0.5 - 1e-9


def test_a_grab_is_a_row_beside_drives() -> None:
    free, by_rows = simulated(arm()), simulated(arm(), BY_ROWS)
    for one in (free, by_rows):
        one.advance(10)
        one.grab("b3", one.state.p_WB[3])
        one.grab_move([1.4, 0.2, 0.3])
        one.advance(10)
    assert without_rows(free)
    assert int(free.work.rows.count[0]) == int(by_rows.work.rows.count[0]) == 9
    assert_same_motion(free, by_rows, 1e-9)


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
    assert not without_rows(free)
    assert int(free.work.contacts.count[0]) > 0
    assert free.state.p_WB[3, 2] > -0.12
    assert_same_motion(free, by_rows, 1e-9)


def test_lanes_take_scenes_where_drives_alone_act() -> None:
    """What else acts has rows, of which lanes have none; but wrenches."""
    assert simulated(arm()).model.drives.alone[0] == 1
    assert simulated(arm(), {"/forces": [LIFT]}).model.drives.alone[0] == 1
    for change in (
        {"/joints/3/friction": 0.1},
        {"/joints/0/motor": PUSHES},
        {"/simulation/formulation": "maximal", "/joints/3/armature": 0.0},
        {"more": [LOOSE]},
    ):
        assert simulated(arm(), change).model.drives.alone[0] == 0
