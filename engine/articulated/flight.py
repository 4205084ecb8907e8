"""Trees in free flight: nothing acts but their joints.

H(q) dqd/dt + C(q, qd) = 0 is a geodesic of the kinetic energy. Half a step before the kick

    q <- q + h/2 qd,   qd <- qd + h/2 a(q, qd')       qd' half way there

and the same backwards after it, both at the coordinates in the middle of the step: one factor
serves both halves and the kick. a = -H^-1 C is the acceleration without forces. Then what the
flight must keep is given back (kept.py).
"""

from __future__ import annotations

from engine.articulated.coordinates import advance_coordinates
from engine.articulated.exchange import (
    clear_forces,
    load_velocities,
    prepare,
    show_poses,
    show_velocities,
)
from engine.articulated.factor import respond_moving, write_inertias
from engine.articulated.kept import book_flight, keep, remember
from engine.articulated.places import write_bends, write_places, write_velocities
from engine.articulated.sums import gravitational_energy, weight_power
from engine.kernel import kernel
from engine.spatial.vec3 import Vec3
from engine.world.state import LEDGER_CORRECTION, State
from engine.world.tree import Tree, TreeWork

# looks at a = -H^-1 C(q, qd') per half step, each with a better qd'
LOOKS = 2


@kernel
def load_gravity(state: State) -> Vec3:
    """Gravity [m/s^2], W."""
    return (state.gravity_W[0], state.gravity_W[1], state.gravity_W[2])


@kernel
def bend_rates(tree: Tree, work: TreeWork, state: State, h: float) -> None:
    """qd <- qd + h a(q, qd'), qd' = qd + h/2 a: the rates change by themselves for a time h.

    Writes  state.tree_qd; work.A: accelerations of all nodes in flight
    """
    qd, mean = state.tree_qd, work.mean
    for k in range(qd.shape[0]):
        mean[k] = qd[k]
    for _ in range(LOOKS):
        write_velocities(tree, mean, work)
        write_bends(tree, mean, work)
        clear_forces(tree, work)
        respond_moving(tree, work, work.qdd)
        for k in range(qd.shape[0]):
            mean[k] = qd[k] + 0.5 * h * work.qdd[k]
    for k in range(qd.shape[0]):
        qd[k] += h * work.qdd[k]


@kernel
def fly_to_kick(tree: Tree, work: TreeWork, state: State, h: float) -> None:
    """The half step h before the kick.

    Writes  state.tree_q, tree_qd, poses and velocities of bodies of trees, momentum_in, ledger;
            work: factor in the middle of the step, A how its nodes bend in flight
    Check   tests/laws/test_reduced.py
    """
    if tree.kind.shape[0] == 0:
        return
    write_places(tree, state.tree_q, work)
    write_inertias(tree, work)
    g = load_gravity(state)
    height = gravitational_energy(tree, work, g)
    load_velocities(tree, state, work)
    remember(tree, work)
    advance_coordinates(tree, state.tree_q, state.tree_qd, h)
    prepare(tree, state, work)
    bend_rates(tree, work, state, h)
    keep(tree, work, state, h)
    error = book_flight(tree, work, state)
    # gravity's share of the kick is reckoned along a straight path
    error += gravitational_energy(tree, work, g) + h * weight_power(tree, work, g) - height
    state.ledger[LEDGER_CORRECTION] += error
    show_poses(tree, work, state)
    show_velocities(tree, work, state)


@kernel
def leave_kick(tree: Tree, work: TreeWork, state: State, h: float) -> float:
    """The half step h after the kick, as far as coordinates; returns what `arrive` wants to know.

    That is the potential energy at its start, less what the kick reckoned it would lose on the way.

    Reads   work: factor in the middle of the step
    Writes  state.tree_q, tree_qd
    """
    if tree.kind.shape[0] == 0:
        return 0.0
    write_velocities(tree, state.tree_qd, work)
    g = load_gravity(state)
    height = gravitational_energy(tree, work, g) - h * weight_power(tree, work, g)
    remember(tree, work)
    bend_rates(tree, work, state, h)
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
    write_places(tree, state.tree_q, work)
    write_inertias(tree, work)
    keep(tree, work, state, h)
    error = book_flight(tree, work, state) + gravitational_energy(tree, work, g) - height
    state.ledger[LEDGER_CORRECTION] += error
    show_poses(tree, work, state)
    show_velocities(tree, work, state)


@kernel
def keep_coordinates(state: State, work: TreeWork) -> None:
    """Remember coordinates and rates so that the step can be undone."""
    for k in range(state.tree_q.shape[0]):
        work.q_start[k] = state.tree_q[k]
    for k in range(state.tree_qd.shape[0]):
        work.qd_start[k] = state.tree_qd[k]


@kernel
def return_coordinates(state: State, work: TreeWork) -> None:
    """Take coordinates and rates back to where the step began."""
    for k in range(state.tree_q.shape[0]):
        state.tree_q[k] = work.q_start[k]
    for k in range(state.tree_qd.shape[0]):
        state.tree_qd[k] = work.qd_start[k]
