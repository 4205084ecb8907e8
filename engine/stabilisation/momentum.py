"""Restoration of momentum and energy after position correction, per set of joined bodies."""

from __future__ import annotations

from math import sqrt

from numpy.typing import NDArray

from cardan.engine.accounting.crossings import SMALL_GROWTH, note_growth, under_way
from cardan.engine.accounting.returned import record_return
from cardan.engine.bodies.union_find import find_root, make_sets, union
from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.islands import join_trees
from cardan.engine.spatial.mat3 import inverse_symmetric, load33, times_vector
from cardan.engine.spatial.quaternion import load4, rotate, rotate_back
from cardan.engine.spatial.vec3 import (
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    scale,
    slice3,
    store3,
    sub,
)
from cardan.engine.stabilisation.shift_trees import turn_tree
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.rows import ROW_DRAG, ROW_EQUATION, Rows
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# columns of positions.sums. SCALING is the factor of velocities, less 1; `_WITHIN`: of the motion
# relative to the rigid one
MASS, FIRST_MOMENT, INERTIA, ANGULAR, SPIN, LINEAR = 0, 1, 4, 10, 13, 16
DUE, KINETIC, SCALING, LINEAR_WITHIN, ANGULAR_WITHIN, JOLTED = 19, 20, 21, 22, 25, 28

# support of a set: none; several with different motions; 1 + k: body k
FREE, TORN = 0, -1

# a change above this share of the kinetic energy in one step is not an error of smooth motion: such
# a loss is not restored; a gain is removed all the same
MOST = 0.1

Twist = tuple[Vec3, Vec3]  # velocity [m/s], angular velocity [rad/s]
Field = tuple[Vec3, Vec3, Vec3]  # rigid motion: velocity [m/s] at a point [m], and [rad/s]


@kernel
def _moves_alike(state: State, a: int, b: int) -> bool:
    """Whether two fixed or kinematic bodies are both at rest, or are the same body."""
    if a == b:
        return True
    for body in (a, b):
        for k in range(3):
            if state.v_WB_W[body, k] != 0.0 or state.w_WB_W[body, k] != 0.0:
                return False
    return True


@kernel
def _hold(world: World, s: int, support: int) -> None:
    """Record that set s is supported by a fixed or kinematic body."""
    state, held = world.state, world.work.positions.held
    if held[s] == FREE:
        held[s] = 1 + support
    elif held[s] != TORN and not _moves_alike(state, held[s] - 1, support):
        held[s] = TORN


@kernel
def _joins(rows: Rows, i: int, equations: bool) -> bool:
    """Whether row i joins its bodies to one set: any but drag, or `equations` only."""
    kind = rows.kind[i]
    return bool(kind == ROW_EQUATION or (not equations and kind != ROW_DRAG))


@kernel
def _join_trees(world: World) -> None:
    """Join the bodies of each tree to one set; grounded trees are TORN: they are not scaled."""
    tree, positions = world.model.tree, world.work.positions
    join_trees(tree, positions.parent)
    for i in range(tree.kind.shape[0]):
        if tree.body[i] >= 0 and tree.floating[tree.tree[i]] == 0:
            positions.held[find_root(positions.parent, tree.body[i])] = TORN


@kernel
def write_sets(world: World, equations: bool) -> None:
    """Find sets of bodies joined by rows (or `equations` only), and their supports.

    Writes  positions.parent, held; sums = 0
    """
    kind, rows, positions = world.model.bodies.kind, world.work.rows, world.work.positions
    make_sets(positions.parent)
    positions.held[:] = FREE
    positions.sums[:] = 0.0
    last_a, last_b = -1, -1
    for i in range(rows.count[0]):
        a, b = rows.body_a[i], rows.body_b[i]
        if (a == last_a and b == last_b) or not _joins(rows, i, equations):
            continue
        last_a, last_b = a, b
        if kind[a] == DYNAMIC and kind[b] == DYNAMIC:
            union(positions.parent, a, b)
    _join_trees(world)
    last_a, last_b = -1, -1
    for i in range(rows.count[0]):
        a, b = rows.body_a[i], rows.body_b[i]
        if (a == last_a and b == last_b) or not _joins(rows, i, equations):
            continue
        last_a, last_b = a, b
        if (kind[a] == DYNAMIC) != (kind[b] == DYNAMIC):
            moves, support = (a, b) if kind[a] == DYNAMIC else (b, a)
            _hold(world, find_root(positions.parent, moves), support)


@kernel
def _count_equations(rows: Rows) -> int:
    """Number of rows that are equations of joints."""
    n = 0
    for i in range(rows.count[0]):
        if rows.kind[i] == ROW_EQUATION:
            n += 1
    return n


@kernel
def _add(sums: NDArray, first: int, x: Vec3) -> None:
    """Add x to three columns of the sums of a set."""
    for k in range(3):
        sums[first + k] += x[k]


@kernel
def _centre(sums: NDArray) -> Vec3:
    """Centre of mass of a set."""
    return scale(1.0 / sums[MASS], slice3(sums, FIRST_MOMENT))


@kernel
def _times_inertia(world: World, i: int, x: Vec3) -> Vec3:
    """R I_B R^T x."""
    q = load4(world.state.q_WB, i)
    return rotate(q, times_vector(load33(world.model.bodies.inertia_B, i), rotate_back(q, x)))


@kernel
def _add_inertia(world: World, i: int, sums: NDArray) -> None:
    """Inertia of body i about the centre of mass of its set: xx yy zz xy xz yz."""
    x, y, z = sub(load3(world.state.p_WB, i), _centre(sums))
    m = world.model.bodies.mass[i]
    ex = _times_inertia(world, i, (1.0, 0.0, 0.0))
    ey = _times_inertia(world, i, (0.0, 1.0, 0.0))
    ez = _times_inertia(world, i, (0.0, 0.0, 1.0))
    sums[INERTIA] += ex[0] + m * (y * y + z * z)
    sums[INERTIA + 1] += ey[1] + m * (x * x + z * z)
    sums[INERTIA + 2] += ez[2] + m * (x * x + y * y)
    sums[INERTIA + 3] += ex[1] - m * x * y
    sums[INERTIA + 4] += ex[2] - m * x * z
    sums[INERTIA + 5] += ey[2] - m * y * z


@kernel
def _write_spin(sums: NDArray) -> None:
    """Write the angular velocity of the set as one rigid body with the momentum in ANGULAR."""
    xx, yy, zz = slice3(sums, INERTIA)
    xy, xz, yz = slice3(sums, INERTIA + 3)
    inverse = inverse_symmetric(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    spin = times_vector(inverse, slice3(sums, ANGULAR))
    for k in range(3):
        sums[SPIN + k] = spin[k]


@kernel
def _change_velocity(world: World, i: int, change: Twist) -> float:
    """Change the velocities of a body; return its gain of kinetic energy [J]."""
    state, (dv, dw) = world.state, change
    v, w = load3(state.v_WB_W, i), load3(state.w_WB_W, i)
    store3(state.v_WB_W, i, add(v, dv))
    store3(state.w_WB_W, i, add(w, dw))
    gained = world.model.bodies.mass[i] * dot(add_scaled(v, 0.5, dv), dv)
    return gained + dot(add_scaled(w, 0.5, dw), _times_inertia(world, i, dw))


@kernel
def _is_zero(x: NDArray) -> bool:
    """Whether all components of x (n, 3) are 0."""
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, abs(x[i, 0]), abs(x[i, 1]), abs(x[i, 2]))
    return largest == 0.0


@kernel
def return_momentum(world: World) -> float:
    """Restore the angular momentum that shifts took from every set of bodies.

    A shift keeps the centre of mass and the linear momentum of a floating set; its angular momentum
    changes by sum of shift x m v. A rigid rotation of the set about its centre of mass, which does
    not change J v, compensates the difference. For sets on fixed bodies the difference is booked as
    an external impulse.

    Reads   positions.lost; work.rows: rows that moved poses, with those of the supports
    Writes  state.v_WB_W, w_WB_W, momentum_in
    Returns the gain of kinetic energy [J]
    Check   tests/laws/test_stabilisation.py
    """
    bodies, state, positions = world.model.bodies, world.state, world.work.positions
    lost, sums, parent = positions.lost, positions.sums, positions.parent
    write_sets(world, False)
    if _is_zero(lost):
        return 0.0
    n = bodies.kind.shape[0]
    for i in range(n):
        if bodies.kind[i] != DYNAMIC:
            continue
        s = find_root(parent, i)
        if positions.held[s] != FREE:
            for k in range(3):
                state.momentum_in[3 + k] -= lost[i, k]
            continue
        sums[s, MASS] += bodies.mass[i]
        _add(sums[s], FIRST_MOMENT, scale(bodies.mass[i], load3(state.p_WB, i)))
        _add(sums[s], ANGULAR, load3(lost, i))
    gained = 0.0
    for i in range(n):
        s = find_root(parent, i)
        if bodies.kind[i] == DYNAMIC and positions.held[s] == FREE:
            _add_inertia(world, i, sums[s])
    for i in range(n):
        s = find_root(parent, i)
        if bodies.kind[i] != DYNAMIC or positions.held[s] != FREE:
            continue
        if s == i:
            _write_spin(sums[s])
        spin = slice3(sums[s], SPIN)
        if spin != (0.0, 0.0, 0.0):
            arm = sub(load3(state.p_WB, i), _centre(sums[s]))
            gained += _change_velocity(world, i, (cross(spin, arm), spin))
            turn_tree(world, i, (spin, cross(spin, arm)))
    return gained


@kernel
def _is_due(sums: NDArray) -> bool:
    """Whether the equations of a set did work."""
    return bool(sums[DUE] != 0.0 or sums[JOLTED] != 0.0)


@kernel
def _write_scaling(sums: NDArray, small: float) -> float:
    """Write the factor by which the motion of a set is scaled, less 1, and the energy this adds.

    Reads   small: energy below which no gain is removed [J]
    Writes  sums: SCALING, DUE
    Returns the energy that equations added beyond the error of a smooth motion [J]
    """
    due, T = sums[DUE], sums[KINETIC]
    brought = -due - sums[JOLTED]
    if T > 0.0 and brought > MOST * T and brought > small:
        sums[DUE] = -min(brought, T)
        sums[SCALING] = sqrt(1.0 + sums[DUE] / T) - 1.0
        return float(brought)
    if due != 0.0 and abs(due) <= MOST * T:
        sums[SCALING] = sqrt(1.0 + due / T) - 1.0
    return 0.0


@kernel
def _write_own_motion(world: World) -> None:
    """Momenta, inertia and angular velocity of floating sets with energy to restore."""
    bodies, state, positions = world.model.bodies, world.state, world.work.positions
    sums, parent = positions.sums, positions.parent
    n = bodies.kind.shape[0]
    for i in range(n):
        s = find_root(parent, i)
        if bodies.kind[i] == DYNAMIC and positions.held[s] == FREE and _is_due(sums[s]):
            m = bodies.mass[i]
            sums[s, MASS] += m
            _add(sums[s], FIRST_MOMENT, scale(m, load3(state.p_WB, i)))
            _add(sums[s], LINEAR, scale(m, load3(state.v_WB_W, i)))
    for i in range(n):
        s = find_root(parent, i)
        if bodies.kind[i] == DYNAMIC and positions.held[s] == FREE and _is_due(sums[s]):
            _add_inertia(world, i, sums[s])
            arm = sub(load3(state.p_WB, i), _centre(sums[s]))
            push = scale(bodies.mass[i], load3(state.v_WB_W, i))
            own = _times_inertia(world, i, load3(state.w_WB_W, i))
            _add(sums[s], ANGULAR, add(own, cross(arm, push)))
    for s in range(n):
        if sums[s, MASS] > 0.0:
            _write_spin(sums[s])


@kernel
def _field(world: World, s: int) -> Field:
    """Rigid motion relative to which set s is scaled: that of its support, or its own."""
    state, held, sums = world.state, world.work.positions.held[s], world.work.positions.sums[s]
    if held > 0:
        k = held - 1
        return load3(state.v_WB_W, k), load3(state.p_WB, k), load3(state.w_WB_W, k)
    v = scale(1.0 / sums[MASS], slice3(sums, LINEAR))
    return v, _centre(sums), slice3(sums, SPIN)


@kernel
def _motion_within(state: State, i: int, field: Field) -> Twist:
    """Velocity [m/s] and angular velocity [rad/s] of body i relative to a rigid motion."""
    v, at, w = field
    carried = add(v, cross(w, sub(load3(state.p_WB, i), at)))
    return sub(load3(state.v_WB_W, i), carried), sub(load3(state.w_WB_W, i), w)


@kernel
def _add_motion(world: World, i: int, s: int) -> None:
    """Add energy and momenta about the origin of the motion (u, y) of body i within its set s."""
    sums = world.work.positions.sums[s]
    u, y = _motion_within(world.state, i, _field(world, s))
    push, own = scale(world.model.bodies.mass[i], u), _times_inertia(world, i, y)
    sums[KINETIC] += 0.5 * (dot(u, push) + dot(y, own))
    _add(sums, LINEAR_WITHIN, push)
    _add(sums, ANGULAR_WITHIN, add(own, cross(load3(world.state.p_WB, i), push)))


@kernel
def _book_scaling(world: World, s: int) -> float:
    """Book the momentum that scaling set s takes from its support; return the energy gain [J]."""
    state, sums = world.state, world.work.positions.sums[s]
    if world.work.positions.held[s] == FREE:
        return float(sums[DUE])
    more, P, L = sums[SCALING], slice3(sums, LINEAR_WITHIN), slice3(sums, ANGULAR_WITHIN)
    for k in range(3):
        state.momentum_in[k] += more * P[k]
        state.momentum_in[3 + k] += more * L[k]
    v, at, w = _field(world, s)
    return float(sums[DUE] + more * (dot(v, P) + dot(w, sub(L, cross(at, P)))))


@kernel
def return_energy(world: World) -> float:
    """Restore the energy that the equations of joints took from every set of bodies.

    Ideal joints do no work. Their work in the kick, and the change of potential and rotational
    energy by position correction, are returned by scaling the motion (u, y of each body) relative
    to a rigid motion,

        u <- f u,  y <- f y,    f^2 = 1 + due/T_within

    which keeps J u = 0. The rigid motion is that of the support; for a floating set its own, so
    that its momenta are kept. Sets with several supports of different motion are not scaled, nor
    those with more than the share MOST of their energy due: such a motion was not smooth. A gain
    above that share and above state.extremes[SMALL_GROWTH] is removed all the same: nearly
    dependent equations would add more energy in the next step.

    Reads   positions.gained, jolted (n,) J; sets as return_momentum left them
    Writes  state.v_WB_W, w_WB_W, momentum_in, extremes (RETURNED_..., GROWTH)
    Returns the gain of kinetic energy [J]
    Source  Hairer, Lubich and Wanner 2006, IV.4: projection onto invariants; decisions 0051, 1010
    Check   tests/laws/test_stabilisation.py, test_careless.py
    """
    bodies, state = world.model.bodies, world.state
    rows, positions = world.work.rows, world.work.positions
    sums, parent = positions.sums, positions.parent
    n_equations = _count_equations(rows)
    if n_equations == 0:
        return 0.0
    if n_equations < rows.count[0]:
        write_sets(world, True)
    else:
        positions.sums[:] = 0.0
    n = bodies.kind.shape[0]
    for i in range(n):
        s = find_root(parent, i)
        if bodies.kind[i] == DYNAMIC and positions.held[s] != TORN:
            sums[s, DUE] -= positions.gained[i]
            sums[s, JOLTED] -= positions.jolted[i]
    _write_own_motion(world)
    for i in range(n):
        s = find_root(parent, i)
        if bodies.kind[i] == DYNAMIC and _is_due(sums[s]):
            _add_motion(world, i, s)
    gained, total, net = 0.0, 0.0, 0.0
    for s in range(n):
        growth = _write_scaling(sums[s], state.extremes[SMALL_GROWTH])
        note_growth(state, growth, under_way(state))
        if sums[s, SCALING] != 0.0:
            gained += _book_scaling(world, s)
            total += abs(sums[s, DUE])
            net += sums[s, DUE]
    record_return(world, total, net)
    for i in range(n):
        s = find_root(parent, i)
        if bodies.kind[i] == DYNAMIC and sums[s, SCALING] != 0.0:
            u, y = _motion_within(state, i, _field(world, s))
            store3(state.v_WB_W, i, add_scaled(load3(state.v_WB_W, i), sums[s, SCALING], u))
            store3(state.w_WB_W, i, add_scaled(load3(state.w_WB_W, i), sums[s, SCALING], y))
    return gained
