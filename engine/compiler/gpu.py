"""Kernels for a GPU: the IR of a kernel and all it calls, compiled by LLVM for NVIDIA's PTX.

PTX is assembly that the driver translates for the card at hand. Nothing is contracted, reordered
or flushed to zero, so that arithmetic has the bits of the processor. What the card has no exact
instruction for (sine and cosine of huge angles) is NaN there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import binding as llvm
from numba.core import types
from numpy.typing import NDArray

from cardan.engine.compiler.cache import SOURCE_HASH, USER_CACHE, folders
from cardan.engine.compiler.handles import HandleType
from cardan.engine.compiler.ir_cache import digest_of
from cardan.engine.compiler.linker import (
    check_symbols,
    hide_all_but,
    in_one,
    is_ir_library,
    needed_libraries,
    rare_collections,
)
from cardan.engine.compiler.structs import StructType
from cardan.engine.compiler.world_arrays import THIS_WORLD, WORLD, WorldArray

ENTRY = "cardan_worlds"
TRIPLE = "nvptx64-nvidia-cuda"
PROCESSOR = "sm_75"  # Turing, 2018, and everything after it
# functions of the processor's library that kernels call for huge angles only
MISSING = ("sin", "cos")

LIBRARY = {f"llvm.{name}" for name in ("sin", "cos", "tan", "exp", "log", "pow")}

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
SQUARE_ROOT = """
declare double @llvm.sqrt.f64(double)
define double @sqrt(double %x) alwaysinline {
  %root = call double @llvm.sqrt.f64(double %x)
  ret double %root
}
"""


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
    """What kernels read a struct from: its descriptors of arrays, one after another.

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


def kernel_module(kernel: Any, arguments: tuple[Any, ...]) -> tuple[Any, str]:
    """All IR that a kernel needs, in one module, and the kernel's symbol there.

    arguments: types of Numba
    """
    with rare_collections():
        kernel.inner.compile(arguments)
    result = kernel.inner.overloads[arguments]
    own = result.library
    modules = [own._get_module_for_linking()]
    own._linking_libraries = dict.fromkeys(own.callees)
    modules += [
        one._get_module_for_linking() for one in needed_libraries(own) if is_ir_library(one)
    ]
    (module,) = in_one(modules)
    check_symbols(module)
    return module, result.fndesc.llvm_func_name


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
    return name.startswith("llvm.") and name.removesuffix(".f64") not in LIBRARY


def without_library(module: Any) -> Any:
    """The module with NaN for sine and cosine of the processor's library."""
    text = str(module)
    for name in MISSING:
        text = text.replace(f"@llvm.{name}.f64", f"@cardan_no_{name}")
    module = llvm.parse_assembly(text)
    for name in MISSING:
        if any(f.name == f"cardan_no_{name}" for f in module.functions):
            nan = "0x7FF8000000000000"
            body = f"define double @cardan_no_{name}(double %x) alwaysinline {{ ret double {nan} }}"
            module.link_in(llvm.parse_assembly(body))
    return module


def ptx_of(kernel: Any, arguments: tuple[Any, ...]) -> str:
    """PTX of a kernel and all it calls; its entry is ENTRY. Cached between processes."""
    name = f"{SOURCE_HASH}/{PROCESSOR}/{kernel.py_func.__qualname__}-{digest_of(arguments)}"
    for folder in folders():
        found = folder.read(name)
        if found is not None:
            return found.decode()
    module, symbol = kernel_module(kernel, arguments)
    module = without_library(module)
    module.link_in(llvm.parse_assembly(entry_of(symbol, arguments)))
    for text in (THREAD, SQUARE_ROOT):
        module.link_in(llvm.parse_assembly(text))
    hide_all_but(module, {ENTRY})
    made = assembly_of(module)
    USER_CACHE.write(name, made.encode())
    return made
