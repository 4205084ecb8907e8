"""Requests about a scene, which may name one that is stored."""

from dataclasses import replace
from typing import Any

from anyio.to_thread import run_sync
from fastapi import Request

from cardan.schemas import Fault
from cardan.service.api.owners import seen_by
from cardan.service.compute.messages import AboutScene, WantedScene
from cardan.service.intake import StoredText, invalid
from cardan.service.services import Services

StoredVersion = dict[str, Any]
"""Keys of schemas.api.SceneVersion."""


async def answer_about_scene(
    request: Request, services: Services, order: AboutScene
) -> tuple[Any, StoredVersion | None]:
    """Return the reply to an order, and the version of the stored scene that it is about.

    A worker reads which scene a body names; only then it is fetched. Raises ServiceError.
    """
    reply = await services.compute.answer(order)
    if not isinstance(reply, WantedScene):
        return reply, None
    row = await run_sync(services.scenes.with_document, reply.id)
    seen = seen_by(request)
    if row is None or (seen is not None and row["created_by"] != seen):
        raise invalid([_unknown(reply.id)], "request")
    await run_sync(services.scenes.note_use, row)
    text = StoredText(row["id"], row["document"])
    found = await services.compute.answer(replace(order, stored=text))
    return found, {"id": row["id"], "revision": row["revision"]}


def _unknown(scene_id: str) -> Fault:
    return Fault(
        pointer="/scene",
        code="unknown_scene",
        message=f"There is no stored scene {scene_id!r}.",
        got=scene_id,
        hint="GET /v1/scenes lists those that are stored.",
    )
