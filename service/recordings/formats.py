"""One recording as bytes: Parquet and CSV hold one table, NPZ and JSON hold all.

The same recording always gives the same bytes, so that an ETag can be strong.
"""

import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from cardan.service.recordings.encoders import (
    CSV_PREFIX,
    dump_json,
    write_csv,
    write_json,
    write_npz,
)
from cardan.service.recordings.encoders import write_parquet as write_chunks
from cardan.service.recordings.sources import Recording, loaded
from cardan.service.recordings.tables import METADATA_KEY, Tables, from_columns, to_numpy

__all__ = [
    "FORMATS",
    "Format",
    "FormatError",
    "decode",
    "dump_json",
    "encode",
    "format_of",
    "write",
]


@dataclass(frozen=True)
class Format:
    """A file format: its name, ending, media type, and whether it holds all tables."""

    name: str
    media_type: str
    whole: bool

    @property
    def ending(self) -> str:
        """The ending of file names."""
        return f".{self.name}"


FORMATS: Mapping[str, Format] = {
    "parquet": Format("parquet", "application/vnd.apache.parquet", whole=False),
    "npz": Format("npz", "application/x-npz", whole=True),
    "csv": Format("csv", "text/csv", whole=False),
    "json": Format("json", "application/json", whole=True),
}


class FormatError(ValueError):
    """A file or a request names a format or a table that does not exist."""


def format_of(path: Path) -> Format:
    """The format by the ending of a file name. Raises FormatError."""
    found = FORMATS.get(path.suffix.lower().lstrip("."))
    if found is None:
        raise FormatError(
            f"no format is known for the ending {path.suffix!r} of {path.name}; "
            "there are .parquet (bodies), .npz (everything), .csv (bodies), .json (everything), "
            "or a folder (everything)"
        )
    return found


def encode(recording: Tables, form: Format, table: str = "bodies") -> bytes:
    """The bytes of a recording in memory. Raises FormatError when the table was not recorded."""
    sink = io.BytesIO()
    write(loaded(recording), form, table, sink)
    return sink.getvalue()


def write(recording: Recording, form: Format, table: str, sink: IO[bytes]) -> None:
    """Write a recording chunk by chunk. Raises FormatError when the table was not recorded."""
    if form.name == "npz":
        write_npz(recording, sink)
    elif form.name == "json":
        write_json(recording, sink)
    elif table not in recording.sources:
        there = ", ".join(recording.sources) or "none"
        raise FormatError(f"this recording has no table {table!r}; it has {there}")
    elif form.name == "parquet":
        write_chunks(recording, table, sink)
    else:
        write_csv(recording, table, sink)


def decode(path: Path) -> Tables:
    """Read a recording back from a file. Raises FormatError, OSError or ValueError."""
    form = format_of(path)
    reader = {"parquet": _read_parquet, "npz": _read_npz, "csv": _read_csv, "json": _read_json}
    return reader[form.name](path)


def write_parquet(recording: Tables, table: str, sink: Any) -> None:
    """One table as Parquet."""
    write_chunks(loaded(recording), table, sink)


def table_from_parquet(source: Any) -> tuple[pa.Table, dict[str, Any]]:
    """A table and its metadata from one Parquet file."""
    data = pq.read_table(source)
    raw = (data.schema.metadata or {}).get(METADATA_KEY, b"{}")
    return data.replace_schema_metadata(None), dict(json.loads(raw))


def _read_parquet(path: Path) -> Tables:
    data, metadata = table_from_parquet(path)
    return Tables({str(metadata.get("table", "bodies")): data}, metadata)


def _read_npz(path: Path) -> Tables:
    columns: dict[str, dict[str, Any]] = {}
    parts: dict[str, Any] = {}
    with np.load(path, allow_pickle=False) as archive:
        for key in archive.files:
            table, _, column = key.partition("/")
            if column:
                columns.setdefault(table, {})[column] = archive[key]
            else:
                parts[key] = json.loads(str(archive[key]))
    recording = from_columns(columns, parts.get("metadata", {}))
    return Tables(recording.tables, recording.metadata, parts.get("scene"), parts.get("summary"))


def _read_csv(path: Path) -> Tables:
    with path.open("rb") as file:
        first = file.readline().decode()
        metadata: dict[str, Any] = {}
        if first.startswith(CSV_PREFIX):
            metadata = json.loads(first.removeprefix(CSV_PREFIX))
        else:
            file.seek(0)
        data = pyarrow.csv.read_csv(file)
    columns = {name: to_numpy(data[name]) for name in data.column_names}
    table = str(metadata.get("table", "bodies"))
    return from_columns({table: columns}, metadata)


def _from_json(values: list[Any]) -> npt.NDArray[Any]:
    """A column; what is null is not a number."""
    return np.asarray([math.nan if value is None else value for value in values])


def _read_json(path: Path) -> Tables:
    document = json.loads(path.read_bytes())
    if not isinstance(document, dict) or "tables" not in document:
        raise FormatError(f"{path.name} is not a recording: it has no member 'tables'")
    tables = {
        name: {column: _from_json(values) for column, values in columns.items()}
        for name, columns in document["tables"].items()
    }
    recording = from_columns(tables, document.get("metadata", {}))
    return Tables(recording.tables, recording.metadata, None, document.get("summary"))
