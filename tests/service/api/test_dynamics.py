"""`/v1/dynamics` of a real server."""

import numpy as np
import pytest

from cardan.schemas.examples import example_document
from tests.service.real_server import DROP

pytestmark = pytest.mark.e2e
PENDULUM = "double-pendulum"


def ask(client, operation, **body):
    answer = client.post(f"/v1/dynamics/{operation}", json={"scene": PENDULUM, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_inverse_dynamics_undo_forward_dynamics(client):
    model = ask(client, "model")
    assert [motion["motion"] for motion in model["coordinates"]] == ["hinge"] * model["nv"]
    rng = np.random.default_rng(0)
    q, qd, tau = rng.normal(size=(3, 20, model["nv"])).tolist()
    qdd = ask(client, "forward", q=q, qd=qd, tau=tau)["qdd"]
    back = ask(client, "inverse", q=q, qd=qd, qdd=qdd)["tau"]
    assert np.allclose(back, tau, rtol=0, atol=1e-10)
    H, bias = (
        ask(client, "mass-matrix", q=q)["mass_matrix"],
        ask(client, "bias", q=q, qd=qd)["bias"],
    )
    assert np.allclose(np.einsum("nij,nj->ni", H, qdd) + bias, tau, rtol=0, atol=1e-10)
    T = ask(client, "energy", q=q, qd=qd)["kinetic"]
    assert np.allclose(T, 0.5 * np.einsum("ni,nij,nj->n", qd, H, qd), rtol=1e-12)
    body = model["bodies"][-1]
    J = ask(client, "jacobian", q=q, qd=qd, body=body)
    moved = np.einsum("nrk,nk->nr", J["jacobian"], qd)
    motion = ask(client, "kinematics", q=q, qd=qd)
    assert np.allclose(moved[:, 3:], np.array(motion["velocity"])[:, -1], rtol=0, atol=1e-12)
    # dJ/dt along the motion, by central differences
    eps = 1e-6
    ahead, behind = (
        np.array(ask(client, "jacobian", q=near.tolist(), body=body)["jacobian"])
        for near in (np.add(q, eps * np.array(qd)), np.subtract(q, eps * np.array(qd)))
    )
    assert np.allclose(J["rate"], (ahead - behind) / (2.0 * eps), rtol=0, atol=1e-7)
    # both rods have a mass of 1 kg, and their origins in their centres of mass
    linear = ask(client, "momentum", q=q, qd=qd)["linear"]
    assert np.allclose(linear, np.sum(motion["velocity"], axis=1), rtol=0, atol=1e-12)


def test_a_scene_may_be_a_document(client):
    answer = client.post("/v1/dynamics/model", json={"scene": example_document(PENDULUM)})
    assert answer.json() == ask(client, "model")


def test_faults_point_into_the_request(client):
    def faults(operation, body):
        answer = client.post(f"/v1/dynamics/{operation}", json=body)
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        return [(fault["pointer"], fault["code"]) for fault in answer.json()["errors"]]

    short = {"scene": PENDULUM, "q": [[0.0]]}
    assert faults("inverse", short) == [("/q/0", "wrong_shape")]
    assert faults("inverse", {"scene": PENDULUM, "q": [["x"]]})[0][0] == "/q/0/0"
    assert faults("inverse", {"scene": PENDULUM, "Q": [[0.0]]})[0][0] == "/Q"
    assert faults("jacobian", {"scene": PENDULUM, "body": "nobody"}) == [("/body", "unknown_body")]
    flat = {"bodies": [{"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 5.0]}]}
    assert faults("energy", {"scene": flat})[0][0] == "/scene/bodies/0/inertia"
    bad = {**DROP, "gravity": [0, 0]}
    assert faults("energy", {"scene": bad})[0][0] == "/scene/gravity"
    assert faults("energy", {"scene": "no-such-example"})[0][1] == "unknown_example"
    crowd = {"bodies": [{"name": f"b{i}", "mass": 1, "inertia": [1, 1, 1]} for i in range(300)]}
    assert faults("mass-matrix", {"scene": crowd}) == [("/q", "limit_exceeded")]
