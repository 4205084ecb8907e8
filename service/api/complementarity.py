"""`POST /v1/complementarity`: one problem in, its measured solution out; nothing is stored."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from cardan.schemas.complementarity import TIME_LIMIT_S, ComplementarityAnswer
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.intake import read_bytes
from cardan.service.compute.messages import SolveOrder

router = APIRouter(
    prefix="/complementarity",
    tags=["complementarity"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)


@router.post(
    "",
    response_model=ComplementarityAnswer,
    openapi_extra={"x-body": "ComplementarityRequest"},
)
async def solve(request: Request, services: TheServices) -> Response:
    """Solve a linear system, LCP, mixed or box LCP, contacts (Coulomb or relaxed), LP or QP.

    A problem without a solution is answered with `status` `no_solution` and a proof in
    `certificate`, or `not_found` without a proof. The fields of `problem` may also be given at the
    top level beside `solver`.
    """
    order = SolveOrder(await read_bytes(request))
    written = await services.compute.answer(order, within_s=TIME_LIMIT_S)
    return Response(written.body, media_type="application/json")
