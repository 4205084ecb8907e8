"""When shapes begin and cease to touch: against the contacts of every step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Recording, Simulation, run
from cardan.schemas import load_scene
from tests.engine.scenes import document, ground, simulate

BEGIN, END = 0, 1


def ball(name: str, position: list[float], **more: object) -> dict[str, object]:
    return {
        "name": name,
        "position": position,
        "mass": 1.0,
        "shapes": [{"type": "sphere", "radius": 0.1, "material": "rubber"}],
        **more,
    }


def bouncing(restitution: float = 0.8, **more: Any) -> dict[str, object]:
    """A ball and a box of two shapes that fall, bounce and come to rest."""
    halves = [
        {"type": "box", "size": [0.1, 0.1, 0.1], "position": [x, 0, 0], "material": "rubber"}
        for x in (-0.15, 0.15)
    ]
    return document(
        [
            ground(material="rubber"),
            ball("ball", [0, 0, 0.4]),
            {
                "name": "pair",
                "position": [1, 0, 0.3],
                "orientation": [0.99, 0, 0.14106736, 0],
                "mass": 1.0,
                "shapes": halves,
            },
        ],
        materials={"rubber": {"friction": 0.3, "restitution": restitution}},
        simulation=more.pop("simulation", {"dt": 0.001, "duration": 1.5}),
        **more,
    )


def touching_pairs(sim: Simulation) -> set[tuple[int, int]]:
    """Shape pairs without a gap, or with a push across it, in the last step."""
    contacts = sim.work.contacts
    n = int(contacts.count[0])
    push = np.einsum("ij,ij->i", contacts.impulse_W[:n], contacts.normal_W[:n])
    return {
        (int(contacts.shape_a[c]), int(contacts.shape_b[c]))
        for c in range(n)
        if contacts.gap[c] <= 0.0 or push[c] > 0.0
    }


def test_events_are_the_changes_of_the_touching_pairs() -> None:
    sim = simulate(bouncing())
    sim.watch_events()
    before: set[tuple[int, int]] = set()
    shape_of = {(0, 0): 0, (1, 0): 1, (2, 0): 2, (2, 1): 3}
    seen = 0
    for step in range(1, 1501):
        sim.advance()
        now = touching_pairs(sim)
        events = sim.events()
        told = {
            (
                int(e["kind"]),
                shape_of[int(e["body_a"]), int(e["shape_a"])],
                shape_of[int(e["body_b"]), int(e["shape_b"])],
            )
            for e in events
        }
        wanted = {(BEGIN, *p) for p in now - before} | {(END, *p) for p in before - now}
        assert told == wanted
        assert len(events) == len(told)
        assert (events["step"] == step).all()
        assert events["time"] == pytest.approx((step - 0.5) * 0.001)
        seen += len(told)
        before = now
    assert seen > 20


def test_a_begin_tells_where_and_how_fast() -> None:
    drop = 0.3
    sim = simulate(bouncing(restitution=1.0))
    sim.watch_events()
    sim.advance(400)
    events = sim.events()
    first = events[(events["body_b"] == 1) & (events["kind"] == BEGIN)][0]
    assert (first["body_a"], first["shape_a"], first["shape_b"]) == (0, 0, 0)
    # the speed before the kick, at most a step before the surfaces meet
    speed = np.sqrt(2 * 9.81 * drop)
    assert speed - 9.81 * 0.0021 < first["approach_speed"] <= speed
    assert [first["px"], first["py"], first["pz"]] == pytest.approx([0, 0, 0], abs=2.5e-3)
    assert [first["nx"], first["ny"], first["nz"]] == pytest.approx([0, 0, 1], abs=1e-12)
    ends = events[(events["body_b"] == 1) & (events["kind"] == END)]
    assert ends["step"][0] == first["step"] + 1
    assert ends["approach_speed"][0] == 0.0
    assert ends["pz"][0] == first["pz"]


def test_begins_and_ends_alternate_and_resting_is_silent() -> None:
    sim = simulate(bouncing(restitution=0.5))
    sim.watch_events()
    sim.advance(4000)
    events = sim.events()
    pairs = np.unique(events[["body_a", "body_b", "shape_a", "shape_b"]])
    assert len(pairs) == 3
    for pair in pairs:
        kinds = events["kind"][events[["body_a", "body_b", "shape_a", "shape_b"]] == pair]
        assert list(kinds) == [BEGIN, END] * (len(kinds) // 2) + [BEGIN] * (len(kinds) % 2)
        assert kinds[-1] == BEGIN
    sim.advance(500)
    assert len(sim.events()) == 0


def test_nothing_is_kept_unless_asked_for() -> None:
    sim = simulate(bouncing())
    sim.advance(400)
    assert len(sim.events()) == 0
    sim.watch_events()
    sim.advance(100)
    assert len(sim.events()) > 0
    sim.watch_events(False)
    sim.advance(500)
    assert len(sim.events()) == 0


def test_watching_changes_nothing_and_no_event_is_lost_when_room_is_short() -> None:
    blind, watched, chunks = (simulate(bouncing()) for _ in range(3))
    watched.watch_events()
    chunks.watch_events()
    blind.advance(1500)
    watched.advance(1500)
    # as good as full after every step: the loop comes back to Python again and again
    for _ in range(150):
        chunks._events.count[0] = 0
        chunks.advance(10)
    assert blind.state_hash() == watched.state_hash() == chunks.state_hash()
    short = simulate(bouncing())
    short.watch_events()
    short._events = short._events._replace(
        who=short._events.who[: 10 * len(short.work.contacts.gap)].copy(),
        where=short._events.where[: 10 * len(short.work.contacts.gap)].copy(),
    )
    short.advance(1500)
    assert short.events().tobytes() == watched.events().tobytes()


def test_a_snapshot_knows_what_touched() -> None:
    whole = simulate(bouncing())
    whole.watch_events()
    whole.advance(700)
    saved = whole.snapshot()
    whole.events()
    whole.advance(800)
    after = simulate(bouncing())
    after.watch_events()
    after.restore(saved)
    after.advance(800)
    assert after.events().tobytes() == whole.events().tobytes()


def test_a_restore_forgets_what_happened_on_the_way_left() -> None:
    sim = simulate(bouncing())
    sim.watch_events()
    start = sim.snapshot()
    sim.advance(600)
    sim.restore(start)
    assert len(sim.events()) == 0
    sim.advance(600)
    assert sim.events()["step"][0] < 600


def test_the_recording_holds_events_between_its_records() -> None:
    scene = bouncing(record={"every": 500, "channels": ["pose", "events"]})
    recording, _ = run(load_scene(scene))
    table = recording.tables()["events"]
    sim = simulate(bouncing())
    sim.watch_events()
    sim.advance(1500)
    events = sim.events()
    assert list(table["kind"]) == [("begin", "end")[k] for k in events["kind"]]
    assert set(table["body_a"]) == {"ground"}
    assert set(table["body_b"]) == {"ball", "pair"}
    for name in ("time", "step", "px", "approach_speed", "shape_b"):
        assert (table[name] == events[name]).all()


def test_a_recording_without_events_has_an_empty_table() -> None:
    scene = document([ball("ball", [0, 0, 1])], gravity=[0, 0, 0], record={"channels": ["events"]})
    scene["bodies"][0]["shapes"][0].pop("material")
    sim = simulate(scene)
    recording = Recording(sim)
    recording.observe()
    table = recording.tables()["events"]
    assert {len(column) for column in table.values()} == {0}
