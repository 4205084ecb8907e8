import base64
import gzip
import json

import pytest

from tests.service.real_server import DROP

pytestmark = pytest.mark.e2e
MEDIA = "application/problem+json"


def problem(answer, status, code):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == MEDIA
    body = answer.json()
    assert body["code"] == code
    assert body["status"] == status
    assert body["request_id"] == answer.headers["x-request-id"]
    assert set(body) >= {"type", "title", "detail", "retryable", "errors"}
    # of the type, not of this one
    assert body["title"] == code.replace("_", " ").capitalize()
    return body


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nowhere", 404, "not_found"),
        ("POST", "/nowhere", 405, "method_not_allowed"),
        ("GET", "/v1/simulations/sim_0", 404, "not_found"),
        ("POST", "/v1/simulations/sim_0:cancel", 404, "not_found"),
        ("GET", "/v1/simulations/sim_0/trajectory", 404, "not_found"),
        ("GET", "/v1/batches/batch_0/results", 404, "not_found"),
        ("PUT", "/v1/simulations", 405, "method_not_allowed"),
        ("DELETE", "/v1/examples/pile", 405, "method_not_allowed"),
        ("GET", "/v1/examples/pie", 404, "not_found"),
        ("GET", "/v1/simulations?page_sise=3", 422, "unknown_parameter"),
        ("GET", "/v1/simulations?page_size=-1", 422, "invalid_request"),
        ("GET", "/v1/simulations?page_token=xyz", 422, "invalid_request"),
        ("GET", "/v1/simulations?status=late", 422, "invalid_request"),
        ("GET", "/v1/simulations/sim_0/trajectory?stride=0", 422, "invalid_request"),
        ("GET", "/v1/simulations/sim_0/trajectory?from=nan", 422, "invalid_request"),
    ],
)
def test_every_error_is_a_problem(client, method, path, status, code):
    body = problem(client.request(method, path), status, code)
    if status == 422:
        assert body["errors"][0]["pointer"].startswith("/query/")
    if status == 405:
        assert client.request(method, path).headers["allow"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/simulations?page_size=-1", "`page_size` must be at least 0; found -1."),
        ("/v1/simulations?page_size=1e9", "A whole number is needed; found the text '1e9'."),
        ("/v1/simulations?status=late", "`status` must be one of 'queued', 'starting', "),
        (
            "/v1/simulations/sim_0/trajectory?from=soon",
            "A number is needed; found the text",
        ),
    ],
)
def test_a_wrong_parameter_is_told_as_a_wrong_field_is(client, path, message):
    body = problem(client.get(path), 422, "invalid_request")
    assert body["errors"][0]["message"].startswith(message)
    assert message in body["detail"]


@pytest.mark.parametrize("source", [None, 1, [1]])
@pytest.mark.parametrize("path", ["simulations", "sessions", "batches"])
def test_what_a_scene_may_be_is_said(client, path, source):
    body = problem(client.post(f"/v1/{path}", json={"scene": source}), 422, "invalid_request")
    fault = body["errors"][0]
    assert (fault["pointer"], fault["code"]) == ("/scene", "not_an_object")
    needed = "A scene, the name of an example, or the id of a stored scene is needed; found "
    assert fault["message"].startswith(needed)


def test_a_parameter_that_is_given_twice_is_refused(client):
    body = problem(client.get("/v1/simulations?page_size=1&page_size=2"), 422, "repeated_parameter")
    assert body["errors"][0]["pointer"] == "/query/page_size"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "x"])
def test_a_compressed_body_is_refused_as_such(client, encoding):
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    content = gzip.compress(b'{"scene": "incline"}')
    answer = client.post("/v1/simulations", content=content, headers=headers)
    assert encoding in problem(answer, 415, "unsupported_encoding")["detail"]
    assert answer.headers["accept-encoding"] == "identity"
    plain = headers | {"Content-Encoding": "identity"}
    assert client.post("/v1/scenes:validate", content=b"{}", headers=plain).status_code == 200


def test_a_wrong_method_on_a_page_names_the_right_ones(client):
    body = problem(client.put("/healthz"), 405, "method_not_allowed")
    assert body["detail"] == "PUT is not possible on /healthz; there are: GET."


@pytest.mark.parametrize("path", ["/v1/simulations", "/v1/batches", "/v1/scenes:validate"])
@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "malformed_json"),
        (b"", "application/json", 400, "malformed_json"),
        (b"\xff\xfe", "application/json", 400, "malformed_json"),
        (b"[" * 100_000, "application/json", 400, "malformed_json"),
        (b"{}", "text/plain", 415, "unsupported_media_type"),
        (b"{}", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
    ],
)
def test_bodies_that_are_no_documents(client, path, content, kind, status, code):
    problem(client.post(path, content=content, headers={"Content-Type": kind}), status, code)


def test_a_body_beyond_the_limit_is_refused_with_the_figures(client):
    limit = client.get("/v1/limits").json()["body_bytes"]
    answer = client.post(
        "/v1/simulations",
        content=b" " * (limit + 1),
        headers={"Content-Type": "application/json"},
    )
    body = problem(answer, 413, "too_large")
    assert str(limit) in body["detail"]
    assert body["limit_bytes"] == limit


def test_an_unannounced_body_is_counted_while_it_comes(client):
    limit = client.get("/v1/limits").json()["body_bytes"]
    pieces = (b" " * 2**20 for _ in range(limit // 2**20 + 2))
    answer = client.post(
        "/v1/simulations", content=pieces, headers={"Content-Type": "application/json"}
    )
    problem(answer, 413, "too_large")


def test_unknown_fields_and_names_are_told(client):
    answer = client.post("/v1/simulations", json={"scene": "pile", "timeout": 3})
    body = problem(answer, 422, "invalid_request")
    assert body["errors"][0]["pointer"] == "/timeout"
    answer = client.post("/v1/simulations", json={"scene": "pie"})
    body = problem(answer, 422, "scene_invalid")
    assert body["errors"][0]["pointer"] == "/scene"
    assert "pile" in body["errors"][0]["hint"]


def test_a_fault_in_an_override_is_shown_at_the_override(client):
    ask = {"scene": DROP, "overrides": {"/bodies/1/mass": -2}}
    body = problem(client.post("/v1/simulations", json=ask), 422, "scene_invalid")
    assert body["errors"][0]["pointer"] == "/overrides/~1bodies~11~1mass"
    assert body["errors"][0]["got"] == -2


def test_all_faults_of_overrides_are_shown_at_once(client):
    overrides = {
        "/bodies/9/mass": 1.0,
        "/bodies/1/mass": -2,
        "gravity": [0, 0, 0],
        "/simulation/dt": 0,
        "/simulation/duration": 0.1,
    }
    wanted = [
        "/overrides/gravity",
        "/overrides/~1bodies~11~1mass",
        "/overrides/~1bodies~19~1mass",
        "/overrides/~1simulation~1dt",
    ]
    ask = {"scene": DROP, "overrides": overrides}
    batch = {**ask, "variations": {"/bodies/1/position/2": [0.2, "high"], "/bodies/8/mass": [1.0]}}
    for path, body, more in (
        ("simulations", ask, []),
        ("sessions", ask, []),
        ("statics", ask, []),
        (
            "batches",
            batch,
            ["/variations/~1bodies~11~1position~12/1", "/variations/~1bodies~18~1mass/0"],
        ),
    ):
        found = problem(client.post(f"/v1/{path}", json=body), 422, "scene_invalid")
        assert sorted(fault["pointer"] for fault in found["errors"]) == [*wanted, *more], path


def test_a_request_id_is_kept_and_a_strange_one_replaced(client):
    answer = client.get("/healthz", headers={"X-Request-Id": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    answer = client.get("/healthz", headers={"X-Request-Id": "a b" * 99})
    assert len(answer.headers["x-request-id"]) == 16


def test_foreign_hosts_and_origins_are_refused(client):
    problem(client.get("/v1/limits", headers={"Host": "evil.example"}), 403, "unknown_host")
    answer = client.post("/v1/simulations", json=DROP, headers={"Origin": "https://evil.example"})
    problem(answer, 403, "foreign_origin")
    same = str(client.base_url).rstrip("/")
    answer = client.post("/v1/scenes:validate", json=DROP, headers={"Origin": same})
    assert answer.status_code == 200


def test_the_openapi_document_says_that_errors_are_problems(client):
    document = client.get("/openapi.json").json()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            problems = {s: a for s, a in operation["responses"].items() if s[0] in "45"}
            assert problems, (method, path)
            for answer in problems.values():
                assert list(answer["content"]) == [MEDIA], (method, path)
    body = document["paths"]["/v1/simulations"]["post"]["requestBody"]
    named = json.dumps(body)
    assert "SimulationRequest" in named
    assert "Scene" in named
    assert "SimulationRequest" in document["components"]["schemas"]
    assert "HTTPValidationError" not in json.dumps(document["paths"])
    assert "/v1/simulations" in client.get("/docs").text


SURROGATE = "\\ud800"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/v1/simulations", '{"scene": "' + SURROGATE + '"}'),
        ("/v1/simulations", '{"' + SURROGATE + '": 1, "scene": "pile"}'),
        ("/v1/simulations", '{"scene": "pile", "overrides": {"/' + SURROGATE + '": 1}}'),
        ("/v1/simulations", '{"scene": "pile", "name": "' + SURROGATE + '"}'),
        ("/v1/batches", '{"scene": "pile", "variations": {"/' + SURROGATE + '": [1]}}'),
        ("/v1/batches", '{"scene": "pile", "mode": "' + SURROGATE + '"}'),
        (
            "/v1/batches",
            '{"scene": "pile", "variations": {"/gravity": [[0,0,0]]}, "metrics": ["'
            + SURROGATE
            + '"]}',
        ),
        ("/v1/scenes:validate", '"' + SURROGATE + '"'),
        ("/v1/sessions", '{"scene": "' + SURROGATE + '"}'),
    ],
)
def test_text_that_is_no_unicode_is_refused_and_breaks_nothing(client, path, text):
    answer = client.post(path, content=text, headers={"Content-Type": "application/json"})
    if path.endswith("validate"):
        assert answer.json()["valid"] is False
        return
    assert answer.status_code == 422
    assert answer.headers["content-type"] == MEDIA
    assert answer.json()["errors"]


@pytest.mark.parametrize(
    "path",
    ["/%00", "/" + "x" * 5000, "/v1/simulations/%ff", "/v1/simulations/" + "x" * 3000,
     "/v1/examples/%00", "/v1/simulations/sim_0/%2e%2e"],
)  # fmt: skip
def test_strange_addresses_are_not_found(client, path):
    problem(client.get(path), 404, "not_found")


def test_a_page_token_beyond_any_row_is_refused(client):
    token = base64.urlsafe_b64encode(b"row:" + b"9" * 40).decode()
    answer = client.get("/v1/simulations", params={"page_token": token})
    problem(answer, 422, "invalid_request")
