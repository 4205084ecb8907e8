"""The laws of springs and drives with a damper as constraint rows."""

from __future__ import annotations

import math

from cardan.engine.bodies.forces import implicit_share
from cardan.engine.compiler.kernel import kernel

# damping [N s/m or N m s/rad], inverse mass [1/kg or 1/(kg m^2)]
Damper = tuple[float, float]


@kernel
def lagged_gain(stiffness: float, damper: Damper, lag: float, h: float) -> tuple[float, float]:
    """(gain, known): how the impulse of a spring-damper depends on J v after and before the kick.

        lam = -h [force + stiffness h/2 ((3 lag - 1) u+ - (1 - lag) u)]
              - h d ((1 - theta) u + theta u+)
            = -h force - gain u+ - known u,    u = J v less the rate of the target

    With lag = 1/2 the spring's force is the mean of those at both ends of the step. A larger lag
    adds a damper of (2 lag - 1) h stiffness with the implicit share 3/4; with lag = 1 the force is
    that in the middle of the next step, as by the implicit Euler rule.

    Reads   stiffness >= 0; damper = (d, inverse mass of the coordinate); lag from 1/2 to 1
    Check   tests/references/test_drives.py
    """
    damping, inverse_mass = damper
    theta = implicit_share(h * damping * inverse_mass)
    elastic = 0.5 * h * h * stiffness
    gain = (3.0 * lag - 1.0) * elastic + h * damping * theta
    return gain, h * damping * (1.0 - theta) - (1.0 - lag) * elastic


@kernel
def drive_gain(stiffness: float, damper: Damper, h: float) -> tuple[float, float]:
    """`lagged_gain` of a drive, which must follow its target even if it is stiff for the step.

    With p the phase of its oscillation per step, lag = 1/2 up to p = 2, where an explicit step
    would begin to diverge, then 1 - 1/p: oscillations that the step cannot resolve are damped, as
    velocities by a strong damper (implicit_share). Second order for p < 2; stable for any mass,
    as lag >= 1/2.

    Source  decision 0375
    Check   tests/references/test_drives.py
    """
    lag = implicit_share(h * math.sqrt(stiffness * damper[1]))
    return lagged_gain(stiffness, damper, lag, h)


@kernel
def spring_law(
    speed: float, force: float, stiffness: float, damper: Damper, h: float
) -> tuple[float, float]:
    """Bias and compliance of a spring-damper by the trapezoidal rule.

    Its force is the mean of those at both ends of the step:

        lam = -h [force + stiffness h/4 (J v+ - J v)] - h d ((1 - theta) J v + theta J v+)

    as a row:  g = h^2 k/4 + h d theta,  cfm = 1/g,
               bias = (h force + (h d (1 - theta) - h^2 k/4) J v)/g
    Second order, stable for any stiffness; conserves the energy of a linear spring. theta is 1/2
    unless the damper is so strong that the velocity would change its sign (implicit_share).

    Reads   speed J v before the kick; force [N or N m] in the middle of the step; stiffness its
            derivative there; damper = (d, inverse mass of the coordinate)
    Source  decision 0003
    Check   tests/references/test_springs.py
    """
    g, known = lagged_gain(max(stiffness, 0.0), damper, 0.5, h)
    return (h * force + known * speed) / g, 1.0 / g
