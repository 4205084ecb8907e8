"""The OpenAPI document is a contract: the service is asked for what it says, and answers so.

`CONTRACT_EXAMPLES=20` asks more often. The service's own log counts what became of resources.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter

import jsonschema
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from cardan.service.api.contract import FILES
from tests.service.contract_hooks import CREATING
from tests.service.real_server import DROP, ROOT, Server

pytestmark = pytest.mark.e2e

EXAMPLES = os.environ.get("CONTRACT_EXAMPLES", "3")
# answers without an end
ENDLESS = "/events$"
IDS = re.compile(r"(?:sim|batch|study|ses|scene|snap|share)_[^/:]+")
# values of variations are of any kind
ANY = ["Variation/values/oneOf/0/items"]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A server of its own with room for few sessions and runs, and its log as JSON."""
    server = Server(
        tmp_path_factory.mktemp("asked"),
        {
            "CARDAN_WORKERS": "1",
            "CARDAN_MAX_SESSIONS": "6",
            "CARDAN_MAX_BATCH_RUNS": "50",
            "CARDAN_LIMIT_MAX_STEPS": "20000",
            "CARDAN_LOG_FORMAT": "json",
            "CARDAN_LOG_LEVEL": "info",
        },
    ).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def document(asked):
    with asked.client() as client:
        return client.get("/openapi.json").json()


def ask(server, *arguments, hooks=""):
    """Run schemathesis against the server; fail with its report if it found something."""
    command = [
        sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
        "--config-file", ROOT / "tests/service/schemathesis.toml", "run",
        f"{server.url}/openapi.json", "--seed", "1", "--request-timeout", "60", "--no-shrink",
        "--no-color", "--exclude-path-regex", ENDLESS, *arguments,
    ]  # fmt: skip
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": hooks}
    if not hooks:
        del environment["SCHEMATHESIS_HOOKS"]
    ended = subprocess.run(
        command, capture_output=True, text=True, cwd=server.data, env=environment, check=False
    )
    assert ended.returncode == 0, ended.stdout[-12_000:] + ended.stderr[-2000:]


def answers(server):
    """How often each (method, address with `*` for ids, class of status) was answered.

    503 is a class of its own: all places may be taken.
    """
    found: Counter[tuple[str, str, int]] = Counter()
    for line in list(server.errors):
        told = json.loads(line) if line.startswith("{") else {}
        if "path" in told:
            place = IDS.sub("*", told["path"])
            status = told["status"]
            found[told["method"], place, status if status == 503 else status // 100] += 1
    return found


def test_every_operation_answers_as_the_document_says(asked):
    ask(asked, "--phases", "fuzzing", "--max-examples", EXAMPLES)
    counted = answers(asked)
    assert counted["POST", "/v1/scenes:validate", 2]
    assert any(counted[key] for key in counted if "/dynamics/" in key[1] and key[2] == 2)
    assert not [key for key in counted if key[2] == 5]


@pytest.mark.parametrize("kind", ["scenes", "simulations", "batches", "studies", "sessions"])
def test_every_kind_of_resource_is_created_used_and_deleted(asked, kind):
    chains = str(10 * int(EXAMPLES))
    limits = ["--mode", "positive", "--max-examples", chains]
    limits += ["--include-path-regex", f"^/v1/{kind}"]
    ask(asked, "--phases", "stateful", *limits, hooks="tests.service.contract_hooks")
    with asked.client() as client:
        if kind == "sessions":
            # the chains may have taken all places
            for one in client.get("/v1/sessions").json()["items"]:
                assert client.delete(f"/v1/sessions/{one['id']}").status_code == 204
        headers = {"Prefer": "wait=30"}
        made = client.post(f"/v1/{kind}", json=CREATING[f"POST /v1/{kind}"], headers=headers)
        place = made.headers["location"]
        assert client.get(place).status_code == 200
        assert client.delete(place).status_code == 204
        assert client.get(place).status_code in (404, 410)
    counted = answers(asked)
    # chains that never got past 404 would prove nothing
    assert counted["POST", f"/v1/{kind}", 2] > 1
    used = [key for key in counted if key[1].startswith(f"/v1/{kind}/*") and key[2] == 2]
    assert len(used) > 2, used
    if kind == "scenes":
        assert counted["PATCH", "/v1/scenes/*", 2]
        assert counted["PUT", "/v1/scenes/*", 2]
    assert not [key for key in counted if key[2] == 5]


def test_boundaries_of_parameters(asked):
    ask(asked, "--phases", "coverage", "--include-method", "GET", "--include-method", "DELETE")


def parts(schema, place):
    """A schema and all schemas within it, with where they are."""
    yield schema, place
    if not isinstance(schema, dict):
        return
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, part in enumerate(schema.get(key, ())):
            yield from parts(part, f"{place}/{key}/{number}")
    if isinstance(schema.get("items"), dict):
        yield from parts(schema["items"], f"{place}/items")
    for name, part in schema.get("properties", {}).items():
        yield from parts(part, f"{place}/{name}")


def is_untyped(schema):
    """Whether a schema allows anything, or any object, without saying so on purpose."""
    if not isinstance(schema, dict):
        return schema is True
    said = set(schema) - {"title", "description", "default"}
    return not said or (said == {"type"} and schema["type"] == "object")


def test_every_body_is_typed(document):
    untyped = [
        place
        for name, schema in document["components"]["schemas"].items()
        for part, place in parts(schema, name)
        if is_untyped(part)
    ]
    assert untyped == ANY
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            place = f"{method} {path}"
            assert operation["description"], place
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for media in (one for body in bodies for one in body.get("content", {}).values()):
                # files have formats of their own
                assert not is_untyped(media["schema"]) or (method, path) in FILES, place
            for status, answer in operation["responses"].items():
                assert "X-Request-Id" in answer["headers"], (place, status)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/simulations", "GET, HEAD, POST"),
        ("PUT", "/v1/simulations/sim_1", "DELETE, GET, HEAD"),
        ("GET", "/v1/simulations/sim_1:cancel", "POST"),
        ("DELETE", "/v1/batches/batch_1:retry-failed", "POST"),
        ("POST", "/v1/simulations/sim_1/events", "GET"),
        ("GET", "/v1/scenes:validate", "POST"),
        ("PATCH", "/v1/sessions", "GET, HEAD, POST"),
        ("POST", "/v1/scenes/scene_1", "DELETE, GET, HEAD, PATCH, PUT"),
        ("DELETE", "/v1/scenes", "GET, HEAD, POST"),
        ("DELETE", "/v1/scenes/schema", "GET, HEAD"),
        ("PUT", "/v1/scenes/schema", "GET, HEAD"),
        ("PUT", "/v1/sessions/ses_1", "DELETE, GET, HEAD, PATCH"),
        ("POST", "/v1/simulations/sim_1:fly", None),
        ("GET", "/v1/simulations/sim_1:fly", None),
        ("POST", "/v1/nothing", None),
        ("GET", "/v1/nothing", None),
        ("DELETE", "/v1/", None),
    ],
)
def test_a_wrong_method_is_405_with_all_methods_and_a_wrong_address_404(
    asked, method, path, allowed
):
    with asked.client() as client:
        answer = client.request(method, path)
    assert answer.status_code == (405 if allowed else 404)
    assert answer.headers.get("allow") == allowed
    assert answer.headers["content-type"] == "application/problem+json"


def test_messages_of_a_session_are_those_of_the_asyncapi_document(asked):
    with asked.client() as client:
        document = client.get("/asyncapi.json").json()
        session = client.post("/v1/sessions", json={"scene": DROP}).json()
    sent = document["operations"]["send"]["messages"]
    assert {one["$ref"].rpartition("/")[2] for one in sent} >= {"Welcome", "StreamEvent", "Frame"}
    names = {"welcome": "Welcome", "result": "StreamResult", "error": "StreamError"}
    seen: Counter[str] = Counter()

    def check(message):
        name = names.get(message["op"], "StreamEvent")
        schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        jsonschema.validate(message, schema)
        seen[name] += 1

    url = asked.url.replace("http", "ws") + session["links"]["stream"]
    with connect(url, subprotocols=[Subprotocol("cardan.v1")]) as stream:
        for command in (
            {"op": "hello", "client_id": "a", "resume": {"epoch": 0, "sequence": 0}},
            {"op": "subscribe", "channels": {"poses": {"hz": 10}}, "id": "1"},
            {"op": "step", "n": 3, "id": "2"},
            {"op": "seek", "step": 1, "id": "3"},
            {"op": "fly", "id": "4"},
            {"op": "reset", "id": "5"},
        ):
            stream.send(json.dumps(command))
        last = None
        while last != "5":
            message = stream.recv(timeout=30)
            if isinstance(message, str):
                told = json.loads(message)
                check(told)
                last = told.get("id")
    assert seen["Welcome"] == 1
    assert seen["StreamResult"] == 4
    assert seen["StreamError"] == 1
    assert seen["StreamEvent"] >= 1
    with asked.client() as client:
        client.delete(session["links"]["self"])
