"""A worker that computes for ever is ended by the time it has, whatever it computes.

Runs have `timeout_s`: `api/test_simulations.py::test_a_timeout_ends_a_run`.
"""

import asyncio
import threading
from functools import partial

import psutil
import pytest

from cardan.service.compute.messages import SolveOrder
from cardan.service.compute.pool import ComputePool, Lane, PoolOptions
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import GivenUpError
from cardan.service.sessions.messages import PlaybackState, Start
from cardan.service.sessions.supervisor import Supervisor, Watch

LIMITS = WorkerLimits(memory=2**32)
SPINNING = "tests.service.spinning"


def test_of_the_pool():
    launcher, closed = WorkerLauncher(), threading.Event()
    pool = ComputePool(launcher, LIMITS, PoolOptions(answer_s=0.5))
    started = []

    def start(within_s):
        started.append(launcher.start_ready(SPINNING, LIMITS, within_s, closed.is_set))
        return started[-1]

    pool.lanes["problems"] = Lane(1, start, closed)
    with pytest.raises(ServiceError) as caught:
        pool.wait_for_answer(SolveOrder(b"{}"), within_s=120.0)
    assert caught.value.code is ErrorCode.COMPUTE_TIMED_OUT
    (worker,) = started
    assert not psutil.pid_exists(worker.pid)
    pool.close()


def test_a_worker_that_is_no_longer_needed_is_not_one_that_was_lost():
    launcher, ended = WorkerLauncher(), threading.Event()
    ended.set()
    with pytest.raises(GivenUpError):
        launcher.start_ready(SPINNING, LIMITS, 60.0, ended.is_set)


class Witness:
    """What a supervisor says."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self.reason = ""

    def on_message(self, message: object) -> None:
        pass

    def on_lost(self, reason: str) -> None:
        self.reason = reason
        self.lost.set()

    def on_stable(self) -> None:
        pass


def test_of_a_session(tmp_path):
    async def supervised() -> tuple[str, int]:
        start = partial(WorkerLauncher().start, SPINNING, LIMITS)
        witness, pids = Witness(), []

        def starts():
            worker = start()
            pids.append(worker.pid)
            return worker

        supervisor = Supervisor(starts, Watch(start=0.5, silence=0.5), witness)
        supervisor.spawn(Start(str(tmp_path), PlaybackState(), (0, 0), [], (0, 0), 0.1, 1.0, 2**20))
        await asyncio.wait_for(witness.lost.wait(), 120.0)
        return witness.reason, pids[0]

    reason, pid = asyncio.run(supervised())
    assert "silent for 0.5 s" in reason
    assert not psutil.pid_exists(pid)
