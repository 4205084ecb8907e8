"""`POST /v1/complementarity`: one problem in, its measured solution out; nothing is stored."""

import functools
import json
from typing import Any

import anyio
import anyio.to_thread
from fastapi import APIRouter, Depends, Request

from cardan.schemas.complementarity import MAX_UNKNOWNS, TIME_LIMIT_S, ComplementarityAnswer
from cardan.schemas.complementarity_check import read_problem
from cardan.schemas.error import Fault, SceneInvalid
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.intake import invalid, read_body

router = APIRouter(
    prefix="/complementarity",
    tags=["complementarity"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)

# problems in progress at one time; others wait outside of the thread pool
_turns = anyio.CapacityLimiter(2)


@router.post(
    "",
    response_model=ComplementarityAnswer,
    openapi_extra={"x-body": "ComplementarityRequest"},
)
async def solve(request: Request, services: TheServices) -> dict[str, Any]:
    """Solve a linear system, LCP, mixed or box LCP, contacts (Coulomb or relaxed), LP or QP.

    A problem without a solution is answered with `status` `no_solution` and a proof in
    `certificate`, or `not_found` without a proof. The fields of `problem` may also be given at the
    top level beside `solver`.
    """
    # serialising large matrices takes time: keep the event loop free
    asked = await anyio.to_thread.run_sync(_checked, await read_body(request))
    ask = functools.partial(services.solver.solve, asked, within_s=TIME_LIMIT_S)
    found = await anyio.to_thread.run_sync(ask, limiter=_turns)
    if found.faults:
        raise invalid([Fault.model_validate(fault) for fault in found.faults], "request")
    return dict(found.answer or {})


def _checked(document: Any) -> str:
    """Return the validated request as JSON. Raises ProblemError 422 with every fault."""
    try:
        read_problem(document, MAX_UNKNOWNS)
    except SceneInvalid as error:
        raise invalid(error.errors, "request") from error
    return json.dumps(document)
