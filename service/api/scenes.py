"""`/v1/scenes:validate`: validation of a scene before it runs; and the schema of scenes."""

from typing import Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Request

from cardan.schemas import Fault, scene_warnings
from cardan.schemas.api import ScenePreview, ValidationReport
from cardan.schemas.json_schema import scene_json_schema
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.intake import Intake, ask_engine, read_body, take_scene
from cardan.service.errors import ProblemError
from cardan.service.simulations.services import Services

router = APIRouter(
    tags=["scenes"], responses=PROBLEMS, dependencies=[Depends(refuse_unknown_query)]
)

PROBE_SECONDS = 0.1


@router.post("/scenes:validate", response_model=ValidationReport, openapi_extra={"x-body": "Scene"})
async def validate(request: Request, services: TheServices) -> ValidationReport:
    """All faults and warnings of a scene at once, its size, and the estimated cost of a run."""
    document = await read_body(request)
    try:
        intake = await run_sync(_take, document, services)
    except ProblemError as problem:
        if problem.code != "scene_invalid":
            raise
        faults = [Fault.model_validate(fault) for fault in problem.errors]
        return ValidationReport(valid=False, errors=faults)
    checked = await ask_engine(services, intake.text.document, probe_s=PROBE_SECONDS)
    cost = checked.seconds_per_step
    return ValidationReport(
        valid=not checked.faults,
        errors=[Fault.model_validate(fault) for fault in checked.faults],
        warnings=scene_warnings(intake.scene),
        counts=intake.counts,
        estimate=None if cost is None else {"seconds": cost * intake.counts.steps},
        scene_hash=intake.text.hash,
        preview=None if checked.preview is None else ScenePreview.model_validate(checked.preview),
    )


@router.get("/scenes/schema")
def schema() -> dict[str, Any]:
    """The JSON Schema of scenes."""
    return scene_json_schema()


def _take(document: Any, services: Services) -> Intake:
    return take_scene(document, services.settings.limits)
