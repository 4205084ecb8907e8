"""Invariants of a tree in free flight: energy, and momenta if it floats."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import Spatial, Sym3, steiner, sym_add, sym_inverse, sym_times
from cardan.engine.spatial.mat3 import times_vector, transposed
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load3_from,
    scale,
    store3_from,
    sub,
)
from cardan.engine.trees.energy_momentum import rotor_energy
from cardan.engine.trees.kinematics import load_matrix, move_node
from cardan.engine.trees.spatial_arrays import load6, load_sym
from cardan.engine.world.state import FLIGHT_SUM, State
from cardan.engine.world.tree import (
    ALONE,
    INVARIANT_ANGULAR,
    INVARIANT_CENTRE,
    INVARIANT_ENERGY,
    INVARIANT_LINEAR,
    INVARIANT_MASS,
    Tree,
    TreeWork,
)

# a drift that lost more than this share of the speeds was inaccurate, and the loss is not restored;
# a gain is removed in any case, or trees whose drifts gain energy repeatedly would fly apart
WILD = 0.1
# the same of a gain, as a share of the energy that remains
TAKEN = (1.0 + WILD) ** 2 - 1.0
# a part of the energy below this share of the whole takes only its proportion of the error
SMALL = 0.1


@kernel
def floats_tied(tree: Tree, t: int) -> bool:
    """Whether tree t floats, but not alone: loops tie it to other trees or to the ground."""
    return bool(tree.floating[t] == 1 and tree.bond[t] != ALONE)


@kernel
def centre_of(tree: Tree, work: TreeWork, t: int) -> tuple[float, Vec3]:
    """Mass and centre of mass of tree t."""
    mass, centre = 0.0, ZERO3
    for i in range(tree.start[t], tree.start[t + 1]):
        mass += tree.mass[i]
        centre = add_scaled(centre, tree.mass[i], load3(work.p_WB, i))
    return mass, scale(1.0 / mass, centre)


@kernel
def write_sums(tree: Tree, work: TreeWork, t: int, qd: NDArray, out: NDArray) -> None:
    """Energy (with rotors), momenta and centre of mass of tree t.

    For a floating tree sums are first taken about the root's origin, to avoid cancellation.

    Reads   work.V, I_W, p_WB
    Writes  out[t], INVARIANT_...
    Check   tests/laws/test_reduced.py
    """
    begin = tree.start[t]
    floats = tree.floating[t] == 1
    origin = load3(work.p_WB, begin) if floats else ZERO3
    energy = 2.0 * rotor_energy(tree, qd, begin, tree.start[t + 1])
    mass, L, P, moment = 0.0, ZERO3, ZERO3, ZERO3
    for i in range(begin, tree.start[t + 1]):
        w, v = load6(work.V, i)
        m, spin = tree.mass[i], sym_times(load_sym(work.I_W, i), w)
        p, arm = scale(m, v), sub(load3(work.p_WB, i), origin)
        energy += dot(p, v) + dot(spin, w)
        mass += m
        L = add(L, add(spin, cross(arm, p)))
        P, moment = add(P, p), add_scaled(moment, m, arm)
    centre = scale(1.0 / mass, moment)
    if floats:
        L = sub(L, cross(centre, P))
        centre = add(centre, origin)
    out[t, INVARIANT_ENERGY], out[t, INVARIANT_MASS] = 0.5 * energy, mass
    store3_from(out, t, INVARIANT_LINEAR, P)
    store3_from(out, t, INVARIANT_ANGULAR, L)
    store3_from(out, t, INVARIANT_CENTRE, centre)


@kernel
def write_invariants(tree: Tree, work: TreeWork, qd: NDArray) -> None:
    """Write the invariants of every tree at its current poses and velocities.

    Reads   work.V, I_W, p_WB
    Writes  work.invariants
    """
    for t in range(tree.floating.shape[0]):
        write_sums(tree, work, t, qd, work.invariants)


@kernel
def height_of(tree: Tree, sums: NDArray, gravity_W: Vec3) -> float:
    """Gravitational energy of all trees [J], zero at the origin of W; sums: invariants or found."""
    total = 0.0
    for t in range(tree.floating.shape[0]):
        total -= sums[t, INVARIANT_MASS] * dot(gravity_W, load3_from(sums, t, INVARIANT_CENTRE))
    return total


@kernel
def weight_power(tree: Tree, sums: NDArray, gravity_W: Vec3) -> float:
    """Power of gravity on all trees [W]; sums: work.invariants or found."""
    total = 0.0
    for t in range(tree.floating.shape[0]):
        total += dot(gravity_W, load3_from(sums, t, INVARIANT_LINEAR))
    return total


@kernel
def move_nodes(tree: Tree, work: TreeWork, t: int, shift: Vec3, q: NDArray) -> None:
    """Shift a floating tree as a whole."""
    k = tree.q_start[tree.start[t]]
    for c in range(3):
        q[k + c] += shift[c]
        work.arm[tree.start[t], c] += shift[c]
        for i in range(tree.start[t], tree.start[t + 1]):
            work.p_WB[i, c] += shift[c]


@kernel
def inertia_about(tree: Tree, work: TreeWork, t: int, centre: Vec3) -> Sym3:
    """Moment of inertia of tree t, taken as rigid, about a point."""
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(tree.start[t], tree.start[t + 1]):
        arm = sub(load3(work.p_WB, i), centre)
        total = sym_add(total, sym_add(load_sym(work.I_W, i), steiner(tree.mass[i], arm)))
    return total


@kernel
def change_root(tree: Tree, work: TreeWork, t: int, w: Vec3, v: Vec3, qd: NDArray) -> None:
    """Add a rigid velocity change (w, v at its root) to a floating tree."""
    back = transposed(load_matrix(work.R, tree.start[t]))
    w, v = times_vector(back, w), times_vector(back, v)
    k = tree.v_start[tree.start[t]]
    for c in range(3):
        qd[k + c] += w[c]
        qd[k + 3 + c] += v[c]


@kernel
def stretch(wanted: float, found: float) -> float:
    """Factor of speeds that changes the energy from `found` to `wanted`; 1 if above 1 + WILD."""
    if not found > 0.0:
        return 1.0
    factor = math.sqrt(max(wanted, 0.0) / found)
    return factor if factor < 1.0 + WILD else 1.0


@kernel
def stretch_part(kept: float, others: float, found: float, whole: float) -> float:
    """`stretch` for a part `found` of the energy `whole`, limited for small parts.

    The error of a drift is a share of the whole energy: if a very small part took all of it, that
    part would change by more than the error of the drift, and the method would be of first order.
    The part should have the energy `kept` less that of the `others` [J].
    """
    if not (found > 0.0 and whole > 0.0 and kept > 0.0):
        return 1.0
    # after an inaccurate drift `whole` may be much too large
    share = min(found / (SMALL * min(whole, (1.0 + WILD) * kept)), 1.0)
    return stretch(found + share * (kept - others - found), found)


@kernel
def replace_whole(
    tree: Tree,
    work: TreeWork,
    t: int,
    qd: NDArray,
    centre: Vec3,
    old: Spatial,
    new: Spatial,
    factor: float,
) -> None:
    """Replace a rigid motion (w; v at a centre) of floating tree t, and scale the rest by `factor`.

    Reads   work.V, p_WB
    Writes  qd
    """
    root = tree.start[t]
    (w_old, v_old), (w, v) = old, new
    arm = sub(load3(work.p_WB, root), centre)
    # velocity of the root: the rigid motion is replaced, the motion relative to it scaled
    V_w, V_v = load6(work.V, root)
    at_root_old = add(v_old, cross(w_old, arm))
    at_root = add(v, cross(w, arm))
    new_w = add_scaled(w, factor, sub(V_w, w_old))
    new_v = add_scaled(at_root, factor, sub(V_v, at_root_old))
    change_root(tree, work, t, sub(new_w, V_w), sub(new_v, V_v), qd)
    for k in range(tree.v_start[root] + 6, tree.v_start[tree.start[t + 1]]):
        qd[k] *= factor


@kernel
def restore_floating(tree: Tree, work: TreeWork, t: int, qd: NDArray, energy_too: bool) -> float:
    """Restore the momenta of a floating tree to work.invariants, with `energy_too` also its energy.

    A rigid motion of the whole tree supplies the missing momenta. The motion relative to it is then
    scaled to the remaining energy.

    Reads   work.V, p_WB, I_W, invariants
    Writes  qd; work.found: the sums before
    Returns the energy that the scaling added [J]
    """
    kept, found = work.invariants, work.found
    write_sums(tree, work, t, qd, found)
    mass, centre = found[t, INVARIANT_MASS], load3_from(found, t, INVARIANT_CENTRE)
    inverse = sym_inverse(inertia_about(tree, work, t, centre))
    L, P = load3_from(found, t, INVARIANT_ANGULAR), load3_from(found, t, INVARIANT_LINEAR)
    L_kept, P_kept = load3_from(kept, t, INVARIANT_ANGULAR), load3_from(kept, t, INVARIANT_LINEAR)
    # rigid motion: before, and its target
    w_old, v_old = sym_times(inverse, L), scale(1.0 / mass, P)
    w, v = sym_times(inverse, L_kept), scale(1.0 / mass, P_kept)
    as_whole_old = 0.5 * (dot(w_old, L) + dot(v_old, P))
    as_whole = 0.5 * (dot(w, L_kept) + dot(v, P_kept))
    energy = found[t, INVARIANT_ENERGY]
    within = energy - as_whole_old
    factor = 1.0
    if energy_too:
        factor = stretch_part(kept[t, INVARIANT_ENERGY], as_whole, within, energy)
    replace_whole(tree, work, t, qd, centre, (w_old, v_old), (w, v), factor)
    return (factor * factor - 1.0) * within


@kernel
def stretch_tree(tree: Tree, work: TreeWork, t: int, qd: NDArray) -> float:
    """Scale the speeds of a grounded tree to its energy; return the energy that this added [J].

    Writes  qd, work.V, found of tree t
    """
    found = work.found
    factor = stretch(work.invariants[t, INVARIANT_ENERGY], found[t, INVARIANT_ENERGY])
    begin, end = tree.start[t], tree.start[t + 1]
    for k in range(tree.v_start[begin], tree.v_start[end]):
        qd[k] *= factor
    for i in range(begin, end):
        for k in range(6):
            work.V[i, k] *= factor
    energy = found[t, INVARIANT_ENERGY]
    found[t, INVARIANT_ENERGY] *= factor * factor
    for k in range(3):
        found[t, INVARIANT_LINEAR + k] *= factor
        found[t, INVARIANT_ANGULAR + k] *= factor
    return (factor * factor - 1.0) * energy


@kernel
def forget_wild(tree: Tree, state: State, t: int, brought: float, energy: float) -> None:
    """Discard predictions from a drift of tree t that gained more than WILD of its speeds.

    brought, energy   the energy that restoring it added (negative: removed), and the result [J]

    Writes  state.tree_bias_acceleration
    """
    if -brought <= TAKEN * energy:
        return
    for k in range(tree.v_start[tree.start[t]], tree.v_start[tree.start[t + 1]]):
        for m in range(state.tree_bias_acceleration.shape[0]):
            state.tree_bias_acceleration[m, k] = 0.0


@kernel
def restore_invariants(tree: Tree, work: TreeWork, state: State, h: float) -> float:
    """Restore energy and momenta after a drift over a time h.

    A tree in free flight follows a geodesic of its kinetic energy whatever its speed, so that
    scaling the speeds does not change the curve. Centre of mass and momenta of a floating tree are
    restored to rounding.

    Reads   work.p_WB, I_W and V at the end of the drift; work.invariants
    Writes  state.tree_q (positions of floating roots), tree_qd; work.V, found of the result;
            state.extremes (FLIGHT_SUM), tree_bias_acceleration
    Returns the energy that the drift had gained, and that was removed [J]
    Check   tests/laws/test_reduced.py
    """
    qd, kept, found, taken = state.tree_qd, work.invariants, work.found, 0.0
    for t in range(tree.floating.shape[0]):
        if tree.floating[t] == 0:
            write_sums(tree, work, t, qd, found)
            brought = stretch_tree(tree, work, t, qd)
            taken -= brought
            state.extremes[FLIGHT_SUM] += abs(brought)
            forget_wild(tree, state, t, brought, found[t, INVARIANT_ENERGY])
            continue
        travel = scale(h / kept[t, INVARIANT_MASS], load3_from(kept, t, INVARIANT_LINEAR))
        wanted = add(load3_from(kept, t, INVARIANT_CENTRE), travel)
        move_nodes(tree, work, t, sub(wanted, centre_of(tree, work, t)[1]), state.tree_q)
        brought = restore_floating(tree, work, t, qd, True)
        taken -= brought
        state.extremes[FLIGHT_SUM] += abs(brought)
        for i in range(tree.start[t], tree.start[t + 1]):
            move_node(tree, qd, i, work)
        write_sums(tree, work, t, qd, found)
        forget_wild(tree, state, t, brought, found[t, INVARIANT_ENERGY])
    return taken


@kernel
def book_drift(tree: Tree, work: TreeWork, state: State) -> float:
    """Energy error of a drift [J]; book the impulse of the ground on grounded trees.

    Reads   work.invariants, found
    Writes  state.momentum_in
    """
    error, kept, found = 0.0, work.invariants, work.found
    for t in range(tree.floating.shape[0]):
        error += found[t, INVARIANT_ENERGY] - kept[t, INVARIANT_ENERGY]
        if tree.floating[t] == 0:
            for k in range(3):
                state.momentum_in[k] += (
                    found[t, INVARIANT_LINEAR + k] - kept[t, INVARIANT_LINEAR + k]
                )
                state.momentum_in[3 + k] += (
                    found[t, INVARIANT_ANGULAR + k] - kept[t, INVARIANT_ANGULAR + k]
                )
    return error
