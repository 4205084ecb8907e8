"""Handles: bundles in memory that are passed to kernels by address.

Passing a bundle from Python unboxes every array in it, 100 us for those of a simulation. A held
bundle is unboxed once; its arrays must not move, which NumPy guarantees while they are referenced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np

from cardan.engine.compiler.mode import STRUCTS_ARE_TUPLES

T = TypeVar("T")

if TYPE_CHECKING:

    def opened(held: T) -> T:
        """Return the held bundle, in a kernel."""
        ...

    def hold(whole: T) -> T:
        """Handle of a bundle for kernels, which call `opened` on it."""
        ...

elif STRUCTS_ARE_TUPLES:
    from cardan.engine.compiler.kernel import kernel

    @kernel
    def opened(held):
        """The bundle itself."""
        return held

    def hold(whole):
        """The bundle itself."""
        return whole

else:
    from llvmlite import ir
    from numba._dispatcher import compute_fingerprint
    from numba.core import cgutils, types
    from numba.core.datamodel.models import OpaqueModel
    from numba.extending import NativeValue, intrinsic, register_model, unbox

    from cardan.engine.compiler.kernel import kernel
    from cardan.engine.compiler.structs import BundleType

    WORD = ir.IntType(64)

    class HeldType(types.Type):
        """The address of a bundle that Python keeps."""

        def __init__(self, bundle_type: BundleType) -> None:
            """Of one type of bundle."""
            self.bundle_type = bundle_type
            super().__init__(f"Held({bundle_type.name})")

    register_model(HeldType)(OpaqueModel)

    _held_types: dict[tuple[type, bytes], HeldType] = {}

    def held_type(whole: Any) -> HeldType:
        """Type of the handle of a bundle; made once for bundles of the same types.

        The fingerprint is what dispatchers tell types apart by, a hundred times faster.
        """
        key = (type(whole), compute_fingerprint(whole))
        if key not in _held_types:
            _held_types[key] = HeldType(numba.typeof(whole))
        return _held_types[key]

    class Held:
        """A bundle and its memory block for kernels."""

        __slots__ = ("_numba_type_", "address", "block", "whole")

        def __init__(self, whole: Any) -> None:
            """Copy the addresses of all arrays, and keep the arrays."""
            self.whole = whole
            self.block = np.zeros(1, np.int64)
            self.block = np.zeros(write_block(whole, self.block), np.int64)
            write_block(whole, self.block)
            self.address = self.block.ctypes.data
            self._numba_type_ = held_type(whole)

    @unbox(HeldType)
    def _unbox(held_type: HeldType, obj: Any, c: Any) -> NativeValue:
        address = c.pyapi.object_getattr_string(obj, "address")
        pointer = c.pyapi.long_as_voidptr(address)
        c.pyapi.decref(address)
        return NativeValue(pointer, is_error=c.pyapi.c_api_error())

    @intrinsic
    def opened(context: Any, held: HeldType) -> Any:
        """The bundle that is held."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            model = context.data_model_manager[signature.return_type]
            return builder.bitcast(arguments[0], model.pointer)

        return held.bundle_type(held), codegen

    @intrinsic
    def _copy_block(context: Any, whole: BundleType, block: Any) -> Any:
        """block <- the block of a bundle, if there is room; returns its words."""

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
        """block (>= words,) int64 <- what kernels see of a bundle; returns how many words it is."""
        return _copy_block(whole, block)

    hold = Held
