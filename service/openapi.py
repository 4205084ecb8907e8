"""The OpenAPI document: FastAPI's, completed by `service/api/contract.py`.

Every body, status, header and link is typed; `tests/service/test_contract.py` asks the service for
what the document says.
"""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

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
from cardan.schemas.examples import example_names
from cardan.schemas.query import ClosestPointsRequest, RaycastRequest
from cardan.schemas.statics import (
    InverseKinematicsRequest,
    LinearizationRequest,
    StaticsRequest,
)
from cardan.schemas.study import StudyRequest
from cardan.service.api import contract as c
from cardan.service.api.contract import REFERENCE
from cardan.service.api.problems import MEDIA_TYPE, title_of
from cardan.service.api.sessions import RestoreRequest, SessionPatch
from cardan.service.api.shares import ShareRequest
from cardan.service.api.stored_scenes import RevisionRequest
from cardan.service.intake import STORED
from cardan.service.recordings.formats import FORMATS
from cardan.service.sessions.parse_command import MODELS, SampledStep

BODIES: tuple[type[BaseModel], ...] = (
    Scene,
    SimulationRequest,
    BatchRequest,
    StudyRequest,
    SessionRequest,
    SessionPatch,
    RestoreRequest,
    ShareRequest,
    RevisionRequest,
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
    *MODELS.values(),
    Problem,
)
SCENE = {"$ref": f"{REFERENCE}Scene"}
# it judges whatever it gets
VALIDATION = "/v1/scenes:validate"
# the body of a simulation may be the scene alone
BARE_SCENE = "SimulationRequest"
SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, or the token of a link",
    },
    "cookie": {"type": "apiKey", "in": "cookie", "name": "cardan_key"},
}

Operation = dict[str, Any]


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The document, made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        _add_components(document)
        keys = bool(app.state.settings.api_keys)
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                _complete_request(method, path, operation)
                _complete_answers(method, path, operation, keys=keys)
        _add_links(document["paths"])
        if keys:
            document["components"]["securitySchemes"] = SCHEMES
        app.openapi_schema = document
    return app.openapi_schema


def component_schemas(models: Sequence[type[BaseModel]], mode: JsonSchemaMode) -> dict[str, Any]:
    """The schemas of models and of what they refer to, by name."""
    _, schema = models_json_schema(
        [(model, mode) for model in models], ref_template=REFERENCE + "{model}"
    )
    found: dict[str, Any] = schema["$defs"]
    return found


def _add_components(document: dict[str, Any]) -> None:
    components = document.setdefault("components", {}).setdefault("schemas", {})
    # the framework's own error objects are never sent
    for name in ("HTTPValidationError", "ValidationError"):
        components.pop(name, None)
    found = component_schemas(BODIES, "validation")
    found |= component_schemas(c.ANSWER_MODELS, "serialization") | found
    for name, definition in found.items():
        components[name] = definition
    step = dict(components[SampledStep.__name__])
    step["properties"] = {k: v for k, v in step["properties"].items() if k != "op"}
    step["required"] = []
    components["StepRequest"] = step
    components["SessionCommand"] = {
        "oneOf": [{"$ref": REFERENCE + model.__name__} for model in MODELS.values()],
        "discriminator": {
            "propertyName": "op",
            "mapping": {op: REFERENCE + model.__name__ for op, model in MODELS.items()},
        },
    }
    components["SceneSource"] = {
        "description": "A scene, the name of an example, or the id of a stored scene.",
        "anyOf": [
            SCENE,
            {"type": "string", "enum": list(example_names())},
            {"type": "string", "pattern": f"^{STORED}[0-9a-f]+$"},
        ],
    }
    components["ScenePatch"] = {
        "description": "A JSON Merge Patch (RFC 7396) of a scene.",
        "type": "object",
        "propertyNames": {"enum": list(Scene.model_fields)},
    }
    components["Overrides"] = {
        "description": "Values by JSON Pointer into the scene.",
        "type": "object",
        "propertyNames": {"pattern": "^(/.*)?$"},
    }
    for name, definition in components.items():
        fields = definition.get("properties", {})
        if name == "ImportAnswer":
            fields["scene"] = SCENE
        if name.endswith("Request") and "scene" in fields:
            fields["scene"] = {"$ref": f"{REFERENCE}SceneSource"}
        if name.endswith("Request") and "overrides" in fields:
            fields["overrides"] = {"$ref": f"{REFERENCE}Overrides"}


def _complete_request(method: str, path: str, operation: Operation) -> None:
    name, needed = c.BODIES.get((method, path), (operation.pop("x-body", None), True))
    if name is not None:
        choices = [{"$ref": REFERENCE + name}]
        if name == BARE_SCENE:
            choices.append(SCENE)
        if path == VALIDATION:
            choices.append({"description": "Anything else, which is judged to be wrong."})
        schema = choices[0] if len(choices) == 1 else {"anyOf": choices}
        operation["requestBody"] = {
            "required": needed,
            "content": {c.BODY_TYPES.get((method, path), "application/json"): {"schema": schema}},
        }
    parameters = operation.setdefault("parameters", [])
    media = c.MEDIA.get((method, path), {})
    for parameter in parameters:
        if parameter["name"] == "format" and parameter["in"] == "query":
            known = [form.name for form in FORMATS.values() if form.media_type in media]
            parameter["schema"] = {"type": "string", "enum": known}
        if path == "/v1/examples/{name}" and parameter["name"] == "name":
            parameter["schema"] = {"type": "string", "enum": list(example_names())}
    parameters += [
        {
            "name": header,
            "in": "header",
            "required": header in c.NEEDED_HEADERS.get((method, path), ()),
            **c.REQUEST_HEADERS[header],
        }
        for header in c.request_headers(method, path)
    ]


def _complete_answers(method: str, path: str, operation: Operation, *, keys: bool) -> None:
    answers = _good_answers(method, path, operation)
    statuses = c.implied_statuses(method, path, operation)
    if keys and path.startswith("/v1/"):
        operation["security"] = [{name: []} for name in SCHEMES]
        statuses |= {401, 429}
    problem = {MEDIA_TYPE: {"schema": {"$ref": f"{REFERENCE}Problem"}}}
    for number in sorted(statuses):
        answers[str(number)] = {"description": title_of(number), "content": problem}
    for status, answer in answers.items():
        names = c.response_headers(method, path, status)
        answer["headers"] = {name: c.RESPONSE_HEADERS[name] for name in names}
    operation["responses"] = answers


def _good_answers(method: str, path: str, operation: Operation) -> dict[str, Any]:
    """Answers that are not problems, with their bodies."""
    answers: dict[str, Any] = {
        status: answer
        for status, answer in operation["responses"].items()
        if status[0] in "23" and status != "2XX"
    }
    key = (method, path)
    if key in c.ANSWERS:
        good, model = c.ANSWERS[key]
        answers[str(good)]["content"] = _json({"$ref": REFERENCE + model.__name__})
    if key in c.SCENES:
        answers["200"]["content"] = _json(SCENE)
    if key in c.MEDIA:
        for status in {"200", "206"} & set(answers):
            answers[status]["content"] = c.MEDIA[key]
    if path.startswith(f"{c.SESSION}/frames"):
        answers["200"]["content"]["application/octet-stream"] = {"schema": c.BINARY}
    if "If-None-Match" in c.request_headers(method, path):
        answers.setdefault("304", {"description": "The client has it already"})
    if key in c.EVENTS:
        answers["204"] = {"description": "It has ended, and there are no further events"}
    for status in {"204", "304"} & set(answers):
        answers[status].pop("content", None)
    return answers


def _add_links(paths: dict[str, dict[str, Operation]]) -> None:
    """Link what makes or lists a resource to every operation on it."""
    for (method, path), (parameter, expression) in c.PRODUCERS.items():
        if path not in paths:
            continue
        links = {
            operation["operationId"]: {
                "operationId": operation["operationId"],
                "parameters": {parameter: expression},
            }
            for target, operations in paths.items()
            if f"{{{parameter}}}" in target
            for operation in operations.values()
        }
        for status, answer in paths[path][method]["responses"].items():
            if status in ("200", "201", "202"):
                answer["links"] = links
    for resource in (c.SESSION, c.SIMULATION, c.BATCH, c.SCENE):
        parameter = resource.rpartition("{")[2].rstrip("}")
        share = paths[f"{resource}/shares"]["post"]["responses"]["201"]
        revoke = paths[f"{resource}/shares/{{share_id}}"]["delete"]["operationId"]
        share["links"] = {
            revoke: {
                "operationId": revoke,
                "parameters": {
                    parameter: f"$request.path.{parameter}",
                    "share_id": "$response.body#/id",
                },
            }
        }
    _add_links_of_scenes(paths)
    snapshot = paths[f"{c.SESSION}:snapshot"]["post"]["responses"]["201"]
    restore = paths[f"{c.SESSION}:restore"]["post"]["operationId"]
    snapshot["links"] = {
        restore: {
            "operationId": restore,
            "parameters": {"session_id": "$request.path.session_id"},
            "requestBody": {"snapshot": "$response.body#/id"},
        }
    }


def _add_links_of_scenes(paths: dict[str, dict[str, Operation]]) -> None:
    """Link a stored scene to its changes, with their If-Match, and to what is made from it."""
    created = paths["/v1/scenes"]["post"]["responses"]["201"]
    links = dict(created["links"])
    for method, path in c.CHANGING:
        name = paths[path][method]["operationId"]
        parameters = {"scene_id": "$response.body#/id", "If-Match": "$response.header.ETag"}
        links[name] = {"operationId": name, "parameters": parameters}
    restore, read = (
        paths[path][method]["operationId"]
        for method, path in (("post", f"{c.SCENE}:restore"), ("get", c.REVISION))
    )
    links[restore]["requestBody"] = {"revision": "$response.body#/revision"}
    links[read]["parameters"]["revision"] = "$response.body#/revision"
    for kind in ("simulations", "sessions"):
        name = paths[f"/v1/{kind}"]["post"]["operationId"]
        links[name] = {"operationId": name, "requestBody": {"scene": "$response.body#/id"}}
    created["links"] = links


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
