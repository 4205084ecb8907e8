"""Traces of a real service, sent to a collector of this test by the OTLP protocol itself."""

import gzip
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cardan.service import tracing
from cardan.service.settings import SettingsError
from tests.service.real_server import DROP, run_to_end

trace_service = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2",
    reason="the extra `telemetry` is not installed",
)

pytestmark = pytest.mark.e2e

KEY = "a-key-in-an-address"
SECRET = "a-token-of-the-collector"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector:
    """What receives traces: the spans of all requests, and the tokens they came with."""

    def __init__(self):
        collector = self
        self.services: set[tuple[str, str]] = set()
        self.spans: list[Any] = []
        self.tokens: set[str | None] = set()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                data = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    data = gzip.decompress(data)
                collector.take(trace_service.ExportTraceServiceRequest.FromString(data))
                collector.tokens.add(self.headers.get("x-token"))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def take(self, request):
        for part in request.resource_spans:
            about = values(part.resource)
            self.services.add((about["service.name"], about["service.version"]))
            self.spans += [span for scope in part.scope_spans for span in scope.spans]

    def named(self, name):
        return [span for span in self.spans if span.name == name]

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def collector():
    made = Collector()
    yield made
    made.close()


def values(owner):
    """Attributes by their names."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in owner.attributes}


def test_a_request_its_run_and_its_worker_are_one_trace(own_server, collector):
    own_server.environ |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_EXPORTER_OTLP_HEADERS": f"x-token={SECRET}",
        "OTEL_SERVICE_NAME": "bench",
    }
    own_server.start()
    with own_server.client() as client:
        headers = {"traceparent": CALLER, "X-Request-Id": "from-the-caller"}
        answer = client.post("/v1/simulations", json={"scene": DROP}, headers=headers)
        info = answer.json()
        ended = client.get(info["links"]["self"], headers={"Prefer": "wait=30"}).json()
        assert ended["status"] == "succeeded"
        batch = {"scene": DROP, "variations": {"/bodies/1/mass": [1.0, 2.0, -1.0]}}
        assert client.post("/v1/batches", json=batch).status_code == 422
        batch["variations"] = {"/bodies/1/mass": [1.0, 2.0]}
        made = client.post("/v1/batches", json=batch, headers={"Prefer": "wait=30"}).json()
        assert made["counts"] == {"succeeded": 2}
        assert client.get("/", params={"key": KEY}).status_code == 200
    # the last spans are sent before the service has ended
    own_server.stop()
    assert {name for name, _ in collector.services} == {"bench"}
    assert collector.tokens == {SECRET}

    assert KEY not in repr(collector.spans)
    (request,) = collector.named("POST /v1/simulations")
    assert request.trace_id.hex() == CALLER.split("-")[1]
    assert request.parent_span_id.hex() == CALLER.split("-")[2]
    told = values(request)
    assert (told["request"], told["http.response.status_code"]) == ("from-the-caller", 202)
    queue, run, worker = (
        next(s for s in collector.named(name) if values(s)["run"] == info["id"])
        for name in ("queue", "run", "worker")
    )
    assert {s.trace_id for s in (queue, run, worker)} == {request.trace_id}
    assert queue.parent_span_id == run.parent_span_id == request.span_id
    assert worker.parent_span_id == run.span_id
    assert values(run)["attempt"] == 1
    assert values(worker)["worker"] > 0
    # one after the other, each as long as it took
    assert request.start_time_unix_nano < queue.start_time_unix_nano
    assert queue.start_time_unix_nano < queue.end_time_unix_nano <= run.start_time_unix_nano
    assert run.start_time_unix_nano <= worker.start_time_unix_nano < worker.end_time_unix_nano
    assert worker.end_time_unix_nano <= run.end_time_unix_nano

    refused, accepted = sorted(
        collector.named("POST /v1/batches"),
        key=lambda span: -values(span)["http.response.status_code"],
    )
    assert refused.trace_id != accepted.trace_id
    runs = [span for span in collector.named("run") if values(span).get("batch") == made["id"]]
    assert [span.trace_id for span in runs] == [accepted.trace_id] * 2
    assert len({values(span)["run"] for span in runs}) == 2


def test_a_run_that_fails_is_a_span_that_failed(own_server, collector):
    own_server.environ |= {
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{collector.url}/v1/traces",
        "CARDAN_RESULT_FILE_BYTES": "1000",
    }
    own_server.start()
    with own_server.client() as client:
        assert run_to_end(client, DROP)["status"] == "failed"
    own_server.stop()
    assert {name for name, _ in collector.services} == {"cardan"}
    spans = [*collector.named("run"), *collector.named("worker")]
    assert [(s.status.code, s.status.message) for s in spans] == [(2, "storage_failed")] * 2


def test_a_session_shows_what_its_users_waited_for(own_server, collector):
    own_server.environ |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    own_server.start()
    with own_server.client() as client:
        headers = {"traceparent": CALLER}
        made = client.post("/v1/sessions", json={"scene": DROP}, headers=headers).json()
        link = made["links"]["self"]
        stepped = client.post(f"{link}:step", json={"n": 20}, headers=headers).json()
        assert stepped["step"] == 20
        unknown = {"op": "break_joint", "joint": "none"}
        assert client.post(f"{link}/commands", json=unknown).status_code == 422
    own_server.stop()

    (request,) = collector.named("POST /v1/sessions")
    (session,) = collector.named("session")
    (picture,) = collector.named("picture")
    assert session.parent_span_id == request.span_id
    assert picture.parent_span_id == session.span_id
    assert {span.trace_id.hex() for span in (session, picture)} == {CALLER.split("-")[1]}
    assert {values(span)["session"] for span in (session, picture)} == {made["id"]}
    assert session.start_time_unix_nano <= picture.start_time_unix_nano
    assert session.end_time_unix_nano <= request.end_time_unix_nano
    # the worker tells when it began; it sends nothing to the collector itself
    below = {span.parent_span_id: span for span in collector.named("worker")}
    built = below[session.span_id]
    assert values(built)["worker"] > 0
    assert session.start_time_unix_nano <= built.start_time_unix_nano
    assert built.end_time_unix_nano <= session.end_time_unix_nano

    commands = {values(span)["command"]: span for span in collector.named("command")}
    assert set(commands) == {"step", "break_joint"}
    step, refused = commands["step"], commands["break_joint"]
    assert step.trace_id.hex() == CALLER.split("-")[1]
    assert (step.status.code, refused.status.code) == (0, 2)
    for command in (step, refused):
        worked = below[command.span_id]
        assert command.start_time_unix_nano <= worked.start_time_unix_nano
        assert worked.end_time_unix_nano <= command.end_time_unix_nano
    assert refused.status.message == "unknown_joint"


def test_a_lost_worker_of_a_session_is_a_recovery(own_server, collector):
    own_server.environ |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    own_server.start()
    with own_server.client() as client:
        made = client.post("/v1/sessions", json={"scene": DROP}).json()
        link = made["links"]["self"]
        own_server.kill()
        own_server.start()
    with own_server.client() as client:
        headers = {"traceparent": CALLER}
        assert client.post(f"{link}:step", json={"n": 1}, headers=headers).json()["step"] == 1
    own_server.stop()
    (recovery,) = collector.named("recovery")
    assert recovery.trace_id.hex() == CALLER.split("-")[1]
    assert recovery.status.code == 0


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_SERVICE_NAME": "named"},
        {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
    ],
)
def test_switched_off_nothing_of_it_is_imported(environ):
    program = """
import os, sys
from cardan.service import app, tracing
tracing.set_up(os.environ)
tracing.note_request("r")
assert tracing.present() is None
assert not tracing.of_requests()["tracing"]
below = tracing.begin("run", None, 0.0, run="r").child("worker")
assert below.context is None
below.end("failed")
assert not [name for name in sys.modules if name.startswith("opentelemetry.sdk")]
"""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("OTEL_")}
    subprocess.run([sys.executable, "-c", program], env=clean | environ, check=True)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER must be otlp or none"),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            },
            "sent as http/protobuf, not 'grpc'",
        ),
    ],
)
def test_what_cannot_be_followed_is_said(environ, said):
    with pytest.raises(SettingsError, match=said):
        tracing.set_up(environ)
