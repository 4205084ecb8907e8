"""Active contacts: those that take part in an impact."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct
from cardan.engine.constraints.row import jacobian_product
from cardan.engine.world.impacts import ROLE_CLOSED, ROLE_OPEN, ROLE_STRUCK
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.rows import ROW_COUPLING, ROW_EQUATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.contacts import Contacts
    from cardan.engine.world.impacts import Impacts
    from cardan.engine.world.model import Bodies, Joints, Model
    from cardan.engine.world.problem import Problem
    from cardan.engine.world.rows import Rows

# contacts whose approach speeds differ by less than this share are struck together, which
# preserves symmetry
TIE = 1e-6


@struct
class ImpactWindow(NamedTuple):
    """Thresholds of gap, approach speed and time for contacts that take part in an impact."""

    horizon: float  # s     contacts that close within this time take part; 0: now
    closed: float  # m      a gap below this is closed: an impact is due
    touching: float  # m    contacts with gaps below this transmit an impact
    threshold: float  # m/s approach speed below which there is no rebound
    before: float  # -      share of the kick that acts before the impact


@kernel
def is_struck(
    problem: Problem, contacts: Contacts, c: int, speed: float, window: ImpactWindow
) -> bool:
    """Whether contact c is rigid and closes within the window, faster than the threshold.

    A contact without restitution is excluded until its gap is closed: the kick handles it.
    """
    i = problem.count[1] + 3 * c
    return (
        speed < -window.threshold
        and contacts.gap[c] + window.horizon * speed < window.touching
        and problem.cfm[i] == 0.0
        and (contacts.restitution[c] > 0.0 or contacts.gap[c] <= window.touching)
    )


@kernel
def fastest_approach(
    problem: Problem, contacts: Contacts, impacts: Impacts, window: ImpactWindow
) -> float:
    """Largest approach speed of the struck contacts [m/s]; 0 if there are none."""
    fastest = 0.0
    for c in range(contacts.count[0]):
        speed = jacobian_product(problem, problem.count[1] + 3 * c, impacts.seen)
        if -speed > fastest and is_struck(problem, contacts, c, speed, window):
            fastest = -speed
    return fastest


@kernel
def mark_struck(
    problem: Problem, contacts: Contacts, impacts: Impacts, window: ImpactWindow, slowest: float
) -> None:
    """Mark contacts with an approach speed of at least `slowest` as struck, all others as open.

    Writes  impacts.role; impacts.reached: their bodies
    """
    n_box = problem.count[1]
    impacts.reached[:] = 0
    for c in range(contacts.count[0]):
        speed = jacobian_product(problem, n_box + 3 * c, impacts.seen)
        impacts.role[c] = ROLE_OPEN
        if -speed >= slowest and is_struck(problem, contacts, c, speed, window):
            impacts.role[c] = ROLE_STRUCK
            impacts.reached[problem.body_a[n_box + 3 * c]] = 1
            impacts.reached[problem.body_b[n_box + 3 * c]] = 1


@kernel
def mark_closed(
    problem: Problem, contacts: Contacts, impacts: Impacts, window: ImpactWindow, fastest: float
) -> None:
    """Mark open contacts as closed that would close within the window at the speed `fastest`."""
    for c in range(contacts.count[0]):
        near = contacts.gap[c] - window.horizon * fastest < window.touching
        rigid = problem.cfm[problem.count[1] + 3 * c] == 0.0
        if impacts.role[c] == ROLE_OPEN and near and rigid:
            impacts.role[c] = ROLE_CLOSED


@kernel
def propagate_between(bodies: Bodies, reached: NDArray, a: int, b: int) -> bool:
    """Propagate an impact between two dynamic bodies; True if it reaches a further body."""
    if bodies.kind[a] != DYNAMIC or bodies.kind[b] != DYNAMIC or reached[a] == reached[b]:
        return False
    reached[a] = 1
    reached[b] = 1
    return True


@kernel
def propagate_coupling(bodies: Bodies, rows: Rows, reached: NDArray, i: int) -> bool:
    """Propagate an impact from a body of the coupling of row i to all others; True if it does."""
    first = i
    while first > 0 and rows.joint[first - 1] == rows.joint[i]:
        first -= 1
    a, b = rows.body_a[i], rows.body_b[i]
    if not is_reached(bodies, reached, a, b):
        return False
    changed = False
    while first < rows.count[2] and rows.joint[first] == rows.joint[i]:
        for body in (rows.body_a[first], rows.body_b[first]):
            if bodies.kind[body] == DYNAMIC and reached[body] == 0:
                reached[body] = 1
                changed = True
        first += 1
    return changed


@kernel
def is_rigid_coupling(joints: Joints, rows: Rows, i: int) -> bool:
    """Whether row i is a term of a coupling that transmits impacts: not of a spring or rope."""
    j = rows.joint[i]
    return rows.kind[i] == ROW_COUPLING and joints.spring_on[j] == 0 and joints.limit_on[j, 0] == 0


@kernel
def propagate(model: Model, rows: Rows, contacts: Contacts, impacts: Impacts) -> None:
    """Mark the bodies an impact reaches through joint equations, couplings and closed contacts.

    Writes  impacts.reached
    """
    reached, bodies = impacts.reached, model.bodies
    n_box = rows.count[1]
    changed = True
    while changed:
        changed = False
        for i in range(n_box):
            if rows.kind[i] == ROW_EQUATION:
                changed |= propagate_between(bodies, reached, rows.body_a[i], rows.body_b[i])
            elif is_rigid_coupling(model.joints, rows, i):
                changed |= propagate_coupling(bodies, rows, reached, i)
        for c in range(contacts.count[0]):
            if impacts.role[c] != ROLE_OPEN:
                i = n_box + 3 * c
                changed |= propagate_between(bodies, reached, rows.body_a[i], rows.body_b[i])


@kernel
def is_reached(bodies: Bodies, reached: NDArray, a: int, b: int) -> bool:
    """Whether a row belongs to the impact: the impact reaches one of its two bodies."""
    return (bodies.kind[a] == DYNAMIC and reached[a] == 1) or (
        bodies.kind[b] == DYNAMIC and reached[b] == 1
    )
