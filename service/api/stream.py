"""`GET /v1/sessions/{id}/stream`: the WebSocket protocol `cardan.v1`.

Text is JSON, binary is frames (`cardan.schemas.frame`). The client sends `hello`, the server
`welcome`; then the client subscribes to channels, acknowledges rendered frames and sends
commands.
Every viewer may send commands, unless one of them has taken control; those of all clients enter
one queue in order of arrival.
"""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from cardan.schemas.command import CommandBase
from cardan.schemas.stream import Ack
from cardan.service import clock
from cardan.service.api.problems import ProblemError, from_service, problem_body, request_id_of
from cardan.service.api.sessions import tell
from cardan.service.api.shares import watched_by
from cardan.service.api.stream_messages import (
    POLICY_VIOLATION,
    ClosedError,
    channels_of,
    client_id_of,
    id_of,
    read_hello,
    read_message,
    receive_json,
)
from cardan.service.api.tickets import only_watches, refuse_watchers
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.sessions.live_session import LiveSession
from cardan.service.sessions.messages import Result
from cardan.service.sessions.parse_command import (
    CONTROL_MODELS,
    MODELS,
    VIEWER_MODELS,
    check_series,
    parse_command,
)
from cardan.service.sessions.registry import Sessions
from cardan.service.sessions.replay_messages import FrameAt
from cardan.service.shares import Share
from cardan.service.streams import codec
from cardan.service.streams.codec import CHANNELS, SharedFrame
from cardan.service.streams.pace import MessagePace
from cardan.service.streams.viewer import MAX_HZ, MAX_TEXTS, TRY_AGAIN_LATER, WINDOW, Viewer

router = APIRouter()

PROTOCOL = "cardan.v1"
CLOSE_SECONDS = 2.0
MAX_IN_FLIGHT = 256
WRONG_PROTOCOL, NO_SESSION, SESSION_OVER = 4400, 4404, 4410
STREAM_MODELS: dict[str, type[CommandBase]] = {
    **MODELS,
    **CONTROL_MODELS,
    **VIEWER_MODELS,
}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@router.websocket("/sessions/{session_id}/stream")
async def stream(socket: WebSocket, session_id: str) -> None:
    """Stream a session to one viewer and accept its commands."""
    if not origin_allowed(socket.headers.get("origin"), socket.headers.get("host")):
        await socket.close(POLICY_VIOLATION, "this Origin is not allowed")
        return
    offered = socket.scope.get("subprotocols") or []
    await socket.accept(PROTOCOL if PROTOCOL in offered else None)
    viewer: Viewer | None = None
    try:
        if PROTOCOL not in offered:
            theirs = ", ".join(offered) or "nothing"
            reason = f"the server speaks {PROTOCOL}, the client offered {theirs}"
            raise ClosedError(WRONG_PROTOCOL, reason)
        session = _session(socket, session_id)
        hello = await read_hello(socket)
        await session.open()
        # it may have ended while its viewer was awaited, and then nothing would ever come of it
        _session(socket, session_id)
        viewer = Viewer(client_id_of(hello), clock.monotonic)
        await Connection(socket, session, viewer).run(hello)
    except ClosedError as closed:
        await _close(socket, closed)
    except WebSocketDisconnect:
        return


def origin_allowed(origin: str | None, host: str | None) -> bool:
    """Return whether this origin may connect: no browser, the same host, or this machine."""
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.hostname in LOOPBACK:
        return True
    return host is not None and parts.netloc.lower() == host.lower()


class Connection:
    """One viewer's socket: a task that receives, a task that sends."""

    def __init__(self, socket: WebSocket, session: LiveSession, viewer: Viewer) -> None:
        """Serve a viewer of a session over a socket that was accepted."""
        self._socket = socket
        self._sessions: Sessions = socket.app.state.sessions
        self._session = session
        self._viewer = viewer
        self._sought: tuple[asyncio.Task[None], Any] | None = None
        self._in_flight: set[asyncio.Task[None]] = set()

    async def run(self, hello: dict[str, Any]) -> None:
        """Run until either side closes. Raises ClosedError or WebSocketDisconnect."""
        session, viewer = self._session, self._viewer
        self._welcome(hello.get("resume"))
        session.join(viewer)
        tasks = {
            asyncio.create_task(self._receive()),
            asyncio.create_task(self.send()),
            asyncio.create_task(self._overflow()),
        }
        share = watched_by(self._socket.scope)
        if share is not None:
            tasks.add(asyncio.create_task(self._until_over(share)))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            session.leave(viewer)
            tasks |= self._in_flight
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    def _welcome(self, resume: Any) -> None:
        session, viewer = self._session, self._viewer
        progress = session.progress
        message: dict[str, Any] = {
            "op": "welcome",
            "protocol": PROTOCOL,
            "session": session.id,
            "scene_url": f"/v1/sessions/{session.id}/scene",
            "epoch": session.epoch,
            "step": progress.step,
            "time": progress.time,
            "time_step": progress.time_step,
            "total_steps": progress.total_steps,
            "state": str(session.phase),
            "speed": progress.speed,
            "failure": session.failure,
            "role": self._role(),
            "control": session.control.holder,
            "client_id": viewer.client_id,
            "history": session.kept_history,
            "forked_from": session.about.forked_from,
            "channels": sorted(CHANNELS),
            "limits": {"window": WINDOW, "max_hz": MAX_HZ, "queued_messages": MAX_TEXTS},
            "body_names": progress.body_names,
            "joint_names": progress.joint_names,
        }
        missed: list[dict[str, Any]] = []
        if resume is not None:
            missed, message["gap"] = self._missed(resume)
        viewer.push(message)
        for event in missed:
            viewer.push(event)
        viewer.gap = bool(message.get("gap"))

    def _role(self) -> str:
        """What this client may do now."""
        held = self._session.control.holder not in (None, self._viewer.client_id)
        return "view" if held or only_watches(self._socket.scope) else "control"

    def _missed(self, resume: Any) -> tuple[list[dict[str, Any]], bool]:
        """Return events since the client's last frame, and whether it misses frames or events."""
        try:
            epoch, sequence = int(resume["epoch"]), int(resume["sequence"])
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            reason = "resume needs {epoch, sequence} as whole numbers"
            raise ClosedError(POLICY_VIOLATION, reason) from error
        events, forgotten = self._session.fanout.missed(epoch, sequence)
        most = MAX_TEXTS // 2
        gap = forgotten or len(events) > most or not self._session.history.holds(epoch, sequence)
        return events[-most:], gap

    async def send(self) -> None:
        """Send what waits for the viewer. Raises ClosedError or WebSocketDisconnect."""
        viewer, socket = self._viewer, self._socket
        while True:
            try:
                while (text := viewer.next_text()) is not None:
                    await socket.send_text(text)
                if viewer.closing is not None:
                    raise ClosedError(*viewer.closing)
                data = viewer.next_frame()
                if data is None:
                    await viewer.wait()
                else:
                    await socket.send_bytes(data)
            except RuntimeError as error:
                # the server has just closed it, over a frame that breaks the protocol
                raise WebSocketDisconnect(1006) from error

    async def _overflow(self) -> None:
        """Close a viewer whose socket accepts no more data, since its sender is blocked."""
        await self._viewer.overflow.wait()
        raise ClosedError(TRY_AGAIN_LATER, f"{MAX_TEXTS} messages were waiting unread")

    async def _until_over(self, share: Share) -> None:
        """Close a viewer who came by a link, when it has expired or was revoked."""
        await self._socket.app.state.services.shares.over(share)
        raise ClosedError(SESSION_OVER, "the link has expired or was revoked")

    async def _receive(self) -> None:
        pace = MessagePace(clock.monotonic)
        while True:
            self._take(await receive_json(self._socket))
            # thousands may have come together: everybody else gets a turn between two of them
            await asyncio.sleep(pace.take())

    def _take(self, message: dict[str, Any]) -> None:
        op, request_id = message.get("op"), id_of(message)
        try:
            match op:
                case "ack":
                    self._acknowledge(message)
                case "subscribe":
                    self._subscribe(message)
                case "hello":
                    raise ProblemError(409, "already_welcome", "hello is said once.")
                case _:
                    self._command(message, request_id)
        except ProblemError as problem:
            self._refuse(request_id, problem)
        except ServiceError as error:
            self._refuse(request_id, from_service(error))

    def _acknowledge(self, message: dict[str, Any]) -> None:
        self._viewer.acknowledge(read_message(Ack, message).sequence)

    def _subscribe(self, message: dict[str, Any]) -> None:
        rates, quantised = channels_of(message)
        self._viewer.subscribe(rates, quantised=quantised)
        self._session.touch()
        self._session.fanout.refresh()
        newest = self._session.history.newest
        if newest is not None and self._viewer.live:
            self._viewer.show(newest)
        if "id" in message:
            self._answer(message["id"], self._now())

    def _command(self, message: dict[str, Any], request_id: Any) -> None:
        op, arguments = parse_command(message, STREAM_MODELS)
        if op not in VIEWER_MODELS:
            refuse_watchers(self._socket.scope)
        check_series(arguments, len(self._session.progress.body_names))
        if op in VIEWER_MODELS:
            self._give_up_seek()
        if op == "seek":
            self._seek(arguments["step"], arguments["exact"], request_id)
            return
        if op in CONTROL_MODELS:
            self._session.control.change(op, self._viewer.client_id)
            self._answer(request_id, self._now())
            return
        if op == "live":
            self._viewer.live = True
            if self._session.history.newest is not None:
                self._viewer.show(self._session.history.newest)
            self._answer(request_id, self._now())
            return
        self._session.control.check(self._viewer.client_id)
        if len(self._in_flight) >= MAX_IN_FLIGHT:
            detail = f"{MAX_IN_FLIGHT} commands of this client wait for their result."
            raise ProblemError(429, "too_many_commands", detail)
        answer = self._session.submit(op, arguments, viewer=self._viewer)
        self._start(self._await(answer, request_id))

    def _start(self, answering: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(answering)
        self._in_flight.add(task)
        task.add_done_callback(self._in_flight.discard)
        return task

    async def _await(self, answer: asyncio.Future[Result], request_id: Any) -> None:
        result = await answer
        if result.problem is not None:
            self._refuse(request_id, from_service(ServiceError.of(result.problem)))
        else:
            self._answer(request_id, tell(result))

    def _seek(self, step: int, exact: bool, request_id: Any) -> None:
        session, viewer = self._session, self._viewer
        kept = session.history.at(step)
        if exact or kept is None or kept.step > step:
            # frames are kept since the service was started; before that there are exact ones only
            session.check_step(step)
            viewer.live = False
            self._sought = self._start(self._seek_exactly(step, request_id)), request_id
            return
        viewer.live = False
        viewer.show(kept)
        self._answer(request_id, self._shown(kept, exact=kept.step == step))

    async def _seek_exactly(self, step: int, request_id: Any) -> None:
        """Show exactly this step, and answer; a later seek cancels it."""
        session = self._session
        try:
            found = await self._sessions.past(session, FrameAt(0, session.epoch, step))
        except ServiceError as error:
            self._refuse(request_id, from_service(error))
            return
        frame = codec.split(found.body).numbered(session.sequence)
        self._viewer.show(frame)
        self._answer(request_id, self._shown(frame, exact=True))

    def _give_up_seek(self) -> None:
        """Answer a seek that was not answered yet: another one took its place."""
        if self._sought is None:
            return
        (task, request_id), self._sought = self._sought, None
        if not task.done():
            task.cancel()
            detail = "A later seek or live replaced this one."
            self._refuse(request_id, ProblemError(409, "superseded", detail))

    def _shown(self, frame: SharedFrame, *, exact: bool) -> dict[str, Any]:
        shown = {"shown_step": frame.step, "shown_time": frame.header.time, "exact": exact}
        return {**self._now(), **shown}

    def _now(self) -> dict[str, Any]:
        progress = self._session.progress
        return {
            "op": "result",
            "applied_step": progress.step,
            "step": progress.step,
            "time": progress.time,
        }

    def _answer(self, request_id: Any, result: dict[str, Any]) -> None:
        self._viewer.push({**result, "id": request_id})

    def _refuse(self, request_id: Any, problem: ProblemError) -> None:
        body = problem_body(problem, request_id_of(self._socket.scope))
        self._viewer.push({"op": "error", "id": request_id, "problem": body})


def _session(socket: WebSocket, session_id: str) -> LiveSession:
    sessions: Sessions = socket.app.state.sessions
    try:
        return sessions.get(session_id)
    except ServiceError as error:
        over = error.code is ErrorCode.SESSION_CLOSED
        raise ClosedError(SESSION_OVER if over else NO_SESSION, error.detail) from error


async def _close(socket: WebSocket, closed: ClosedError) -> None:
    if socket.client_state is not WebSocketState.CONNECTED:
        return
    with contextlib.suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
        async with asyncio.timeout(CLOSE_SECONDS):
            await socket.close(closed.code, closed.reason.encode()[:120].decode(errors="ignore"))
