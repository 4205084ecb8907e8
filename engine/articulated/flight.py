"""Trees in free flight: nothing acts but their joints.

H(q) dqd/dt + C(q, qd) = 0 is a geodesic of the kinetic energy. Half a step before the kick

    q <- q + h/2 qd,   qd <- qd + h/2 a(q, qd')       qd' half way there

and the same backwards after it, both at the coordinates in the middle of the step: one factor
serves both halves and the kick. a = -H^-1 C is the acceleration without forces. It is guessed from
what it was in the steps before, looked at once for rates half way by that guess, and once more
where the guess was bad (at a start, after an impact). Then what the flight must keep is given back
(kept.py).
"""

from __future__ import annotations

from numpy.typing import NDArray

from engine.articulated.coordinates import advance_coordinates
from engine.articulated.exchange import (
    forget_forces,
    load_bodies,
    show_poses,
    show_velocities,
)
from engine.articulated.factor import turn_inertia
from engine.articulated.kept import book_flight, height_of, keep, remember, weight_power
from engine.articulated.places import move_node, place_node, write_velocities
from engine.articulated.walks import answer_flight, look_again, write_flight
from engine.bodies.forces import load_gravity
from engine.kernel import kernel
from engine.world.state import (
    BEND_AHEAD,
    BEND_BEFORE,
    BEND_BEHIND,
    BEND_CHANGE,
    LEDGER_CORRECTION,
    State,
)
from engine.world.tree import Tree, TreeWork

# a guess is as good as a look when the rates half way miss the look's by this share of their size,
# both weighed by what they move
ALIKE = 1e-3


@kernel
def expect(work: TreeWork, qd: NDArray, h: float, bend: NDArray) -> None:
    """work.mean <- rates half way through h if they change as `bend` says."""
    for k in range(qd.shape[0]):
        work.mean[k] = qd[k] + 0.5 * h * bend[k]


@kernel
def was_expected(tree: Tree, work: TreeWork, qd: NDArray, t: int, h: float) -> bool:
    """Whether the rates of tree t half way through h are about those that were looked at.

    Both are weighed by the inertia that each rate moves; how fast a floating tree travels does not
    count.

    Reads   work.qdd, D
    Writes  work.mean: rates half way, as qdd says
    """
    first, end = tree.v_start[tree.start[t]], tree.v_start[tree.start[t + 1]]
    missed, size = 0.0, 0.0
    for k in range(first, end):
        mean = qd[k] + 0.5 * h * work.qdd[k]
        miss = mean - work.mean[k]
        work.mean[k] = mean
        travels = tree.floating[t] == 1 and 3 <= k - first < 6
        if work.D[k] > 0.0 and not travels:
            missed += miss * miss / work.D[k]
            size += mean * mean / work.D[k]
    return missed <= ALIKE * ALIKE * size


@kernel
def bend_rates(tree: Tree, work: TreeWork, qd: NDArray, h: float, bend: NDArray) -> None:
    """qd <- qd + h a(q, qd'), qd' = qd + h/2 a: the rates change by themselves for a time h.

    Reads   work.mean: rates that were looked at; work.qdd, what was found there
    Writes  qd; bend (v,): a; work.A: accelerations of all nodes in flight
    """
    for t in range(tree.floating.shape[0]):
        if not was_expected(tree, work, qd, t, h):
            look_again(tree, work.mean, work, t)
    for k in range(qd.shape[0]):
        bend[k] = work.qdd[k]
        qd[k] += h * work.qdd[k]


@kernel
def fly_to_kick(tree: Tree, work: TreeWork, state: State, h: float) -> None:
    """The half step h before the kick.

    Writes  state.tree_q, tree_qd, poses and velocities of bodies of trees, momentum_in, ledger;
            work: factor in the middle of the step, A how its nodes bend in flight, fall and drop
            what gravity does to them
    Check   tests/laws/test_reduced.py
    """
    if tree.kind.shape[0] == 0:
        return
    g, bend = load_gravity(state), state.tree_bend
    load_bodies(tree, state, work)
    remember(tree, work, state.tree_qd)
    height = height_of(tree, work.kept, g)
    advance_coordinates(tree, state.tree_q, state.tree_qd, h)
    forget_forces(work)
    expect(work, state.tree_qd, h, bend[BEND_AHEAD])
    write_flight(tree, state.tree_q, work.mean, work)
    answer_flight(tree, work, g)
    bend_rates(tree, work, state.tree_qd, h, bend[BEND_BEFORE])
    write_velocities(tree, state.tree_qd, work)
    keep(tree, work, state, h)
    error = book_flight(tree, work, state)
    # gravity's share of the kick is reckoned along a straight path
    error += height_of(tree, work.found, g) + h * weight_power(tree, work.found, g) - height
    state.ledger[LEDGER_CORRECTION] += error
    show_poses(tree, work, state)
    show_velocities(tree, work, state)


@kernel
def leave_kick(tree: Tree, work: TreeWork, state: State, h: float) -> float:
    """The half step h after the kick, as far as coordinates; returns what `arrive` wants to know.

    That is the potential energy at its start, less what the kick reckoned it would lose on the way.

    Reads   work: factor in the middle of the step
    Writes  state.tree_q, tree_qd, tree_bend
    """
    if tree.kind.shape[0] == 0:
        return 0.0
    write_velocities(tree, state.tree_qd, work)
    g, bend = load_gravity(state), state.tree_bend
    remember(tree, work, state.tree_qd)
    height = height_of(tree, work.kept, g) - h * weight_power(tree, work.kept, g)
    for k in range(state.tree_qd.shape[0]):
        work.free[k] = bend[BEND_BEFORE, k] + bend[BEND_CHANGE, k]
    expect(work, state.tree_qd, h, work.free)
    for t in range(tree.floating.shape[0]):
        look_again(tree, work.mean, work, t)
    bend_rates(tree, work, state.tree_qd, h, work.free)
    for k in range(state.tree_qd.shape[0]):
        found = work.free[k]
        bend[BEND_CHANGE, k] = found - bend[BEND_BEFORE, k]
        bend[BEND_AHEAD, k] = 2.0 * found - bend[BEND_BEHIND, k]
        bend[BEND_BEHIND, k] = found
    advance_coordinates(tree, state.tree_q, state.tree_qd, h)
    return height


@kernel
def arrive(tree: Tree, work: TreeWork, state: State, h: float, height: float) -> None:
    """The end of the half step h after the kick; height from `leave_kick`.

    Writes  state.tree_q, tree_qd, poses and velocities of bodies of trees, momentum_in, ledger
    Check   tests/laws/test_reduced.py
    """
    if tree.kind.shape[0] == 0:
        return
    g = load_gravity(state)
    for i in range(tree.kind.shape[0]):
        place_node(tree, state.tree_q, i, work)
        turn_inertia(tree, work, i)
        move_node(tree, state.tree_qd, i, work)
    keep(tree, work, state, h)
    error = book_flight(tree, work, state) + height_of(tree, work.found, g) - height
    state.ledger[LEDGER_CORRECTION] += error
    show_poses(tree, work, state)
    show_velocities(tree, work, state)
