"""The search of a study: which designs come next, and when it is over.

A search keeps no state of its own. It begins anew with every call, is given the values of all
designs that were evaluated, and ends with the first ones that were not: a search that goes on after
a restart, in another process, takes the same way. Its own work is quadratic in the number of
evaluations, and small beside theirs.

Variables are scaled to [1, 2]: differences relative to their values are then shares of the range.

Source: SciPy's Nelder-Mead, L-BFGS-B, COBYQA (Ragonneau and Zhang 2024), differential evolution and
least_squares (trust region reflective); CMA-ES (Hansen 2016) of the package cma.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.schemas.study import StudyRequest
from cardan.service.compute.designs import (
    Design,
    Measures,
    design_of,
    method_of,
    objective_of,
    scaled,
    start_of,
)

Vector = npt.NDArray[np.float64]

# half the width of central differences, as a share of the range: above the noise of contacts that
# begin a step earlier or later
DIFFERENCE = 1e-3
# first standard deviation of CMA-ES, as a share of the ranges
SIGMA = 0.25


@dataclass(frozen=True)
class Ended:
    """The search is over: why, and the covariance of the scaled variables of a fit."""

    reason: str
    covariance: Vector | None = None


class SearchError(Exception):
    """The search cannot go on; the text says why."""


class _UnknownError(Exception):
    """These designs are to be evaluated."""

    def __init__(self, designs: list[Design]) -> None:
        super().__init__(designs)
        self.designs = designs


class Search:
    """One request, and the values of the designs that were evaluated (`None`: the run failed)."""

    def __init__(self, asked: StudyRequest, known: Mapping[Design, Measures | None]) -> None:
        """Take what is known."""
        self._asked = asked
        self._known = known
        self._method = method_of(asked)
        self._n = len(asked.variables)
        objective = asked.objective
        self._sign = -1.0 if objective.type != "data" and objective.goal == "maximise" else 1.0

    def next(self) -> list[Design] | Ended:
        """The designs to evaluate next, at most as many as the budget has left, or the end.

        Raises SearchError.
        """
        left = self._asked.max_evaluations - len(self._known)
        methods: Mapping[str, Callable[[], Ended]] = {
            "nelder_mead": self._nelder_mead,
            "l_bfgs_b": self._l_bfgs_b,
            "cobyqa": self._cobyqa,
            "differential_evolution": self._differential_evolution,
            "cma_es": self._cma_es,
            "least_squares": self._least_squares,
        }
        try:
            # warnings of the libraries are about runs that failed
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return methods[self._method]()
        except _UnknownError as unknown:
            designs = list(dict.fromkeys(unknown.designs))
            if left <= 0:
                most = self._asked.max_evaluations
                used = f"All {most} evaluations are" if most > 1 else "The one evaluation is"
                return Ended(f"{used} used.")
            return designs[:left]
        except (ValueError, np.linalg.LinAlgError) as error:
            raise SearchError(f"{self._method} cannot go on: {error}") from error

    def _measures(self, v: Vector) -> Measures | None:
        if not np.isfinite(v).all():
            # a derivative, or a model, of values of which one is infinite
            raise SearchError(f"{self._method} cannot go on: it needs the value of a failed run.")
        design = design_of(self._asked.variables, v)
        if design not in self._known:
            raise _UnknownError([design])
        return self._known[design]

    def _value(self, v: Vector) -> float:
        """What is minimised; infinite where the run failed."""
        value = objective_of(self._asked, self._measures(v))
        return math.inf if value is None else self._sign * value

    def _residuals(self, v: Vector) -> Vector:
        found = self._measures(v)
        if found is None:
            return np.full(self._n_residuals, math.inf)
        return np.asarray(found.objective)

    @property
    def _n_residuals(self) -> int:
        lengths = [len(one.objective) for one in self._known.values() if one is not None]
        return max(lengths, default=1)

    def _start(self) -> Vector:
        return np.array(
            [scaled(variable, start_of(variable)) for variable in self._asked.variables]
        )

    def _bounds(self) -> list[tuple[float, float]]:
        return [(1.0, 2.0)] * self._n

    def _minimize(self, method: str, value: Callable[[Vector], float], **more: Any) -> Ended:
        from scipy.optimize import minimize

        found = minimize(value, self._start(), method=method, bounds=self._bounds(), **more)
        return Ended(_sentence(found.message))

    def _nelder_mead(self) -> Ended:
        start = self._start()
        simplex = np.tile(start, (self._n + 1, 1))
        for i in range(self._n):
            # inwards from the nearer end
            simplex[i + 1, i] += SIGMA if start[i] <= 1.5 else -SIGMA
        missing = []
        for corner in simplex:
            design = design_of(self._asked.variables, corner)
            if design not in self._known:
                missing.append(design)
        if missing:
            raise _UnknownError(missing)
        options = {
            "xatol": self._asked.tolerance,
            # differences of infinite values are no numbers, and end nothing
            "fatol": math.inf,
            "initial_simplex": simplex,
            "maxfev": 10 * self._asked.max_evaluations,
        }
        return self._minimize("Nelder-Mead", self._value, options=options)

    def _l_bfgs_b(self) -> Ended:
        options = {
            "finite_diff_rel_step": DIFFERENCE,
            "workers": _map,
            "ftol": self._asked.tolerance**2,
            "gtol": 0.0,
        }
        found = self._minimize("L-BFGS-B", self._value, jac="3-point", options=options)
        if None in self._known.values():
            # a line search shortens its steps before a run that failed, and then counts as done
            return Ended(f"{found.reason} Runs failed on the way: the minimum may be elsewhere.")
        return found

    def _cobyqa(self) -> Ended:
        from scipy.optimize import NonlinearConstraint

        bounded = self._asked.constraints

        def quantities(v: Vector) -> Vector:
            found = self._measures(v)
            return np.full(len(bounded), np.nan) if found is None else np.array(found.constraints)

        low = [-math.inf if one.at_least is None else one.at_least for one in bounded]
        high = [math.inf if one.at_most is None else one.at_most for one in bounded]
        constraints = [NonlinearConstraint(quantities, low, high)] if bounded else []
        options = {
            "initial_tr_radius": SIGMA,
            "final_tr_radius": min(self._asked.tolerance, SIGMA),
            "maxfev": 10 * self._asked.max_evaluations,
            "maxiter": 10 * self._asked.max_evaluations,
        }
        return self._minimize("COBYQA", self._value, constraints=constraints, options=options)

    def _differential_evolution(self) -> Ended:
        from scipy.optimize import differential_evolution

        found = differential_evolution(
            self._value,
            self._bounds(),
            x0=self._start(),
            rng=np.random.default_rng(self._asked.seed),
            init="sobol",
            tol=0.0,
            atol=0.0,
            # the members of a generation differ by less than the tolerance
            callback=lambda intermediate_result: bool(
                np.ptp(intermediate_result.population, axis=0).max() < self._asked.tolerance
            ),
            maxiter=self._asked.max_evaluations,
            polish=False,
            updating="deferred",
            workers=_map,
        )
        return Ended(_sentence(found.message))

    def _cma_es(self) -> Ended:
        import cma

        options = {
            "bounds": [1.0, 2.0],
            # zero would be a seed from the clock
            "seed": self._asked.seed % (2**31) + 1,
            "tolx": self._asked.tolerance,
            "verbose": -9,
            "verb_log": 0,
        }
        strategy = cma.CMAEvolutionStrategy(self._start(), SIGMA, options)
        while not strategy.stop():
            points = strategy.ask()
            strategy.tell(points, list(_map(self._value, points)))
        reasons = ", ".join(sorted(strategy.stop()))
        return Ended(f"CMA-ES ended by its condition {reasons}.")

    def _least_squares(self) -> Ended:
        from scipy.optimize import least_squares

        found = least_squares(
            self._residuals,
            self._start(),
            jac="3-point",
            bounds=(1.0, 2.0),
            diff_step=DIFFERENCE,
            xtol=self._asked.tolerance,
            ftol=1e-12,
            gtol=1e-14,
            max_nfev=10 * self._asked.max_evaluations,
            workers=_map,
        )
        # the search stays inside of its bounds, and comes as near to them as it ends
        inside = np.abs(found.x - 1.5) < 0.5 - self._asked.tolerance
        return Ended(_sentence(found.message), _covariance(found.jac, found.fun, inside))


def _map(evaluate: Callable[[Any], Any], points: Iterable[Any]) -> list[Any]:
    """Evaluate all points, so that unknown ones are asked for together."""
    values, unknown = [], []
    for point in points:
        try:
            values.append(evaluate(point))
        except _UnknownError as error:
            unknown += error.designs
    if unknown:
        raise _UnknownError(unknown)
    return values


def _covariance(
    jacobian: Vector, residuals: Vector, inside: npt.NDArray[np.bool_]
) -> Vector | None:
    """(J^T J)^-1 |r|^2 / (m - n) of the n variables that ended inside of their bounds, else nan.

    `None` where the data determine no unique answer. A variable on its bound is known to be there:
    the scatter of the data says nothing of it.

    Source: Seber and Wild 1989, Nonlinear Regression, section 2.1.2
    """
    part = jacobian[:, inside]
    m, n = part.shape
    if n == 0 or m <= n or np.linalg.matrix_rank(part) < n:
        return None
    found = np.full((len(inside), len(inside)), np.nan)
    found[np.ix_(inside, inside)] = np.linalg.inv(part.T @ part) * (residuals @ residuals) / (m - n)
    return found


def _sentence(message: Any) -> str:
    text = message.decode() if isinstance(message, bytes) else str(message)
    return text.strip().rstrip(".") + "."
