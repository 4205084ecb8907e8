"""Progress of compilation: counts kernels as Numba reports them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from cardan.engine.compiler.source_hash import ENGINE

# kinds of numba.core.event: compiling a kernel; optimising a linked entry point
COMPILE_EVENT, LINK_EVENT = "numba:compile", "cardan:link"

Progress = Callable[[int, int, str], None]  # done, total, what


class Defined:
    """Counts kernels."""

    count = 0


class _Watch(event.Listener):  # type: ignore[misc]
    """Counts kernels as they are compiled."""

    def __init__(self, progress: Progress) -> None:
        """Report to `progress`."""
        self._progress = progress
        self._done = 0

    def _report(self, what: str) -> None:
        total = max(Defined.count, 1)
        self._progress(min(self._done, total - 1), total, what)

    def on_start(self, event: Any) -> None:
        """An entry point is linked."""
        if event.kind == LINK_EVENT:
            self._report(f"optimising {event.data['name']}")

    def on_end(self, event: Any) -> None:
        """A kernel is compiled."""
        if event.kind == COMPILE_EVENT:
            self._done += 1
            kernel = event.data["dispatcher"].py_func
            self._report(f"{kernel.__module__.removeprefix(f'{ENGINE.name}.')}.{kernel.__name__}")


@contextmanager
def watched(progress: Progress) -> Iterator[None]:
    """Report every kernel that is compiled inside the block.

    Inside the block `done` is less than the total; the caller reports completion.
    """
    watch = _Watch(progress)
    with event.install_listener(COMPILE_EVENT, watch), event.install_listener(LINK_EVENT, watch):
        yield
