"""`/v1/scenes`: scenes that are kept, changed and named by runs and sessions."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Request
from fastapi import Path as PathParameter
from fastapi.responses import Response
from pydantic import Field

from cardan.schemas.api import SceneInfo, SceneRevision
from cardan.schemas.base import Base
from cardan.service.api.accepted import as_json
from cardan.service.api.content import caching, not_modified
from cardan.service.api.dependencies import ThePage, TheServices, resource_router
from cardan.service.api.idempotency import ticket
from cardan.service.api.intake import read_body, read_bytes
from cardan.service.api.owners import owner_of, seen_by
from cardan.service.api.preconditions import check_match, stale
from cardan.service.api.problems import ProblemError
from cardan.service.api.quotas import refuse_beyond_stored
from cardan.service.api.simulations import refuse_when_full
from cardan.service.api.views import BASE, moment
from cardan.service.compute.messages import Storable, StoreOrder
from cardan.service.intake import read_request
from cardan.service.services import Services
from cardan.service.stored_scenes import Row, SceneContent

router = resource_router("scenes")


class ScenePage(Base):
    """One page of stored scenes, newest first."""

    items: list[SceneInfo]
    """Stored scenes."""
    next_page_token: str
    """Token of the next page; empty at the end."""


class RevisionList(Base):
    """The revisions of a stored scene that are kept, newest first."""

    items: list[SceneRevision]
    """The present one, then earlier ones."""


MOST_REVISION = 2**31 - 1
RevisionNumber = Annotated[int, PathParameter(ge=1, le=MOST_REVISION)]


class RevisionRequest(Base):
    """Request to make an earlier revision the present one."""

    revision: Annotated[int, Field(strict=True, ge=1, le=MOST_REVISION)]
    """Its number."""


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
    return _text_of(request, _found(services.scenes.with_document(scene_id), scene_id))


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


@router.get("/{scene_id}/revisions", response_model=RevisionList)
def revisions(scene_id: str, services: TheServices) -> RevisionList:
    """List the revisions that are kept, newest first: the present one, then earlier ones."""
    rows = services.scenes.revisions(scene_id)
    if not rows:
        raise _unknown(scene_id)
    return RevisionList(items=[_revision_info(row) for row in rows])


@router.get("/{scene_id}/revisions/{revision}", response_class=Response)
def read_revision(
    scene_id: str, revision: RevisionNumber, request: Request, services: TheServices
) -> Response:
    """The scene as it was written in this revision."""
    return _text_of(request, _revision(services, scene_id, revision))


@router.post("/{scene_id}:restore", response_model=SceneInfo)
async def restore(request: Request, scene: TheScene, services: TheServices) -> Response:
    """Write the text of an earlier revision again, as a new one. Needs `If-Match`, like PUT."""
    asked = read_request(RevisionRequest, await read_body(request))
    check_match(request, etag_of(scene), required=True)
    row = await run_sync(_revision, services, scene["id"], asked.revision)
    # the limits of scenes may be others than when it was written
    found = await services.compute.answer(StoreOrder(row["document"]))
    return await _replaced(request, services, scene, _content(row["document"], found))


def etag_of(row: Row) -> str:
    """Return the ETag of the text of a stored scene."""
    return f'"{row["digest"][:32]}"'


def scene_info(row: Row) -> SceneInfo:
    """Return a stored scene as an object of the API."""
    place = f"{BASE}/scenes/{row['id']}"
    return SceneInfo(
        id=row["id"],
        name=row["name"],
        revision=row["revision"],
        etag=etag_of(row),
        scene_hash=row["scene_hash"],
        bytes=row["bytes"],
        created_at=moment(row["created_at"]),
        updated_at=moment(row["updated_at"]),
        links={"self": place, "revisions": f"{place}/revisions"},
    )


def _revision_info(row: Row) -> SceneRevision:
    return SceneRevision(
        revision=row["revision"],
        name=row["name"],
        etag=etag_of(row),
        scene_hash=row["scene_hash"],
        bytes=row["bytes"],
        written_at=moment(row["updated_at"]),
        links={"self": f"{BASE}/scenes/{row['scene_id']}/revisions/{row['revision']}"},
    )


def _revision(services: Services, scene_id: str, revision: int) -> Row:
    """The row of a revision, with its text. Raises ProblemError 404."""
    row = services.scenes.revision(scene_id, revision)
    if row is None:
        known_scene(scene_id, services)
        detail = f"Revision {revision} of {scene_id} was never made, or is not kept."
        raise ProblemError(404, "not_found", detail)
    return row


def _text_of(request: Request, row: Row) -> Response:
    """The text of a scene, or that the client has it."""
    headers = caching(etag_of(row))
    return not_modified(request, headers) or Response(
        row["document"], media_type="application/json", headers=headers
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
        raise _unknown(scene_id)
    return row


def _unknown(scene_id: str) -> ProblemError:
    return ProblemError(404, "not_found", f"There is no scene {scene_id!r}.")
