"""A tolerance instead of a step, over HTTP and in a batch."""

import pytest

from tests.service.real_server import end_of, run_to_end

pytestmark = pytest.mark.e2e

TOLERANCE = "/simulation/accuracy/position"


def pendulum(tolerance, **simulation):
    """A bob on a rod of 1 m, let go 1 rad from hanging."""
    bob = {"name": "bob", "position": [0.8414709848, 0, -0.5403023059], "mass": 1.0}
    pin = {"name": "pin", "type": "hinge", "parent": "world", "child": "bob"}
    options = {"duration": 0.5, "dt": 0.02, "accuracy": {"position": tolerance}}
    return {
        "version": 1,
        "bodies": [{**bob, "inertia": [0.01, 0.01, 0.01]}],
        "joints": [{**pin, "anchor": [0, 0, 0], "axis": [0, 1, 0]}],
        "simulation": {**options, **simulation},
    }


def summary_of(client, scene):
    return client.get(run_to_end(client, scene)["links"]["summary"]).json()


def test_a_tolerance_is_met_and_the_choice_is_told(client):
    asked = {"formulation": "maximal", "integrator": "semi_implicit_euler"}
    coarse, fine = (summary_of(client, pendulum(error, **asked)) for error in (1e-3, 1e-5))
    for summary, error in ((coarse, 1e-3), (fine, 1e-5)):
        found = summary["accuracy"]
        assert (found["asked"], found["reached"]) == (error, True)
        assert found["position_error"] <= error
        assert (found["formulation"], found["integrator"]) == tuple(asked.values())
        assert found["reasons"]
        assert summary["verdict"] == {"status": "trusted", "findings": []}
    assert fine["accuracy"]["dt"] < coarse["accuracy"]["dt"] <= 0.02


def test_a_tolerance_that_is_not_reached_makes_the_run_suspect(client):
    scene = pendulum(1e-12, formulation="maximal", integrator="semi_implicit_euler")
    scene["simulation"]["accuracy"]["max_steps"] = 1000
    summary = summary_of(client, scene)
    assert not summary["accuracy"]["reached"]
    verdict = summary["verdict"]
    assert (verdict["status"], verdict["findings"][-1]["quantity"]) == ("suspect", "accuracy")


def test_every_run_of_a_batch_chooses_for_its_own_tolerance(client):
    scene = pendulum(1e-3, formulation="maximal", integrator="semi_implicit_euler")
    metrics = ["accuracy.position_error", "accuracy.dt", "verdict.status"]
    ask = {"scene": scene, "variations": {TOLERANCE: [1e-3, 1e-5]}, "metrics": metrics}
    answer = client.post("/v1/batches", json=ask)
    assert answer.status_code == 202, answer.text
    links = answer.json()["links"]
    ended = end_of(client, answer.json())
    assert ended["counts"] == {"succeeded": 2}
    rows = client.get(links["results"], params={"format": "json"}).json()["rows"]
    assert [row["verdict.status"] for row in rows] == ["trusted", "trusted"]
    for row in rows:
        assert row["accuracy.position_error"] <= row[TOLERANCE]
    assert rows[1]["accuracy.dt"] < rows[0]["accuracy.dt"]


@pytest.mark.parametrize(
    ("accuracy", "pointer"),
    [
        ({"position": 0.0}, TOLERANCE),
        ({"position": -1.0}, TOLERANCE),
        ({"position": "fine"}, TOLERANCE),
        ({"position": 1e-3, "max_steps": 0}, "/simulation/accuracy/max_steps"),
    ],
)
def test_a_wrong_tolerance_is_refused_where_it_is_wrong(client, accuracy, pointer):
    scene = pendulum(1e-3)
    scene["simulation"]["accuracy"] = accuracy
    answer = client.post("/v1/simulations", json=scene)
    assert answer.status_code == 422, answer.text
    assert pointer in [fault["pointer"] for fault in answer.json()["errors"]]


def test_a_live_session_refuses_a_tolerance(client):
    answer = client.post("/v1/sessions", json={"scene": pendulum(1e-3)})
    assert answer.status_code == 422, answer.text
    pointers = [fault["pointer"] for fault in answer.json()["errors"]]
    assert any(pointer.endswith("/simulation/accuracy") for pointer in pointers)
