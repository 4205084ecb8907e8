"""Orders in joint coordinates, as a worker process answers them."""

import json

import numpy as np
import pytest

from cardan.engine import Dynamics
from cardan.schemas import Limits, load_scene
from cardan.schemas.dynamics import MAX_NUMBERS, MAX_STATES
from cardan.service.api.dynamics import ANSWERS
from cardan.service.compute.dynamics import COMPUTING, REQUESTS, compute
from cardan.service.errors import ServiceError
from tests.engine.trees.trees import random_scene

SCENE = random_scene(np.random.default_rng(8), 4, kinds=("hinge", "slider"))
LIMITS = Limits()


def ask(operation, arguments=None, scene=SCENE):
    return compute(operation, json.dumps(scene), arguments or {}, LIMITS)


def faults(*asked, **more):
    with pytest.raises(ServiceError) as refused:
        ask(*asked, **more)
    return refused.value.errors


def arrays(n):
    rng = np.random.default_rng(n)
    return {name: rng.normal(size=(n, 4)).tolist() for name in ("q", "qd", "qdd", "tau")}


def test_every_address_is_computed():
    assert set(ANSWERS) == set(REQUESTS) == set(COMPUTING)


def test_answers_are_the_engine_s():
    tree, a = Dynamics(load_scene(SCENE)), arrays(5)
    wanted = {
        "inverse": {"tau": tree.inverse_dynamics(a["q"], a["qd"], a["qdd"])},
        "forward": {"qdd": tree.forward_dynamics(a["q"], a["qd"], a["tau"])},
        "mass-matrix": {"mass_matrix": tree.mass_matrix(a["q"])},
        "bias": {"bias": tree.bias_forces(a["q"], a["qd"])},
        "kinematics": tree.kinematics(a["q"], a["qd"]),
        "energy": tree.energy(a["q"], a["qd"]),
        "momentum": tree.momentum(a["q"], a["qd"]),
    }
    for operation, values in wanted.items():
        answer = ask(operation, a)
        assert answer is not None, operation
        assert answer.keys() == values.keys()
        for name, value in values.items():
            assert np.array_equal(answer[name], value), (operation, name)
    answer = ask("jacobian", a | {"body": "b3", "point": (0.1, 0.2, 0.3)})
    assert np.array_equal(answer["jacobian"], tree.jacobian(a["q"], "b3", [0.1, 0.2, 0.3]))
    rate = tree.jacobian_rate(a["q"], a["qd"], "b3", [0.1, 0.2, 0.3])
    assert np.array_equal(answer["rate"], rate)


def test_answers_have_the_shape_that_is_published():
    a = arrays(2) | {"body": "b1", "point": (0.0, 0.0, 0.0)}
    for operation, (answer_model, _) in ANSWERS.items():
        answer = ask(operation, a)
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in answer.items()
        }
        answer_model.model_validate(plain)


def test_without_coordinates_it_is_the_start():
    start = ask("model")["start"]
    assert np.array_equal(ask("bias")["bias"], ask("bias", {"q": [start]})["bias"])


@pytest.mark.parametrize("operation", ["mass-matrix", "jacobian", "inverse"])
def test_answers_beyond_the_limit_are_refused(operation):
    # so many bodies that the largest number of states is too much
    scene = {"bodies": [{"name": f"b{i}", "mass": 1.0, "inertia": [1, 1, 1]} for i in range(50)]}
    q = [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] * 50] * MAX_STATES
    first = faults(operation, {"q": q, "body": "b1", "point": (0, 0, 0)}, scene)[0]
    assert (first["pointer"], first["code"]) == ("/q", "limit_exceeded")
    assert str(MAX_NUMBERS) in first["message"]


def test_faults_are_told_by_their_place():
    short = faults("inverse", {"q": [[0.0, 0.0]]})[0]
    assert (short["pointer"], short["code"]) == ("/q/0", "wrong_shape")
    nobody = faults("jacobian", {"body": "nobody", "point": (0, 0, 0)})
    assert nobody[0]["pointer"] == "/body"
    flat = {"bodies": [{"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 5.0]}]}
    assert faults("energy", scene=flat)[0]["pointer"] == "/scene/bodies/0/inertia"
