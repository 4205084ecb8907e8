"""The gyroscopic term - w x (I w): what turns a spinning body although nothing pushes it."""

from __future__ import annotations

from engine.kernel import kernel
from engine.spatial.mat3 import load33, solve3, times_vector
from engine.spatial.quaternion import load4, rotate, rotate_back
from engine.spatial.rotation import exponential
from engine.spatial.vec3 import Vec3, add, cross, dot, scale, sub
from engine.world.model import Bodies
from engine.world.state import State


@kernel
def turned(half: float, x: Vec3, y: Vec3) -> Vec3:
    """y after the rotation exp(half x)."""
    return rotate(exponential(scale(half, x)), y)


@kernel
def free_spin(bodies: Bodies, state: State, i: int, impulse_W: Vec3, h: float) -> Vec3:
    """Angular velocity after the step, from the balance of angular momentum between its two ends.

    Half a step of rotation lies before the middle (where the impulse acts) and half behind it:

        exp(h/2 w+) I w+  =  exp(-h/2 w) I w + impulse            (body axes at the middle)

    so a free body keeps its angular momentum to rounding, and the step is its own mirror image in
    time. Newton's iteration on w+ with the derivative I + h/2 (w+ x I - (I w+) x), whose neglected
    terms are of order h^2; it stops at a change of 1e-15 relative, after 20 rounds at the latest.

    Reads   state.q_WB at the middle; impulse_W (3,) N m s, W
    Returns w+ (3,) rad/s, W
    Source  implicit treatment: Catto, "Numerical Methods", GDC 2015; the symmetric form is that of
            discrete Euler equations (Moser and Veselov 1991)
    Check   tests/laws/test_free_body.py
    """
    q = load4(state.q_WB, i)
    inertia = load33(bodies.inertia_B, i)
    w = rotate_back(q, (state.w_WB_W[i, 0], state.w_WB_W[i, 1], state.w_WB_W[i, 2]))
    momentum = add(turned(-0.5 * h, w, times_vector(inertia, w)), rotate_back(q, impulse_W))
    x = add(w, times_vector(load33(bodies.inverse_inertia_B, i), rotate_back(q, impulse_W)))
    for _ in range(20):
        Ix = times_vector(inertia, x)
        error = sub(turned(0.5 * h, x, Ix), momentum)
        c = 0.5 * h
        derivative = (
            (
                inertia[0][0] + c * (x[1] * inertia[2][0] - x[2] * inertia[1][0]),
                inertia[0][1] + c * (x[1] * inertia[2][1] - x[2] * inertia[1][1] + Ix[2]),
                inertia[0][2] + c * (x[1] * inertia[2][2] - x[2] * inertia[1][2] - Ix[1]),
            ),
            (
                inertia[1][0] + c * (x[2] * inertia[0][0] - x[0] * inertia[2][0] - Ix[2]),
                inertia[1][1] + c * (x[2] * inertia[0][1] - x[0] * inertia[2][1]),
                inertia[1][2] + c * (x[2] * inertia[0][2] - x[0] * inertia[2][2] + Ix[0]),
            ),
            (
                inertia[2][0] + c * (x[0] * inertia[1][0] - x[1] * inertia[0][0] + Ix[1]),
                inertia[2][1] + c * (x[0] * inertia[1][1] - x[1] * inertia[0][1] - Ix[0]),
                inertia[2][2] + c * (x[0] * inertia[1][2] - x[1] * inertia[0][2]),
            ),
        )
        change = solve3(derivative, error)
        x = sub(x, change)
        if dot(change, change) <= 1e-30 * dot(x, x):
            break
    return rotate(q, x)


@kernel
def explicit_spin(
    bodies: Bodies, state: State, i: int, impulse_W: Vec3, h: float, is_on: bool
) -> Vec3:
    """w+ = w + I^-1 (impulse - h w x I w), the last term only when it is on; first order in h."""
    q = load4(state.q_WB, i)
    inertia = load33(bodies.inertia_B, i)
    w = rotate_back(q, (state.w_WB_W[i, 0], state.w_WB_W[i, 1], state.w_WB_W[i, 2]))
    impulse = rotate_back(q, impulse_W)
    if is_on:
        impulse = sub(impulse, scale(h, cross(w, times_vector(inertia, w))))
    return rotate(q, add(w, times_vector(load33(bodies.inverse_inertia_B, i), impulse)))
