"""The threats of docs/security.md, one test each, against a server with keys."""

import hashlib
import json
import re
import socket
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from cardan.service.keys import COOKIE_SECONDS, Key, KeyTextError, find_cookie, parse_key
from tests.service.real_server import DROP, ROOT, Server, long_scene, wait_for

pytestmark = pytest.mark.e2e

OWNER, READER, POOR = "an-owner-of-everything", "a-reader-of-everything", "a-key-with-a-quota-x"
SECRETS = {"alice": "alice-has-sixteen-or-more", "bob": "bob-has-sixteen-or-more-too"}
PROTOCOLS = [Subprotocol("cardan.v1")]


def hashed(name, scopes, secret):
    return f"{name}:{scopes}:sha256:{hashlib.sha256(secret.encode()).hexdigest()}"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server with keys, short times and small quotas."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "keys").write_text(
        f"# kept as digests\n{hashed('reader', 'read+admin', READER)}\n"
        f"{hashed('poor', 'all', POOR)}\n"
        + "".join(f"{hashed(name, 'read+compute+write', SECRETS[name])}\n" for name in SECRETS)
    )
    server = Server(
        folder / "data",
        {
            "CARDAN_WORKERS": "1",
            "CARDAN_API_KEY": OWNER,
            "CARDAN_API_KEY_FILE": str(folder / "keys"),
            "CARDAN_REQUESTS_PER_MINUTE": "400",
            "CARDAN_RUNS_PER_HOUR": "40",
            "CARDAN_SESSIONS_PER_KEY": "2",
            "CARDAN_MAX_TIMEOUT_S": "100",
            "CARDAN_REQUEST_S": "0.5",
            "CARDAN_BODY_S": "0.5",
            "CARDAN_LOG_FORMAT": "json",
            "CARDAN_LOG_LEVEL": "info",
        },
    ).start()
    yield server
    server.stop()


def client_of(server, key):
    return server.client(headers={"Authorization": f"Bearer {key}"})


@pytest.fixture
def owner(guarded):
    with client_of(guarded, OWNER) as client:
        yield client


@pytest.fixture
def reader(guarded):
    with client_of(guarded, READER) as client:
        yield client


@pytest.fixture
def session(owner):
    info = owner.post("/v1/sessions", json={"scene": DROP}).json()
    yield info
    owner.delete(info["links"]["self"])


def stream_of(server, path, **more):
    return connect(server.url.replace("http", "ws") + path, subprotocols=PROTOCOLS, **more)


def refusal(answer, status, code):
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_requests_need_a_key(guarded):
    with guarded.client() as stranger:
        for path in ("/v1/limits", "/v1/simulations", "/metrics"):
            refusal(stranger.get(path), 401, "unauthorized")
        assert stranger.get("/healthz").status_code == 200
        document = stranger.get("/openapi.json").json()
    assert set(document["components"]["securitySchemes"]) == {"bearer", "cookie"}
    create = document["paths"]["/v1/simulations"]["post"]
    assert create["security"]
    assert "401" in create["responses"]
    with client_of(guarded, OWNER + "x") as wrong:
        refusal(wrong.get("/v1/limits"), 401, "unauthorized")


def test_a_hashed_key_works_and_its_digest_does_not(guarded, reader):
    assert reader.get("/v1/limits").status_code == 200
    with client_of(guarded, hashlib.sha256(READER.encode()).hexdigest()) as thief:
        refusal(thief.get("/v1/limits"), 401, "unauthorized")


def test_scopes_hold(reader, owner, session):
    refusal(reader.post("/v1/simulations", json=DROP), 403, "scope_missing")
    refusal(reader.post("/v1/scenes:validate", json=DROP), 403, "scope_missing")
    refusal(reader.delete(session["links"]["self"]), 403, "scope_missing")
    refusal(reader.get("/metrics"), 403, "scope_missing")
    assert reader.get(session["links"]["self"]).status_code == 200
    assert owner.get("/metrics").status_code == 200
    # a verb that no release has had yet is a change, too
    refusal(reader.post(f"{session['links']['self']}:anything"), 403, "scope_missing")


def test_a_reader_may_watch_and_not_command(guarded, reader, session):
    ticket = reader.post(f"{session['links']['self']}/stream-tickets").json()
    with stream_of(guarded, ticket["url"]) as stream:
        stream.send(json.dumps({"op": "hello"}))
        assert json.loads(stream.recv(timeout=20))["op"] == "welcome"
        stream.send(json.dumps({"op": "resume", "id": "1"}))
        said = json.loads(stream.recv(timeout=20))
        assert (said["op"], said["problem"]["code"]) == ("error", "scope_missing")
        stream.send(json.dumps({"op": "live", "id": "2"}))
        assert json.loads(stream.recv(timeout=20))["op"] == "result"


def test_a_ticket_opens_one_connection_to_one_session(guarded, owner, session):
    other = owner.post("/v1/sessions", json={"scene": DROP}).json()
    path = session["links"]["stream"]
    with pytest.raises(InvalidStatus):
        stream_of(guarded, path)
    ticket = owner.post(f"{session['links']['self']}/stream-tickets").json()
    with pytest.raises(InvalidStatus):
        stream_of(guarded, ticket["url"].replace(session["id"], other["id"]))
    ticket = owner.post(f"{session['links']['self']}/stream-tickets").json()
    with stream_of(guarded, ticket["url"]):
        pass
    with pytest.raises(InvalidStatus):
        stream_of(guarded, ticket["url"])
    owner.delete(other["links"]["self"])


def test_the_cookie_is_not_the_key(guarded):
    with guarded.client() as browser:
        answer = browser.get("/", params={"key": OWNER})
        assert answer.status_code == 303
        cookie = answer.cookies["cardan_key"]
        assert OWNER not in cookie
        assert hashlib.sha256(OWNER.encode()).hexdigest() not in cookie
        assert browser.get("/v1/limits").status_code == 200
    key, other = parse_key(OWNER), parse_key(POOR)
    text = key.cookie(1000.0)
    assert find_cookie(text, [other, key], 1001.0) is key
    assert find_cookie(text, [other], 1001.0) is None
    assert find_cookie(text, [key], 1000.0 + COOKIE_SECONDS) is None
    name, expires, mac = text.split(":")
    later = f"{name}:{int(expires) + 9}:{mac}"
    assert find_cookie(later, [key], 1001.0) is None
    assert find_cookie("", [key], 0.0) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("short", "16 characters"),
        ("ada:read:sha256:12", "64 hex digits"),
        (hashed("ada", "fly", "x"), "no scope 'fly'"),
    ],
)
def test_keys_that_are_none_are_refused_without_being_repeated(text, words):
    with pytest.raises(KeyTextError, match=words):
        parse_key(text)
    assert parse_key(hashed("ada", "read+write", "x")).scopes == {"read", "write"}
    assert isinstance(parse_key("a-secret-of-some-length"), Key)


def test_workers_have_no_key(guarded, owner):
    where = owner.post("/v1/simulations", json=long_scene()).json()["links"]["self"]
    wait_for(lambda: owner.get(where).json()["status"] == "running", what="the run")
    for pid in descendants(guarded.process.pid):
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        assert OWNER.encode() not in environment
        assert b"CARDAN_API_KEY" not in environment
    owner.post(f"{where}:cancel")


def descendants(pid):
    """Process ids of all processes below one."""
    found, parents = [], {pid}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found.append((int(path.parent.name), int(fields[1])))
    for _ in range(5):
        parents |= {child for child, parent in found if parent in parents}
    assert len(parents) > 2
    return parents - {pid}


def address(server):
    url = httpx.URL(server.url)
    return url.host, url.port


def test_half_open_connections_are_closed(guarded):
    silent = [socket.create_connection(address(guarded), timeout=20) for _ in range(50)]
    slow = socket.create_connection(address(guarded), timeout=20)
    slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ")
    for one in [*silent, slow]:
        assert one.recv(100).startswith(b"HTTP/1.1 408")
        assert one.recv(100) == b""
        one.close()
    # a second request on a kept connection has the same time
    kept = socket.create_connection(address(guarded), timeout=20)
    kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert kept.recv(10_000).startswith(b"HTTP/1.1 200")
    kept.sendall(b"GET /healthz HT")
    rest = b"".join(iter(lambda: kept.recv(10_000), b""))
    assert b"HTTP/1.1 408" in rest
    kept.close()


def test_a_body_that_stalls_is_refused(guarded):
    with socket.create_connection(address(guarded), timeout=20) as one:
        one.sendall(
            b"POST /v1/simulations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
            b"Content-Type: application/json\r\nAuthorization: Bearer " + OWNER.encode()
            + b'\r\n\r\n{"scene": '
        )  # fmt: skip
        answer = b"".join(iter(lambda: one.recv(10_000), b""))
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"body_too_slow" in answer


def test_a_timeout_has_a_limit(owner):
    answer = owner.post("/v1/simulations", json={"scene": DROP, "timeout_s": 101.0})
    refusal(answer, 422, "invalid_request")
    assert answer.json()["errors"][0]["pointer"] == "/timeout_s"
    ask = {"scene": DROP, "variations": {"/bodies/1/mass": [1.0]}, "timeout_s": 1e9}
    assert owner.post("/v1/batches", json=ask).json()["errors"][0]["pointer"] == "/timeout_s"


def test_quotas_are_per_key_and_say_what_is_left(guarded, owner):
    with client_of(guarded, POOR) as poor:
        ask = {"scene": DROP, "variations": {"/bodies/1/mass": [1.0] * 41}}
        answer = poor.post("/v1/batches", json=ask)
        refusal(answer, 429, "quota_exceeded")
        assert answer.headers["ratelimit-policy"] == '"runs";q=40;w=3600'
        assert int(answer.headers["retry-after"]) > 3000
        left = []
        while (answer := poor.get("/v1/version")).status_code == 200:
            (told,) = re.findall(r"r=(\d+)", answer.headers["ratelimit"])
            left.append(int(told))
        refusal(answer, 429, "quota_exceeded")
        assert left == list(range(398, -1, -1))
        assert answer.json()["retryable"]
    assert owner.get("/v1/version").status_code == 200


def test_the_log_leads_from_the_request_to_the_worker(guarded, owner):
    answer = owner.post(
        "/v1/simulations", json=DROP, headers={"X-Request-Id": "from-a-test", "Prefer": "wait=30"}
    )
    run = answer.json()["id"]

    def lines():
        told = [json.loads(line) for line in list(guarded.errors) if line.startswith("{")]
        mine = [line for line in told if line.get("run") == run]
        return mine if len(mine) >= 3 else None

    queued, begun, ended = wait_for(lines, what="three lines about the run")[:3]
    assert queued["request"] == "from-a-test"
    assert begun["worker"] == ended["worker"]
    assert begun["worker"] in descendants(guarded.process.pid)
    assert "succeeded" in ended["message"]
    assert not any(OWNER in line or READER in line for line in guarded.errors)


def test_every_test_that_the_document_names_exists():
    text = (ROOT / "docs/security.md").read_text()
    names = re.findall(r"`(?:([\w/]+\.py)::)?(test_\w+)`", text)
    assert len(names) > 12
    for file, name in names:
        path = ROOT / "tests/service" / (file or "test_security.py")
        assert f"def {name}(" in path.read_text(), name


def test_metrics_count_what_happened(owner):
    before = figures(owner)
    owner.post("/v1/simulations", json=DROP, headers={"Prefer": "wait=30"})
    after = figures(owner)
    for name in (
        'cardan_runs_total{event="succeeded"}',
        "cardan_step_seconds_count",
        "cardan_claim_to_start_seconds_count",
        "cardan_queued_seconds_count",
        "cardan_real_time_factor_count",
        'cardan_request_seconds_count{method="POST",status="2xx"}',
    ):
        assert after[name] == before.get(name, 0.0) + 1.0, name
    assert after['cardan_runs_present{state="succeeded"}'] >= 1.0
    assert after["cardan_loop_lag_seconds_count"] > 0.0


def figures(client):
    """Samples by name with labels."""
    lines = client.get("/metrics").text.splitlines()
    pairs = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


@pytest.fixture
def alice(guarded):
    with client_of(guarded, SECRETS["alice"]) as client:
        yield client


@pytest.fixture
def bob(guarded):
    with client_of(guarded, SECRETS["bob"]) as client:
        yield client


STUDY = {
    "scene": DROP,
    "variables": [{"pointers": ["/bodies/1/mass"], "lower": 1.0, "upper": 2.0}],
    "objective": {"type": "metric", "metric": "energy.final"},
    "max_evaluations": 3,
}
MADE = {
    "simulations": {"scene": DROP},
    "batches": {"scene": DROP, "variations": {"/bodies/1/mass": [1.0, 2.0]}},
    "studies": STUDY,
    "sessions": {"scene": DROP},
}


@pytest.mark.parametrize("kind", list(MADE))
def test_a_key_sees_and_changes_only_what_it_made(guarded, owner, reader, alice, bob, kind):
    made = alice.post(f"/v1/{kind}", json=MADE[kind], headers={"Prefer": "wait=30"}).json()
    url = made["links"]["self"]
    ids = lambda client: [one["id"] for one in client.get(f"/v1/{kind}").json()["items"]]  # noqa: E731
    assert alice.get(url).json()["id"] == made["id"]
    assert made["id"] in ids(alice)
    unknown = bob.get(f"/v1/{kind}/nothing-of-this-name")
    for answer in (
        bob.get(url),
        bob.delete(url),
        bob.post(f"{url}:cancel"),
        bob.get(f"{url}/events"),
        bob.post(f"{url}/stream-tickets"),
        *(bob.get(link) for link in made["links"].values()),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, unknown.json()["code"])
    assert made["id"] not in ids(bob)
    # `admin` sees everything, and changes it if it may write
    assert made["id"] in ids(reader)
    assert reader.get(url).status_code == 200
    refusal(reader.delete(url), 403, "scope_missing")
    if kind in ("batches", "studies"):
        runs = alice.get(f"{made['links'].get('batch', url)}/runs").json()["items"]
        assert alice.get(runs[0]["links"]["summary"]).status_code == 200
        assert bob.get(runs[0]["links"]["summary"]).status_code == 404
    if kind == "sessions":
        headers = {"Authorization": f"Bearer {SECRETS['bob']}"}
        with pytest.raises(InvalidStatus) as caught:
            stream_of(guarded, made["links"]["stream"], additional_headers=headers)
        assert caught.value.response.status_code == 403
    assert owner.delete(url).status_code == 204


def test_an_idempotency_key_of_another_key_is_another(alice, bob):
    headers = {"Idempotency-Key": "the-same"}
    first, second = (
        client.post("/v1/simulations", json={"scene": DROP}, headers=headers).json()["id"]
        for client in (alice, bob)
    )
    assert first != second
    assert (
        alice.post("/v1/simulations", json={"scene": DROP}, headers=headers).json()["id"] == first
    )


def test_a_key_has_so_many_sessions(alice, bob):
    made = [alice.post("/v1/sessions", json={"scene": DROP}).json() for _ in range(2)]
    answer = alice.post("/v1/sessions", json={"scene": DROP})
    refusal(answer, 429, "quota_exceeded")
    assert (answer.json()["quota"], answer.json()["limit"]) == ("sessions", 2)
    refusal(alice.post(f"{made[0]['links']['self']}:fork"), 429, "quota_exceeded")
    other = bob.post("/v1/sessions", json={"scene": DROP})
    assert other.status_code == 201
    for info, client in ((made[0], alice), (made[1], alice), (other.json(), bob)):
        assert client.delete(info["links"]["self"]).status_code == 204
