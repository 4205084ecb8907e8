"""The OpenAPI document: bodies that routes read themselves, and problems as the other answers."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from cardan.schemas import Problem, Scene
from cardan.schemas.api import BatchRequest, SessionRequest, SimulationRequest
from cardan.schemas.complementarity import ComplementarityRequest
from cardan.schemas.dynamics import (
    ConfigurationRequest,
    DynamicsModelRequest,
    ForwardDynamicsRequest,
    InverseDynamicsRequest,
    JacobianRequest,
    MotionRequest,
)
from cardan.schemas.query import ClosestPointsRequest, RaycastRequest
from cardan.schemas.statics import (
    InverseKinematicsRequest,
    LinearizationRequest,
    StaticsRequest,
)
from cardan.service.api.problems import MEDIA_TYPE

BODIES = (
    Scene,
    SimulationRequest,
    BatchRequest,
    SessionRequest,
    RaycastRequest,
    ClosestPointsRequest,
    ComplementarityRequest,
    DynamicsModelRequest,
    ConfigurationRequest,
    MotionRequest,
    InverseDynamicsRequest,
    ForwardDynamicsRequest,
    JacobianRequest,
    StaticsRequest,
    LinearizationRequest,
    InverseKinematicsRequest,
)
REFERENCE = "#/components/schemas/"


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The document, made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        _add_components(document)
        for operations in document["paths"].values():
            for operation in operations.values():
                _complete(operation)
        app.openapi_schema = document
    return app.openapi_schema


def _add_components(document: dict[str, Any]) -> None:
    _, schema = models_json_schema(
        [(model, "validation") for model in (*BODIES, Problem)],
        ref_template=REFERENCE + "{model}",
    )
    components = document.setdefault("components", {}).setdefault("schemas", {})
    for name, definition in schema["$defs"].items():
        components.setdefault(name, definition)


def _complete(operation: dict[str, Any]) -> None:
    body = operation.pop("x-body", None)
    if body is not None:
        choices = [{"$ref": REFERENCE + body}]
        if body == "SimulationRequest":
            choices.append({"$ref": REFERENCE + "Scene"})
        operation["requestBody"] = {
            "required": True,
            "content": {
                "application/json": {
                    "schema": choices[0] if len(choices) == 1 else {"anyOf": choices}
                }
            },
        }
    problem = {MEDIA_TYPE: {"schema": {"$ref": REFERENCE + "Problem"}}}
    responses = operation["responses"]
    # the framework's own error object is never sent
    responses.pop("422", None)
    for status in ("4XX", "5XX"):
        responses[status] = {"description": "A problem (RFC 9457)", "content": problem}
