"""Kernels that are still being compiled: what waits for them, what is refused, what ends."""

import json
import os
import signal
import subprocess
import sys
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


def test_a_service_that_compiles_ends_without_an_error(tmp_path):
    service = subprocess.Popen(
        [sys.executable, "-u", "-m", "cardan.service.cli", "serve", "--port", "0",
         "--data", tmp_path / "data"],
        env=os.environ | {"CARDAN_KERNEL_CACHE": str(tmp_path / "kernels")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert service.stdout is not None
    assert "shows how far the kernels are" in service.stdout.readline()
    service.send_signal(signal.SIGINT)
    _, errors = service.communicate(timeout=60)
    assert service.returncode == 0
    assert "ERROR" not in errors
