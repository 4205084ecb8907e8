"""Connections that send no request, or take no answer, are closed: each costs files and memory.

What is no HTTP, or comes too late, reaches no route: its refusal is made here, as a problem.
"""

import asyncio
import secrets
import socket
import sys
from asyncio.transports import BaseTransport

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

READ_BYTES = 16 * 1024
# what h11 finds wrong with a request: its form, the length of its head, its transfer encoding
MALFORMED = (400, 431, 501)
# states of h11 in which an answer may begin
UNANSWERED = ("IDLE", "SEND_RESPONSE")
# code of the close of a WebSocket (RFC 6455, 7.4.1)
NOT_UTF8 = 1007


class HttpProtocol(H11Protocol):
    """Refuses what is no HTTP with a problem that says what is wrong with it."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what has just been found wrong, unless an answer has begun."""
        error = sys.exception()
        hint = getattr(error, "error_status_hint", 400)
        status = hint if hint in MALFORMED else 400
        if str(self.conn.our_state) in UNANSWERED:
            detail = f"This is no HTTP request: {error or msg}."
            self.transport.write(refusal(status, "malformed_request", detail))
        # the base class has no cycle before the first request, though its type says so
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None:
            cycle.disconnected = True
        self.transport.close()


def timed_protocol(request_s: float, unread_s: float) -> type[H11Protocol]:
    """The protocol of connections whose requests begin within `request_s`, and whose clients take
    something of what they are sent within `unread_s`."""

    class TimedProtocol(HttpProtocol):
        """Closes a connection when the head of its request takes too long."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            _close_unread(transport, unread_s)
            self._await_head()

        def data_received(self, data: bytes) -> None:
            if self._deadline is None and self._without_request:
                self._await_head()
            super().data_received(data)
            upgraded = self not in self.connections
            if upgraded or not self._without_request:
                self._stop_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        @property
        def _without_request(self) -> bool:
            # the base class has no cycle before the first request, though its type says so
            cycle: RequestResponseCycle | None = self.cycle
            return cycle is None or cycle.response_complete

        def _await_head(self) -> None:
            self._deadline = self.loop.call_later(request_s, self._refuse)

        def _stop_waiting(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _refuse(self) -> None:
            self._deadline = None
            if self._without_request and not self.transport.is_closing():
                detail = f"The head of a request took more than {request_s:g} s."
                self.transport.write(refusal(408, "request_timeout", detail))
                self.transport.close()

    return TimedProtocol


def refusal(status: int, code: str, detail: str) -> bytes:
    """Return the bytes of the last answer of a connection, a problem."""
    # not at the start of the command: the frameworks behind it take a second to import
    from cardan.service.api.problems import ProblemError, problem_response, title_of

    problem = ProblemError(status, code, detail, headers={"Connection": "close"})
    response = problem_response(problem, secrets.token_hex(8))
    head = [f"HTTP/1.1 {status} {title_of(status)}".encode()]
    head += [name + b": " + value for name, value in response.raw_headers]
    return b"\r\n".join([*head, b"", bytes(response.body)])


class SocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket whose handshake may be refused with a problem, as an answer and not a fault."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Read little at once: all that was read is parsed before anybody else has a turn."""
        super().connection_made(transport)
        transport.max_size = READ_BYTES  # type: ignore[attr-defined]

    def send_receive_event_to_app(self) -> None:
        """Hand a message to the app; a text that is no UTF-8 ends the socket (RFC 6455, 8.1)."""
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            self.frames = []
            if not self.close_sent:
                self.conn.fail(NOT_UTF8, "a text must be UTF-8")
                self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    async def send(self, message: ASGISendEvent) -> None:
        """Send what the app says."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            # else the log has an error for each
            self.handshake_complete = True


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _close_unread(transport: asyncio.Transport, seconds: float) -> None:
    """Have the kernel close a connection whose other end takes nothing: it knows of every byte.

    The option stays with the socket when it becomes a WebSocket. Source: RFC 5482, tcp(7).
    """
    sock = transport.get_extra_info("socket")
    if hasattr(socket, "TCP_USER_TIMEOUT") and sock is not None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000.0 * seconds))
