"""`@kernel`: the one place that decides how the engine is compiled (`$CARDAN_COMPILER`).

The cache of Numba does not notice an edited callee in another file, so stored code is keyed by a
hash of every source file of the engine: an edited engine never loads code of an older version.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cardan.engine.compiler.mode import CHECKED, COMPILER, INTERPRETED, PLAIN

F = TypeVar("F")

if TYPE_CHECKING:

    def kernel(function: F) -> F:
        """Compile a function; the type checker sees it unchanged."""
        ...

    def fast_kernel(function: F) -> F:
        """Compile a function whose sums may be reordered (vectorised inner loops only)."""
        ...

    def unlocked_kernel(function: F) -> F:
        """Compile a function that lets other threads of Python run meanwhile."""
        ...

    def clock_ns() -> int:
        """Monotonic clock [ns], callable from compiled code."""
        ...

elif INTERPRETED:

    def kernel(function):
        """Return the function unchanged, for Python."""
        return function

    fast_kernel = unlocked_kernel = kernel
    clock_ns = time.perf_counter_ns

else:
    # IEEE division (x/0 = inf) instead of Python's exception: the step reports, never raises
    ERRORS = {"error_model": "numpy"}

    class FastMathFlags(set[str]):
        """LLVM's fast-math flags; their text is part of symbols, so it has one order."""

        def __repr__(self):
            """Return the text of a set, the same in every process."""
            return f"{{{', '.join(map(repr, sorted(self)))}}}"

    FAST = {"fastmath": FastMathFlags({"contract", "reassoc", "nsz"})}

    if COMPILER == PLAIN:
        from cardan.engine.compiler.cache import SOURCE_HASH, USER_CACHE
        from cardan.engine.compiler.progress import Defined

        def compiled(function, **options):
            """Compile as Numba does by itself; its cache is below the folder of these sources."""
            Defined.count += 1
            before = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(USER_CACHE.base / SOURCE_HASH)
            try:
                # Numba does not cache functions without a source file
                has_file = not function.__code__.co_filename.startswith("<")
                cache = has_file and USER_CACHE.is_writable()
                return numba.njit(cache=cache, **ERRORS, **options)(function)
            finally:
                numba.config.CACHE_DIR = before
    else:
        from cardan.engine.compiler import boundscheck, indexing
        from cardan.engine.compiler.linker import Kernel

        (boundscheck if CHECKED else indexing).install()
        # kernels allocate nothing, so Numba's reference counting is off
        OPTIONS = {"nopython": True, "boundscheck": CHECKED, "_nrt": False} | ERRORS

        def compiled(function, **options):
            """Compile as one LLVM module with all callees (linker.py)."""
            return Kernel(function, OPTIONS | options)

    def kernel(function):
        """Compile a function when it is first called."""
        return compiled(function)

    def fast_kernel(function):
        """Compile as `kernel` does, with sums that may be reordered."""
        return compiled(function, **FAST)

    def unlocked_kernel(function):
        """Compile as `kernel` does, without Python's lock: its other threads run meanwhile."""
        return compiled(function, nogil=True)

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
