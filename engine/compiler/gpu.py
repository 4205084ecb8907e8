"""Kernels for a GPU: the IR of a kernel and all it calls, compiled by LLVM for NVIDIA's PTX.

PTX is assembly that the driver translates for the card at hand. Nothing is contracted, reordered
or flushed to zero, so that arithmetic has the bits of the processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import binding as llvm
from numba.core import types
from numpy.typing import NDArray

from cardan.engine.compiler.cache import SOURCE_HASH, USER_CACHE, folders
from cardan.engine.compiler.handles import HandleType, handle_type
from cardan.engine.compiler.ir_cache import digest_of
from cardan.engine.compiler.linker import (
    check_symbols,
    hide_all_but,
    in_one,
    rare_collections,
)
from cardan.engine.compiler.structs import StructType
from cardan.engine.compiler.world_arrays import THIS_WORLD, WORLD, WorldArray

ENTRY = "cardan_worlds"
TRIPLE = "nvptx64-nvidia-cuda"
PROCESSOR = "sm_75"  # Turing, 2018, and everything after it
# functions for which LLVM has no instructions of a card
UNKNOWN = {f"llvm.{name}" for name in ("sin", "cos", "tan", "exp", "log", "pow")}

# the registers of a thread: its number in the block, number and size of the block
THREAD = f"""
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
define i64 @{THIS_WORLD}() alwaysinline {{
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %before = mul i32 %block, %size
  %world = add i32 %before, %lane
  %wide = zext i32 %world to i64
  ret i64 %wide
}}
"""
FUNCTION = """
declare i32 @"{symbol}"(ptr, ptr, double)
define double @cardan_{name}(double %x) {{
  %result = alloca double
  %error = alloca ptr
  %status = call i32 @"{symbol}"(ptr %result, ptr %error, double %x)
  %value = load double, ptr %result
  ret double %value
}}
"""
SQUARE_ROOT = """
declare double @llvm.sqrt.f64(double)
define double @sqrt(double %x) alwaysinline {
  %root = call double @llvm.sqrt.f64(double %x)
  ret double %root
}
"""


def type_of(whole: Any) -> Any:
    """The type of a struct as it is."""
    return handle_type(whole).struct_type


def type_of_worlds(whole: Any, counters: Sequence[str] = ()) -> Any:
    """The type of a struct whose record arrays have worlds last; counters as for in_worlds."""
    return in_worlds(type_of(whole), counters)


def entry_types(structs: Sequence[Any]) -> tuple[Any, ...]:
    """Types of arguments: handles of structs, then a pair of a time step and a number of steps."""
    return (*map(HandleType, structs), types.Tuple((types.float64, types.int64)))


def in_worlds(numba_type: Any, counters: Sequence[str] = ()) -> Any:
    """The type of a struct whose record arrays have worlds last.

    counters: names of arrays of whole numbers of which every world has its own
    """
    if isinstance(numba_type, StructType):
        members = (
            WorldArray(types.int64, member.ndim)
            if name in counters
            else in_worlds(member, counters)
            for name, member in numba_type.members.items()
        )
        return StructType(numba_type.instance_class, tuple(members))
    if isinstance(numba_type, types.Array) and isinstance(numba_type.dtype, types.Record):
        return WorldArray(WORLD, numba_type.ndim)
    return numba_type


def struct_block(struct_type: StructType, members: Any) -> NDArray[np.int64]:
    """The block of words that kernels read a struct from: descriptors of its arrays, in order.

    members: a named tuple of (address, nitems, shape) in place of each array
    """
    words: list[int] = []
    for (name, member_type), member in zip(struct_type.members.items(), members, strict=True):
        if isinstance(member_type, StructType):
            words.extend(struct_block(member_type, member))
            continue
        address, nitems, shape = member
        if len(shape) != member_type.ndim:
            raise ValueError(f"{name} has {member_type.ndim} axes, not {len(shape)}")
        strides = [8 * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
        words.extend([0, 0, nitems, 8, address, *shape, *strides])
    return np.array(words, np.int64)


def kernel_module(kernels: dict[Any, tuple[Any, ...]]) -> tuple[Any, list[str]]:
    """All IR that kernels need, in one module, and the symbols of these kernels there.

    kernels: types of arguments of each, as Numba's
    """
    libraries: dict[Any, None] = {}
    symbols = []
    for kernel, arguments in kernels.items():
        with rare_collections():
            kernel.inner.compile(arguments)
        result = kernel.inner.overloads[arguments]
        symbols.append(result.fndesc.llvm_func_name)
        waiting = [result.library]
        while waiting:
            library = waiting.pop()
            if library not in libraries:
                libraries[library] = None
                waiting.extend(library.callees)
    (module,) = in_one([library._get_module_for_linking() for library in libraries])
    check_symbols(module)
    return module, symbols


def entry_of(name: str, arguments: tuple[Any, ...]) -> str:
    """IR of a function without a result that calls a kernel; handles are addresses."""
    flat: list[str] = []
    for one in arguments:
        for part in one.types if isinstance(one, types.BaseTuple) else (one,):
            flat.append("ptr" if isinstance(part, HandleType) else _SCALARS[part])
    named = [f"{kind} %a{k}" for k, kind in enumerate(flat)]
    passed = ", ".join(["ptr %result", "ptr %error", *named])
    return f"""
declare i32 @"{name}"({", ".join(["ptr", "ptr", *flat])})
define ptx_kernel void @{ENTRY}({", ".join(named)}) {{
  %result = alloca ptr
  %error = alloca ptr
  %status = call i32 @"{name}"({passed})
  ret void
}}
"""


_SCALARS = {types.float64: "double", types.int64: "i64"}


def target_machine() -> Any:
    """LLVM's code generator for PTX."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=PROCESSOR, opt=3)


def assembly_of(module: Any) -> str:
    """Optimise a module for the card, and emit PTX."""
    machine = target_machine()
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    module.verify()
    unknown = [f.name for f in module.functions if f.is_declaration and not _is_known(f.name)]
    if unknown:
        raise RuntimeError(f"a GPU has no {', '.join(unknown)}")
    return str(machine.emit_assembly(module))


def _is_known(name: str) -> bool:
    """Whether the code generator makes instructions of a function, and does not give up."""
    return name.startswith("llvm.") and name.removesuffix(".f64") not in UNKNOWN


def with_library(module: Any, symbols: dict[str, str]) -> Any:
    """The module with kernels, by their symbols, in place of functions of the C library."""
    text = str(module)
    for name in symbols:
        text = text.replace(f"@llvm.{name}.f64", f"@cardan_{name}")
    module = llvm.parse_assembly(text)
    for name, symbol in symbols.items():
        module.link_in(llvm.parse_assembly(FUNCTION.format(name=name, symbol=symbol)))
    return module


def ptx_of(kernel: Any, arguments: tuple[Any, ...], library: dict[str, Any]) -> str:
    """PTX of a kernel and all it calls; its entry is ENTRY. Cached between processes.

    library: kernels in place of functions of the C library, by their names there
    """
    name = f"{SOURCE_HASH}/{PROCESSOR}/{kernel.py_func.__qualname__}-{digest_of(arguments)}"
    for folder in folders():
        found = folder.read(name)
        if found is not None:
            return found.decode()
    functions = dict.fromkeys(library.values(), (types.float64,))
    module, (symbol, *others) = kernel_module({kernel: arguments} | functions)
    module = with_library(module, dict(zip(library, others, strict=True)))
    for text in (entry_of(symbol, arguments), THREAD, SQUARE_ROOT):
        module.link_in(llvm.parse_assembly(text))
    hide_all_but(module, {ENTRY})
    made = assembly_of(module)
    USER_CACHE.write(name, made.encode())
    return made
