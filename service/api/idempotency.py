"""Idempotency-Key on POSTs that create: a repeated request returns the resource of the first."""

import functools
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import anyio.to_thread
from fastapi import Request

from cardan.service.api.owners import owner_of
from cardan.service.api.problems import ProblemError, header_problem
from cardan.service.compute.messages import FingerprintOrder
from cardan.service.services import Services
from cardan.service.simulations.admission import KeyInFlightError, KeyReusedError

MAX_KEY_LENGTH = 255


@dataclass
class Ticket:
    """The key of one request: `replayed` is the resource an earlier request with it created."""

    key: str | None
    replayed: str | None = None
    used: bool = False


@asynccontextmanager
async def ticket(request: Request, services: Services) -> AsyncIterator[Ticket]:
    """Reserve the request's key; release it unless the request created a resource.

    Raises ProblemError: 409 while the first request is in progress, 410 when what it created was
    deleted, 422 for other content; and ServiceError for a body that is no JSON.
    """
    headers = request.headers.getlist("idempotency-key")
    if not headers:
        yield Ticket(None)
        return
    header = ", ".join(headers)
    if len(headers) > 1:
        raise _refusal("A request has one Idempotency-Key.", header)
    if not 0 < len(header) <= MAX_KEY_LENGTH:
        raise _refusal("An Idempotency-Key has 1 to 255 characters.", header)
    # keys of other people are other keys
    key = f"{owner_of(request) or ''} {request.scope['path']} {header}"
    body = await request.body()
    # some requests need no body
    content = (await services.compute.answer(FingerprintOrder(body))).body if body else b""
    # the query belongs to the request as much as the body
    query = urlencode(sorted(request.query_params.multi_items()))
    fingerprint = hashlib.sha256(query.encode() + b"\n" + content).hexdigest()
    reserve = functools.partial(services.admission.reserve, key, fingerprint)
    try:
        replayed = await anyio.to_thread.run_sync(reserve)
    except KeyReusedError:
        raise _refusal(
            "This Idempotency-Key was used with another request before.",
            header,
            "idempotency_key_reused",
        ) from None
    except KeyInFlightError:
        raise ProblemError(
            409,
            "idempotency_key_in_flight",
            "The first request with this Idempotency-Key is still being answered.",
            retryable=True,
            headers={"Retry-After": "1"},
        ) from None
    if replayed is not None and not await anyio.to_thread.run_sync(_exists, services, replayed):
        raise ProblemError(
            410,
            "resource_gone",
            f"The first request with this Idempotency-Key created {replayed}, which was deleted; "
            "a fresh key creates another.",
        )
    granted = Ticket(key, replayed)
    try:
        yield granted
    finally:
        if replayed is None and not granted.used:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(services.admission.release, key)


def _exists(services: Services, resource: str) -> bool:
    """Whether what a request made is still there; sessions say themselves what became of them."""
    if resource.startswith("sim_"):
        return services.catalog.run(resource) is not None
    if resource.startswith("batch_"):
        return services.catalog.batch(resource) is not None
    if resource.startswith("study_"):
        return services.studies.rows.get(resource) is not None
    if resource.startswith("scene_"):
        return services.scenes.get(resource) is not None
    return True


def _refusal(message: str, got: str, code: str = "invalid_request") -> ProblemError:
    hint = "Use a fresh key, for example a UUID, for every new request."
    return header_problem("Idempotency-Key", message, got, hint, code)
