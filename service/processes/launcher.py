"""The one way to start a worker process: from the fork server, which has the kernels loaded."""

import importlib
import logging
import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from cardan.service import clock
from cardan.service.processes import limits as process_limits
from cardan.service.processes import starting
from cardan.service.processes.channel import SEND_BUFFER_BYTES, Channel
from cardan.service.processes.kernels import Kernels
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.starting import start_process
from cardan.service.processes.worker import GivenUpError, Hello, Worker, WorkerLostError

log = logging.getLogger("cardan.workers")

WARM_SECONDS = 600.0


class WorkerLauncher:
    """Starts workers by one method: "forkserver" where there is one, else "spawn"."""

    def __init__(self, start_method: str | None = None, kernels: Kernels | None = None) -> None:
        """Choose the method; `None` takes the best one of the platform.

        No process starts before `kernels` are ready.
        """
        if start_method is None:
            methods = multiprocessing.get_all_start_methods()
            start_method = "forkserver" if "forkserver" in methods else "spawn"
        self.start_method = start_method
        self.kernels = kernels or Kernels()
        self._context: Any = multiprocessing.get_context(start_method)

    def prepare(self) -> None:
        """Start the fork server without waiting for it to load the kernels."""
        if self.start_method == "forkserver" and self.kernels.ready:
            starting.start_fork_server()

    def start(self, module: str, limits: WorkerLimits) -> Worker:
        """Start a process that runs `module.main(channel, limits)`, once there are kernels.

        Raises WorkerLostError; GivenUpError when nobody compiles kernels any more.
        """
        if not self.kernels.wait():
            raise GivenUpError("the kernels were not compiled to the end")
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise WorkerLostError(f"no process could be started: {error}") from error
        try:
            arguments = (theirs, module, limits, self.start_method)
            process = self._context.Process(target=_enter, args=arguments, daemon=True)
            start_process(process)
        except OSError as error:
            ours.close()
            raise WorkerLostError(f"no process could be started: {error}") from error
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return Worker(process, ours)

    def start_ready(
        self, module: str, limits: WorkerLimits, within_s: float, given_up: Callable[[], bool]
    ) -> Worker:
        """Start a process and wait for it, at most so long, or until it is no longer needed.

        Raises WorkerLostError.
        """
        worker = self.start(module, limits)
        try:
            worker.wait_ready(within_s, given_up)
        except BaseException:
            worker.kill()
            raise
        return worker

    def warm(
        self, module: str, limits: WorkerLimits, given_up: Callable[[], bool] = lambda: False
    ) -> float:
        """Load the kernels and prove it with a worker that is asked; seconds it took.

        A fork server ignores a preload that fails, and every worker would then load for itself.
        Raises RuntimeError.
        """
        began = clock.monotonic()
        try:
            worker = self.start_ready(module, limits, WARM_SECONDS, given_up)
        except WorkerLostError as error:
            raise RuntimeError(str(error)) from error
        worker.quit(0.5)
        if self.start_method == "forkserver" and not worker.preloaded:
            raise RuntimeError("the fork server did not preload the engine; the log has the cause")
        return clock.monotonic() - began


def _enter(sock: socket.socket, module: str, limits: WorkerLimits, start_method: str) -> None:
    """Run a worker's module, in its process, until it shall exit or the service has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if start_method == "forkserver":
        process_limits.die_with_parent()
    process_limits.limit_resources(limits)
    # `simulations`, `sessions` or `compute`
    process_limits.name_process(module.split(".")[-2])
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    # the module, and with it the engine, is imported in the process only
    main = importlib.import_module(module).main
    preload = sys.modules.get(starting.PRELOAD)
    preloaded = preload is not None and preload.WARM_SECONDS is not None
    if not preloaded:
        from cardan import engine

        engine.warmup()
    channel = Channel(sock)
    try:
        channel.send(Hello(preloaded, os.getppid()))
        main(channel, limits)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        log.info("the service is gone; the worker ends")
    finally:
        channel.close()
