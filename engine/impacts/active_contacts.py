"""Active contacts: those that take part in an impact."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import bundle
from cardan.engine.world.impacts import ROLE_CLOSED, ROLE_OPEN, ROLE_STRUCK
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.rows import ROW_EQUATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.contacts import Contacts
    from cardan.engine.world.impacts import Impacts
    from cardan.engine.world.model import Bodies
    from cardan.engine.world.problem import Problem
    from cardan.engine.world.rows import Rows

# contacts whose speeds of approach differ by less than this share are struck at once, so that
# symmetry is kept
TIE = 1e-6


@bundle
class ImpactWindow(NamedTuple):
    """Which contacts are near enough to take part in an impact, and fast enough to cause one."""

    horizon: float  # s     within this time at its present speed; 0: now
    closed: float  # m      a gap below this is closed: an impact is due
    touching: float  # m    gaps below this take part in it, and pass it on
    threshold: float  # m/s approach speed below which nothing rebounds
    before: float  # -      share of the kick that acts before the impact


@kernel
def speed_along(problem: Problem, i: int, v: NDArray) -> float:
    """J v of row i [m/s or rad/s], v (n, 6) angular first."""
    a, b = problem.body_a[i], problem.body_b[i]
    total = 0.0
    for k in range(6):
        total += problem.J_a[i, k] * v[a, k] + problem.J_b[i, k] * v[b, k]
    return total


@kernel
def is_struck(
    problem: Problem, contacts: Contacts, c: int, speed: float, window: ImpactWindow
) -> bool:
    """Whether contact c is rigid and touches within the window, faster than the threshold.

    Without restitution it must not be stopped where it is: until it is closed the kick has it.
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
    """Largest speed of approach among contacts that strike [m/s]; 0: none does."""
    fastest = 0.0
    for c in range(contacts.count[0]):
        speed = speed_along(problem, problem.count[1] + 3 * c, impacts.seen)
        if -speed > fastest and is_struck(problem, contacts, c, speed, window):
            fastest = -speed
    return fastest


@kernel
def mark_struck(
    problem: Problem, contacts: Contacts, impacts: Impacts, window: ImpactWindow, slowest: float
) -> None:
    """Contacts that strike at least as fast as `slowest`; all others are open.

    Writes  impacts.role; impacts.reached: their bodies
    """
    n_box = problem.count[1]
    impacts.reached[:] = 0
    for c in range(contacts.count[0]):
        speed = speed_along(problem, n_box + 3 * c, impacts.seen)
        impacts.role[c] = ROLE_OPEN
        if -speed >= slowest and is_struck(problem, contacts, c, speed, window):
            impacts.role[c] = ROLE_STRUCK
            impacts.reached[problem.body_a[n_box + 3 * c]] = 1
            impacts.reached[problem.body_b[n_box + 3 * c]] = 1


@kernel
def mark_closed(
    problem: Problem, contacts: Contacts, impacts: Impacts, window: ImpactWindow, fastest: float
) -> None:
    """Open contacts that a body moving at `fastest` would close within the window become closed."""
    for c in range(contacts.count[0]):
        near = contacts.gap[c] - window.horizon * fastest < window.touching
        rigid = problem.cfm[problem.count[1] + 3 * c] == 0.0
        if impacts.role[c] == ROLE_OPEN and near and rigid:
            impacts.role[c] = ROLE_CLOSED


@kernel
def propagate_between(bodies: Bodies, reached: NDArray, a: int, b: int) -> bool:
    """Let an impact go from one of two dynamic bodies to the other; whether it did."""
    if bodies.kind[a] != DYNAMIC or bodies.kind[b] != DYNAMIC or reached[a] == reached[b]:
        return False
    reached[a] = 1
    reached[b] = 1
    return True


@kernel
def propagate(bodies: Bodies, rows: Rows, contacts: Contacts, impacts: Impacts) -> None:
    """Bodies that an impact reaches through equations of joints and through closed contacts.

    Writes  impacts.reached
    """
    reached = impacts.reached
    n_box = rows.count[1]
    changed = True
    while changed:
        changed = False
        for i in range(n_box):
            if rows.kind[i] == ROW_EQUATION:
                changed |= propagate_between(bodies, reached, rows.body_a[i], rows.body_b[i])
        for c in range(contacts.count[0]):
            if impacts.role[c] != ROLE_OPEN:
                i = n_box + 3 * c
                changed |= propagate_between(bodies, reached, rows.body_a[i], rows.body_b[i])


@kernel
def is_reached(bodies: Bodies, reached: NDArray, a: int, b: int) -> bool:
    """Whether a row between two bodies belongs to the impact: it may move one of them."""
    return (bodies.kind[a] == DYNAMIC and reached[a] == 1) or (
        bodies.kind[b] == DYNAMIC and reached[b] == 1
    )
