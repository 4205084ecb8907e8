"""Connections that send no request, or take no answer, are closed: each costs files and memory."""

import asyncio
import socket

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

REFUSAL = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def timed_protocol(request_s: float, unread_s: float) -> type[H11Protocol]:
    """The protocol of connections whose requests begin within `request_s`, and whose clients take
    something of what they are sent within `unread_s`."""

    class TimedProtocol(H11Protocol):
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
                self.transport.write(REFUSAL)
                self.transport.close()

    return TimedProtocol


def _close_unread(transport: asyncio.Transport, seconds: float) -> None:
    """Have the kernel close a connection whose other end takes nothing: it knows of every byte.

    The option stays with the socket when it becomes a WebSocket. Source: RFC 5482, tcp(7).
    """
    sock = transport.get_extra_info("socket")
    if hasattr(socket, "TCP_USER_TIMEOUT") and sock is not None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000.0 * seconds))
