"""Softness of constraint rows in a substep, from a frequency and a damping ratio.

    m x'' + 2 zeta omega m x' + omega^2 m x = 0,   m = 1/D the effective mass of the row

by implicit Euler over h is the row  w = J v + rate x + gamma lam  with

    a1 = 2 zeta + h omega,   a2 = h omega a1
    rate = omega/a1,   gamma = D/a2

This is stable for any h if rows are solved exactly. A single sweep does not converge for loads
carried through many bodies, and rows stiffer than an eighth of a turn per substep then oscillate.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, NamedTuple

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct

if TYPE_CHECKING:
    from cardan.engine.world.options import StepOptions

# turns per substep: default of stops and contacts; largest for any row
STIFF, STIFFEST = 0.125, 0.25
# damping ratio of equations
EQUATION_DAMPING = 5.0


@struct
class Softness(NamedTuple):
    """Softness parameters of a step."""

    step: float  # s         of the step
    h: float  # s            of a substep
    rate: float  # 1/s       share of a stop's or contact's violation removed per second
    compliance: float  # -   gamma/D = 1/a2
    joint_rate: float  # 1/s the same of equations
    joint_compliance: float  # -
    fastest: float  # m/s    push-out of contacts


@kernel
def soft_pair(omega: float, zeta: float, h: float) -> tuple[float, float]:
    """rate [1/s] and gamma/D of a frequency omega [rad/s] and damping ratio zeta."""
    a1 = 2.0 * zeta + h * omega
    return omega / a1, 1.0 / (h * omega * a1)


@kernel
def softness_of(options: StepOptions, step: float) -> Softness:
    """Softness in the substeps of a step [s]; frequency 0 selects the default.

    Source  Catto 2011, "Soft Constraints"; Macklin et al. 2019, "Small Steps in Physics Simulation"
    Check   tests/engine/solvers/substeps/test_substeps.py
    """
    solver = options.solver
    h = step / solver.substeps
    frequency = min(solver.frequency, STIFFEST / h) if solver.frequency > 0.0 else STIFF / h
    rate, compliance = soft_pair(2.0 * pi * frequency, solver.damping_ratio, h)
    joint_rate, joint_compliance = soft_pair(2.0 * pi * STIFFEST / h, EQUATION_DAMPING, h)
    fastest = options.max_correction_speed
    return Softness(step, h, rate, compliance, joint_rate, joint_compliance, fastest)
