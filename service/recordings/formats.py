"""One recording as bytes: Parquet, Arrow and CSV hold one table, the other formats hold all.

The same recording always gives the same bytes, so that an ETag can be strong.
"""

import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from cardan.service.recordings.encoders import (
    CSV_PREFIX,
    dump_json,
    write_arrow,
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
    """A file format: its name, media type, ending, and whether it holds all tables.

    read_back: whether a recording can be read from it; others show motion.
    """

    name: str
    media_type: str
    ending: str
    whole: bool
    read_back: bool = True


FORMATS: Mapping[str, Format] = {
    "parquet": Format("parquet", "application/vnd.apache.parquet", ".parquet", whole=False),
    "npz": Format("npz", "application/x-npz", ".npz", whole=True),
    "csv": Format("csv", "text/csv", ".csv", whole=False),
    "json": Format("json", "application/json", ".json", whole=True),
    "arrow": Format("arrow", "application/vnd.apache.arrow.stream", ".arrows", whole=False),
    "hdf5": Format("hdf5", "application/x-hdf5", ".h5", whole=True),
    "mcap": Format("mcap", "application/x-mcap", ".mcap", whole=True, read_back=False),
    "gltf": Format("gltf", "model/gltf-binary", ".glb", whole=True, read_back=False),
    "usda": Format("usda", "model/vnd.usda", ".usda", whole=True, read_back=False),
    "html": Format("html", "text/html", ".html", whole=True, read_back=False),
}


# libraries that the service process, which only names the formats, need not load
def write_hdf5(recording: Recording, sink: IO[bytes]) -> None:
    """A group per table, as HDF5."""
    from cardan.service.recordings.hdf5 import write_hdf5

    write_hdf5(recording, sink)


def write_mcap(recording: Recording, sink: IO[bytes]) -> None:
    """Poses, shapes, energy and momentum as messages, for Foxglove."""
    from cardan.service.recordings.mcap import write_mcap

    write_mcap(recording, sink)


def write_gltf(recording: Recording, sink: IO[bytes]) -> None:
    """Shapes that move, as binary glTF."""
    from cardan.service.recordings.gltf import write_gltf

    write_gltf(recording, sink)


def write_usda(recording: Recording, sink: IO[bytes]) -> None:
    """Shapes that move, as the text of a USD layer."""
    from cardan.service.recordings.usda import write_usda

    write_usda(recording, sink)


def write_web_page(recording: Recording, sink: IO[bytes]) -> None:
    """Shapes that move, as a web page that needs no server."""
    from cardan.service.recordings.web_page import write_web_page

    write_web_page(recording, sink)


def read_hdf5(path: Path) -> Tables:
    """Read a recording back from HDF5."""
    from cardan.service.recordings.hdf5 import read_hdf5

    return read_hdf5(path)


WHOLE: Mapping[str, Callable[[Recording, IO[bytes]], None]] = {
    "npz": write_npz,
    "json": write_json,
    "hdf5": write_hdf5,
    "mcap": write_mcap,
    "gltf": write_gltf,
    "usda": write_usda,
    "html": write_web_page,
}
ONE_TABLE: Mapping[str, Callable[[Recording, str, IO[bytes]], None]] = {
    "parquet": write_chunks,
    "arrow": write_arrow,
    "csv": write_csv,
}


DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, LookupError)
"""What the readers raise, beside OSError and ValueError, of files that are cut short or foreign."""


class FormatError(ValueError):
    """A file or a request names a format or a table that does not exist."""


def format_of(path: Path) -> Format:
    """The format by the ending of a file name. Raises FormatError."""
    ending = path.suffix.lower()
    found = next((form for form in FORMATS.values() if form.ending == ending), None)
    if found is None:
        raise FormatError(
            f"no format is known for the ending {path.suffix!r} of {path.name}; "
            "there are .parquet, .arrows, .csv (bodies), .npz, .json, .h5 (everything), "
            ".mcap, .glb, .usda, .html (motion), or a folder (everything)"
        )
    return found


def encode(recording: Tables, form: Format, table: str = "bodies") -> bytes:
    """The bytes of a recording in memory. Raises FormatError when the table was not recorded."""
    sink = io.BytesIO()
    write(loaded(recording), form, table, sink)
    return sink.getvalue()


def write(recording: Recording, form: Format, table: str, sink: IO[bytes]) -> None:
    """Write a recording chunk by chunk.

    Raises FormatError when the table was not recorded, NoMotionError when poses were not.
    """
    if form.whole:
        WHOLE[form.name](recording, sink)
    elif table not in recording.sources:
        there = ", ".join(recording.sources) or "none"
        raise FormatError(f"this recording has no table {table!r}; it has {there}")
    else:
        ONE_TABLE[form.name](recording, table, sink)


def decode(path: Path) -> Tables:
    """Read a recording back from a file. Raises FormatError, OSError or ValueError."""
    form = format_of(path)
    readers: Mapping[str, Callable[[Path], Tables]] = {
        "parquet": _read_parquet,
        "npz": _read_npz,
        "csv": _read_csv,
        "json": _read_json,
        "arrow": _read_arrow,
        "hdf5": read_hdf5,
    }
    if not form.read_back:
        raise FormatError(f"{path.name} shows motion; it is not read back as a recording")
    try:
        return readers[form.name](path)
    except DAMAGES as error:
        raise FormatError(f"it is damaged, or holds something else: {error}") from error


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


def _read_arrow(path: Path) -> Tables:
    with path.open("rb") as file, pa.ipc.open_stream(file) as reader:
        data = reader.read_all()
    metadata = dict(json.loads((data.schema.metadata or {}).get(METADATA_KEY, b"{}")))
    table = data.replace_schema_metadata(None)
    return Tables({str(metadata.get("table", "bodies")): table}, metadata)


def _read_npz(path: Path) -> Tables:
    columns: dict[str, dict[str, Any]] = {}
    parts: dict[str, Any] = {}
    # NumPy leaves a file that is no archive open
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
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
