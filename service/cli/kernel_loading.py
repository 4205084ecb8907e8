"""Compiles the kernels in a process of its own while the service already answers."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from cardan.service.cli import console, kernel_note
from cardan.service.processes.kernels import Compiled, Kernels
from cardan.service.processes.limits import die_with_parent


@contextmanager
def loaded_meanwhile(kernels: Kernels, then: Callable[[], None]) -> Iterator[None]:
    """Compile or load what `kernels` lack beside the block, and call `then` once they are ready.

    The end of the block ends the compiling.
    """
    if kernels.ready:
        then()
        yield
        return
    loading = _Loading(kernels, then)
    loading.start()
    try:
        yield
    finally:
        loading.stop()


# niceness of what compiles: whoever opens the page gets the processor first
BEHIND = 10


class _Loading:
    """One thread that starts the process, hears its progress and tells `kernels` how it ended."""

    def __init__(self, kernels: Kernels, then: Callable[[], None]) -> None:
        """Prepare."""
        self._kernels = kernels
        self._then = then
        self._ours, theirs = multiprocessing.Pipe()
        # a process apart, so that the one of the API imports no engine
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=_compile, args=(theirs, os.getpid()))
        self._theirs = theirs
        self._thread = threading.Thread(target=self._work, name="kernels", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End the process, if it still compiles."""
        self._kernels.finish(ready=False)
        if self._process.pid is not None and self._process.is_alive():
            self._process.terminate()
        self._thread.join()

    def _work(self) -> None:
        mark = ""
        try:
            self._process.start()
            self._theirs.close()
            with console.progress_bar("Compiling kernels", lines=True) as tell:
                while True:
                    done, total, what, mark = self._ours.recv()
                    self._kernels.compiled = Compiled(done, total, what)
                    tell(done / max(total, 1), what)
        except EOFError:
            self._process.join()
        finally:
            good = self._process.exitcode == 0
            if good:
                kernel_note.write(mark)
            self._kernels.finish(ready=good)
        if self._kernels.ready:
            self._then()


def _compile(pipe: Connection, parent: int) -> None:
    # Ctrl+C belongs to the parent, which then ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
    os.nice(BEHIND)
    from cardan.engine.compiler.cache import PLACE, USER_CACHE, complete_folder
    from cardan.service.cli.compiling import compile_kernels

    def tell(done: int, total: int, what: str) -> None:
        mark = (complete_folder() or USER_CACHE.base / PLACE) / "complete"
        pipe.send((done, total, what, str(mark)))

    compile_kernels(tell)
