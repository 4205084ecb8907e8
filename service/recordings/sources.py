"""Tables as chunks, in memory or on the disk: what is large is never whole in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from cardan.service.recordings.tables import METADATA_KEY, Tables, units

# rows of one chunk, and of one row group of a file: 16 float64 columns, about 2 MB
ROW_GROUP = 16_384


class Source(Protocol):
    """One table."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The rows in order, at most `ROW_GROUP` at a time; all columns or the named ones."""


@dataclass(frozen=True)
class Loaded:
    """A table in memory."""

    table: pa.Table

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.table.schema

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Slices of the table."""
        chosen = self.table if columns is None else self.table.select(list(columns))
        for first in range(0, self.num_rows, ROW_GROUP):
            yield chosen.slice(first, ROW_GROUP)


class Stored:
    """A table in a Parquet file, read row group by row group."""

    def __init__(self, path: Path) -> None:
        """Read the footer of the file."""
        self._file = pq.ParquetFile(path, memory_map=False)
        self.about: dict[str, Any] = orjson.loads(
            (self._file.schema_arrow.metadata or {}).get(METADATA_KEY, b"{}")
        )
        self.schema = self._file.schema_arrow.remove_metadata()
        self.num_rows = int(self._file.metadata.num_rows)

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The row groups of the file."""
        chosen = None if columns is None else list(columns)
        for group in range(self._file.num_row_groups):
            table = self._file.read_row_group(group, columns=chosen).replace_schema_metadata(None)
            yield from Loaded(table).chunks(chosen)


@dataclass(frozen=True)
class Recording:
    """A recording whose tables are read in chunks."""

    sources: Mapping[str, Source]
    metadata: Mapping[str, Any]
    scene: Mapping[str, Any] | None = None
    summary: Mapping[str, Any] | None = None


def loaded(recording: Tables) -> Recording:
    """A recording in memory."""
    sources = {name: Loaded(table) for name, table in recording.tables.items()}
    return Recording(sources, recording.metadata, recording.scene, recording.summary)


def stored(folder: Path, tables: Sequence[str]) -> Recording:
    """The recording of a folder with those of the tables that it has."""
    sources = {
        name: Stored(folder / f"{name}.parquet")
        for name in tables
        if (folder / f"{name}.parquet").exists()
    }
    metadata: dict[str, Any] = {}
    for source in sources.values():
        metadata = {key: value for key, value in source.about.items() if key != "table"}
    all_units = units({name: source.schema.empty_table() for name, source in sources.items()})
    parts = [
        orjson.loads(file.read_bytes()) if (file := folder / f"{name}.json").exists() else None
        for name in ("scene", "summary")
    ]
    return Recording(sources, metadata | {"units": all_units}, *parts)
