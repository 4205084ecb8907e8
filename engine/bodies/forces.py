"""Forces that are not constraints: commanded wrenches, springs, torsion, point gravity."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import conjugate, load4, multiply, rotate
from cardan.engine.spatial.rotation import nearest_turn
from cardan.engine.spatial.vec3 import Vec3, add, cross, dot, load3, norm, normalised, scale, sub
from cardan.engine.world.model import (
    FORCE_DRAG,
    FORCE_POINT_GRAVITY,
    FORCE_SPRING,
    FORCE_TORSION,
    Bodies,
    Forces,
    Model,
    Targets,
)
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Motion

# squared cosine of half the turn across the axis of a torsion spring, below which it has no twist
NO_TWIST = 1e-12
# share of a span within which a point of a series counts as at its end
BESIDE = 1e-6


@kernel
def load_gravity(state: State) -> Vec3:
    """Gravity [m/s^2], W."""
    return (state.gravity_W[0], state.gravity_W[1], state.gravity_W[2])


@kernel
def present_mass(bodies: Bodies, state: State, i: int) -> float:
    """Mass of body i [kg]; 0 while it is absent."""
    return float(bodies.mass[i] * state.present[i])


@kernel
def attracting_mass(bodies: Bodies, state: State, i: int) -> float:
    """Mass with which body i attracts others [kg]; 0 while it is absent."""
    return float(bodies.attracting_mass[i] * state.present[i])


@kernel
def acts_on_both(forces: Forces, state: State, f: int) -> bool:
    """Whether both bodies of a spring or torsion spring are there; true of other forces."""
    if forces.kind[f] not in (FORCE_SPRING, FORCE_TORSION):
        return True
    a, b = forces.body_a[f], forces.body_b[f]
    return bool(state.present[a] == 1 and state.present[b] == 1)


@kernel
def first_after(times: NDArray, low: int, high: int, time: float) -> int:
    """The first of the ascending times [low, high) after a time; high where there is none."""
    while low < high:
        middle = (low + high) // 2
        if time < times[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def next_point(targets: Targets, table: int, time: float) -> int:
    """The first point of a series after a time; the end of the series when there is none."""
    start = targets.start[table]
    return first_after(targets.times, start, start + targets.count[table], time)


@kernel
def value_at(targets: Targets, table: int, time: float) -> float:
    """A quantity that may vary in time; constant before its first and after its last point."""
    start = targets.start[table]
    count = targets.count[table]
    if count == 1 or time <= targets.times[start]:
        return targets.values[start]
    k = next_point(targets, table, time)
    if k == start + count:
        return targets.values[k - 1]
    before = targets.values[k - 1]
    if targets.is_step[table] == 1:
        return before
    t0 = targets.times[k - 1]
    share = (time - t0) / (targets.times[k] - t0)
    return before + share * (targets.values[k] - before)


@kernel
def has_point(targets: Targets, table: int, begin: float, end: float) -> bool:
    """Whether a series has a point within a span; one at its ends, within BESIDE, is outside."""
    if targets.count[table] == 1:
        return False
    beside = BESIDE * (end - begin)
    k = next_point(targets, table, begin + beside)
    last = targets.start[table] + targets.count[table]
    return bool(k < last and targets.times[k] <= end - beside)


@kernel
def mean_of_series(targets: Targets, table: int, begin: float, end: float) -> float:
    """Mean over a span; of a step function without what jumps at its ends, within BESIDE."""
    beside = BESIDE * (end - begin)
    value, since = value_at(targets, table, begin + beside), begin
    if targets.is_step[table] == 1 and not has_point(targets, table, begin, end):
        return value
    k = next_point(targets, table, begin + beside)
    # the sum has the type of a value: a number, or one for each of several worlds (lanes)
    last, total = targets.start[table] + targets.count[table], 0.0 * value
    while k < last and targets.times[k] <= end - beside:
        at = value if targets.is_step[table] == 1 else targets.values[k]
        total += 0.5 * (value + at) * (targets.times[k] - since)
        since, value = targets.times[k], targets.values[k]
        k += 1
    at = value if targets.is_step[table] == 1 else value_at(targets, table, end)
    return (total + 0.5 * (value + at) * (end - since)) / (end - begin)


@kernel
def mean_about(targets: Targets, table: int, middle: float, h: float) -> float:
    """Mean over a step of a series with a point within it; else its value in the middle."""
    if not has_point(targets, table, middle - 0.5 * h, middle + 0.5 * h):
        return value_at(targets, table, middle)
    return mean_of_series(targets, table, middle - 0.5 * h, middle + 0.5 * h)


@kernel
def slope_at(targets: Targets, table: int, time: float) -> float:
    """Rate of a linearly interpolated series [per s]; 0 for step functions and outside of it."""
    start, k = targets.start[table], next_point(targets, table, time)
    if targets.is_step[table] == 1 or k == start or k == start + targets.count[table]:
        return 0.0
    rise = targets.values[k] - targets.values[k - 1]
    return rise / (targets.times[k] - targets.times[k - 1])


@kernel
def elastic_force(stiffness: NDArray, i: int, x: float) -> float:
    """k1 x + k2 |x| x + k3 x^3 [N or N m]."""
    return x * (stiffness[i, 0] + abs(x) * stiffness[i, 1] + x * x * stiffness[i, 2])


@kernel
def elastic_slope(stiffness: NDArray, i: int, x: float) -> float:
    """The derivative of `elastic_force`: k1 + 2 k2 |x| + 3 k3 x^2 [N/m or N m/rad]."""
    return stiffness[i, 0] + 2.0 * abs(x) * stiffness[i, 1] + 3.0 * x * x * stiffness[i, 2]


@kernel
def is_elastic(stiffness: NDArray, i: int) -> bool:
    """Whether any of k1, k2, k3 is not zero."""
    return stiffness[i, 0] != 0.0 or stiffness[i, 1] != 0.0 or stiffness[i, 2] != 0.0


@kernel
def elastic_energy(stiffness: NDArray, i: int, x: float) -> float:
    """The potential of `elastic_force` [J]: k1 x^2/2 + k2 |x|^3/3 + k3 x^4/4."""
    return (
        x
        * x
        * (0.5 * stiffness[i, 0] + abs(x) * stiffness[i, 1] / 3.0 + 0.25 * x * x * stiffness[i, 2])
    )


@kernel
def add_wrench(wrench: NDArray, state: State, body: int, force: Vec3, point_W: Vec3) -> None:
    """Add a force acting at a point of the world to a body's wrench (torque, force)."""
    torque = cross(sub(point_W, load3(state.p_WB, body)), force)
    for k in range(3):
        wrench[body, k] += torque[k]
        wrench[body, 3 + k] += force[k]


@kernel
def point_of(state: State, body: int, arm_B: Vec3) -> Vec3:
    """Position of a body-fixed point in W [m]."""
    return add(load3(state.p_WB, body), rotate(load4(state.q_WB, body), arm_B))


@kernel
def spring_length(forces: Forces, state: State, f: int) -> tuple[Vec3, Vec3, float]:
    """End points of spring f in W and its length [m]."""
    a = point_of(state, forces.body_a[f], load3(forces.anchor_A, f))
    b = point_of(state, forces.body_b[f], load3(forces.anchor_B, f))
    return a, b, norm(sub(b, a))


@kernel
def torsion_angle(forces: Forces, state: State, f: int) -> tuple[Vec3, float]:
    """Axis of torsion spring f in W, and its twist x [rad], counted from state.twist.

    With (c, v) the turn of B against A from the start, in axes of A, a the axis and s = v . a,

        x = 2 atan2(s, c),    dx/dt = d . (w_B - w_A),    d = (c (c a + v x a) + s v)/(c^2 + s^2)

    d is a where B turns about a alone. The torque along d is that of a potential of x. A half turn
    about an axis across a has no twist: there d is a.

    Source  derived: the rate of a quaternion is half the product with the angular velocity
    Check   tests/laws/test_torsion.py
    """
    q_WA = load4(state.q_WB, forces.body_a[f])
    a = load3(forces.anchor_A, f)
    q_AB = multiply(conjugate(q_WA), load4(state.q_WB, forces.body_b[f]))
    turn = multiply(q_AB, conjugate(load4(forces.q_AB0, f)))
    c, v = turn[0], (turn[1], turn[2], turn[3])
    s = dot(v, a)
    square = c * c + s * s
    d = a
    if square > NO_TWIST:
        d = scale(1.0 / square, add(scale(c, add(scale(c, a), cross(v, a))), scale(s, v)))
    return rotate(q_WA, d), nearest_turn(2.0 * math.atan2(s, c), state.twist[f])


@kernel
def elongation(forces: Forces, state: State, f: int) -> float:
    """Elongation of a spring [m] or torsion spring [rad] from its rest value."""
    if forces.kind[f] == FORCE_TORSION:
        return torsion_angle(forces, state, f)[1] - forces.rest[f]
    return spring_length(forces, state, f)[2] - forces.rest[f]


@kernel
def implicit_share(z: float) -> float:
    """Implicit share theta of a damper, for z = h d/m.

    The velocity shrinks by (1 - (1 - theta) z)/(1 + theta z): of second order with theta = 1/2.
    Beyond z = 2 this would reverse the velocity; theta = 1 - 1/z brings it to rest instead.
    """
    return 0.5 if z <= 2.0 else 1.0 - 1.0 / z


@kernel
def is_row(forces: Forces, state: State, f: int, h: float) -> bool:
    """Whether a spring is damped or too stiff for explicit integration.

    An explicit force is stable while h^2 k/4 < m, with m the effective mass of both ends. A quarter
    of that bound allows several springs on one body; beyond it the spring is a row
    (constraints/force_elements.py). An explicit damper would use the velocity before the kick only
    and be of first order.
    """
    slope = max(elastic_slope(forces.stiffness, f, elongation(forces, state, f)), 0.0)
    return bool(forces.damping[f] > 0.0 or h * h * slope * forces.inverse_mass[f] > 1.0)


@kernel
def write_spring(forces: Forces, state: State, f: int, motion: Motion) -> None:
    """Force k1 x + ... along the line between the ends, x = length - rest."""
    a, b, length = spring_length(forces, state, f)
    i, j = forces.body_a[f], forces.body_b[f]
    n = normalised(sub(b, a))
    tension = elastic_force(forces.stiffness, f, length - forces.rest[f])
    add_wrench(motion.wrench, state, i, scale(tension, n), a)
    add_wrench(motion.wrench, state, j, scale(-tension, n), b)


@kernel
def write_torsion(forces: Forces, state: State, f: int, motion: Motion) -> None:
    """Torque k1 x + ... along what the spring turns about, x = twist - rest."""
    direction, angle = torsion_angle(forces, state, f)
    i, j = forces.body_a[f], forces.body_b[f]
    torque = elastic_force(forces.stiffness, f, angle - forces.rest[f])
    for k in range(3):
        motion.wrench[i, k] += torque * direction[k]
        motion.wrench[j, k] -= torque * direction[k]


@kernel
def write_elastic(forces: Forces, state: State, f: int, h: float, motion: Motion) -> None:
    """Add the force of a spring or torsion spring, unless it is a row; update the twist anyhow.

    A spring on a body that is absent has no force.

    Writes  motion.wrench; state.twist
    """
    if not acts_on_both(forces, state, f):
        return
    is_torsion = forces.kind[f] == FORCE_TORSION
    if is_torsion:
        state.twist[f] = torsion_angle(forces, state, f)[1]
    if is_row(forces, state, f, h):
        return
    if is_torsion:
        write_torsion(forces, state, f, motion)
    else:
        write_spring(forces, state, f, motion)


@kernel
def write_point_gravity(model: Model, state: State, f: int, motion: Motion) -> None:
    """G m_i m_j r / (r^2 + s^2)^(3/2) between every two present bodies (Plummer softening s)."""
    bodies = model.bodies
    constant = model.forces.coefficient[f, 0]
    softening2 = model.forces.coefficient[f, 1] ** 2
    for i in range(bodies.kind.shape[0]):
        for j in range(i):
            d = sub(load3(state.p_WB, j), load3(state.p_WB, i))
            r2 = dot(d, d) + softening2
            strength = constant * attracting_mass(bodies, state, i)
            strength *= attracting_mass(bodies, state, j)
            if strength > 0.0 and r2 > 0.0:
                strength /= r2 * math.sqrt(r2)
                for k in range(3):
                    motion.wrench[i, 3 + k] += strength * d[k]
                    motion.wrench[j, 3 + k] -= strength * d[k]


@kernel
def share_until(end: float, middle: float, h: float) -> float:
    """Share of a step before a time [s], within BESIDE; h 0: whether `middle` is."""
    if h == 0.0:
        return 1.0 if middle < end else 0.0
    share = (end - middle) / h + 0.5
    if share < BESIDE:
        return 0.0
    return share if share < 1.0 - BESIDE else 1.0


@kernel
def write_applied(
    model: Model, state: State, f: int, span: tuple[float, float], motion: Motion
) -> None:
    """Add a wrench of the scene at its point of application, given in world or body axes.

    span: the middle of the step [s], and its length (0: the wrench at this time)
    """
    forces, (time, h) = model.forces, span
    i = forces.body_a[f]
    table = forces.table
    force = (
        mean_about(model.targets, table[f, 0], time, h),
        mean_about(model.targets, table[f, 1], time, h),
        mean_about(model.targets, table[f, 2], time, h),
    )
    torque = (
        mean_about(model.targets, table[f, 3], time, h),
        mean_about(model.targets, table[f, 4], time, h),
        mean_about(model.targets, table[f, 5], time, h),
    )
    q = load4(state.q_WB, i)
    if forces.body_axes[f] == 1:
        force = rotate(q, force)
        torque = rotate(q, torque)
    add_wrench(motion.booked, state, i, force, point_of(state, i, load3(forces.anchor_A, f)))
    for k in range(3):
        motion.booked[i, k] += torque[k]


@kernel
def write_forces(model: Model, state: State, time: float, h: float, motion: Motion) -> None:
    """Sum the force elements and commanded wrenches; stiff springs and drag are rows instead.

    Reads   poses and velocities; time [s] in the middle of the step; h [s] the step, over which
            wrenches are means
    Writes  motion.wrench (n, 6): all of them; motion.booked (n, 6): those whose work is external;
            state.twist
    Check   tests/engine/bodies/test_forces.py
    """
    motion.wrench[:] = 0.0
    motion.booked[:] = 0.0
    forces = model.forces
    for f in range(forces.kind.shape[0]):
        kind = forces.kind[f]
        if kind in (FORCE_SPRING, FORCE_TORSION):
            write_elastic(forces, state, f, h, motion)
        elif kind == FORCE_POINT_GRAVITY:
            write_point_gravity(model, state, f, motion)
        elif kind != FORCE_DRAG:
            write_applied(model, state, f, (time, h), motion)
    for i in range(state.applied.shape[0]):
        share = share_until(state.applied[i, 6], time, h)
        if share > 0.0:
            for k in range(3):
                motion.booked[i, k] += share * state.applied[i, 3 + k]
                motion.booked[i, 3 + k] += share * state.applied[i, k]
    for i in range(motion.wrench.shape[0]):
        for k in range(6):
            motion.wrench[i, k] += motion.booked[i, k]
