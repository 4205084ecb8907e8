"""`/v1/statics`, `/v1/linearization`, `/v1/inverse-kinematics`: a scene in, nothing stored."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from cardan.schemas import statics as s
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.intake import read_bytes
from cardan.service.api.named_scenes import answer_about_scene
from cardan.service.compute.messages import MechanicsOrder
from cardan.service.services import Services

router = APIRouter(
    tags=["mechanics"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)


async def answer(operation: str, request: Request, services: Services) -> Response:
    """Have a worker read the request, compute, and write the response."""
    order = MechanicsOrder(operation, await read_bytes(request))
    written, _ = await answer_about_scene(request, services, order)
    return Response(written.body, media_type="application/json")


@router.post("/statics", response_model=s.StaticsAnswer, openapi_extra={"x-body": "StaticsRequest"})
async def statics(request: Request, services: TheServices) -> Response:
    """Find an equilibrium with its reactions, its stability, and how much of a load it carries."""
    return await answer("statics", request, services)


@router.post(
    "/linearization",
    response_model=s.LinearizationAnswer,
    openapi_extra={"x-body": "LinearizationRequest"},
)
async def linearization(request: Request, services: TheServices) -> Response:
    """Compute A, B, C, D about a state in minimal coordinates, eigenvalues and modes."""
    return await answer("linearization", request, services)


@router.post(
    "/inverse-kinematics",
    response_model=s.InverseKinematicsAnswer,
    openapi_extra={"x-body": "InverseKinematicsRequest"},
)
async def inverse_kinematics(request: Request, services: TheServices) -> Response:
    """Find joint coordinates that bring points and frames of bodies to targets, within limits."""
    return await answer("inverse-kinematics", request, services)
