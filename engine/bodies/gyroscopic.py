"""The gyroscopic term - w x (I w): what turns a spinning body although nothing pushes it."""

from __future__ import annotations

from engine.kernel import kernel
from engine.spatial.mat3 import load33, times_vector
from engine.spatial.quaternion import Quaternion, load4, multiply, rotate, rotate_back, unit
from engine.spatial.rotation import Mat3, exponential
from engine.spatial.vec3 import Vec3, add, add_scaled, cross, load3, negate, scale, sub
from engine.world.model import Bodies
from engine.world.state import State


@kernel
def is_round(inertia: Mat3) -> bool:
    """Whether all principal moments are equal: such a body spins without turning its axis."""
    return (
        inertia[0][0] == inertia[1][1]
        and inertia[0][0] == inertia[2][2]
        and inertia[0][1] == 0.0
        and inertia[0][2] == 0.0
        and inertia[1][2] == 0.0
    )


@kernel
def free_turning(bodies: Bodies, state: State, i: int) -> Vec3:
    """dw/dt of a body on which no torque acts: -I^-1 (w x I w) [rad/s^2], W."""
    q = load4(state.q_WB, i)
    w = rotate_back(q, load3(state.w_WB_W, i))
    torque = cross(w, times_vector(load33(bodies.inertia_B, i), w))
    return rotate(q, negate(times_vector(load33(bodies.inverse_inertia_B, i), torque)))


@kernel
def spin_of(inverse: Mat3, momentum_B: Vec3, turn: Vec3) -> Vec3:
    """I^-1 L in body axes, after the body has turned by the rotation vector `turn` (body axes)."""
    return times_vector(inverse, rotate_back(exponential(turn), momentum_B))


@kernel
def free_rotation(bodies: Bodies, state: State, i: int, h: float) -> tuple[Quaternion, Vec3]:
    """Orientation and angular velocity after free flight for a time h.

    The angular momentum L stays; the body turns with w = I^-1 L, which changes as it turns. Fourth
    order Runge-Kutta-Munthe-Kaas on the rotation vector x, in body axes at the start:

        k1 = w(0), k2 = w(h/2 k1), k3 = w(h/2 k2 + h^2/8 k1 x k2), k4 = w(h k3)
        x  = h/6 (k1 + 2 k2 + 2 k3 + k4 + h/2 k1 x k4)

    with the commutators signed for q exp(x). L is kept to rounding, because the new angular
    velocity is computed from it.

    Returns q_WB and w (3,) rad/s, W
    Source  Munthe-Kaas 1999; Owren and Marthinsen 1999 (the form with two commutators)
    Check   tests/laws/test_free_body.py: order four, L to rounding
    """
    q = load4(state.q_WB, i)
    inverse = load33(bodies.inverse_inertia_B, i)
    w = rotate_back(q, load3(state.w_WB_W, i))
    L = times_vector(load33(bodies.inertia_B, i), w)
    k1 = w
    k2 = spin_of(inverse, L, scale(0.5 * h, k1))
    k3 = spin_of(inverse, L, add_scaled(scale(0.5 * h, k2), 0.125 * h * h, cross(k1, k2)))
    k4 = spin_of(inverse, L, scale(h, k3))
    total = add(add(k1, k4), scale(2.0, add(k2, k3)))
    x = scale(h / 6.0, add_scaled(total, 0.5 * h, cross(k1, k4)))
    q_new = unit(multiply(q, exponential(x)))
    # one step of refinement: the rounding of I^-1 would otherwise drift L the same way every step
    L_new = rotate_back(exponential(x), L)
    w_new = times_vector(inverse, L_new)
    error = sub(L_new, times_vector(load33(bodies.inertia_B, i), w_new))
    return q_new, rotate(q_new, add(w_new, times_vector(inverse, error)))
