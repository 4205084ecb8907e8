"""The body of a request, and scenes that the engine is asked about."""

from collections.abc import Mapping
from typing import Any

import anyio.to_thread
from fastapi import Request

from cardan.schemas import Fault
from cardan.service.api.problems import ProblemError
from cardan.service.compute.messages import Checked, CheckOrder
from cardan.service.intake import (
    Intake,
    SceneText,
    escaped,
    invalid,
    located,
    read_document,
    read_request,
    take_scene,
)
from cardan.service.services import Services

__all__ = [
    "Intake",
    "ask_engine",
    "escaped",
    "invalid",
    "located",
    "read_body",
    "read_bytes",
    "read_request",
    "refuse_physics_faults",
    "take_scene",
]


async def read_bytes(request: Request) -> bytes:
    """Return the bytes of a JSON body. Raises ProblemError 415."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise ProblemError(
            415,
            "unsupported_media_type",
            f"The body must be application/json, not {kind or 'without a Content-Type'}.",
            headers={"Accept-Post": "application/json"},
        )
    return await request.body()


async def read_body(request: Request) -> Any:
    """Return the JSON document of the body. Raises ProblemError or ServiceError."""
    return await anyio.to_thread.run_sync(read_document, await read_bytes(request))


async def ask_engine(services: Services, document: str, *, probe_s: float = 0.0) -> Checked:
    """Return the engine's report on a scene. Raises ServiceError without a free worker."""
    found: Checked = await services.compute.answer(CheckOrder(document, {}, probe_s))
    return found


async def refuse_physics_faults(
    services: Services, text: SceneText, changes: Mapping[str, Any], place: str
) -> None:
    """Raise ServiceError when the engine cannot be built from the scene."""
    checked = await ask_engine(services, text.document)
    if checked.faults:
        faults = [Fault.model_validate(fault) for fault in checked.faults]
        raise invalid(located(faults, changes, place))
