"""Poses that move without a velocity, and momenta that stay what they were."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.bodies.gyroscopic import is_round, kept_momentum
from engine.bodies.partition import first_of, join, separate
from engine.kernel import kernel
from engine.spatial.mat3 import inverse_symmetric, load33, times_vector
from engine.spatial.quaternion import load4, multiply, rotate, rotate_back, store4, unit
from engine.spatial.rotation import exponential
from engine.spatial.vec3 import Vec3, add, cross, load3, norm, scale, store3, sub
from engine.world.model import DYNAMIC, Bodies
from engine.world.positions import Positions
from engine.world.problem import Problem
from engine.world.state import State

# columns of positions.sums
MASS, FIRST, INERTIA, LOST, SPIN = 0, 1, 4, 10, 13


@kernel
def shift_body(bodies: Bodies, state: State, i: int, shift: NDArray, lost: NDArray) -> None:
    """Turn and move one body by six numbers [rad, m]; its velocity and its own spin L stay.

    Writes  state.p_WB, q_WB, w_WB_W (= I^-1 L where it now is); lost: what its angular momentum
            about the origin, p x m v + L, has less than before
    """
    turn, move = (shift[0], shift[1], shift[2]), (shift[3], shift[4], shift[5])
    if norm(turn) == 0.0 and norm(move) == 0.0:
        return
    inertia = load33(bodies.inertia_B, i)
    L = kept_momentum(bodies, state, i)
    q = unit(multiply(exponential(turn), load4(state.q_WB, i)))
    store4(state.q_WB, i, q)
    if not is_round(inertia):
        inverse = load33(bodies.inverse_inertia_B, i)
        store3(state.w_WB_W, i, rotate(q, times_vector(inverse, rotate_back(q, L))))
    store3(state.p_WB, i, add(load3(state.p_WB, i), move))
    gained = scale(bodies.mass[i], cross(move, load3(state.v_WB_W, i)))
    store3(lost, i, sub(load3(lost, i), gained))


@kernel
def write_sets(bodies: Bodies, problem: Problem, positions: Positions) -> None:
    """Bodies that rows join, and whether such a set hangs on something fixed."""
    separate(positions.parent)
    for i in range(problem.count[0]):
        a, b = problem.body_a[i], problem.body_b[i]
        if bodies.kind[a] == DYNAMIC and bodies.kind[b] == DYNAMIC:
            join(positions.parent, a, b)
    for i in range(bodies.kind.shape[0]):
        positions.held[i] = 0
        for k in range(positions.sums.shape[1]):
            positions.sums[i, k] = 0.0
    for i in range(problem.count[0]):
        a, b = problem.body_a[i], problem.body_b[i]
        if (bodies.kind[a] == DYNAMIC) != (bodies.kind[b] == DYNAMIC):
            moves = a if bodies.kind[a] == DYNAMIC else b
            positions.held[first_of(positions.parent, moves)] = 1


@kernel
def _centre(sums: NDArray, s: int) -> Vec3:
    """Centre of mass of a set."""
    return scale(1.0 / sums[s, MASS], (sums[s, FIRST], sums[s, FIRST + 1], sums[s, FIRST + 2]))


@kernel
def _add_inertia(bodies: Bodies, state: State, i: int, s: int, sums: NDArray) -> None:
    """Inertia of body i about the centre of mass of its set s: xx yy zz xy xz yz."""
    q, inertia = load4(state.q_WB, i), load33(bodies.inertia_B, i)
    x, y, z = sub(load3(state.p_WB, i), _centre(sums, s))
    m = bodies.mass[i]
    ex = rotate(q, times_vector(inertia, rotate_back(q, (1.0, 0.0, 0.0))))
    ey = rotate(q, times_vector(inertia, rotate_back(q, (0.0, 1.0, 0.0))))
    ez = rotate(q, times_vector(inertia, rotate_back(q, (0.0, 0.0, 1.0))))
    sums[s, INERTIA] += ex[0] + m * (y * y + z * z)
    sums[s, INERTIA + 1] += ey[1] + m * (x * x + z * z)
    sums[s, INERTIA + 2] += ez[2] + m * (x * x + y * y)
    sums[s, INERTIA + 3] += ex[1] - m * x * y
    sums[s, INERTIA + 4] += ex[2] - m * x * z
    sums[s, INERTIA + 5] += ey[2] - m * y * z


@kernel
def _spin_up(sums: NDArray, s: int) -> None:
    """The angular velocity of the whole set that carries what was lost."""
    xx, yy, zz = sums[s, INERTIA], sums[s, INERTIA + 1], sums[s, INERTIA + 2]
    xy, xz, yz = sums[s, INERTIA + 3], sums[s, INERTIA + 4], sums[s, INERTIA + 5]
    lost = (sums[s, LOST], sums[s, LOST + 1], sums[s, LOST + 2])
    spin = times_vector(inverse_symmetric(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))), lost)
    for k in range(3):
        sums[s, SPIN + k] = spin[k]


@kernel
def return_momentum(bodies: Bodies, problem: Problem, positions: Positions, state: State) -> None:
    """Give every set of bodies back the angular momentum its shifts took.

    A shift keeps the centre of mass of a set that floats, and its linear momentum; its angular
    momentum changes by sum of shift x m v. The set as a whole takes up the difference by turning
    about its centre of mass as if it were rigid, which leaves J v alone. What hangs on fixed bodies
    got it from them: it is booked as an impulse from outside.

    Reads   positions.lost; problem: the rows that moved poses, with those that hold the set
    Writes  state.v_WB_W, w_WB_W, momentum_in
    Check   tests/laws/test_stabilisation.py
    """
    lost, sums, parent = positions.lost, positions.sums, positions.parent
    write_sets(bodies, problem, positions)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            s = first_of(parent, i)
            sums[s, MASS] += bodies.mass[i]
            for k in range(3):
                sums[s, FIRST + k] += bodies.mass[i] * state.p_WB[i, k]
                sums[s, LOST + k] += lost[i, k]
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            s = first_of(parent, i)
            if positions.held[s] == 1:
                for k in range(3):
                    state.momentum_in[3 + k] -= lost[i, k]
            else:
                _add_inertia(bodies, state, i, s, sums)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] != DYNAMIC or positions.held[first_of(parent, i)] == 1:
            continue
        s = first_of(parent, i)
        if s == i:
            _spin_up(sums, s)
        spin = (sums[s, SPIN], sums[s, SPIN + 1], sums[s, SPIN + 2])
        if norm(spin) > 0.0:
            arm = sub(load3(state.p_WB, i), _centre(sums, s))
            store3(state.v_WB_W, i, add(load3(state.v_WB_W, i), cross(spin, arm)))
            store3(state.w_WB_W, i, add(load3(state.w_WB_W, i), spin))
