"""Cache of compiled code between processes; unchanged kernels are not compiled again.

Two things are cached (decision 0005): IR libraries, which are the bitcode of one kernel with the
functions of Numba that it calls, and a list of the kernels it calls; and entry points, which are
machine code. Lowered or loaded, a kernel is linked from the same bitcode, so machine code does not
depend on which files were found. What cannot be loaded is compiled.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import logging
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import serialize
from numba.core.compiler import compile_result

from cardan.engine.compiler.cache import PLACE, USER_CACHE, folders
from cardan.engine.compiler.processor import code_generator, target
from cardan.engine.compiler.source_hash import (
    are_as_imported,
    dependencies,
    dependency_hash,
    is_of_a_module,
)
from cardan.engine.compiler.structs import has_lanes

log = logging.getLogger("cardan.kernels")

# the module that all kernels for lanes are compiled for
LANES_ENTRY = "cardan.engine.lanes.many"


@cache
def own_hash(module: str) -> str | None:
    """Hash of what a module of this process depends on; None: its files changed on the disk."""
    found = dependency_hash(module)
    return found if are_as_imported(dependencies(module)) else None


def digest_of(arguments: tuple[Any, ...]) -> str:
    """Types of arguments as a name of a file (16 hex digits)."""
    return hashlib.sha256(", ".join(map(str, arguments)).encode()).hexdigest()[:16]


class _Store:
    """Store of the compiled code of one kernel, in place of Numba's cache."""

    cache_path = None

    def __init__(self, function: Callable[..., Any]) -> None:
        """Begin the store of a Python function."""
        self._function = function

    def name(self, arguments: tuple[Any, ...]) -> str | None:
        """Name of the file for these types of arguments; None: they have none."""
        raise NotImplementedError

    def rebuild(self, content: Any, target_context: Any) -> Any:
        """Numba's compile result from stored content."""
        raise NotImplementedError

    def load_overload(self, arguments: tuple[Any, ...], target_context: Any) -> Any:
        """Load the stored result for these argument types, or None."""
        name = self.name(arguments)
        if name is None:
            return None
        for folder in folders():
            content = folder.read(name)
            if content is not None:
                target_context.refresh()
                try:
                    return self.rebuild(pickle.loads(content), target_context)
                except Exception:  # whatever the fault of the file, the kernel can be compiled
                    log.warning("%s in %s is compiled again", name, folder.base, exc_info=True)
        return None

    def store(self, arguments: tuple[Any, ...], content: Any) -> None:
        """Write what `rebuild` reads."""
        name = self.name(arguments)
        if name is not None:
            USER_CACHE.write(name, serialize.dumps(content))  # type: ignore[no-untyped-call]


class IRStore(_Store):
    """IR libraries of one kernel; the key is a hash of its module and all imports."""

    def __init__(self, function: Callable[..., Any], new_library: Callable[..., Any]) -> None:
        """new_library(function descriptor, callees, bitcode)."""
        super().__init__(function)
        self._new_library = new_library

    def name(self, arguments: tuple[Any, ...]) -> str | None:
        """Below the folder of IR for this processor; None: the sources have changed."""
        module, name = self._function.__module__, self._function.__qualname__
        # for lanes it calls forms that its own module does not import
        own = own_hash(LANES_ENTRY if any(map(has_lanes, arguments)) else module)
        if own is None:
            return None
        return f"ir/{target().key}/{module}-{own}/{name}-{digest_of(arguments)}"

    def rebuild(self, content: Any, target_context: Any) -> Any:
        """An IR library with those of its callees."""
        bitcode, callees, fndesc, environment, signature = content
        libraries = [library_of(*callee) for callee in callees]
        library = self._new_library(fndesc, libraries, bitcode)
        return compile_result(  # type: ignore[no-untyped-call]
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, fndesc, environment),
            fndesc=fndesc,
            signature=signature,
            objectmode=False,
            lifted=(),
        )

    def save_overload(self, arguments: tuple[Any, ...], result: Any) -> None:
        """Store an IR library."""
        library, fndesc = result.library, result.fndesc
        if not library.can_be_stored:
            return
        fndesc.typemap = fndesc.calltypes = None  # of use while lowering only
        callees = [callee.origin for callee in library.callees]
        self.store(
            arguments, (library.bitcode, callees, fndesc, result.environment, result.signature)
        )


def library_of(module: str, name: str, arguments: tuple[Any, ...]) -> Any:
    """The IR library of a kernel by its origin, loaded or lowered; its symbols are the same."""
    inner = getattr(importlib.import_module(module), name).inner
    inner.compile(arguments)
    return inner.overloads[arguments].library


@cache
def hash_of_file(path: str) -> str:
    """SHA-256 (16 hex digits) of a source outside the engine."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


class MachineCodeStore(_Store):
    """Machine code of one kernel; the key is a hash of all sources, and the processor."""

    def name(self, arguments: tuple[Any, ...]) -> str | None:
        """Below the folder of these sources and this processor.

        Kernels outside the engine have a hash of their file too; local functions have no name.
        """
        module, name = self._function.__module__, self._function.__qualname__
        if "<locals>" in name:
            return None
        if not is_of_a_module(module, name):
            try:
                module = f"{module}-{hash_of_file(inspect.getfile(self._function))}"
            except (OSError, TypeError):
                return None
        return f"{PLACE}/{module}/{name}-{digest_of(arguments)}"

    def rebuild(self, content: Any, target_context: Any) -> Any:
        """An entry point, loaded into this process."""
        library, fndesc, environment, signature, annotation, initialisers, referenced = content
        for initialise in initialisers:
            initialise()
        loaded = code_generator().unserialize_library(library)
        result = compile_result(  # type: ignore[no-untyped-call]
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=loaded,
            environment=environment,
            entry_point=target_context.get_executable(loaded, fndesc, environment),
            fndesc=fndesc,
            signature=signature,
            objectmode=False,
            lifted=(),
            type_annotation=annotation,
            reload_init=initialisers,
            referenced_envs=referenced,
        )
        for other in referenced:
            code_generator().set_env(other.env_name, other)
        return result

    def save_overload(self, arguments: tuple[Any, ...], result: Any) -> None:
        """Store it, unless it contains addresses of this process or the sources have changed."""
        module = self._function.__module__
        if result.library.has_dynamic_globals or result.lifted:
            return
        if is_of_a_module(module, self._function.__qualname__) and own_hash(module) is None:
            return
        referenced = tuple(result._find_referenced_environments())
        library, fndesc = result.library.serialize_using_object_code(), result.fndesc
        fndesc.typemap = fndesc.calltypes = None
        self.store(
            arguments,
            (
                library,
                fndesc,
                result.environment,
                result.signature,
                str(result.type_annotation),
                tuple(result.reload_init),
                referenced,
            ),
        )
