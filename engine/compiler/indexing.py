"""How kernels reach into arrays: what Numba cannot know of the engine and LLVM can use.

*Negative indices do not count from the end.* Numba compares every signed index and every bound of a
slice with zero, as Python does, and adds the size of the axis. No kernel counts from the end
(boundscheck.py finds one that does); without the comparison more loops are vectorised.

*Floats and integers do not overlap.* Elements of float64 arrays and those of int64 arrays get types
of their own in LLVM's alias analysis, so that a stored float does not make it load indices again.

Both apply to kernels of the engine alone (decision 0820).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.cpython import slicing
from numba.np import arrayobj

# how the symbols of the engine's kernels begin
ENGINE = "_ZN6cardan6engine"
OFFSET = ir.IntType(64)(0)

_numbas_index = arrayobj.fix_integer_index
_numbas_slice = slicing.fix_slice
_numbas_load = arrayobj.load_item
_numbas_store = arrayobj.store_item


def is_ours(builder: Any) -> bool:
    """Whether the function that is built is a kernel of the engine."""
    return bool(builder.function.name.startswith(ENGINE))


def index_as_it_is(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """The index as a number of the size of an address."""
    return context.cast(
        builder, index, index_type, types.intp if index_type.signed else types.uintp
    )


def _fix_index(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    fix = index_as_it_is if is_ours(builder) else _numbas_index
    return fix(context, builder, index_type, index, size)


def _fix_slice(builder: Any, bounds: Any, size: Any) -> None:
    """Cut a slice to its array; one with a step is left to Numba."""
    if bounds._fe_type.has_step or not is_ours(builder):
        _numbas_slice(builder, bounds, size)
        return
    beyond = builder.icmp_signed(">", bounds.stop, size)
    bounds.stop = builder.select(beyond, size, bounds.stop)


def _mark(builder: Any, element: Any) -> None:
    """Give the load or store written last the type of its element in alias analysis."""
    name = {types.float64: "float", types.int64: "integer"}.get(element)
    last = builder.block.instructions[-1]
    if name is None or last.opname not in ("load", "store"):
        return
    module = builder.module
    root = module.add_metadata(["elements of arrays"])
    element_type = module.add_metadata([name, root])
    last.set_metadata("tbaa", module.add_metadata([element_type, element_type, OFFSET]))


def _load(context: Any, builder: Any, array_type: Any, pointer: Any) -> Any:
    value = _numbas_load(context, builder, array_type, pointer)
    if is_ours(builder):
        _mark(builder, array_type.dtype)
    return value


def _store(context: Any, builder: Any, array_type: Any, value: Any, pointer: Any) -> Any:
    stored = _numbas_store(context, builder, array_type, value, pointer)
    if is_ours(builder):
        _mark(builder, array_type.dtype)
    return stored


def install() -> None:
    """Make Numba, in this process, reach into arrays so in kernels of the engine."""
    arrayobj.fix_integer_index = _fix_index
    slicing.fix_slice = _fix_slice
    arrayobj.load_item = _load
    arrayobj.store_item = _store
