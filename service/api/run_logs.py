"""`/v1/simulations/{id}/logs`: what happened to a run, from the first word to the last warning."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, Depends

from cardan.schemas.base import Base
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.resource_route import ResourceRoute
from cardan.service.api.simulations import known_run
from cardan.service.api.views import moment

router = APIRouter(
    route_class=ResourceRoute,
    prefix="/simulations",
    tags=["simulations"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)

Level = Literal["info", "warning", "error"]
BAD = ("failed", "timed_out")
LOST = "worker_lost"


class LogLine(Base):
    """Something that happened to a run."""

    at: datetime
    """UTC."""
    level: Level
    """How bad it is."""
    attempt: int | None = None
    """Number of the attempt, from 1; null: of none."""
    message: str
    """A sentence."""


class RunLog(Base):
    """What happened to a run."""

    items: list[LogLine]
    """Lines in their order."""


@router.get("/{simulation_id}/logs", response_model=RunLog)
def logs(simulation_id: str, services: TheServices) -> RunLog:
    """What happened: states, attempts with the ends of their workers, warnings of the summary.

    The trace of a fault of the engine is in the log of the service, under the id of the run.
    """
    row = known_run(services, simulation_id)
    lines = [
        _state(float(event["at"]), event["data"])
        for event in services.catalog.events(simulation_id)
    ]
    for attempt in services.catalog.attempts(simulation_id):
        if attempt["outcome"] == LOST:
            message = "The process that computed this attempt was lost."
            lines.append(_line(attempt["ended_at"], "warning", attempt["attempt"], message))
    # what was first, first; of one moment the order above
    lines.sort(key=lambda line: line.at)
    # the summary comes with the end of the run, its last line
    end, warnings = lines[-1].at, (row["summary"] or {}).get("warnings", [])
    lines += [
        LogLine(at=end, level="warning", attempt=row["attempt"], message=str(warning))
        for warning in warnings
    ]
    return RunLog(items=lines)


def _state(at: float, data: Mapping[str, Any]) -> LogLine:
    status = str(data["status"])
    message = f"It is {status.replace('_', ' ')}."
    if data.get("resumed_step"):
        message = f"It goes on from step {data['resumed_step']}, where it left a checkpoint."
    error = data.get("error")
    if error:
        message = f"{message[:-1]}: {error['message']}"
    return _line(at, "error" if status in BAD else "info", data.get("attempt"), message)


def _line(at: float, level: Level, attempt: int | None, message: str) -> LogLine:
    return LogLine(at=moment(at), level=level, attempt=attempt, message=message)
