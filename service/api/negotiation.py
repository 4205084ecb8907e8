"""The file format of a response: `?format=` first, then `Accept`."""

from collections.abc import Mapping

from fastapi import Request

from cardan.service.api.problems import ProblemError
from cardan.service.recordings.formats import FORMATS, Format

ALIASES: Mapping[str, str] = {
    "application/vnd.apache.parquet": "parquet",
    "application/parquet": "parquet",
    "application/x-parquet": "parquet",
    "application/x-npz": "npz",
    "application/zip": "npz",
    "text/csv": "csv",
    "application/json": "json",
    "application/vnd.apache.arrow.stream": "arrow",
    "application/x-hdf5": "hdf5",
    "application/x-mcap": "mcap",
    "model/gltf-binary": "gltf",
    "model/vnd.usda": "usda",
}


def wanted_format(request: Request, name: str | None, among: tuple[str, ...] = ()) -> Format:
    """Return the format of the response: the one named, else by the Accept header, else Parquet.

    Raises ProblemError 406, which lists the formats.
    """
    offered = among or tuple(FORMATS)
    if name is not None:
        if name in offered:
            return FORMATS[name]
        raise _refusal(f"There is no format {name!r}.", offered)
    # an empty one asks for nothing in particular
    header = request.headers.get("accept", "").strip() or "*/*"
    for media_type in _by_preference(header):
        if media_type in ("*/*", "application/*"):
            return FORMATS["parquet"]
        found = ALIASES.get(media_type)
        if media_type == "text/*":
            found = "csv"
        if found in offered:
            return FORMATS[found]
    raise _refusal(f"None of {header!r} can be served.", offered)


def _by_preference(header: str) -> list[str]:
    """Return the media types of an Accept header, best first, without those with q=0."""
    weighted = []
    for place, item in enumerate(header.split(",")):
        media_type, *parameters = [part.strip().lower() for part in item.split(";")]
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    weight = float(parameter[2:])
                except ValueError:
                    weight = 0.0
        if weight > 0.0:
            weighted.append((-weight, place, media_type))
    return [media_type for _, _, media_type in sorted(weighted)]


def _refusal(reason: str, offered: tuple[str, ...]) -> ProblemError:
    listed = ", ".join(f"{name} ({FORMATS[name].media_type})" for name in offered)
    return ProblemError(
        406, "not_acceptable", f"{reason} There are: {listed}.", formats=list(offered)
    )
