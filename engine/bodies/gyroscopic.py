"""The gyroscopic term - w x (I w): what turns a spinning body although nothing pushes it."""

from __future__ import annotations

from engine.kernel import kernel
from engine.spatial.mat3 import load33, times_vector
from engine.spatial.quaternion import Quaternion, load4, multiply, rotate, rotate_back, unit
from engine.spatial.rotation import Mat3, exponential
from engine.spatial.vec3 import Vec3, add, add_scaled, cross, dot, load3, negate, scale
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
def kept_momentum(bodies: Bodies, state: State, i: int) -> Vec3:
    """Angular momentum about the centre of mass [N m s], W.

    The one of the last flight while the angular velocity is still the one it left; R I R^T w after
    a kick or a command. Computing L from w and w from L again would drift by rounding each time.
    """
    w = load3(state.w_WB_W, i)
    if w == load3(state.w_flown, i):
        return load3(state.L_flown, i)
    q = load4(state.q_WB, i)
    return rotate(q, times_vector(load33(bodies.inertia_B, i), rotate_back(q, w)))


@kernel
def keep_energy(inverse: Mat3, M: Vec3, twice_energy: float) -> Vec3:
    """The small rotation vector y [rad] with (exp(-y) M) . I^-1 (exp(-y) M) = twice_energy.

    Along y = c (M x w), w = I^-1 M, the energy falls by c |M x w|^2: one Newton step, whose error
    is the square of what was wrong. Where M x w vanishes the spin is steady and nothing is wrong;
    within 1e-4 rad of there the flight errs less than rounding, which 1/|M x w| would blow up.
    """
    w = times_vector(inverse, M)
    across = cross(M, w)
    slope = dot(across, across)
    if slope <= 1e-8 * dot(M, M) * dot(w, w):
        return (0.0, 0.0, 0.0)
    return scale(0.5 * (dot(M, w) - twice_energy) / slope, across)


@kernel
def free_rotation(bodies: Bodies, state: State, i: int, h: float) -> tuple[Quaternion, Vec3, Vec3]:
    """Orientation and angular velocity after free flight for a time h, and what was kept.

    The angular momentum L stays; the body turns with w = I^-1 L, which changes as it turns. Fourth
    order Runge-Kutta-Munthe-Kaas on the rotation vector x, in body axes at the start:

        k1 = w(0), k2 = w(h/2 k1), k3 = w(h/2 k2 + h^2/8 k1 x k2), k4 = w(h k3)
        x  = h/6 (k1 + 2 k2 + 2 k3 + k4 + h/2 k1 x k4)

    with the commutators signed for q exp(x). Then the body is turned by the little that is missing
    from its kinetic energy. L and the energy are kept to rounding, the orientation to fourth order.

    Returns q_WB; w (3,) rad/s, W; L (3,) N m s, W
    Source  Munthe-Kaas 1999; Owren and Marthinsen 1999 (the form with two commutators)
    Check   tests/laws/test_free_body.py: order four, L and energy to rounding
    """
    q = load4(state.q_WB, i)
    inverse = load33(bodies.inverse_inertia_B, i)
    L_W = kept_momentum(bodies, state, i)
    L = rotate_back(q, L_W)
    k1 = times_vector(inverse, L)
    k2 = spin_of(inverse, L, scale(0.5 * h, k1))
    k3 = spin_of(inverse, L, add_scaled(scale(0.5 * h, k2), 0.125 * h * h, cross(k1, k2)))
    k4 = spin_of(inverse, L, scale(h, k3))
    total = add(add(k1, k4), scale(2.0, add(k2, k3)))
    x = exponential(scale(h / 6.0, add_scaled(total, 0.5 * h, cross(k1, k4))))
    y = keep_energy(inverse, rotate_back(x, L), dot(k1, L))
    q_new = unit(multiply(multiply(q, x), exponential(y)))
    return q_new, rotate(q_new, times_vector(inverse, rotate_back(q_new, L_W))), L_W
