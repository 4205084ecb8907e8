"""The process that keeps members on a cluster is started again, however it ends."""

import io
import threading

from cardan.service.cluster import placement as module
from cardan.service.cluster.placement import Placement
from cardan.service.settings import Settings


class Process:
    """One that says something, and ends."""

    def __init__(self, said):
        self.stdin = io.StringIO()
        self.stdout = io.StringIO(said)

    def wait(self, _seconds):
        return 0


def test_a_process_that_is_killed_in_the_middle_of_a_word_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    placement = Placement(Settings(data=tmp_path))
    started, again = [], threading.Event()

    def start():
        started.append(1)
        if len(started) == 3:
            again.set()
        return Process('{"joined": true}\n{"cores": 4, "wor')

    monkeypatch.setattr(placement, "_started", start)
    placement.start()
    try:
        assert again.wait(20.0)
    finally:
        placement.stop()
