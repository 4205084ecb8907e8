"""The kernels, compiled by two processes where there are two cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable

from cardan.service.processes.limits import die_with_parent

Tell = Callable[[int, int, str], None]


def compile_kernels(tell: Tell) -> float:
    """Compile or load every kernel; returns the seconds it took.

    tell(done, total, what) as in `cardan.engine.warmup`. Kernels that the second process did not
    compile are compiled here.
    """
    from cardan import engine
    from cardan.engine.compiler.cache import USER_CACHE, is_complete

    began = time.perf_counter()
    if not is_complete() and USER_CACHE.is_writable() and (os.cpu_count() or 1) > 1:
        other = multiprocessing.get_context("spawn").Process(
            target=_compile_rest, args=(os.getpid(),), daemon=True
        )
        other.start()
        engine.warmup(tell, "steps")
        other.join()
    engine.warmup(tell)
    return time.perf_counter() - began


def _compile_rest(parent: int) -> None:
    # Ctrl+C belongs to the parent, which then ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
    from cardan import engine

    engine.warmup(share="rest")
