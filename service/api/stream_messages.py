"""Messages of a client to the stream of a session, read and checked."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

import orjson
from fastapi import WebSocket
from pydantic import BaseModel, ValidationError
from starlette.websockets import WebSocketDisconnect

from cardan.schemas import Fault
from cardan.schemas.error import in_short, shown
from cardan.schemas.pointer import to_pointer
from cardan.schemas.stream import ChannelOptions, Subscribe
from cardan.schemas.translate import translate
from cardan.service import clock
from cardan.service.api.problems import ProblemError, fault_problem
from cardan.service.streams.codec import CHANNELS

Model = TypeVar("Model", bound=BaseModel)

HELLO_SECONDS = 10.0
NO_HELLO, UNSUPPORTED_DATA, POLICY_VIOLATION = 4408, 1003, 1008


class ClosedError(Exception):
    """The connection must be closed with a code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        """Keep both."""
        super().__init__(reason)
        self.code = code
        self.reason = reason


async def read_hello(socket: WebSocket) -> dict[str, Any]:
    """Return the first message. Raises ClosedError, WebSocketDisconnect."""
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            hello = await receive_json(socket)
    except TimeoutError as error:
        raise ClosedError(NO_HELLO, f"no hello within {HELLO_SECONDS:g} s") from error
    if hello.get("op") != "hello":
        raise ClosedError(POLICY_VIOLATION, "the first message must be hello")
    return hello


def client_id_of(hello: dict[str, Any]) -> str:
    """Return the name that a client gives itself, or a new one. Raises ClosedError."""
    client_id = hello.get("client_id")
    if client_id is None:
        return clock.new_id("client")
    if not isinstance(client_id, str) or not 0 < len(client_id) <= 200:
        raise ClosedError(POLICY_VIOLATION, "client_id must be a text of 1 to 200 characters")
    return client_id


def channels_of(message: dict[str, Any]) -> tuple[dict[str, float], bool]:
    """Return the channels of a `subscribe` with their rates [Hz], and whether poses are quantised.

    Raises ProblemError (422).
    """
    channels = message.get("channels")
    for name in channels if isinstance(channels, dict) else ():
        if name not in CHANNELS:
            known = ", ".join(sorted(CHANNELS))
            detail = f"There is no channel {name!r}; there are {known}."
            raise _refusal("unknown_channel", ["channels", name], detail, name)
    asked = read_message(Subscribe, message).channels
    options = {name: given or ChannelOptions() for name, given in asked.items()}
    quantised = {name for name, one in options.items() if one.encoding == "quantised"}
    if quantised - {"poses"}:
        wrong = sorted(quantised - {"poses"})
        detail = f"Only poses are quantised, not {', '.join(wrong)}."
        place = ["channels", wrong[0], "encoding"]
        raise _refusal("message_invalid", place, detail, "quantised")
    return {name: one.hz for name, one in options.items()}, "poses" in quantised


def read_message(model: type[Model], message: dict[str, Any]) -> Model:
    """Read a message that is no command; every fault is named. Raises ProblemError (422)."""
    try:
        return model.model_validate(message)
    except ValidationError as error:
        faults = translate(error, model, message)
        listed = [fault.model_dump() for fault in faults]
        detail = in_short(f"message {message['op']}", faults)
        raise ProblemError(422, "message_invalid", detail, errors=listed) from error


def _refusal(code: str, place: Sequence[str | int], message: str, got: str) -> ProblemError:
    """The problem of one fault of a message."""
    fault = Fault(pointer=to_pointer(place), code=code, message=message, got=shown(got))
    return fault_problem(fault, code)


def id_of(message: dict[str, Any]) -> str | None:
    """Return the id that comes back with the answer: a text, whatever else the client sent."""
    found = message.get("id")
    return found if isinstance(found, str) else None


async def receive_json(socket: WebSocket) -> dict[str, Any]:
    """Return the next text message, an object. Raises ClosedError, WebSocketDisconnect."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005), message.get("reason"))
    text = message.get("text")
    if text is None:
        raise ClosedError(UNSUPPORTED_DATA, "messages to the server are JSON text")
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ClosedError(POLICY_VIOLATION, f"not JSON: {error}"[:120]) from error
    if not isinstance(found, dict):
        raise ClosedError(POLICY_VIOLATION, "a message is a JSON object")
    return found
