"""Layers around every route: request id, headers, access control, size of the body.

Plain ASGI, so that streams and sockets pass through unchanged.
"""

import asyncio
import logging
import re
import secrets
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cardan.service import clock, tracing
from cardan.service.api.digits import whole_number
from cardan.service.api.problems import (
    ProblemError,
    from_crash,
    problem_response,
    service_stops,
)
from cardan.service.api.quotas import Quotas, counted_against, headers_for
from cardan.service.api.shares import share_of
from cardan.service.api.tickets import Tickets
from cardan.service.keys import Key, find_cookie, find_key
from cardan.service.metrics import REQUESTS
from cardan.service.settings import Settings

log = logging.getLogger("cardan.access")

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
PLAIN = "identity"
# scheme, host (none with a name of a user before it) and path
ABSOLUTE_FORM = re.compile(rb"(?i:https?|wss?)://([^/?#@]+)(/.*)?", re.DOTALL)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
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
# status in logs and metrics of a request whose client left; no response has it
CLIENT_LEFT = 499


# POSTs that store nothing
COMPUTING = ("/v1/scenes:", "/v1/dynamics/", "/v1/complementarity", "/v1/statics", "/v1/linear")
ASKING = (":raycast", ":closest-points")

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
        scope = in_origin_form(scope)
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if re.fullmatch(r"[\w.-]{1,64}", given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        tracing.note_request(request_id)
        if scope["type"] == "http" and scope["method"] == "HEAD" and may_be_head(scope["path"]):
            # the server drops the body of a response to HEAD
            scope = {**scope, "method": "GET"}
        began = clock.monotonic()
        answered = False

        async def send_with_headers(message: Message) -> None:
            nonlocal answered
            # for a WebSocket: the refusal of its handshake
            if message["type"].endswith("http.response.start"):
                answered = True
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                if message["status"] != NOT_MODIFIED:
                    for name, value in DATA_HEADERS.items():
                        headers.setdefault(name, value)
                _note(request_id, scope, message["status"], clock.monotonic() - began)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except asyncio.CancelledError:
            # by the server, whose time for a graceful shutdown is over
            if answered or scope["type"] == "websocket":
                raise
            await refuse(service_stops(), scope, receive, send_with_headers)
        except ClientDisconnect:
            # the client left before its request was complete: there is nobody to answer
            _note(request_id, scope, CLIENT_LEFT, clock.monotonic() - began)
        except Exception as error:
            if answered or scope["type"] == "websocket":
                raise
            await refuse(from_crash(error, scope), scope, receive, send_with_headers)


def in_origin_form(scope: Scope) -> Scope:
    """Return the request in origin form: with a path, where its target is an absolute URL.

    The host of the URL replaces that of the header. Source: RFC 9112, 3.2.2.
    """
    found = ABSOLUTE_FORM.fullmatch(scope.get("raw_path") or b"")
    if found is None:
        return scope
    host, raw_path = found.group(1), found.group(2) or b"/"
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    headers.append((b"host", host))
    path = unquote(raw_path.decode("latin-1"))
    return {**scope, "path": path, "raw_path": raw_path, "headers": headers}


def _note(request_id: str, scope: Scope, status: int, seconds: float) -> None:
    """Count and log a response; the handshake of a WebSocket is a GET."""
    asked = scope.get("method", "GET")
    method = asked if asked in METHODS else "other"
    REQUESTS.labels(method, f"{status // 100}xx").observe(seconds)
    fields = {"method": asked, "path": scope["path"], "status": status}
    log.info(
        "%s %s %s %d %.1f ms",
        request_id,
        *fields.values(),
        1e3 * seconds,
        extra=fields | {"request": request_id, "seconds": round(seconds, 6)},
    )


def may_be_head(path: str) -> bool:
    """Return whether a GET of this path terminates, so that it can also answer HEAD."""
    return not path.endswith(("/events", "/stream"))


class GuardLayer:
    """Refuses foreign hosts and origins and, if keys are set, requests beyond their key."""

    def __init__(self, app: ASGIApp, settings: Settings, quotas: Quotas, tickets: Tickets) -> None:
        """Wrap the app."""
        self._app = app
        self._keys = sorted(settings.api_keys, key=lambda key: key.name)
        self._quotas = quotas
        self._tickets = tickets
        names = LOOPBACK_NAMES | settings.allowed_hosts | {settings.host}
        self._hosts = names if settings.loopback else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._check_origin(scope, headers)
            await self._admit(scope, headers)
        except ProblemError as problem:
            await refuse(problem, scope, receive, send)
            return

        async def send_with_quota(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                for name, value in headers_for(scope.get("state", {})).items():
                    sent.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_quota)

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if self._hosts is not None and host_name(host) not in self._hosts:
            # a foreign page whose host name resolves to this machine (DNS rebinding)
            raise ProblemError(
                403,
                "unknown_host",
                f"This service does not answer to the host {host!r}; "
                "add it to CARDAN_ALLOWED_HOSTS if it is yours.",
            )
        origin = headers.get("origin")
        writes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if origin is not None and writes and netloc(origin) != host:
            raise ProblemError(
                403, "foreign_origin", f"Pages of {origin!r} may not change anything here."
            )

    async def _admit(self, scope: Scope, headers: Headers) -> None:
        """Find the key or the link of a request, check its scope, count it. Raises ProblemError."""
        path = scope["path"]
        if not self._keys or not (path.startswith("/v1/") or path == "/metrics"):
            return
        state: dict[str, Any] = scope.setdefault("state", {})
        key = self._key_of(scope, headers)
        state["share"] = share = await share_of(scope, headers)
        if key is None and share is not None:
            key = share.key
        if key is None:
            raise ProblemError(
                401,
                "unauthorized",
                "An API key is needed: send it as 'Authorization: Bearer KEY'; "
                "a browser opens the page once as /?key=KEY.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        state["key"], state["api_key"] = key.name, key
        needed = scope_needed(scope)
        if needed not in key.scopes:
            raise ProblemError(
                403,
                "scope_missing",
                f"The key {key.name} has no scope {needed!r}; "
                f"it has: {', '.join(sorted(key.scopes))}.",
            )
        counted_against(state, self._quotas.requests.take(key.name))

    def _key_of(self, scope: Scope, headers: Headers) -> Key | None:
        method, _, given = headers.get("authorization", "").partition(" ")
        if method.lower() == "bearer":
            return find_key(given.strip(), self._keys)
        if scope["type"] == "websocket":
            tickets = parse_qs(scope["query_string"].decode("latin-1")).get("ticket")
            if tickets:
                return self._tickets.redeem(tickets[0], scope["path"])
        cookies = cookie_parser(headers.get("cookie", ""))
        return find_cookie(cookies.get(KEY_COOKIE, ""), self._keys, clock.now())


def scope_needed(scope: Scope) -> str:
    """Return the scope that a request needs."""
    path = scope["path"]
    if path == "/metrics":
        return "metrics"
    if scope["type"] == "websocket" or scope["method"] in SAFE_METHODS:
        return "read"
    if path.endswith("/stream-tickets"):
        return "read"
    return "compute" if path.startswith(COMPUTING) or path.endswith(ASKING) else "write"


class BodyLayer:
    """Refuses bodies that are compressed, beyond the limit with or without a length, or stall."""

    def __init__(self, app: ASGIApp, limit: int, pause_s: float) -> None:
        """Wrap the app; `limit` in bytes, `pause_s` the longest pause within a body."""
        self._app = app
        self._limit = limit
        self._pause_s = pause_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        encoding = headers.get("content-encoding", PLAIN)
        if encoding.strip().lower() != PLAIN:
            await refuse(_encoded(encoding), scope, receive, send)
            return
        if "transfer-encoding" in headers and "content-length" in headers:
            await refuse(_two_lengths(), scope, receive, send)
            return
        announced = headers.get("content-length", "0")
        size = whole_number(announced) if announced.isdecimal() else 0
        if size > self._limit:
            await refuse(self._too_large(size), scope, receive, send)
            return
        seen, whole = 0, False

        async def count() -> Message:
            nonlocal seen, whole
            # after the body, `receive` waits for the end of the connection
            message = await (receive() if whole else self._in_time(receive))
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                whole = not message.get("more_body", False)
                if seen > self._limit:
                    raise self._too_large(seen)
            return message

        await self._app(scope, count, send)

    async def _in_time(self, receive: Receive) -> Message:
        try:
            async with asyncio.timeout(self._pause_s):
                return await receive()
        except TimeoutError:
            raise ProblemError(
                408,
                "body_too_slow",
                f"The body paused for more than {self._pause_s:g} s.",
                headers={"Connection": "close"},
            ) from None

    def _too_large(self, size: int) -> ProblemError:
        return ProblemError(
            413,
            "too_large",
            f"The body has {size} bytes or more; the limit is {self._limit}.",
            limit_bytes=self._limit,
            headers={"Connection": "close"},
        )


def _encoded(encoding: str) -> ProblemError:
    return ProblemError(
        415,
        "unsupported_encoding",
        f"The body must be sent without Content-Encoding, not as {encoding[:80]!r}.",
        headers={"Accept-Encoding": PLAIN, "Connection": "close"},
    )


def _two_lengths() -> ProblemError:
    """Two servers on the way may see such a body end at two places (RFC 9112, 6.1)."""
    return ProblemError(
        400,
        "malformed_request",
        "The body is announced twice, by Content-Length and by Transfer-Encoding.",
        headers={"Connection": "close"},
    )


async def refuse(problem: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond with a problem, to the handshake of a WebSocket as to any other request."""
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
