"""Drift of trees: motion without forces other than those of ideal joints.

H(q) dqd/dt + C(q, qd) = 0 describes a geodesic of the kinetic energy. Half a step before the kick

    q <- q + h/2 qd,   qd <- qd + h/2 a(q, qd')       qd' at half of that time

and the reverse order after it, both with H and C at the coordinates in the middle of the step: one
factor serves both halves and the kick. a = -H^-1 C is the acceleration without forces. It is
extrapolated from previous steps, evaluated once at rates predicted with that value, and once more
where the prediction was bad (at the start, after an impact). Then the invariants of the drift are
restored (invariants.py).
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.bodies.forces import load_gravity
from cardan.engine.compiler.kernel import kernel
from cardan.engine.trees.articulated_inertia import write_nodes
from cardan.engine.trees.body_sync import (
    forget_forces,
    read_bodies,
    write_body_poses,
    write_body_velocities,
)
from cardan.engine.trees.coordinates import advance_coordinates
from cardan.engine.trees.free_flight import (
    factor_free_flight,
    repeat_free_flight,
    solve_free_flight,
)
from cardan.engine.trees.invariants import (
    book_drift,
    height_of,
    restore_invariants,
    weight_power,
    write_invariants,
)
from cardan.engine.trees.kinematics import write_velocities
from cardan.engine.trees.loop_prediction import note_change, note_rates
from cardan.engine.world.lanes import LaneWorld
from cardan.engine.world.state import (
    BIAS_AHEAD,
    BIAS_BEFORE,
    BIAS_BEHIND,
    BIAS_CHANGE,
    BIAS_MEAN,
    LEDGER_CORRECTION,
)
from cardan.engine.world.tree import Tree, TreeWork
from cardan.engine.world.world import World

# a prediction is accepted when the rates at half time differ from the evaluated ones by less than
# this share, both weighted by inertia
ALIKE = 1e-3


@kernel
def predict_mean_velocities(work: TreeWork, qd: NDArray, h: float, bias: NDArray) -> None:
    """work.mean <- rates at half of h for the acceleration `bias`."""
    for k in range(qd.shape[0]):
        work.mean[k] = qd[k] + 0.5 * h * bias[k]


@kernel
def is_predicted(tree: Tree, work: TreeWork, qd: NDArray, t: int, h: float) -> bool:
    """Whether the rates of tree t at half of h are close to those of the last evaluation.

    Both are weighted by the inertia of each rate; the velocity of a floating tree as a whole is
    excluded.

    Reads   work.qdd, D
    Writes  work.mean: rates at half of h, for qdd
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
def apply_bias_acceleration(
    tree: Tree, work: TreeWork, qd: NDArray, h: float, bias: NDArray
) -> None:
    """qd <- qd + h a(q, qd'), qd' = qd + h/2 a: advance the rates without forces.

    Reads   work.mean: rates of the last evaluation; work.qdd, its result
    Writes  qd; bias (v,): a; work.A: accelerations of all nodes in free flight
    """
    for t in range(tree.floating.shape[0]):
        if not is_predicted(tree, work, qd, t, h):
            repeat_free_flight(tree, work.mean, work, t)
    for k in range(qd.shape[0]):
        bias[k] = work.qdd[k]
        qd[k] += h * work.qdd[k]


@kernel
def drift_before_kick(world: World | LaneWorld, h: float) -> float:
    """The half step h before the kick; like all of a drift, also of worlds in lanes.

    Returns energy as `restore_invariants` does [J].

    Writes  state.tree_q, tree_qd, poses and velocities of bodies of trees, momentum_in, ledger;
            work.tree: factor in the middle of the step; A, accelerations of its nodes without
            forces; fall and drop, their accelerations by gravity
    Check   tests/laws/test_reduced.py
    """
    tree, work, state = world.model.tree, world.work.tree, world.state
    if tree.kind.shape[0] == 0:
        return 0.0
    g, bias = load_gravity(state), state.tree_bias_acceleration
    read_bodies(tree, state, work)
    note_rates(work, state.tree_qd)
    write_invariants(tree, work, state.tree_qd)
    height = height_of(tree, work.invariants, g)
    advance_coordinates(tree, state.tree_q, state.tree_qd, h)
    forget_forces(work)
    predict_mean_velocities(work, state.tree_qd, h, bias[BIAS_AHEAD])
    factor_free_flight(tree, state.tree_q, work.mean, work)
    solve_free_flight(tree, work, g)
    apply_bias_acceleration(tree, work, state.tree_qd, h, bias[BIAS_BEFORE])
    write_velocities(tree, state.tree_qd, work)
    taken = restore_invariants(tree, work, state, h)
    error = book_drift(tree, work, state)
    # the kick computes the work of gravity along a straight path
    error += height_of(tree, work.found, g) + h * weight_power(tree, work.found, g) - height
    state.ledger[LEDGER_CORRECTION] += error
    write_body_poses(tree, work, state)
    write_body_velocities(tree, work, state)
    return taken


@kernel
def drift_after_kick(world: World | LaneWorld, h: float) -> float:
    """Advance the coordinates over the half step h after the kick.

    Returns the height argument of `finish_drift`: the potential energy at the start [J], less the
    loss that the kick predicted.

    Reads   work.tree: factor in the middle of the step
    Writes  state.tree_q, tree_qd, tree_bias_acceleration
    """
    tree, work, state = world.model.tree, world.work.tree, world.state
    if tree.kind.shape[0] == 0:
        return 0.0
    write_velocities(tree, state.tree_qd, work)
    g, bias = load_gravity(state), state.tree_bias_acceleration
    write_invariants(tree, work, state.tree_qd)
    height = height_of(tree, work.invariants, g) - h * weight_power(tree, work.invariants, g)
    for k in range(state.tree_qd.shape[0]):
        work.free[k] = bias[BIAS_BEFORE, k] + bias[BIAS_CHANGE, k]
    predict_mean_velocities(work, state.tree_qd, h, work.free)
    for t in range(tree.floating.shape[0]):
        repeat_free_flight(tree, work.mean, work, t)
    apply_bias_acceleration(tree, work, state.tree_qd, h, work.free)
    for k in range(state.tree_qd.shape[0]):
        found = work.free[k]
        bias[BIAS_CHANGE, k] = found - bias[BIAS_BEFORE, k]
        bias[BIAS_AHEAD, k] = 2.0 * found - bias[BIAS_BEHIND, k]
        bias[BIAS_BEHIND, k] = found
    note_change(work, state.tree_qd, 2.0 * h, bias[BIAS_MEAN])
    advance_coordinates(tree, state.tree_q, state.tree_qd, h)
    return height


@kernel
def finish_drift(world: World | LaneWorld, h: float, height: float) -> float:
    """The end of the half step h after the kick; height from `drift_after_kick`.

    Returns energy as `restore_invariants` does [J].

    Writes  state.tree_q, tree_qd, poses and velocities of bodies of trees, momentum_in, ledger
    Check   tests/laws/test_reduced.py
    """
    tree, work, state = world.model.tree, world.work.tree, world.state
    if tree.kind.shape[0] == 0:
        return 0.0
    g = load_gravity(state)
    write_nodes(tree, state.tree_q, state.tree_qd, work)
    taken = restore_invariants(tree, work, state, h)
    error = book_drift(tree, work, state) + height_of(tree, work.found, g) - height
    state.ledger[LEDGER_CORRECTION] += error
    write_body_poses(tree, work, state)
    write_body_velocities(tree, work, state)
    return taken
