"""The gyroscopic torque -w x (I w), and torque-free rotation."""

from __future__ import annotations

from typing import Any

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import lane_form_of, select
from cardan.engine.spatial.mat3 import load33, times_vector, transposed
from cardan.engine.spatial.quaternion import (
    Quaternion,
    load4,
    multiply,
    rotate,
    rotate_back,
    unit_again,
)
from cardan.engine.spatial.rotation import Mat3, exponential, matrix
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, cross, dot, load3, scale
from cardan.engine.world.model import Bodies
from cardan.engine.world.state import State


@kernel
def is_round(inertia: Mat3) -> bool:
    """Whether all principal moments are equal: free rotation then has a constant axis."""
    return (
        inertia[0][0] == inertia[1][1]
        and inertia[0][0] == inertia[2][2]
        and inertia[0][1] == 0.0
        and inertia[0][2] == 0.0
        and inertia[1][2] == 0.0
    )


@kernel
def gyroscopic_acceleration_in(R: Mat3, inertia: Mat3, inverse: Mat3, w_W: Vec3) -> Vec3:
    """dw/dt of a torque-free body: -I^-1 (w x I w) [rad/s^2], W; R = R_WB."""
    w = times_vector(transposed(R), w_W)
    return times_vector(R, times_vector(inverse, cross(times_vector(inertia, w), w)))


@kernel
def gyroscopic_acceleration(bodies: Bodies, state: State, i: int) -> Vec3:
    """`gyroscopic_acceleration_in` of body i."""
    inertia, inverse = load33(bodies.inertia_B, i), load33(bodies.inverse_inertia_B, i)
    R = matrix(load4(state.q_WB, i))
    return gyroscopic_acceleration_in(R, inertia, inverse, load3(state.w_WB_W, i))


@kernel
def conserved_momentum(bodies: Bodies, state: State, i: int) -> Vec3:
    """Angular momentum about the centre of mass [N m s], W.

    L of the last drift as long as w is unchanged since then; R I R^T w after a kick or a command.
    Computing w from L and L from w again in every step would accumulate rounding errors.
    """
    w = load3(state.w_WB_W, i)
    if w == load3(state.w_drifted, i):
        return load3(state.L_conserved, i)
    q = load4(state.q_WB, i)
    return rotate(q, times_vector(load33(bodies.inertia_B, i), rotate_back(q, w)))


@kernel
def project_on_energy(inverse: Mat3, M: Vec3, twice_energy: float) -> Vec3:
    """The small rotation vector y [rad] with (exp(-y) M) . I^-1 (exp(-y) M) = twice_energy.

    Along y = c (M x w), w = I^-1 M, the energy falls by c |M x w|^2: one Newton step, whose error
    is the square of the initial one. If M x w = 0, the rotation is steady and the error is zero;
    within 1e-4 rad of that state the error is below rounding, which 1/|M x w| would amplify.
    """
    w = times_vector(inverse, M)
    across = cross(M, w)
    slope = dot(across, across)
    if slope <= 1e-8 * dot(M, M) * dot(w, w):
        return (0.0, 0.0, 0.0)
    return scale(0.5 * (dot(M, w) - twice_energy) / slope, across)


@lane_form_of(project_on_energy)
def project_on_energy_of_lanes(inverse: Mat3, M: Vec3, twice_energy: Any) -> Vec3:
    """The same; no rotation where it is steady."""
    w = times_vector(inverse, M)
    across = cross(M, w)
    slope = dot(across, across)
    steady = slope <= 1e-8 * dot(M, M) * dot(w, w)
    x, y, z = scale(0.5 * (dot(M, w) - twice_energy) / slope, across)
    return select(steady, 0.0, x), select(steady, 0.0, y), select(steady, 0.0, z)


@kernel
def crossed(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> Vec3:
    """A x b + c x d."""
    return add(cross(a, b), cross(c, d))


@kernel
def free_rotation_vector(inverse: Mat3, M: Vec3, h: float) -> Vec3:
    """The rotation vector [rad] of free flight for a time h, in body axes at its start.

    Power series, with J = I^-1, M = sum M_k t^k and w = sum w_k t^k in the body's axes:

        M' = M x w:    M_k+1 = 1/(k+1) sum M_j x w_k-j        w_k = J M_k
        x' = w + 1/2 x x w + 1/12 x x (x x w) - ...           x = sum x_k t^k

    truncated after five terms: an error of sixth order in h.

    Source  Iserles, Munthe-Kaas, Norsett and Zanna 2000, the equation of x
    Check   tests/laws/test_free_body.py
    """
    w = times_vector(inverse, M)
    M1 = cross(M, w)
    w1 = times_vector(inverse, M1)
    M2 = scale(1.0 / 2.0, crossed(M1, w, M, w1))
    w2 = times_vector(inverse, M2)
    M3 = scale(1.0 / 3.0, add(crossed(M2, w, M1, w1), cross(M, w2)))
    w3 = times_vector(inverse, M3)
    M4 = scale(1.0 / 4.0, add(crossed(M3, w, M2, w1), crossed(M1, w2, M, w3)))
    w4 = times_vector(inverse, M4)
    first, second = cross(w, w1), cross(w, w2)
    x2 = scale(1.0 / 2.0, w1)
    x3 = add_scaled(scale(1.0 / 3.0, w2), 1.0 / 12.0, first)
    x4 = add_scaled(scale(1.0 / 4.0, w3), 1.0 / 12.0, second)
    on_w = add_scaled(
        add_scaled(scale(0.375, w3), 1.0 / 72.0, second), -1.0 / 144.0, cross(w, first)
    )
    on_w1 = add_scaled(scale(1.0 / 12.0, w2), -1.0 / 48.0, first)
    x5 = scale(1.0 / 5.0, add(w4, crossed(w, on_w, w1, on_w1)))
    x = add_scaled(x3, h, add_scaled(x4, h, x5))
    return scale(h, add_scaled(w, h, add_scaled(x2, h, x)))


@kernel
def free_rotation(q: Quaternion, inverse: Mat3, L: Vec3, h: float) -> tuple[Quaternion, Vec3]:
    """Orientation and angular velocity after free rotation for a time h, of one body or of four.

    L is constant; w = I^-1 L changes as the body rotates, see free_rotation_vector. The small
    rotation y of project_on_energy then restores the kinetic energy. L and the energy are conserved
    to rounding, the orientation is of fifth order.

    Reads   q = q_WB; inverse: I^-1, B; L (3,) N m s, W
    Returns q_WB; w (3,) rad/s, W
    Check   tests/laws/test_free_body.py: order five, L and energy to rounding
    """
    M = times_vector(transposed(matrix(q)), L)
    x = exponential(free_rotation_vector(inverse, M, h))
    y = project_on_energy(inverse, rotate_back(x, M), dot(M, times_vector(inverse, M)))
    q_new = unit_again(multiply(multiply(q, x), (1.0, 0.5 * y[0], 0.5 * y[1], 0.5 * y[2])))
    R = matrix(q_new)
    return q_new, times_vector(R, times_vector(inverse, times_vector(transposed(R), L)))
