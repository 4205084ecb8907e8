"""Broken scenes through the real door: refused with pointer, finding and remedy; life goes on."""

import json

import pytest

from cardan.schemas.error import shown
from tests.schemas.broken import BROKEN, GOOD
from tests.service.real_server import run_to_end

pytestmark = pytest.mark.e2e
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_scene_is_refused_by_simulations(client, broken):
    answer = client.post("/v1/simulations", content=broken.text, headers=JSON)
    body = answer.json()
    assert answer.status_code in (400, 422), body
    assert answer.headers["content-type"] == "application/problem+json"
    fault = body["errors"][0]
    assert (fault["pointer"], fault["code"]) == (broken.pointer, broken.code)
    assert broken.finding in fault["message"]
    assert answer.status_code == 422 or fault["code"] in ("syntax", "not_utf8", "too_deep")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_scene_is_reported_by_validate(client, broken):
    answer = client.post("/v1/scenes:validate", content=broken.text, headers=JSON)
    if answer.status_code == 400:
        assert answer.json()["errors"][0]["code"] == broken.code
        return
    body = answer.json()
    assert answer.status_code == 200, body
    assert body["valid"] is False
    assert (body["errors"][0]["pointer"], body["errors"][0]["code"]) == (
        broken.pointer,
        broken.code,
    )


def test_all_faults_come_at_once(client):
    scene = json.loads(json.dumps(GOOD))
    scene["bodies"][0]["mass"] = -1
    scene["bodies"][1]["colour"] = "red"
    scene["gravity"] = [0, 0]
    body = client.post("/v1/simulations", json={"scene": scene}).json()
    pointers = {fault["pointer"] for fault in body["errors"]}
    assert {"/scene/bodies/0/mass", "/scene/bodies/1/colour", "/scene/gravity"} <= pointers


def test_duplicate_keys_are_reported_among_all_other_faults(client):
    text = (
        '{"bodies": [{"name": "b", "name": "c", "mass": 1.0, "inertia": [1.0, 1.0, 5.0]}],'
        ' "gravity": [0, 0]}'
    )
    for scene, others in (
        (text, ["/gravity", "/bodies/0/inertia"]),
        (text.replace("[0, 0]", "[0, 0, 0]"), ["/bodies/0/inertia"]),
        (text.replace("[0, 0]", "[0, 0, 0]").replace("5.0", "1.0"), []),
    ):
        answer = client.post("/v1/scenes:validate", content=scene, headers=JSON)
        assert answer.status_code == 200, answer.json()
        report = answer.json()
        assert report["valid"] is False
        assert [fault["pointer"] for fault in report["errors"]] == ["/bodies/0/name", *others]
        assert report["errors"][0]["code"] == "duplicate_key"


# what only the engine finds
FLAT = {"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 5.0]}
TWISTED = {"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 1.0, 2.0, 0.0, 0.0]}


@pytest.mark.parametrize("body", [FLAT, TWISTED], ids=["triangle", "indefinite"])
def test_an_impossible_inertia_is_refused(client, body):
    answer = client.post("/v1/simulations", json={"scene": {"bodies": [body]}})
    assert answer.status_code == 422
    fault = answer.json()["errors"][0]
    assert fault["pointer"] == "/scene/bodies/0/inertia"
    assert fault["message"]
    report = client.post("/v1/scenes:validate", json={"bodies": [body]}).json()
    assert report["valid"] is False
    assert report["errors"][0]["pointer"] == "/bodies/0/inertia"


def test_the_service_goes_on_after_all_of_them(client):
    assert client.get("/readyz").status_code == 200
    assert run_to_end(client, GOOD)["status"] == "succeeded"


def test_values_are_shortened_for_the_answer(client):
    scene = {"bodies": [{"name": "b", "mass": "x" * 5000}]}
    body = client.post("/v1/simulations", json=scene).json()
    assert body["errors"][0]["got"] == shown("x" * 5000)
    assert len(json.dumps(body)) < 2000
