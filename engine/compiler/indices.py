"""Indices of kernels as they are: negative ones do not count from the end of an array.

Numba compares every signed index with zero, as Python does, and adds the size of the axis to a
negative one. No kernel counts from the end (boundscheck.py finds one that does), and without the
comparison loops over arrays are vectorised more often. Functions that are not the engine's keep it.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.np import arrayobj

# how the symbols of the engine's kernels begin
ENGINE = "_ZN6cardan6engine"

_numbas_own = arrayobj.fix_integer_index


def as_it_is(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """The index as a number of the size of an address."""
    return context.cast(
        builder, index, index_type, types.intp if index_type.signed else types.uintp
    )


def _fixed(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """As it is in kernels of the engine, elsewhere as Numba has it."""
    ours = builder.function.name.startswith(ENGINE)
    return (as_it_is if ours else _numbas_own)(context, builder, index_type, index, size)


def install() -> None:
    """Make Numba, in this process, take indices of the engine's kernels as they are."""
    arrayobj.fix_integer_index = _fixed
