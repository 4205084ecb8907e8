"""Tables of one row per run: types of columns, and the same values in every format."""

import io
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cardan.service.recordings.formats import FORMATS
from cardan.service.recordings.rows import encode_rows
from cardan.service.recordings.tables import METADATA_KEY

ROWS = [
    {"id": "a", "runs": 1, "mass": 2, "ok": True, "mixed": 1.5, "list": [1, 2], "none": None},
    {"id": "b", "runs": 2, "mass": 0.5, "ok": None, "mixed": "high", "list": None},
]
COLUMNS = list(ROWS[0])
TYPES = {
    "id": pa.string(),
    "runs": pa.int64(),
    "mass": pa.float64(),
    "ok": pa.bool_(),
    # what no type of a column holds is JSON
    "mixed": pa.string(),
    "list": pa.string(),
    "none": pa.string(),
}
VALUES = {
    "id": ["a", "b"],
    "runs": [1, 2],
    "mass": [2.0, 0.5],
    "ok": [True, None],
    "mixed": ["1.5", "high"],
    "list": ["[1,2]", None],
    "none": [None, None],
}


def encoded(form: str) -> bytes:
    return encode_rows(ROWS, COLUMNS, {"batch": "batch_1"}, FORMATS[form])


def test_columns_of_parquet_have_one_type_each() -> None:
    table = pq.read_table(io.BytesIO(encoded("parquet")))
    assert {field.name: field.type for field in table.schema} == TYPES
    assert table.to_pydict() == VALUES
    assert json.loads(table.schema.metadata[METADATA_KEY]) == {"batch": "batch_1"}


@pytest.mark.parametrize("name", ["id", "runs", "mass", "mixed"])
def test_csv_has_the_same_values(name: str) -> None:
    table = pyarrow.csv.read_csv(io.BytesIO(encoded("csv")))
    assert table.column_names == COLUMNS
    assert table.column(name).to_pylist() == VALUES[name]


def test_json_keeps_values_as_they_are() -> None:
    document = json.loads(encoded("json"))
    assert document == {"metadata": {"batch": "batch_1"}, "columns": COLUMNS, "rows": ROWS}
