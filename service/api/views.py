"""Rows of the queue as the objects of the API."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from cardan.schemas.api import BatchInfo, RunError, SimulationInfo
from cardan.service.services import Services
from cardan.service.simulations.catalog import Row
from cardan.service.simulations.states import RunState

BASE = "/v1"


def simulation_url(run_id: str) -> str:
    """Return the address of a simulation."""
    return f"{BASE}/simulations/{run_id}"


def batch_url(batch_id: str) -> str:
    """Return the address of a batch."""
    return f"{BASE}/batches/{batch_id}"


def simulation_info(services: Services, row: Row) -> SimulationInfo:
    """Return a run as an object of the API."""
    return simulation_infos(services, [row])[0]


def simulation_infos(services: Services, rows: Sequence[Row]) -> list[SimulationInfo]:
    """Return runs as objects of the API."""
    positions = services.catalog.positions(rows)
    return [_simulation_info(services, row, positions.get(row["id"])) for row in rows]


def _simulation_info(services: Services, row: Row, position: int | None) -> SimulationInfo:
    """Return a run, with live progress while it is being computed."""
    live = services.dispatcher.live.get(row["id"])
    step, factor = row["step"], row["real_time_factor"]
    if live is not None and row["state"] in (RunState.RUNNING, RunState.CANCELLING):
        step, factor = max(step, live.step), live.real_time_factor or factor
    url = simulation_url(row["id"])
    links = {
        "self": url,
        "trajectory": f"{url}/trajectory",
        "summary": f"{url}/summary",
        "events": f"{url}/events",
        "logs": f"{url}/logs",
        "scene": f"{url}/scene",
    }
    if row["batch_id"]:
        links["batch"] = batch_url(row["batch_id"])
    total = row["total_steps"]
    return SimulationInfo(
        id=row["id"],
        status=row["state"],
        position=position,
        progress=min(1.0, step / total) if total else 0.0,
        step=step,
        total_steps=total,
        real_time_factor=finite(factor),
        name=row["name"] or "",
        stored_scene=row["stored_scene"],
        created_at=moment(row["created_at"]),
        started_at=moment_or_none(row["started_at"]),
        finished_at=moment_or_none(row["finished_at"]),
        error=row["error"],
        links=links,
    )


def batch_info(services: Services, row: Row) -> BatchInfo:
    """Return a batch as an object of the API."""
    state = services.catalog.batch_progress(row)
    url = batch_url(row["id"])
    counts = {name: count for name, count in state["counts"].items() if count}
    reason = state["stop_reason"]
    return BatchInfo(
        id=row["id"],
        status=state["status"],
        runs=sum(counts.values()),
        counts=counts,
        progress=state["progress"],
        name=row["name"] or "",
        stored_scene=row["stored_scene"],
        created_at=moment(row["created_at"]),
        started_at=moment_or_none(state["started_at"]),
        finished_at=moment_or_none(state["finished_at"]),
        error=RunError(code="batch_stopped", message=reason) if reason else None,
        links={
            "self": url,
            "runs": f"{url}/runs",
            "results": f"{url}/results",
            "events": f"{url}/events",
        },
    )


def moment(seconds: float) -> datetime:
    """Return a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def moment_or_none(seconds: float | None) -> datetime | None:
    """Return a time in UTC, or None."""
    return None if seconds is None else moment(seconds)


def rfc3339(seconds: float | None) -> str | None:
    """Return a time in UTC as text, to the millisecond, or None."""
    if seconds is None:
        return None
    return moment(seconds).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def finite(value: float | None) -> float | None:
    """Return the number, or None where JSON cannot represent it."""
    return value if value is not None and math.isfinite(value) else None


def metric(summary: Mapping[str, Any] | None, key: str) -> Any:
    """Return a value of a summary by its dotted key, or `None`.

    Names and sentences are separated by commas; objects, and lists of others, are JSON texts.
    """
    value: Any = summary
    for part in key.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return orjson.dumps(value).decode() if isinstance(value, list | tuple | Mapping) else value
