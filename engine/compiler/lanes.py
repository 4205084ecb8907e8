"""Numbers of W worlds side by side: one number of each world in a lane of a SIMD register.

A kernel that computes with floats also computes with `lanes`: compiled for arrays of lanes, every
operation acts on W worlds at once, in the same order, so that each world has the bits it has alone.
Branches on numbers differ from world to world. A kernel that has some is given another form for
lanes, `lane_form_of`, where both ways are computed and `select` chooses.

In Python, arrays of lanes are record arrays (LANES): `array["lane"]` is (..., W) float64. Modes in
which kernels are ordinary functions of Numba or of Python have no lanes (HAS_LANES).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.engine.compiler.kernel import F, kernel
from cardan.engine.compiler.mode import STRUCTS_ARE_TUPLES
from cardan.engine.compiler.processor import NARROW, WIDE, has_wide_registers

W = WIDE if has_wide_registers() else NARROW  # worlds in a lane group
LANES = np.dtype([("lane", np.float64, (W,))])
HAS_LANES = not STRUCTS_ARE_TUPLES

if TYPE_CHECKING:

    def lane_form_of(original: Callable[..., Any]) -> Callable[[F], F]:
        """Decorator: kernels call this one in place of `original` where any argument has lanes."""
        ...

    def select(mask: Any, a: Any, b: Any) -> Any:
        """a in the lanes where mask is true, b in the others; also of one world."""
        ...

    def any_of(mask: Any) -> bool:
        """Whether mask is true in any lane."""
        ...

    def lane_of(x: Any, lane: int) -> float:
        """The number in one lane."""
        ...

    def with_lane(x: Any, lane: int, value: float) -> Any:
        """x with another number in one lane."""
        ...

    def in_all_lanes(value: float, like: Any) -> Any:
        """The same number in every lane of what `like` is, lanes or an array of them; or of one."""
        ...

    def lanes_in(like: Any) -> int:
        """How many worlds lanes, or the elements of an array of lanes, have."""
        ...

    def lanes_handle(whole: Any) -> Any:
        """Handle of a struct whose record arrays are arrays of lanes to kernels."""
        ...

    def compile_for_width(entry_point: Any, width: int) -> None:
        """Compile what was compiled of an entry point for lanes of another width; run nothing."""
        ...

elif not HAS_LANES:

    def lane_form_of(original):
        """Decorate as `kernel` does: nothing is compiled for lanes here."""
        return kernel

    @kernel
    def select(mask, a, b):
        """Choose the value of one world: a where the mask holds, else b."""
        return a if mask else b

    @kernel
    def in_all_lanes(value, like):
        """Return the value: there is one world."""
        return value

    any_of = lane_of = with_lane = lanes_in = lanes_handle = compile_for_width = None

else:
    import operator

    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.core.datamodel.models import PrimitiveModel
    from numba.core.imputils import lower_builtin, lower_cast
    from numba.core.typeconv import Conversion
    from numba.core.typing.templates import AbstractTemplate, infer_global, signature
    from numba.extending import intrinsic, register_model

    from cardan.engine.compiler.handles import Handle, HandleType, handle_type
    from cardan.engine.compiler.linker import Kernel
    from cardan.engine.compiler.structs import StructType

    class LanesType(types.Type):
        """One float64 of each of `width` worlds."""

        def __init__(self, width):
            """W in a register; 1 where a thread has a world (world_arrays.py)."""
            self.lane_width = width
            super().__init__(f"Lanes{width}")

        def can_convert_from(self, typing_context, other):
            """A number is the same in every lane."""
            return Conversion.safe if isinstance(other, types.Number) else None

        def unify(self, typing_context, other):
            """A variable that is once a number and once lanes is lanes."""
            return self if isinstance(other, types.Number) else None

    class MaskType(types.Type):
        """One truth value of each of `width` worlds."""

        def __init__(self, width):
            """Make the type of masks of `width` worlds."""
            self.lane_width = width
            super().__init__(f"Mask{width}")

    INDEX = ir.IntType(32)

    def vector(element, width):
        """A vector of LLVM; of one element: the element."""
        return element if width == 1 else ir.VectorType(element, width)

    def is_scalar(value):
        """Whether a value of LLVM is of one world."""
        return not isinstance(value.type, ir.VectorType)

    @register_model(LanesType)
    class LanesModel(PrimitiveModel):
        """A vector of LLVM."""

        def __init__(self, manager, fe_type):
            """Value, argument and data are the same."""
            super().__init__(manager, fe_type, vector(ir.DoubleType(), fe_type.lane_width))

    @register_model(MaskType)
    class MaskModel(PrimitiveModel):
        """A vector of bits."""

        def __init__(self, manager, fe_type):
            """Value, argument and data are the same."""
            super().__init__(manager, fe_type, vector(ir.IntType(1), fe_type.lane_width))

    @lower_cast(types.Number, LanesType)
    def _cast(context, builder, found, wanted, value):
        value = context.cast(builder, value, found, types.float64)
        return _broadcast(builder, value, wanted.lane_width)

    def _broadcast(builder, value, width):
        if width == 1:
            return value
        undefined = ir.Constant(vector(value.type, width), ir.Undefined)
        one = builder.insert_element(undefined, value, INDEX(0))
        order = ir.Constant(ir.VectorType(INDEX, width), [0] * width)
        return builder.shuffle_vector(one, undefined, order)

    def _lanes_among(args):
        return next((a for a in args if isinstance(a, LanesType)), None)

    def _define(function, inplace, result, build):
        """Type and lower an operator of two numbers, of which at least one is lanes."""

        class Typed(AbstractTemplate):
            def generic(self, args, kws):
                numbers = all(isinstance(a, LanesType | types.Number) for a in args)
                lanes = _lanes_among(args)
                if len(args) == 2 and numbers and lanes is not None:
                    return signature(result(lanes.lane_width), lanes, lanes)
                return None

        for one in (function, inplace) if inplace is not None else (function,):
            infer_global(one)(type(f"Lanes_{one.__name__}", (Typed,), {"key": one}))

            @lower_builtin(one, LanesType, LanesType)
            def _lower(context, builder, signature, args):
                return build(builder, *args)

    for _name in ("add", "sub", "mul", "truediv"):
        _build = {"truediv": "fdiv"}.get(_name, f"f{_name}")

        def _arithmetic(builder, a, b, op=_build):
            return getattr(builder, op)(a, b)

        _define(getattr(operator, _name), getattr(operator, f"i{_name}"), LanesType, _arithmetic)

    for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "==")):

        def _compare(builder, a, b, sign=_sign):
            return builder.fcmp_ordered(sign, a, b)

        _define(getattr(operator, _name), None, MaskType, _compare)

    for _name in ("and_", "or_"):

        class _MaskOperator(AbstractTemplate):
            key = getattr(operator, _name)

            def generic(self, args, kws):
                if len(args) == 2 and all(isinstance(a, MaskType) for a in args):
                    return signature(args[0], *args)
                return None

        infer_global(_MaskOperator.key)(_MaskOperator)

        @lower_builtin(_MaskOperator.key, MaskType, MaskType)
        def _lower_mask(context, builder, signature, args, op=_name):
            return getattr(builder, op)(*args)

    def _define_unary(function, argument, build):
        """Type and lower a function of lanes, or of a mask."""

        class Typed(AbstractTemplate):
            key = function

            def generic(self, args, kws):
                if len(args) == 1 and isinstance(args[0], argument):
                    return signature(args[0], args[0])
                return None

        infer_global(function)(Typed)

        @lower_builtin(function, argument)
        def _lower(context, builder, signature, args):
            return build(builder, *args)

    def _vector_call(name):
        def build(builder, x):
            function_type = ir.FunctionType(x.type, [x.type])
            of = "f64" if is_scalar(x) else f"v{x.type.count}f64"
            intrinsic_name = f"llvm.{name}.{of}"
            function = cgutils.get_or_insert_function(builder.module, function_type, intrinsic_name)
            return builder.call(function, [x])

        return build

    import math

    _define_unary(abs, LanesType, _vector_call("fabs"))
    _define_unary(math.sqrt, LanesType, _vector_call("sqrt"))
    _define_unary(math.floor, LanesType, _vector_call("floor"))
    _define_unary(operator.neg, LanesType, lambda builder, x: builder.fneg(x))
    _define_unary(operator.invert, MaskType, lambda builder, x: builder.not_(x))

    @intrinsic
    def select(context, mask, a, b):
        """a in the lanes where mask is true, b in the others."""

        def codegen(context, builder, signature, args):
            return builder.select(*args)

        one = LanesType(mask.lane_width) if isinstance(mask, MaskType) else types.float64
        return one(mask, one, one), codegen

    @intrinsic
    def any_of(context, mask):
        """Whether mask is true in any lane."""

        def codegen(context, builder, signature, args):
            if is_scalar(args[0]):
                return args[0]
            bits = ir.IntType(mask.lane_width)
            return builder.icmp_unsigned("!=", builder.bitcast(args[0], bits), bits(0))

        return types.boolean(mask), codegen

    @intrinsic
    def lane_of(context, x, lane):
        """The number in one lane."""

        def codegen(context, builder, signature, args):
            if is_scalar(args[0]):
                return args[0]
            return builder.extract_element(args[0], builder.trunc(args[1], INDEX))

        return types.float64(x, types.int64), codegen

    @intrinsic
    def with_lane(context, x, lane, value):
        """x with another number in one lane."""

        def codegen(context, builder, signature, args):
            if is_scalar(args[0]):
                return args[2]
            return builder.insert_element(args[0], args[2], builder.trunc(args[1], INDEX))

        return x(x, types.int64, types.float64), codegen

    @intrinsic
    def in_all_lanes(context, value, like):
        """The same number in every lane of what `like` is: lanes, or an array of them."""

        def codegen(context, builder, signature, args):
            one = signature.return_type
            return _broadcast(builder, args[0], getattr(one, "lane_width", 1))

        return _lanes_of(like)(types.float64, like), codegen

    @intrinsic
    def lanes_in(context, like):
        """How many worlds lanes, or the elements of an array of lanes, have."""

        def codegen(context, builder, signature, args):
            return ir.IntType(64)(_lanes_of(like).lane_width)

        return types.int64(like), codegen

    def _lanes_of(like):
        return like.dtype if isinstance(like, types.Array) else like

    def in_lanes(numba_type, width):
        """The type of a struct, or of its handle, whose record arrays are arrays of lanes."""
        if isinstance(numba_type, HandleType):
            return HandleType(in_lanes(numba_type.struct_type, width))
        if isinstance(numba_type, StructType):
            members = tuple(in_lanes(member, width) for member in numba_type.members.values())
            return StructType(numba_type.instance_class, members)
        of = getattr(numba_type, "dtype", None)
        if isinstance(numba_type, types.Array) and isinstance(of, types.Record | LanesType):
            return types.Array(LanesType(width), numba_type.ndim, numba_type.layout)
        return numba_type

    def lanes_handle(whole):
        """Handle of a struct whose record arrays are arrays of lanes to kernels."""
        handle = Handle(whole)
        handle._numba_type_ = in_lanes(handle_type(whole), W)
        return handle

    def compile_for_width(entry_point, width):
        """Compile what was compiled of an entry point for lanes of another width; run nothing."""
        for arguments in list(entry_point.overloads):
            entry_point.compile(tuple(in_lanes(one, width) for one in arguments))

    def lane_form_of(original: Kernel):
        """Decorator: kernels call this one in place of `original` where any argument has lanes."""

        def register(function):
            form = kernel(function)
            original.lane_form = form
            return form

        return register
