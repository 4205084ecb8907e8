"""Layers around every route: request id, headers, access control, size of the body.

Plain ASGI, so that streams and sockets pass through unchanged.
"""

import hmac
import logging
import re
import secrets
from collections.abc import Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cardan.service import clock
from cardan.service.api.digits import whole_number
from cardan.service.api.problems import ProblemError, from_crash, problem_response
from cardan.service.settings import Settings

log = logging.getLogger("cardan.access")

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# responses are data: browsers must not frame, sniff or run them; the page has its own policy
DATA_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
# browsers copy the headers of a 304 to the stored response, which has these already
NOT_MODIFIED = 304


# the page sends its key as a cookie: with fetch and WebSocket, but not from other sites
KEY_COOKIE = "cardan_key"


class RequestLayer:
    """Adds an id to every request and security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the app."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if re.fullmatch(r"[\w.-]{1,64}", given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        if scope["type"] == "http" and scope["method"] == "HEAD" and may_be_head(scope["path"]):
            # the server drops the body of a response to HEAD
            scope = {**scope, "method": "GET"}
        began = clock.monotonic()
        answered = False

        async def send_with_headers(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                if message["status"] != NOT_MODIFIED:
                    for name, value in DATA_HEADERS.items():
                        headers.setdefault(name, value)
                log.info(
                    "%s %s %s %d %.1f ms",
                    request_id,
                    scope["method"],
                    scope["path"],
                    message["status"],
                    1e3 * (clock.monotonic() - began),
                )
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            if answered or scope["type"] == "websocket":
                raise
            await refuse(from_crash(error, scope), scope, receive, send_with_headers)


def may_be_head(path: str) -> bool:
    """Return whether a GET of this path terminates, so that it can also answer HEAD."""
    return not path.endswith(("/events", "/stream"))


class GuardLayer:
    """Refuses foreign hosts and origins and, if keys are set, requests without one."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        """Wrap the app."""
        self._app = app
        self._keys = [key.encode() for key in sorted(settings.api_keys)]
        names = LOOPBACK_NAMES | settings.allowed_hosts | {settings.host}
        self._hosts = names if settings.loopback else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or refuse it."""
        if scope["type"] in ("http", "websocket"):
            problem = self._objection(scope)
            if problem is not None:
                await refuse(problem, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _objection(self, scope: Scope) -> ProblemError | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts is not None and host_name(host) not in self._hosts:
            # a foreign page whose host name resolves to this machine (DNS rebinding)
            return ProblemError(
                403,
                "unknown_host",
                f"This service does not answer to the host {host!r}; "
                "add it to CARDAN_ALLOWED_HOSTS if it is yours.",
            )
        origin = headers.get("origin")
        writes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if origin is not None and writes and netloc(origin) != host:
            return ProblemError(
                403, "foreign_origin", f"Pages of {origin!r} may not change anything here."
            )
        if self._keys and scope["path"].startswith("/v1/") and not self._has_key(headers):
            return ProblemError(
                401,
                "unauthorized",
                "An API key is needed: send it as 'Authorization: Bearer KEY'; "
                "a browser opens the page once as /?key=KEY.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return None

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return is_key(given.strip(), self._keys)
        cookies = cookie_parser(headers.get("cookie", ""))
        return is_key(cookies.get(KEY_COOKIE, ""), self._keys)


def is_key(given: str, keys: Iterable[bytes]) -> bool:
    """Return whether a text is one of the keys; always compare all, in constant time."""
    matches = [hmac.compare_digest(given.encode(), key) for key in keys]
    return any(matches)


class BodyLayer:
    """Refuses bodies beyond the limit, with or without Content-Length."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        """Wrap the app; `limit` in bytes."""
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        size = whole_number(announced) if announced.isdecimal() else 0
        if size > self._limit:
            await refuse(self._too_large(size), scope, receive, send)
            return
        seen = 0

        async def count() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > self._limit:
                    raise self._too_large(seen)
            return message

        await self._app(scope, count, send)

    def _too_large(self, size: int) -> ProblemError:
        return ProblemError(
            413,
            "too_large",
            f"The body has {size} bytes or more; the limit is {self._limit}.",
            limit_bytes=self._limit,
            headers={"Connection": "close"},
        )


async def refuse(problem: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond with a problem; refuse the handshake of a socket (HTTP 403 on the wire)."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": problem.detail[:120]})
        return
    state: MutableMapping[str, Any] = scope.get("state", {})
    response = problem_response(problem, str(state.get("request_id", "")))
    await response(scope, receive, send)


def netloc(origin: str) -> str | None:
    """Return host and port of an Origin; None if it is no URL."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def host_name(host: str) -> str:
    """Return the name in a Host header, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
