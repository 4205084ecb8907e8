"""Complementarity problems as documents: every class answered, every fault at its place."""

import json
from typing import Any

import pytest

from cardan.schemas.complementarity import ComplementarityAnswer
from cardan.service.compute import messages as m
from cardan.service.compute.complementarity import solve
from cardan.service.errors import ErrorCode, ServiceError

LCP: dict[str, Any] = {"type": "lcp", "M": [[2, 1], [1, 2]], "q": [-5, -6]}
SPARSE = {"rows": [0, 0, 1, 1], "columns": [0, 1, 0, 1], "values": [2, 1, 1, 2]}
SLIDING: dict[str, Any] = {
    "type": "cone",
    "W": [[1, 0], [0, 1]],
    "q": [-1, 2],
    "mu": [0.5],
    "dimension": 2,
}
ANSWERS = [
    ({"type": "linear", "A": [[2, 0], [0, 4]], "b": [2, 4]}, [1, 1]),
    (LCP, [4 / 3, 7 / 3]),
    ({**LCP, "M": SPARSE}, [4 / 3, 7 / 3]),
    ({**LCP, "type": "mixed_lcp", "equations": [0]}, [4 / 3, 7 / 3]),
    ({"type": "box_lcp", "A": [[1]], "b": [-3], "lo": [None], "hi": [2]}, [2]),
    (SLIDING, [1, -0.5]),
    ({"type": "lp", "c": [-1, -1], "A_ub": [[1, 2]], "b_ub": [4], "hi": [3, None]}, [3, 0.5]),
    ({"type": "qp", "P": [[2, 0], [0, 2]], "c": [0, 0], "A_eq": [[1, 1]], "b_eq": [1]}, [0.5, 0.5]),
]


def ask(problem, **solver):
    written = solve(m.SolveOrder(json.dumps({"problem": problem, "solver": solver}).encode()))
    return json.loads(written.body)


@pytest.mark.parametrize(("problem", "x"), ANSWERS, ids=lambda value: str(value)[:30])
def test_every_class_is_answered(problem, x):
    answer = ComplementarityAnswer.model_validate(ask(problem))
    assert answer.solved
    assert answer.x == pytest.approx(x, abs=1e-9)
    assert (answer.program is not None) == (problem["type"] in ("lp", "qp"))


def test_the_relaxation_carries_its_coulomb_error():
    relaxed = ask({**SLIDING, "law": "relaxed"})
    assert relaxed["solved"]
    assert relaxed["w"][0] == pytest.approx(0.5 * relaxed["w"][1], rel=1e-6)
    assert relaxed["coulomb_error"] > 0.1


def test_what_has_no_solution_is_said():
    answer = ask({"type": "lcp", "M": [[-1]], "q": [-1]})
    assert (answer["solved"], answer["stopped"]) == (False, "no_solution")
    verdict = ask({"type": "lp", "c": [-1]})["program"]["verdict"]
    assert verdict == "unbounded"


def test_history_is_returned_on_request():
    answer = ask(LCP, method="gauss_seidel", history=True)
    assert len(answer["history"]) == answer["iterations"] > 1


@pytest.mark.parametrize(
    ("problem", "solver", "pointer"),
    [
        ({**LCP, "q": [1]}, {}, "/problem/M"),
        ({**LCP, "M": [[1], [1, 2]]}, {}, "/problem/M"),
        ({**LCP, "M": {**SPARSE, "rows": [0, 0, 1]}}, {}, "/problem/M"),
        ({**SLIDING, "mu": [0.5, 0.5]}, {}, "/problem/q"),
        (SLIDING, {"method": "lemke"}, "/solver/method"),
        (LCP, {"guess": [1]}, "/solver/guess"),
        ({"type": "qp", "P": [[-1]], "c": [1]}, {}, "/problem/P"),
        ({"type": "lp", "c": [1], "lo": [2], "hi": [1]}, {}, "/problem/lo"),
    ],
)
def test_faults_point_at_their_place(problem, solver, pointer):
    with pytest.raises(ServiceError) as refused:
        ask(problem, **solver)
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    assert [fault["pointer"] for fault in refused.value.errors] == [pointer]
