"""Recordings written chunk by chunk: CSV, Parquet and Arrow by rows, JSON and NPZ by columns."""

import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from cardan.service.recordings.sources import ROW_GROUP, Recording, Source
from cardan.service.recordings.tables import METADATA_KEY, to_numpy, units_of

CSV_PREFIX = "# cardan: "
BY_TIME = ("time", "step")


def dump_json(value: Any) -> bytes:
    """JSON with sorted keys: equal values give equal bytes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY)


def write_json(recording: Recording, sink: IO[bytes]) -> None:
    """All tables as lists by column; columns keep their order."""
    sink.write(b'{"metadata":' + orjson.dumps(dict(recording.metadata)) + b',"tables":{')
    for number, (name, source) in enumerate(recording.sources.items()):
        sink.write((b"," if number else b"") + orjson.dumps(name) + b":{")
        for place, column in enumerate(source.schema.names):
            sink.write((b"," if place else b"") + orjson.dumps(column) + b":[")
            comma = b""
            for values in _values(source, column):
                data = values.tolist() if values.dtype.kind == "U" else values
                sink.write(comma + orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1])
                comma = b","
            sink.write(b"]")
        sink.write(b"}")
    summary = recording.summary
    sink.write(b"}" if summary is None else b'},"summary":' + orjson.dumps(dict(summary)))
    sink.write(b"}")


def write_npz(recording: Recording, sink: IO[bytes]) -> None:
    """All tables as arrays TABLE/COLUMN, and metadata, scene and summary as JSON texts."""
    texts: dict[str, Mapping[str, Any] | None] = {
        "metadata": recording.metadata,
        "scene": recording.scene,
        "summary": recording.summary,
    }
    with zipfile.ZipFile(sink, "w") as archive:
        for key, part in texts.items():
            if part is not None:
                text = np.asarray(dump_json(dict(part)).decode())
                _write_array(archive, key, text.dtype, (), iter([text]))
        for name, source in recording.sources.items():
            for column in source.schema.names:
                dtype = _dtype(source, column)
                shape = (source.num_rows,)
                _write_array(archive, f"{name}/{column}", dtype, shape, _values(source, column))


def write_csv(recording: Recording, table: str, sink: IO[bytes]) -> None:
    """One table behind a line with the metadata."""
    source = recording.sources[table]
    sink.write(CSV_PREFIX.encode() + dump_json(_about(recording, table)) + b"\n")
    schema = pa.schema([(field.name, _plain_type(field.type)) for field in source.schema])
    with pyarrow.csv.CSVWriter(sink, schema) as writer:
        for chunk in source.chunks():
            writer.write_table(chunk.cast(schema))


def write_parquet(recording: Recording, table: str, sink: Any) -> None:
    """One table as Parquet: zstd, floats split by byte, dictionaries for names."""
    source = recording.sources[table]
    schema = source.schema.with_metadata({METADATA_KEY: dump_json(_about(recording, table))})
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        use_dictionary=[f.name for f in schema if pa.types.is_dictionary(f.type)],
        use_byte_stream_split=[f.name for f in schema if pa.types.is_floating(f.type)],
        # what readers choose row groups by
        write_statistics=[name for name in BY_TIME if name in schema.names],
    ) as writer:
        for group in _row_groups(source):
            writer.write_table(_fitted(group, schema), row_group_size=ROW_GROUP)


def write_arrow(recording: Recording, table: str, sink: IO[bytes]) -> None:
    """One table as an Arrow IPC stream, with names as dictionaries and its metadata."""
    source = recording.sources[table]
    schema = source.schema.with_metadata({METADATA_KEY: dump_json(_about(recording, table))})
    with pa.ipc.new_stream(sink, schema) as writer:
        for group in _row_groups(source):
            writer.write_table(_fitted(group, schema), max_chunksize=ROW_GROUP)


def _fitted(group: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with a schema; a cast would look at every column of those that have it already."""
    named = group.replace_schema_metadata(schema.metadata)
    return named if named.schema.equals(schema, check_metadata=True) else group.cast(schema)


def _about(recording: Recording, table: str) -> dict[str, Any]:
    """The metadata of a file that holds one table: its units are those of that table."""
    units = units_of(table, tuple(recording.sources[table].schema.names))
    return dict(recording.metadata) | {"table": table, "units": {table: units}}


def _row_groups(source: Source) -> Iterator[pa.Table]:
    """Chunks of a slice may be short: full row groups, and the rest."""
    waiting: list[pa.Table] = []
    for chunk in source.chunks():
        waiting.append(chunk)
        while sum(one.num_rows for one in waiting) >= ROW_GROUP:
            joined = pa.concat_tables(waiting).unify_dictionaries().combine_chunks()
            yield joined.slice(0, ROW_GROUP)
            waiting = [joined.slice(ROW_GROUP)]
    if sum(one.num_rows for one in waiting):
        yield pa.concat_tables(waiting).unify_dictionaries().combine_chunks()


def _values(source: Source, column: str) -> Iterator[npt.NDArray[Any]]:
    for chunk in source.chunks([column]):
        if chunk.num_rows:
            yield np.ascontiguousarray(to_numpy(chunk[column]))


def _dtype(source: Source, column: str) -> np.dtype[Any]:
    """The type of a column's array; names are as wide as the longest."""
    found = to_numpy(source.schema.empty_table()[column]).dtype
    if found.kind == "U":
        widths = (values.dtype for values in _values(source, column))
        found = max(widths, key=lambda one: one.itemsize, default=found)
    return found


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_dictionary(kind) else kind


def _write_array(
    archive: zipfile.ZipFile,
    key: str,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    parts: Iterator[npt.NDArray[Any]],
) -> None:
    entry = zipfile.ZipInfo(f"{key}.npy")
    # motion hardly shrinks and takes ten times as long; names shrink to nothing
    entry.compress_type = zipfile.ZIP_DEFLATED if dtype.kind == "U" else zipfile.ZIP_STORED
    with archive.open(entry, "w", force_zip64=True) as file:
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(part.astype(dtype, copy=False).tobytes())
