"""Contacts: one normal and two tangent rows each, and three that resist spinning and rolling."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import row_speed, set_jacobian, start_row
from cardan.engine.spatial.vec3 import Vec3, cross, dot, load3, negate, perpendicular, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.options import RestitutionLaw
from cardan.engine.world.rows import ROW_NORMAL, ROW_ROLLING, ROW_SPINNING, ROW_TANGENT, Rows
from cardan.engine.world.world import World

# A contact that bears a load within this share of the margin stands ...
STANDING = 0.1
# ... and where it is swept, this share of its gap is corrected per step (decision 0065).
GENTLE = 0.001

# A gap is none when it asks for less than this share of the tolerance, however rough that is.
IN_PLACE, FINEST = 0.5, 1e-8

NEWTON = int(RestitutionLaw.NEWTON)


@kernel
def write_direction(
    rows: Rows, kind: int, contacts: Contacts, c: int, arms: tuple[Vec3, Vec3], e: Vec3
) -> int:
    """The row of the relative velocity of the contact point along e: B against A."""
    row = start_row(rows, kind, contacts.body_a[c], contacts.body_b[c])
    rows.slot[row] = c
    set_jacobian(rows, row, negate(cross(arms[0], e)), e, cross(arms[1], e))
    rows.lam_warm[row] = dot(e, load3(contacts.impulse_W, c))
    return row


@kernel
def set_compliant(
    rows: Rows, row: int, contacts: Contacts, c: int, speed: float, h: float, inverse_mass: float
) -> None:
    """A compliant contact: a spring-damper by the trapezoidal rule that only pushes.

        lam = -h k/2 [min(gap-, 0) + gap + h/2 J v+] - h d/2 (J v + J v+) >= 0
        k = 1/compliance,  gap- = gap - h/2 J v

    the mean of its forces where the step begins and where it ends. As a row, with
    g = h^2 k/4 + h d/2: cfm = 1/g, bias = (h k/2 (min(gap-, 0) + gap) + h d/2 J v)/g. The spring
    never gives more than it took. The damper acts where the middle of the step finds the surfaces
    touching; d is at most 2 m/h, with which it stops the mass m in one step: more would turn it
    round.

    Reads   speed   J v before the kick [m/s]; inverse_mass [1/kg] of both bodies together
    Check   tests/references/test_surfaces.py
    """
    gap = contacts.gap[c]
    stiffness = 1.0 / contacts.compliance[c]
    slope = 0.25 * h * h * stiffness
    push = 0.5 * h * stiffness * (min(gap - 0.5 * h * speed, 0.0) + gap)
    if gap < 0.0:
        viscous = 0.5 * h * contacts.damping[c]
        if viscous * inverse_mass > 1.0:
            viscous = 1.0 / inverse_mass
        slope += viscous
        push += viscous * speed
    rows.bias[row] = push / slope
    rows.cfm[row] = 1.0 / slope


@kernel
def set_rigid(world: World, row: int, c: int, speed: float) -> None:
    """Bias of a rigid contact; speed is J v before the kick [m/s].

    A gap that asks for less than the solver is asked to reach is none: what stands then has no
    velocities left, and the impulses that hold it up stay the same (solvers/warm_start.py).
    """
    rows, contacts, options = world.work.rows, world.work.contacts, world.options
    h, gap = world.clock.h[0], contacts.gap[c]
    if gap >= 0.0:
        rows.bias[row] = gap / h
    else:
        erp = world.clock.share[0] * options.contact_erp
        rows.bias[row] = max(erp * gap / h, -options.max_correction_speed)
    if abs(rows.bias[row]) <= IN_PLACE * min(options.solver.tolerance, FINEST):
        rows.bias[row] = 0.0
    if speed < -options.restitution_threshold:
        # without restitution the surfaces still meet: e = 0 must not stop them where they are
        bounces = options.restitution_law == NEWTON and contacts.restitution[c] > 0.0
        if world.clock.exact[0] == 1:
            # the drift ends where they meet: until then nothing holds them up
            rows.bias[row] -= 2.0 * speed
        elif bounces and gap + h * speed < 0.0:
            rows.rebound[row] = -contacts.restitution[c] * speed
            rows.bias[row] = min(rows.bias[row], -rows.rebound[row])


@kernel
def set_sweep_bias(world: World, row: int, c: int, speed: float) -> None:
    """What a solver that sweeps may add to b, so that what stands comes to rest.

        stands, within band   GENTLE gap/h instead of gap/h or erp gap/h
        stands, deeper        erp (gap + band)/h - GENTLE band/h, continuous
        moves, penetrating    erp gap/h, also where poses would be corrected after the step

    Sweeps converge slowly where load goes through many bodies. With impulses that are kept from
    step to step such a mode is a controller that integrates: corrected faster than it converges, it
    swings, and ever more. Exact solvers do not need it. What is swept is corrected here and nowhere
    else: poses that are moved after the step would cost a heap a second solve.

    Writes  rows.sweep_bias_delta[row]
    Check   tests/laws/test_stacks.py
    """
    rows, options = world.work.rows, world.options
    gap, h = world.work.contacts.gap[c], world.clock.h[0]
    band = STANDING * options.margin
    erp = world.clock.share[0] * options.position_erp
    if gap > band:
        return
    bears = rows.lam_warm[row] > 0.0 or gap < 0.0
    if bears and abs(speed) <= options.restitution_threshold:
        gentle = min(GENTLE, erp)
        bias = gentle * max(gap, -band) / h
        if gap < -band:
            bias += erp * (gap + band) / h
    elif gap < 0.0:
        bias = min(erp * gap / h, rows.bias[row])
    else:
        return
    rows.sweep_bias_delta[row] = max(bias, -options.max_correction_speed) - rows.bias[row]


@kernel
def write_contact(world: World, c: int) -> None:
    """Normal and friction rows of contact c.

        apart (gap > 0)    w = J v + gap/h            may close the gap, not cross it
        penetrating        w = J v + erp gap/h        a share of the depth goes per step
        bouncing           w = J v + e J u-           Newton's law, if it touches within this step
                                                      and approaches faster than the threshold;
                                                      other laws act before (impacts/resolve.py)

    The most demanding of them counts. A compliant contact is a compliant contact instead; how it
    bounces is
    up to its damping. Tangents depend on the normal only, so that a standing contact keeps its
    impulses; they ask for the speed of the surfaces, which run over their bodies: w = J v + belt.

    Source  Constraint Notes n.d., contacts; Newton's hypothesis of restitution
    Check   tests/references/test_contacts.py, tests/references/test_impacts.py
    """
    rows, contacts, state = world.work.rows, world.work.contacts, world.state
    n = load3(contacts.normal_W, c)
    point = load3(contacts.point_W, c)
    arm_a = sub(point, load3(state.p_WB, contacts.body_a[c]))
    arm_b = sub(point, load3(state.p_WB, contacts.body_b[c]))
    row = write_direction(rows, ROW_NORMAL, contacts, c, (arm_a, arm_b), n)
    rows.lo[row] = 0.0
    rows.error[row] = contacts.gap[c]
    rows.lam_warm[row] = max(rows.lam_warm[row], 0.0)
    speed = row_speed(rows, row, state)
    if contacts.compliance[c] > 0.0:
        inverse_mass = world.model.bodies.inverse_mass
        both = inverse_mass[rows.body_a[row]] + inverse_mass[rows.body_b[row]]
        set_compliant(rows, row, contacts, c, speed, world.clock.h[0], both)
    else:
        set_rigid(world, row, c, speed)
        if world.clock.exact[0] == 0:
            set_sweep_bias(world, row, c, speed)

    t1 = perpendicular(n)
    mu = contacts.friction[c]
    surface_velocity = load3(contacts.surface_velocity_W, c)
    for e in (t1, cross(n, t1)):
        tangent = write_direction(rows, ROW_TANGENT, contacts, c, (arm_a, arm_b), e)
        rows.normal_row[tangent] = row
        rows.mu[tangent] = mu
        rows.bias[tangent] = dot(e, surface_velocity)


@kernel
def write_rolling(rows: Rows, contacts: Contacts, c: int) -> None:
    """What resists turning at contact c: a torque about the normal, then two about the tangents.

        |lam_spin| <= spinning lam_n,   |(lam_roll1, lam_roll2)| <= rolling lam_n

    with lever arms spinning and rolling [m]; w is the angular velocity of B less that of A along
    the axis. normal_row is the number of the contact until write_contacts knows its row.

    Check   tests/references/test_surfaces.py
    """
    n = load3(contacts.normal_W, c)
    t1 = perpendicular(n)
    moment = load3(contacts.moment_W, c)
    kind, arm = ROW_SPINNING, contacts.spinning[c]
    for e in (n, t1, cross(n, t1)):
        row = start_row(rows, kind, contacts.body_a[c], contacts.body_b[c])
        set_jacobian(rows, row, negate(e), (0.0, 0.0, 0.0), e)
        rows.slot[row] = c
        rows.normal_row[row] = c
        rows.mu[row] = arm
        rows.lo[row] = 0.0
        rows.hi[row] = 0.0
        rows.lam_warm[row] = dot(e, moment)
        kind, arm = ROW_ROLLING, contacts.rolling[c]


@kernel
def write_contacts(world: World) -> None:
    """All rows of all contacts: those that resist turning close the boxes, three more each follow.

    Writes  work.rows; rows.count[1], the number of box rows
    Check   tests/engine/constraints/test_rows.py
    """
    rows, contacts = world.work.rows, world.work.contacts
    first = rows.count[0]
    for c in range(contacts.count[0]):
        if contacts.rolling[c] > 0.0 or contacts.spinning[c] > 0.0:
            write_rolling(rows, contacts, c)
    n_box = rows.count[0]
    rows.count[1] = n_box
    for row in range(first, n_box):
        rows.normal_row[row] = n_box + 3 * rows.normal_row[row]
    for c in range(contacts.count[0]):
        write_contact(world, c)
