"""A function of joint parameters: the general form of limits and of relations."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.rows import Rows


@kernel
def scale_row(rows: Rows, row: int, slope: float) -> None:
    """The row of C(x) from the row of x: dC/dt = dC/dx dx/dt, slope = dC/dx.

        C(x(s)):   dC/dt = dC/dx  dx/ds S u

    Every x is a part (a distance along an axis, the cosine of an angle, a twist) whose row holds
    dx/ds S. Stops are C = x - lower and C = upper - x, slopes 1 and -1; a swing cone is
    C = limit - acos(x), slope 1/sin.

    Source  Constraint Notes n.d., generalised joint limits
    Check   tests/engine/constraints/test_rows.py
    """
    for k in range(6):
        rows.J_a[row, k] *= slope
        rows.J_b[row, k] *= slope


@kernel
def add_row(rows: Rows, row: int, slope: float, other: int) -> None:
    """Add another parameter's share: C(x1, x2, ...), dC/dt = sum of dC/dx_k dx_k/dt."""
    for k in range(6):
        rows.J_a[row, k] += slope * rows.J_a[other, k]
        rows.J_b[row, k] += slope * rows.J_b[other, k]
