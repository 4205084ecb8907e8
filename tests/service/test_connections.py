"""What comes over a connection and is no whole request: the answers, and what the log keeps."""

import asyncio
import contextlib
import json
import socket
from typing import Any, cast

import httpx
import psutil
import pytest
from fastapi import FastAPI, WebSocket
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketDisconnect, WebSocketState

from cardan.service.api.stream import Connection
from cardan.service.streams.pace import BURST, MESSAGES_PER_S, MessagePace
from cardan.service.streams.viewer import Viewer
from tests.service.real_server import DROP, Server, wait_for

pytestmark = pytest.mark.e2e

POST = b"POST /v1/scenes:validate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
HEAD_BYTES = MESSAGE_BYTES = 64 * 1024


@pytest.fixture(scope="module")
def noted(tmp_path_factory):
    """A server whose log has every request."""
    environ = {"CARDAN_WORKERS": "1", "CARDAN_LOG_LEVEL": "info", "CARDAN_LOG_FORMAT": "json"}
    server = Server(tmp_path_factory.mktemp("noted") / "data", environ).start()
    yield server
    server.stop()


def connected(server):
    url = httpx.URL(server.url)
    return socket.create_connection((url.host, url.port), timeout=20)


def streaming(server, session):
    """A socket after the handshake of the stream of a session."""
    one = connected(server)
    one.sendall(
        f"GET {session['links']['stream']} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        "Sec-WebSocket-Protocol: cardan.v1\r\n\r\n".encode()
    )
    assert one.recv(65536).startswith(b"HTTP/1.1 101")
    return one


def text_frame(message):
    """A short text of a client, masked with zeros."""
    text = json.dumps(message).encode()
    assert len(text) < 126
    return bytes([0x81, 0x80 | len(text)]) + bytes(4) + text


def answer_to(server, data):
    """All that the server says until it closes the connection: status, headers, body."""
    with connected(server) as one:
        one.sendall(data)
        told = b"".join(iter(lambda: one.recv(65536), b""))
    head, _, body = told.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(status.split()[1]), headers, body


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400, "Missing mandatory Host: header"),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, "illegal request line"),
        (POST + b"Content-Length: +2\r\n\r\n{}", 400, "bad Content-Length"),
        (POST + b"Transfer-Encoding: gzip\r\n\r\n", 501, "Only Transfer-Encoding: chunked"),
        ((POST + b"X: ").ljust(HEAD_BYTES + 1, b"x"), 431, "Receive buffer too long"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "illegal chunk header"),
        (
            POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
            400,
            "by Content-Length and by Transfer-Encoding",
        ),
    ],
)
def test_what_is_no_request_is_refused_with_a_problem(noted, data, status, words):
    found, headers, body = answer_to(noted, data)
    problem = json.loads(body)
    assert (found, problem["status"], problem["code"]) == (status, status, "malformed_request")
    assert words in problem["detail"]
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert len(body) == int(headers["content-length"])


def test_a_whole_url_may_stand_in_place_of_the_path(noted):
    """RFC 9112, 3.2.2; its host counts, and not that of the header."""
    rest = b"Connection: close\r\nHost: evil.example\r\n\r\n"
    for target in (b"http://127.0.0.1/v1/examples/inc%6cine", b"HTTP://localhost:1/healthz?"):
        status, _, body = answer_to(noted, b"GET " + target + b" HTTP/1.1\r\n" + rest)
        assert status == 200, body
    status, headers, _ = answer_to(noted, b"GET http://127.0.0.1?key=x HTTP/1.1\r\n" + rest)
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    named = rest.replace(b"evil.example", b"127.0.0.1")
    for target, code in (
        (b"http://evil.example/healthz", "unknown_host"),
        (b"http://localhost:x@evil.example/healthz", "not_found"),
        (b"ftp://127.0.0.1/healthz", "not_found"),
    ):
        _, _, body = answer_to(noted, b"GET " + target + b" HTTP/1.1\r\n" + named)
        assert json.loads(body)["code"] == code


def test_an_upload_that_is_broken_off_is_no_fault_of_the_service(noted):
    with connected(noted) as one:
        one.sendall(POST + b"X-Request-Id: broken-off\r\nContent-Length: 100\r\n\r\n{")
    with noted.client() as client:
        wait_for(lambda: any("broken-off" in line for line in noted.errors), what="the log")
        assert 'method="POST",status="5xx"' not in client.get("/metrics").text
    (line,) = [json.loads(line) for line in noted.errors if "broken-off" in line]
    assert (line["status"], line["level"]) == (499, "info")
    assert not any(ClientDisconnect.__name__ in line for line in noted.errors)


def test_the_refusal_of_a_handshake_says_why(noted):
    handshake = (
        "GET /v1/sessions/any/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nOrigin: http://evil.example\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    status, headers, body = answer_to(noted, handshake.encode())
    problem = json.loads(body)
    assert (status, problem["code"]) == (403, "foreign_origin")
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-request-id"] == problem["request_id"]
    line = wait_for(
        lambda: next((line for line in noted.errors if problem["request_id"] in line), None)
    )
    assert json.loads(line)["status"] == 403
    assert not any("without completing handshake" in line for line in noted.errors)


@pytest.mark.parametrize("parts", [[b"\xff\xfe"], [b'{"op": "\xd0', b'"}'], [b"\xc3", b""]])
def test_a_text_that_is_no_utf_8_closes_its_socket_and_is_no_fault_of_the_service(noted, parts):
    with noted.client() as client:
        session = client.post("/v1/sessions", json={"scene": DROP, "paused": True}).json()
        with streaming(noted, session) as one:
            for number, part in enumerate(parts):
                first, last = number == 0, number == len(parts) - 1
                head = bytes([0x80 * last | first, 0x80 | len(part)])
                # what comes behind it is not looked at
                one.sendall(head + bytes(4) + part + (text_frame({"op": "hello"}) if last else b""))
            told = b"".join(iter(lambda: one.recv(65536), b""))
        assert told[:1] == b"\x88"
        assert told[2:] == (1007).to_bytes(2, "big") + b"a text must be UTF-8"
        client.delete(session["links"]["self"])
    assert not any("Traceback" in line or "UTF-8" in line for line in noted.errors)


def test_unfinished_messages_of_viewers_take_no_memory(noted):
    """Of each connection as much as one message may have, and the viewer hears of the limit."""
    with noted.client() as client:
        session = client.post("/v1/sessions", json={"scene": DROP}).json()
        process = psutil.Process(noted.process.pid)
        before = process.memory_info().rss
        told, opened = [], []
        size = 8 * 2**20
        for _ in range(10):
            one = streaming(noted, session)
            # a text of 8 MiB, masked with zeros, that lacks its end
            head = b"\x81\xff" + size.to_bytes(8, "big") + bytes(4)
            try:
                one.sendall(head + bytes(size - 1))
                told.append(one.recv(65536))
            except ConnectionError:
                told.append(b"")
            opened.append(one)
        grown = process.memory_info().rss - before
        for one in opened:
            one.close()
        client.delete(session["links"]["self"])
    assert grown < 5 * size
    # a reset may overtake the words
    for words in filter(None, told):
        assert words[2:4] == (1009).to_bytes(2, "big")
        assert f"{size} bytes exceeds limit of {MESSAGE_BYTES} bytes" in words.decode("latin-1")


def test_a_viewer_whose_connection_the_server_has_just_closed_has_left():
    """Between a frame that breaks the protocol and the news of it, something may be sent."""
    viewer = Viewer("me", lambda: 0.0)
    viewer.push({"op": "event"})

    async def closed(message):
        raise RuntimeError(f"Unexpected ASGI message {message['type']!r}")

    async def nothing():
        raise AssertionError("nothing is received")

    socket = WebSocket({"type": "websocket", "app": FastAPI()}, nothing, closed)
    socket.application_state = WebSocketState.CONNECTED
    socket.app.state.sessions = None
    with pytest.raises(WebSocketDisconnect):
        asyncio.run(Connection(socket, cast(Any, None), viewer).send())


def test_a_client_may_send_so_many_messages_and_waits_then():
    now = 100.0
    pace = MessagePace(lambda: now)
    # what comes at once, and a second of it later
    for _ in range(2):
        assert max(pace.take() for _ in range(BURST)) == pytest.approx(0.0, abs=1e-9)
        assert pace.take() == pytest.approx(1.0 / MESSAGES_PER_S)
        now += BURST / MESSAGES_PER_S + 1.0 / MESSAGES_PER_S
    # a pause fills the bucket, and no more than that
    now += 1000.0
    assert max(pace.take() for _ in range(BURST)) == pytest.approx(0.0, abs=1e-9)
    # whoever does not wait falls behind by as much as it sends
    waits = [pace.take() for _ in range(10)]
    assert waits == pytest.approx([k / MESSAGES_PER_S for k in range(1, 11)])


def test_a_client_that_floods_is_read_slowly(noted):
    """Behind what buffers hold its messages wait on its side."""
    with noted.client() as client:
        session = client.post("/v1/sessions", json={"scene": DROP, "paused": True}).json()
        with streaming(noted, session) as one:
            one.settimeout(1.0)
            one.sendall(text_frame({"op": "hello"}))
            flood = text_frame({"op": "ack", "sequence": 1}) * 1000
            # what is read in a quarter of an hour; a million may lie in buffers on the way
            much = 1000 * MESSAGES_PER_S * len(flood) / 1000
            taken = 0
            with contextlib.suppress(TimeoutError):
                while taken < much:
                    taken += one.send(flood)
            assert taken < much / 2
        client.delete(session["links"]["self"])
