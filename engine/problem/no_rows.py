"""The report of a step in which nothing constrains anything."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.report import STOPPED_EXACT, Report
from cardan.engine.world.world import World

AUTO = int(SolverMethod.AUTO)


@kernel
def report_no_rows(report: Report) -> None:
    """Report of a problem without rows: solved exactly, by no method, in no iterations.

    Writes  report: method, solver_status, iterations, residual, coulomb_error
    """
    report.method[0] = AUTO
    report.solver_status[0] = STOPPED_EXACT
    report.iterations[0] = 0
    report.residual[0] = 0.0
    report.coulomb_error[0] = 0.0


@kernel
def clear_report(world: World) -> None:
    """No contacts, no rows, nothing to solve."""
    work, report = world.work, world.report
    work.contacts.count[0] = 0
    for k in range(3):
        work.rows.count[k] = 0
        work.problem.count[k] = 0
    report.islands[0] = 0
    report_no_rows(report)
