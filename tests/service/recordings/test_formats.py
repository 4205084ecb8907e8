import json
import math
import os

import numpy as np
import pyarrow.parquet as pq
import pytest

from cardan.service.recordings.folder import load, read_folder, save, sweep, write_folder
from cardan.service.recordings.formats import FORMATS, FormatError, encode, format_of
from cardan.service.recordings.tables import from_columns, to_numpy


def same_bits(left, right):
    assert left.column_names == right.column_names
    for name in left.column_names:
        one, other = to_numpy(left[name]), to_numpy(right[name])
        assert one.tobytes() == other.astype(one.dtype).tobytes(), name


@pytest.mark.parametrize("ending", ["parquet", "npz", "csv", "json", "arrows", "h5", "folder"])
def test_what_is_saved_is_read_back_to_the_bit(recording, tmp_path, ending):
    path = tmp_path / ("out" if ending == "folder" else f"out.{ending}")
    save(recording, path)
    again = load(path)
    whole = ending in ("npz", "json", "h5", "folder")
    for table in recording.tables if whole else ["bodies"]:
        same_bits(recording.tables[table], again.tables[table])
    assert again.metadata["scene_hash"] == "abc"
    assert again.metadata["seed"] == 7
    assert again.metadata["quaternion_order"].startswith("w x y z")
    assert again.metadata["units"]["bodies"]["vx"] == "m/s"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [path.name]


@pytest.mark.parametrize("name", list(FORMATS))
def test_the_same_recording_gives_the_same_bytes(recording, name):
    assert encode(recording, FORMATS[name]) == encode(recording, FORMATS[name])


@pytest.mark.parametrize("ending", ["npz", "json", "folder"])
def test_what_is_not_a_number_stays_so(recording, tmp_path, ending):
    sensors = {"time": np.zeros(2), "step": np.zeros(2, np.int64), "sensor": np.array(["a", "b"])}
    sensors |= {"fz": np.array([math.nan, 1.5]), "distance": np.full(2, math.nan)}
    tables = {**recording.tables, **from_columns({"sensors": sensors}, {}).tables}
    path = tmp_path / ("out" if ending == "folder" else f"out.{ending}")
    save(recording.with_tables(tables), path)
    again = load(path)
    for name, column in sensors.items():
        np.testing.assert_array_equal(to_numpy(again.tables["sensors"][name]), column)
    assert again.metadata["units"]["sensors"]["distance"] == "m"


def test_units_travel_with_every_parquet_column(recording, tmp_path):
    save(recording, tmp_path / "out.parquet")
    schema = pq.read_schema(tmp_path / "out.parquet")
    assert schema.field("px").metadata[b"unit"] == b"m"
    assert json.loads(schema.metadata[b"cardan"])["frame"].startswith("W")


def test_everything_is_in_the_npz(recording, tmp_path):
    save(recording, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz", allow_pickle=False) as archive:
        assert archive["bodies/body"][1] == "ball, with a comma"
        assert json.loads(str(archive["summary"])) == {"status": "succeeded"}
        assert json.loads(str(archive["metadata"]))["versions"] == {"engine": "1"}


def test_a_folder_holds_scene_and_summary(recording, tmp_path):
    write_folder(recording, tmp_path / "r")
    names = {entry.name for entry in (tmp_path / "r").iterdir()}
    tables = {"bodies.parquet", "energy.parquet", "contacts.parquet"}
    assert names == tables | {"scene.json", "summary.json", "sums.json"}
    assert read_folder(tmp_path / "r").tables.keys() == {"bodies", "contacts", "energy"}


def test_a_folder_is_replaced_whole(recording, tmp_path):
    write_folder(recording, tmp_path / "r")
    (tmp_path / "r" / "stray").write_text("x")
    write_folder(recording, tmp_path / "r")
    assert not (tmp_path / "r" / "stray").exists()


def test_a_failed_write_leaves_nothing(recording, tmp_path):
    (tmp_path / "taken").write_text("a file where the folder should go")
    with pytest.raises(OSError, match="taken"):
        write_folder(recording, tmp_path / "taken" / "r")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize("name", ["out.gltf", "out.arrow", "out.xyz", "out"])
def test_unknown_endings_are_refused_with_what_there_is(tmp_path, name):
    with pytest.raises(
        FormatError, match=r"\.parquet.*\.csv .*\.npz.*\.h5 .*\.glb.*\.html .*folder"
    ):
        format_of(tmp_path / name)


def test_a_table_that_was_not_recorded_is_named(recording):
    with pytest.raises(FormatError, match="no table 'joints'; it has bodies"):
        encode(recording, FORMATS["csv"], "joints")


def test_the_sweep_removes_what_nobody_refers_to(tmp_path):
    for name in ("kept-1", "orphan-2", "tmp-kept-1"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("x")
    assert sweep(tmp_path, frozenset({"kept-1"})) == ["file", "orphan-2", "tmp-kept-1"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept-1"]


def test_what_cannot_be_removed_keeps_no_service_from_starting(tmp_path, monkeypatch):
    for name in ("lost+found", "orphan-2"):
        (tmp_path / name).mkdir()
    remove = os.rmdir

    def of_another_user(path, *more, **how):
        if "lost+found" in str(path):
            raise PermissionError(path)
        remove(path, *more, **how)

    monkeypatch.setattr(os, "rmdir", of_another_user)
    assert sweep(tmp_path, frozenset()) == ["orphan-2"]
    assert [path.name for path in tmp_path.iterdir()] == ["lost+found"]
