"""Queries of a live session: ray casts and distances between bodies. They change nothing."""

from typing import Any

from fastapi import APIRouter, Depends, Request

from cardan.schemas.query import (
    ClosestPointsAnswer,
    ClosestPointsRequest,
    RaycastAnswer,
    RaycastRequest,
)
from cardan.service.api.dependencies import PROBLEMS, refuse_unknown_query
from cardan.service.api.intake import read_body
from cardan.service.api.resource_route import ResourceRoute
from cardan.service.api.sessions import TheSession
from cardan.service.intake import read_request

router = APIRouter(
    route_class=ResourceRoute,
    prefix="/sessions",
    tags=["sessions"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)


@router.post(
    "/{session_id}:raycast",
    response_model=RaycastAnswer,
    openapi_extra={"x-body": "RaycastRequest"},
)
async def raycast(request: Request, session: TheSession) -> dict[str, Any]:
    """Cast rays between two steps: the nearest hit of each, or all hits by distance."""
    asked = read_request(RaycastRequest, await read_body(request))
    return (await session.command("raycast", asked.model_dump())).value or {}


@router.post(
    "/{session_id}:closest-points",
    response_model=ClosestPointsAnswer,
    openapi_extra={"x-body": "ClosestPointsRequest"},
)
async def closest_points(request: Request, session: TheSession) -> dict[str, Any]:
    """Compute the distance of two bodies (negative: penetration depth), points and normal."""
    asked = read_request(ClosestPointsRequest, await read_body(request))
    return (await session.command("closest_points", asked.model_dump())).value or {}
