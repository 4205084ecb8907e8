"""`@struct`: named tuples that kernels pass to each other as one pointer.

Numba passes a tuple member by member, an array as seven values or more: a workspace of 270 arrays
would be 2000 arguments of every call. A struct is a block of memory with its members side by side,
inner structs in place. Kernels take its address and load the members they use. A struct is never
written to after it is made, so a loaded member remains valid (decision 0005).
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import DataModel
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.typing.templates import (
    AttributeTemplate,
    infer_getattr,
    make_callable_template,
)
from numba.extending import NativeValue, register_model, typeof_impl, unbox

from cardan.engine.compiler.mode import STRUCTS_ARE_TUPLES

T = TypeVar("T")

BYTE, WORD = ir.IntType(8), ir.IntType(64)
BIT = ir.IntType(1)
ALIGNMENT = 8  # bytes, of every member


class StructPointer(type(BYTE.as_pointer())):  # type: ignore[misc]
    """The address of a block of `size` bytes that is not written to."""

    def __init__(self, size: int) -> None:
        """A pointer to bytes."""
        super().__init__(BYTE)
        self.size = size


class StructType(types.Type):  # type: ignore[misc]
    """A named tuple class with the types of its members."""

    def __init__(self, cls: type, members: tuple[Any, ...]) -> None:
        """Name the type: shortly, as types are compared by names, and symbols are made of them."""
        self.instance_class = cls
        self.members = dict(zip(cls._fields, members, strict=True))  # type: ignore[attr-defined]
        # read at every call, and a world has hundreds of members
        self.lane_width = max(map(lane_width, members), default=0)
        typed = ", ".join(f"{name}: {member}" for name, member in self.members.items())
        what = f"{cls.__module__}.{cls.__qualname__}({typed})"
        super().__init__(f"{cls.__name__}_{hashlib.sha256(what.encode()).hexdigest()[:12]}")


def lane_width(numba_type: Any) -> int:
    """Number of worlds whose numbers a value of a type holds (lanes.py); 0: one, as usual."""
    if isinstance(numba_type, types.Array):
        return lane_width(numba_type.dtype)
    if isinstance(numba_type, types.BaseTuple):
        return max(map(lane_width, numba_type.types), default=0)
    return int(getattr(numba_type, "lane_width", 0))


def has_lanes(numba_type: Any) -> bool:
    """Whether values of a type hold numbers of several worlds (lanes.py)."""
    return lane_width(numba_type) > 0


@functools.cache
def size_of(llvm_type: ir.Type) -> int:
    """Bytes of a value; llvmlite compiles a module of LLVM for each answer."""
    target = numba.core.registry.cpu_target.target_context.codegen().target_data
    return int(llvm_type.get_abi_size(target))


@register_model(StructType)
class StructModel(DataModel):  # type: ignore[misc]
    """Value and argument: an address. Data and return value: the block itself."""

    def __init__(self, manager: Any, struct_type: StructType) -> None:
        """Lay the members out one after another."""
        super().__init__(manager, struct_type)
        self.offset: dict[str, int] = {}
        size = 0
        for name, member in struct_type.members.items():
            self.offset[name] = size
            inner = manager.lookup(member)
            if isinstance(inner, StructModel):
                size += inner.size
            else:
                size += -(-size_of(inner.get_data_type()) // ALIGNMENT) * ALIGNMENT
        self.size = size
        self.block = ir.ArrayType(WORD, size // ALIGNMENT)
        self.pointer = StructPointer(size)

    def get_value_type(self) -> Any:
        """An address."""
        return self.pointer

    def get_data_type(self) -> Any:
        """The block."""
        return self.block

    def get_return_type(self) -> Any:
        """The block: a pointer to the frame of the callee would dangle."""
        return self.block

    def room(self, builder: Any) -> Any:
        """Address of a new block in the frame of the function that is being built."""
        return builder.bitcast(cgutils.alloca_once(builder, self.block), self.pointer)

    def member(self, builder: Any, value: Any, name: str) -> tuple[Any, Any]:
        """Model of a member, and its address."""
        inner = self._dmm.lookup(self._fe_type.members[name])
        address = builder.gep(value, [WORD(self.offset[name])], inbounds=True, source_etype=BYTE)
        return inner, builder.bitcast(address, inner.get_data_type().as_pointer())

    def as_data(self, builder: Any, value: Any) -> Any:
        """The block."""
        return builder.load(builder.bitcast(value, self.block.as_pointer()))

    def from_data(self, builder: Any, value: Any) -> Any:
        """The address of a copy."""
        room = self.room(builder)
        builder.store(value, builder.bitcast(room, self.block.as_pointer()))
        return room

    as_return = as_data
    from_return = from_data

    def as_argument(self, builder: Any, value: Any) -> Any:
        """The address."""
        return value

    from_argument = as_argument

    def load_from_data_pointer(self, builder: Any, ptr: Any, align: int | None = None) -> Any:
        """An inner struct is used in place."""
        return builder.bitcast(ptr, self.pointer)


@infer_getattr
class _StructAttributes(AttributeTemplate):  # type: ignore[misc]
    key = StructType

    def generic_resolve(self, struct_type: StructType, name: str) -> Any:
        """Type of a member."""
        return struct_type.members.get(name)


@lower_getattr_generic(StructType)
def _load_member(context: Any, builder: Any, struct_type: StructType, value: Any, name: str) -> Any:
    inner, address = context.data_model_manager[struct_type].member(builder, value, name)
    return inner.load_from_data_pointer(builder, address)


def _make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """A new block in the caller's frame."""
    struct_type = signature.return_type
    model = context.data_model_manager[struct_type]
    room = model.room(builder)
    items = zip(struct_type.members.items(), signature.args, values, strict=True)
    for (name, member_type), found_type, found in items:
        value = context.cast(builder, found, found_type, member_type)
        inner, address = model.member(builder, room, name)
        if isinstance(inner, StructModel):
            cgutils.raw_memcpy(builder, address, value, WORD(inner.size), 1)
        else:
            builder.store(inner.as_data(builder, value), address)
    return room


@unbox(StructType)
def _unbox(struct_type: StructType, obj: Any, c: Any) -> NativeValue:
    model = c.context.data_model_manager[struct_type]
    room = model.room(c.builder)
    address = c.builder.bitcast(room, BYTE.as_pointer())
    return NativeValue(room, is_error=c.builder.call(_unboxer(struct_type, c), [obj, address]))


def _unboxer(member_type: Any, c: Any) -> Any:
    """Function (object, address) -> failed, that writes a member of a struct; one per type.

    Workspaces have hundreds of arrays: inlined, this would be most of an entry point.
    """
    model = c.context.data_model_manager[member_type]
    # not a StructPointer: this one is written to
    signature = ir.FunctionType(BIT, [c.pyapi.pyobj, BYTE.as_pointer()])
    function = cgutils.get_or_insert_function(c.builder.module, signature, f"unbox.{member_type}")
    if function.is_declaration:
        function.linkage = "internal"
        function.attributes.add("noinline")
        builder = ir.IRBuilder(function.append_basic_block())
        inner = c._replace(builder=builder, pyapi=c.context.get_python_api(builder))
        obj, address = function.args
        if isinstance(model, StructModel):
            failed = _unbox_members(model, obj, address, inner)
        else:
            native = inner.unbox(member_type, obj)
            value = model.as_data(builder, native.value)
            builder.store(value, builder.bitcast(address, value.type.as_pointer()))
            failed = native.is_error
        builder.ret(failed)
    return function


def _unbox_members(model: StructModel, obj: Any, address: Any, c: Any) -> Any:
    """Fill a block from a Python tuple; whether that failed."""
    failed = cgutils.false_bit
    for index, (name, member_type) in enumerate(model.fe_type.members.items()):
        item = c.pyapi.tuple_getitem(obj, index)
        place = c.builder.bitcast(model.member(c.builder, address, name)[1], BYTE.as_pointer())
        failed = c.builder.or_(failed, c.builder.call(_unboxer(member_type, c), [item, place]))
    return failed


def mark_arguments(module: Any) -> None:
    """Declare to LLVM that no function of a module writes to structs in its arguments."""
    for function in module.functions:
        for argument in function.args:
            if isinstance(argument.type, StructPointer) and not function.is_declaration:
                for attribute in ("noalias", "captures(none)", "readonly"):
                    set.add(argument.attributes, attribute)  # llvmlite's own list lacks readonly
                argument.attributes.dereferenceable = argument.type.size
                argument.attributes.align = ALIGNMENT


_constructors: dict[type, Any] = {}  # of struct classes: what a call of the class is to Numba
_typeof_other_class = typeof_impl.dispatch(type)


@typeof_impl.register(type)
def _typeof_class(value: type, c: Any) -> Any:
    """Type of a struct class in kernels, where calling it makes a struct, not a named tuple."""
    return _constructors.get(value) or _typeof_other_class(value, c)


def struct(cls: type[T]) -> type[T]:
    """Make kernels pass a named tuple class by reference; Python sees it unchanged."""
    if STRUCTS_ARE_TUPLES:
        return cls

    @typeof_impl.register(cls)
    def _typeof(value: Any, c: Any) -> StructType:
        return StructType(cls, tuple(typeof_impl(member, c) for member in value))

    named = inspect.signature(cls)

    def typed(*members: Any, **by_name: Any) -> StructType:
        given = named.bind(*members, **by_name).args
        return StructType(cls, tuple(map(types.unliteral, given)))

    typed.pysig = named
    _constructors[cls] = types.Function(make_callable_template(cls, typed))
    lower_builtin(cls, types.VarArg(types.Any))(_make)
    return cls
