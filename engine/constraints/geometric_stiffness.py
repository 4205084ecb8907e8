"""Links under tension: geometric stiffness that is faster than a step.

A force f that pulls a body at the arm r resists its rotation about axes perpendicular to f like a
spring. All joints of a body together have the stiffness

    K = sum (r . f) (1 - u u^T),  u = f / |f|

A step is stable with such a spring where h^2 K < 4 I. The effective inertia is the least of those
of rotations about the body's centre of mass and about each of its joints p, which also move the
bodies at its joints:

    I + sum m_j r_j^2,   I + m r_p^2 + sum m_j |r_j - r_p|^2

m_j is the effective mass of the body at the other side of joint j, there. Links that are light
compared with their load would fly apart. Where x = h^2 K / I, the mean of the two directions
perpendicular to f, exceeds LOOSE, they rotate with the inertia I + h^2 K (1 - LOOSE / x) / TAUT.
This changes motions that the step resolves to second order in h, and slows the faster ones.

The force is that of the last step. If the added inertia grows, a link keeps its angular momentum,
otherwise its angular velocity: neither gives it energy.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import inverse_symmetric, load33, store33, times_vector
from cardan.engine.spatial.rotation import Mat3
from cardan.engine.spatial.vec3 import Vec3, add, dot, load3, negate, sub
from cardan.engine.world.options import ImpactTime, SolverMethod
from cardan.engine.world.rows import Rows
from cardan.engine.world.world import World

# x up to which links keep their inertia: half of what chains of equal links allow; and the value
# that x has at most with the added inertia
LOOSE, TAUT = 0.5, 2.0
# mass that stands for a body that impulses do not move [kg]
HELD = 1e12
EXACT = int(ImpactTime.EXACT)
SMALL_STEPS = int(SolverMethod.SMALL_STEPS)


@kernel
def holds_point(world: World, first: int) -> bool:
    """Whether row `first` belongs to a joint of a chain, rope or net (Joints.strung)."""
    j = world.work.rows.joint[first]
    return bool(j >= 0 and world.model.joints.strung[j] == 1)


@kernel
def end_of_joint(rows: Rows, first: int) -> int:
    """The row after the consecutive rows of one joint (or of none) that begin at `first`."""
    i = first + 1
    while i < rows.count[1] and rows.joint[i] == rows.joint[first]:
        i += 1
    return i


@kernel
def impulse_of(rows: Rows, first: int, end: int) -> Vec3:
    """The last impulse of the rows [first, end) on body B [N s], W."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(first, end):
        lam = rows.lam_warm[i]
        x, y, z = x + lam * rows.J_b[i, 3], y + lam * rows.J_b[i, 4], z + lam * rows.J_b[i, 5]
    return x, y, z


@kernel
def arms_of(world: World, first: int) -> tuple[Vec3, Vec3]:
    """Vectors from the centres of mass of bodies A and B of a joint to the point they share, W."""
    rows, p = world.work.rows, world.state.p_WB
    a, b, arm = rows.body_a[first], rows.body_b[first], load3(rows.joint_arm, rows.joint[first])
    return sub(add(load3(p, b), arm), load3(p, a)), arm


@kernel
def add_stiffness(sums: NDArray, body: int, impulse: Vec3, arm: Vec3) -> None:
    """Add h K of an impulse that pulls at an arm to sums[body]: xx, yy, zz, xy, xz, yz [N m s]."""
    along = dot(impulse, arm)
    if not along > 0.0:
        return
    share = along / dot(impulse, impulse)
    x, y, z = impulse
    sums[body, 0] += along - share * x * x
    sums[body, 1] += along - share * y * y
    sums[body, 2] += along - share * z * z
    sums[body, 3] -= share * x * y
    sums[body, 4] -= share * x * z
    sums[body, 5] -= share * y * z


@kernel
def write_stiffness(world: World) -> None:
    """h K of all bodies.

    Writes  motion.scratch
    """
    rows, sums = world.work.rows, world.work.motion.scratch
    sums[:] = 0.0
    end = 0
    while end < rows.count[1]:
        first, end = end, end_of_joint(rows, end)
        if holds_point(world, first):
            impulse = impulse_of(rows, first, end)
            arm_a, arm_b = arms_of(world, first)
            add_stiffness(sums, rows.body_a[first], negate(impulse), arm_a)
            add_stiffness(sums, rows.body_b[first], impulse, arm_b)


@kernel
def plus(inertia: Mat3, added: NDArray, i: int, share: float) -> Mat3:
    """I + share S of the numbers added[i]: xx, yy, zz, xy, xz, yz of S."""
    xy, xz, yz = share * added[i, 3], share * added[i, 4], share * added[i, 5]
    return (
        (inertia[0][0] + share * added[i, 0], inertia[0][1] + xy, inertia[0][2] + xz),
        (inertia[1][0] + xy, inertia[1][1] + share * added[i, 1], inertia[1][2] + yz),
        (inertia[2][0] + xz, inertia[2][1] + yz, inertia[2][2] + share * added[i, 2]),
    )


@kernel
def stiffness_ratio(inverse: Mat3, sums: NDArray, i: int, h: float) -> float:
    """x = h^2 tr(K I^-1) / 2 of body i; sums[i]: h K."""
    diagonal = sums[i, 0] * inverse[0][0] + sums[i, 1] * inverse[1][1] + sums[i, 2] * inverse[2][2]
    products = sums[i, 3] * inverse[0][1] + sums[i, 4] * inverse[0][2] + sums[i, 5] * inverse[1][2]
    return 0.5 * h * (diagonal + 2.0 * products)


@kernel
def mass_at(world: World, i: int, arm: Vec3) -> float:
    """Effective mass of body i at an arm, mean of the two directions across the arm [kg]."""
    inverse_mass = world.model.bodies.inverse_mass[i]
    if inverse_mass == 0.0:
        return HELD
    M = load33(world.work.motion.inverse_inertia_W, i)
    turned = (M[0][0] + M[1][1] + M[2][2]) * dot(arm, arm) - dot(arm, times_vector(M, arm))
    return float(1.0 / (inverse_mass + 0.5 * turned))


@kernel
def add_lever(levers: NDArray, i: int, mass: float, arm: Vec3) -> None:
    """Add to sum m_j, sum m_j r_j, sum m_j r_j^2 of body i."""
    levers[i, 0] += mass
    for k in range(3):
        levers[i, 1 + k] += mass * arm[k]
    levers[i, 4] += mass * dot(arm, arm)


@kernel
def turn_about(levers: NDArray, i: int, mass: float, arm: Vec3) -> None:
    """Lower levers[i, 5] to the inertia, beside I, of rotations about the joint at an arm."""
    square = dot(arm, arm)
    first = (levers[i, 1], levers[i, 2], levers[i, 3])
    others = levers[i, 4] - 2.0 * dot(arm, first) + square * levers[i, 0]
    levers[i, 5] = min(levers[i, 5], mass * square + max(others, 0.0))


@kernel
def visit_levers(world: World, pivots: bool) -> None:
    """Add the levers of all joints, or, with `pivots`, compare the rotations about them.

    Writes  motion.levers (n, 6): sum m_j, sum m_j r_j, sum m_j r_j^2; least inertia beside I
    """
    rows, levers = world.work.rows, world.work.motion.levers
    inverse_mass, end = world.model.bodies.inverse_mass, 0
    while end < rows.count[1]:
        first, end = end, end_of_joint(rows, end)
        if not holds_point(world, first):
            continue
        a, b = rows.body_a[first], rows.body_b[first]
        arm_a, arm_b = arms_of(world, first)
        if not pivots:
            add_lever(levers, a, mass_at(world, b, arm_b), arm_a)
            add_lever(levers, b, mass_at(world, a, arm_a), arm_b)
            continue
        if inverse_mass[a] > 0.0:
            turn_about(levers, a, 1.0 / inverse_mass[a], arm_a)
        if inverse_mass[b] > 0.0:
            turn_about(levers, b, 1.0 / inverse_mass[b], arm_b)


@kernel
def write_levers(world: World) -> None:
    """The least inertia of all bodies beside their own, motion.levers[:, 5] [kg m^2]."""
    levers = world.work.motion.levers
    levers[:] = 0.0
    visit_levers(world, False)
    for i in range(levers.shape[0]):
        levers[i, 5] = levers[i, 4]
    visit_levers(world, True)


@kernel
def slow_down(world: World, i: int, share: float) -> None:
    """Give body i the inertia I + share h K; it keeps its angular velocity or its momentum.

    Writes  motion.inverse_inertia_W, angular part of velocity_free; state.link_inertia
    """
    state, motion = world.state, world.work.motion
    before, sums, inverse = state.link_inertia, motion.scratch, load33(motion.inverse_inertia_W, i)
    inertia = inverse_symmetric(inverse)
    now = plus(inertia, sums, i, share)
    slow = inverse_symmetric(now)
    old, free = load3(motion.velocity_old, i), load3(motion.velocity_free, i)
    forced = times_vector(slow, times_vector(inertia, sub(free, old)))
    L = times_vector(plus(inertia, before, i, 1.0), old)
    grows = dot(old, times_vector(now, old)) > dot(old, L)
    kept = times_vector(slow, L) if grows else old
    for k in range(6):
        before[i, k] = share * sums[i, k]
    for k in range(3):
        motion.velocity_free[i, k] = kept[k] + forced[k]
    store33(motion.inverse_inertia_W, i, slow)


@kernel
def slow_links(world: World) -> None:
    """Add inertia to links that would swing faster than the step follows.

    Not done with the solver `small_steps`, whose substeps follow such links, or with exact impacts,
    whose parts of a step vary in length. Bodies of trees get none.

    Reads   rows of joints with their guess, the impulses of the last step
    Writes  motion.inverse_inertia_W, velocity_free, scratch, levers; state.link_inertia
    Source  Andrews et al. 2017, for geometric stiffness; decision 0731
    Check   tests/laws/test_ropes.py
    """
    motion, options, h = world.work.motion, world.options, world.clock.h[0]
    if world.work.rows.count[1] == 0 or options.impact_time == EXACT:
        return
    if options.solver.method == SMALL_STEPS:
        return
    write_stiffness(world)
    added, sums, has_levers = world.state.link_inertia, motion.scratch, False
    for i in range(added.shape[0]):
        x = stiffness_ratio(load33(motion.inverse_inertia_W, i), sums, i, h)
        # levers are those before the first body is slowed down
        if x > LOOSE and not has_levers:
            write_levers(world)
            has_levers = True
        if x > LOOSE:
            stiff = 0.5 * h * (sums[i, 0] + sums[i, 1] + sums[i, 2])
            x = stiff / (stiff / x + motion.levers[i, 5])
        if x > LOOSE:
            slow_down(world, i, h / TAUT * (1.0 - LOOSE / x))
        elif added[i, 0] + added[i, 1] + added[i, 2] > 0.0:
            for k in range(6):
                added[i, k] = 0.0
