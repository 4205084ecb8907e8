"""`/v1/scenes:validate`: validation of a scene before it runs; and the schema of scenes."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from cardan.schemas.api import ValidationReport
from cardan.schemas.json_schema import scene_json_schema
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.intake import read_bytes
from cardan.service.compute.messages import ReportOrder

router = APIRouter(
    tags=["scenes"], responses=PROBLEMS, dependencies=[Depends(refuse_unknown_query)]
)

PROBE_SECONDS = 0.1


@router.post("/scenes:validate", response_model=ValidationReport, openapi_extra={"x-body": "Scene"})
async def validate(
    request: Request,
    services: TheServices,
    kind: Annotated[
        Literal["simulation", "session"],
        Query(description="what it is for: a session records nothing, so its length has no limit"),
    ] = "simulation",
) -> Response:
    """All faults and warnings of a scene at once, its size, and the estimated cost of a run."""
    order = ReportOrder(await read_bytes(request), PROBE_SECONDS, kind)
    written = await services.compute.answer(order)
    return Response(written.body, media_type="application/json")


@router.get("/scenes/schema")
def schema() -> dict[str, Any]:
    """The JSON Schema of scenes."""
    return scene_json_schema()
