"""Transpose the velocities of eight bodies between rows of six numbers and lanes.

With scalar loads and stores this takes half of the time of a sweep over contacts of balls, because
vector loads stall on scalar stores. Two columns of a row are therefore read and written at once and
transposed in registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from cardan.engine.compiler.kernel import fast_kernel
from cardan.engine.compiler.mode import CHECKED
from cardan.engine.solvers.sweeps.simd.layout import HALF, W

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS = 6
WORD, FLOAT = ir.IntType(64), ir.DoubleType()
PAIR, LANES = ir.VectorType(FLOAT, 2), ir.VectorType(FLOAT, HALF)
# Shuffle of two vectors: pairs of bodies 0, 2, 4, 6 and 1, 3, 5, 7, or two columns. It is its own
# inverse.
LOWER, UPPER = (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)
ALIGNMENT = 8  # bytes


def word(x: int) -> Any:
    """A constant index."""
    return ir.Constant(WORD, x)


def picked(builder: Any, a: Any, b: Any, places: tuple[int, ...]) -> Any:
    """Shuffle two vectors; indices of the second follow those of the first."""
    index = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), list(places))
    return builder.shuffle_vector(a, b, index)


def joined(builder: Any, parts: list[Any]) -> Any:
    """Concatenate vectors; their number is a power of two."""
    while len(parts) > 1:
        places = tuple(range(2 * parts[0].type.count))
        ends = zip(parts[::2], parts[1::2], strict=True)
        parts = [picked(builder, a, b, places) for a, b in ends]
    return parts[0]


def places_of(context: Any, builder: Any, signature: Any, values: Any) -> tuple[Any, Any]:
    """Addresses of the columns k, k + 1 of lane l, and of field k of all lanes."""
    v, bodies, u = (
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(signature.args[:3], values[:3], strict=True)
    )
    rows = []
    for l in range(HALF):
        body = builder.load(builder.gep(bodies.data, [word(l)]))
        rows.append(builder.gep(v.data, [builder.mul(body, word(COLUMNS))]))

    def pair(l: int, k: int) -> Any:
        return builder.bitcast(builder.gep(rows[l], [word(k)]), PAIR.as_pointer())

    def lanes(k: int) -> Any:
        place = builder.add(values[3], word(k * W))
        return builder.bitcast(builder.gep(u.data, [place]), LANES.as_pointer())

    return pair, lanes


if TYPE_CHECKING:

    def load_rows(v: NDArray, bodies: NDArray, u: NDArray, first: int) -> None:
        """u[first + k W + l] = v[bodies[l], k]."""
        ...

    def store_rows(v: NDArray, bodies: NDArray, u: NDArray, first: int) -> None:
        """v[bodies[l], k] = u[first + k W + l]."""
        ...

elif numba.config.DISABLE_JIT or CHECKED:

    @fast_kernel
    def load_rows(v: NDArray, bodies: NDArray, u: NDArray, first: int) -> None:
        """u[first + k W + l] = v[bodies[l], k]."""
        for l in range(HALF):
            for k in range(COLUMNS):
                u[first + k * W + l] = v[bodies[l], k]

    @fast_kernel
    def store_rows(v: NDArray, bodies: NDArray, u: NDArray, first: int) -> None:
        """v[bodies[l], k] = u[first + k W + l]."""
        for l in range(HALF):
            for k in range(COLUMNS):
                v[bodies[l], k] = u[first + k * W + l]

else:

    @intrinsic
    def _load_rows(typing: Any, v: Any, bodies: Any, u: Any, first: Any) -> Any:
        """See load_rows."""

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            pair, lanes = places_of(context, builder, signature, values)
            for k in range(0, COLUMNS, 2):
                rows = [builder.load(pair(l, k), align=ALIGNMENT) for l in range(HALF)]
                even, odd = joined(builder, rows[::2]), joined(builder, rows[1::2])
                for j, places in enumerate((LOWER, UPPER)):
                    column = picked(builder, even, odd, places)
                    builder.store(column, lanes(k + j), align=ALIGNMENT)
            return context.get_dummy_value()

        return types.void(v, bodies, u, first), codegen

    @intrinsic
    def _store_rows(typing: Any, v: Any, bodies: Any, u: Any, first: Any) -> Any:
        """See store_rows."""

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            pair, lanes = places_of(context, builder, signature, values)
            for k in range(0, COLUMNS, 2):
                both = [builder.load(lanes(k + j), align=ALIGNMENT) for j in range(2)]
                for j, places in enumerate((LOWER, UPPER)):
                    rows = picked(builder, both[0], both[1], places)
                    for l in range(j, HALF, 2):
                        part = picked(builder, rows, rows, (l - j, l - j + 1))
                        builder.store(part, pair(l, k), align=ALIGNMENT)
            return context.get_dummy_value()

        return types.void(v, bodies, u, first), codegen

    @fast_kernel
    def load_rows(v, bodies, u, first):
        """u[first + k W + l] = v[bodies[l], k]."""
        _load_rows(v, bodies, u, first)

    @fast_kernel
    def store_rows(v, bodies, u, first):
        """v[bodies[l], k] = u[first + k W + l]."""
        _store_rows(v, bodies, u, first)
