"""Compile the engine's kernels in a process of their own.

Compiling needs half a gigabyte and holds the interpreter; what comes of it is a folder of machine
code. So the one who waits for it (the command line, a service that starts) lets a child do it and
loads the folder, in a fraction of a second.
"""

import subprocess
import sys
import time
from collections.abc import Callable

import engine
from engine.kernel import cache_is_writable, is_complete

Progress = Callable[[int, int, str], None]


def compile_kernels(progress: Progress | None = None) -> float:
    """Have every kernel compiled and loaded in this process; returns the seconds it took.

    progress(done, total, what) is called for every kernel and once at the end, with done = total.
    Where the cache cannot be written, or the child dies, this process compiles for itself.
    """
    began = time.perf_counter()
    tell = progress if progress is not None else _quietly
    if not is_complete() and cache_is_writable():
        _compile_in_child(tell)
    engine.warmup(tell)
    return time.perf_counter() - began


def _quietly(done: int, total: int, what: str) -> None:
    """Nobody is watching."""


def _compile_in_child(tell: Progress) -> None:
    """Run this file as a program and pass its lines on; how it ends shows in the cache."""
    with subprocess.Popen(
        [sys.executable, "-m", "service.warmup"], stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            for line in child.stdout or ():
                done, total, what = line.rstrip("\n").split(" ", 2)
                if int(done) < int(total):
                    tell(int(done), int(total), what)
        except BaseException:
            child.terminate()
            raise


def _write(done: int, total: int, what: str) -> None:
    sys.stdout.write(f"{done} {total} {what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    engine.warmup(_write)
