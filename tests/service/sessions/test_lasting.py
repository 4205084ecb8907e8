"""Sessions outlive the service; any step of their past is computed again with the same bits."""

import os
import random
import shutil
import signal
import socket
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import orjson
import psutil
import pytest
from websockets.exceptions import ConnectionClosed

from cardan.schemas.frame import BlockTag, decode_frame
from cardan.service.sessions.bundle import replay
from cardan.service.sessions.folder import FolderError, sealed, unsealed
from cardan.service.sessions.supervisor import Watch
from tests.service.real_server import Server

from .conftest import SCENE, Service, Watcher, serving, wait_until

pytestmark = pytest.mark.e2e

SHORT = {**SCENE, "simulation": {"dt": 0.001, "duration": 3.0}}
OFTEN = Watch(snapshot=0.05)
"""Key frames come often, as in a run that computes for long."""


def steer(viewer: Watcher) -> None:
    """The same commands at the same steps, whatever the wall clock does."""
    viewer.do("step", n=300)
    viewer.do("set_motor", joint="pivot", target=3.0)
    viewer.do("apply_impulse", body="box", impulse=[0.4, 0.1, 1.0])
    viewer.do("step", n=200)
    viewer.do("grab", body="box", point=[0, 0, 0.1])
    viewer.do("grab_move", target=[0.2, 0.3, 0.8])
    viewer.do("step", n=100)
    viewer.do("release")
    viewer.do("gravity", value=[0, 0, -5])


def hash_at_the_end(client: httpx.Client, session: str) -> str:
    """Run on as fast as possible; the hash of the final state."""
    client.patch(f"/sessions/{session}", json={"speed": None}).raise_for_status()
    client.post(f"/sessions/{session}:resume").raise_for_status()
    wait_until(lambda: client.get(f"/sessions/{session}").json()["state"] == "finished", "the end")
    return str(client.get(f"/sessions/{session}/state").json()["state_hash"])


@pytest.fixture(scope="module")
def expected(service: Service) -> str:
    """The end of a run that nothing disturbed."""
    session = service.create(SHORT)
    with service.watch(session) as viewer:
        steer(viewer)
    found = hash_at_the_end(service.http, session)
    service.http.delete(f"/sessions/{session}")
    return found


def test_a_stopped_service_leaves_sessions_that_go_on(tmp_path: Path, expected: str):
    with serving(tmp_path) as service:
        key = {"Idempotency-Key": "once"}
        body = {"scene": SHORT, "name": "mine"}
        session = service.http.post("/sessions", json=body, headers=key).json()["id"]
        with service.watch(session) as viewer:
            steer(viewer)
        before = service.http.get(f"/sessions/{session}/state").json()
        log = service.http.get(f"/sessions/{session}/commands").json()["items"]
        gone = service.create()
        service.http.delete(f"/sessions/{gone}").raise_for_status()
        kept = service.http.post(f"/sessions/{session}:snapshot").json()
        running = service.create(paused=False)
        wait_until(lambda: service.state(running)["step"] > 100, "it runs")
    with serving(tmp_path) as service:
        listed = service.http.get("/sessions").json()["items"]
        assert [(one["id"], one["state"]) for one in listed] == [
            (session, "stored"),
            (running, "stored"),
        ]
        assert listed[0]["name"] == "mine"
        assert listed[0]["step"] == 600
        assert listed[0]["time"] == pytest.approx(0.6)
        assert listed[0]["total_steps"] == 3000
        assert service.http.get(f"/sessions/{session}/scene").json()["name"] == "bench"
        assert service.http.get(f"/sessions/{session}/commands").json()["items"] == log
        problem = service.http.get(f"/sessions/{gone}")
        assert problem.status_code == 410
        assert problem.json()["reason"] == "deleted"
        assert problem.json()["closed_at"] > listed[0]["created_at"]
        with pytest.raises(ConnectionClosed) as closed, service.watch(gone):
            pass
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4410
        # the same request is answered with the session it made
        again = service.http.post("/sessions", json=body, headers=key)
        assert again.json()["id"] == session
        with service.watch(session) as viewer:
            assert viewer.welcome["body_names"] == ["floor", "box", "rod"]
            assert (viewer.welcome["step"], viewer.welcome["state"]) == (600, "paused")
        state = service.http.get(f"/sessions/{session}/state").json()
        assert state["state_hash"] == before["state_hash"]
        assert hash_at_the_end(service.http, session) == expected
        assert service.http.get(f"/sessions/{session}/snapshots").json()["items"] == [kept]
        back = service.http.post(f"/sessions/{session}:restore", json={"snapshot": kept["id"]})
        assert (back.json()["step"], back.json()["epoch"]) == (600, 1)
        assert hash_at_the_end(service.http, session) == expected
        # what ran goes on when somebody looks
        step = service.state(running)["step"]
        with service.watch(running) as viewer:
            viewer.subscribe()
            viewer.frame(lambda frame: frame.header.step > step + 50)


def test_sessions_survive_a_killed_service(own_server: Server, expected: str):
    own_server.start()
    with own_server.client() as client:
        client.base_url = own_server.url + "/v1"
        session = client.post("/sessions", json={"scene": SHORT}).json()["id"]
        commands: list[dict[str, Any]] = [
            {"op": "step", "n": 300},
            {"op": "set_motor", "joint": "pivot", "target": 3.0},
            {"op": "apply_impulse", "body": "box", "impulse": [0.4, 0.1, 1.0]},
            {"op": "step", "n": 200},
            {"op": "grab", "body": "box", "point": [0, 0, 0.1]},
            {"op": "grab_move", "target": [0.2, 0.3, 0.8]},
            {"op": "step", "n": 100},
            {"op": "release"},
            {"op": "gravity", "value": [0, 0, -5]},
        ]
        for number, command in enumerate(commands):
            client.post(f"/sessions/{session}/commands", json=command).raise_for_status()
            if number % 3 == 2:
                own_server.kill()
                own_server.start()
                client.base_url = own_server.url + "/v1"
                listed = client.get("/sessions").json()["items"]
                assert [(one["id"], one["state"]) for one in listed] == [(session, "stored")]
        log = client.get(f"/sessions/{session}/commands").json()["items"]
        assert [one["op"] for one in log] == [command["op"] for command in commands]
        assert client.get(f"/sessions/{session}/state").json()["step"] == 600
        assert hash_at_the_end(client, session) == expected


def test_any_step_of_the_past_has_the_bits_it_had(tmp_path: Path):
    """Impulses, a motor, a grab and contacts on the way; steps asked for in any order."""
    with serving(tmp_path, watch=OFTEN) as service:
        session = service.create(SHORT)
        seen: dict[int, dict[str, Any]] = {}

        def look() -> None:
            state = service.http.get(f"/sessions/{session}/state").json()
            seen[state["step"]] = state

        look()
        with service.watch(session) as viewer:
            for _ in range(4):
                viewer.do("step", n=53)
                look()
            steer(viewer)
            look()
            for n in (1, 1, 1, 200):
                viewer.do("step", n=n)
                look()
            viewer.do("resume")
            viewer.do("speed", factor=None)
            wait_until(lambda: service.state(session)["step"] > 1500, "it runs")
            viewer.do("pause")
            look()
        order = list(seen) * 2
        random.Random(3).shuffle(order)
        for step in order:
            found = service.http.get(f"/sessions/{session}/frames/{step}").json()
            now = seen[step]
            assert found["state_hash"] == now["state_hash"], step
            for part in ("poses", "velocities", "energy", "momentum", "asleep"):
                assert found[part] == now[part], (step, part)
            if step > 0:
                assert found["contacts"] == now["contacts"], step
        assert any(state["contacts"] for state in seen.values())
        last = max(seen)
        answer = service.http.get(f"/sessions/{session}/frames/{last + 1}")
        assert (answer.status_code, answer.json()["code"]) == (422, "step_out_of_range")
        assert str(last) in answer.json()["errors"][0]["hint"]
        # one by one backwards, as the page does
        hashes = {}
        for step in range(last, last - 20, -1):
            hashes[step] = service.http.get(f"/sessions/{session}/frames/{step}").json()
            assert hashes[step]["step"] == step
        service.http.post(f"/sessions/{session}:reset").raise_for_status()
        assert service.http.get(f"/sessions/{session}/frames/{last}").status_code == 422
        found = service.http.get(f"/sessions/{session}/frames/0").json()
        assert found["state_hash"] == seen[0]["state_hash"]


def test_an_exact_seek_shows_the_step_with_its_contacts(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.do("step", n=500)
        viewer.subscribe(poses={}, contacts={})
        shown = viewer.do("seek", step=123)
        assert shown["exact"] is (shown["shown_step"] == 123)
        count = len(viewer.frames)
        shown = viewer.do("seek", step=123, exact=True)
        assert (shown["shown_step"], shown["exact"]) == (123, True)
        frame = viewer.view(lambda f: f.header.step == 123 and len(viewer.frames) > count)
        assert len(frame.blocks[BlockTag.CONTACTS]) > 0
        answer = service.http.get(
            f"/sessions/{session}/frames/123", headers={"Accept": "application/octet-stream"}
        )
        binary = decode_frame(answer.content)
        same = frame.blocks[BlockTag.POSES] == binary.blocks[BlockTag.POSES]
        assert same.all()
        viewer.subscribe(friction={})
        viewer.do("seek", step=123, exact=True)
        frame = viewer.view(lambda f: f.header.step == 123 and BlockTag.FRICTION in f.blocks)
        friction, contacts = frame.blocks[BlockTag.FRICTION], frame.blocks[BlockTag.CONTACTS]
        size = np.sqrt(friction["fx"] ** 2 + friction["fy"] ** 2 + friction["fz"] ** 2)
        np.testing.assert_allclose(size, contacts["friction_force"], rtol=1e-5, atol=1e-6)
        assert (size <= friction["mu"] * contacts["normal_force"] * (1 + 1e-5) + 1e-6).all()
        refused = viewer.do("seek", step=501, exact=True)
        assert refused["problem"]["code"] == "step_out_of_range"


def test_a_later_seek_replaces_one_that_is_not_answered(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.do("step", n=20_000)
        viewer.send({"op": "seek", "step": 19_999, "exact": True, "id": "first"})
        viewer.send({"op": "seek", "step": 10, "exact": True, "id": "second"})
        assert viewer.message(id="first")["problem"]["code"] == "superseded"
        assert viewer.message(id="second")["shown_step"] == 10


def test_a_fork_goes_on_from_exactly_that_state(service: Service, expected: str):
    session = service.create(SHORT)
    with service.watch(session) as viewer:
        steer(viewer)
        there = service.http.get(f"/sessions/{session}/state").json()
        viewer.do("step", n=500)
        viewer.do("set_velocity", body="box", linear=[9, 9, 9])
        viewer.do("step", n=100)
    key = {"Idempotency-Key": "fork"}
    made = service.http.post(f"/sessions/{session}:fork", json={"step": 600}, headers=key)
    assert made.status_code == 201, made.text
    fork = made.json()
    assert made.headers["location"] == f"/v1/sessions/{fork['id']}"
    assert fork["forked_from"] == {
        "session": session,
        "epoch": 0,
        "step": 600,
        "time": pytest.approx(0.6),
    }
    assert fork["history"]["from_step"] == 600
    again = service.http.post(f"/sessions/{session}:fork", json={"step": 600}, headers=key)
    assert again.json()["id"] == fork["id"]
    state = service.http.get(f"/sessions/{fork['id']}/state").json()
    assert state["state_hash"] == there["state_hash"]
    assert hash_at_the_end(service.http, fork["id"]) == expected
    assert service.state(session)["step"] == 1200
    # by time, and of now
    other = service.http.post(f"/sessions/{session}:fork", json={"time": 0.0304, "name": "b"})
    assert (other.json()["step"], other.json()["name"]) == (30, "b")
    # without a body, a key names the request as well
    bare = {"Idempotency-Key": "fork of now"}
    now, same = (
        service.http.post(f"/sessions/{session}:fork", headers=bare).json() for _ in range(2)
    )
    assert same["id"] == now["id"]
    mine, its = (
        service.http.get(f"/sessions/{one}/state").json()["state_hash"]
        for one in (session, now["id"])
    )
    assert mine == its
    service.http.post(f"/sessions/{now['id']}:reset").raise_for_status()
    assert service.state(now["id"])["step"] == 0
    for body in ({"step": 1201}, {"step": 1, "time": 1.0}, {"stop": 1}):
        assert service.http.post(f"/sessions/{session}:fork", json=body).status_code == 422
    for one in (session, fork["id"], other.json()["id"], now["id"]):
        service.http.delete(f"/sessions/{one}")


def test_a_command_is_done_once_when_the_worker_dies_at_any_moment(tmp_path: Path, expected: str):
    with serving(tmp_path, watch=OFTEN) as service:
        session = service.create(SHORT)
        chance = random.Random(11)
        with service.watch(session) as viewer:
            plain_do = viewer.do

            def do(op: str, **arguments: Any) -> dict[str, Any]:
                kill = chance.random() < 0.5
                if kill and service.sessions.get(session).worker_pid:
                    os.kill(service.pid(session), signal.SIGKILL)
                return plain_do(op, **arguments)

            viewer.do = do  # type: ignore[method-assign]
            steer(viewer)
        log = service.http.get(f"/sessions/{session}/commands").json()["items"]
        assert [one["number"] for one in log] == list(range(1, 10))
        assert hash_at_the_end(service.http, session) == expected


def test_a_session_whose_files_are_gone_says_so(service: Service, session: str):
    service.http.post(f"/sessions/{session}:step", json={"n": 10})
    shutil.rmtree(service.sessions.get(session).folder.path)
    for answer in (
        service.http.get(f"/sessions/{session}/scene"),
        service.http.post(f"/sessions/{session}:fork", json={}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "session_unusable"), answer.text
    # it lives, and ends, as it did
    assert service.http.post(f"/sessions/{session}:step", json={"n": 10}).status_code == 200
    assert service.http.delete(f"/sessions/{session}").status_code == 204


def test_a_session_whose_client_left_before_it_began_ends(tmp_path: Path):
    body = orjson.dumps({"scene": "pile"})
    head = (
        f"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n"
    )
    closed = tmp_path / "sessions" / "closed.json"
    with serving(tmp_path) as service:

        def begun(sessions: int) -> bool:
            return len(service.sessions.all()) == sessions

        # who has a key can ask again
        for number, more in enumerate(("Idempotency-Key: again\r\n\r\n", "\r\n")):
            spare = wait_until(lambda: service.sessions.spare.pid, "a spare worker")
            os.kill(spare, signal.SIGSTOP)
            with socket.create_connection(("127.0.0.1", service.port)) as client:
                client.sendall(f"{head}{more}".encode() + body)
                wait_until(partial(begun, number + 1), "a session that starts")
            os.kill(spare, signal.SIGCONT)
        wait_until(lambda: closed.exists() and b'"deleted"' in closed.read_bytes(), "an end", 30.0)
        key = {"Idempotency-Key": "again", "Content-Type": "application/json"}

        def answered() -> httpx.Response | None:
            answer = service.http.post("/sessions", content=body, headers=key)
            # the first request may still be on its way to its session
            return None if answer.status_code == 409 else answer

        found = wait_until(answered, "an answer to the key")
        assert found.headers.get("idempotency-replayed") == "true", found.text
        alive = service.http.get("/sessions").json()["items"]
        assert [one["id"] for one in alive] == [found.json()["id"]]


def test_a_bundle_is_computed_again_to_the_same_bits(service: Service):
    session = service.create(SHORT)
    with service.watch(session) as viewer:
        steer(viewer)
        viewer.do("reset")
        steer(viewer)
        viewer.do("step", n=77)
    step = service.state(session)["step"]
    wait_until(
        lambda: (1, step) in service.sessions.get(session).folder.key_moments(), "a key frame"
    )
    expected = service.http.get(f"/sessions/{session}/state").json()["state_hash"]
    answer = service.http.get(f"/sessions/{session}/bundle")
    assert answer.headers["content-type"] == "application/zip"
    found = replay(answer.content)
    assert (found.step, found.state_hash, found.kept_hash) == (step, expected, expected)
    with pytest.raises(FolderError, match="no bundle"):
        replay(answer.content[:-200])
    service.http.delete(f"/sessions/{session}")


def test_the_process_of_the_past_is_replaced_when_it_dies(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.do("step", n=50)
    first = service.http.get(f"/sessions/{session}/frames/20").json()
    live = service.pid(session)
    past = [
        process
        for process in psutil.Process(psutil.Process(live).ppid()).children()
        if process.nice() > psutil.Process(live).nice()
    ]
    assert past
    for process in past:
        process.kill()
    again = service.http.get(f"/sessions/{session}/frames/20").json()
    assert again["state_hash"] == first["state_hash"]
    assert service.pid(session) == live


def test_a_session_of_another_engine_says_so(tmp_path: Path):
    with serving(tmp_path) as service:
        damaged, session = service.create(), service.create()
        service.http.post(f"/sessions/{session}:step").raise_for_status()
    for key in (tmp_path / "sessions" / session / "keys").iterdir():
        data = key.read_bytes()
        content = unsealed(data)
        assert content is not None
        at = content.index(b"engine ") + len(b"engine ")
        key.write_bytes(sealed(content[:at] + b"0123456789abcdef" + content[at + 16 :]))
    (tmp_path / "sessions" / "rubbish").mkdir()
    (tmp_path / "sessions" / damaged / "scene.json").unlink()
    with serving(tmp_path) as service:
        gone = service.http.get(f"/sessions/{damaged}")
        assert (gone.status_code, gone.json()["reason"]) == (410, "damaged")
        assert "scene.json" in gone.json()["detail"]
        assert service.state(session)["state"] == "stored"
        answer = service.http.post(f"/sessions/{session}:resume")
        assert answer.status_code == 409
        found = service.state(session)
        assert (found["state"], found["failure"]["code"]) == ("failed", "session_unusable")
        assert "engine" in found["failure"]["detail"]
        assert service.http.get(f"/sessions/{session}/scene").status_code == 200
        assert service.http.delete(f"/sessions/{session}").status_code == 204
    assert sorted(path.name for path in (tmp_path / "sessions").iterdir()) == sorted(
        ["closed.json", damaged]
    )
