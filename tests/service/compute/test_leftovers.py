"""What a process has written of a download when it is ended goes with it."""

import os
from types import SimpleNamespace

import pytest

from cardan.service.compute import encoding
from cardan.service.compute.downloads import Downloads
from cardan.service.compute.pool import ComputePool
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.recordings.formats import FORMATS
from cardan.service.recordings.slices import Slice


class Pool(ComputePool):
    """One process for each order; it is killed in the middle of its file."""

    def __init__(self, folder):
        self.folder = folder
        self.left = []

    def wait_for_answer(self, order, *, within_s=None):
        pid = os.fork()
        if pid == 0:
            encoding.encode(order)
        os.waitpid(pid, 0)
        self.left.append([path.stat().st_size for path in self.folder.iterdir()])
        raise ServiceError(ErrorCode.COMPUTE_TIMED_OUT, f"There was no answer: {within_s}.")


def test_a_download_that_takes_too_long_leaves_nothing(tmp_path, monkeypatch):
    def half_a_file(_recording, _form, _table, sink):
        sink.write(bytes(1000))
        sink.flush()
        os._exit(9)

    monkeypatch.setattr(encoding, "write", half_a_file)
    monkeypatch.setattr(encoding, "stored", lambda *_: SimpleNamespace(sources={}))
    monkeypatch.setattr(encoding, "cut_chunks", lambda recording, _part: recording)
    result = tmp_path / "sim_a-1"
    result.mkdir()
    pool = Pool(tmp_path / "downloads")
    downloads = Downloads(pool.folder, pool, 10_000, 10_000)
    for _ in range(2):
        with pytest.raises(ServiceError, match="no answer"):
            downloads.opened(result, FORMATS["csv"], "bodies", Slice())
    assert pool.left == [[1000], [1000]]
    assert list(pool.folder.iterdir()) == []
