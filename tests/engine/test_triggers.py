"""Triggers: when they fire, what they do, and that what fired is part of the state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.engine import Simulation, rollout
from cardan.engine.build.faults import SceneError
from cardan.schemas import SceneInvalid, load_scene
from tests.engine.scenes import Document, document, ground, simulate

G, H = 9.81, 1e-3
FORMULATIONS = ["maximal", "reduced"]


def fired(sim: Simulation) -> dict[str, tuple[int, float]]:
    """How often the triggers fired, and when last."""
    return {one["trigger"]: (one["times"], one["last"]) for one in sim.summary()["triggers"]}


def slider(*triggers: Document, formulation: str = "maximal", **joint: Any) -> Document:
    """1 kg that falls along a slider, its coordinate upwards."""
    rail = {"name": "rail", "type": "slider", "parent": "world", "child": "block"}
    block = {"name": "block", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    return document(
        [block],
        [{**rail, "axis": [0, 0, 1], **joint}],
        simulation={"dt": H, "duration": 1.0, "formulation": formulation},
        triggers=list(triggers),
    )


def trigger(name: str, when: Document, *do: Document, **more: Any) -> Document:
    return {"name": name, "when": when, "do": list(do) or [push()], **more}


def push(force: float = 0.0) -> Document:
    return {"op": "apply_force", "body": "block", "force": [0, 0, force]}


# ---------------------------------------------------------------- when


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_falling_body_crosses_values_at_the_steps_of_the_closed_form(formulation: str) -> None:
    scene = slider(
        trigger(
            "low", {"type": "coordinate", "joint": "rail", "value": -0.5, "crossing": "falling"}
        ),
        trigger("up", {"type": "coordinate", "joint": "rail", "value": -0.5}),
        trigger("fast", {"type": "velocity", "joint": "rail", "value": -2.0, "crossing": "either"}),
        trigger("late", {"type": "time", "at": 0.3}),
        trigger("never", {"type": "time", "at": 2.0}),
        formulation=formulation,
    )
    sim = simulate(scene)
    sim.advance(1000)
    # z = -g t^2 / 2 after whole steps, to rounding
    at = {"low": math.sqrt(1.0 / G), "fast": 2.0 / G, "late": 0.3}
    expected = {name: (1, math.ceil(t / H - 1e-9) * H) for name, t in at.items()}
    found = fired(sim)
    assert {name: n for name, (n, _) in found.items()} == {
        name: n for name, (n, _) in expected.items()
    }
    assert [found[name][1] for name in expected] == pytest.approx([t for _, t in expected.values()])


def test_what_holds_at_the_start_is_not_crossed() -> None:
    scene = slider(
        trigger("above", {"type": "coordinate", "joint": "rail", "value": -9.0}),
        trigger("there", {"type": "coordinate", "joint": "rail", "value": 0.0}),
    )
    sim = simulate(scene)
    sim.advance(200)
    assert fired(sim) == {}


def hanging(*triggers: Document, formulation: str) -> Document:
    """1 kg on a slider that springs hold: x'' = -(x + g/k) k, from rest at x = 0."""
    spring = {"stiffness": 400.0}
    return slider(*triggers, formulation=formulation, spring=spring)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_each_time_or_once(formulation: str) -> None:
    middle = -G / 400.0
    when = {"type": "coordinate", "joint": "rail", "value": middle}
    scene = hanging(
        trigger("each", when, repeat=True),
        trigger("once", when),
        trigger("both", {**when, "crossing": "either"}, repeat=True),
        formulation=formulation,
    )
    sim = simulate(scene)
    sim.advance(1000)
    # downwards at pi/2 + 2 pi n, upwards at 3 pi/2 + 2 pi n, of 20 rad in a second
    ups = [(1.5 + 2 * n) * math.pi / 20.0 for n in range(3)]
    ways = [(0.5 + n) * math.pi / 20.0 for n in range(6)]
    found = fired(sim)
    assert {name: n for name, (n, _) in found.items()} == {"each": 3, "once": 1, "both": 6}
    lasts = [found[name][1] for name in ("each", "once", "both")]
    assert lasts == pytest.approx([ups[-1], ups[0], ways[-1]], abs=2 * H)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_force_of_a_joint_and_its_release(formulation: str) -> None:
    """A pendulum from the horizontal pulls with 3 m g sin(phi); let go, it flies a parabola."""
    rod = {"name": "rod", "position": [1, 0, 0], "mass": 1.0, "inertia": [1e-9, 1e-9, 1e-9]}
    pin = {"name": "pin", "type": "ball", "parent": "world", "child": "rod", "anchor": [0, 0, 0]}
    release = [{"op": "break_joint", "joint": "pin"}]
    when = {"type": "force", "joint": "pin", "value": 2.0 * G}
    scene = document(
        [rod],
        [pin],
        simulation={"dt": H, "duration": 1.0, "formulation": formulation},
        triggers=[{"name": "let go", "when": when, "do": release}],
    )
    sim = simulate(scene)
    while not fired(sim):
        sim.advance(1)
    sine = -sim.poses()[0, 2]
    assert 3.0 * sine == pytest.approx(2.0, abs=3.0 * 4.5 * H)
    (broken,) = sim.summary()["joints"]["broken"]
    assert broken == {"joint": "pin", "time": fired(sim)["let go"][1], "force": 0.0}
    assert "Joint 'pin' was ended" in " ".join(sim.warnings())
    position, velocity = sim.poses()[0, :3], sim.velocities()[0, :3]
    sim.advance(100)
    t = 100 * H
    drop = position + velocity * t - np.array([0, 0, 0.5 * G * t**2])
    assert sim.poses()[0, :3] == pytest.approx(drop, abs=1e-9)
    assert sim.summary()["energy"]["balance_error"] < 1e-6
    assert sim.summary()["verdict"]["status"] == "trusted"


def bouncing(*triggers: Document, **simulation: Any) -> Document:
    ball = {"name": "block", "position": [0, 0, 1.1], "mass": 1.0}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1, "material": "rubber"}]
    return document(
        [ground(material="rubber"), ball],
        simulation={"dt": H, "duration": 3.0, **simulation},
        materials={"rubber": {"restitution": 0.5}},
        triggers=list(triggers),
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_contacts_begin_and_end(formulation: str) -> None:
    touch = {"type": "contact", "body": "block", "other": "ground"}
    scene = bouncing(
        trigger("begins", touch, repeat=True),
        trigger("ends", {**touch, "crossing": "falling"}, repeat=True),
        trigger("first", {"type": "contact", "body": "ground"}),
        trigger("blow", {"type": "contact_force", "body": "block", "value": 1500.0}, repeat=True),
        formulation=formulation,
    )
    sim = simulate(scene)
    sim.watch_events()
    sim.advance(1500)
    # drops of 1, 1/4, 1/16 m: falls of t, then flights of t, t/2, t/4 ...
    t = math.sqrt(2.0 / G)
    events = sim.events()
    begins = events["time"][events["kind"] == 0]
    assert len(begins) >= 4
    assert begins[:3] == pytest.approx([t, 2 * t, 2.5 * t], abs=3 * H)
    found = fired(sim)
    assert found["first"][1] == pytest.approx(t, abs=2 * H)
    assert found["begins"][0] == len(begins)
    assert found["ends"][0] in (len(begins), len(begins) - 1)
    # of blows of 1.5 m v: v is sqrt(2 g), half, a quarter, ... over a step of H
    speeds = math.sqrt(2 * G) * 0.5 ** np.arange(8)
    assert found["blow"][0] == int(np.count_nonzero(1.5 * speeds / H > 1500.0))
    # its event follows that of the contact
    told = events[(events["kind"] == 3) & (events["trigger"] == 0)]
    assert told["step"].tolist() == events["step"][events["kind"] == 0].tolist()
    assert set(told["body_a"]) == {-1}
    assert np.isnan(told["px"]).all()


def test_what_rests_at_the_start_begins_no_contact_and_sleep_ends_none() -> None:
    touch = {"type": "contact", "body": "block"}
    scene = bouncing(
        trigger("begins", touch),
        trigger("ends", {**touch, "crossing": "falling"}),
        trigger("load", {**touch, "type": "contact_force", "value": 5.0, "crossing": "falling"}),
        sleeping={"enabled": True},
    )
    scene["bodies"][1]["position"] = [0, 0, 0.1]
    sim = simulate(scene)
    sim.advance(1500)
    assert sim.asleep()[1]
    assert fired(sim) == {}


# ---------------------------------------------------------------- what is done


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_motor_turns_back_at_two_marks(formulation: str) -> None:
    """A shuttle that runs between two marks at 1 m/s for ever."""
    drive = {"type": "velocity", "target": 1.0, "max_force": 1e4}
    mark = {"type": "coordinate", "joint": "rail"}
    back = {"op": "set_motor", "joint": "rail", "target": -1.0}
    forth = {"op": "set_motor", "joint": "rail", "target": 1.0}
    scene = slider(
        trigger("top", {**mark, "value": 0.1}, back, repeat=True),
        trigger("bottom", {**mark, "value": -0.1, "crossing": "falling"}, forth, repeat=True),
        formulation=formulation,
        motor=drive,
    )
    sim = simulate(scene)
    heights = [sim.advance(1) and float(sim.poses()[0, 2]) for _ in range(1000)]
    assert max(heights) == pytest.approx(0.1, abs=1.1 * H)
    assert min(heights) == pytest.approx(-0.1, abs=1.1 * H)
    assert {name: n for name, (n, _) in fired(sim).items()} == {"top": 3, "bottom": 2}


def test_commands_come_in_their_order_and_their_work_is_booked() -> None:
    half = {"type": "time", "at": 0.1}
    scene = slider(
        trigger("up", half, {"op": "gravity", "value": [0, 0, 5]}),
        trigger(
            "and off",
            half,
            {"op": "gravity", "value": [0, 0, 0]},
            {"op": "apply_impulse", "body": "block", "impulse": [0, 0, 3.0]},
            {"op": "apply_force", "body": "block", "force": [0, 0, 2.0], "duration": 0.1},
        ),
        trigger(
            "stop",
            {"type": "time", "at": 0.5},
            {"op": "set_velocity", "body": "block", "linear": [0, 0, 0], "angular": [0, 0, 0]},
        ),
    )
    sim = simulate(scene)
    sim.advance(400)
    assert sim.velocities()[0, 2] == pytest.approx(-0.1 * G + 3.0 + 0.2, rel=1e-9)
    sim.advance(600)
    assert np.abs(sim.velocities()).max() < 1e-12
    summary = sim.summary()
    assert summary["energy"]["balance_error"] < 1e-9
    assert summary["verdict"]["status"] == "trusted"


def test_smooth_motion_is_switched_at_the_step() -> None:
    scene = slider(
        trigger("switch", {"type": "time", "at": 0.25}, {"op": "gravity", "value": [0, 0, G]}),
        formulation="reduced",
    )
    scene["simulation"]["integrator"] = "rk4"
    sim = simulate(scene)
    sim.advance(500)
    # up again as fast as down: at rest after twice the time, two parabolas below
    assert sim.poses()[0, 2] == pytest.approx(-G * 0.25**2, rel=1e-9)
    assert sim.velocities()[0, 2] == pytest.approx(0.0, abs=1e-9)
    assert fired(sim) == {"switch": (1, 0.25)}


# ---------------------------------------------------------------- state


def busy(formulation: str) -> Document:
    """Triggers of every kind of state: fired, armed, waiting for their first reading."""
    scene = bouncing(
        trigger("kick", {"type": "contact", "body": "block"}, push(300.0), repeat=True),
        trigger("turn", {"type": "time", "at": 0.9}, {"op": "gravity", "value": [0, 0, -20.0]}),
        formulation=formulation,
    )
    scene["record"] = {"every": 40, "channels": ["pose", "events"]}
    return scene


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_same_bits_in_one_go_in_pieces_and_from_a_snapshot(formulation: str) -> None:
    whole = simulate(busy(formulation))
    whole.advance(1200)
    pieces = simulate(busy(formulation))
    for n in (1, 448, 1, 2, 448, 300):
        pieces.advance(n)
        other = simulate(busy(formulation))
        other.restore(pieces.snapshot())
        pieces = other
    assert pieces.state_hash() == whole.state_hash()
    assert fired(pieces) == fired(whole)
    assert fired(whole)["kick"][0] > 2
    recording, summary = cardan.run(load_scene(busy(formulation)))
    events = recording.tables()["events"]
    assert list(events["trigger"][events["kind"] == "trigger"]).count("kick") == next(
        one["times"] for one in summary["triggers"] if one["trigger"] == "kick"
    )
    assert set(events["body_a"][events["kind"] == "trigger"]) == {""}
    whole.reset()
    assert fired(whole) == {}
    whole.advance(1200)
    assert whole.state_hash() == pieces.state_hash()


def test_variants_have_triggers_of_their_own() -> None:
    scene = load_scene(busy("maximal"))
    found = rollout(scene, {"/triggers/1/when/at": [0.3, 0.9, 2.0]}, ["energy.final"])
    for i, at in enumerate((0.3, 0.9, 2.0)):
        one = busy("maximal")
        one["triggers"][1]["when"]["at"] = at
        _, summary = cardan.run(load_scene(one))
        assert found.metrics["energy.final"][i] == summary["energy"]["final"]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        (
            {"when": {"type": "coordinate", "joint": "rial", "value": 0}},
            "/when/joint",
            "unknown_joint",
        ),
        ({"when": {"type": "contact", "body": "blok"}}, "/when/body", "unknown_body"),
        ({"when": {"type": "time", "at": 0.0}}, "/when/at", "out_of_range"),
        ({"when": {"type": "soon"}}, "/when/type", "unknown_type"),
        ({"do": []}, "/do", "wrong_length"),
        ({"do": [{"op": "grab", "body": "block"}]}, "/do/0/op", "unknown_type"),
        ({"do": [{**push(), "body": "world"}]}, "/do/0/body", "unknown_body"),
    ],
)
def test_faults_of_the_document(change: Document, pointer: str, code: str) -> None:
    one = trigger("one", {"type": "time", "at": 0.5})
    with pytest.raises(SceneInvalid) as refused:
        load_scene(slider({**one, **change}))
    assert [(fault.pointer, fault.code) for fault in refused.value.errors] == [
        (f"/triggers/0{pointer}", code)
    ]


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        (
            {"when": {"type": "velocity", "joint": "rail", "axis": 1, "value": 0}},
            "/when/axis",
            "out_of_range",
        ),
        ({"do": [{"op": "set_motor", "joint": "rail", "target": 1}]}, "/do/0/axis", "no_motor"),
    ],
)
def test_faults_of_the_mechanism(change: Document, pointer: str, code: str) -> None:
    one = trigger("one", {"type": "time", "at": 0.5})
    with pytest.raises(SceneError) as refused:
        simulate(slider({**one, **change}))
    assert [(fault.pointer, fault.code) for fault in refused.value.errors] == [
        (f"/triggers/0{pointer}", code)
    ]


def test_a_live_command_ends_what_can_end() -> None:
    tree = simulate(slider(formulation="reduced"))
    with pytest.raises(ValueError, match="'rail' is a coordinate of a tree"):
        tree.break_joint("rail")
    with pytest.raises(ValueError, match="no joint 'rial'"):
        tree.break_joint("rial")
    sim = simulate(slider())
    sim.break_joint("rail")
    sim.advance(10)
    sim.break_joint("rail")
    assert [one["time"] for one in sim.summary()["joints"]["broken"]] == [0.0]
