"""Linking of kernels: each is lowered once, and each entry point is optimised once.

Numba by itself makes a code library of every function: it optimises all callees again at every
level of nesting, adds wrappers for calls from Python, emits machine code and pickles all of it.
Here a kernel that another kernel calls becomes an IR library: LLVM IR and nothing else. Only a
kernel that Python calls becomes an entry point: it links the IR of all its callees, makes them
internal, is optimised as one module, and is cached as machine code (decision 0005).
"""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding as llvm
from numba.core import compiler, event, typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from cardan.engine.compiler.ir_cache import IRStore, MachineCodeStore
from cardan.engine.compiler.processor import WIDE, code_generator, wide_features
from cardan.engine.compiler.progress import LINK_EVENT, Defined
from cardan.engine.compiler.source_hash import ENGINE, is_of_a_module
from cardan.engine.compiler.structs import has_lanes, lane_width, mark_arguments

ENVIRONMENT_PREFIX = "_ZN08NumbaEnv"
KERNEL_PREFIX = "_ZN" + "".join(f"{len(part)}{part}" for part in ENGINE.name.split("."))
ADDRESS_PREFIX = "numba.dynamic.globals"  # places in the memory of this process

# modules and names of functions that LLVM must not inline
kept_apart: set[tuple[str, str]] = set()


class _NoExecutable:
    """Code generator stub of an IR library, which has no executable memory."""

    def set_env(self, name: str, environment: Any) -> None:
        """IR libraries box nothing, so they need no environment."""


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A code library whose functions take structs."""

    origin: tuple[str, str, tuple[Any, ...]]  # module, qualified name, types of arguments

    def add_ir_module(self, ir_module: Any) -> None:
        """Add the IR of a function and its wrappers."""
        mark_arguments(ir_module)
        if max(map(lane_width, self.origin[2]), default=0) == WIDE:
            for function in ir_module.functions:
                if not function.is_declaration:
                    # llvmlite's own list lacks it
                    set.add(function.attributes, wide_features())
        super().add_ir_module(ir_module)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Run LLVM's function passes over what the module defines.

        Numba makes a pass manager for each function, and one for each declaration.
        """
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class IRLibrary(_Library):
    """The IR of one kernel, for linking only."""

    bitcode = b""
    callees: list[Any]  # IR libraries
    can_be_stored = True

    def add_ir_module(self, ir_module: Any) -> None:
        """Add the IR of a function, which may have to be kept apart."""
        if self.origin[:2] in kept_apart:
            for function in ir_module.functions:
                if not function.is_declaration:
                    function.attributes.add("noinline")
        super().add_ir_module(ir_module)

    @property
    def codegen(self) -> _NoExecutable:
        """The object whose `get_executable` Numba asks for an environment."""
        return _NoExecutable()

    def finalize(self) -> None:
        """Link the functions of Numba's own libraries that are called; emit nothing."""
        module = self._final_module
        own = names_of(module)
        self.callees = []
        for library in dict.fromkeys(self._linking_libraries):
            if is_ir_library(library):
                self.callees.append(library)
            else:
                # links its callees too, but only those that something already calls
                self._reload_init.update(library._reload_init)
                module.link_in(library._get_module_for_linking(), preserve=True)
        hide_all_but(module, own)
        addresses = any(g.name.startswith(ADDRESS_PREFIX) for g in module.global_variables)
        named = all(is_of_a_module(*callee.origin[:2]) for callee in self.callees)
        self.can_be_stored = named and not (addresses or self._reload_init)
        self.bitcode = module.as_bitcode()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return a null address: there is no machine code."""
        self._ensure_finalized()
        return 0

    def _get_module_for_linking(self) -> Any:
        """The IR as it was lowered."""
        return llvm.parse_bitcode(self.bitcode)


def loaded_library(fndesc: Any, callees: list[Any], bitcode: bytes) -> IRLibrary:
    """An IR library that another process lowered."""
    library = IRLibrary(code_generator(), fndesc.qualname)
    library.origin = (fndesc.modname, fndesc.qualname, fndesc.argtypes)
    library.callees, library.bitcode = callees, bitcode
    library._finalized = True
    return library


def names_of(module: Any) -> set[str]:
    """Names that a module defines."""
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
            raise RuntimeError(f"cached kernels call {function.name}: empty the cache")


def is_ir_library(library: Any) -> bool:
    """Whether a code library is a kernel of the engine."""
    return isinstance(library, IRLibrary)


def in_one(modules: list[Any]) -> list[Any]:
    """All modules in one, if there are any.

    Linking reads both modules: they are joined in pairs, so each is read log2(n) times and not n.
    """
    while len(modules) > 1:
        for one, other in zip(modules[::2], modules[1::2], strict=False):
            one.link_in(other)
        modules = modules[::2]
    return modules


def needed_libraries(library: Any) -> list[Any]:
    """All libraries that this one calls: kernels first, then Numba's own."""
    kernels: dict[Any, None] = {}
    others: dict[Any, None] = {}
    waiting = list(library._linking_libraries)
    while waiting:
        next_library = waiting.pop()
        if not is_ir_library(next_library):
            others[next_library] = None
        elif next_library not in kernels:
            kernels[next_library] = None
            waiting.extend(next_library.callees)
    return [*kernels, *others]


class EntryPoint(_Library):
    """Machine code of one kernel with all its callees, called from Python."""

    def finalize(self) -> None:
        """Link all callees, make them internal, optimise once, emit machine code."""
        self._raise_if_finalized()
        module = self._final_module
        own = names_of(module)
        libraries = needed_libraries(self)
        for library in libraries:
            self._reload_init.update(library._reload_init)
        kernels = [one._get_module_for_linking() for one in libraries if is_ir_library(one)]
        for linked in in_one(kernels):
            module.link_in(linked)
        for library in libraries:
            if not is_ir_library(library):
                module.link_in(library._get_module_for_linking(), preserve=True)
        check_symbols(module)
        hide_all_but(module, own)
        with event.trigger_event(LINK_EVENT, data={"name": self.name}):
            self._optimize_final_module()
            module.verify()
            self._finalize_final_module()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Machine code and the names it defines; an entry point is never linked into another."""
        names = [f.name for f in self._final_module.functions if not f.is_declaration]
        bodies = "".join(f'define void @"{name}"() {{\n  ret void\n}}\n' for name in names)
        stubs = llvm.parse_assembly(bodies)
        return (self.name, "object", (self._get_compiled_object(), stubs.as_bitcode()))


class Flags(compiler.Flags):  # type: ignore[misc]
    """Numba's flags of a compilation, compared fast; the name is part of symbols.

    Numba looks up every operation of a function by them, and compares them option by option.
    """

    def __hash__(self) -> int:
        """One number: Numba's own depends on the names of the options only, too."""
        return 0

    def __eq__(self, other: object) -> Any:
        """Whether all options are the same; copies share their values."""
        if not isinstance(other, compiler.Flags):
            return NotImplemented
        return self is other or self._values == other._values or self.values() == other.values()


# Numba's passes that change nothing here: kernels have no closures, no `with`, no literal loops,
# and no operation on whole arrays that makes another one
UNNEEDED_PASSES = (
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.DumpParforDiagnostics,
)


class _LibraryCompiler(Compiler):  # type: ignore[misc]
    """Numba's pipeline, lowering into `library_class`."""

    library_class: type = EntryPoint

    def __init__(
        self,
        typing_context: Any,
        target_context: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Any,
        local_types: Any,
    ) -> None:
        """Begin as Numba's stage does, with flags of our own."""
        super().__init__(
            typing_context, target_context, library, args, return_type, Flags(flags), local_types
        )

    def define_pipelines(self) -> list[Any]:
        """The passes that kernels need, with a library made before they need one."""
        state = self.state
        name_by_module(state.func_id)
        state.library = self.library_class(code_generator(), state.func_id.func_qualname)
        state.library.origin = (state.func_id.modname, state.func_id.func_qualname, state.args)
        state.library.enable_object_caching()
        (passes,) = super().define_pipelines()
        passes.passes = [one for one in passes.passes if one[0] not in UNNEEDED_PASSES]
        passes.finalize()
        return [passes]


def name_by_module(function: Any) -> None:
    """Name a function the same in every process; Numba numbers functions as it compiles them."""
    if is_of_a_module(function.modname, function.func_qualname):
        function.unique_id = 0
        function.unique_name = f"{function.func_qualname}$0"


class EntryPointCompiler(_LibraryCompiler):
    """Compiler of kernels called from Python."""


class IRCompiler(_LibraryCompiler):
    """Compiler of kernels called from kernels."""

    library_class = IRLibrary


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
    """A compiled function: an entry point for Python, an IR library for other kernels."""

    def __init__(self, py_func: Callable[..., Any], options: dict[str, Any]) -> None:
        """Compile nothing yet; `options` are Numba's target options."""
        Defined.count += 1
        # Numba asks for it twice, and finding it is a tenth of an import of the engine
        py_func.__signature__ = inspect.signature(py_func)  # type: ignore[attr-defined]
        super().__init__(py_func, targetoptions=options, pipeline_class=EntryPointCompiler)
        self._cache = MachineCodeStore(py_func)
        # what other kernels call instead where an argument is lanes (lanes.py)
        self.lane_form: Kernel | None = None

    def _form_for(self, argument_types: Any) -> Kernel:
        """This kernel, or its form for lanes."""
        form = self.lane_form
        return form if form is not None and any(map(has_lanes, argument_types)) else self

    @functools.cached_property
    def inner(self) -> CPUDispatcher:
        """Dispatcher of calls from other kernels; not made where entry points are cached."""
        function = self.py_func
        options = dict(self.targetoptions, no_cpython_wrapper=True, no_cfunc_wrapper=True)
        inner = CPUDispatcher(function, targetoptions=options, pipeline_class=IRCompiler)
        if is_of_a_module(function.__module__, function.__qualname__):
            inner._cache = IRStore(function, loaded_library)
        return inner

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Typing of a call from another kernel; constants are typed as variables."""
        args = tuple(types.unliteral(a) for a in args)
        kws = {name: types.unliteral(a) for name, a in kws.items()}
        return self._form_for((*args, *kws.values())).inner.get_call_template(args, kws)

    def get_overload(self, argument_types: Any) -> Any:
        """Implementation of a call from another kernel."""
        return self._form_for(argument_types).inner.get_overload(argument_types)

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        with rare_collections():
            return super()._compile_for_args(*args, **kws)


def keep_apart(kernel: Kernel) -> Kernel:
    """Make LLVM call a kernel instead of inlining it."""
    function = kernel.py_func
    kept_apart.add((function.__module__, function.__qualname__))
    return kernel
