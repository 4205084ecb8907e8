"""Four numbers of an array at once, in a register of AVX2.

Numba leaves loops of few rounds to LLVM, which unrolls them into numbers one by one. `four_of` and
`put_four` say that four neighbours are one value; sums and products of such values are those of
their numbers, with the same bits. Indices are not checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import HAS_LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    def four_of(x: NDArray, at: int) -> Any:
        """x[at : at + 4] of contiguous x, as one value."""
        ...

    def put_four(value: Any, x: NDArray, at: int) -> None:
        """x[at : at + 4] = value, for contiguous x."""
        ...

    def together(a: float, b: float, c: float, d: float) -> Any:
        """Four numbers as one value; `lane_of` has them again."""
        ...

elif not HAS_LANES:

    @kernel
    def four_of(x, at):
        """Four numbers."""
        return x[at : at + 4].copy()

    @kernel
    def put_four(value, x, at):
        """Write four numbers."""
        x[at : at + 4] = value

    @kernel
    def together(a, b, c, d):
        """Four numbers."""
        return np.array((a, b, c, d))

else:
    from llvmlite import ir
    from numba import types
    from numba.core import errors
    from numba.extending import intrinsic

    from cardan.engine.compiler.lanes import LanesType

    FOUR = ir.VectorType(ir.DoubleType(), 4)
    ALIGNMENT = 8

    def _place(context, builder, array_type, array, at):
        """Address of x[at] as that of four numbers."""
        if array_type.layout != "C":
            raise errors.LoweringError("four numbers of an array whose numbers are apart")
        data = context.make_array(array_type)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [at]), FOUR.as_pointer())

    @intrinsic
    def four_of(typing_context, x, at):
        """x[at : at + 4] of contiguous x, as one value."""

        def codegen(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], *arguments)
            return builder.load(place, align=ALIGNMENT)

        return LanesType(4)(x, types.int64), codegen

    @intrinsic
    def put_four(typing_context, value, x, at):
        """x[at : at + 4] = value, for contiguous x."""

        def codegen(context, builder, signature, arguments):
            value, *where = arguments
            place = _place(context, builder, signature.args[1], *where)
            builder.store(value, place, align=ALIGNMENT)

        return types.void(value, x, types.int64), codegen

    @intrinsic
    def together(typing_context, a, b, c, d):
        """Four numbers as one value; `lane_of` has them again."""

        def codegen(context, builder, signature, arguments):
            value = ir.Constant(FOUR, ir.Undefined)
            for k, number in enumerate(arguments):
                value = builder.insert_element(value, number, ir.IntType(32)(k))
            return value

        return LanesType(4)(types.float64, types.float64, types.float64, types.float64), codegen
