"""Scratch of Newton's methods for problems that are no step's."""

from __future__ import annotations

import numpy as np

from cardan.engine.solvers.newton.proximal_newton import ProximalNewtonScratch
from tests.engine.solvers.box_lcp import make_newton


def make_proximal_newton(n: int) -> ProximalNewtonScratch:
    """Scratch of solve_proximal_newton for n rows."""
    return ProximalNewtonScratch(make_newton(n), *(np.zeros(n) for _ in range(6)))
