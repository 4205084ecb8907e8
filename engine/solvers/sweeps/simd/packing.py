"""Packing of contacts into groups of sixteen pairs without common movable bodies.

Contact pairs are coloured (colouring.py), and sixteen of a colour are stored side by side. A sweep
over the groups, and over the points of each, is a Gauss-Seidel sweep in another order; every
operation processes VECTOR contacts at once, and bodies are read and written once for all points of
a pair. Contacts whose bodies have no colour left stay in the problem and are swept singly.

Three axes and two arms determine the rows of a contact; lanes hold these (layout.py):

    J_a = -[r_a x e, e],   J_b = [r_b x e, e],   e = n, t1, t2
    r . n = (r x t1) . t2,  r . t1 = (r x t2) . n,  r . t2 = (r x n) . t1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.sweeps.blocks import project_contact, write_block
from cardan.engine.solvers.sweeps.simd.colouring import (
    colour_pairs,
    find_pairs,
    place_groups,
    place_pairs,
)
from cardan.engine.solvers.sweeps.simd.layout import (
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
from cardan.engine.solvers.sweeps.steps import block_diagonal
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, cross, dot, negate, norm, scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes, Problem

# three vectors: of the normal and both tangents
Three = tuple[Vec3, Vec3, Vec3]

# tolerance for rows of a point contact: absolute for axes, relative to the arms for angular parts
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
    """Solve turns = r x axes for r: (r x t1) . t2 = r . n, and cyclically."""
    along = (dot(turns[1], axes[2]), dot(turns[2], axes[0]), dot(turns[0], axes[1]))
    r = add_scaled(scale(along[0], axes[0]), along[1], axes[1])
    return add_scaled(r, along[2], axes[2])


@kernel
def miss(axes: Three, turns: Three) -> float:
    """Error of turns = r x axes for any r [m], from (r x e) . f = -(r x f) . e."""
    off = abs(dot(turns[0], axes[0])) + abs(dot(turns[1], axes[1])) + abs(dot(turns[2], axes[2]))
    off += abs(dot(turns[0], axes[1]) + dot(turns[1], axes[0]))
    off += abs(dot(turns[1], axes[2]) + dot(turns[2], axes[1]))
    return off + abs(dot(turns[2], axes[0]) + dot(turns[0], axes[2]))


@kernel
def distance(a: Vec3, b: Vec3) -> float:
    """Sum of |a - b|."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2])


@kernel
def put(data: NDArray, at: int, x: Vec3) -> None:
    """Write three numbers to three fields of a lane."""
    data[at] = x[0]
    data[at + W] = x[1]
    data[at + 2 * W] = x[2]


@kernel
def write_inertia(problem: Problem, body: int, data: NDArray, at: int) -> None:
    """Write I^-1 of a body to six fields of a lane."""
    I = problem.inverse_inertia[body]
    put(data, at, (I[0, 0], I[1, 1], I[2, 2]))
    put(data, at + 3 * W, (I[0, 1], I[0, 2], I[1, 2]))


@kernel
def write_shared(problem: Problem, i: int, data: NDArray, at: int, is_round: bool) -> bool:
    """Write the data shared by the points of the pair of the contact with normal row i.

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
    """Write the arm of the contact with normal row i; return whether it is a point contact."""
    axes = linear(problem.J_b, i)
    turns_a, turns_b = angular(problem.J_a, i), angular(problem.J_b, i)
    minus_a, arm_b = arm_of(axes, turns_a), arm_of(axes, turns_b)
    put(data, at + W * ARM, negate(minus_a))
    f = shared + W * APART
    apart = (data[f], data[f + W], data[f + 2 * W])
    off = distance(add(arm_b, minus_a), apart)
    off += miss(axes, turns_a) + miss(axes, turns_b)
    opposite = linear(problem.J_a, i)
    wrong = distance(negate(opposite[0]), axes[0]) + distance(negate(opposite[1]), axes[1])
    wrong += distance(negate(opposite[2]), axes[2])
    wrong += abs(problem.cfm[i + 1]) + abs(problem.cfm[i + 2])
    return off <= ROUNDING * (norm(minus_a) + norm(arm_b)) and wrong == 0.0


@kernel
def couplings(problem: Problem, i: int, is_round: bool) -> Vec3:
    """A[t1, n], A[t2, n], A[t2, t1] of a contact with orthogonal axes."""
    a, b = angular(problem.J_a, i), angular(problem.J_b, i)
    inertia_a = load33(problem.inverse_inertia, problem.body_a[i])
    inertia_b = load33(problem.inverse_inertia, problem.body_b[i])
    if is_round:
        c, d = inertia_a[0][0], inertia_b[0][0]
        return (
            c * dot(a[1], a[0]) + d * dot(b[1], b[0]),
            c * dot(a[2], a[0]) + d * dot(b[2], b[0]),
            c * dot(a[2], a[1]) + d * dot(b[2], b[1]),
        )
    push_a, push_b = times_vector(inertia_a, a[0]), times_vector(inertia_b, b[0])
    side_a, side_b = times_vector(inertia_a, a[1]), times_vector(inertia_b, b[1])
    return (
        dot(a[1], push_a) + dot(b[1], push_b),
        dot(a[2], push_a) + dot(b[2], push_b),
        dot(a[2], side_a) + dot(b[2], side_b),
    )


@kernel
def write_point(
    problem: Problem, i: int, data: NDArray, shared: int, at: int, is_round: bool
) -> bool:
    """Write the contact with normal row i to a lane; False if it is not a point contact.

    Writes  data; problem.lam into its set
    """
    is_point = write_arm(problem, i, data, shared, at)
    project_contact(problem, i)
    for r in range(3):
        data[at + W * (BIAS + r)] = problem.b[i + r]
        data[at + W * (LAM + r)] = problem.lam[i + r]
    coupled = couplings(problem, i, is_round)
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
    """Clear a lane."""
    for f in range(fields):
        data[at + W * f] = 0.0


@kernel
def clear_group_lane(lanes: Lanes, g: int, l: int) -> None:
    """Clear the shared part and all layers of lane l of group g."""
    at = lanes.layer[g]
    clear_lane(lanes.data, lanes.begin[g] + l, (at - lanes.begin[g]) // W)
    while at < lanes.begin[g + 1]:
        clear_lane(lanes.data, at + l, N_FIELDS)
        at += LAYER


@kernel
def fill_lane(problem: Problem, lanes: Lanes, lane: int, first: int, points: int) -> bool:
    """Write a pair, `points` contacts from `first` on, to its lane; False if any has other rows.

    Writes  lanes.data, row, body_a, body_b
    """
    g, l = lane // W, lane % W
    shared, at = lanes.begin[g] + l, lanes.layer[g] + l
    is_round = lanes.layer[g] - lanes.begin[g] == ROUND_SHARED
    i = lanes.listed[first]
    lanes.body_a[lane] = problem.body_a[i]
    lanes.body_b[lane] = problem.body_b[i]
    is_contact = write_shared(problem, i, lanes.data, shared, is_round)
    for k in range(points):
        i = lanes.listed[first + k]
        lanes.row[lane * POINTS + k] = i
        is_contact = write_point(problem, i, lanes.data, shared, at, is_round) and is_contact
        at += LAYER
    if points < POINTS:
        lanes.row[lane * POINTS + points] = -1
    while at < lanes.begin[g + 1]:
        clear_lane(lanes.data, at, N_FIELDS)
        at += LAYER
    return is_contact


@kernel
def fill_pairs(problem: Problem, lanes: Lanes, first: int, end: int) -> None:
    """Write the pairs [first, end) to their lanes.

    Writes  lanes.odd = 1 if a contact is not a point contact
    """
    for p in range(first, end):
        if lanes.place[p] < 0:
            continue
        c = lanes.first[p]
        if not fill_lane(problem, lanes, lanes.place[p], c, lanes.first[p + 1] - c):
            lanes.odd[0] = 1


@kernel
def clear_empty_lanes(lanes: Lanes) -> None:
    """Clear the lanes of groups that no pair has."""
    for g in range(lanes.count[0]):
        for l in range(lanes.width[g]):
            if lanes.row[(g * W + l) * POINTS] < 0:
                clear_group_lane(lanes, g, l)


@kernel
def lay_out(problem: Problem, lanes: Lanes, n: int) -> int:
    """Colour the pairs of n listed contacts and give each a lane; return their number.

    Reads   lanes.listed
    Writes  lanes, but no numbers of contacts
    """
    lanes.count[0] = 0
    lanes.count[1] = 0
    lanes.count[2] = 0
    lanes.odd[0] = 0
    pairs = find_pairs(problem, lanes, n)
    colour_pairs(problem, lanes, pairs)
    place_groups(problem, lanes)
    place_pairs(lanes, pairs)
    return pairs


@kernel
def leave_odd(problem: Problem, lanes: Lanes, n: int) -> None:
    """Leave all contacts to `rest` where one is not a point contact; project those in `rest`."""
    if lanes.odd[0] == 1:
        lanes.count[0] = 0
        lanes.count[1] = n
        lanes.colour[:] = 0
        lanes.layers[0] = 0
        for c in range(n):
            lanes.rest[c] = lanes.listed[c]
    for r in range(lanes.count[1]):
        project_contact(problem, lanes.rest[r])
        write_block(problem, lanes.rest[r])


@kernel
def store_groups(problem: Problem, lanes: Lanes, first: int, end: int) -> None:
    """Copy impulses of the groups [first, end) to problem.lam, their BIAS fields to problem.w."""
    for g in range(first, end):
        for l in range(lanes.width[g]):
            at, row = lanes.layer[g] + l, (g * W + l) * POINTS
            while at < lanes.begin[g + 1] and lanes.row[row] >= 0:
                i = lanes.row[row]
                for r in range(3):
                    problem.lam[i + r] = lanes.data[at + W * (LAM + r)]
                    problem.w[i + r] = lanes.data[at + W * (BIAS + r)]
                at += LAYER
                row += 1
