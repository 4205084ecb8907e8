"""Contacts: one normal row and two tangent rows each."""

from __future__ import annotations

from engine.constraints.row import row_speed, set_jacobian, start_row
from engine.kernel import kernel
from engine.spatial.vec3 import Vec3, cross, dot, load3, negate, perpendicular, sub
from engine.world.contacts import Contacts
from engine.world.options import ImpactTime, RestitutionLaw, StepOptions
from engine.world.rows import ROW_NORMAL, ROW_TANGENT, Rows
from engine.world.state import State

NEWTON = int(RestitutionLaw.NEWTON)
EXACT = int(ImpactTime.EXACT)


@kernel
def write_direction(
    rows: Rows, kind: int, contacts: Contacts, c: int, state: State, e: Vec3
) -> int:
    """The row of the relative velocity of the contact point along e: B against A."""
    a, b = contacts.body_a[c], contacts.body_b[c]
    point = load3(contacts.point_W, c)
    row = start_row(rows, kind, a, b)
    rows.slot[row] = c
    arm_a, arm_b = sub(point, load3(state.p_WB, a)), sub(point, load3(state.p_WB, b))
    set_jacobian(rows, row, negate(cross(arm_a, e)), e, cross(arm_b, e))
    rows.lam_warm[row] = dot(e, load3(contacts.impulse_W, c))
    return row


@kernel
def write_contact(
    rows: Rows, contacts: Contacts, c: int, state: State, options: StepOptions
) -> None:
    """Normal and friction rows of contact c.

        apart (gap > 0)    w = J v + gap/h            may close the gap, not cross it
        penetrating        w = J v + erp gap/h        a share of the depth goes per step
        bouncing           w = J v + e J u-           Newton's law, if it touches within this step
                                                      and approaches faster than the threshold;
                                                      other laws act before (impacts/strike.py)

    The most demanding of them counts. Tangents depend on the normal only, so that a standing
    contact keeps its impulses.

    Source  physics.md "One step"; 000 contacts; restitution: Newton
    Check   tests/references/test_contacts.py, tests/references/test_impacts.py
    """
    h = options.time_step
    n = load3(contacts.normal_W, c)
    row = write_direction(rows, ROW_NORMAL, contacts, c, state, n)
    gap = contacts.gap[c]
    rows.lo[row] = 0.0
    rows.error[row] = gap
    rows.lam_warm[row] = max(rows.lam_warm[row], 0.0)
    if gap >= 0.0:
        rows.bias[row] = gap / h
    else:
        erp = options.share * options.contact_erp
        rows.bias[row] = max(erp * gap / h, -options.max_correction_speed)
    speed = row_speed(rows, row, state)
    if speed < -options.restitution_threshold:
        if options.impact_time == EXACT:
            # the flight ends where they meet: until then nothing holds them up
            rows.bias[row] -= 2.0 * speed
        elif options.restitution_law == NEWTON and gap + h * speed < 0.0:
            rows.bias[row] = min(rows.bias[row], contacts.restitution[c] * speed)

    t1 = perpendicular(n)
    mu = contacts.friction[c]
    for e in (t1, cross(n, t1)):
        tangent = write_direction(rows, ROW_TANGENT, contacts, c, state, e)
        rows.normal_row[tangent] = row
        rows.mu[tangent] = mu
