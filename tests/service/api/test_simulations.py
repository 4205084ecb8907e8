import json
import uuid
from typing import Any

import pytest

from cardan.service.api.simulations import nothing_yet
from tests.service.real_server import DROP, long_scene, run_to_end, wait_for

pytestmark = pytest.mark.e2e


def test_post_wait_and_read(client):
    answer = client.post("/v1/simulations", json=DROP, headers={"Prefer": "wait=30"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["preference-applied"] == "wait=30"
    info = answer.json()
    assert (info["status"], info["step"], info["total_steps"]) == ("succeeded", 100, 100)
    assert info["progress"] == 1.0
    assert answer.headers["location"] == info["links"]["self"]
    summary = client.get(info["links"]["summary"]).json()
    assert (summary["status"], summary["steps"]) == ("succeeded", 100)
    assert client.get(info["links"]["scene"]).json() == DROP


def test_without_wait_it_is_accepted_and_found_again(client):
    answer = client.post("/v1/simulations", json={"scene": DROP, "name": "mine"})
    assert answer.status_code == 202
    assert answer.headers["retry-after"] == "1"
    where = answer.headers["location"]
    info = client.get(where, headers={"Prefer": "wait=30"}).json()
    assert (info["status"], info["name"]) == ("succeeded", "mine")


def test_whether_one_waits_decides_between_200_and_202(client):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    waited = {"Prefer": "wait=30", **key}
    assert client.post("/v1/simulations", json=DROP, headers=waited).status_code == 200
    # it has ended, and nobody waits
    answer = client.post("/v1/simulations", json=DROP, headers=key)
    assert (answer.status_code, answer.json()["status"]) == (202, "succeeded")


def test_of_two_idempotency_keys_none_is_taken(client):
    """Which of them would find the run again cannot be known."""
    keys = [("Idempotency-Key", str(uuid.uuid4())) for _ in range(2)]
    answer = client.post("/v1/simulations", json=DROP, headers=keys)
    (fault,) = answer.json()["errors"]
    assert (answer.status_code, fault["pointer"]) == (422, "/header/Idempotency-Key")
    assert fault["got"].startswith(keys[0][1])
    # one of them is free for another request
    answer = client.post("/v1/simulations", json=DROP, headers=keys[:1])
    assert answer.status_code == 202


def test_overrides_are_part_of_the_scene(client):
    info = run_to_end(client, DROP, overrides={"/simulation/duration": 0.1})
    assert info["total_steps"] == 50
    assert client.get(info["links"]["scene"]).json()["simulation"]["duration"] == 0.1


def test_the_same_scene_gives_the_same_bits(client):
    first, second = (run_to_end(client, DROP) for _ in range(2))
    files = [client.get(i["links"]["trajectory"]).content for i in (first, second)]
    assert files[0] == files[1]


def test_a_running_simulation_tells_progress_and_can_be_cancelled(client):
    info = client.post("/v1/simulations", json={"scene": long_scene()}).json()
    where = info["links"]["self"]
    seen = wait_for(
        lambda: (now := client.get(where).json())["step"] > 0 and now, what="a first step"
    )
    assert seen["status"] == "running"
    assert seen["real_time_factor"] > 0
    answer = client.get(info["links"]["trajectory"])
    assert (answer.status_code, answer.json()["code"]) == (409, "not_finished")
    assert client.delete(where).json()["code"] == "not_finished"
    answer = client.post(f"{where}:cancel")
    assert answer.status_code == 202
    assert answer.json()["status"] in ("cancelling", "cancelled")
    ended = client.get(where, headers={"Prefer": "wait=30"}).json()
    assert (ended["status"], ended["error"]["code"]) == ("cancelled", "cancelled")
    assert 0 < ended["step"] < ended["total_steps"]
    # what was recorded is kept
    assert client.get(info["links"]["trajectory"]).status_code == 200
    assert client.post(f"{where}:cancel").status_code == 200
    assert client.delete(where).status_code == 204
    assert client.get(where).status_code == 404
    assert client.get(info["links"]["trajectory"]).status_code == 404


def test_a_timeout_ends_a_run(client):
    info = run_to_end(client, long_scene(), timeout_s=0.3)
    assert (info["status"], info["error"]["code"]) == ("timed_out", "timed_out")
    summary = client.get(info["links"]["summary"]).json()
    assert (summary["status"], summary["reason"]) == ("timed_out", info["error"]["message"])
    said = [line["message"] for line in client.get(info["links"]["logs"]).json()["items"]]
    assert "It is timed out: The run took longer than its timeout_s." in said


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("failed", "The simulation failed without a summary: it left nothing"),
        ("cancelled", "The simulation was cancelled without a summary: it left nothing"),
        ("timed_out", "The simulation took too long and ended without a summary: it left nothing"),
    ],
)
def test_what_a_run_did_not_leave_is_said_in_words(state, words):
    row: Any = {"state": state, "error": None}
    problem = nothing_yet(row, "summary")
    assert (problem.status, problem.code, problem.detail) == (404, "no_result", words)


def test_a_run_that_blows_up_keeps_its_frames_and_says_where(client):
    scene = {
        "simulation": {"dt": 0.001, "duration": 1.0},
        "bodies": [{"name": "b", "mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}],
        "forces": [
            {
                "type": "wrench",
                "body": "b",
                "force": {"times": [0, 0.5, 0.501], "values": [[0, 0, 0], [0, 0, 0], [1e40, 0, 0]]},
            },
        ],
        "record": {"every": 10, "channels": ["pose"]},
    }
    info = run_to_end(client, scene)
    assert info["status"] == "failed"
    assert info["error"]["code"] == "engine_diverged"
    assert "step 501" in info["error"]["message"]
    assert "'b'" in info["error"]["message"]
    rows = client.get(info["links"]["trajectory"], params={"format": "json"}).json()
    assert max(rows["tables"]["bodies"]["step"]) == 500
    assert client.get(info["links"]["summary"]).json()["status"] == "failed"


def test_idempotency_keys_create_once(client):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = client.post("/v1/simulations", json={"scene": DROP}, headers=key)
    again = client.post("/v1/simulations", json={"scene": DROP}, headers=key)
    assert first.json()["id"] == again.json()["id"]
    assert again.headers["idempotency-replayed"] == "true"
    other = client.post("/v1/simulations", json={"scene": "incline"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_a_refused_request_gives_its_key_back(client):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    assert client.post("/v1/simulations", json={"bodies": []}, headers=key).status_code == 422
    assert client.post("/v1/simulations", json=DROP, headers=key).status_code == 202


def test_pages_cover_everything_once(client):
    mine = [run_to_end(client, DROP)["id"] for _ in range(3)]
    found, token = [], ""
    while True:
        page = client.get("/v1/simulations", params={"page_size": 2, "page_token": token}).json()
        assert len(page["items"]) <= 2
        found += [item["id"] for item in page["items"]]
        token = page["next_page_token"]
        if not token:
            break
    assert len(found) == len(set(found))
    # newest first
    assert [one for one in found if one in mine] == mine[::-1]


def test_the_list_can_be_narrowed_to_a_state(client):
    run_to_end(client, DROP)
    items = client.get("/v1/simulations", params={"status": "succeeded"}).json()["items"]
    assert items
    assert {item["status"] for item in items} == {"succeeded"}


def read_events(client, where, **headers):
    """All events of a stream until it ends: (kind, id, data)."""
    found = []
    with client.stream("GET", where, headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        entry = {}
        for line in answer.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                entry[name] = value
            elif "event" in entry:
                found.append((entry["event"], entry.get("id"), json.loads(entry["data"])))
                entry = {}
    return found


def test_events_tell_the_whole_story_and_resume(client):
    info = client.post("/v1/simulations", json={"scene": DROP}).json()
    events = read_events(client, info["links"]["events"])
    states = [(number, data) for kind, number, data in events if kind == "state"]
    told = [data["status"] for _, data in states]
    assert told == ["queued", "starting", "running", "succeeded"]
    assert any(kind == "progress" for kind, _, _ in events)
    rest = read_events(client, info["links"]["events"], **{"Last-Event-ID": states[1][0]})
    assert [data["status"] for kind, _, data in rest if kind == "state"] == told[2:]
    last = {"Last-Event-ID": states[-1][0]}
    # 204 tells an EventSource not to come back
    assert client.get(info["links"]["events"], headers=last).status_code == 204
