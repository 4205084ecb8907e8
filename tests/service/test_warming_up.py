"""Kernels that are still being compiled: what waits for them, what is refused, what ends."""

import json
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from cardan.schemas import Limits
from cardan.service.compute import messages as m
from cardan.service.compute.pool import WORKER, ComputePool
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.kernels import Kernels
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import GivenUpError
from tests.service.real_server import OPENS

LIMITS = WorkerLimits(memory=4 * 1024**3, file=0, scene=Limits())


def test_a_process_waits_until_kernels_are_there_or_given_up():
    kernels = Kernels(ready=False)
    launcher = WorkerLauncher(kernels=kernels)
    with ThreadPoolExecutor(1) as threads:
        started = threads.submit(launcher.start, WORKER, LIMITS)
        with pytest.raises(TimeoutError):
            started.result(0.2)
        kernels.finish(ready=False)
        with pytest.raises(GivenUpError):
            started.result()


def test_a_request_waits_as_long_as_it_has_time():
    pool = ComputePool(WorkerLauncher(kernels=Kernels(ready=False)), LIMITS)
    order = m.TakeOrder(json.dumps({"scene": "double-pendulum"}).encode(), "simulation")
    try:
        with pytest.raises(ServiceError, match="still being compiled") as refused:
            pool.wait_for_answer(order, within_s=0.2)
    finally:
        pool.close()
    assert refused.value.code == ErrorCode.WARMING_UP


def test_a_service_that_compiles_ends_without_an_error(own_server, tmp_path):
    own_server.environ["CARDAN_KERNEL_CACHE"] = str(tmp_path / "kernels")
    own_server.start(until=OPENS)
    own_server.process.send_signal(signal.SIGINT)
    assert own_server.process.wait(60) == 0
    own_server.stop()
    assert "ERROR" not in "".join(own_server.errors)
