"""A recording as HDF5: a group per table, a data set per column, texts of metadata beside them."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import IO, Any

import h5py
import numpy as np

from cardan.service.recordings.columns import meaning_of, unit_of
from cardan.service.recordings.encoders import dump_json
from cardan.service.recordings.sources import Recording, Source
from cardan.service.recordings.tables import Tables, from_columns, to_numpy

TEXTS = ("metadata", "scene", "summary")
NAME_CHUNK = 16_384


def write_hdf5(recording: Recording, sink: IO[bytes]) -> None:
    """Write the file: numbers as they are, names compressed; the same bytes every time.

    The library seeks back and forth, so it is made beside the sink first.
    """
    with tempfile.TemporaryFile() as scratch:
        with h5py.File(scratch, "w", track_order=True) as file:
            file.attrs["format"] = "cardan.recording"
            for name in TEXTS:
                part = getattr(recording, name)
                if part is not None:
                    file[name] = np.bytes_(dump_json(dict(part)))
            for table, source in recording.sources.items():
                group = file.create_group(table, track_order=True)
                for column in source.schema.names:
                    _write_column(group, table, column, source)
        scratch.seek(0)
        shutil.copyfileobj(scratch, sink, 1024 * 1024)


def _write_column(group: Any, table: str, column: str, source: Source) -> None:
    parts = [to_numpy(chunk[column]) for chunk in source.chunks([column])]
    empty = to_numpy(source.schema.empty_table()[column])
    values = np.concatenate([part for part in parts if len(part)] or [empty])
    options: dict[str, Any] = {}
    if values.dtype.kind == "U":
        values = np.char.encode(values, "utf-8") if len(values) else np.zeros(0, "S1")
        width = max(values.dtype.itemsize, 1)
        values = values.astype(h5py.string_dtype("utf-8", width))
        if len(values):
            options = {"compression": "gzip", "chunks": (min(len(values), NAME_CHUNK),)}
    made = group.create_dataset(column, data=values, track_times=False, **options)
    made.attrs["unit"] = unit_of(table, column)
    made.attrs["meaning"] = meaning_of(table, column)


def read_hdf5(path: Path) -> Tables:
    """Read a recording back. Raises OSError or KeyError for what is none."""
    with h5py.File(path, "r") as file:
        texts = {name: json.loads(file[name][()]) for name in TEXTS if name in file}
        columns = {
            table: {column: _values(data) for column, data in group.items()}
            for table, group in file.items()
            if isinstance(group, h5py.Group)
        }
    made = from_columns(columns, texts["metadata"])
    return Tables(made.tables, made.metadata, texts.get("scene"), texts.get("summary"))


def _values(data: Any) -> Any:
    values = data[()]
    return np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
