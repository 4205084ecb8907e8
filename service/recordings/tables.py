"""A recording in memory: Arrow tables by name, and the metadata every file carries."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cardan.service.recordings.columns import meaning_of, unit_of

TABLES = (
    "bodies",
    "joints",
    "contacts",
    "energy",
    "momentum",
    "solver",
    "sensors",
    "constraints",
    "events",
)

# of tables with the same columns
KEPT_SCHEMAS = 64
# of a column of names whose codes are kept
MOST_NAME_BYTES = 1 << 18
# the key of the metadata in Parquet and Arrow schemas
METADATA_KEY = b"cardan"


@dataclass(frozen=True)
class Tables:
    """The tables of a recording, its metadata, and where known its scene and summary."""

    tables: Mapping[str, pa.Table]
    metadata: Mapping[str, Any]
    scene: Mapping[str, Any] | None = None
    summary: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def with_tables(self, tables: Mapping[str, pa.Table]) -> "Tables":
        """The same recording with other tables."""
        return replace(self, tables=tables)


def recording_metadata(
    *, scene_hash: str, name: str, seed: int, dt: float, versions: Mapping[str, Any]
) -> dict[str, Any]:
    """The metadata of a recording; nothing in it depends on when or where it was made."""
    return {
        "format": "cardan.recording",
        "format_version": 1,
        "scene": name,
        "scene_hash": scene_hash,
        "seed": seed,
        "dt": dt,
        "versions": dict(versions),
        "frame": "W: right-handed, z up; poses and velocities are those of the body origin, in W",
        "quaternion_order": "w x y z, turns body axes into W",
        "angles": "rad",
    }


def from_columns(
    tables: Mapping[str, Mapping[str, npt.NDArray[Any]]], metadata: Mapping[str, Any]
) -> Tables:
    """Tables from plain arrays; names become dictionary columns, numbers keep their type."""
    arrow = {name: _table(name, columns) for name, columns in tables.items()}
    return Tables(arrow, dict(metadata) | {"units": units(arrow)})


def units(tables: Mapping[str, pa.Table]) -> dict[str, dict[str, str]]:
    """The unit of every column, by table."""
    return {name: units_of(name, tuple(table.column_names)) for name, table in tables.items()}


@lru_cache(maxsize=KEPT_SCHEMAS)
def units_of(table: str, columns: tuple[str, ...]) -> dict[str, str]:
    """The unit of every column of a table; runs of a batch have the same tables."""
    return {column: unit_of(table, column) for column in columns}


def to_numpy(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """A column as an array; names as NumPy texts."""
    if pa.types.is_string(column.type):
        column = column.dictionary_encode()
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy())
    column = column.unify_dictionaries()
    parts = [
        np.asarray(chunk.dictionary.to_pylist(), dtype=np.str_)[chunk.indices.to_numpy()]
        for chunk in column.chunks
        if len(chunk)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.str_)


def _table(name: str, columns: Mapping[str, npt.NDArray[Any]]) -> pa.Table:
    arrays = [_array(np.asarray(values)) for values in columns.values()]
    types = tuple(array.type for array in arrays)
    return pa.Table.from_arrays(arrays, schema=_schema(name, tuple(columns), types))


@lru_cache(maxsize=KEPT_SCHEMAS)
def _schema(name: str, columns: tuple[str, ...], types: tuple[pa.DataType, ...]) -> pa.Schema:
    fields = []
    for column, kind in zip(columns, types, strict=True):
        about = {"unit": unit_of(name, column), "meaning": meaning_of(name, column)}
        fields.append(pa.field(column, kind, nullable=False, metadata=about))
    return pa.schema(fields)


def _names(values: npt.NDArray[np.str_]) -> pa.Array:
    """Names as codes; runs of a batch have the same columns of them."""
    if values.nbytes > MOST_NAME_BYTES:
        return _encoded(values)
    return _encoded_again(values.dtype.str, values.tobytes())


@lru_cache(maxsize=KEPT_SCHEMAS)
def _encoded_again(dtype: str, data: bytes) -> pa.Array:
    return _encoded(np.frombuffer(data, dtype))


def _encoded(values: npt.NDArray[np.str_]) -> pa.Array:
    return pa.array(values, pa.string()).dictionary_encode()


def _array(values: npt.NDArray[Any]) -> pa.Array:
    if values.dtype.kind in "OUS":
        return _names(values.astype(np.str_, copy=False))
    plain = np.ascontiguousarray(values)
    if plain.dtype.kind in "iuf" and plain.dtype.isnative:
        # without a look at each value: there are no nulls
        buffers = [None, pa.py_buffer(plain)]
        return pa.Array.from_buffers(pa.from_numpy_dtype(plain.dtype), len(plain), buffers)
    return pa.array(plain)
