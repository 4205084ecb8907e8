"""`@bundle`: named tuples that travel between kernels as one pointer.

Numba hands a tuple over member by member, an array as seven values or more: a workspace of 270
arrays would be 2000 arguments at every call. A bundle is a block of memory with its members side
by side, bundles among them in place. Kernels get its address and load the members they use. Nobody
writes to a bundle after it is made, so what was loaded once stays valid (decision 0005).
"""

from __future__ import annotations

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


class BundlePointer(type(BYTE.as_pointer())):  # type: ignore[misc]
    """The address of a block of `size` bytes that nobody writes to while it is held."""

    def __init__(self, size: int) -> None:
        """A pointer to bytes."""
        super().__init__(BYTE)
        self.size = size


class BundleType(types.Type):  # type: ignore[misc]
    """A named tuple class with the types of its members."""

    def __init__(self, cls: type, members: tuple[Any, ...]) -> None:
        """Its name is short: types are compared by it, and symbols are made of it."""
        self.instance_class = cls
        self.members = dict(zip(cls._fields, members, strict=True))  # type: ignore[attr-defined]
        typed = ", ".join(f"{name}: {member}" for name, member in self.members.items())
        what = f"{cls.__module__}.{cls.__qualname__}({typed})"
        super().__init__(f"{cls.__name__}_{hashlib.sha256(what.encode()).hexdigest()[:12]}")


@register_model(BundleType)
class BundleModel(DataModel):  # type: ignore[misc]
    """Value and argument: an address. Data and return value: the block itself."""

    def __init__(self, manager: Any, bundle_type: BundleType) -> None:
        """Lay the members out one after another."""
        super().__init__(manager, bundle_type)
        target = numba.core.registry.cpu_target.target_context.codegen().target_data
        self.offset: dict[str, int] = {}
        size = 0
        for name, member in bundle_type.members.items():
            self.offset[name] = size
            inner = manager.lookup(member)
            if isinstance(inner, BundleModel):
                size += inner.size
            else:
                size += -(-inner.get_data_type().get_abi_size(target) // ALIGNMENT) * ALIGNMENT
        self.size = size
        self.block = ir.ArrayType(WORD, size // ALIGNMENT)
        self.pointer = BundlePointer(size)

    def get_value_type(self) -> Any:
        """An address."""
        return self.pointer

    def get_data_type(self) -> Any:
        """The block."""
        return self.block

    def get_return_type(self) -> Any:
        """The block: the callee's own memory is gone when it returns."""
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
        """A bundle inside another block is where it is."""
        return builder.bitcast(ptr, self.pointer)


@infer_getattr
class _BundleAttributes(AttributeTemplate):  # type: ignore[misc]
    key = BundleType

    def generic_resolve(self, bundle_type: BundleType, name: str) -> Any:
        """Type of a member."""
        return bundle_type.members.get(name)


@lower_getattr_generic(BundleType)
def _load_member(context: Any, builder: Any, bundle_type: BundleType, value: Any, name: str) -> Any:
    inner, address = context.data_model_manager[bundle_type].member(builder, value, name)
    return inner.load_from_data_pointer(builder, address)


def _make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """A new block in the caller's frame."""
    bundle_type = signature.return_type
    model = context.data_model_manager[bundle_type]
    room = model.room(builder)
    items = zip(bundle_type.members.items(), signature.args, values, strict=True)
    for (name, member_type), found_type, found in items:
        value = context.cast(builder, found, found_type, member_type)
        inner, address = model.member(builder, room, name)
        if isinstance(inner, BundleModel):
            cgutils.raw_memcpy(builder, address, value, WORD(inner.size), 1)
        else:
            builder.store(inner.as_data(builder, value), address)
    return room


@unbox(BundleType)
def _unbox(bundle_type: BundleType, obj: Any, c: Any) -> NativeValue:
    model = c.context.data_model_manager[bundle_type]
    room = model.room(c.builder)
    address = c.builder.bitcast(room, BYTE.as_pointer())
    return NativeValue(room, is_error=c.builder.call(_unboxer(bundle_type, c), [obj, address]))


def _unboxer(member_type: Any, c: Any) -> Any:
    """Function (object, address) -> failed, that writes a member of a bundle; one per type.

    Workspaces have hundreds of arrays: inline, reading them would be most of an entry.
    """
    model = c.context.data_model_manager[member_type]
    # not a BundlePointer: this one is written to
    signature = ir.FunctionType(BIT, [c.pyapi.pyobj, BYTE.as_pointer()])
    function = cgutils.get_or_insert_function(c.builder.module, signature, f"unbox.{member_type}")
    if function.is_declaration:
        function.linkage = "internal"
        function.attributes.add("noinline")
        builder = ir.IRBuilder(function.append_basic_block())
        inner = c._replace(builder=builder, pyapi=c.context.get_python_api(builder))
        obj, address = function.args
        if isinstance(model, BundleModel):
            failed = _unbox_members(model, obj, address, inner)
        else:
            native = inner.unbox(member_type, obj)
            value = model.as_data(builder, native.value)
            builder.store(value, builder.bitcast(address, value.type.as_pointer()))
            failed = native.is_error
        builder.ret(failed)
    return function


def _unbox_members(model: BundleModel, obj: Any, address: Any, c: Any) -> Any:
    """Fill a block from a tuple of Python's; whether that failed."""
    failed = cgutils.false_bit
    for index, (name, member_type) in enumerate(model.fe_type.members.items()):
        item = c.pyapi.tuple_getitem(obj, index)
        place = c.builder.bitcast(model.member(c.builder, address, name)[1], BYTE.as_pointer())
        failed = c.builder.or_(failed, c.builder.call(_unboxer(member_type, c), [item, place]))
    return failed


def mark_arguments(module: Any) -> None:
    """Tell LLVM of every bundle that a function of this module is handed: nobody writes to it."""
    for function in module.functions:
        for argument in function.args:
            if isinstance(argument.type, BundlePointer) and not function.is_declaration:
                for attribute in ("noalias", "captures(none)", "readonly"):
                    set.add(argument.attributes, attribute)  # llvmlite's own list lacks readonly
                argument.attributes.dereferenceable = argument.type.size
                argument.attributes.align = ALIGNMENT


_constructors: dict[type, Any] = {}  # of bundle classes: what a call of the class is to Numba
_typeof_other_class = typeof_impl.dispatch(type)


@typeof_impl.register(type)
def _typeof_class(value: type, c: Any) -> Any:
    """A bundle class makes bundles in kernels too; Numba alone would take it for a named tuple."""
    return _constructors.get(value) or _typeof_other_class(value, c)


def bundle(cls: type[T]) -> type[T]:
    """Make kernels pass a named tuple class by reference; Python sees it unchanged."""
    if STRUCTS_ARE_TUPLES:
        return cls

    @typeof_impl.register(cls)
    def _typeof(value: Any, c: Any) -> BundleType:
        return BundleType(cls, tuple(typeof_impl(member, c) for member in value))

    named = inspect.signature(cls)

    def typed(*members: Any, **by_name: Any) -> BundleType:
        given = named.bind(*members, **by_name).args
        return BundleType(cls, tuple(map(types.unliteral, given)))

    typed.pysig = named
    _constructors[cls] = types.Function(make_callable_template(cls, typed))
    lower_builtin(cls, types.VarArg(types.Any))(_make)
    return cls
