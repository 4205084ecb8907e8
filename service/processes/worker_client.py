"""One worker process of the queue or of the pool, seen from the service: start, send, end."""

import importlib
import logging
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from cardan.schemas import Limits
from cardan.service import clock
from cardan.service.processes import limits as process_limits
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.starting import is_gone, start_process

log = logging.getLogger("cardan.workers")

# SIGTERM comes first: the process may be writing
TERMINATE_SECONDS = 0.5
LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker process may use, in bytes, how large its scenes may be, and its niceness."""

    memory: int
    file: int
    scene: Limits
    nice: int = 0


@dataclass(frozen=True)
class Quit:
    """Leave."""


@dataclass(frozen=True)
class Ready:
    """The kernels are loaded; that took `seconds`. `parent` is the process it was forked from."""

    seconds: float
    parent: int


class WorkerLostError(Exception):
    """The process is gone, was ended because it gave no sign of life, or could not be started."""


class Worker:
    """A process that runs the `serve` of a module; used by one thread at a time."""

    def __init__(
        self,
        module: str,
        launcher: WorkerLauncher,
        limits: WorkerLimits,
        ready_s: float,
        given_up: Callable[[], bool],
    ) -> None:
        """Start it and wait until its kernels are loaded, or until it is no longer needed.

        Raises WorkerLostError.
        """
        ours, theirs = multiprocessing.Pipe()
        try:
            context: Any = multiprocessing.get_context(launcher.start_method)
            arguments = (theirs, module, limits, launcher.start_method)
            self._process: BaseProcess = context.Process(target=_enter, args=arguments, daemon=True)
            start_process(self._process)
        except OSError as error:
            ours.close()
            raise WorkerLostError(f"no process could be started: {error}") from error
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._pipe = ours
        self.pid = int(self._process.pid or 0)
        try:
            ready = self._wait_ready(ready_s, given_up)
        except BaseException:
            self.kill()
            raise
        self.warm_seconds = ready.seconds
        self._parent = ready.parent

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.is_alive()

    @property
    def orphaned(self) -> bool:
        """Whether the fork server it came from is gone: it dies with it, whatever it does."""
        return is_gone(self._parent)

    def send(self, message: Any) -> None:
        """Send a message. Raises WorkerLostError if the process has ended."""
        try:
            self._pipe.send(message)
        except OSError as error:
            raise WorkerLostError(self._how_it_ended()) from error

    def hear(self, seconds: float) -> Any:
        """Its next message, `None` after `seconds` of silence. Raises WorkerLostError."""
        try:
            if not self._pipe.poll(seconds):
                return None
            return self._pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerLostError(self._how_it_ended()) from error

    def interrupt(self) -> None:
        """End the process from another thread; a pending receive fails with WorkerLostError."""
        self._process.kill()

    def kill(self) -> None:
        """Kill it now."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def quit(self, grace_s: float) -> None:
        """Request it to exit, then force it."""
        try:
            self._pipe.send(Quit())
        except OSError:
            pass
        else:
            until = clock.monotonic() + grace_s
            self._process.join(max(0.0, until - clock.monotonic()))
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(TERMINATE_SECONDS)
        self.kill()

    def _wait_ready(self, ready_s: float, given_up: Callable[[], bool]) -> Ready:
        until = clock.monotonic() + ready_s
        while clock.monotonic() < until and not given_up():
            first = self.hear(LOOK_SECONDS)
            if isinstance(first, Ready):
                return first
        raise WorkerLostError(f"the worker was not ready after {ready_s:.0f} s")

    def _how_it_ended(self) -> str:
        self._process.join(1.0)
        code = self._process.exitcode
        if code is not None and code < 0:
            return f"process {self.pid} ended by signal {-code}"
        return f"process {self.pid} ended with status {code}"


def _enter(pipe: Connection, module: str, limits: WorkerLimits, start_method: str) -> None:
    """In the process: serve until a request to exit or until the service has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if start_method == "forkserver":
        process_limits.die_with_parent()
    process_limits.limit_resources(limits.memory)
    # a write past this fails like one on a full disk, and is reported, not fatal
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limits.file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file, hard))
    os.nice(limits.nice)
    from cardan import engine

    serve = importlib.import_module(module).serve
    pipe.send(Ready(engine.warmup(), os.getppid()))
    try:
        while not isinstance(order := pipe.recv(), Quit):
            serve(pipe, order, limits.scene)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        log.info("the service is gone; the worker ends")
