"""The protocol at its edges: resuming, wrong messages, foreign clients, deaf viewers, closing."""

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson
import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from cardan.schemas.frame import FrameFlags, FrameKind
from cardan.service.streams.viewer import Viewer

from .conftest import SCENE, Service

pytestmark = pytest.mark.e2e


def test_a_viewer_that_returns_hears_what_it_missed(service: Service, session: str):
    with service.watch(session, "me") as viewer:
        viewer.subscribe()
        viewer.do("step", n=10)
        seen = viewer.view(lambda f: f.header.step == 10).header
    service.http.post(f"/sessions/{session}:step", json={"n": 7}).raise_for_status()
    resume = {"epoch": seen.epoch, "sequence": seen.sequence}
    with service.watch(session, "me", resume=resume) as viewer:
        assert viewer.welcome["gap"] is False
        assert viewer.message(op="event", type="command", applied_step=10)["command"] == "step"
    service.http.post(f"/sessions/{session}:reset").raise_for_status()
    with service.watch(session, "me", resume=resume) as viewer:
        assert viewer.welcome["gap"] is True
        viewer.subscribe()
        frame = viewer.frame(lambda f: True)
        assert frame.header.flags & FrameFlags.GAP_BEFORE
        assert frame.header.kind is FrameKind.KEY


def test_a_viewer_that_returns_is_told_when_it_does_not_hear_all(service: Service, session: str):
    with service.watch(session, "another") as other:
        other.subscribe()
        with service.watch(session, "me") as viewer:
            viewer.subscribe()
            seen = viewer.frame(lambda f: True).header
        resume = {"epoch": seen.epoch, "sequence": seen.sequence}
        # a speed changes no moment: events are missed, and no frame
        for count, gap in ((10, False), (300, True)):
            for factor in range(count):
                other.do("speed", factor=1.0 + (count + factor) / 10_000)
            with service.watch(session, "me", resume=resume) as viewer:
                assert viewer.welcome["gap"] is gap
    with service.watch(session, "me", resume=resume) as viewer:
        viewer.do("pause")
        numbers = [one["sequence_event"] for one in viewer.messages if one["op"] == "event"]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert len(numbers) > 500


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"op": "grap", "id": "x"}, "command_invalid"),
        ({"op": "grab", "id": "x", "body": "bax", "point": [0, 0, 0]}, "unknown_body"),
        ({"op": "set_motor", "id": "x", "joint": "pivo", "target": 1}, "unknown_joint"),
        ({"op": "step", "id": "x", "n": -1}, "command_invalid"),
        ({"op": "step", "id": "x", "n": 10**6, "sample_every": 1}, "command_invalid"),
        ({"op": "speed", "id": "x", "factor": 0}, "command_invalid"),
        ({"op": "gravity", "id": "x", "value": [0, 0]}, "command_invalid"),
        ({"op": "subscribe", "id": "x", "channels": {"smell": {}}}, "unknown_channel"),
        ({"op": "ack", "id": "x"}, "message_invalid"),
        ({"op": "ack", "id": "x", "sequence": True}, "message_invalid"),
        ({"op": "subscribe", "id": "x", "channels": {"poses": {"hz": 0}}}, "message_invalid"),
        (
            {"op": "subscribe", "id": "x", "channels": {"poses": {"encoding": "f2"}}},
            "message_invalid",
        ),
        (
            {"op": "subscribe", "id": "x", "channels": {"energy": {"encoding": "quantised"}}},
            "message_invalid",
        ),
        ({"op": "subscribe", "id": "x", "channels": []}, "message_invalid"),
        ({"op": [], "id": "x"}, "command_invalid"),
        ({"op": {"a": 1}, "id": "x"}, "command_invalid"),
    ],
)
def test_a_wrong_message_gets_a_problem_and_nothing_else(
    service: Service, session: str, message: dict[str, Any], code: str
):
    with service.watch(session) as viewer:
        viewer.send(message)
        answer = viewer.message(id="x")
        assert answer["op"] == "error"
        assert answer["problem"]["code"] == code
        [fault] = answer["problem"]["errors"]
        assert fault["pointer"].startswith("/")
        assert fault["message"] in answer["problem"]["detail"]
        assert viewer.do("step", n=1)["step"] == 1


def test_an_id_that_is_no_text_is_refused_and_does_not_end_the_connection(
    service: Service, session: str
):
    with service.watch(session) as viewer:
        for deep in ('{"op": "pause", "id": %s}', '{"op": "subscribe", "channels": {}, "id": %s}'):
            before = len(viewer.messages)
            viewer.socket.send(deep % ("[" * 500 + "]" * 500))
            answer = viewer.message(before, op="error")
            assert answer["id"] is None
            assert answer["problem"]["errors"][0]["pointer"] == "/id"
        assert viewer.do("step", n=1)["step"] == 1


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/sessions", {"scene": "no-such-example"}, 422, "scene_invalid"),
        ("/sessions", {"scene": {"version": 1, "bodies": []}}, 422, "scene_invalid"),
        ("/sessions", {"scene": SCENE, "sped": 1}, 422, "invalid_request"),
        ("/sessions", {"scene": SCENE, "overrides": {"/bodies/1/mass": -1}}, 422, "scene_invalid"),
        ("/sessions/ses_none:pause", {}, 404, "session_not_found"),
    ],
)
def test_a_wrong_request_gets_a_problem(
    service: Service, path: str, body: Any, status: int, code: str
):
    answer = service.http.post(path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_scene_the_engine_refuses_is_a_problem_with_pointers(service: Service):
    overrides = {"/simulation/integrator": "dop853"}
    answer = service.http.post("/sessions", json={"scene": SCENE, "overrides": overrides})
    assert answer.status_code == 422
    fault = answer.json()["errors"][0]
    assert fault["pointer"] == "/overrides/~1simulation~1integrator"
    assert fault["message"]


def test_overrides_change_the_scene(service: Service):
    session = service.create(overrides={"/bodies/1/mass": 7.0})
    scene = service.http.get(f"/sessions/{session}/scene").json()
    assert scene["bodies"][1]["mass"] == 7.0
    service.http.delete(f"/sessions/{session}")


def test_another_protocol_is_refused_with_both_versions(service: Service, session: str):
    with (
        connect(service.url(session), subprotocols=[Subprotocol("cardan.v0")]) as socket,
        pytest.raises(ConnectionClosed) as closed,
    ):
        socket.recv(timeout=10)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4400
    assert "cardan.v1" in closed.value.rcvd.reason
    assert "cardan.v0" in closed.value.rcvd.reason


def test_a_foreign_page_is_refused(service: Service, session: str):
    with pytest.raises(InvalidStatus), service.watch(session, origin="https://evil.example"):
        pass
    with service.watch(session, origin=f"http://127.0.0.1:{service.port}") as viewer:
        assert viewer.welcome["session"] == session


def test_an_unknown_session_closes_with_a_reason(service: Service):
    with (
        connect(service.url("ses_none"), subprotocols=[Subprotocol("cardan.v1")]) as socket,
        pytest.raises(ConnectionClosed) as closed,
    ):
        socket.recv(timeout=10)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4404


def test_binary_and_broken_messages_end_the_connection(service: Service, session: str):
    for data in (b"\0\1", "{", "[1]"):
        with service.watch(session) as viewer:
            viewer.socket.send(data)
            with pytest.raises(ConnectionClosed):
                viewer.message(op="never")


def test_a_closed_session_leaves_no_process_and_says_so(service: Service):
    session = service.create()
    process = psutil.Process(service.pid(session))
    with service.watch(session) as viewer:
        assert service.http.delete(f"/sessions/{session}").status_code == 204
        assert not process.is_running()
        viewer.message(op="event", type="state", state="closed")
        with pytest.raises(ConnectionClosed) as closed:
            viewer.message(op="never")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
    assert service.http.get(f"/sessions/{session}").status_code == 410


def test_the_list_comes_in_pages(service: Service):
    names = [service.create() for _ in range(3)]
    seen: list[str] = []
    token = ""
    while True:
        query = f"?page_size=2&page_token={token}"
        page = service.http.get(f"/sessions{query}").json()
        seen += [item["id"] for item in page["items"]]
        token = page["next_page_token"]
        if not token:
            break
    assert [name for name in seen if name in names] == names
    for name in names:
        service.http.delete(f"/sessions/{name}")


def iter_until_closed(socket: ClientConnection) -> Iterator[str | bytes]:
    try:
        while True:
            yield socket.recv(timeout=60)
    except ConnectionClosed:
        return


def test_a_deaf_viewer_is_closed_with_1013(service: Service, session: str):
    with service.watch(session, "deaf", max_queue=1) as deaf, service.watch(session) as viewer:
        viewer.subscribe()
        padding = "x" * 150
        sent = 0
        while any(one.client_id == "deaf" for one in service.sessions.get(session).fanout):
            assert sent < 200_000, "the deaf viewer is still there"
            for _ in range(64):
                viewer.send({"op": "speed", "factor": 1.0 + sent % 2, "id": padding + str(sent)})
                sent += 1
            viewer.message(id=padding + str(sent - 1))
            viewer.messages.clear()
        assert viewer.do("step", n=1)["step"] == 1
        heard = list(iter_until_closed(deaf.socket))
        assert all(orjson.loads(text) for text in heard)
        assert deaf.socket.close_code in (1006, 1013)


def test_a_repeated_request_gets_the_first_session(service: Service):
    def post(text: str, key: str = "the key of a session") -> Any:
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        return service.http.post("/sessions", content=text, headers=headers)

    text = orjson.dumps({"scene": SCENE, "paused": True}).decode()
    first = post(text)
    assert first.status_code == 201
    assert "idempotency-replayed" not in first.headers
    # the same content, written otherwise
    again = post(
        orjson.dumps({"paused": True, "scene": SCENE}, option=orjson.OPT_INDENT_2).decode()
    )
    assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])
    assert again.headers["idempotency-replayed"] == "true"
    other = post(orjson.dumps({"scene": SCENE, "paused": False}).decode())
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    refused = post("{}", "another key")
    assert refused.status_code == 422
    # what created nothing does not hold its key
    assert post(text, "another key").status_code == 201
    service.http.delete(f"/sessions/{first.json()['id']}").raise_for_status()
    gone = post(text)
    assert (gone.status_code, gone.json()["code"]) == (410, "session_closed")


def test_a_flood_of_messages_leaves_the_event_loop_to_others(
    service: Service, session: str, monkeypatch: pytest.MonkeyPatch
):
    """Messages that lie ready together are taken one in a turn of the loop."""
    messages, sent, turn, seen = 2000, threading.Event(), itertools.count(), list[int]()
    now = [0]
    acknowledge = Viewer.acknowledge

    def tick(loop: asyncio.AbstractEventLoop) -> None:
        now[0] = next(turn)
        if len(seen) < messages:
            loop.call_soon(tick, loop)

    def spy(viewer: Viewer, sequence: int) -> None:
        if not seen:
            # until all of them have come
            assert sent.wait(60.0)
            tick(asyncio.get_running_loop())
        seen.append(now[0])
        acknowledge(viewer, sequence)

    monkeypatch.setattr(Viewer, "acknowledge", spy)
    with service.watch(session) as viewer:
        for _ in range(messages):
            viewer.send({"op": "ack", "sequence": 0})
        sent.set()
        viewer.do("live")
    assert len(seen) == messages
    assert max(Counter(seen).values()) <= 2


def test_what_is_wrong_with_the_text_of_a_command_is_no_fault_of_a_scene(
    service: Service, session: str
):
    answer = service.http.post(
        f"/sessions/{session}/commands",
        content=b'{"op": "pause", "op": "resume"}',
        headers={"Content-Type": "application/json"},
    )
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "invalid_request")
    assert problem["detail"].startswith("The request has 1 fault. /op: The field 'op' stands more")
