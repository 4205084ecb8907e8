"""Bodies that appear and vanish: as if a run began then, with energy and momentum booked."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.engine import Simulation, preview, rollout
from cardan.engine.build.faults import SceneError
from cardan.schemas import SceneInvalid, load_scene
from cardan.schemas.scene_warnings import scene_warnings
from tests.engine.scenes import Document, brick, document, ground, simulate

G, H = 9.81, 1e-3
FORMULATIONS = ["maximal", "reduced"]


def ball(name: str, position: list[float], **more: Any) -> Document:
    shape = {"type": "sphere", "radius": 0.1}
    return {"name": name, "position": position, "mass": 2.0, "shapes": [shape], **more}


def tumbling(**more: Any) -> Document:
    """A brick that flies and tumbles, its centre of mass beside its origin."""
    flight = {"position": [1, 2, 3], "linear_velocity": [1, 0.5, 2]}
    flight |= {"angular_velocity": [1, -2, 3], "center_of_mass": [0.1, 0.05, -0.02]}
    return brick("late", **flight, **more)


def falling(*bodies: Document, triggers: list[Document] | None = None, **more: Any) -> Document:
    """What is given, beside a ball that falls for itself."""
    simulation = {"dt": H, "duration": 1.0, **more}
    return document(
        [ball("other", [9, 9, 9]), *bodies], simulation=simulation, triggers=triggers or []
    )


def at(time: float, op: str, body: str) -> Document:
    when = {"type": "time", "at": time}
    return {"name": f"{op} {body} {time}", "when": when, "do": [{"op": op, "body": body}]}


# ---------------------------------------------------------------- laws


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_what_appears_moves_to_the_bit_as_in_a_run_that_starts_then(formulation: str) -> None:
    late = simulate(falling(tumbling(appears=0.1), formulation=formulation))
    alone = simulate(falling(tumbling(), formulation=formulation))
    late.advance(100)
    assert late.present().tolist() == [True, True]
    assert np.array_equal(late.poses()[1], alone.poses()[1])
    assert np.array_equal(late.velocities()[1], alone.velocities()[1])
    late.advance(400)
    alone.advance(400)
    assert np.array_equal(late.poses()[1], alone.poses()[1])
    assert np.array_equal(late.velocities()[1], alone.velocities()[1])


def test_what_is_absent_rests_where_it_appears_and_changes_nothing() -> None:
    with_it, without = simulate(falling(tumbling(present=False))), simulate(falling())
    first = with_it.poses()[1]
    with_it.advance(300)
    without.advance(300)
    assert np.array_equal(with_it.poses()[0], without.poses()[0])
    assert np.array_equal(with_it.poses()[1], first)
    assert not with_it.velocities()[1].any()
    assert with_it.energy() == without.energy()
    assert np.array_equal(with_it.momentum(), without.momentum())


def test_energy_and_momentum_that_come_and_go_are_booked() -> None:
    sim = simulate(falling(tumbling(appears=0.1, vanishes=0.4)))
    sim.advance(99)
    (before, p_before), work = (sim.energy()["total"], sim.momentum()), sim.energy()["work_in"]
    sim.advance(1)
    v, w, inertia = np.array([1, 0.5, 2]), np.array([1, -2, 3]), [0.3, 0.5, 0.7, 0.02, -0.03, 0.04]
    xx, yy, zz, xy, xz, yz = inertia
    spin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ w
    centre = np.array([1, 2, 3]) + np.array([0.1, 0.05, -0.02])
    v = v + np.cross(w, [0.1, 0.05, -0.02])
    brought = v @ v + 0.5 * w @ spin + 2.0 * G * centre[2]
    assert sim.energy()["work_in"] - work == pytest.approx(brought, rel=1e-12)
    assert sim.energy()["total"] - before == pytest.approx(brought, rel=1e-9)
    gained = (
        sim.momentum() - p_before - [0, 0, -2.0 * G * H, *np.cross([9, 9, 9], [0, 0, -2.0 * G * H])]
    )
    assert gained == pytest.approx(
        [*(2.0 * v), *(np.cross(centre, 2.0 * v) + spin)], rel=1e-9, abs=1e-9
    )
    sim.advance(900)
    summary = sim.summary()
    assert sim.present().tolist() == [True, False]
    # the ball that was there from the start keeps its energy
    assert summary["energy"]["final"] == pytest.approx(2.0 * G * 9.0, rel=1e-12)
    assert summary["energy"]["work_in"] == pytest.approx(0.0, abs=1e-9)
    assert summary["energy"]["balance_error"] < 1e-12
    assert summary["momentum"]["max_linear_drift"] < 1e-11
    assert summary["momentum"]["max_angular_drift"] < 1e-10
    assert summary["verdict"] == {"status": "trusted", "findings": []}
    assert summary["triggers"] == []


def held_up(**simulation: Any) -> Document:
    """A ball on a gate that vanishes, over the ground."""
    gate = {"name": "gate", "type": "static", "position": [0, 0, 0.9], "vanishes": 0.5}
    gate["shapes"] = [{"type": "box", "size": [1, 1, 0.2], "material": "pad"}]
    resting = ball("ball", [0, 0, 1.1])
    resting["shapes"][0]["material"] = "pad"
    pad = simulation.pop("pad", {})
    return document(
        [ground(), gate, resting],
        simulation={"dt": H, "duration": 1.0, **simulation},
        materials={"pad": pad},
    )


@pytest.mark.parametrize(
    ("formulation", "sleeping"), [("maximal", False), ("maximal", True), ("reduced", False)]
)
def test_what_rested_on_a_gate_falls_when_it_vanishes(formulation: str, sleeping: bool) -> None:
    asleep = {"enabled": sleeping, "time": 0.1}
    sim = simulate(held_up(formulation=formulation, sleeping=asleep))
    sim.advance(499)
    assert sim.asleep()[2] == sleeping
    height = sim.poses()[2, 2]
    assert height == pytest.approx(1.1, abs=1e-4)
    sim.advance(1 + 300)
    assert sim.poses()[2, 2] == pytest.approx(height - 0.5 * G * 0.3**2, abs=1e-6)
    assert not sim.asleep().any()
    assert sim.summary()["energy"]["balance_error"] < 1e-9


def test_energy_of_compliant_contacts_goes_with_the_gate() -> None:
    """1/2 c (m g)^2 is stored in the pads: with the gate it leaves the books as work."""
    pad = {"compliance": 1e-4, "damping": 400.0}
    sim = simulate(held_up(pad=pad))
    sim.advance(500)
    # of two pads on one another
    stored = 0.5 * 2e-4 * (2.0 * G) ** 2
    before = sim.energy()
    sim.advance(1)
    assert before["work_in"] - sim.energy()["work_in"] == pytest.approx(stored, rel=1e-3)
    assert abs(sim.energy()["correction"] - before["correction"]) < 1e-9
    sim.advance(200)
    assert sim.summary()["energy"]["balance_error"] < 1e-9


def test_absent_bodies_attract_nothing() -> None:
    pull = [{"type": "point_gravity", "constant": 1.0, "softening": 0.1}]
    pair = [ball("a", [0, 0, 0]), ball("b", [1, 0, 0])]
    options: Document = {"simulation": {"dt": H, "duration": 1.0}, "gravity": [0, 0, 0]}
    options["forces"] = pull
    two = simulate(document(pair, **options))
    three = simulate(document([*pair, ball("c", [0, 1, 0], appears=0.5)], **options))
    two.advance(499)
    three.advance(499)
    assert np.array_equal(three.poses()[:2], two.poses())
    assert three.energy()["total"] == two.energy()["total"]
    three.advance(300)
    assert three.poses()[0, 1] > 1e-3
    # that of the step: what came is some hundred times as much
    assert three.summary()["energy"]["balance_error"] < 1e-4


# ---------------------------------------------------------------- joints and springs

PIN: Document = {"name": "pin", "type": "ball", "parent": "world", "child": "late"}
PIN |= {"anchor": [0.5, 2, 3]}


def afloat(*bodies: Document, **more: Any) -> Document:
    """Bodies without weight."""
    simulation = {"dt": H, "duration": 1.0}
    return document(list(bodies), gravity=[0, 0, 0], simulation=simulation, **more)


def test_what_appears_in_a_joint_swings_to_the_bit_as_in_a_run_that_starts_then() -> None:
    late = simulate({**falling(tumbling(appears=0.1), formulation="maximal"), "joints": [PIN]})
    alone = simulate({**falling(tumbling(), formulation="maximal"), "joints": [PIN]})
    late.advance(100)
    alone.advance(300)
    late.advance(300)
    assert np.array_equal(late.poses()[1], alone.poses()[1])
    assert late.summary()["energy"]["balance_error"] < 1e-9


def test_what_hung_on_a_body_that_vanishes_falls() -> None:
    hook = {"name": "hook", "type": "static", "position": [0, 0, 2], "vanishes": 0.2}
    joint: Document = {"name": "rod", "type": "distance", "parent": "hook", "child": "weight"}
    joint |= {"anchor": [0, 0, 2], "anchor2": [0, 0, 1]}
    options = {"dt": H, "duration": 1.0, "sleeping": {"enabled": True, "time": 0.05}}
    sim = simulate(document([hook, ball("weight", [0, 0, 1])], [joint], simulation=options))
    sim.advance(200)
    assert sim.poses()[1, 2] == pytest.approx(1.0, abs=1e-12)
    sim.advance(300)
    assert sim.poses()[1, 2] == pytest.approx(1.0 - 0.5 * G * 0.3**2, abs=1e-9)
    summary = sim.summary()
    assert summary["energy"]["balance_error"] < 1e-9
    assert summary["verdict"]["status"] == "trusted"


def test_what_appears_too_fast_for_its_joint_is_joined_at_once() -> None:
    """Two bodies of 2 kg, one of them with 1 m/s: together they have half of it."""
    late = ball("late", [0.5, 0, 0], linear_velocity=[1, 0, 0], appears=0.1)
    weld = {"name": "weld", "type": "fixed", "parent": "there", "child": "late"}
    sim = simulate(afloat(ball("there", [0, 0, 0]), late, joints=[weld]))
    sim.advance(100)
    assert sim.energy()["work_in"] == pytest.approx(1.0, rel=1e-12)
    sim.advance(1)
    assert sim.velocities()[:, 0] == pytest.approx([0.5, 0.5], rel=1e-9)
    assert sim.energy()["total"] == pytest.approx(0.5, rel=1e-9)
    sim.advance(200)
    assert sim.summary()["energy"]["balance_error"] < 1e-9
    assert sim.momentum()[:3] == pytest.approx([2, 0, 0], abs=1e-9)


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_a_spring_acts_while_both_its_ends_are_there(damping: float) -> None:
    spring = {"type": "spring", "parent": "a", "child": "b", "stiffness": 50.0, "rest": 1.5}
    spring |= {"anchor": [0, 0, 0], "anchor2": [1, 0, 0], "damping": damping}
    pair = [ball("a", [0, 0, 0]), ball("b", [1, 0, 0], appears=0.1, vanishes=0.3)]
    sim = simulate(afloat(*pair, forces=[spring]))
    sim.advance(99)
    assert not sim.velocities().any()
    assert sim.energy()["total"] == 0.0
    sim.advance(1)
    assert sim.energy()["work_in"] == pytest.approx(0.5 * 50.0 * 0.5**2, rel=1e-12)
    sim.advance(199)
    assert sim.velocities()[0, 0] < -0.1
    sim.advance(2)
    speed = sim.velocities()[0, 0]
    sim.advance(100)
    assert sim.velocities()[0, 0] == speed
    assert sim.energy()["total"] == pytest.approx(speed**2, rel=1e-12)


def test_angles_begin_anew_with_the_body() -> None:
    """A wheel that turned three times vanishes, and appears with the angle 0."""
    hinge: Document = {"name": "hinge", "type": "hinge", "parent": "world", "child": "wheel"}
    hinge |= {"anchor": [0, 0, 0], "axis": [0, 0, 1]}
    wheel = ball("wheel", [0, 0, 0], angular_velocity=[0, 0, 40])
    sim = simulate({**afloat(wheel, joints=[hinge])} | {"simulation": {"formulation": "maximal"}})
    sim.advance(500)
    assert sim.joint_table()["q"][0] > 6.0
    sim.vanish("wheel")
    sim.appear("wheel")
    assert abs(sim.joint_table()["q"][0]) < 1e-9


def test_a_restored_run_with_a_joint_has_the_same_bits() -> None:
    scene = {**falling(tumbling(appears=0.1, vanishes=0.4), formulation="maximal"), "joints": [PIN]}
    one, other = simulate(scene), simulate(scene)
    one.advance(250)
    other.restore(one.snapshot())
    one.advance(300)
    other.advance(300)
    assert one.state_hash() == other.state_hash()


# ---------------------------------------------------------------- touching


def test_what_appears_lands_on_what_is_there() -> None:
    """A tower of three, one upon the other: in a row of few shapes and in the tree of many."""
    for fillers in (0, 30):
        row = [ball(f"far {k}", [10 + k, 0, 0.1]) for k in range(fillers)]
        tower = [ball(f"ball {k}", [0, 0, 1.0], appears=0.6 * k + 0.1) for k in range(2)]
        scene = document([ground(), *row, *tower], simulation={"dt": H, "duration": 2.0})
        sim = simulate(scene)
        sim.advance(1800)
        heights = sim.poses()[-2:, 2]
        assert heights == pytest.approx([0.1, 0.3], abs=2e-3)
        assert sim.summary()["contacts"]["max_penetration"] < 2e-3


def test_an_overlap_at_the_appearance_is_a_finding() -> None:
    there, late = ball("there", [0, 0, 0.1]), ball("late", [0.05, 0, 0.15], appears=0.3)
    sim = simulate(document([ground(), there, late], simulation={"dt": H, "duration": 1.0}))
    sim.advance(299)
    assert sim.findings() == []
    sim.advance(100)
    found = [one for one in sim.findings() if one["quantity"] == "penetration"]
    assert {found[0]["body"], found[0]["other_body"]} <= {"there", "late", None}
    assert found[0]["first_time"] == pytest.approx(0.301)


def test_rays_and_distances_see_only_what_is_there() -> None:
    sim = simulate(falling(ball("late", [0, 0, 0], appears=0.1)))
    assert len(sim.raycast([-5, 0, 0], [1, 0, 0])) == 0
    with pytest.raises(ValueError, match="'late' is absent"):
        sim.closest_points("other", "late")
    sim.advance(100)
    assert sim.raycast([-5, 0, 0], [1, 0, 0])["distance"] == pytest.approx([4.9])


# ---------------------------------------------------------------- states


@pytest.mark.parametrize("step", [50, 100, 250, 400])
def test_a_restored_run_has_the_same_bits(step: int) -> None:
    scene = document(
        [ground(), ball("a", [0, 0, 0.5]), ball("b", [0, 0, 0.9], appears=0.1, vanishes=0.4)],
        simulation={"dt": H, "duration": 1.0},
    )
    one, other = simulate(scene), simulate(scene)
    one.advance(step)
    other.restore(one.snapshot())
    one.advance(600 - step)
    other.advance(600 - step)
    assert one.state_hash() == other.state_hash()
    assert one.present().tolist() == [True, True, False]
    one.reset()
    assert one.present().tolist() == [True, True, False]
    again = simulate(scene)
    one.advance(200)
    again.advance(200)
    assert one.state_hash() == again.state_hash()


def test_one_body_is_thrown_again_and_again() -> None:
    """A trigger lets it vanish where it lands, the next one throws it again."""
    landed = {"type": "contact", "body": "ball", "other": "ground"}
    drop = {"op": "appear", "body": "ball"}
    sim = simulate(
        document(
            [ground(), ball("ball", [0, 0, 0.5], linear_velocity=[1, 0, 0])],
            simulation={"dt": H, "duration": 2.0},
            triggers=[
                {"name": "landed", "when": landed, "repeat": True,
                 "do": [{"op": "vanish", "body": "ball"}, drop]},
            ],
        )
    )  # fmt: skip
    # a contact begins in the step that foresees it, and the next throw after it
    fall = np.sqrt(2.0 * 0.4 / G)
    sim.advance(2000)
    (found,) = sim.summary()["triggers"]
    assert int(2.0 / (fall + 2 * H)) <= found["times"] <= int(2.0 / (fall - 2 * H))
    assert sim.summary()["energy"]["balance_error"] < 1e-9
    assert sim.summary()["verdict"]["status"] == "trusted"


def test_states_that_are_set_leave_absent_bodies_alone() -> None:
    sim = simulate(falling(tumbling(present=False)))
    q = sim.joint_state().q
    first = sim.poses()[1]
    free = next(one for one in sim.coordinates if one.body == "late")
    q[free.q[0]] += 1.0
    sim.set_state(q)
    assert np.array_equal(sim.poses()[1], first)
    assert not sim.velocities()[1].any()


def test_commands_to_absent_bodies_are_refused_and_triggers_do_nothing() -> None:
    push = {"op": "apply_impulse", "body": "late", "impulse": [1, 0, 0]}
    when = {"type": "time", "at": 0.1}
    sim = simulate(
        falling(tumbling(present=False), triggers=[{"name": "push", "when": when, "do": [push]}])
    )
    sim.advance(200)
    assert not sim.velocities()[1].any()
    for refused in (
        lambda: sim.apply_impulse("late", [1, 0, 0]),
        lambda: sim.apply_wrench("late", [1, 0, 0], [0, 0, 0]),
        lambda: sim.set_velocity("late", [1, 0, 0], [0, 0, 0]),
        lambda: sim.grab("late", [1, 2, 3]),
    ):
        with pytest.raises(ValueError, match="absent"):
            refused()


def test_what_vanishes_is_held_and_pushed_no_more() -> None:
    sim = simulate(falling(tumbling()))
    sim.grab("late", [1, 2, 3])
    sim.apply_wrench("late", [5, 0, 0], [0, 0, 0], duration=9.0)
    sim.vanish("late")
    assert sim.grab_state() is None
    sim.vanish("late")
    sim.appear("late")
    sim.appear("late")
    alone = simulate(falling(tumbling()))
    sim.advance(100)
    alone.advance(100)
    assert np.array_equal(sim.poses(), alone.poses())


def test_kinematic_bodies_come_and_go() -> None:
    """A pusher strikes a block while it is there; one with a `motion` is where that is."""
    pusher: Document = {
        "name": "pusher",
        "type": "kinematic",
        "position": [-0.5, 0, 0.1],
        "linear_velocity": [1, 0, 0],
    }
    pusher |= {"shapes": [{"type": "sphere", "radius": 0.1}], "appears": 0.2}
    path = {"times": [0, 1], "positions": [[0, 5, 0], [1, 5, 0]]}
    guide = {
        "name": "guide",
        "type": "kinematic",
        "position": [0, 5, 0],
        "motion": path,
        "appears": 0.25,
    }
    scene = document(
        [pusher, guide, ball("block", [0, 0, 0.1])],
        gravity=[0, 0, 0],
        simulation={"dt": H, "duration": 1.0},
    )
    sim = simulate(scene)
    sim.advance(450)
    assert sim.poses()[0, 0] == pytest.approx(-0.25, abs=1e-12)
    assert sim.poses()[1, 0] == pytest.approx(0.45, abs=1e-12)
    assert not sim.velocities()[2].any()
    sim.advance(200)
    # it meets the block after 0.3 m, and both go on with 1 m/s
    assert sim.velocities()[2, 0] == pytest.approx(1.0, abs=1e-9)
    assert sim.summary()["energy"]["balance_error"] < 1e-9


# ---------------------------------------------------------------- what is told


def test_recordings_say_who_is_there() -> None:
    scene = falling(tumbling(appears=0.1, vanishes=0.3), duration=0.4)
    scene["record"] = {
        "every": 50,
        "channels": ["pose", "velocity", "energy", "events"],
        "bodies": ["late"],
    }
    recording, summary = cardan.engine.run(load_scene(scene))
    bodies = recording.tables()["bodies"]
    assert bodies["present"].tolist() == [False, False, False, True, True, True, True, False, False]
    assert np.array_equal(np.unique(bodies["px"][~bodies["present"]]), [1.0])
    assert not bodies["vx"][~bodies["present"]].any()
    events = recording.tables()["events"]
    told = list(zip(events["kind"], events["body_a"], events["time"].round(9), strict=True))
    assert told == [("appear", "late", 0.1), ("vanish", "late", 0.3)]
    json.dumps(summary, allow_nan=False)
    plain = falling(tumbling())
    plain["record"] = scene["record"]
    assert "present" not in cardan.engine.run(load_scene(plain))[0].tables()["bodies"]


def test_sensors_on_absent_bodies_measure_nothing() -> None:
    scene = falling(tumbling(appears=0.1))
    ray = {"name": "ray", "type": "ray", "body": "late", "direction": [1, 0, 0]}
    scene["sensors"] = [{"name": "imu", "type": "imu", "body": "late"}, ray]
    sim = simulate(scene)
    sim.advance(100)
    assert np.isnan(sim.sensors()["imu"]["az"])
    assert np.isnan(sim.sensors()["ray"]["distance"])
    sim.advance(1)
    # free flight
    assert np.isfinite(sim.sensors()["imu"]["az"])
    assert sim.sensors()["imu"]["wz"] == pytest.approx(3.0, abs=0.1)


def test_side_by_side_and_variants_give_the_bits_of_a_run_alone() -> None:
    scene = load_scene(falling(tumbling(appears=0.1)))
    times = (0.1, 0.2)
    found = rollout(scene, [{"/bodies/1/appears": time} for time in times], trajectories=True)
    assert found.trajectories is not None
    for appears, poses in zip(times, found.trajectories[:, -1], strict=True):
        alone = simulate(falling(tumbling(appears=appears)))
        alone.advance(1000)
        assert np.array_equal(poses, alone.poses())


def test_what_a_preview_says_of_the_start_leaves_out_who_is_absent() -> None:
    scene = document(
        [ground(), ball("a", [0, 0, 0.1]), ball("b", [0, 0, 0.15], appears=0.5)],
        simulation={"dt": H, "duration": 1.0},
    )
    assert preview(load_scene(scene))["overlaps"] == []


# ---------------------------------------------------------------- refusals


def refused(scene: Document) -> dict[str, str]:
    with pytest.raises(SceneInvalid) as error:
        Simulation(load_scene(scene))
    return {fault.pointer: fault.message for fault in error.value.errors}


@pytest.mark.parametrize("field", [{"present": False}, {"appears": 0.1}, {"vanishes": 0.1}])
def test_bodies_that_joint_coordinates_hold_stay(field: Document) -> None:
    scene = {**falling(tumbling(**field), formulation="reduced"), "joints": [PIN]}
    name = next(iter(field))
    found = refused(scene)
    assert "'late'" in found[f"/bodies/1/{name}"]
    assert "joint 'pin'" in found[f"/bodies/1/{name}"]
    scene["simulation"]["formulation"] = "auto"
    assert simulate(scene).formulation == "maximal"
    sim = simulate({**falling(tumbling(), formulation="reduced"), "joints": [PIN]})
    with pytest.raises(ValueError, match="joint 'pin' holds 'late'"):
        sim.vanish("late")
    hinge = {**PIN, "type": "hinge", "axis": [0, 1, 0], "initial": {"position": 0.5}}
    assert "initial" in refused({**scene, "joints": [hinge]})[f"/bodies/1/{name}"]


def test_times_in_the_wrong_order_and_smooth_motion_are_refused() -> None:
    assert (
        "before it appears"
        in refused(falling(tumbling(appears=0.3, vanishes=0.2)))["/bodies/1/vanishes"]
    )
    smooth = document(
        [tumbling(appears=0.1)], simulation={"integrator": "rk4", "formulation": "reduced"}
    )
    assert "rk4" in refused(smooth)["/bodies/0/appears"]
    sim = simulate(
        document([tumbling()], simulation={"integrator": "rk4", "formulation": "reduced"})
    )
    with pytest.raises(ValueError, match="rk4"):
        sim.vanish("late")


def test_statics_looks_at_scenes_that_are_all_there() -> None:
    scene = load_scene(falling(tumbling(appears=0.1)))
    for look in (cardan.statics, cardan.linearize):
        with pytest.raises(SceneError, match="absent"):
            look(scene)


def test_what_never_comes_is_warned_of() -> None:
    scene = load_scene(falling(tumbling(present=False)))
    assert [one.code for one in scene_warnings(scene)] == ["never_appears"]
    late = load_scene(falling(tumbling(appears=5.0)))
    assert [one.pointer for one in scene_warnings(late)] == ["/bodies/1/appears"]
    asked = falling(tumbling(present=False), triggers=[at(0.2, "appear", "late")])
    assert scene_warnings(load_scene(asked)) == []


# ---------------------------------------------------------------- moments within a step


@pytest.mark.parametrize("moment", [0.1003, 0.105, 0.1099])
def test_what_appears_within_a_step_is_where_flight_takes_it(moment: float) -> None:
    """A step of a hundredth of a second: tumbling, it was up to one step late."""
    coarse = simulate(falling(tumbling(appears=moment), dt=0.01))
    fine = simulate(falling(tumbling(appears=moment), dt=1e-4))
    coarse.advance(100)
    fine.advance(10000)
    assert coarse.poses()[1] == pytest.approx(fine.poses()[1], abs=1e-5)
    assert coarse.velocities()[1] == pytest.approx(fine.velocities()[1], abs=1e-5)
    assert coarse.summary()["energy"]["balance_error"] < 1e-9


def test_what_appears_on_something_stays_where_it_appears() -> None:
    late = simulate(document([ground(), ball("ball", [0, 0, 0.1], appears=0.1003)],
                             simulation={"dt": 0.01, "duration": 0.5}))  # fmt: skip
    late.advance(11)
    assert late.poses()[1, 2] == 0.1
    assert not late.velocities()[1].any()
    late.advance(39)
    assert late.poses()[1, 2] == pytest.approx(0.1, abs=1e-6)
    assert late.summary()["verdict"]["status"] == "trusted"


def table_that_vanishes(moment: float) -> Simulation:
    """Two boxes on a table, at the end of a run of 0.3 s."""
    box = {"type": "box", "size": [0.1, 0.1, 0.1]}
    boxes = [
        {"name": name, "mass": 1.0, "position": [0, 0, z], "shapes": [box]}
        for name, z in (("low", 0.05), ("high", 0.15))
    ]
    table = {"name": "table", "type": "static", "position": [0, 0, -0.5], "vanishes": moment}
    table["shapes"] = [{"type": "box", "size": [1, 1, 1]}]
    sim = simulate(document([table, *boxes], simulation={"dt": 0.01, "duration": 0.3}))
    sim.advance(30)
    return sim


@pytest.mark.parametrize(
    ("moment", "status"), [(0.1, "trusted"), (0.1003, "suspect"), (0.1099, "trusted")]
)
def test_what_is_let_go_late_is_wrong_by_that(moment: float, status: str) -> None:
    """A support that vanishes within a step carries until its end: the fall is late by the rest."""
    sim = table_that_vanishes(moment)
    fallen = 0.5 * G * (0.3 - moment) ** 2
    wrong = [abs(0.05 - sim.poses()[1, 2] - fallen), abs(0.15 - sim.poses()[2, 2] - fallen)]
    assert (max(wrong) > 0.05 * fallen) == (status == "suspect")
    verdict = sim.summary()["verdict"]
    assert verdict["status"] == status
    assert {one["quantity"] for one in verdict["findings"]} <= {"step_error"}


@pytest.mark.parametrize("at_once", [1, 7, 30])
def test_a_verdict_does_not_hang_on_how_many_steps_are_done_at_once(at_once: int) -> None:
    """Of what falls freely once its support is gone nothing was recorded from the next call on."""
    whole = table_that_vanishes(0.1)
    scene, parts = whole.scene, Simulation(whole.scene)
    assert scene is parts.scene
    while parts.step_count < 30:
        parts.advance(min(at_once, 30 - parts.step_count))
    assert parts.summary()["verdict"] == whole.summary()["verdict"]
    assert parts.state_hash() == whole.state_hash()
