"""Work on all groups of lanes, in shares that the threads of a crew take (threads/shares.py).

Groups of one colour have no movable body in common: whichever thread sweeps them, and in whichever
order, the result is the same. Colours follow one another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.inline import shared_kernel
from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.sweeps.simd.anderson import (
    begin_groups,
    carry_groups,
    carry_velocities,
    compare_groups,
)
from cardan.engine.solvers.sweeps.simd.layout import W
from cardan.engine.solvers.sweeps.simd.packing import fill_pairs, store_groups
from cardan.engine.solvers.sweeps.simd.residual import measure_groups
from cardan.engine.solvers.sweeps.simd.sweep import WORST, push_groups, sweep_groups
from cardan.engine.threads.shares import (
    await_shares,
    end_of,
    end_shares,
    is_alone,
    offer,
    part_of,
    share_of,
    take,
    work_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes, Problem

# kinds of work; an offer says the problem too
PUSH, SWEEP, MEASURE, BEGIN, COMPARE, CARRY, MOVE, FILL, STORE = 1, 2, 3, 4, 5, 6, 7, 8, 9
KINDS_OF_WORK = 16
# groups, pairs or bodies from which on work is shared
LEAST_GROUPS, LEAST_SINGLES = 4, 64


@shared_kernel
def do_groups(problem: Problem, lanes: Lanes, v: NDArray, work: int, first: int, end: int) -> None:
    """A kind of work on the groups, pairs or bodies [first, end)."""
    number = lanes.crew.number[0]
    if work == SWEEP:
        sweep_groups(lanes, v, number, first, end)
    elif work == PUSH:
        push_groups(lanes, v, first, end)
    elif work == MEASURE:
        measure_groups(lanes, v, first, end)
    elif work == BEGIN:
        begin_groups(lanes, first, end)
    elif work == COMPARE:
        compare_groups(lanes, first, end)
    elif work == CARRY:
        carry_groups(lanes, number, first, end)
    elif work == MOVE:
        carry_velocities(lanes, v, number, first, end)
    elif work == FILL:
        fill_pairs(problem, lanes, first, end)
    elif work == STORE:
        store_groups(problem, lanes, first, end)


@kernel
def is_of_all_groups(work: int) -> bool:
    """Whether a work is on the groups of all colours, in any order."""
    return work in (MEASURE, BEGIN, COMPARE, CARRY, STORE)


@kernel
def n_colours(lanes: Lanes) -> int:
    """Colours in use: the first ones."""
    colour = 0
    while lanes.colour[colour] < lanes.count[0]:
        colour += 1
    return colour


@kernel
def do_parts(problem: Problem, lanes: Lanes, v: NDArray, ticket: int) -> None:
    """Shares of a work: the same part of every colour's groups, so of about the same bodies."""
    work, shares = work_of(ticket) % KINDS_OF_WORK, (share_of(ticket), end_of(ticket))
    if not is_of_all_groups(work):
        first = lanes.crew.first[0]
        at, end = part_of(lanes.crew.end[0] - first, shares[0], shares[1])
        do_groups(problem, lanes, v, work, first + at, first + end)
        return
    for colour in range(n_colours(lanes)):
        first = lanes.colour[colour]
        at, end = part_of(lanes.colour[colour + 1] - first, shares[0], shares[1])
        if at < end:
            do_groups(problem, lanes, v, work, first + at, first + end)


@kernel
def do_work(problem: Problem, lanes: Lanes, v: NDArray, work: int, first: int, end: int) -> None:
    """A kind of work on the groups, pairs or bodies [first, end), shared where there are enough."""
    crew = lanes.crew
    least = LEAST_SINGLES if work in (MOVE, FILL) else LEAST_GROUPS
    if end - first < least or is_alone(crew) or problem.number[0] == 0:
        do_groups(problem, lanes, v, work, first, end)
        return
    crew.first[0], crew.end[0] = first, end
    offer(crew, problem.number[0] * KINDS_OF_WORK + work)
    ticket = take(crew, 0)
    while share_of(ticket) >= 0:
        do_parts(problem, lanes, v, ticket)
        end_shares(crew, ticket)
        ticket = take(crew, 0)
    await_shares(crew)


@kernel
def push_lanes(problem: Problem, lanes: Lanes, v: NDArray) -> None:
    """v += M^-1 J^T lam of all lanes."""
    for colour in range(n_colours(lanes)):
        do_work(problem, lanes, v, PUSH, lanes.colour[colour], lanes.colour[colour + 1])


@kernel
def clear_worst(lanes: Lanes) -> None:
    """Forget the largest changes or errors, of all threads."""
    for thread in range(lanes.crew.every.shape[0]):
        for l in range(2 * W):
            lanes.crew.every[thread, WORST + l] = 0.0


@kernel
def largest_change(lanes: Lanes) -> float:
    """The largest change of all lanes and threads."""
    largest = 0.0
    for thread in range(lanes.crew.every.shape[0]):
        for l in range(WORST, WORST + W):
            found = lanes.crew.every[thread, l]
            largest = found if found > largest else largest
    return largest


@kernel
def largest_error(lanes: Lanes, kind: int) -> float:
    """The largest error of all lanes and threads, natural (0) or Coulomb (1); NaN beats any."""
    largest = 0.0
    first = WORST + W * kind
    for thread in range(lanes.crew.every.shape[0]):
        for l in range(first, first + W):
            found = lanes.crew.every[thread, l]
            largest = largest if found <= largest else found
    return largest


@kernel
def sweep_lanes(problem: Problem, lanes: Lanes, v: NDArray, omega: float) -> float:
    """Sweep all groups once; return the largest D |change| [m/s].

    Reads   v (n_bodies + 1, 6) rad/s, m/s   M^-1 J^T lam; a static body's is 0 and stays so
    Source  decision 0122
    Check   tests/engine/solvers/sweeps/test_simd.py
    """
    clear_worst(lanes)
    lanes.crew.number[0] = omega
    for colour in range(n_colours(lanes)):
        do_work(problem, lanes, v, SWEEP, lanes.colour[colour], lanes.colour[colour + 1])
    return largest_change(lanes)


@kernel
def measure_lanes(problem: Problem, lanes: Lanes, v: NDArray) -> tuple[float, float]:
    """Largest natural map and largest Coulomb error of all lanes [m/s].

    Reads   v (n_bodies + 1, 6) rad/s, m/s   M^-1 J^T lam
    Writes  lanes.data: w in the place of the biases, so that lanes must be loaded to sweep again
    Check   tests/engine/solvers/sweeps/test_simd.py
    """
    clear_worst(lanes)
    do_work(problem, lanes, v, MEASURE, 0, lanes.count[0])
    return largest_error(lanes, 0), largest_error(lanes, 1)


@kernel
def carry_on(problem: Problem, lanes: Lanes, v: NDArray, n_moving: int, beta: float) -> None:
    """Extrapolate impulses of all lanes and velocities of n_moving bodies by beta."""
    lanes.crew.number[0] = beta
    do_work(problem, lanes, v, CARRY, 0, lanes.count[0])
    do_work(problem, lanes, v, MOVE, 0, n_moving)
