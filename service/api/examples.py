"""`/v1/examples`: scenes that come with the service."""

import functools
from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from cardan.schemas import load_scene
from cardan.schemas.api import ExampleInfo
from cardan.schemas.base import Base
from cardan.schemas.examples import example_names, example_text
from cardan.schemas.spelling import did_you_mean
from cardan.service.api.dependencies import PROBLEMS, refuse_unknown_query
from cardan.service.api.problems import ProblemError

router = APIRouter(
    prefix="/examples",
    tags=["examples"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)


class ExampleList(Base):
    """All examples."""

    items: list[ExampleInfo]
    """Examples by name."""


@router.get("", response_model=ExampleList)
def listing() -> ExampleList:
    """List the examples."""
    return _examples()


@router.get("/{name}", response_model=dict[str, Any])
def read(name: str) -> Response:
    """The scene of an example, ready to be posted."""
    try:
        return Response(example_text(name), media_type="application/json")
    except KeyError:
        hint = did_you_mean(name, example_names()) or "GET /v1/examples lists them."
        raise ProblemError(404, "not_found", f"There is no example {name!r}. {hint}") from None


@functools.cache
def _examples() -> ExampleList:
    items = []
    for name in example_names():
        scene = load_scene(example_text(name))
        items.append(
            ExampleInfo(
                name=name,
                title=scene.name or name,
                description=scene.description,
                bodies=len(scene.bodies),
                joints=len(scene.joints),
                duration=scene.simulation.duration,
                url=f"/v1/examples/{name}",
            )
        )
    return ExampleList(items=items)
