"""Complementarity problems and their solvers, apart from any scene: linear systems to friction.

>>> from cardan.engine.complementarity import solve_lcp
>>> solve_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]).x
array([1.33333333, 2.33333333])
"""

from cardan.engine.complementarity.certificate import excess, infeasibility
from cardan.engine.complementarity.classes import (
    solve_box_lcp,
    solve_cone,
    solve_lcp,
    solve_linear,
    solve_mixed_lcp,
)
from cardan.engine.complementarity.methods import METHODS, solve
from cardan.engine.complementarity.problem import Complementarity, ProblemError, problem
from cardan.engine.complementarity.programs import Program, solve_lp, solve_qp
from cardan.engine.complementarity.solution import MethodOptions, Solution, Stopped

__all__ = [
    "METHODS",
    "Complementarity",
    "MethodOptions",
    "ProblemError",
    "Program",
    "Solution",
    "Stopped",
    "excess",
    "infeasibility",
    "problem",
    "solve",
    "solve_box_lcp",
    "solve_cone",
    "solve_lcp",
    "solve_linear",
    "solve_lp",
    "solve_mixed_lcp",
    "solve_qp",
]
