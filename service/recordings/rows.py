"""One row per run as a file: Parquet, CSV or JSON with the same columns."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from cardan.service.recordings.formats import Format, dump_json
from cardan.service.recordings.tables import METADATA_KEY


def encode_rows(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    metadata: Mapping[str, Any],
    form: Format,
) -> bytes:
    """The rows as bytes of a format; JSON keeps values as they are, tables type each column."""
    if form.name == "json":
        return orjson.dumps({"metadata": metadata, "columns": list(columns), "rows": list(rows)})
    table = pa.table({name: _column([row.get(name) for row in rows]) for name in columns})
    sink = io.BytesIO()
    if form.name == "csv":
        pyarrow.csv.write_csv(table, sink)
    else:
        table = table.replace_schema_metadata({METADATA_KEY: dump_json(dict(metadata))})
        pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _column(values: Sequence[Any]) -> pa.Array:
    """Numbers as numbers; what is mixed, or a list or object, as JSON texts."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.array(list(values), pa.string())
    if kinds <= {int, float} and float in kinds:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if len(kinds) == 1 and kinds <= {int, float, str, bool}:
        return pa.array(list(values))
    return pa.array(
        [
            v if isinstance(v, str) else None if v is None else orjson.dumps(v).decode()
            for v in values
        ],
        pa.string(),
    )
