"""`/v1/verification`: the verification report of this engine, and its plots."""

import functools
import hashlib
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from cardan.schemas.base import Base
from cardan.schemas.quantities import Boolean
from cardan.service.api.content import not_modified
from cardan.service.api.dependencies import PROBLEMS, refuse_unknown_query
from cardan.service.api.problems import ProblemError

router = APIRouter(
    prefix="/verification",
    tags=["service"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)

# an SVG opened directly may use inline styles and nothing else
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class VerificationRow(Base):
    """One expectation."""

    case: str
    """The problem or law."""
    source: str
    """Where the expected answer is from."""
    what: str
    """What is measured."""
    asked: str
    """Bound or expected value with its tolerance, with the unit."""
    reached: str
    """What the engine reached."""
    ok: Boolean
    """Whether it holds."""


class VerificationPlot(Base):
    """One picture."""

    name: str
    """Name in the address `/v1/verification/plots/{name}`."""
    title: str
    """What it shows."""


class VerificationSection(Base):
    """Cases of one kind."""

    name: str
    """Short name."""
    title: str
    """Heading."""
    intro: str
    """How they are measured."""
    rows: list[VerificationRow]
    """All expectations."""
    plots: list[VerificationPlot]
    """All pictures."""


class VerificationReport(Base):
    """The verification report."""

    engine: str
    """Version of the engine that was measured."""
    sections: list[VerificationSection]
    """In the order of the report."""


@router.get("", response_model=VerificationReport)
def read() -> VerificationReport:
    """The report of this version, written by `make verify`."""
    return _report()


@router.get(
    "/plots/{name}", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}}
)
def plot(name: str, request: Request) -> Response:
    """A picture of the report, as SVG."""
    if name not in {one.name for section in _report().sections for one in section.plots}:
        raise ProblemError(404, "not_found", f"There is no plot {name!r} in the report.")
    data = (_folder() / f"{name}.svg").read_bytes()
    etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
    unchanged = not_modified(request, headers)
    if unchanged is not None:
        return unchanged
    return Response(data, media_type="image/svg+xml", headers=headers)


def _folder() -> Path:
    """Return the folder of the report. Raises ProblemError 404 if it is not installed."""
    folder = Path(str(files("cardan") / "verification"))
    if not (folder / "report.json").is_file():
        raise ProblemError(
            404, "not_found", "This installation came without a verification report."
        )
    return folder


@functools.cache
def _report() -> VerificationReport:
    return VerificationReport.model_validate_json((_folder() / "report.json").read_bytes())
