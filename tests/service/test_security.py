"""The threats of docs/security.md, one test each, against a server with keys."""

import hashlib
import json
import re
import socket
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from cardan.service.keys import COOKIE_SECONDS, Key, KeyTextError, find_cookie, parse_key
from tests.service.real_server import DROP, ROOT, Server, long_scene, run_to_end, wait_for

pytestmark = pytest.mark.e2e

OWNER, READER, POOR = "an-owner-of-everything", "a-reader-of-everything", "a-key-with-a-quota-x"
SECRETS = {
    "alice": "alice-has-sixteen-or-more",
    "bob": "bob-has-sixteen-or-more-too",
    "carol": "carol-has-sixteen-or-more",
    "dora": "dora-has-sixteen-or-more",
    "erin": "erin-has-sixteen-or-more",
}
# the drop, for hours, recorded now and then
HOURS = {**DROP, "record": {"every": 1_000_000, "channels": ["pose"]}}
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
            "CARDAN_SIMULATED_S_PER_HOUR": "100000",
            "CARDAN_UNFINISHED_RUNS_PER_KEY": "20",
            "CARDAN_STORED_BYTES_PER_KEY": "2000000",
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


def test_who_opens_the_page_with_a_key_that_is_none_gets_the_page(guarded):
    """It asks for another one; a program is told."""
    with guarded.client() as stranger:
        refusal(stranger.get("/", params={"key": OWNER + "x"}), 401, "unauthorized")
        browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        answer = stranger.get("/", params={"key": OWNER + "x"}, headers=browser)
        page = stranger.get("/")
    assert (answer.status_code, answer.text) == (401, page.text)
    assert "set-cookie" not in answer.headers
    assert answer.headers["content-security-policy"] == page.headers["content-security-policy"]


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


def all_of(connection: socket.socket) -> bytes:
    """What a connection is sent until it is closed."""
    return b"".join(iter(partial(connection.recv, 10_000), b""))


def test_half_open_connections_are_closed(guarded):
    silent = [socket.create_connection(address(guarded), timeout=20) for _ in range(50)]
    slow = socket.create_connection(address(guarded), timeout=20)
    slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ")
    for one in [*silent, slow]:
        said = all_of(one)
        assert said.startswith(b"HTTP/1.1 408")
        assert b'"code":"request_timeout"' in said
        one.close()
    # a second request on a kept connection has the same time
    kept = socket.create_connection(address(guarded), timeout=20)
    kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert kept.recv(10_000).startswith(b"HTTP/1.1 200")
    kept.sendall(b"GET /healthz HT")
    assert b"HTTP/1.1 408" in all_of(kept)
    kept.close()


def test_an_answer_that_nobody_takes_is_given_up(own_server):
    own_server.environ["CARDAN_UNREAD_S"] = "2"
    own_server.start()
    scene = DROP | {"simulation": {"dt": 0.002, "duration": 20.0}}
    scene["record"] = DROP["record"] | {"every": 1}
    with own_server.client() as client:
        where = run_to_end(client, scene)["links"]["trajectory"]
        whole = client.get(where, params={"format": "json"})
        # more than both ends of a socket hold
        assert len(whole.content) > 8_000_000
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(address(own_server))
            deaf.sendall(f"GET {where}?format=json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            mine = deaf.getsockname()[1]

            def stands():
                there = psutil.Process(own_server.process.pid).net_connections("tcp")
                return any(getattr(one.raddr, "port", None) == mine for one in there)

            wait_for(stands, 20, "the connection")
            wait_for(lambda: not stands(), 60, "the end of the connection")
        assert client.get(where, params={"format": "json"}).content == whole.content


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
        # it will never have so many
        refusal(answer, 403, "quota_exceeded")
        assert answer.headers["ratelimit-policy"] == '"runs";q=40;w=3600'
        assert "retry-after" not in answer.headers
        assert not answer.json()["retryable"]
        left = []
        while (answer := poor.get("/v1/version")).status_code == 200:
            (told,) = re.findall(r"r=(\d+)", answer.headers["ratelimit"])
            left.append(int(told))
        refusal(answer, 429, "quota_exceeded")
        assert left == list(range(398, -1, -1))
        assert answer.json()["retryable"]
        assert 0 < int(answer.headers["retry-after"]) <= 60
    assert owner.get("/v1/version").status_code == 200


def quota_of(answer):
    return tuple(answer.json()[name] for name in ("quota", "found", "allowed"))


def batch_of(client, *durations, **more):
    runs = [{"/simulation/duration": duration} for duration in durations]
    return client.post("/v1/batches", json={"scene": HOURS, "runs": runs, "mode": "list", **more})


def test_simulated_time_is_counted_and_what_is_refused_is_not(carol):
    answer = batch_of(carol, 30_000, 30_000, 30_000, 30_000)
    refusal(answer, 403, "quota_exceeded")
    assert quota_of(answer) == ("simulated_s", 120_000, 100_000)
    answer = carol.post("/v1/simulations", json=DROP, headers={"Prefer": "wait=30"})
    policies, left = (answer.headers[f"ratelimit{end}"] for end in ("-policy", ""))
    names = re.findall(r'"(\w+)";q', policies)
    assert names == re.findall(r'"(\w+)";r', left)
    assert names == ["requests", "stored_bytes", "runs", "simulated_s"]
    # four runs of the refused batch were not counted, nor was their time
    assert dict(re.findall(r'"(runs|simulated_s)";r=(\d+)', left)) == {
        "runs": "39",
        "simulated_s": "99999",
    }
    answer = batch_of(carol, *[20_000] * 5)
    refusal(answer, 429, "quota_exceeded")
    assert quota_of(answer) == ("simulated_s", 100_000.2, 100_000)
    assert int(answer.headers["retry-after"]) > 3000


# a second of simulated time is one step
DRIFT = {
    "version": 1,
    "gravity": [0, 0, 0],
    "simulation": {"dt": 1.0, "duration": 900_000},
    "bodies": [{"name": "probe", "mass": 1, "shapes": [{"type": "sphere", "radius": 1}]}],
}


def test_simulated_time_of_sessions_is_counted_and_ends_them_paused(guarded, bob):
    with client_of(guarded, SECRETS["dora"]) as dora:
        made = dora.post("/v1/sessions", json={"scene": DRIFT, "speed": None})
        here = made.json()["links"]["self"]
        assert dora.post(f"{here}:step", json={"n": 10_000}).status_code == 200
        # 100 000 s are allowed, and 10 000 s of them are used
        answer = batch_of(dora, *[18_000] * 5, 1)
        refusal(answer, 429, "quota_exceeded")
        assert quota_of(answer) == ("simulated_s", 100_001, 100_000)
        assert dora.post(f"{here}:resume").status_code == 200
        info = wait_for(lambda: stopped(dora.get(here).json()), what="the pause")
        assert info["time"] > 100_000
        assert info["state"] == "paused"
        for verb in (":resume", ":step"):
            answer = dora.post(here + verb)
            refusal(answer, 429, "quota_exceeded")
            assert answer.json()["quota"] == "simulated_s"
            assert int(answer.headers["retry-after"]) > 3000
        # what does not simulate is not refused
        assert dora.get(f"{here}/state").status_code == 200
        assert dora.post(f"{here}:reset").status_code == 200
        assert dora.delete(here).status_code == 204
    other = bob.post("/v1/sessions", json={"scene": DRIFT}).json()["links"]["self"]
    assert bob.post(f"{other}:step").status_code == 200
    bob.delete(other)


def stopped(info):
    """A session that ran and does not any more."""
    return info if info["state"] != "running" else None


def test_a_key_has_so_many_unfinished_runs(carol):
    answer = batch_of(carol, *[0.1] * 21)
    refusal(answer, 429, "quota_exceeded")
    assert quota_of(answer) == ("unfinished_runs", 21, 20)


def test_what_is_retried_is_counted_as_what_is_new(guarded):
    def cancelled(client, *durations, **more):
        made = batch_of(client, *durations, max_parallel=1, **more)
        here = made.json()["links"]["self"]
        client.post(f"{here}:cancel")
        wait_for(lambda: client.get(here).json()["finished_at"], what="the end of the batch")
        return here

    with client_of(guarded, SECRETS["erin"]) as erin:
        short, long = cancelled(erin, *[500] * 14), cancelled(erin, *[20_000] * 3)
        answer = erin.post(f"{long}:retry-failed")
        refusal(answer, 429, "quota_exceeded")
        assert quota_of(answer) == ("simulated_s", 127_000, 100_000)
        answer = erin.post(f"{short}:retry-failed")
        assert answer.status_code == 202
        left = dict(re.findall(r'"(runs|simulated_s)";r=(\d+)', answer.headers["ratelimit"]))
        assert left == {"runs": "9", "simulated_s": "26000"}
        erin.post(f"{short}:cancel")
        wait_for(lambda: erin.get(short).json()["finished_at"], what="the end of the batch")
        answer = erin.post(f"{short}:retry-failed")
        refusal(answer, 429, "quota_exceeded")
        assert quota_of(answer) == ("runs", 45, 40)


def test_a_key_stores_so_much_and_may_again_when_it_has_deleted(guarded, carol):
    def post(path, **more):
        return carol.post(f"/v1/{path}", json={"scene": DROP, **more})

    wait = {"Prefer": "wait=30"}
    stored = carol.post("/v1/scenes", json=DROP)
    made = carol.post("/v1/simulations", json=DROP, headers=wait).json()
    (recording,) = (guarded.data / "results").glob(f"{made['id']}-*")
    (recording / "more.bin").write_bytes(bytes(2_000_000))
    for answer in (post("simulations"), post("sessions"), batch_of(carol, 0.1)):
        refusal(answer, 403, "quota_exceeded")
        quota, found, allowed = quota_of(answer)
        assert (quota, allowed) == ("stored_bytes", 2_000_000)
        assert found > allowed
    # scenes are stored, too
    refusal(carol.post("/v1/scenes", json=DROP), 403, "quota_exceeded")
    change = {"If-Match": stored.headers["etag"]}
    place = stored.headers["location"]
    refusal(carol.patch(place, json={"name": "b"}, headers=change), 403, "quota_exceeded")
    assert carol.get(place).json() == DROP
    # what stores nothing is not refused
    assert batch_of(carol, 0.1, record="metrics").status_code == 202
    assert carol.delete(made["links"]["self"]).status_code == 204
    assert post("simulations").status_code == 202


def test_the_log_leads_from_the_request_to_the_worker(guarded, owner):
    answer = owner.post(
        "/v1/simulations", json=DROP, headers={"X-Request-Id": "from-a-test", "Prefer": "wait=30"}
    )
    run = answer.json()["id"]

    def lines():
        told = [json.loads(line) for line in list(guarded.errors) if line.startswith("{")]
        mine = [line for line in told if line.get("run") == run]
        return mine if len(mine) >= 3 else None

    found = wait_for(lines, what="three lines about the run")[:3]
    # a worker may begin before the request that asked for the run has told of it
    (queued,) = [line for line in found if "request" in line]
    begun, ended = [line for line in found if "worker" in line]
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


@pytest.fixture
def carol(guarded):
    with client_of(guarded, SECRETS["carol"]) as client:
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


def ids(client, kind):
    """Of all that a client sees of a kind of resource."""
    return [one["id"] for one in client.get(f"/v1/{kind}").json()["items"]]


@pytest.mark.parametrize("kind", list(MADE))
def test_a_key_sees_and_changes_only_what_it_made(guarded, owner, reader, alice, bob, kind):
    made = alice.post(f"/v1/{kind}", json=MADE[kind], headers={"Prefer": "wait=30"}).json()
    url = made["links"]["self"]
    assert alice.get(url).json()["id"] == made["id"]
    assert made["id"] in ids(alice, kind)
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
    assert made["id"] not in ids(bob, kind)
    # `admin` sees everything, and changes it if it may write
    assert made["id"] in ids(reader, kind)
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
        assert caught.value.response.status_code == 404
    assert owner.delete(url).status_code == 204


def test_a_key_sees_changes_and_names_only_scenes_that_it_stored(owner, reader, alice, bob):
    made = alice.post("/v1/scenes", json=DROP)
    url, info = made.headers["location"], made.json()
    change = {"If-Match": made.headers["etag"]}
    unknown = bob.get("/v1/scenes/scene_00000000000000000000")
    for answer in (
        bob.get(url),
        bob.delete(url),
        bob.put(url, json=DROP, headers=change),
        bob.patch(url, json={"name": "mine"}, headers=change),
        bob.patch(url, json={"name": "mine"}),
    ):
        refusal(answer, 404, unknown.json()["code"])
    assert info["id"] in ids(alice, "scenes")
    assert info["id"] in ids(reader, "scenes")
    assert info["id"] not in ids(bob, "scenes")
    for kind in ("simulations", "sessions", "statics"):
        answer = bob.post(f"/v1/{kind}", json={"scene": info["id"]})
        refusal(answer, 422, "invalid_request")
        assert answer.json()["errors"][0]["code"] == "unknown_scene"
    # a key that reads everything changes nothing
    assert reader.get(url).json() == DROP
    refusal(reader.patch(url, json={"name": "a"}, headers=change), 403, "scope_missing")
    assert alice.post("/v1/simulations", json={"scene": info["id"]}).status_code == 202
    assert alice.get(url).json() == DROP
    assert owner.delete(url).status_code == 204


@pytest.fixture
def watched(alice):
    """A session of alice and a link to it."""
    info = alice.post("/v1/sessions", json={"scene": DROP}).json()
    share = alice.post(f"{info['links']['self']}/shares", json={"name": "the class"})
    assert share.status_code == 201
    yield info, share.json()
    alice.delete(info["links"]["self"])


def test_a_link_shows_one_session_and_nothing_else(guarded, alice, watched):
    info, share = watched
    here = info["links"]["self"]
    run = alice.post("/v1/simulations", json=DROP, headers={"Prefer": "wait=30"}).json()
    with client_of(guarded, share["token"]) as visitor:
        for part in ("", "/scene", "/masses", "/state", "/summary", "/frames", "/frames/0"):
            assert visitor.get(here + part).status_code == 200, part
        assert visitor.head(here).status_code == 200
        for path in (
            *(
                f"{here}/{part}"
                for part in ("commands", "snapshots", "bundle", "shares", "problem")
            ),
            *("/v1/sessions", "/v1/limits", "/v1/scenes/schema", "/metrics"),
            *run["links"].values(),
        ):
            refusal(visitor.get(path), 401, "unauthorized")
        for verb in (":pause", ":resume", ":step", ":fork", ":snapshot", "/commands", "/shares"):
            refusal(visitor.post(here + verb, json={}), 401, "unauthorized")
        refusal(visitor.post(f"{here}/stream-tickets"), 401, "unauthorized")
        refusal(visitor.patch(here, json={"paused": False}), 401, "unauthorized")
        refusal(visitor.delete(here), 401, "unauthorized")
        refusal(visitor.delete(f"{here}/shares/{share['id']}"), 401, "unauthorized")
    headers = {"Authorization": f"Bearer {share['token']}"}
    with stream_of(guarded, info["links"]["stream"], additional_headers=headers) as stream:
        assert said(stream, "hello")["role"] == "view"
        assert said(stream, "take_control")["problem"]["code"] == "scope_missing"
        assert said(stream, "step")["problem"]["code"] == "scope_missing"
        assert said(stream, "live")["op"] == "result"


def said(stream, op):
    """What a stream says next, after a message to it."""
    stream.send(json.dumps({"op": op, "id": "1"}))
    return json.loads(stream.recv(timeout=20))


def test_a_link_shows_one_run_and_nothing_else(guarded, alice):
    wait = {"Prefer": "wait=30"}
    run, other = (alice.post("/v1/simulations", json=DROP, headers=wait).json() for _ in range(2))
    here = run["links"]["self"]
    # a body may be left out
    share = alice.post(f"{here}/shares").json()
    with client_of(guarded, share["token"]) as visitor:
        for part in ("", "/scene", "/masses", "/summary", "/trajectory?format=json"):
            assert visitor.get(here + part).status_code == 200, part
        for path in (f"{here}/events", f"{here}/logs", f"{here}/shares", "/v1/simulations"):
            refusal(visitor.get(path), 401, "unauthorized")
        refusal(visitor.get(other["links"]["self"]), 401, "unauthorized")
        refusal(visitor.delete(here), 401, "unauthorized")
        refusal(visitor.post("/v1/simulations", json=DROP), 401, "unauthorized")
        assert alice.delete(here).status_code == 204
        assert visitor.get(here).status_code == 404


def test_a_link_shows_one_batch_and_its_runs(guarded, alice, bob):
    def made():
        variations = {"/bodies/1/position/2": [0.15, 0.2]}
        body = {"scene": DROP, "variations": variations, "record": "full"}
        return alice.post("/v1/batches", json=body, headers={"Prefer": "wait=30"}).json()

    batch, other = made(), made()
    here, there = (one["links"]["self"] for one in (batch, other))
    refusal(bob.post(f"{here}/shares"), 404, "not_found")
    refusal(alice.post("/v1/batches/batch_unknown/shares"), 404, "not_found")
    share, second = (alice.post(f"{one}/shares").json() for one in (here, there))
    run, foreign = (alice.get(f"{one}/runs").json()["items"][0]["links"] for one in (here, there))

    def opens(visitor):
        for path in (here, f"{here}/runs", f"{here}/results?format=json"):
            assert visitor.get(path).status_code == 200, path
        for part in ("self", "scene", "summary", "trajectory"):
            assert visitor.get(run[part]).status_code == 200, part

    with client_of(guarded, share["token"]) as visitor:
        opens(visitor)
        for path in (there, foreign["self"], foreign["trajectory"], run["logs"], run["events"]):
            refusal(visitor.get(path), 401, "unauthorized")
        for path in (f"{here}/events", f"{here}/shares", "/v1/batches", "/v1/simulations"):
            refusal(visitor.get(path), 401, "unauthorized")
        for path in (f"{here}:cancel", f"{here}:retry-failed", f"{run['self']}:cancel"):
            refusal(visitor.post(path), 401, "unauthorized")
        refusal(visitor.delete(here), 401, "unauthorized")
    # links of two batches live side by side in one browser, whose key is somebody else's
    with guarded.client() as visitor:
        assert visitor.get("/", params={"key": SECRETS["bob"]}).status_code == 303
        answer = visitor.get(share["url"])
        assert answer.headers["location"] == f"/#batch={batch['id']}"
        refusal(visitor.get(foreign["self"]), 404, "not_found")
        assert visitor.get(second["url"]).status_code == 303
        assert visitor.get(foreign["self"]).status_code == 200
        opens(visitor)
        refusal(visitor.delete(here), 404, "not_found")
    (listed,) = alice.get(f"{here}/shares").json()["items"]
    assert listed["id"] == share["id"]
    assert alice.delete(f"{here}/shares/{share['id']}").status_code == 204
    refusal(alice.delete(f"{here}/shares/{share['id']}"), 404, "share_not_found")
    with client_of(guarded, share["token"]) as visitor:
        refusal(visitor.get(here), 401, "unauthorized")
        refusal(visitor.get(run["self"]), 401, "unauthorized")


def test_a_link_shows_the_present_text_of_a_scene_and_nothing_else(guarded, alice, bob):
    made = alice.post("/v1/scenes", json=DROP)
    other = alice.post("/v1/scenes", json=DROP).headers["location"]
    here = made.headers["location"]
    changed = {"headers": {"If-Match": made.headers["etag"]}, "json": {**DROP, "name": "changed"}}
    assert alice.put(here, **changed).status_code == 200
    refusal(bob.post(f"{here}/shares"), 404, "not_found")
    for path in (f"{here}/revisions", f"{here}/revisions/1"):
        assert alice.get(path).status_code == 200
        refusal(bob.get(path), 404, "not_found")
    refusal(bob.post(f"{here}:restore", json={"revision": 1}), 404, "not_found")
    share = alice.post(f"{here}/shares", json={"name": "the class"}).json()
    with client_of(guarded, share["token"]) as visitor:
        assert visitor.get(here).json()["name"] == "changed"
        for path in (f"{here}/revisions", f"{here}/revisions/1", f"{here}/shares", "/v1/scenes"):
            refusal(visitor.get(path), 401, "unauthorized")
        refusal(visitor.get(other), 401, "unauthorized")
        refusal(visitor.put(here, **changed), 401, "unauthorized")
        refusal(visitor.post(f"{here}:restore", json={"revision": 1}), 401, "unauthorized")
        refusal(visitor.delete(here), 401, "unauthorized")
        body = {"scene": made.json()["id"]}
        refusal(visitor.post("/v1/simulations", json=body), 401, "unauthorized")
    with guarded.client() as visitor:
        answer = visitor.get(share["url"])
        assert answer.headers["location"] == f"/#scene={made.json()['id']}"
        assert visitor.get(here).status_code == 200
    (listed,) = alice.get(f"{here}/shares").json()["items"]
    assert (listed["id"], listed["name"]) == (share["id"], "the class")
    assert alice.delete(f"{here}/shares/{share['id']}").status_code == 204
    with client_of(guarded, share["token"]) as visitor:
        refusal(visitor.get(here), 401, "unauthorized")
    second = alice.post(f"{here}/shares").json()
    assert alice.delete(here).status_code == 204
    with client_of(guarded, second["token"]) as visitor:
        refusal(visitor.get(here), 401, "unauthorized")


def test_a_revoked_link_shows_nothing_and_ends_what_is_watched(guarded, alice, bob, watched):
    info, share = watched
    here = f"{info['links']['self']}/shares"
    (listed,) = alice.get(here).json()["items"]
    assert listed == {name: share[name] for name in ("id", "name", "created_at", "expires_at")}
    refusal(bob.get(here), 404, "session_not_found")
    refusal(bob.post(here), 404, "session_not_found")
    headers = {"Authorization": f"Bearer {share['token']}"}
    with stream_of(guarded, info["links"]["stream"], additional_headers=headers) as stream:
        assert said(stream, "hello")["op"] == "welcome"
        refusal(alice.delete(f"{here}/share_unknown"), 404, "share_not_found")
        assert alice.delete(f"{here}/{share['id']}").status_code == 204
        with pytest.raises(ConnectionClosed) as caught:
            stream.recv(timeout=20)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 4410
        assert "revoked" in caught.value.rcvd.reason
    with client_of(guarded, share["token"]) as visitor:
        refusal(visitor.get(info["links"]["self"]), 401, "unauthorized")
        refusal(visitor.get("/", params={"share": share["token"]}), 404, "share_not_found")
    assert alice.get(here).json()["items"] == []


def test_a_browser_opens_a_link_and_its_own_key_keeps_what_it_may(guarded, watched):
    info, share = watched
    with guarded.client() as visitor:
        answer = visitor.get(share["url"])
        assert answer.status_code == 303
        assert answer.headers["location"] == f"/#session={info['id']}"
        attributes = answer.headers["set-cookie"]
        for words in ("HttpOnly", "SameSite=strict", f"Path={info['links']['self']}"):
            assert words in attributes
        assert visitor.get(info["links"]["scene"]).status_code == 200
        # the cookie goes to no other address
        refusal(visitor.get("/v1/limits"), 401, "unauthorized")
        assert "cookie" not in visitor.get("/v1/limits").request.headers
        refusal(visitor.get("/", params={"share": share["token"] + "x"}), 404, "share_not_found")
        # somebody with a key of another person: it may do here what the link allows
        assert visitor.get("/", params={"key": SECRETS["bob"]}).status_code == 303
        assert visitor.get(info["links"]["self"]).status_code == 200
        refusal(visitor.post(f"{info['links']['self']}:resume"), 404, "session_not_found")
        assert visitor.get("/v1/limits").status_code == 200
        headers = {"Cookie": "; ".join(f"{one.name}={one.value}" for one in visitor.cookies.jar)}
        with stream_of(guarded, info["links"]["stream"], additional_headers=headers) as stream:
            assert said(stream, "hello")["role"] == "view"
        # who made the session keeps control of it
        visitor.get("/", params={"key": SECRETS["alice"]})
        assert visitor.post(f"{info['links']['self']}:resume").status_code == 200


def test_a_link_is_a_digest_on_the_disk_and_in_no_log(guarded, watched):
    _, share = watched
    files = [path.read_bytes() for path in guarded.data.glob("*.sqlite3*")]
    assert any(hashlib.sha256(share["token"].encode()).hexdigest().encode() in one for one in files)
    assert not any(share["token"].encode() in one for one in files)
    with guarded.client() as visitor:
        visitor.get(share["url"])
    assert not any(share["token"] in line for line in list(guarded.errors))


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"expires_in_s": 10}, "/expires_in_s"),
        ({"expires_in_s": 1e9}, "/expires_in_s"),
        ({"expires_in_s": "1 h"}, "/expires_in_s"),
        ({"name": 3}, "/name"),
        ({"until": "tomorrow"}, "/until"),
    ],
)
def test_a_link_that_cannot_be_made_says_what_is_wrong(alice, watched, body, pointer):
    answer = alice.post(f"{watched[0]['links']['self']}/shares", json=body)
    refusal(answer, 422, "invalid_request")
    assert answer.json()["errors"][0]["pointer"] == pointer


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
    assert quota_of(answer) == ("sessions", 3, 2)
    refusal(alice.post(f"{made[0]['links']['self']}:fork"), 429, "quota_exceeded")
    other = bob.post("/v1/sessions", json={"scene": DROP})
    assert other.status_code == 201
    for info, client in ((made[0], alice), (made[1], alice), (other.json(), bob)):
        assert client.delete(info["links"]["self"]).status_code == 204
