import pytest

from cardan.schemas.complementarity import MAX_UNKNOWNS

pytestmark = pytest.mark.e2e
LCP = {"type": "lcp", "M": [[2, 1], [1, 2]], "q": [-5, -6]}


def post(client, problem, **solver):
    return client.post("/v1/complementarity", json={"problem": problem, "solver": solver})


def test_a_problem_is_solved_and_measured(client):
    answer = post(client, LCP)
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert said["x"] == pytest.approx([4 / 3, 7 / 3])
    assert said["residual"] < 1e-12
    assert (said["solved"], said["stopped"], said["method"]) == (True, "exact", "pivoting")


@pytest.mark.parametrize("body", [{}, {"solver": {"tolerance": 1e-9}}])
def test_a_request_without_a_problem_is_told_so(client, body):
    answer = client.post("/v1/complementarity", json=body)
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == ["/problem"]


@pytest.mark.parametrize(
    ("problem", "solver", "pointer"),
    [
        ({**LCP, "q": [1]}, {}, "/problem/M"),
        ({**LCP, "q": ["1", 2]}, {}, "/problem/q/0"),
        ({"type": "ilp"}, {}, "/problem/type"),
        ({**LCP, "q": [0] * (MAX_UNKNOWNS + 1)}, {}, "/problem/q"),
        (LCP, {"method": "magic"}, "/solver/method"),
        (LCP, {"relaxation": 2}, "/solver/relaxation"),
    ],
)
def test_faults_are_problems_with_pointers(client, problem, solver, pointer):
    answer = post(client, problem, **solver)
    assert answer.status_code == 422, answer.text
    body = answer.json()
    assert body["code"] == "invalid_request"
    assert pointer in [fault["pointer"] for fault in body["errors"]]


def test_faults_have_the_names_of_the_request(client):
    asked = {"problem": {"type": "lcp", "M": [[2, 1], [1, 2]], "q": [-5]}}
    answer = client.post("/v1/complementarity", json=asked)
    (fault,) = answer.json()["errors"]
    assert fault["pointer"] == "/problem/M"
    assert fault["message"] == "It has 2 rows; `q` has 1 entries."


def test_it_is_in_the_reference(client):
    document = client.get("/openapi.json").json()
    assert "post" in document["paths"]["/v1/complementarity"]
    assert "ConeProblem" in document["components"]["schemas"]
