"""One worker process, seen from the API process: spawn, send, receive, end."""

import asyncio
import contextlib
import importlib
import multiprocessing
import multiprocessing.forkserver
import socket
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

from cardan.service.processes import protocol
from cardan.service.processes.protocol import Hello, Message, Stop
from cardan.service.processes.starting import in_starter, start_process

PRELOAD = "cardan.service.sessions.preload"
# entry point of a worker
WORKER = "cardan.service.sessions.worker"
READ_LIMIT = 4 * 1024 * 1024
TERMINATE_SECONDS = 0.5
DEFAULT_MEMORY_BYTES = 4 * 1024**3
WARM_SECONDS = 600.0


class WorkerLauncher:
    """Starts workers by one method: "forkserver" where there is one, else "spawn"."""

    def __init__(
        self, start_method: str | None = None, memory_bytes: int = DEFAULT_MEMORY_BYTES
    ) -> None:
        """Choose the method; `None` takes the best one of the platform."""
        if start_method is None:
            methods = multiprocessing.get_all_start_methods()
            start_method = "forkserver" if "forkserver" in methods else "spawn"
        self.start_method = start_method
        self._memory_bytes = memory_bytes
        context: Any = multiprocessing.get_context(start_method)
        self._new_process: Callable[..., BaseProcess] = context.Process

    def prepare(self) -> None:
        """Start the fork server without waiting for it to load the kernels."""
        if self.start_method == "forkserver":
            in_starter(_start_fork_server)

    async def spawn(self) -> "WorkerProcess":
        """A new worker that waits for its `Start`. Raises OSError when none can be started."""
        ours, theirs = socket.socketpair()
        try:
            process = self._new_process(
                target=_enter,
                args=(theirs, self.start_method, self._memory_bytes),
                daemon=True,
            )
            await asyncio.to_thread(start_process, process)
            ours.setblocking(False)
            reader, writer = await asyncio.open_connection(sock=ours, limit=READ_LIMIT)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return WorkerProcess(process, reader, writer)

    async def warm(self) -> float:
        """Load the kernels and prove it with a worker that is asked; seconds it took.

        A fork server ignores a preload that fails, and every session would then load for itself.
        Raises RuntimeError.
        """
        began = time.monotonic()
        try:
            worker = await self.spawn()
        except OSError as error:
            raise RuntimeError(f"no worker can be started: {error}") from error
        try:
            worker.send(Stop())
            async with asyncio.timeout(WARM_SECONDS):
                hello = await worker.receive()
        except TimeoutError as error:
            raise RuntimeError(f"no worker answered within {WARM_SECONDS:g} s") from error
        finally:
            await asyncio.shield(worker.end(TERMINATE_SECONDS))
        if not isinstance(hello, Hello):
            raise RuntimeError("the first worker ended at once; the log has the cause")
        if self.start_method == "forkserver" and not hello.preloaded:
            raise RuntimeError("the fork server did not preload the engine; the log has the cause")
        return time.monotonic() - began


class WorkerProcess:
    """A running worker and the stream to it."""

    def __init__(
        self, process: BaseProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Take over a started process and our end of its socket."""
        self._process = process
        self._reader = reader
        self._writer = writer
        self.pid = int(process.pid or 0)

    def send(self, message: Message) -> None:
        """Queue a message; silently nothing when the worker is gone (its EOF tells)."""
        if not self._writer.is_closing():
            self._writer.write(protocol.encode(message))

    async def receive(self) -> Message | None:
        """The next message, `None` when the worker has closed its end."""
        return await protocol.read(self._reader)

    async def end(self, grace: float) -> int | None:
        """Wait up to `grace` seconds for the exit, then SIGTERM, then SIGKILL; the exit code."""
        if not await self._exited(grace):
            self._process.terminate()
            if not await self._exited(TERMINATE_SECONDS):
                self._process.kill()
                await self._exited(None)
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
        self._process.join()
        code = self._process.exitcode
        self._process.close()
        return code

    async def _exited(self, seconds: float | None) -> bool:
        """Whether the process is gone, at the latest after `seconds`."""
        loop = asyncio.get_running_loop()
        gone = asyncio.Event()
        loop.add_reader(self._process.sentinel, gone.set)
        try:
            async with asyncio.timeout(seconds):
                await gone.wait()
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(self._process.sentinel)
        return True


def _enter(sock: socket.socket, start_method: str, memory_bytes: int) -> None:
    """Run the worker; its module, and with it the engine, is imported in the worker only."""
    importlib.import_module(WORKER).main(sock, start_method, memory_bytes)


def _start_fork_server() -> None:
    multiprocessing.forkserver.set_forkserver_preload([PRELOAD])
    multiprocessing.forkserver.ensure_running()
