"""Contacts in groups of eight pairs that share no moving body: swept eight at a time.

Contacts that follow one another between the same bodies with the same axes are a pair, of up to
POINTS of them. Pairs are coloured, greedily in their order: one that shares a body an impulse moves
with another never has its colour. Pairs of a colour, those of most points first, fill groups of W
lanes; what is left of a group is a pair of nothing with nothing. So a sweep over the groups, and
over the points of each, is a Gauss-Seidel sweep in another order; every operation works on W
contacts at once, and bodies are read and written once for all points of a pair. Contacts whose
bodies have no colour left stay in the problem and are swept one by one.

Group g is data[begin[g] : begin[g + 1]]: what its pairs have in common, then a layer for each of
its points. Field f of lane l stands at f W + l from there:

    AXES      n, t1, t2            linear part of J_b; that of J_a is its negative
    MASSES    1/m_a, 1/m_b

    TURN_A    of the three rows    angular part of J_a;   PUSH_A  I_a^-1 of it
    TURN_B    likewise of J_b;     PUSH_B
    STEPS     1/D_n, and 1 over the larger eigenvalue of the tangents' block
    COUPLING  A[t1, n], A[t2, n]
    BIAS, LAM of the three rows;   CFM  of the normal
    MU
    SCALES    D_n, larger diagonal of the tangents: impulses times these are velocities
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.kernel import kernel
from engine.solvers.gauss_seidel import block_diagonal
from engine.solvers.pgs import project_contact, write_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Lanes, Problem

W, POINTS = 8, 4
AXES, MASSES, N_SHARED = 0, 9, 11
TURN_A, TURN_B, PUSH_A, PUSH_B = 0, 9, 18, 27
STEPS, COUPLING, BIAS, LAM, CFM, MU, SCALES, N_FIELDS = 36, 38, 40, 43, 46, 47, 48, 50
SHARED, LAYER = W * N_SHARED, W * N_FIELDS

# bits of an int64 that are colours
COLOURS = 62


@kernel
def colour_of(taken: int) -> int:
    """The lowest colour that is not taken, COLOURS when all are."""
    colour = 0
    while colour < COLOURS and taken >> colour & 1:
        colour += 1
    return colour


@kernel
def is_same_pair(problem: Problem, i: int, j: int) -> bool:
    """Whether the contacts with normal rows i and j are between the same bodies, axes alike."""
    if problem.body_a[i] != problem.body_a[j] or problem.body_b[i] != problem.body_b[j]:
        return False
    for k in range(3, 6):
        # the second tangent follows from these two
        if problem.J_b[i, k] != problem.J_b[j, k] or problem.J_b[i + 1, k] != problem.J_b[j + 1, k]:
            return False
    return True


@kernel
def find_pairs(problem: Problem, lanes: Lanes, n: int) -> int:
    """Where the pairs of the n listed contacts begin; returns how many pairs there are.

    Writes  lanes.first (pairs + 1), taken = 0 of all bodies of these contacts
    """
    pairs = 0
    for c in range(n):
        i = lanes.listed[c]
        has_room = c > 0 and c < lanes.first[pairs - 1] + POINTS
        if has_room and is_same_pair(problem, lanes.listed[c - 1], i):
            continue
        lanes.taken[problem.body_a[i]] = 0
        lanes.taken[problem.body_b[i]] = 0
        lanes.first[pairs] = c
        pairs += 1
    lanes.first[pairs] = n
    return pairs


@kernel
def colour_pairs(problem: Problem, lanes: Lanes, pairs: int) -> None:
    """A colour for each pair, and how many pairs of each number of points every colour has.

    Writes  lanes.taken, key (colour POINTS + POINTS - points), start, rest, count
    """
    mass, taken, start = problem.inverse_mass, lanes.taken, lanes.start
    start[:] = 0
    n_rest = 0
    for p in range(pairs):
        first, end = lanes.first[p], lanes.first[p + 1]
        a, b = problem.body_a[lanes.listed[first]], problem.body_b[lanes.listed[first]]
        moves_a, moves_b = mass[a] > 0.0, mass[b] > 0.0
        colour = colour_of((taken[a] if moves_a else 0) | (taken[b] if moves_b else 0))
        key = colour * POINTS + POINTS - (end - first)
        lanes.key[p] = key
        if colour == COLOURS:
            for c in range(first, end):
                lanes.rest[n_rest] = lanes.listed[c]
                n_rest += 1
            continue
        start[key] += 1
        if moves_a:
            taken[a] |= 1 << colour
        if moves_b:
            taken[b] |= 1 << colour
    lanes.count[1] = n_rest


@kernel
def place_groups(problem: Problem, lanes: Lanes) -> None:
    """Where the lanes of each key start, and how many layers each group has.

    Reads   lanes.start   pairs of each key
    Writes  lanes.start   their first lane
            lanes.begin, count; row, body_a, body_b of lanes of nothing
    """
    world = problem.inverse_mass.shape[0] - 1
    groups, at = 0, 0
    lanes.begin[0] = 0
    for colour in range(COLOURS):
        lane = groups * W
        for key in range(colour * POINTS, (colour + 1) * POINTS):
            size = lanes.start[key]
            lanes.start[key] = lane
            lane += size
            # the widest of the group that its first lane belongs to; later ones have no more points
            while groups * W < lane:
                at += SHARED + (POINTS - key % POINTS) * LAYER
                groups += 1
                lanes.begin[groups] = at
        for rest in range(lane, groups * W):
            lanes.body_a[rest] = world
            lanes.body_b[rest] = world
            lanes.row[rest * POINTS] = -1
    lanes.count[0] = groups


@kernel
def place_pairs(problem: Problem, lanes: Lanes, pairs: int) -> None:
    """A lane for each coloured pair.

    Writes  lanes.start, row, body_a, body_b
    """
    for p in range(pairs):
        key = lanes.key[p]
        if key >= COLOURS * POINTS:
            continue
        lane = lanes.start[key]
        lanes.start[key] = lane + 1
        first = lanes.first[p]
        points = lanes.first[p + 1] - first
        i = lanes.listed[first]
        lanes.body_a[lane] = problem.body_a[i]
        lanes.body_b[lane] = problem.body_b[i]
        for k in range(points):
            lanes.row[lane * POINTS + k] = lanes.listed[first + k]
        if points < POINTS:
            lanes.row[lane * POINTS + points] = -1


@kernel
def write_shared(problem: Problem, i: int, data: NDArray, at: int) -> None:
    """What the points of the pair of the contact with normal row i have in common."""
    for r in range(3):
        for k in range(3):
            data[at + W * (AXES + 3 * r + k)] = problem.J_b[i + r, 3 + k]
    data[at + W * MASSES] = problem.inverse_mass[problem.body_a[i]]
    data[at + W * (MASSES + 1)] = problem.inverse_mass[problem.body_b[i]]


@kernel
def write_turns(problem: Problem, i: int, data: NDArray, at: int) -> float:
    """Angular parts of the rows of a contact; how far its linear parts are from a point contact's.

    Those of J_a are those of J_b turned round, those of M^-1 J^T are these over the mass.
    """
    mass_a = problem.inverse_mass[problem.body_a[i]]
    mass_b = problem.inverse_mass[problem.body_b[i]]
    off = 0.0
    for r in range(3):
        J_a, J_b = problem.J_a[i + r], problem.J_b[i + r]
        MJ_a, MJ_b = problem.MJ_a[i + r], problem.MJ_b[i + r]
        for k in range(3):
            f = at + W * (3 * r + k)
            data[f + W * TURN_A] = J_a[k]
            data[f + W * TURN_B] = J_b[k]
            data[f + W * PUSH_A] = MJ_a[k]
            data[f + W * PUSH_B] = MJ_b[k]
            axis = J_b[3 + k]
            off += abs(J_a[3 + k] + axis)
            off += abs(MJ_a[3 + k] + mass_a * axis) + abs(MJ_b[3 + k] - mass_b * axis)
    return off


@kernel
def coupling(data: NDArray, at: int, r: int, s: int) -> float:
    """A of two rows of a contact whose axes are square to each other, from its angular parts."""
    p, q = at + W * 3 * r, at + W * 3 * s
    total = 0.0
    for k in range(3):
        total += data[p + W * (TURN_A + k)] * data[q + W * (PUSH_A + k)]
        total += data[p + W * (TURN_B + k)] * data[q + W * (PUSH_B + k)]
    return total


@kernel
def write_point(problem: Problem, i: int, data: NDArray, at: int) -> bool:
    """The contact with normal row i into a lane; False if its rows are no point contact's.

    Writes  data; problem.lam into its set
    """
    off = write_turns(problem, i, data, at)
    off += abs(problem.cfm[i + 1]) + abs(problem.cfm[i + 2])
    project_contact(problem, i)
    for r in range(3):
        data[at + W * (BIAS + r)] = problem.b[i + r]
        data[at + W * (LAM + r)] = problem.lam[i + r]
    D_n, D_1, D_2 = problem.diagonal[i], problem.diagonal[i + 1], problem.diagonal[i + 2]
    D_t = block_diagonal(D_1, D_2, coupling(data, at, 2, 1))
    data[at + W * CFM] = problem.cfm[i]
    data[at + W * STEPS] = 1.0 / D_n if D_n > 0.0 else 0.0
    data[at + W * (STEPS + 1)] = 1.0 / D_t if D_t > 0.0 else 0.0
    data[at + W * COUPLING] = coupling(data, at, 1, 0)
    data[at + W * (COUPLING + 1)] = coupling(data, at, 2, 0)
    data[at + W * MU] = problem.mu[i + 1]
    data[at + W * SCALES] = D_n
    data[at + W * (SCALES + 1)] = max(D_1, D_2)
    return off == 0.0


@kernel
def clear_lane(data: NDArray, at: int, fields: int) -> None:
    """Nothing in a lane."""
    for f in range(fields):
        data[at + W * f] = 0.0


@kernel
def fill_lane(problem: Problem, lanes: Lanes, g: int, l: int) -> bool:
    """Numbers of one pair into its lane; False if a contact of it is no point contact."""
    lane, at, end = g * W + l, lanes.begin[g] + l, lanes.begin[g + 1]
    first = lanes.row[lane * POINTS]
    is_contact = True
    if first >= 0:
        write_shared(problem, first, lanes.data, at)
    else:
        clear_lane(lanes.data, at, N_SHARED)
    at += SHARED
    p = 0
    while at < end:
        i = lanes.row[lane * POINTS + p] if p >= 0 else -1
        if i >= 0:
            is_contact = write_point(problem, i, lanes.data, at) and is_contact
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
    lanes.count[2] = W
    pairs = find_pairs(problem, lanes, n)
    colour_pairs(problem, lanes, pairs)
    place_groups(problem, lanes)
    place_pairs(problem, lanes, pairs)
    coloured = True
    for g in range(lanes.count[0]):
        for l in range(W):
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
        for l in range(W):
            at = lanes.begin[g] + SHARED + l
            row = (g * W + l) * POINTS
            layers = (lanes.begin[g + 1] - lanes.begin[g] - SHARED) // LAYER
            for p in range(layers):
                i = lanes.row[row + p]
                if i < 0:
                    break
                for r in range(3):
                    problem.lam[i + r] = lanes.data[at + W * (LAM + r)]
                    problem.w[i + r] = lanes.data[at + W * (BIAS + r)]
                at += LAYER
