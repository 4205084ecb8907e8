"""Residuals and iterations of all solves of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.impacts import RECORD_COULOMB, RECORD_ITERATIONS, RECORD_RESIDUAL

if TYPE_CHECKING:
    from cardan.engine.world.impacts import Impacts
    from cardan.engine.world.report import Report


@kernel
def record_solve(impacts: Impacts, report: Report) -> None:
    """Add a solve to the record: largest residuals, sum of iterations.

    Writes  impacts.record
    """
    record = impacts.record
    record[RECORD_RESIDUAL] = max(record[RECORD_RESIDUAL], report.residual[0])
    record[RECORD_COULOMB] = max(record[RECORD_COULOMB], report.coulomb_error[0])
    record[RECORD_ITERATIONS] += report.iterations[0]


@kernel
def report_solves(impacts: Impacts, report: Report) -> None:
    """Write the report of the step from the record."""
    record = impacts.record
    report.residual[0] = record[RECORD_RESIDUAL]
    report.coulomb_error[0] = record[RECORD_COULOMB]
    report.iterations[0] = int(record[RECORD_ITERATIONS])
