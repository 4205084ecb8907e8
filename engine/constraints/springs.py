"""The law of a spring-damper as a constraint row."""

from __future__ import annotations

from cardan.engine.bodies.forces import implicit_share
from cardan.engine.compiler.kernel import kernel

# damping [N s/m or N m s/rad], inverse mass [1/kg or 1/(kg m^2)]
Damper = tuple[float, float]


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
    damping, inverse_mass = damper
    theta = implicit_share(h * damping * inverse_mass)
    elastic = 0.25 * h * h * max(stiffness, 0.0)
    g = elastic + h * damping * theta
    known = h * damping * (1.0 - theta) - elastic
    return (h * force + known * speed) / g, 1.0 / g
