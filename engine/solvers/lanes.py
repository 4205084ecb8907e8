"""Contacts in groups of eight that share no moving body: swept eight at a time.

Contacts are coloured, greedily in their order: one that shares a body an impulse moves with another
never has its colour. Contacts of a colour fill groups of W lanes; what is left of a group is a
contact of nothing with nothing. So a sweep over the groups is a Gauss-Seidel sweep in another
order, and every operation works on W contacts at once. Contacts whose bodies have no colour left
stay in the problem and are swept one by one.

Group g is `data[g G : (g + 1) G]`, G = W N_FIELDS; field f of lane l stands at f W + l:

    AXES      n, t1, t2            linear part of J_b; that of J_a is its negative
    TURN_A    of the three rows    angular part of J_a;   PUSH_A  I_a^-1 of it
    TURN_B    likewise of J_b;     PUSH_B
    MASSES    1/m_a, 1/m_b
    STEPS     1/D_n, and 1 over the larger eigenvalue of the tangents' block
    COUPLING  A[t1, n], A[t2, n]
    BIAS, CFM, LAM                 of the three rows
    MU
    SCALES    D_n, larger diagonal of the tangents: impulses times these are velocities
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.kernel import kernel
from engine.solvers.pgs import project_contact, write_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Lanes, Problem

W = 8
AXES, TURN_A, TURN_B, PUSH_A, PUSH_B, MASSES = 0, 9, 18, 27, 36, 45
STEPS, COUPLING, BIAS, CFM, LAM, MU, SCALES = 47, 49, 51, 54, 57, 60, 61
N_FIELDS = 63
GROUP = W * N_FIELDS

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
def colour_contacts(problem: Problem, lanes: Lanes, n: int) -> None:
    """A colour for each of the n listed contacts, and how many contacts have each.

    Writes  lanes.taken, colour, start (contacts of each colour), rest, count
    """
    mass, taken = problem.inverse_mass, lanes.taken
    for c in range(n):
        i = lanes.listed[c]
        taken[problem.body_a[i]] = 0
        taken[problem.body_b[i]] = 0
    for colour in range(COLOURS + 1):
        lanes.start[colour] = 0
    n_rest = 0
    for c in range(n):
        i = lanes.listed[c]
        a, b = problem.body_a[i], problem.body_b[i]
        moves_a, moves_b = mass[a] > 0.0, mass[b] > 0.0
        colour = colour_of((taken[a] if moves_a else 0) | (taken[b] if moves_b else 0))
        lanes.colour[c] = colour
        lanes.start[colour] += 1
        if colour == COLOURS:
            lanes.rest[n_rest] = i
            n_rest += 1
            continue
        if moves_a:
            taken[a] |= 1 << colour
        if moves_b:
            taken[b] |= 1 << colour
    lanes.count[1] = n_rest


@kernel
def place_contacts(problem: Problem, lanes: Lanes, n: int) -> None:
    """A lane for each coloured contact; what is left of a colour's last group is of nothing.

    Writes  lanes.start, row, body_a, body_b, count
    """
    groups = 0
    for colour in range(COLOURS):
        size = lanes.start[colour]
        lanes.start[colour] = groups * W
        for lane in range(groups * W + size, (groups * W + size + W - 1) // W * W):
            lanes.row[lane] = -1
            lanes.body_a[lane] = problem.inverse_mass.shape[0] - 1
            lanes.body_b[lane] = problem.inverse_mass.shape[0] - 1
        groups += (size + W - 1) // W
    lanes.count[0] = groups
    for c in range(n):
        colour = lanes.colour[c]
        if colour < COLOURS:
            i, lane = lanes.listed[c], lanes.start[colour]
            lanes.start[colour] = lane + 1
            lanes.row[lane] = i
            lanes.body_a[lane] = problem.body_a[i]
            lanes.body_b[lane] = problem.body_b[i]


@kernel
def has_lanes(lanes: Lanes, n: int) -> bool:
    """Whether there is room for n contacts, whatever their colours.

    A colour leaves less than one group unused.
    """
    return n > 0 and n + W * COLOURS <= lanes.row.shape[0]


@kernel
def write_lane(problem: Problem, i: int, data: NDArray, at: int) -> bool:
    """The contact with normal row i into a lane; False if its rows are no point contact's.

    Reads   steps and couplings where pgs.write_block left them
    """
    a, b = problem.body_a[i], problem.body_b[i]
    mass_a, mass_b = problem.inverse_mass[a], problem.inverse_mass[b]
    is_contact = True
    for r in range(3):
        J_a, J_b = problem.J_a[i + r], problem.J_b[i + r]
        MJ_a, MJ_b = problem.MJ_a[i + r], problem.MJ_b[i + r]
        for k in range(3):
            f = at + W * (3 * r + k)
            data[f] = J_b[3 + k]
            data[f + W * TURN_A] = J_a[k]
            data[f + W * TURN_B] = J_b[k]
            data[f + W * PUSH_A] = MJ_a[k]
            data[f + W * PUSH_B] = MJ_b[k]
            is_contact = is_contact and J_a[3 + k] == -J_b[3 + k]
            is_contact = is_contact and MJ_a[3 + k] == mass_a * J_a[3 + k]
            is_contact = is_contact and MJ_b[3 + k] == mass_b * J_b[3 + k]
        data[at + W * (BIAS + r)] = problem.b[i + r]
        data[at + W * (CFM + r)] = problem.cfm[i + r]
        data[at + W * (LAM + r)] = problem.lam[i + r]
    data[at + W * MASSES] = mass_a
    data[at + W * (MASSES + 1)] = mass_b
    data[at + W * STEPS] = problem.w[i]
    data[at + W * (STEPS + 1)] = problem.w[i + 1]
    data[at + W * COUPLING] = problem.lo[i + 1]
    data[at + W * (COUPLING + 1)] = problem.lo[i + 2]
    data[at + W * MU] = problem.mu[i + 1]
    data[at + W * SCALES] = problem.diagonal[i]
    data[at + W * (SCALES + 1)] = max(problem.diagonal[i + 1], problem.diagonal[i + 2])
    return is_contact


@kernel
def fill_lanes(problem: Problem, lanes: Lanes) -> bool:
    """Numbers of all contacts into their lanes; False if one is no point contact."""
    is_contact = True
    for lane in range(W * lanes.count[0]):
        at = lane // W * GROUP + lane % W
        i = lanes.row[lane]
        if i >= 0:
            project_contact(problem, i)
            write_block(problem, i)
            is_contact = write_lane(problem, i, lanes.data, at) and is_contact
        else:
            for f in range(N_FIELDS):
                lanes.data[at + W * f] = 0.0
    return is_contact


@kernel
def load_lanes(problem: Problem, lanes: Lanes, n: int) -> None:
    """Colour the n listed contacts and copy them into lanes, or leave all of them to `rest`.

    Reads   lanes.listed
    Writes  lanes; problem.lam into its set; scratch of the problem as pgs.write_steps
    Check   tests/engine/solvers/test_lanes.py
    """
    lanes.count[0] = 0
    lanes.count[2] = W
    coloured = has_lanes(lanes, n)
    if coloured:
        colour_contacts(problem, lanes, n)
        place_contacts(problem, lanes, n)
        coloured = fill_lanes(problem, lanes)
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
    """Impulses of the lanes back into problem.lam."""
    for lane in range(W * lanes.count[0]):
        i = lanes.row[lane]
        if i >= 0:
            at = lane // W * GROUP + lane % W + W * LAM
            problem.lam[i] = lanes.data[at]
            problem.lam[i + 1] = lanes.data[at + W]
            problem.lam[i + 2] = lanes.data[at + 2 * W]
