"""`/asyncapi.json`: the messages of `cardan.v1` over the WebSocket, from their models."""

import functools
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from cardan import __version__
from cardan.schemas import stream as s
from cardan.service.api.contract import REFERENCE
from cardan.service.api.stream import PROTOCOL
from cardan.service.sessions.parse_command import CONTROL_MODELS, MODELS, VIEWER_MODELS

router = APIRouter(include_in_schema=False)

FROM_CLIENT: tuple[type[BaseModel], ...] = (
    s.Hello,
    s.Subscribe,
    s.Ack,
    *MODELS.values(),
    *CONTROL_MODELS.values(),
    *VIEWER_MODELS.values(),
)
FROM_SERVICE: tuple[type[BaseModel], ...] = (
    s.Welcome,
    s.StreamResult,
    s.StreamError,
    s.StreamEvent,
)
CHANNEL = {"$ref": "#/channels/stream"}
FRAME = {
    "name": "frame",
    "contentType": "application/octet-stream",
    "summary": "A frame: 40 bytes of header, then tagged blocks, little endian (schemas/frame.py)",
    "payload": {"type": "string", "contentEncoding": "binary"},
}


@router.get("/asyncapi.json")
def read() -> dict[str, Any]:
    """The AsyncAPI document of the stream."""
    return asyncapi_document()


@functools.cache
def asyncapi_document() -> dict[str, Any]:
    """The document (AsyncAPI 3.0)."""
    _, schema = models_json_schema(
        [(model, "validation") for model in (*FROM_CLIENT, *FROM_SERVICE)],
        ref_template=REFERENCE + "{model}",
    )
    messages = {model.__name__: _message(model) for model in (*FROM_CLIENT, *FROM_SERVICE)}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Cardan, live sessions",
            "version": __version__,
            "description": f"WebSocket with the subprotocol {PROTOCOL}: text is JSON, binary is "
            "frames. The first message of a client is hello.",
        },
        "channels": {
            "stream": {
                "address": "/v1/sessions/{session_id}/stream",
                "parameters": {"session_id": {"description": "Id of a session"}},
                "messages": {name: {"$ref": _place(name)} for name in (*messages, "Frame")},
                "bindings": {
                    "ws": {
                        "method": "GET",
                        "query": {
                            "type": "object",
                            "properties": {"ticket": {"type": "string"}},
                        },
                    }
                },
            }
        },
        # as the service sees it: it receives what clients send
        "operations": {
            "receive": _operation("receive", [model.__name__ for model in FROM_CLIENT]),
            "send": _operation("send", [*(model.__name__ for model in FROM_SERVICE), "Frame"]),
        },
        "components": {"messages": {**messages, "Frame": FRAME}, "schemas": schema["$defs"]},
    }


def _message(model: type[Any]) -> dict[str, Any]:
    return {
        "name": model.__name__,
        "contentType": "application/json",
        "summary": (model.__doc__ or "").partition("\n")[0],
        "payload": {"$ref": REFERENCE + model.__name__},
    }


def _operation(action: str, names: list[str]) -> dict[str, Any]:
    messages = [{"$ref": f"#/channels/stream/messages/{name}"} for name in names]
    return {"action": action, "channel": CHANNEL, "messages": messages}


def _place(name: str) -> str:
    return f"#/components/messages/{name}"
