"""Energy correction for loops of trees: ideal loop constraints do no work.

The kick makes rates tangent to the constraints at the predicted end of the step; the next kick
removes the error e of that prediction, with the work lam e/2 (decision 0051 treats bodies alike).
After the step rates are projected on the tangent space where the loops were closed, then scaled to
the kinetic energy of the kick without the work of the loops.
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.accounting.returned import record_return
from cardan.engine.accounting.work import mean_row_speed
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import row_speed_before
from cardan.engine.spatial.inertia import sym_add, sym_inverse, sym_times
from cardan.engine.spatial.vec3 import (
    ZERO3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load3_from,
    scale,
    sub,
)
from cardan.engine.stabilisation.loop_closure import level_rates
from cardan.engine.trees.body_sync import NO_MOMENTS, write_body_velocities
from cardan.engine.trees.energy_momentum import kinetic_energy, momentum, rotor_energy
from cardan.engine.trees.impulses import has_loops
from cardan.engine.trees.invariants import (
    floats_tied,
    inertia_about,
    replace_whole,
    restore_floating,
    stretch,
    stretch_part,
    write_sums,
)
from cardan.engine.trees.kinematics import write_velocities
from cardan.engine.trees.paths import tree_of
from cardan.engine.world.rows import ROW_EQUATION, Rows
from cardan.engine.world.state import LEDGER_CORRECTION
from cardan.engine.world.tree import (
    AFLOAT,
    ALONE,
    HELD,
    INVARIANT_ANGULAR,
    INVARIANT_CENTRE,
    INVARIANT_ENERGY,
    INVARIANT_LINEAR,
    INVARIANT_MASS,
)
from cardan.engine.world.workspace import Motion
from cardan.engine.world.world import World

# largest opening speed of a loop as a share of its bodies' speeds; above it, an impact loses energy
JOLT = 0.05


@kernel
def side_speed(J: NDArray, v: NDArray) -> float:
    """Upper bound of J v of one body, from the lengths of the halves of J and v (6,)."""
    turn, way, w2, v2 = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        turn += J[k] * J[k]
        way += J[3 + k] * J[3 + k]
        w2 += v[k] * v[k]
        v2 += v[3 + k] * v[3 + k]
    return math.sqrt(turn * w2) + math.sqrt(way * v2)


@kernel
def is_jolt(rows: Rows, i: int, motion: Motion) -> bool:
    """Whether a loop opened before the kick faster than the error of a drift explains."""
    old = motion.velocity_old
    most = side_speed(rows.J_a[i], old[rows.body_a[i]])
    most += side_speed(rows.J_b[i], old[rows.body_b[i]])
    return abs(row_speed_before(rows, i, motion)) > JOLT * most


@kernel
def record_loop_work(world: World) -> None:
    """Write the work of the loop equations in the kick [J]; inf at an impact, -inf if none holds.

    With it is the error of the flight to the kick, where a floating tree has it: the rotation of a
    body alone has no motion within that could take it.

    Reads   velocities before (motion) and after (state) the kick, rows, lam; work.tree.invariants,
            found of the flight to the kick
    Writes  work.loop_work
    """
    tree, work, state = world.model.tree, world.work.tree, world.state
    rows, problem, motion = world.work.rows, world.work.problem, world.work.motion
    if not has_loops(tree):
        return
    for t in range(work.loop_work.shape[0]):
        work.loop_work[t] = -math.inf
    for i in range(rows.count[0]):
        t = max(tree_of(tree, rows.body_a[i]), tree_of(tree, rows.body_b[i]))
        if rows.kind[i] != ROW_EQUATION or rows.cfm[i] > 0.0 or t < 0 or tree.tied[t] < 0:
            continue
        first = tree.tied[t]
        if work.loop_work[first] == -math.inf:
            work.loop_work[first] = 0.0
        if is_jolt(rows, i, motion):
            work.loop_work[first] = math.inf
        else:
            work.loop_work[first] += problem.lam[i] * mean_row_speed(rows, i, motion, state)
    for t in range(work.loop_work.shape[0]):
        if floats_tied(tree, t) and tree.tied[t] >= 0:
            error = work.found[t, INVARIANT_ENERGY] - work.invariants[t, INVARIANT_ENERGY]
            work.loop_work[tree.tied[t]] += error


@kernel
def energy_of(world: World, begin: int, end: int) -> float:
    """Kinetic energy of nodes and of the rotors of their joints [J]."""
    tree = world.model.tree
    energy = kinetic_energy(tree, world.work.tree, begin, end)
    return energy + rotor_energy(tree, world.state.tree_qd, begin, end)


@kernel
def restore_afloat(world: World, t: int, wanted: float) -> float:
    """Angular momentum that closing loops took from trees afloat together, then the energy wanted.

    As `restore_floating` of one tree: a rigid motion of them all, and the motion within it.

    Reads   work.tree: V, places, inertias, lost; t: the first of the trees
    Writes  state.tree_qd; work.tree.found
    Returns the energy that scaling brought [J]
    """
    tree, work, qd = world.model.tree, world.work.tree, world.state.tree_qd
    found, n = work.found, tree.tied.shape[0]
    mass, energy, centre, P, lost = 0.0, 0.0, ZERO3, ZERO3, ZERO3
    for s in range(t, n):
        if tree.tied[s] == t:
            write_sums(tree, work, s, qd, found)
            mass += found[s, INVARIANT_MASS]
            energy += found[s, INVARIANT_ENERGY]
            place = load3_from(found, s, INVARIANT_CENTRE)
            centre = add_scaled(centre, found[s, INVARIANT_MASS], place)
            P = add(P, load3_from(found, s, INVARIANT_LINEAR))
            lost = add(lost, load3(work.lost, s))
    centre, v = scale(1.0 / mass, centre), scale(1.0 / mass, P)
    L, inertia = ZERO3, NO_MOMENTS
    for s in range(t, n):
        if tree.tied[s] == t:
            arm = sub(load3_from(found, s, INVARIANT_CENTRE), centre)
            own = load3_from(found, s, INVARIANT_ANGULAR)
            L = add(L, add(own, cross(arm, load3_from(found, s, INVARIANT_LINEAR))))
            inertia = sym_add(inertia, inertia_about(tree, work, s, centre))
    inverse = sym_inverse(inertia)
    w_old, w = sym_times(inverse, L), sym_times(inverse, add(L, lost))
    within = energy - 0.5 * (dot(w_old, L) + dot(v, P))
    factor = 1.0
    if world.options.energy_return == 1:
        as_whole = 0.5 * (dot(w, add(L, lost)) + dot(v, P))
        factor = stretch_part(wanted, as_whole, within, energy)
    for s in range(t, n):
        if tree.tied[s] == t:
            replace_whole(tree, work, s, qd, centre, (w_old, v), (w, v), factor)
    return (factor * factor - 1.0) * within


@kernel
def restore_tree_energy(world: World, t: int) -> float:
    """Scale the rates of tree t and those tied to it for their energy in the kick, less the work.

    Those without a loop in this step lost nothing. Where options.energy_return is off, only what
    floats gets its momenta back.

    Reads   work.tree: V, invariants, loop_work
    Writes  state.tree_qd
    Returns the energy that scaling brought [J]
    """
    tree, work, qd = world.model.tree, world.work.tree, world.state.tree_qd
    energy_too = world.options.energy_return == 1
    due = work.loop_work[t]
    if due == -math.inf:
        return 0.0
    due = due if due < math.inf else 0.0
    if tree.bond[t] == ALONE:
        work.invariants[t, INVARIANT_ENERGY] -= due
        return restore_floating(tree, work, t, qd, energy_too)
    if tree.bond[t] == HELD and not energy_too:
        return 0.0
    wanted, found = -due, 0.0
    for s in range(t, tree.tied.shape[0]):
        if tree.tied[s] == t:
            wanted += work.invariants[s, INVARIANT_ENERGY]
            found += energy_of(world, tree.start[s], tree.start[s + 1])
    if tree.bond[t] == AFLOAT:
        return restore_afloat(world, t, wanted)
    factor = stretch(wanted, found)
    for s in range(t, tree.tied.shape[0]):
        if tree.tied[s] == t:
            for k in range(tree.v_start[tree.start[s]], tree.v_start[tree.start[s + 1]]):
                qd[k] *= factor
    return (factor * factor - 1.0) * found


@kernel
def restore_loop_energy(world: World, closed: bool) -> None:
    """Project rates on the loops at the end of a step and restore their energy.

    Reads   closed: whether loops could be closed; work.tree.invariants of the drift from the kick;
            work.tree.lost
    Writes  state.tree_qd, velocities of bodies of trees; ledger, momentum_in,
            extremes (RETURNED_...)
    Check   tests/laws/test_reduced.py, tests/laws/test_ties.py, tests/references/test_mechanisms.py
    """
    tree, state, scratch = world.model.tree, world.state, world.work.tree
    if not has_loops(tree):
        return
    n = tree.kind.shape[0]
    energy = energy_of(world, 0, n)
    L, P = momentum(tree, scratch, 0, n, ZERO3)
    for t in range(tree.tied.shape[0]):
        L = add(L, load3(scratch.lost, t))
    if closed:
        level_rates(world)
    total, net = 0.0, 0.0
    for t in range(tree.tied.shape[0]):
        if tree.tied[t] == t:
            brought = restore_tree_energy(world, t)
            total += abs(brought)
            net += brought
    if world.options.energy_return == 1:
        record_return(world, total, net)
    write_velocities(tree, state.tree_qd, scratch)
    write_body_velocities(tree, scratch, state)
    state.ledger[LEDGER_CORRECTION] += energy_of(world, 0, n) - energy
    L_now, P_now = momentum(tree, scratch, 0, n, ZERO3)
    P, L = sub(P_now, P), sub(L_now, L)
    for k in range(3):
        state.momentum_in[k] += P[k]
        state.momentum_in[3 + k] += L[k]
