"""Contact rows: a normal, two tangents, and three rows of spinning and rolling friction."""

from __future__ import annotations

from cardan.engine.bodies.forces import load_gravity
from cardan.engine.bodies.point import velocity_at
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.foundation import write_foundation
from cardan.engine.constraints.joints.frames import is_broken
from cardan.engine.constraints.row import clear_row, row_speed, set_jacobian, start_row
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    negate,
    norm,
    sub,
    tangents_of,
)
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import RestitutionLaw
from cardan.engine.world.rows import ROW_NORMAL, ROW_ROLLING, ROW_SPINNING, ROW_TANGENT, Rows
from cardan.engine.world.world import World

# A loaded contact whose gap is within this share of the margin is at rest ...
STANDING = 0.1
# ... and sweeping solvers correct this share of its gap per step (decision 0065).
GENTLE = 0.001

# A gap counts as zero when closing it takes less than this share of the solver's tolerance, where
# the tolerance counts as at most FINEST.
IN_PLACE, FINEST = 0.5, 1e-8

# the least jump of a given motion [m/s] that friction cannot follow, where there is no gravity
SUDDEN = 1e-3

NEWTON = int(RestitutionLaw.NEWTON)


@kernel
def write_direction(
    rows: Rows, row: int, contacts: Contacts, c: int, arms: tuple[Vec3, Vec3], e: Vec3
) -> None:
    """A row of the velocity of B relative to A at the contact point, along e."""
    rows.slot[row] = c
    set_jacobian(rows, row, negate(cross(arms[0], e)), e, cross(arms[1], e))
    rows.lam_warm[row] = dot(e, load3(contacts.impulse_W, c))


@kernel
def set_compliant(
    rows: Rows, row: int, contacts: Contacts, c: int, speed: float, h: float, inverse_mass: float
) -> None:
    """A compliant contact: a spring-damper by the trapezoidal rule that only pushes.

        lam = -h k/2 [min(gap-, 0) + gap + h/2 J v+] - h d/2 (J v + J v+) >= 0
        k = 1/compliance,  gap- = gap - h/2 J v

    the mean of its forces at the beginning and at the end of the step. As a row, with
    g = h^2 k/4 + h d/2: cfm = 1/g, bias = (h k/2 (min(gap-, 0) + gap) + h d/2 J v)/g. The spring
    releases no more energy than it has stored. The damper acts if the surfaces touch in the middle
    of the step; d is at most 2 m/h, which stops the mass m in one step: a larger d would reverse
    its velocity.

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
def may_break(world: World, body: int, force: float) -> bool:
    """Whether a force [N] may break a joint of the mechanism that a dynamic body is part of."""
    bodies, joints = world.model.bodies, world.model.joints
    if bodies.kind[body] != DYNAMIC:
        return False
    for j in range(joints.kind.shape[0]):
        if force > joints.breaking_force[j] and not is_broken(world.state, j):
            for i in (joints.body_a[j], joints.body_b[j]):
                if bodies.kind[i] == DYNAMIC and bodies.mechanism[i] == bodies.mechanism[body]:
                    return True
    return False


@kernel
def breaks(world: World, c: int, speed: float) -> bool:
    """Whether a blow at contact c with the speed J v [m/s] may break a joint.

    Its impulse is at most that which stops the lighter of the two mechanisms.
    """
    contacts, masses = world.work.contacts, world.model.bodies.mass_in_all
    a, b = contacts.body_a[c], contacts.body_b[c]
    force = -speed * min(masses[a], masses[b]) / world.clock.h[0]
    return may_break(world, a, force) or may_break(world, b, force)


@kernel
def set_rigid(world: World, row: int, c: int, speed: float) -> None:
    """Bias of a rigid contact; speed is J v before the kick [m/s].

    A gap whose closing speed is below the solver's tolerance counts as zero: resting bodies then
    have zero velocity, and their contact impulses stay constant (solvers/warm_start.py).
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
        if world.clock.exact[0] == 1:
            # the drift ends at the impact: until then the contact passes no impulse
            rows.bias[row] -= 2.0 * speed
        elif gap + h * speed < 0.0:
            # without restitution the gap may still close: e = 0 must not stop the bodies before
            # the impact, unless that may break a joint; then it is whole
            bounces = options.restitution_law == NEWTON and contacts.restitution[c] > 0.0
            if bounces or (contacts.restitution[c] == 0.0 and breaks(world, c, speed)):
                rows.rebound[row] = -contacts.restitution[c] * speed
                rows.bias[row] = min(rows.bias[row], -rows.rebound[row])


@kernel
def set_sweep_bias(world: World, row: int, c: int, speed: float) -> None:
    """The change of b that a sweeping solver may apply, so that stacks come to rest.

        at rest, within band  GENTLE gap/h instead of gap/h or erp gap/h
        at rest, deeper       erp (gap + band)/h - GENTLE band/h, continuous
        moving, penetrating   erp gap/h, also if poses would be corrected after the step
        approaching at s      loaded and deeper: (gap + band)/h - s/2, at most -s

    What a kick has left without approach approaches by the turn of its bodies alone; a contact that
    turns its approach round does no work (decision 0511).

    Sweeps converge slowly when many bodies transmit a load. With warm-started impulses such a slow
    mode behaves like an integral controller: if the error is corrected faster than the sweeps
    converge, the mode oscillates with growing amplitude. Exact solvers do not need this change.
    Swept contacts are corrected by velocities only: correcting poses after the step would require
    a second solve.

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
    if rows.lam_warm[row] > 0.0 and gap < -band and speed < 0.0:
        bias = min(bias, max((gap + band) / h + 0.5 * speed, speed))
    rows.sweep_bias_delta[row] = max(bias, -options.max_correction_speed) - rows.bias[row]


@kernel
def lead_of_contact(world: World, c: int) -> Vec3:
    """Velocity that prescribed motions add at the point of contact c, B less A [m/s].

    Along the surface only what friction cannot follow in a step, along the normal only what may
    rebound. At the end of a step a lead is half of the jump.
    """
    contacts, state, lead = world.work.contacts, world.state, world.work.motion.lead
    n, point = load3(contacts.normal_W, c), load3(contacts.point_W, c)
    ahead = sub(
        velocity_at(state, lead, contacts.body_b[c], point),
        velocity_at(state, lead, contacts.body_a[c], point),
    )
    along = dot(n, ahead)
    sideways = add_scaled(ahead, -along, n)
    found = ZERO3
    if norm(sideways) > max(world.clock.h[0] * norm(load_gravity(state)), SUDDEN):
        found = sideways
    if 2.0 * abs(along) > world.options.restitution_threshold:
        found = add_scaled(found, along, n)
    return found


@kernel
def write_contact(world: World, c: int) -> None:
    """Normal and friction rows of contact c.

        apart (gap > 0)    w = J v + gap/h            may close the gap, not cross it
        penetrating        w = J v + erp gap/h        a share of the depth is removed per step
        bouncing           w = J v + e J u-           Newton's law, if it closes within this step
                                                      and approaches faster than the threshold;
                                                      other laws act before (impacts/resolve.py)

    The case with the largest w - J v applies. A compliant contact is a spring-damper instead (see
    set_compliant), whose damping determines the rebound. The tangents depend on the normal only, so
    that the friction impulses of a resting contact remain valid. Tangent rows include the surface
    velocities: w = J v + e . surface_velocity. Given motions that jump have a lead in all three.

    Source  Constraint Notes n.d., contacts; Newton's hypothesis of restitution
    Check   tests/references/test_contacts.py, tests/references/test_impacts.py
    """
    rows, contacts, state = world.work.rows, world.work.contacts, world.state
    n = load3(contacts.normal_W, c)
    point = load3(contacts.point_W, c)
    arm_a = sub(point, load3(state.p_WB, contacts.body_a[c]))
    arm_b = sub(point, load3(state.p_WB, contacts.body_b[c]))
    row = rows.count[1] + 3 * c
    body_a, body_b = contacts.body_a[c], contacts.body_b[c]
    clear_row(rows, row, ROW_NORMAL, body_a, body_b)
    write_direction(rows, row, contacts, c, (arm_a, arm_b), n)
    rows.lo[row] = 0.0
    rows.error[row] = contacts.gap[c]
    rows.lam_warm[row] = max(rows.lam_warm[row], 0.0)
    lead = ZERO3 if world.model.prescribed.body.shape[0] == 0 else lead_of_contact(world, c)
    speed = row_speed(rows, row, state) + dot(n, lead)
    if contacts.compliance[c] > 0.0:
        write_foundation(world, c)
        inverse_mass = world.model.bodies.inverse_mass
        both = inverse_mass[body_a] + inverse_mass[body_b]
        set_compliant(rows, row, contacts, c, speed, world.clock.h[0], both)
    else:
        set_rigid(world, row, c, speed)
        if world.clock.exact[0] == 0:
            set_sweep_bias(world, row, c, speed)
    rows.bias[row] += dot(n, lead)

    mu = contacts.friction[c]
    surface_velocity = add(load3(contacts.surface_velocity_W, c), lead)
    tangent = row
    for e in tangents_of(n):
        tangent += 1
        clear_row(rows, tangent, ROW_TANGENT, body_a, body_b)
        write_direction(rows, tangent, contacts, c, (arm_a, arm_b), e)
        rows.normal_row[tangent] = row
        rows.mu[tangent] = mu
        rows.bias[tangent] = dot(e, surface_velocity)


@kernel
def write_rolling(rows: Rows, contacts: Contacts, c: int) -> None:
    """Spinning and rolling friction of contact c: torques about the normal and both tangents.

        |lam_spin| <= spinning lam_n,   |(lam_roll1, lam_roll2)| <= rolling lam_n

    with lever arms spinning and rolling [m]; w is the angular velocity of B less that of A along
    the axis. normal_row is the number of the contact until write_contacts sets it to the row
    of the normal.

    Check   tests/references/test_surfaces.py
    """
    n = load3(contacts.normal_W, c)
    t1, t2 = tangents_of(n)
    moment = load3(contacts.moment_W, c)
    kind, arm = ROW_SPINNING, contacts.spinning[c]
    for e in (n, t1, t2):
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
def start_contacts(world: World) -> None:
    """Rows of spinning and rolling friction as the last box rows; room for three rows a contact.

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
    rows.count[0] = n_box + 3 * contacts.count[0]


@kernel
def write_contacts(world: World, first: int, end: int) -> None:
    """The three rows of each of the contacts [first, end).

    Check   tests/engine/constraints/test_rows.py
    """
    for c in range(first, end):
        write_contact(world, c)
