"""`/v1/dynamics`: algorithms in joint coordinates on a scene, arrays of states in one call."""

import functools
from typing import Any

import anyio
import orjson
from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from cardan.schemas import Fault
from cardan.schemas import dynamics as d
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.intake import invalid, located, read_body, read_request, take_scene
from cardan.service.compute import messages as m
from cardan.service.services import Services

router = APIRouter(
    prefix="/dynamics",
    tags=["dynamics"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)

# requests in progress at one time; others wait outside of the thread pool
_turns = anyio.CapacityLimiter(4)

# request and response of each address
OPERATIONS: dict[str, tuple[type[d.DynamicsModelRequest], type, str]] = {
    "model": (
        d.DynamicsModelRequest,
        d.DynamicsModelAnswer,
        "Names, order and kinds of the coordinates of a scene, and its start.",
    ),
    "inverse": (
        d.InverseDynamicsRequest,
        d.InverseDynamicsAnswer,
        "Forces that give accelerations (recursive Newton-Euler).",
    ),
    "forward": (
        d.ForwardDynamicsRequest,
        d.ForwardDynamicsAnswer,
        "Accelerations under forces (articulated bodies).",
    ),
    "mass-matrix": (
        d.ConfigurationRequest,
        d.MassMatrixAnswer,
        "Joint-space inertia (composite bodies).",
    ),
    "bias": (
        d.MotionRequest,
        d.BiasForcesAnswer,
        "Gravity, centrifugal and Coriolis forces of the rates.",
    ),
    "jacobian": (
        d.JacobianRequest,
        d.JacobianAnswer,
        "How rates move a point of a body; with rates also its derivative by time.",
    ),
    "kinematics": (d.MotionRequest, d.KinematicsAnswer, "Poses and velocities of all bodies."),
    "energy": (d.MotionRequest, d.EnergyAnswer, "Kinetic and potential energy."),
    "momentum": (d.MotionRequest, d.MomentumAnswer, "Momentum and angular momentum."),
}


async def answer(operation: str, request: Request, services: Services) -> Response:
    """Read the request, compute in a worker, write the response."""
    model, _, _ = OPERATIONS[operation]
    asked = read_request(model, await read_body(request))
    intake = await run_sync(
        functools.partial(take_scene, asked.scene, services.settings.limits, place="/scene")
    )
    order = m.ComputeOrder(
        intake.text.document, operation, asked.model_dump(exclude={"scene"}, exclude_none=True)
    )
    computed = await run_sync(services.compute.compute, order, limiter=_turns)
    if computed.scene_faults:
        faults = [Fault.model_validate(fault) for fault in computed.scene_faults]
        raise invalid(located(faults, {}, "/scene"))
    if computed.faults:
        raise invalid([Fault.model_validate(fault) for fault in computed.faults], "request")
    body = await run_sync(_written, computed.answer)
    return Response(body, media_type="application/json")


def _written(values: Any) -> bytes:
    return orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)


def _add_route(operation: str) -> None:
    model, answer_model, text = OPERATIONS[operation]

    async def route(request: Request, services: TheServices) -> Response:
        return await answer(operation, request, services)

    router.add_api_route(
        f"/{operation}",
        route,
        methods=["POST"],
        name=f"dynamics_{operation.replace('-', '_')}",
        description=text,
        response_model=answer_model,
        openapi_extra={"x-body": model.__name__},
    )


for _operation in OPERATIONS:
    _add_route(_operation)
