"""Linear programs with friction cones, by cutting planes.

    minimise c x   with  A x = b,  lo <= x <= hi,  |x[t1], x[t2]| <= mu x[n] for each cone

A cone is the intersection of its tangent planes; planes are added where a solution is outside,
until none is. Every program that is solved on the way contains the true one: if it has no solution,
the true one has none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

Array = NDArray[np.float64]

# tangent planes of each cone at the beginning
FIRST_PLANES = 8
MOST_ROUNDS = 60
# share of all forces by which a solution may be outside of a cone
OUTSIDE = 1e-9
# status of scipy.optimize.linprog
INFEASIBLE, UNBOUNDED = 2, 3


class Cone(NamedTuple):
    """|x[tangents]| <= mu x[normal], or <= mu where there is no normal."""

    normal: int  # -1: the bound is mu itself
    tangents: tuple[int, ...]
    mu: float


class Program(NamedTuple):
    """A linear program with cones."""

    A: Array  # (m, n)
    b: Array  # (m,)
    lo: Array  # (n,)
    hi: Array  # (n,)
    cones: list[Cone]


class Solved(NamedTuple):
    """Solution of a program."""

    x: Array | None  # (n,)  None: there is none, or it has no bound
    dual: Array  # (m,)  change of the least cost by b
    unbounded: bool


def minimise(program: Program, cost: Array) -> Solved:
    """The solution of least cost . x."""
    n = len(program.lo)
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    bounds: list[float] = []

    def cut(cone: Cone, direction: Array) -> None:
        row = len(bounds)
        for place, share in zip(cone.tangents, direction, strict=True):
            rows.append(row)
            columns.append(place)
            values.append(float(share))
        if cone.normal >= 0:
            rows.append(row)
            columns.append(cone.normal)
            values.append(-cone.mu)
        bounds.append(0.0 if cone.normal >= 0 else cone.mu)

    for cone in program.cones:
        for direction in _directions(len(cone.tangents)):
            cut(cone, direction)
    solved = Solved(None, np.zeros(len(program.b)), False)
    for _ in range(MOST_ROUNDS):
        matrix = coo_array((values, (rows, columns)), shape=(len(bounds), n)) if bounds else None
        found = linprog(
            cost,
            A_ub=matrix.tocsr() if matrix is not None else None,
            b_ub=bounds if bounds else None,
            A_eq=program.A,
            b_eq=program.b,
            bounds=np.stack([program.lo, program.hi], axis=1),
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        if found.x is None:
            # planes that nearly coincide may stop the solver: what was found before is a bound
            lost = solved.x is None or found.status == INFEASIBLE
            return Solved(None, solved.dual, found.status == UNBOUNDED) if lost else solved
        solved = Solved(found.x, np.asarray(found.eqlin.marginals), False)
        outside = False
        for cone in program.cones:
            tangent = found.x[list(cone.tangents)]
            size = float(np.linalg.norm(tangent))
            radius = cone.mu * (float(found.x[cone.normal]) if cone.normal >= 0 else 1.0)
            if size > radius + OUTSIDE * max(1.0, size):
                cut(cone, tangent / size)
                outside = True
        if not outside:
            return solved
    return solved


def _directions(n: int) -> list[Array]:
    """Directions of the first tangent planes in a space of n tangents."""
    if n == 2:
        angles = 2.0 * np.pi * np.arange(FIRST_PLANES) / FIRST_PLANES
        return [np.array([np.cos(a), np.sin(a)]) for a in angles]
    return [sign * axis for axis in np.eye(n) for sign in (1.0, -1.0)]
