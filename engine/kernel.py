"""`@kernel`: the one place that decides how the engine is compiled and where compiled code is kept.

The cache of Numba does not notice an edited callee in another file, so the folder is keyed by a
hash of every source file of the engine: an edited engine never meets code of its past self.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from llvmlite import binding as llvm
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.sources import source_hash

F = TypeVar("F")

ORDINARY, BOUNDSCHECK = "ordinary", "boundscheck"


def chosen_compiler() -> str:
    """`$CARDAN_COMPILER`: "ordinary", or "boundscheck": an index out of range is an IndexError.

    Raises ValueError for anything else.
    """
    chosen = os.environ.get("CARDAN_COMPILER") or ORDINARY
    if chosen not in (ORDINARY, BOUNDSCHECK):
        raise ValueError(f"CARDAN_COMPILER is '{chosen}'; allowed: {ORDINARY}, {BOUNDSCHECK}")
    return chosen


CHECKED = chosen_compiler() == BOUNDSCHECK


def cache_folder() -> Path:
    """Where compiled kernels are: `$CARDAN_KERNEL_CACHE` or the user's cache, then the hash.

    Checked kernels, and what they are linked from, have a folder of their own above the hash.
    """
    base = os.environ.get("CARDAN_KERNEL_CACHE")
    if base is None:
        user = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(user) / "cardan" / "kernels")
    return Path(base, BOUNDSCHECK if CHECKED else "") / source_hash()


SOURCE_HASH = source_hash()
CACHE_FOLDER = cache_folder()
numba.config.CACHE_DIR = str(CACHE_FOLDER)


def completion_mark() -> Path:
    """The file that says that this machine's processor finds every kernel in the cache."""
    features = sorted(llvm.get_host_cpu_features().items())
    processor = f"{llvm.get_host_cpu_name()} {features}"
    return CACHE_FOLDER / f"complete-{hashlib.sha256(processor.encode()).hexdigest()[:16]}"


def is_complete() -> bool:
    """Whether the cache holds every kernel of these sources, for this processor."""
    return completion_mark().exists()


def cache_is_writable() -> bool:
    """Whether compiled kernels can be kept."""
    try:
        CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(CACHE_FOLDER, os.W_OK)


def mark_complete() -> None:
    """Note that the cache holds every kernel; a cache that cannot be written is left alone."""
    if cache_is_writable():
        completion_mark().touch()


if TYPE_CHECKING:

    def kernel(function: F) -> F:
        """Compile a function; the type checker sees it unchanged."""
        ...

    def fast_kernel(function: F) -> F:
        """Compile a function whose sums may be reordered (vectorised inner loops only)."""
        ...

    def clock_ns() -> int:
        """Monotonic clock [ns], callable from compiled code."""
        ...

else:
    if numba.config.DISABLE_JIT:

        def kernel(function: F) -> F:
            """Leave the function to Python."""
            return function

        fast_kernel = kernel
        clock_ns = time.perf_counter_ns
    else:
        from engine.linking import FolderLocator, Kernel

        FolderLocator.folder = CACHE_FOLDER
        if CHECKED:
            from engine import boundscheck

            boundscheck.install()
        # IEEE division (x/0 = inf) instead of Python's exception: the step reports, never raises.
        # Kernels own no memory, so nothing is counted.
        OPTIONS = {"nopython": True, "boundscheck": CHECKED, "error_model": "numpy", "_nrt": False}

        def kernel(function):
            """Compile a function when it is first called."""
            return Kernel(function, OPTIONS)

        class Liberties(set[str]):
            """Names of liberties that sums may take, told in one order: symbols are made of it."""

            def __repr__(self):
                """As a set, but the same in every process."""
                return f"{{{', '.join(map(repr, sorted(self)))}}}"

        FAST = OPTIONS | {"fastmath": Liberties({"contract", "reassoc", "nsz"})}

        def fast_kernel(function):
            """As `kernel`, with sums that may be reordered."""
            return Kernel(function, FAST)

        @intrinsic
        def _clock_gettime(typing_context: Any) -> Any:
            """clock_gettime(CLOCK_MONOTONIC) by name, so that compiled code can be cached."""
            from llvmlite import ir

            def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                int32, int64 = ir.IntType(32), ir.IntType(64)
                timespec = ir.LiteralStructType([int64, int64])
                function_type = ir.FunctionType(int32, [int32, timespec.as_pointer()])
                function = cgutils.get_or_insert_function(
                    builder.module, function_type, "clock_gettime"
                )
                slot = cgutils.alloca_once(builder, timespec)
                clock = 6 if sys.platform == "darwin" else 1
                builder.call(function, [int32(clock), slot])
                seconds = builder.load(cgutils.gep_inbounds(builder, slot, 0, 0))
                nanoseconds = builder.load(cgutils.gep_inbounds(builder, slot, 0, 1))
                return builder.add(builder.mul(seconds, int64(1_000_000_000)), nanoseconds)

            return types.int64(), codegen

        @kernel
        def clock_ns():
            """Monotonic clock [ns], callable from compiled code."""
            return _clock_gettime()
