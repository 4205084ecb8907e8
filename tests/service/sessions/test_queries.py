"""Questions to a live session over HTTP, and contact events over its socket."""

import httpx
import numpy as np
import pytest

from cardan.schemas.frame import BlockTag
from cardan.schemas.step_problem import StepProblemAnswer

from .conftest import BOX, FLOOR, SCENE, Service, bouncing

pytestmark = pytest.mark.e2e

DROP = bouncing(0.9, 0.2)


def ask(service: Service, session: str, verb: str, body: object) -> httpx.Response:
    return service.http.post(f"/sessions/{session}:{verb}", json=body)


def test_a_ray_from_above_meets_the_box_and_then_the_floor(service: Service, session: str):
    ray = {"origin": [0.05, 0, 3], "direction": [0, 0, -5]}
    nearest = ask(service, session, "raycast", {"rays": [ray]})
    assert nearest.status_code == 200, nearest.text
    found = nearest.json()
    assert (found["step"], found["time"]) == (0, 0.0)
    (hit,) = found["results"][0]["hits"]
    assert (hit["body"], hit["shape"]) == ("box", 0)
    assert hit["distance"] == pytest.approx(2.8)
    assert hit["point"] == pytest.approx([0.05, 0, 0.2])
    assert hit["normal"] == pytest.approx([0, 0, 1])
    away = {"origin": [0, 0, 3], "direction": [0, 0, 1]}
    every = ask(service, session, "raycast", {"rays": [ray, away], "hits": "all"}).json()
    assert [h["body"] for h in every["results"][0]["hits"]] == ["box", "floor"]
    assert every["results"][1]["hits"] == []


def test_distances_follow_the_steps_and_nothing_is_disturbed(service: Service, session: str):
    before = service.http.get(f"/sessions/{session}/state").json()["state_hash"]
    pair = {"body_a": "floor", "body_b": "rod"}
    found = ask(service, session, "closest-points", pair).json()
    assert found["distance"] == pytest.approx(1.99)
    assert found["normal"] == pytest.approx([0, 0, 1])
    assert service.http.get(f"/sessions/{session}/state").json()["state_hash"] == before
    assert service.http.get(f"/sessions/{session}/commands").json()["items"] == []
    service.http.post(f"/sessions/{session}:step", json={"n": 7}).raise_for_status()
    assert ask(service, session, "closest-points", pair).json()["step"] == 7


@pytest.mark.parametrize(
    ("verb", "body", "pointer"),
    [
        ("raycast", {"rays": [{"origin": [0, 0, 0], "direction": [0, 0, 0]}]}, "/rays/0/direction"),
        ("raycast", {"rays": []}, "/rays"),
        ("raycast", {"rays": [{"origin": [0, 0], "direction": [0, 0, 1]}]}, "/rays/0/origin"),
        ("raycast", {}, "/rays"),
        (
            "raycast",
            {"rays": [{"origin": [0, 0, 0], "direction": [0, 0, 1], "max_distance": -1}]},
            "/rays/0/max_distance",
        ),
        (
            "raycast",
            {"rays": [{"origin": [0, 0, 0], "direction": [0, 0, 1]}], "hits": "some"},
            "/hits",
        ),
        ("raycast", {"rays": [], "speed": 1}, "/speed"),
        ("closest-points", {"body_a": "box"}, "/body_b"),
        ("closest-points", {"body_a": "box", "body_b": "boxx"}, "/body_b"),
        ("closest-points", {"body_a": "box", "body_b": "box"}, "/body_b"),
    ],
)
def test_bad_questions_are_answered_with_their_pointer(
    service: Service, session: str, verb: str, body: object, pointer: str
):
    answer = ask(service, session, verb, body)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_impossible_pairs_and_lost_sessions_are_problems(service: Service, session: str):
    same = ask(service, session, "closest-points", {"body_a": "box", "body_b": "box"})
    assert (same.status_code, same.json()["code"]) == (422, "query_impossible")
    gone = ask(service, "session_nobody", "closest-points", {"body_a": "a", "body_b": "b"})
    assert gone.status_code == 404


def test_contact_events_come_between_the_frames_and_each_once(service: Service):
    session = service.create(DROP)
    try:
        with service.watch(session) as viewer:
            viewer.subscribe(poses={"hz": 20}, events={"hz": 20})
            viewer.do("step", n=3000)
            viewer.view(lambda frame: frame.header.step == 3000)
            rows = [row for frame in viewer.frames for row in frame.blocks.get(BlockTag.EVENTS, ())]
        assert len(rows) >= 10
        assert [int(row["kind"]) for row in rows[:10]] == [0, 1] * 5
        assert {(int(row["body_a"]), int(row["body_b"])) for row in rows} == {(FLOOR, BOX)}
        steps = [int(row["step"]) for row in rows]
        assert steps == sorted(steps)
        assert len(set(steps)) == len(steps)
        assert rows[0]["approach_speed"] == pytest.approx(1.4, abs=0.05)
    finally:
        service.http.delete(f"/sessions/{session}")


def test_a_trigger_acts_on_a_live_session_and_says_so(service: Service):
    spin = {"op": "set_motor", "joint": "pivot", "target": 2.0, "max_force": 1e5}
    start = {"name": "start", "when": {"type": "time", "at": 0.05}, "do": [spin]}
    session = service.create({**SCENE, "triggers": [start]})
    try:
        with service.watch(session) as viewer:
            viewer.subscribe(poses={"hz": 20}, events={"hz": 20})
            viewer.do("step", n=250)
            viewer.view(lambda frame: frame.header.step == 250)
            rows = [row for frame in viewer.frames for row in frame.blocks.get(BlockTag.EVENTS, ())]
        # kind 3 is a trigger; its number stands in place of the joint's
        assert [(int(row["joint"]), int(row["step"])) for row in rows if row["kind"] == 3] == [
            (0, 50)
        ]
        state = service.http.get(f"/sessions/{session}/state").json()
        w, x, y, z = state["poses"][state["body_names"].index("rod")][3:]
        # a target that jumps is the speed from the middle of the next step on
        assert 2.0 * np.arctan2(y, w) == pytest.approx(2.0 * (0.25 - 0.0505), abs=1e-6)
        assert (x, z) == pytest.approx((0.0, 0.0), abs=1e-9)
        (fired,) = service.http.get(f"/sessions/{session}/summary").json()["triggers"]
        assert (fired["trigger"], fired["times"]) == ("start", 1)
        assert fired["last"] == pytest.approx(0.05)
    finally:
        service.http.delete(f"/sessions/{session}")


def test_the_problem_of_a_step_is_told_now_and_later(service: Service):
    session = service.create(DROP)
    try:
        service.http.post(f"/sessions/{session}:step", json={"n": 150})
        before = service.http.get(f"/sessions/{session}/state").json()["state_hash"]
        now = service.http.get(f"/sessions/{session}/problem")
        assert now.status_code == 200, now.text
        found = StepProblemAnswer.model_validate(now.json())
        assert (found.step, found.formulation) == (150, "maximal")
        assert [v.name for v in found.velocities][3:] == ["ball: vx", "ball: vy", "ball: vz"]
        fall = found.velocities[5]
        assert fall.free - fall.before == pytest.approx(-9.81 * found.time_step)
        J, n = np.zeros(found.J.shape), len(found.rows)
        J[found.J.rows, found.J.columns] = found.J.values
        assert J.shape == (n, 6)
        v = np.array([velocity.after for velocity in found.velocities])
        w = [row.w - row.bias - row.cfm * row.lam for row in found.rows]
        assert J @ v == pytest.approx(w, abs=1e-12)
        assert service.http.get(f"/sessions/{session}/state").json()["state_hash"] == before
        service.http.post(f"/sessions/{session}:step", json={"n": 100})
        past = service.http.get(f"/sessions/{session}/problem", params={"step": 150})
        assert past.json() == now.json()
        later = service.http.get(f"/sessions/{session}/problem", params={"step": 251})
        assert (later.status_code, later.json()["code"]) == (422, "step_out_of_range")
    finally:
        service.http.delete(f"/sessions/{session}")


def test_a_step_without_one_problem_is_refused_now_and_later(service: Service):
    soft = {**DROP, "simulation": {"dt": 0.001, "solver": {"method": "small_steps"}}}
    session = service.create(soft)
    try:
        for query in ({}, {"step": 0}):
            answer = service.http.get(f"/sessions/{session}/problem", params=query)
            assert (answer.status_code, answer.json()["code"]) == (422, "query_impossible")
            assert "small_steps" in answer.json()["detail"]
    finally:
        service.http.delete(f"/sessions/{session}")
