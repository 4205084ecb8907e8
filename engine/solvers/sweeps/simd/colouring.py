"""Graph colouring of contact pairs, for the packing into lanes (packing.py).

Consecutive contacts between the same bodies with the same axes form a pair of up to POINTS points.
Pairs are coloured greedily in order: pairs that share a movable body have different colours. Pairs
of a colour, those with most points first, fill groups of W lanes; unused lanes of a group are
empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.sweeps.simd.layout import (
    COLOURS,
    HALF,
    KINDS,
    LAYER,
    POINTS,
    ROUND_SHARED,
    SHARED,
    VECTOR,
    W,
)

if TYPE_CHECKING:
    from cardan.engine.world.problem import Lanes, Problem

# largest relative difference between the moments of inertia of a round body
ROUNDING = 1e-13


@kernel
def colour_of(taken: int) -> int:
    """The lowest colour that is not taken, COLOURS when all are."""
    colour = 0
    while colour < COLOURS and taken >> colour & 1:
        colour += 1
    return colour


@kernel
def is_same_pair(problem: Problem, i: int, j: int) -> bool:
    """Whether the contacts with normal rows i and j have the same bodies, axes and mu."""
    if problem.body_a[i] != problem.body_a[j] or problem.body_b[i] != problem.body_b[j]:
        return False
    if problem.mu[i + 1] != problem.mu[j + 1]:
        return False
    for k in range(3, 6):
        # these two determine the second tangent
        if problem.J_b[i, k] != problem.J_b[j, k] or problem.J_b[i + 1, k] != problem.J_b[j + 1, k]:
            return False
    return True


@kernel
def is_round(problem: Problem, i: int) -> bool:
    """Whether the inertia of body i is isotropic, up to rounding."""
    I = problem.inverse_inertia[i]
    off = abs(I[0, 1]) + abs(I[0, 2]) + abs(I[1, 2]) + abs(I[1, 1] - I[0, 0])
    return bool(off + abs(I[2, 2] - I[0, 0]) <= ROUNDING * I[0, 0])


@kernel
def find_pairs(problem: Problem, lanes: Lanes, n: int) -> int:
    """Find the pairs among the n listed contacts; return their number.

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
    """Colour each pair and count the pairs of each key.

    Writes  lanes.taken, key (colour KINDS + 2 (POINTS - points) + 1 if round), start, rest, count
    """
    mass, taken, start = problem.inverse_mass, lanes.taken, lanes.start
    start[:] = 0
    n_rest = 0
    for p in range(pairs):
        first, end = lanes.first[p], lanes.first[p + 1]
        a, b = problem.body_a[lanes.listed[first]], problem.body_b[lanes.listed[first]]
        moves_a, moves_b = mass[a] > 0.0, mass[b] > 0.0
        colour = colour_of((taken[a] if moves_a else 0) | (taken[b] if moves_b else 0))
        key = colour * KINDS + 2 * (POINTS - (end - first))
        if is_round(problem, a) and is_round(problem, b):
            key += 1
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
def place_colour(lanes: Lanes, colour: int, groups: int) -> int:
    """Assign groups to the pairs of a colour; return the new number of groups.

    The first lane of a group has most points; a group is round if all its lanes are.

    Reads   lanes.start   pairs of each key
    Writes  lanes.start   their first lane
            lanes.layer, begin[g + 1]   length of the shared part and of all layers of group g
    """
    lane = groups * W
    for kind in range(KINDS):
        key = colour * KINDS + kind
        size = lanes.start[key]
        lanes.start[key] = lane
        shared = ROUND_SHARED if kind % 2 == 1 else SHARED
        if size > 0 and lane < groups * W:
            lanes.layer[groups - 1] = max(lanes.layer[groups - 1], shared)
        lane += size
        while groups * W < lane:
            lanes.layer[groups] = shared
            lanes.begin[groups + 1] = (POINTS - kind // 2) * LAYER
            groups += 1
    return groups


@kernel
def place_groups(problem: Problem, lanes: Lanes) -> None:
    """Place the groups and the first lane of each key; clear the empty lanes.

    Reads   lanes.start   pairs of each key
    Writes  lanes.start   their first lane
            lanes.colour, begin, layer, layers, width, used, count; row, body_a, body_b
    """
    world = problem.inverse_mass.shape[0] - 1
    groups, at, layers = 0, 0, 0
    for colour in range(COLOURS):
        lanes.colour[colour] = groups
        groups = place_colour(lanes, colour, groups)
    lanes.colour[COLOURS] = groups
    for g in range(groups):
        lanes.begin[g] = at
        lanes.layer[g] += at
        lanes.layers[g] = layers
        layers += lanes.begin[g + 1] // LAYER
        at = lanes.layer[g] + lanes.begin[g + 1]
        lanes.width[g] = HALF
        for k in range(POINTS):
            lanes.used[g * POINTS + k] = 0
    lanes.begin[groups] = at
    lanes.layers[groups] = layers
    for lane in range(groups * W):
        lanes.body_a[lane] = world
        lanes.body_b[lane] = world
        lanes.row[lane * POINTS] = -1
    lanes.count[0] = groups


@kernel
def place_pairs(lanes: Lanes, pairs: int) -> None:
    """Give each pair a lane of its colour, in order.

    Writes  lanes.place, start, width, used
    """
    for p in range(pairs):
        key = lanes.key[p]
        lanes.place[p] = -1
        if key < COLOURS * KINDS:
            lane = lanes.start[key]
            lanes.place[p] = lane
            lanes.start[key] = lane + 1
            if lane % W >= HALF:
                lanes.width[lane // W] = W
            used, layer = (lane % W // VECTOR + 1) * VECTOR, lane // W * POINTS
            for k in range(layer, layer + lanes.first[p + 1] - lanes.first[p]):
                lanes.used[k] = max(lanes.used[k], used)
