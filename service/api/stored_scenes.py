"""`/v1/scenes`: scenes that are kept, changed and named by runs and sessions."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Request
from fastapi.responses import Response

from cardan.schemas.api import SceneInfo
from cardan.schemas.base import Base
from cardan.service.api.accepted import as_json
from cardan.service.api.content import caching, not_modified
from cardan.service.api.dependencies import ThePage, TheServices, resource_router
from cardan.service.api.idempotency import ticket
from cardan.service.api.intake import read_bytes
from cardan.service.api.owners import owner_of, seen_by
from cardan.service.api.preconditions import check_match, stale
from cardan.service.api.problems import ProblemError
from cardan.service.api.quotas import refuse_beyond_stored
from cardan.service.api.simulations import refuse_when_full
from cardan.service.api.views import BASE, moment
from cardan.service.compute.messages import Storable, StoreOrder
from cardan.service.services import Services
from cardan.service.stored_scenes import Row, SceneContent

router = resource_router("scenes")


class ScenePage(Base):
    """One page of stored scenes, newest first."""

    items: list[SceneInfo]
    """Stored scenes."""
    next_page_token: str
    """Token of the next page; empty at the end."""


def known_scene(scene_id: str, services: TheServices) -> Row:
    """Return the row of a stored scene. Raises ProblemError 404."""
    return _found(services.scenes.get(scene_id), scene_id)


TheScene = Annotated[Row, Depends(known_scene)]


@router.post("", response_model=SceneInfo, status_code=201, openapi_extra={"x-body": "Scene"})
async def create(request: Request, services: TheServices) -> Response:
    """Store a scene, if it is valid. Simulations, batches, studies and sessions may name its id."""
    body = await read_bytes(request)
    async with ticket(request, services) as granted:
        scene_id = granted.replayed
        if scene_id is None:
            content = _content(body, await services.compute.answer(StoreOrder(body)))
            await _refuse_beyond_limits(request, services, content)
            owner = owner_of(request)
            scene_id = await run_sync(
                lambda: services.scenes.create(content, owner, key=granted.key)
            )
            granted.used = True
    info = await run_sync(_info_of, services, scene_id)
    headers = {"Location": info.links["self"], "ETag": info.etag}
    if granted.replayed:
        headers["Idempotency-Replayed"] = "true"
    return as_json(info, 201, headers)


@router.get("", response_model=ScenePage)
def listing(request: Request, services: TheServices, page: ThePage) -> ScenePage:
    """Stored scenes, newest first."""
    rows = services.scenes.page(before=page.after, size=page.size + 1, created_by=seen_by(request))
    shown, following = page.cut(rows)
    return ScenePage(items=[scene_info(row) for row in shown], next_page_token=following)


@router.get("/{scene_id}", response_class=Response)
def read(scene_id: str, request: Request, services: TheServices) -> Response:
    """The scene as it was written, defaults not filled in."""
    row = _found(services.scenes.with_document(scene_id), scene_id)
    headers = caching(etag_of(row))
    return not_modified(request, headers) or Response(
        row["document"], media_type="application/json", headers=headers
    )


@router.put("/{scene_id}", response_model=SceneInfo)
async def replace(request: Request, scene: TheScene, services: TheServices) -> Response:
    """Replace the scene by another. Needs `If-Match`: 428 without, 412 if it was changed."""
    body = await read_bytes(request)
    check_match(request, etag_of(scene), required=True)
    content = _content(body, await services.compute.answer(StoreOrder(body)))
    return await _replaced(request, services, scene, content)


@router.patch("/{scene_id}", response_model=SceneInfo)
async def change(request: Request, scene: TheScene, services: TheServices) -> Response:
    """Change the scene by a JSON Merge Patch (RFC 7396). Needs `If-Match`, like PUT.

    Members of objects are replaced, those that are null removed; lists are replaced as a whole.
    """
    patch = await read_bytes(request)
    check_match(request, etag_of(scene), required=True)
    whole = _found(await run_sync(services.scenes.with_document, scene["id"]), scene["id"])
    check_match(request, etag_of(whole), required=True)
    found = await services.compute.answer(StoreOrder(whole["document"], patch))
    assert found.document is not None
    return await _replaced(request, services, whole, _content(found.document, found))


@router.delete("/{scene_id}", status_code=204)
def delete(request: Request, scene: TheScene, services: TheServices) -> None:
    """Delete the scene; with `If-Match` only if it was not changed.

    Runs and sessions that were made from it have their own copy.
    """
    check_match(request, etag_of(scene), required=False)
    digest = scene["digest"] if "if-match" in request.headers else None
    if not services.scenes.remove(scene["id"], digest):
        raise stale(etag_of(known_scene(scene["id"], services)))


def etag_of(row: Row) -> str:
    """Return the ETag of the text of a stored scene."""
    return f'"{row["digest"][:32]}"'


def scene_info(row: Row) -> SceneInfo:
    """Return a stored scene as an object of the API."""
    return SceneInfo(
        id=row["id"],
        name=row["name"],
        revision=row["revision"],
        etag=etag_of(row),
        scene_hash=row["scene_hash"],
        bytes=row["bytes"],
        created_at=moment(row["created_at"]),
        updated_at=moment(row["updated_at"]),
        links={"self": f"{BASE}/scenes/{row['id']}"},
    )


async def _replaced(
    request: Request, services: Services, scene: Row, content: SceneContent
) -> Response:
    """Store the new text, unless somebody was faster. Raises ProblemError."""
    await _refuse_beyond_limits(request, services, content)
    changed = await run_sync(services.scenes.replace, scene["id"], scene["digest"], content)
    now = await run_sync(known_scene, scene["id"], services)
    if not changed:
        raise stale(etag_of(now))
    info = scene_info(now)
    return as_json(info, 200, {"ETag": info.etag})


async def _refuse_beyond_limits(
    request: Request, services: Services, content: SceneContent
) -> None:
    """Raise ProblemError for a text that is too large, and when there is no room for it."""
    size, most = len(content.document), services.settings.max_body_bytes
    if size > most:
        raise ProblemError(
            413,
            "too_large",
            f"The scene would have {size} bytes; the limit is {most}.",
            limit_bytes=most,
        )
    await run_sync(refuse_when_full, services)
    await refuse_beyond_stored(request, services, request.app.state.sessions, more=size)


def _content(document: bytes, found: Storable) -> SceneContent:
    return SceneContent(document, found.digest, found.name, found.scene_hash)


def _info_of(services: Services, scene_id: str) -> SceneInfo:
    return scene_info(known_scene(scene_id, services))


def _found(row: Row | None, scene_id: str) -> Row:
    if row is None:
        raise ProblemError(404, "not_found", f"There is no scene {scene_id!r}.")
    return row
