"""The rows of one impact: a subproblem of the step's Problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import jacobian_product
from cardan.engine.impacts.active_contacts import is_reached, is_rigid_coupling
from cardan.engine.problem.operator import copy_geometry
from cardan.engine.world.impacts import ROLE_OPEN
from cardan.engine.world.rows import ROW_EQUATION

if TYPE_CHECKING:
    from cardan.engine.world.contacts import Contacts
    from cardan.engine.world.impacts import Impacts
    from cardan.engine.world.model import Model
    from cardan.engine.world.problem import Problem
    from cardan.engine.world.rows import Rows


@kernel
def copy_row(source: Problem, i: int, target: Problem, k: int) -> None:
    """Copy row i of one problem to row k of another: geometry, masses, bounds; lam = 0.

    Sweeps of an impact add nothing to its b: what a kick may correct is no part of it.
    """
    copy_geometry(source, i, target, k)
    target.cfm[k] = source.cfm[i]
    target.lo[k] = source.lo[i]
    target.hi[k] = source.hi[i]
    target.mu[k] = source.mu[i]
    target.sweep_bias_delta[k] = 0.0
    target.normal_row[k] = -1
    target.lam[k] = 0.0


@kernel
def gather(
    model: Model, rows: Rows, contacts: Contacts, problem: Problem, impacts: Impacts
) -> None:
    """Gather couplings and equations of reached bodies, then contacts that are not open.

    Speeds are those before the impact. An equation keeps the row velocity that it had before the
    first impact of this instant.

    Writes  impacts.problem (but b), source, speed
    """
    target, source = impacts.problem, impacts.source
    target.friction_kind[0] = problem.friction_kind[0]
    target.friction_kind[1] = problem.friction_kind[1]
    n_box, bodies = rows.count[1], model.bodies
    k, target.count[2] = 0, 0
    for i in range(n_box):
        coupled = is_rigid_coupling(model.joints, rows, i)
        if (coupled or rows.kind[i] == ROW_EQUATION) and is_reached(
            bodies, impacts.reached, rows.body_a[i], rows.body_b[i]
        ):
            copy_row(problem, i, target, k)
            source[k] = i
            impacts.speed[k] = jacobian_product(problem, i, impacts.velocity) - impacts.kept[i]
            k += 1
            target.count[2] += coupled
    target.count[1] = k
    for c in range(contacts.count[0]):
        first = n_box + 3 * c
        if impacts.role[c] == ROLE_OPEN or not is_reached(
            bodies, impacts.reached, rows.body_a[first], rows.body_b[first]
        ):
            continue
        for i in range(first, first + 3):
            copy_row(problem, i, target, k)
            source[k] = i
            k += 1
        target.normal_row[k - 2] = k - 3
        target.normal_row[k - 1] = k - 3
    target.count[0] = k
