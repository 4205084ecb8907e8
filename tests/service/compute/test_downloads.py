"""Downloads that others push out while they are asked for."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cardan.service.compute import encoding
from cardan.service.compute.downloads import Downloads
from cardan.service.compute.pool import ComputePool
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.recordings.columns import POSE
from cardan.service.recordings.folder import write_folder
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
