"""The kernels, compiled by several processes where there are several cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cardan.service.cores import usable_cores
from cardan.service.processes.limits import die_with_parent

if TYPE_CHECKING:
    from cardan.engine.compiler.warmup import Share

Tell = Callable[[int, int, str], None]


def compile_kernels(tell: Tell) -> float:
    """Compile or load every kernel; returns the seconds it took.

    tell(done, total, what) as in `cardan.engine.warmup`. Kernels that other processes did not
    compile are compiled here.
    """
    from cardan import engine
    from cardan.engine.compiler.cache import USER_CACHE, is_complete
    from cardan.engine.compiler.warmup import BESIDE

    began = time.perf_counter()
    n = min(usable_cores() - 1, len(BESIDE))
    if n > 0 and not is_complete() and USER_CACHE.is_writable():
        context = multiprocessing.get_context("spawn")
        others = [
            context.Process(target=_compile_shares, args=(os.getpid(), BESIDE[k::n]), daemon=True)
            for k in range(n)
        ]
        for other in others:
            other.start()
        engine.warmup(tell, "step")
        for other in others:
            other.join()
    engine.warmup(tell)
    return time.perf_counter() - began


def _compile_shares(parent: int, shares: Sequence[Share]) -> None:
    # Ctrl+C belongs to the parent, which then ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
    from cardan import engine

    for share in shares:
        engine.warmup(share=share)
