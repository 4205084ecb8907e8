"""Searches that meet failed runs, and faults of a study at their place."""

import json
import warnings

import pytest

from cardan.schemas import Limits
from cardan.schemas.study import StudyRequest
from cardan.service.compute.designs import Design, Measures
from cardan.service.compute.measurements import with_values
from cardan.service.compute.messages import StudyOrder
from cardan.service.compute.searching import Search, SearchError
from cardan.service.compute.studies import take
from cardan.service.errors import ServiceError

MASS = {"pointers": ["/bodies/1/mass"], "lower": 0.5, "upper": 2.0}


def study(**more):
    objective = {"type": "metric", "metric": "energy.final"}
    return {"scene": "double-pendulum", "variables": [MASS], "objective": objective} | more


def test_a_search_without_a_derivative_asks_for_no_design_that_is_no_number():
    asked = StudyRequest.model_validate(study(method="l_bfgs_b"))

    def search():
        known: dict[Design, Measures | None] = {}
        for _ in range(asked.max_evaluations):
            designs = Search(asked, known).next()
            assert isinstance(designs, list)
            known |= dict.fromkeys(designs)
            assert all(0.5 <= mass <= 2.0 for (mass,) in known)

    with pytest.raises(SearchError, match="the value of a failed run"):
        search()


def faults(**more):
    with pytest.raises(ServiceError) as refused:
        take(StudyOrder(json.dumps(study(**more)).encode(), 1000), Limits())
    return [(fault["pointer"], fault["code"]) for fault in refused.value.errors]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ([MASS | {"lower": -1.0, "start": 1.0}], ("/variables/0/lower", "out_of_range")),
        (
            [MASS, MASS | {"pointers": ["/bodies/7/mass"]}],
            ("/variables/1/pointers/0", "pointer_not_found"),
        ),
        ([MASS | {"pointers": ["/bodies/1/mas"]}], ("/variables/0/pointers/0", "unknown_field")),
        (
            [MASS | {"pointers": ["/simulation/dt"], "lower": 1e-4, "upper": 1e9, "start": 1e-3}],
            ("/variables/0/upper", "out_of_range"),
        ),
    ],
)
def test_a_fault_is_at_the_bound_or_the_pointer_that_has_it_and_told_once(variables, expected):
    assert faults(variables=variables) == [expected]


def test_measurements_from_a_table_are_what_the_request_may_hold():
    series = {"body": "lower", "column": "px", "csv_column": "way"}
    data = {"type": "data", "csv": "t,way\n0.2,1\n0.4,\n0.6,2\n", "series": [series]}
    filled, found = with_values(StudyRequest.model_validate(study(objective=data)))
    assert not found
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stored = filled.model_dump(mode="json")["objective"]["series"][0]
    assert (stored["times"], stored["values"]) == ([0.2, 0.6], [1.0, 2.0])
