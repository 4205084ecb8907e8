"""Downloads that others push out while they are asked for."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cardan.schemas.record import POSE
from cardan.service.compute import encoding
from cardan.service.compute.downloads import Downloads
from cardan.service.compute.pool import ComputePool
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.recordings.folder import remove_folder, write_folder
from cardan.service.recordings.formats import FORMATS
from cardan.service.recordings.slices import Slice
from cardan.service.recordings.tables import from_columns, recording_metadata

ROWS = 40


class Pool(ComputePool):
    """Encodes in the thread that asks."""

    def __init__(self):
        pass

    def wait_for_answer(self, order, *, within_s=None):
        return encoding.encode(order)


@pytest.fixture
def result(tmp_path):
    bodies = {
        "time": np.arange(ROWS) * 0.1,
        "step": np.arange(ROWS),
        "body": np.array(["a"] * ROWS),
    }
    bodies |= {name: np.zeros(ROWS) for name in POSE}
    about = recording_metadata(scene_hash="x", name="small", seed=0, dt=0.1, versions={})
    write_folder(from_columns({"bodies": bodies}, about), tmp_path / "sim_a-1")
    return tmp_path / "sim_a-1"


@pytest.fixture
def downloads(tmp_path):
    # whatever is made pushes all others out
    return Downloads(tmp_path / "downloads", Pool(), 100_000, 1)


def rows_of(downloads, result, stride):
    with downloads.opened(result, FORMATS["csv"], "bodies", Slice(stride=stride)) as file:
        return sum(line[:1].isdigit() for line in file)


def test_what_is_pushed_out_while_it_is_sent_is_sent_whole(downloads, result):
    with downloads.opened(result, FORMATS["csv"], "bodies", Slice(stride=2)) as file:
        assert rows_of(downloads, result, 3) == 14
        assert sum(line[:1].isdigit() for line in file) == 20


def test_many_who_push_each_other_out_get_what_they_ask_for(downloads, result):
    with ThreadPoolExecutor(6) as threads:
        strides = [1 + k % 6 for k in range(240)]
        found = list(threads.map(lambda stride: rows_of(downloads, result, stride), strides))
    assert found == [-(-ROWS // stride) for stride in strides]


def test_a_recording_that_goes_while_it_is_asked_for_is_gone(downloads, result, monkeypatch):
    verify = downloads._verified

    def late(path):
        shutil.rmtree(result)
        return verify(path)

    monkeypatch.setattr(downloads, "_verified", late)
    with pytest.raises(ServiceError) as caught:
        downloads.opened(result, FORMATS["parquet"], "bodies", Slice())
    assert caught.value.code is ErrorCode.RESULT_GONE


@pytest.mark.parametrize("form", ["json", "csv", "npz"])
def test_a_recording_that_goes_before_it_is_encoded_is_gone(tmp_path, result, form):
    """It was a file without tables, for whoever waited until a process was free."""

    class Late(Pool):
        def wait_for_answer(self, order, *, within_s=None):
            remove_folder(result)
            return super().wait_for_answer(order)

    downloads = Downloads(tmp_path / "downloads", Late(), 100_000, 1)
    with pytest.raises(ServiceError) as caught:
        downloads.opened(result, FORMATS[form], "bodies", Slice(stride=2))
    assert caught.value.code is ErrorCode.RESULT_GONE
    assert not list((tmp_path / "downloads").iterdir())


def test_a_recording_is_removed_at_once(result, monkeypatch):
    """Who reads it finds all of it, or nothing."""
    rmtree = shutil.rmtree
    found = []

    def watched(path, **options):
        found.append(result.exists())
        rmtree(path, **options)

    monkeypatch.setattr(shutil, "rmtree", watched)
    remove_folder(result)
    assert found == [True, False, False]
    assert not list(result.parent.iterdir())
