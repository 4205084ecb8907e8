"""Contacts in groups of sixteen pairs that share no moving body: swept eight at a time.

Pairs of contacts are coloured (colours.py), and sixteen of a colour lie side by side. So a sweep
over the groups, and over the points of each, is a Gauss-Seidel sweep in another order; every
operation works on eight contacts at once, and bodies are read and written once for all points of a
pair. Contacts whose bodies have no colour left stay in the problem and are swept one by one.

Rows of the problem are of any kind; those of a contact are known by three axes and two arms, and
that is what lanes hold (lane_layout.py):

    J_a = -[r_a x e, e],   J_b = [r_b x e, e],   e = n, t1, t2
    r = 1/2 sum over the axes of  e x (r x e)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.kernel import kernel
from engine.solvers.colours import colour_pairs, find_pairs, place_groups, place_pairs
from engine.solvers.gauss_seidel import block_diagonal
from engine.solvers.lane_layout import (
    APART,
    ARM,
    AXES,
    BIAS,
    CFM,
    COUPLING,
    INERTIA,
    LAM,
    LAYER,
    MASSES,
    MU,
    N_FIELDS,
    POINTS,
    ROUND_SHARED,
    SCALES,
    STEPS,
    W,
)
from engine.solvers.pgs import project_contact, write_block
from engine.spatial.mat3 import load33, times_vector
from engine.spatial.vec3 import Vec3, add, cross, dot, negate, norm, scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Lanes, Problem

# three vectors, of the normal and both tangents
Three = tuple[Vec3, Vec3, Vec3]

# how far rows may be from those of a point contact: of 1 in their axes, of the arms in turning
ROUNDING = 1e-12


@kernel
def angular(J: NDArray, i: int) -> Three:
    """Angular parts of the rows i, i + 1, i + 2."""
    p, q, r = J[i], J[i + 1], J[i + 2]
    return (p[0], p[1], p[2]), (q[0], q[1], q[2]), (r[0], r[1], r[2])


@kernel
def linear(J: NDArray, i: int) -> Three:
    """Linear parts of the rows i, i + 1, i + 2."""
    p, q, r = J[i], J[i + 1], J[i + 2]
    return (p[3], p[4], p[5]), (q[3], q[4], q[5]), (r[3], r[4], r[5])


@kernel
def arm_of(axes: Three, turns: Three) -> Vec3:
    """r of turns = r x axes, for axes of length 1 that are square to each other."""
    total = add(cross(axes[0], turns[0]), cross(axes[1], turns[1]))
    return scale(0.5, add(total, cross(axes[2], turns[2])))


@kernel
def distance(a: Vec3, b: Vec3) -> float:
    """Sum of |a - b|."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2])


@kernel
def miss(axes: Three, turns: Three, r: Vec3) -> float:
    """How far turns are from r x axes [m]."""
    off = distance(turns[0], cross(r, axes[0])) + distance(turns[1], cross(r, axes[1]))
    return off + distance(turns[2], cross(r, axes[2]))


@kernel
def put(data: NDArray, at: int, x: Vec3) -> None:
    """Three numbers into three fields of a lane."""
    data[at] = x[0]
    data[at + W] = x[1]
    data[at + 2 * W] = x[2]


@kernel
def write_inertia(problem: Problem, body: int, data: NDArray, at: int) -> None:
    """I^-1 of a body into six fields of a lane."""
    I = problem.inverse_inertia[body]
    put(data, at, (I[0, 0], I[1, 1], I[2, 2]))
    put(data, at + 3 * W, (I[0, 1], I[0, 2], I[1, 2]))


@kernel
def write_shared(problem: Problem, i: int, data: NDArray, at: int, is_round: bool) -> bool:
    """What the points of the pair of the contact with normal row i have in common.

    Returns whether its axes are n, t1, n x t1.
    """
    a, b = problem.body_a[i], problem.body_b[i]
    axes = linear(problem.J_b, i)
    put(data, at + W * AXES, axes[0])
    put(data, at + W * (AXES + 3), axes[1])
    data[at + W * MASSES] = problem.inverse_mass[a]
    data[at + W * (MASSES + 1)] = problem.inverse_mass[b]
    minus_a = arm_of(axes, angular(problem.J_a, i))
    put(data, at + W * APART, add(arm_of(axes, angular(problem.J_b, i)), minus_a))
    data[at + W * MU] = problem.mu[i + 1]
    if is_round:
        data[at + W * INERTIA] = problem.inverse_inertia[a, 0, 0]
        data[at + W * (INERTIA + 1)] = problem.inverse_inertia[b, 0, 0]
    else:
        write_inertia(problem, a, data, at + W * INERTIA)
        write_inertia(problem, b, data, at + W * (INERTIA + 6))
    return distance(cross(axes[0], axes[1]), axes[2]) <= ROUNDING


@kernel
def write_arm(problem: Problem, i: int, data: NDArray, shared: int, at: int) -> bool:
    """The arm of the contact with normal row i; whether its rows are a point contact's."""
    axes = linear(problem.J_b, i)
    turns_a, turns_b = angular(problem.J_a, i), angular(problem.J_b, i)
    minus_a, arm_b = arm_of(axes, turns_a), arm_of(axes, turns_b)
    put(data, at + W * ARM, negate(minus_a))
    f = shared + W * APART
    apart = (data[f], data[f + W], data[f + 2 * W])
    off = distance(add(arm_b, minus_a), apart)
    off += miss(axes, turns_a, minus_a) + miss(axes, turns_b, arm_b)
    opposite = linear(problem.J_a, i)
    wrong = distance(negate(opposite[0]), axes[0]) + distance(negate(opposite[1]), axes[1])
    wrong += distance(negate(opposite[2]), axes[2])
    wrong += abs(problem.cfm[i + 1]) + abs(problem.cfm[i + 2])
    return off <= ROUNDING * (norm(minus_a) + norm(arm_b)) and wrong == 0.0


@kernel
def couplings(problem: Problem, i: int) -> Vec3:
    """A[t1, n], A[t2, n], A[t2, t1] of a contact whose axes are square to each other."""
    a, b = angular(problem.J_a, i), angular(problem.J_b, i)
    inertia_a = load33(problem.inverse_inertia, problem.body_a[i])
    inertia_b = load33(problem.inverse_inertia, problem.body_b[i])
    push_a, push_b = times_vector(inertia_a, a[0]), times_vector(inertia_b, b[0])
    side_a, side_b = times_vector(inertia_a, a[1]), times_vector(inertia_b, b[1])
    return (
        dot(a[1], push_a) + dot(b[1], push_b),
        dot(a[2], push_a) + dot(b[2], push_b),
        dot(a[2], side_a) + dot(b[2], side_b),
    )


@kernel
def write_point(problem: Problem, i: int, data: NDArray, shared: int, at: int) -> bool:
    """The contact with normal row i into a lane; False if its rows are no point contact's.

    Writes  data; problem.lam into its set
    """
    is_point = write_arm(problem, i, data, shared, at)
    project_contact(problem, i)
    for r in range(3):
        data[at + W * (BIAS + r)] = problem.b[i + r]
        data[at + W * (LAM + r)] = problem.lam[i + r]
    coupled = couplings(problem, i)
    D_n, D_1, D_2 = problem.diagonal[i], problem.diagonal[i + 1], problem.diagonal[i + 2]
    D_t = block_diagonal(D_1, D_2, coupled[2])
    data[at + W * CFM] = problem.cfm[i]
    data[at + W * STEPS] = 1.0 / D_n if D_n > 0.0 else 0.0
    data[at + W * (STEPS + 1)] = 1.0 / D_t if D_t > 0.0 else 0.0
    data[at + W * COUPLING] = coupled[0]
    data[at + W * (COUPLING + 1)] = coupled[1]
    data[at + W * SCALES] = D_n
    data[at + W * (SCALES + 1)] = max(D_1, D_2)
    return is_point


@kernel
def clear_lane(data: NDArray, at: int, fields: int) -> None:
    """Nothing in a lane."""
    for f in range(fields):
        data[at + W * f] = 0.0


@kernel
def fill_lane(problem: Problem, lanes: Lanes, g: int, l: int) -> bool:
    """Numbers of one pair into its lane; False if a contact of it is no point contact."""
    lane, shared, at = g * W + l, lanes.begin[g] + l, lanes.layer[g] + l
    first = lanes.row[lane * POINTS]
    length = lanes.layer[g] - lanes.begin[g]
    is_contact = True
    if first >= 0:
        is_contact = write_shared(problem, first, lanes.data, shared, length == ROUND_SHARED)
    else:
        clear_lane(lanes.data, shared, length // W)
    p = 0
    while at < lanes.begin[g + 1]:
        i = lanes.row[lane * POINTS + p] if p >= 0 else -1
        if i >= 0:
            is_contact = write_point(problem, i, lanes.data, shared, at) and is_contact
            p += 1
        else:
            clear_lane(lanes.data, at, N_FIELDS)
            p = -1
        at += LAYER
    return is_contact


@kernel
def load_lanes(problem: Problem, lanes: Lanes, n: int) -> None:
    """Colour the pairs of n listed contacts and copy them into lanes, or leave all to `rest`.

    Reads   lanes.listed
    Writes  lanes; problem.lam into its set; for `rest` scratch as pgs.write_steps
    Check   tests/engine/solvers/test_lanes.py
    """
    lanes.count[0] = 0
    lanes.count[1] = 0
    pairs = find_pairs(problem, lanes, n)
    colour_pairs(problem, lanes, pairs)
    place_groups(problem, lanes)
    place_pairs(problem, lanes, pairs)
    coloured = True
    for g in range(lanes.count[0]):
        for l in range(lanes.width[g]):
            coloured = fill_lane(problem, lanes, g, l) and coloured
    if not coloured:
        lanes.count[0] = 0
        lanes.count[1] = n
        for c in range(n):
            lanes.rest[c] = lanes.listed[c]
    for r in range(lanes.count[1]):
        project_contact(problem, lanes.rest[r])
        write_block(problem, lanes.rest[r])


@kernel
def store_lanes(problem: Problem, lanes: Lanes) -> None:
    """Impulses of the lanes back into problem.lam, what stands for their biases into problem.w."""
    for g in range(lanes.count[0]):
        for l in range(lanes.width[g]):
            at, row = lanes.layer[g] + l, (g * W + l) * POINTS
            while at < lanes.begin[g + 1] and lanes.row[row] >= 0:
                i = lanes.row[row]
                for r in range(3):
                    problem.lam[i + r] = lanes.data[at + W * (LAM + r)]
                    problem.w[i + r] = lanes.data[at + W * (BIAS + r)]
                at += LAYER
                row += 1
