"""`/v1/statics`, `/v1/linearization`, `/v1/inverse-kinematics` through the real door."""

import math

import pytest

from cardan.schemas import statics as s
from cardan.schemas.error import shown

pytestmark = pytest.mark.e2e

ARM = {
    "version": 1,
    "gravity": [0, 0, -9.81],
    "bodies": [{"name": "bob", "mass": 2, "position": [0, 0, -1], "inertia": [0.1, 0.1, 0.1]}],
    "joints": [
        {"name": "pin", "type": "hinge", "parent": "world", "child": "bob"}
        | {"anchor": [0, 0, 0], "axis": [0, 1, 0], "initial": {"position": 1.0}}
    ],
}


def ask(client, operation, **body):
    answer = client.post(f"/v1/{operation}", json={"scene": ARM, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_statics(client):
    found = ask(client, "statics", load={"forces": [{"body": "bob", "force": [0, 5, 0]}]})
    s.StaticsAnswer.model_validate(found)
    assert (found["status"], found["moved"]) == ("equilibrium", True)
    assert found["joints"][0]["force"] == pytest.approx([0, 0, 2 * 9.81], abs=1e-8)
    assert found["stability"]["frequencies"] == [
        pytest.approx(math.sqrt(2 * 9.81 / 2.1) / math.tau)
    ]
    # the pin carries any force along its axis
    assert found["margin"]["factor"] is None
    as_it_is = ask(client, "statics", search=False)
    assert (as_it_is["status"], as_it_is["joints"][0]["force"]) == ("none", None)


def test_linearization(client):
    outputs = [{"joint": "pin"}, {"body": "bob", "quantity": "velocity"}]
    inputs = [{"joint": "pin", "kind": "force"}]
    found = ask(client, "linearization", q={"pin": 0.0}, inputs=inputs, outputs=outputs)
    s.LinearizationAnswer.model_validate(found)
    assert found["A"][1] == pytest.approx([-2 * 9.81 / 2.1, 0.0], abs=1e-8)
    assert found["B"][1] == [pytest.approx(1 / 2.1)]
    assert len(found["C"]) == 4
    mode = found["modes"][0]
    assert mode["frequency"] == pytest.approx(math.sqrt(2 * 9.81 / 2.1) / math.tau)
    assert mode["shape"]["bodies"][0]["displacement"][0] == pytest.approx([-1, 0, 0], abs=1e-9)


def test_inverse_kinematics(client):
    target = {"body": "bob", "position": [-math.sin(0.4), 0, -math.cos(0.4)]}
    found = ask(client, "inverse-kinematics", targets=[target])
    s.InverseKinematicsAnswer.model_validate(found)
    assert found["found"]
    assert found["coordinates"]["pin"] == [pytest.approx(0.4, abs=1e-7)]


@pytest.mark.parametrize(
    ("operation", "body", "pointer", "words"),
    [
        ("statics", {"lod": 1}, "/lod", "lod"),
        ("linearization", {"q": {"pin": [1, 2]}}, "/q/pin", "must be 1 finite number"),
        ("linearization", {"qd": {"pin": [1, 2]}}, "/qd/pin", "must be 1 finite number"),
        ("linearization", {"outputs": [{}]}, "/outputs/0", "a joint or a body"),
        ("linearization", {"outputs": [{"joint": "pin", "body": "bob"}]}, "/outputs/0", "one of"),
        ("linearization", {"outputs": [{"joint": "pin", "coordinate": 1}]}, "/outputs/0/coor", "1"),
        ("linearization", {"inputs": [{"joint": "pin"}]}, "/inputs/0/joint", "no motor"),
        ("linearization", {"q": {"pin": 1e50}}, "/q/pin", "too large"),
        ("linearization", {"q": {"pin": 1.0}, "qd": {"pin": 1e50}}, "/qd/pin", "too large"),
        ("statics", {"load": {}}, "/load", "load is zero"),
        ("inverse-kinematics", {"targets": [{"body": "bob"}]}, "/targets/0", "no position"),
        ("inverse-kinematics", {"targets": []}, "/targets", "1"),
        ("statics", {"overrides": {"/bodies/0/mass": -1}}, "/overrides", "mass"),
    ],
)
def test_what_is_wrong_is_said(client, operation, body, pointer, words):
    answer = client.post(f"/v1/{operation}", json={"scene": ARM, **body})
    assert answer.status_code == 422
    fault = answer.json()["errors"][0]
    assert fault["pointer"].startswith(pointer)
    assert words in str(fault)


@pytest.mark.parametrize(
    ("operation", "body", "pointer", "got", "message"),
    [
        (
            "linearization",
            {"q": {"pin": [1, 2]}},
            "/q/pin",
            [1, 2],
            "The q of joint 'pin' must be 1 finite number, not ",
        ),
        (
            "linearization",
            {"inputs": [{"joint": "pin"}]},
            "/inputs/0/joint",
            "pin",
            None,
        ),
        ("statics", {"load": {"forces": []}}, "/load", {"forces": []}, None),
        (
            "inverse-kinematics",
            {"targets": [{"body": "bob", "orientation": [1, 0, 0, 0.9]}]},
            "/targets/0/orientation",
            [1, 0, 0, 0.9],
            None,
        ),
    ],
)
def test_what_was_found_is_said(client, operation, body, pointer, got, message):
    answer = client.post(f"/v1/{operation}", json={"scene": ARM, **body})
    (fault,) = answer.json()["errors"]
    assert fault["pointer"] == pointer
    assert fault["got"] == shown(got)
    assert message is None or fault["message"].startswith(message)


@pytest.mark.parametrize(
    ("operation", "body", "places"),
    [
        (
            "linearization",
            {
                "q": {"nope": 0.1, "pin": 0.1},
                "qd": {"a/b": 1.0},
                "inputs": [{"joint": "pin"}, {"joint": "pins"}],
                "outputs": [{"body": "bobs"}, {"joint": "pan"}, {"body": "bob"}],
            },
            {
                "/q/nope": "unknown_joint",
                "/qd/a~1b": "unknown_joint",
                "/inputs/1/joint": "unknown_joint",
                "/outputs/0/body": "unknown_body",
                "/outputs/1/joint": "unknown_joint",
            },
        ),
        (
            "inverse-kinematics",
            {"q": {"nope": 0.1}, "targets": [{"body": "rod", "position": [0, 0, 0]}]},
            {"/q/nope": "unknown_joint", "/targets/0/body": "unknown_body"},
        ),
        (
            "statics",
            {"load": {"forces": [{"body": "bob"}, {"body": "rod"}]}},
            {"/load/forces/1/body": "unknown_body"},
        ),
    ],
)
def test_names_that_the_scene_has_not_are_named_at_their_places(client, operation, body, places):
    answer = client.post(f"/v1/{operation}", json={"scene": ARM, **body})
    assert answer.status_code == 422
    faults = answer.json()["errors"]
    assert {fault["pointer"]: fault["code"] for fault in faults} == places
