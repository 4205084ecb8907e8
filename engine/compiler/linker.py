"""Linking of kernels: each is lowered once, and each entry point is optimised once.

Numba on its own makes a library of every function: it optimises all callees again at every level
of nesting, writes wrappers for calls from Python, emits machine code and pickles both. Here a
kernel that is called from another kernel stays a *part*: plain LLVM IR, nothing else. Only a
kernel that Python calls becomes an *entry*: it links all its parts at once, makes them internal,
is optimised as one module, and goes to the cache as machine code (decision 0005).
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding as llvm
from numba.core import event, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from cardan.engine.compiler.ir_cache import EntryStore, PartStore
from cardan.engine.compiler.processor import code_generator
from cardan.engine.compiler.progress import LINK_EVENT, Defined
from cardan.engine.compiler.source_hash import ENGINE, is_of_a_module
from cardan.engine.compiler.structs import mark_arguments

ENVIRONMENT_PREFIX = "_ZN08NumbaEnv"
KERNEL_PREFIX = "_ZN" + "".join(f"{len(part)}{part}" for part in ENGINE.name.split("."))
ADDRESS_PREFIX = "numba.dynamic.globals"  # places in the memory of this process


class _NoExecutable:
    """Code generator stub of a part, which has no executable memory."""

    def set_env(self, name: str, environment: Any) -> None:
        """Parts box nothing, so they need no environment."""


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """What is lowered here holds bundles."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take the IR of a function and its wrappers."""
        mark_arguments(ir_module)
        super().add_ir_module(ir_module)


class Part(_Library):
    """The IR of one kernel, for linking only."""

    origin: tuple[str, str, tuple[Any, ...]]  # module, qualified name, types of arguments
    bitcode = b""
    callees: list[Any]  # parts
    can_be_kept = True

    @property
    def codegen(self) -> _NoExecutable:
        """What `get_executable` writes the environment to."""
        return _NoExecutable()

    def finalize(self) -> None:
        """Take what is called of Numba's own libraries inside; nothing is emitted here."""
        module = self._final_module
        own = names_of(module)
        self.callees = []
        for library in dict.fromkeys(self._linking_libraries):
            if is_part(library):
                self.callees.append(library)
            else:
                # it brings its callees along, but only where something already calls it
                self._reload_init.update(library._reload_init)
                module.link_in(library._get_module_for_linking(), preserve=True)
        hide_all_but(module, own)
        addresses = any(g.name.startswith(ADDRESS_PREFIX) for g in module.global_variables)
        named = all(is_of_a_module(*callee.origin[:2]) for callee in self.callees)
        self.can_be_kept = named and not (addresses or self._reload_init)
        self.bitcode = module.as_bitcode()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return a null address: a part has no machine code."""
        self._ensure_finalized()
        return 0

    def _get_module_for_linking(self) -> Any:
        """The IR as it was lowered, to be linked in once."""
        return llvm.parse_bitcode(self.bitcode)


def kept_part(fndesc: Any, callees: list[Any], bitcode: bytes) -> Part:
    """A part as another process lowered it."""
    part = Part(code_generator(), fndesc.qualname)
    part.origin = (fndesc.modname, fndesc.qualname, fndesc.argtypes)
    part.callees, part.bitcode = callees, bitcode
    part._finalized = True
    return part


def names_of(module: Any) -> set[str]:
    """What a module defines."""
    functions = {f.name for f in module.functions if not f.is_declaration}
    return functions | {g.name for g in module.global_variables}


def hide_all_but(module: Any, names: set[str]) -> None:
    """Make linked functions and environments internal to the module."""
    for function in module.functions:
        if not function.is_declaration and function.name not in names:
            function.linkage = "internal"
    for variable in module.global_variables:
        if variable.name.startswith(ENVIRONMENT_PREFIX) and variable.name not in names:
            variable.linkage = "internal"


def check_symbols(module: Any) -> None:
    """Raise RuntimeError for a call of a kernel that is not linked."""
    for function in module.functions:
        if function.is_declaration and function.name.startswith(KERNEL_PREFIX):
            raise RuntimeError(f"the kernels kept in the cache call {function.name}: empty it")


def is_part(library: Any) -> bool:
    """Whether a library is a kernel of ours."""
    return isinstance(library, Part)


def in_one(modules: list[Any]) -> list[Any]:
    """All modules in one, if there are any.

    Linking looks through both modules: neighbours are joined in pairs, so each is looked through
    log2(n) times and not n.
    """
    while len(modules) > 1:
        for one, other in zip(modules[::2], modules[1::2], strict=False):
            one.link_in(other)
        modules = modules[::2]
    return modules


def needed_libraries(library: Any) -> list[Any]:
    """All libraries below this one: parts first, then Numba's own."""
    parts: dict[Any, None] = {}
    others: dict[Any, None] = {}
    waiting = list(library._linking_libraries)
    while waiting:
        next_library = waiting.pop()
        if not is_part(next_library):
            others[next_library] = None
        elif next_library not in parts:
            parts[next_library] = None
            waiting.extend(next_library.callees)
    return [*parts, *others]


class Entry(_Library):
    """One kernel with everything it calls, ready to run."""

    def finalize(self) -> None:
        """Link all parts, hide them, optimise once, emit machine code."""
        self._raise_if_finalized()
        module = self._final_module
        own = names_of(module)
        libraries = needed_libraries(self)
        for library in libraries:
            self._reload_init.update(library._reload_init)
        parts = [library._get_module_for_linking() for library in libraries if is_part(library)]
        for linked in in_one(parts):
            module.link_in(linked)
        for library in libraries:
            if not is_part(library):
                module.link_in(library._get_module_for_linking(), preserve=True)
        check_symbols(module)
        hide_all_but(module, own)
        with event.trigger_event(LINK_EVENT, data={"name": self.name}):
            self._optimize_final_module()
            module.verify()
            self._finalize_final_module()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Machine code, and the names it defines; nobody links an entry again."""
        names = [f.name for f in self._final_module.functions if not f.is_declaration]
        bodies = "".join(f'define void @"{name}"() {{\n  ret void\n}}\n' for name in names)
        stubs = llvm.parse_assembly(bodies)
        return (self.name, "object", (self._get_compiled_object(), stubs.as_bitcode()))


class _LibraryCompiler(Compiler):  # type: ignore[misc]
    """Numba's pipeline, lowering into a library of ours."""

    library_class: type = Entry

    def define_pipelines(self) -> list[Any]:
        """The usual passes; the library is there before they need one."""
        state = self.state
        name_by_module(state.func_id)
        state.library = self.library_class(code_generator(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return list(super().define_pipelines())


def name_by_module(function: Any) -> None:
    """Name a function of a module the same in every process; Numba counts what it compiles."""
    if is_of_a_module(function.modname, function.func_qualname):
        function.unique_id = 0
        function.unique_name = f"{function.func_qualname}$0"


class EntryCompiler(_LibraryCompiler):
    """For kernels called from Python."""


class PartCompiler(_LibraryCompiler):
    """For kernels called from kernels."""

    library_class = Part

    def define_pipelines(self) -> list[Any]:
        """Set the origin of the part."""
        pipelines = super().define_pipelines()
        state = self.state
        state.library.origin = (state.func_id.modname, state.func_id.func_qualname, state.args)
        return pipelines


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage less often, as Numba creates millions of long-lived objects."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function: an entry to Python, a part to other kernels."""

    def __init__(self, py_func: Callable[..., Any], options: dict[str, Any]) -> None:
        """Compile nothing yet; `options` are Numba's target options."""
        Defined.count += 1
        super().__init__(py_func, targetoptions=options, pipeline_class=EntryCompiler)
        self._cache = EntryStore(py_func)

    @functools.cached_property
    def part(self) -> CPUDispatcher:
        """What other kernels call; a start that finds its entries kept never asks for it."""
        function = self.py_func
        inner = dict(self.targetoptions, no_cpython_wrapper=True, no_cfunc_wrapper=True)
        part = CPUDispatcher(function, targetoptions=inner, pipeline_class=PartCompiler)
        if is_of_a_module(function.__module__, function.__qualname__):
            part._cache = PartStore(function, kept_part)
        return part

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Typing of a call from another kernel; constants do not make kernels of their own."""
        args = tuple(types.unliteral(a) for a in args)
        kws = {name: types.unliteral(a) for name, a in kws.items()}
        return self.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Implementation of a call from another kernel."""
        return self.part.get_overload(sig)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        with rare_collections():
            return super()._compile_for_args(*args, **kws)
