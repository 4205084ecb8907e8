"""Atomic numbers: int64 in arrays that several threads read and write.

All operations are sequentially consistent, so what a thread wrote before one of them is visible to
a thread that sees its result.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from cardan.engine.compiler.mode import INTERPRETED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    def add_atomically(array: NDArray, value: int) -> int:
        """Add to the first element of an int64 array; what it was before."""
        ...

    def load_atomically(array: NDArray) -> int:
        """The first element of an int64 array."""
        ...

    def store_atomically(array: NDArray, value: int) -> None:
        """Write the first element of an int64 array."""
        ...

    def yield_processor() -> None:
        """Let another thread run, if one waits for this processor."""
        ...

elif INTERPRETED:

    def add_atomically(array, value):
        """Add to the first element; no other thread runs in interpreted kernels."""
        before = int(array[0])
        array[0] = before + value
        return before

    def load_atomically(array):
        """The first element."""
        return int(array[0])

    def store_atomically(array, value):
        """Write the first element."""
        array[0] = value

    yield_processor = os.sched_yield

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    from cardan.engine.compiler.kernel import kernel

    INT32 = ir.IntType(32)
    ORDER, ALIGNMENT = "seq_cst", 8

    def _first(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Address of the first element of the array that is the first argument."""
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    @intrinsic
    def add_atomically(typing_context: Any, array: Any, value: Any) -> Any:
        """Add to the first element of an int64 array; what it was before."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _first(context, builder, signature, arguments)
            return builder.atomic_rmw("add", place, arguments[1], ORDER)

        return types.int64(array, types.int64), codegen

    @intrinsic
    def load_atomically(typing_context: Any, array: Any) -> Any:
        """The first element of an int64 array."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _first(context, builder, signature, arguments)
            return builder.load_atomic(place, ORDER, ALIGNMENT)

        return types.int64(array), codegen

    @intrinsic
    def store_atomically(typing_context: Any, array: Any, value: Any) -> Any:
        """Write the first element of an int64 array."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _first(context, builder, signature, arguments)
            builder.store_atomic(arguments[1], place, ORDER, ALIGNMENT)
            return context.get_dummy_value()

        return types.void(array, types.int64), codegen

    @intrinsic
    def _sched_yield(typing_context: Any) -> Any:
        """sched_yield() by name, so that compiled code can be cached."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            found = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(INT32, []), "sched_yield"
            )
            builder.call(found, [])
            return context.get_dummy_value()

        return types.void(), codegen

    @kernel
    def yield_processor():
        """Let another thread run, if one waits for this processor."""
        _sched_yield()
