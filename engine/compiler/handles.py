"""Handles: addresses of structs, which Python passes to kernels in place of the structs.

Passing a struct from Python unboxes every array in it, 100 us for those of a simulation. With a
handle that happens once; the arrays must not move, which NumPy guarantees while they are
referenced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np

from cardan.engine.compiler.mode import STRUCTS_ARE_TUPLES

T = TypeVar("T")

if TYPE_CHECKING:

    def struct_of(handle: T) -> T:
        """The struct of a handle, in a kernel."""
        ...

    def handle_of(whole: T) -> T:
        """Handle of a struct, for kernels that call `struct_of` on it."""
        ...

elif STRUCTS_ARE_TUPLES:
    from cardan.engine.compiler.kernel import kernel

    @kernel
    def struct_of(handle):
        """Here the handle is the struct."""
        return handle

    def handle_of(whole):
        """The struct itself."""
        return whole

else:
    from llvmlite import ir
    from numba._dispatcher import compute_fingerprint
    from numba.core import cgutils, types
    from numba.core.datamodel.models import OpaqueModel
    from numba.extending import NativeValue, intrinsic, register_model, unbox

    from cardan.engine.compiler.kernel import kernel
    from cardan.engine.compiler.structs import StructType

    WORD = ir.IntType(64)

    class HandleType(types.Type):
        """The address of a struct that Python owns."""

        def __init__(self, struct_type: StructType) -> None:
            """Make the type of a handle to one type of struct."""
            self.struct_type = struct_type
            self.lane_width = struct_type.lane_width
            super().__init__(f"Handle({struct_type.name})")

    register_model(HandleType)(OpaqueModel)

    _handle_types: dict[tuple[type, bytes], HandleType] = {}

    def handle_type(whole: Any) -> HandleType:
        """Type of the handle of a struct; made once for structs of the same types.

        Dispatchers distinguish types by this fingerprint too; it is a hundred times faster.
        """
        key = (type(whole), compute_fingerprint(whole))
        if key not in _handle_types:
            _handle_types[key] = HandleType(numba.typeof(whole))
        return _handle_types[key]

    class Handle:
        """A struct and the block of memory that kernels read it from."""

        __slots__ = ("_numba_type_", "address", "block", "whole")

        def __init__(self, whole: Any) -> None:
            """Copy the addresses of all arrays, and own references to the arrays."""
            self.whole = whole
            self.block = np.zeros(1, np.int64)
            self.block = np.zeros(write_block(whole, self.block), np.int64)
            write_block(whole, self.block)
            self.address = self.block.ctypes.data
            self._numba_type_ = handle_type(whole)

    @unbox(HandleType)
    def _unbox(handle_type: HandleType, obj: Any, c: Any) -> NativeValue:
        address = c.pyapi.object_getattr_string(obj, "address")
        pointer = c.pyapi.long_as_voidptr(address)
        c.pyapi.decref(address)
        return NativeValue(pointer, is_error=c.pyapi.c_api_error())

    @intrinsic
    def struct_of(context: Any, handle: HandleType) -> Any:
        """The struct of a handle."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            model = context.data_model_manager[signature.return_type]
            return builder.bitcast(arguments[0], model.pointer)

        return handle.struct_type(handle), codegen

    @intrinsic
    def _copy_block(context: Any, whole: StructType, block: Any) -> Any:
        """block <- the block of a struct, if there is room; returns its words."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            model = context.data_model_manager[signature.args[0]]
            target = context.make_array(signature.args[1])(context, builder, arguments[1])
            room = cgutils.unpack_tuple(builder, target.shape)[0]
            with builder.if_then(builder.icmp_signed(">=", room, WORD(model.size // 8))):
                cgutils.raw_memcpy(builder, target.data, arguments[0], WORD(model.size), 1)
            return WORD(model.size // 8)

        return types.int64(whole, block), codegen

    @kernel
    def write_block(whole: Any, block: Any) -> int:
        """block (>= words,) int64 <- the block of a struct; returns its number of words."""
        return _copy_block(whole, block)

    handle_of = Handle
