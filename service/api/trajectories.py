"""`/v1/simulations/{id}/trajectory`: the recording as a file, whole or in part."""

import re
from pathlib import Path
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from cardan.service.api.content import answer, caching, not_modified
from cardan.service.api.dependencies import PROBLEMS, TheServices, refuse_unknown_query
from cardan.service.api.negotiation import wanted_format
from cardan.service.api.preconditions import check_match
from cardan.service.api.problems import ProblemError
from cardan.service.api.resource_route import ResourceRoute
from cardan.service.api.simulations import known_run, nothing_yet, refuse_when_full
from cardan.service.compute.encoding import refused_slice
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.recordings.formats import FORMATS, Format
from cardan.service.recordings.slices import Slice, SliceError
from cardan.service.recordings.tables import TABLES
from cardan.service.services import Services
from cardan.service.simulations.catalog import Row
from cardan.service.simulations.replays import ReplayError
from cardan.service.simulations.states import RunState

NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)')

router = APIRouter(
    route_class=ResourceRoute,
    prefix="/simulations",
    tags=["simulations"],
    responses=PROBLEMS,
    dependencies=[Depends(refuse_unknown_query)],
)

# how long a request waits for a run that is simulated again
REPLAY_SECONDS = 30.0


def part_of(
    start: Annotated[
        float | None, Query(alias="from", allow_inf_nan=False, description="first time [s]")
    ] = None,
    end: Annotated[
        float | None, Query(alias="to", allow_inf_nan=False, description="last time [s]")
    ] = None,
    stride: Annotated[int, Query(ge=1, description="every n-th frame")] = 1,
    bodies: Annotated[
        str | None,
        Query(description="names, separated by commas; one that has a comma in double quotes"),
    ] = None,
    channels: Annotated[
        str | None,
        Query(description="pose, velocity, joints, contacts, energy, momentum, solver, events"),
    ] = None,
) -> Slice:
    """Return the requested slice. Raises ProblemError 422."""
    part = Slice(start, end, stride, _names(bodies), _names(channels))
    try:
        part.check()
    except SliceError as error:
        raise refused_slice(error) from error
    return part


@router.get(
    "/{simulation_id}/trajectory",
    response_class=Response,
    responses={
        200: {
            "description": "The recording",
            "content": {form.media_type: {} for form in FORMATS.values()},
        },
        206: {"description": "The range that was asked for"},
        304: {"description": "The client has it already"},
        307: {
            "description": "A whole table lies in a store; the link to it is good for some minutes",
            "headers": {"Location": {"schema": {"type": "string", "format": "uri"}}},
        },
    },
)
def trajectory(
    simulation_id: str,
    request: Request,
    services: TheServices,
    part: Annotated[Slice, Depends(part_of)],
    form_name: Annotated[
        str | None,
        Query(
            alias="format",
            description="parquet (default), npz, csv, json, arrow, hdf5, mcap, gltf, usda, html",
        ),
    ] = None,
    table: Annotated[
        str | None,
        Query(description="of one-table formats: bodies (default), joints, contacts, energy, ..."),
    ] = None,
) -> Response:
    """The recording, also of a failed or cancelled run. Poses are in W, quaternions [w, x, y, z].

    A run of a batch that stored none (`record`) is simulated again, with the same bits; 503 with
    Retry-After while that takes longer than a request may wait.

    Parquet, Arrow and CSV hold one table, NPZ, JSON and HDF5 all, with units, frames and versions.
    MCAP (for Foxglove), glTF, USD (text) and HTML (a page that plays without a server) show the
    motion: the shapes of the scene, moved in time.
    """
    row = known_run(services, simulation_id)
    form = wanted_format(request, form_name)
    name = chosen_table(part, table)
    if not form.whole and name not in part.tables():
        raise _unknown_table(name, part.tables())
    try:
        return _recorded(request, services, row, form, name, part)
    except ServiceError as error:
        now = known_run(services, simulation_id)
        if error.code is not ErrorCode.RESULT_GONE or now["result"] == row["result"]:
            raise
    # it was removed to make room while this request waited
    return _recorded(request, services, now, form, name, part)


def _recorded(
    request: Request, services: Services, row: Row, form: Format, name: str, part: Slice
) -> Response:
    """The recording of a run as a file, made again if there is none. Raises ServiceError."""
    result = row["result"] or _made_again(services, row)
    folder = services.results.described(result)
    etag = f'"{services.downloads.tag(folder, form, "" if form.whole else name, part)}"'
    check_match(request, etag, required=False)
    unchanged = not_modified(request, caching(etag))
    if unchanged is not None:
        return unchanged
    link = _link(services, folder, form, name, part)
    if link is not None:
        # the client has the link for its minutes; whether the recording changed is asked here
        return RedirectResponse(link, 307, headers=caching(etag))
    suffix = "" if form.whole else f"-{name}"
    return answer(
        request,
        _content(services, services.results.folder(result), form, name, part),
        etag=etag,
        media_type=form.media_type,
        file_name=f"{row['id']}{suffix}{form.ending}",
    )


def _made_again(services: Services, row: Row) -> str:
    """Make the recording of a run that ended without one; return its name."""
    if row["summary"] is None or row["state"] not in (RunState.SUCCEEDED, RunState.FAILED):
        raise nothing_yet(row, "trajectory")
    refuse_when_full(services)
    try:
        return services.replayed(row, REPLAY_SECONDS)
    except TimeoutError as error:
        raise ProblemError(
            503,
            "recording_in_progress",
            "The run is being simulated again for its trajectory; ask again.",
            retryable=True,
            headers={"Retry-After": "5"},
        ) from error
    except ReplayError as error:
        raise ProblemError(
            409, "not_repeatable", f"The run stored no trajectory and cannot be repeated: {error}."
        ) from error


def chosen_table(part: Slice, table: str | None) -> str:
    """Return the table of a one-table format: the requested one, or the first of the channels."""
    if table is not None:
        if table not in TABLES:
            raise _unknown_table(table, TABLES)
        return table
    return part.tables()[0]


def _link(services: Services, folder: Path, form: Format, table: str, part: Slice) -> str | None:
    """The address of what is stored as it is wanted, where others have access to it."""
    file = f"{table}.parquet"
    if form.name != "parquet" or not part.whole or file not in services.downloads.sums(folder):
        return None
    return services.results.link(folder.name, file)


def _content(services: Services, folder: Path, form: Format, table: str, part: Slice) -> BinaryIO:
    if folder.is_dir() and not form.whole and not (folder / f"{table}.parquet").exists():
        raise _unknown_table(table, tuple(sorted(file.stem for file in folder.glob("*.parquet"))))
    return services.downloads.opened(folder, form, table, part)


def _unknown_table(table: str, tables: tuple[str, ...]) -> ProblemError:
    listed = ", ".join(tables) or "none"
    fault = {
        "pointer": "/query/table",
        "code": "no_such_table",
        "message": f"There is no table {table!r} here; there are: {listed}.",
        "got": table,
        "hint": "What is recorded is chosen by record.channels of the scene.",
    }
    return ProblemError(422, "no_such_table", fault["message"] or "", errors=[fault])


def _names(text: str | None) -> tuple[str, ...]:
    """Names as a line of CSV has them: one in double quotes may have commas."""
    found = (
        quoted.replace('""', '"') or plain.strip() for quoted, plain in NAME.findall(text or "")
    )
    return tuple(name for name in found if name)
