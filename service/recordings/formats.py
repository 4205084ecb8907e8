"""One recording as bytes: Parquet and CSV hold one table, NPZ and JSON hold all.

The same recording always gives the same bytes, so that an ETag can be strong.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from cardan.service.recordings.tables import METADATA_KEY, Tables, from_columns, to_numpy, units

# rows of one row group: 16 float64 columns, about 2 MB
ROW_GROUP = 16_384
CSV_PREFIX = "# cardan: "


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
    """The bytes of a recording. Raises FormatError when the table was not recorded."""
    if form.name == "npz":
        return _npz(recording)
    if form.name == "json":
        return _json(recording)
    if table not in recording.tables:
        raise FormatError(
            f"this recording has no table {table!r}; it has {', '.join(recording.tables) or 'none'}"
        )
    sink = io.BytesIO()
    if form.name == "parquet":
        write_parquet(recording, table, sink)
    else:
        _write_csv(recording, table, sink)
    return sink.getvalue()


def decode(path: Path) -> Tables:
    """Read a recording back from a file. Raises FormatError, OSError or ValueError."""
    form = format_of(path)
    reader = {"parquet": _read_parquet, "npz": _read_npz, "csv": _read_csv, "json": _read_json}
    return reader[form.name](path)


def write_parquet(recording: Tables, table: str, sink: Any) -> None:
    """One table as Parquet: zstd, floats split by byte, dictionaries for names."""
    data = recording.tables[table]
    # a file that holds one table says the units of that table
    metadata = dict(recording.metadata) | {"table": table, "units": units({table: data})}
    data = data.replace_schema_metadata({METADATA_KEY: dump_json(metadata)})
    floats = [f.name for f in data.schema if pa.types.is_floating(f.type)]
    names = [f.name for f in data.schema if pa.types.is_dictionary(f.type)]
    pq.write_table(
        data,
        sink,
        compression="zstd",
        row_group_size=ROW_GROUP,
        use_dictionary=names,
        use_byte_stream_split=floats,
    )


def table_from_parquet(source: Any) -> tuple[pa.Table, dict[str, Any]]:
    """A table and its metadata from one Parquet file."""
    data = pq.read_table(source)
    raw = (data.schema.metadata or {}).get(METADATA_KEY, b"{}")
    return data.replace_schema_metadata(None), dict(json.loads(raw))


def dump_json(value: Any) -> bytes:
    """JSON with sorted keys: equal values give equal bytes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY)


def _npz(recording: Tables) -> bytes:
    arrays: dict[str, Any] = {"metadata": np.asarray(dump_json(recording.metadata).decode())}
    for name, part in (("scene", recording.scene), ("summary", recording.summary)):
        if part is not None:
            arrays[name] = np.asarray(dump_json(part).decode())
    for table, data in recording.tables.items():
        for column in data.column_names:
            arrays[f"{table}/{column}"] = to_numpy(data[column])
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for key, values in arrays.items():
            # motion hardly shrinks and takes ten times as long; names shrink to nothing
            entry = zipfile.ZipInfo(f"{key}.npy")
            words = values.dtype.kind == "U"
            entry.compress_type = zipfile.ZIP_DEFLATED if words else zipfile.ZIP_STORED
            with archive.open(entry, "w", force_zip64=True) as file:
                whole = np.asarray(values, order="C")
                np.lib.format.write_array(file, whole, allow_pickle=False)
    return sink.getvalue()


def _json(recording: Tables) -> bytes:
    tables = {
        name: {column: _json_values(data[column]) for column in data.column_names}
        for name, data in recording.tables.items()
    }
    document: dict[str, Any] = {"metadata": recording.metadata, "tables": tables}
    if recording.summary is not None:
        document["summary"] = recording.summary
    # columns keep their order
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


def _json_values(column: pa.ChunkedArray) -> Any:
    values = to_numpy(column)
    return values.tolist() if values.dtype.kind == "U" else np.ascontiguousarray(values)


def _write_csv(recording: Tables, table: str, sink: io.BytesIO) -> None:
    data = recording.tables[table]
    metadata = dict(recording.metadata) | {"table": table, "units": units({table: data})}
    sink.write(CSV_PREFIX.encode() + dump_json(metadata) + b"\n")
    plain = pa.table(
        {
            name: data[name].cast(pa.string())
            if pa.types.is_dictionary(data[name].type)
            else data[name]
            for name in data.column_names
        }
    )
    pyarrow.csv.write_csv(plain, sink)


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


def _read_json(path: Path) -> Tables:
    document = json.loads(path.read_bytes())
    if not isinstance(document, dict) or "tables" not in document:
        raise FormatError(f"{path.name} is not a recording: it has no member 'tables'")
    tables = {
        name: {column: np.asarray(values) for column, values in columns.items()}
        for name, columns in document["tables"].items()
    }
    recording = from_columns(tables, document.get("metadata", {}))
    return Tables(recording.tables, recording.metadata, None, document.get("summary"))
