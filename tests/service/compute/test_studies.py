"""Searches that meet failed runs, and faults of a study at their place."""

import json
import math
import warnings

import numpy as np
import pytest
from scipy.optimize import curve_fit

from cardan.schemas import Limits
from cardan.schemas.study import StudyRequest
from cardan.service.compute.designs import (
    Design,
    Measures,
    best_of,
    deviations_of,
    slacks_of,
    violation_of,
)
from cardan.service.compute.measurements import with_values
from cardan.service.compute.messages import StudyOrder
from cardan.service.compute.searching import Ended, Search, SearchError
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


@pytest.mark.parametrize("column", ["q", "fz"])
def test_a_coordinate_that_the_joint_does_not_have_is_refused_by_its_place(column):
    signal = {"type": "signal", "joint": "shoulder", "column": column, "reduce": "rms"}
    faults_found = faults(variables=[MASS], objective=signal | {"coordinate": 1})
    assert faults_found == [("/objective/coordinate", "invalid_study")]


def test_measurements_from_a_table_are_what_the_request_may_hold():
    series = {"body": "lower", "column": "px", "csv_column": "way"}
    data = {"type": "data", "csv": "t,way\n0.2,1\n0.4,\n0.6,2\n", "series": [series]}
    filled, found = with_values(StudyRequest.model_validate(study(objective=data)))
    assert not found
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stored = filled.model_dump(mode="json")["objective"]["series"][0]
    assert (stored["times"], stored["values"]) == ([0.2, 0.6], [1.0, 2.0])


def searched(asked, measure):
    """Best design, its measures and the end of a search whose runs are a function."""
    known: dict[Design, Measures | None] = {}
    while True:
        found = Search(asked, known).next()
        if isinstance(found, Ended):
            return best_of(asked, known), known, found
        known |= {design: measure(design) for design in found}


def test_a_variable_on_its_bound_has_no_deviation():
    """2.0 exp(-3 t) is fitted with at most 1.5: the rate is fitted as if that is known."""
    times = np.linspace(0.0, 1.0, 40)
    noise = np.random.default_rng(0).normal(size=40)
    values = 2.0 * np.exp(-3.0 * times) + 0.01 * noise
    series = {"body": "b", "column": "px", "times": times.tolist(), "values": values.tolist()}
    objective = {"type": "data", "series": [series | {"deviation": 0.01}]}
    variables = [
        {"pointers": ["/v/0"], "lower": 0.1, "upper": 1.5},
        {"pointers": ["/v/1"], "lower": 0.1, "upper": 10.0, "scale": "log"},
    ]
    asked = StudyRequest.model_validate(study(variables=variables, objective=objective))

    def measure(design):
        residuals = design[0] * np.exp(-design[1] * times) - values
        return Measures((residuals / 0.01).tolist())

    best, _, ended = searched(asked, measure)
    assert best[0] == pytest.approx(1.5, abs=1e-3)
    at_bound, of_rate = deviations_of(asked, best, ended.covariance)
    assert math.isnan(at_bound)

    def one(t, rate):
        return 1.5 * np.exp(-rate * t)

    rate, covariance = curve_fit(one, times, values, p0=[1.0])
    assert best[1] == pytest.approx(rate[0], rel=1e-3)
    assert of_rate == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-2)


@pytest.mark.parametrize("bounds", [{"at_most": 0.0}, {"at_most": 0.0, "at_least": 0.0}])
def test_a_bound_of_zero_is_kept_within_a_share_of_what_the_quantity_was(bounds):
    """The least of |x - a|^2 in a circle, and on it, is on the ray to a."""
    centre, radius = np.array([0.9, 1.1]), 0.7
    variables = [{"pointers": [f"/v/{i}"], "lower": -2.0, "upper": 3.0} for i in range(2)]
    quantity = {"type": "metric", "metric": "energy.final"}
    asked = StudyRequest.model_validate(
        study(variables=variables, constraints=[{"quantity": quantity} | bounds])
    )

    def measure(design):
        x = np.array(design)
        return Measures([float(np.sum((x - centre) ** 2))], [float(x @ x - radius**2)])

    best, known, _ = searched(asked, measure)
    assert violation_of(asked, known[best], slacks_of(asked, known)) == 0.0
    nearest = (np.linalg.norm(centre) - radius) ** 2
    assert known[best].objective[0] == pytest.approx(nearest, rel=1e-4)


def test_a_search_that_stopped_before_failed_runs_says_so():
    """Its line search comes nearer to x = 0.5, where runs fail, and takes that for the minimum."""
    variables = [
        {"pointers": ["/v/0"], "lower": -2.0, "upper": 3.0},
        {"pointers": ["/v/1"], "lower": 0.1, "upper": 100.0, "scale": "log"},
    ]
    asked = StudyRequest.model_validate(study(variables=variables, method="l_bfgs_b"))

    def measure(design):
        x, y = design[0], math.log10(design[1])
        return Measures([(x - 1.0) ** 2 + (y - 1.0) ** 2]) if x > 0.5 else None

    best, _, ended = searched(asked, measure)
    assert best[0] < 0.9
    assert "Runs failed on the way" in ended.reason
