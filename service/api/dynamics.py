"""`/v1/dynamics`: algorithms in joint coordinates for a scene, for many states in one call."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import BaseModel

from cardan.schemas import dynamics as d
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.intake import read_bytes
from cardan.service.api.named_scenes import answer_about_scene
from cardan.service.compute.dynamics import REQUESTS
from cardan.service.compute.messages import DynamicsOrder
from cardan.service.services import Services

router = APIRouter(
    prefix="/dynamics",
    tags=["dynamics"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)

# answer and description of each operation
ANSWERS: dict[str, tuple[type[BaseModel], str]] = {
    "model": (
        d.DynamicsModelAnswer,
        "Names, order and kinds of the coordinates of a scene, and its initial state.",
    ),
    "inverse": (
        d.InverseDynamicsAnswer,
        "Generalised forces for given accelerations (recursive Newton-Euler).",
    ),
    "forward": (
        d.ForwardDynamicsAnswer,
        "Accelerations under given generalised forces (articulated-body algorithm).",
    ),
    "mass-matrix": (
        d.MassMatrixAnswer,
        "Joint-space inertia matrix (composite-rigid-body algorithm).",
    ),
    "bias": (
        d.BiasForcesAnswer,
        "Gravity, centrifugal and Coriolis forces at given generalised velocities.",
    ),
    "jacobian": (
        d.JacobianAnswer,
        "Jacobian of a point of a body; with `qd` also its time derivative.",
    ),
    "kinematics": (d.KinematicsAnswer, "Poses and velocities of all bodies."),
    "energy": (d.EnergyAnswer, "Kinetic and potential energy."),
    "momentum": (d.MomentumAnswer, "Linear and angular momentum."),
}


async def answer(operation: str, request: Request, services: Services) -> Response:
    """Have a worker read the request, compute, and write the response."""
    order = DynamicsOrder(operation, await read_bytes(request))
    written, _ = await answer_about_scene(request, services, order)
    return Response(written.body, media_type="application/json")


def _add_route(operation: str) -> None:
    answer_model, text = ANSWERS[operation]

    async def route(request: Request, services: TheServices) -> Response:
        return await answer(operation, request, services)

    router.add_api_route(
        f"/{operation}",
        route,
        methods=["POST"],
        name=f"dynamics_{operation.replace('-', '_')}",
        description=text,
        response_model=answer_model,
        openapi_extra={"x-body": REQUESTS[operation].__name__},
    )


for _operation in ANSWERS:
    _add_route(_operation)
