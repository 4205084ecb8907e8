"""The problem of the step ahead, in public: its identities, its law, its names, redundancy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import SceneError, run
from cardan.engine.rows.ahead import StepProblem
from cardan.engine.runs.recording import Recording
from cardan.schemas import load_scene
from tests.engine.scenes import document, ground, simulate
from tests.engine.statics.test_statics import door

H, G = 0.002, 10.0
BOX = {"type": "box", "size": [0.5, 0.4, 0.3]}


def obey(p: StepProblem) -> None:
    """Every identity and law that holds for any problem and its solution."""
    impulse = p.M @ (p.v_after - p.v_before)
    given = p.J.T @ p.lam + p.M @ (p.v_free - p.v_before)
    assert impulse == pytest.approx(given, abs=1e-12 * (1.0 + np.abs(impulse).max(initial=0.0)))
    assert p.w == pytest.approx(p.J @ p.v_after + p.bias + p.cfm * p.lam, abs=1e-10)
    assert p.w == pytest.approx(p.A @ p.lam + p.b, abs=1e-10)
    size = 1e-9 * (1.0 + np.abs(p.lam).max(initial=0.0))
    for i, row in enumerate(p.rows):
        lam, w = p.lam[i], p.w[i]
        if p.active[i]:
            assert abs(w) < 1e-8, row
        if row.kind in ("tangent", "rolling"):
            continue
        assert p.lo[i] - size <= lam <= p.hi[i] + size, row
        if w > 1e-8:
            assert lam == pytest.approx(p.lo[i], abs=size), row
        if w < -1e-8:
            assert lam == pytest.approx(p.hi[i], abs=size), row
    for i in np.flatnonzero([row.kind == "tangent" for row in p.rows])[::2]:
        push, slip, most = p.lam[i : i + 2], p.w[i : i + 2], p.hi[i]
        assert np.linalg.norm(push) <= most + size
        if np.linalg.norm(slip) > 1e-8:  # sliding: against the slip, at the bound
            assert push == pytest.approx(-most * slip / np.linalg.norm(slip), abs=1e-6 * most)


def arm(formulation: str, **more: Any) -> dict[str, Any]:
    """A driven arm of two hinges whose end lies on the ground."""
    links: list[dict[str, Any]] = []
    for name, x, z in (("upper", 0.5, 0.55), ("lower", 1.5, 0.3)):
        shape = {"type": "box", "size": [0.9, 0.1, 0.1]}
        body = {"name": name, "mass": 2.0, "position": [x, 0, z], "shapes": [shape]}
        links.append(body)
    links[1]["shapes"].append({"type": "sphere", "radius": 0.1, "position": [0.5, 0, -0.2]})
    hinges: list[dict[str, Any]] = [
        {"name": "shoulder", "type": "hinge", "parent": "world", "child": "upper"},
        {"name": "elbow", "type": "hinge", "parent": "upper", "child": "lower"},
    ]
    hinges[0] |= {"anchor": [0, 0, 0.6], "axis": [0, 1, 0], "friction": 0.3}
    hinges[1] |= {"anchor": [1, 0, 0.5], "axis": [0, 1, 0]}
    hinges[1]["motor"] = {"type": "velocity", "target": 0.5, "max_force": 4.0}
    simulation = {"dt": H, "formulation": formulation, **more}
    return document([ground(), *links], hinges, gravity=[0, 0, -G], simulation=simulation)


def test_a_sliding_box_obeys_its_law() -> None:
    box = {"name": "box", "mass": 2.0, "position": [0, 0, 0.15], "linear_velocity": [1, 0, 0]}
    scene = document([ground(), {**box, "shapes": [BOX]}], gravity=[0, 0, -G])
    scene["simulation"]["dt"] = H
    simulation = simulate(scene)
    simulation.advance(5)
    p = simulation.problem()
    obey(p)
    assert p.velocities[0] == "box: wx"
    assert [row.kind for row in p.rows] == ["normal", "tangent", "tangent"] * 4
    assert p.rows[0].name == "ground - box: normal"
    assert p.rows[2].name == "ground - box: tangent 2"
    assert {row.contact for row in p.rows} == {0, 1, 2, 3}
    # what forces give in a step, and what the floor gives back
    push = p.M @ (p.v_free - p.v_before)
    assert push == pytest.approx([0, 0, 0, 0, 0, -2.0 * G * H], abs=1e-12)
    inertia = 2.0 / 12.0 * np.array([0.4**2 + 0.3**2, 0.5**2 + 0.3**2, 0.5**2 + 0.4**2])
    assert np.diag(p.M) == pytest.approx([*inertia, 2.0, 2.0, 2.0])
    normal = np.array([row.kind == "normal" for row in p.rows])
    assert p.force[normal].sum() == pytest.approx(2.0 * G, rel=1e-9)
    assert p.active[normal].any()
    assert not p.active[~normal].any()
    assert p.step == 5
    assert p.time == pytest.approx(5.5 * H)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_the_step_that_follows_has_these_forces(formulation: str) -> None:
    simulation = simulate(arm(formulation))
    for _ in range(3):
        before = simulation.snapshot()
        p = simulation.problem()
        obey(p)
        assert simulation.snapshot() == before
        simulation.advance(1)
        joints, contacts = simulation.joint_table(), simulation.contact_table()
        normal = [i for i, row in enumerate(p.rows) if row.kind == "normal"]
        assert len(normal) == len(contacts) > 0
        assert (p.force[normal] == contacts["normal_force"]).all()
        drag = [np.hypot(*p.force[i + 1 : i + 3]) for i in normal]
        assert drag == pytest.approx(contacts["friction_force"], rel=1e-12)
        motor = next(i for i, row in enumerate(p.rows) if row.name == "elbow: motor 1")
        assert p.force[motor] == joints["motor_force"][1]
        if formulation == "maximal":
            pin = [i for i, r in enumerate(p.rows) if r.joint == "elbow" and r.kind == "equation"]
            pull = sum(p.lam[i] * p.J[i, 9:12] / H for i in pin)
            assert pull == pytest.approx([joints[axis][1] for axis in ("fx", "fy", "fz")])
        simulation.advance(20)


def test_both_formulations_solve_the_same_step() -> None:
    """From rest the middle of the step is the same pose: the same forces, as well as is solved."""
    one, other = (simulate(arm(form)).problem() for form in ("maximal", "reduced"))
    assert (one.J.shape[1], other.J.shape[1]) == (12, 2)
    assert other.velocities == ("shoulder", "elbow")
    forces = {(r.name, r.contact): f for r, f in zip(one.rows, one.force, strict=True)}
    assert not any(row.kind == "equation" for row in other.rows)
    for row, force in zip(other.rows, other.force, strict=True):
        # 1e-8 m/s is asked of the solver, of 4 kg in a step
        assert force == pytest.approx(forces[row.name, row.contact], abs=1e-8 * 4.0 / H), row
    A = {row.name: one.A[i, i] for i, row in enumerate(one.rows) if row.joint == "elbow"}
    assert other.A[0, 0] > 0.0
    # joint coordinates have joints in their A, so that a row moves less than single bodies do
    motor = next(i for i, row in enumerate(other.rows) if row.name == "elbow: motor 1")
    assert other.A[motor, motor] != pytest.approx(A["elbow: motor 1"])


def test_a_pendulum_in_its_coordinate_has_closed_forms() -> None:
    mass, length, speed = 3.0, 0.8, 2.0
    bob = {"name": "bob", "mass": mass, "inertia": [0.1, 0.2, 0.3], "position": [length, 0, 0]}
    pin: dict[str, Any] = {"name": "pin", "type": "hinge", "parent": "world", "child": "bob"}
    pin |= {"anchor": [0, 0, 0], "axis": [0, 1, 0], "initial": {"velocity": speed}}
    pin["motor"] = {"type": "velocity", "target": 0.0, "max_force": 1.5}
    simulation = {"dt": H, "formulation": "reduced"}
    scene = document([bob], [pin], gravity=[0, 0, -G], simulation=simulation)
    p = simulate(scene).problem()
    obey(p)
    assert p.M.tolist() == [[pytest.approx(0.2 + mass * length**2)]]
    assert p.v_before == pytest.approx([speed])
    # about +y the weight of a bob at x > 0 turns it down, which is positive
    torque = mass * G * length * np.cos(speed * 0.5 * H)
    assert p.M @ (p.v_free - p.v_before) == pytest.approx([H * torque], rel=1e-9)
    assert p.force == pytest.approx([-1.5])
    assert (p.lo[0], p.hi[0]) == pytest.approx((-1.5 * H, 1.5 * H))
    assert not p.active[0]
    assert p.rows[0].name == "pin: motor 1"


def test_the_second_hinge_of_a_door_is_redundant() -> None:
    p = simulate(door()).problem()
    obey(p)
    assert p.J.shape == (10, 6)
    assert np.linalg.matrix_rank(p.J) == 10 - p.redundant.sum() == 5
    assert {row.joint for row, said in zip(p.rows, p.redundant, strict=True) if said} == {"high"}
    assert p.active.all()


@pytest.mark.parametrize("cone", ["cone", "box", "polyhedral"])
def test_rows_say_who_sticks_by_every_law_of_friction(cone: str) -> None:
    def friction(slope: float) -> StepProblem:
        pull = [slope * G, 0.0, -G]
        box = {"name": "box", "mass": 2.0, "position": [0, 0, 0.15], "shapes": [BOX]}
        scene = document([ground(), box], gravity=pull, contact={"friction_cone": cone})
        simulation = simulate(scene)
        simulation.advance(20)
        return simulation.problem()

    rests, slides = friction(0.3), friction(0.8)
    along = [i for i, row in enumerate(rests.rows) if row.kind == "tangent"]
    loaded = [i for i in along if rests.lam[rests.normal[i]] > 1e-6]
    assert loaded
    assert rests.active[loaded].all()
    moving = np.abs(slides.w[along]) > 1e-3
    assert moving.any()
    assert not slides.active[np.array(along)[moving]].any()


def test_steps_without_one_problem_say_so() -> None:
    for more, said in (
        ({"solver": {"method": "small_steps"}}, "small_steps solves many"),
        ({"contact": {"restitution_law": "poisson"}}, "poisson"),
        ({"contact": {"impact_time": "exact"}}, "exact times"),
    ):
        simulation = simulate(arm("maximal", **more))
        with pytest.raises(ValueError, match=said):
            simulation.problem()
    smooth = arm("reduced", integrator="rk4")
    smooth["bodies"], smooth["joints"][0]["friction"] = smooth["bodies"][1:], 0.0
    del smooth["joints"][1]["motor"]
    simulation = simulate(smooth)
    with pytest.raises(ValueError, match="rk4"):
        simulation.problem()


def test_a_problem_too_large_for_arrays_is_refused() -> None:
    balls = [
        {"name": f"b{i}", "mass": 1.0, "position": [i, 0, 5], "inertia": [1, 1, 1]}
        for i in range(334)
    ]
    simulation = simulate(document(balls))
    with pytest.raises(ValueError, match="2004 velocities"):
        simulation.problem()


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_recordings_have_the_rows_of_their_steps(formulation: str) -> None:
    scene = arm(formulation, duration=10 * H)
    scene["record"] = {"every": 4, "channels": ["constraints", "joints"]}
    recording, summary = run(load_scene(scene))
    tables = recording.tables()
    table = tables["constraints"]
    assert set(table["step"]) == {4, 8, 10}
    simulation = simulate(scene)
    simulation.advance(7)
    p, here = simulation.problem(), table["step"] == 8
    assert list(table["row"][here]) == [row.name for row in p.rows]
    for name in ("lam", "w"):
        assert (table[name][here] == getattr(p, name)).all()
    assert (table["active"][here] == p.active).all()
    assert (np.isnan(table["hi"][here]) == np.isinf(p.hi)).all()
    motor = here & (table["row"] == "elbow: motor 1")
    drive = tables["joints"]["motor_force"][(tables["joints"]["step"] == 8)]
    assert table["lam"][motor] / H == pytest.approx([drive[1]])
    # about y: the elbow turns its child against its parent
    J = [table[f"{side}_wy"][motor][0] for side in "ab"]
    assert pytest.approx([-1.0, 1.0]) == J
    plain = run(load_scene(scene | {"record": {"every": 4}}))[1]
    assert plain["state_hash"] == summary["state_hash"]


def test_rows_go_on_after_a_checkpoint() -> None:
    scene = arm("maximal", duration=20 * H)
    scene["record"] = {"every": 5, "channels": ["constraints"]}
    whole, due = run(load_scene(scene))[0], np.arange(0, 21, 5)
    first = simulate(scene)
    recording = Recording(first, due[1:])
    recording.observe()
    first.advance(7)
    part, snapshot = recording.part((0, 0)), first.snapshot()
    second = simulate(scene)
    second.restore(snapshot)
    resumed = Recording(second, due[1:])
    resumed.restore([part])
    second.advance(13)
    ours, theirs = (each.tables()["constraints"] for each in (whole, resumed))
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name])


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_the_channel_flags_the_equations_that_others_imply(formulation: str) -> None:
    """A flat loop of four hinges has three equations too many; in a tree no rate moves those."""
    places = {"a": [0, 0, 0.5], "b": [0.5, 0, 1], "c": [1, 0, 0.5]}
    bodies = [
        {"name": name, "position": at, "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
        for name, at in places.items()
    ]
    ends = [("world", "a", [0, 0, 0]), ("a", "b", [0, 0, 1]), ("b", "c", [1, 0, 1])]
    joints = [
        {"name": f"h{k}", "type": "hinge", "parent": a, "child": b, "anchor": at, "axis": [0, 1, 0]}
        for k, (a, b, at) in enumerate([*ends, ("world", "c", [1, 0, 0])])
    ]
    options = {"formulation": formulation, "dt": 1e-3, "duration": 0.04}
    scene = document(bodies, joints, simulation=options)
    scene["record"] = {"every": 10, "channels": ["constraints"]}
    table = run(load_scene(scene))[0].tables()["constraints"]
    problem = simulate(scene).problem()
    named = {row.name for row, flag in zip(problem.rows, problem.redundant, strict=True) if flag}
    for time in np.unique(table["time"]):
        at_time = table["time"] == time
        assert table["redundant"][at_time].sum() == (3 if formulation == "maximal" else 0)
        assert set(table["row"][at_time & table["redundant"]]) == named


def test_rows_beyond_what_is_looked_at_are_recorded_without_flags() -> None:
    """Trees whose step has more than 2000 rows; 100 pairs of crates stand on 8 corners each."""
    crates = [
        {
            "name": f"b{k}",
            "position": [k, 0, 0.1],
            "mass": 1.0,
            "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}],
        }
        for k in range(200)
    ]
    joints = [
        {
            "name": f"h{k}",
            "type": "hinge",
            "parent": f"b{k}",
            "child": f"b{k + 1}",
            "anchor": [k + 0.5, 0, 0.1],
            "axis": [0, 1, 0],
        }
        for k in range(0, 200, 2)
    ]
    floor = {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
    options = {"formulation": "reduced", "duration": 0.002}
    scene = document([floor, *crates], joints, simulation=options)
    scene["record"] = {"every": 2, "channels": ["constraints"]}
    table = run(load_scene(scene))[0].tables()["constraints"]
    last = table["step"] == 2
    assert last.sum() > 2000
    assert not table["redundant"][last].any()


def test_the_channel_is_refused_where_no_step_solves_a_problem() -> None:
    options = {"formulation": "reduced", "integrator": "rk4", "collisions": False}
    scene = arm("reduced")
    scene["simulation"] |= options
    kept = ("name", "type", "parent", "child", "anchor", "axis")
    scene["joints"] = [{key: one[key] for key in kept if key in one} for one in scene["joints"]]
    scene["record"] = {"channels": ["constraints"]}
    with pytest.raises(SceneError) as refused:
        simulate(scene)
    assert [fault.pointer for fault in refused.value.errors] == ["/record/channels"]
