"""Cache of compiled code between processes; unchanged kernels are not compiled again.

A part is the LLVM IR of one kernel with its helpers out of Numba inside, and a list of the kernels
it calls. Fresh or kept, it is linked from the same bitcode, so machine code does not depend on
which parts were found. An entry is machine code (decision 0005). What cannot be loaded is compiled.
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

from cardan.engine.compiler.cache import KEPT, PLACE, folders
from cardan.engine.compiler.processor import code_generator, target
from cardan.engine.compiler.source_hash import (
    are_as_imported,
    dependencies,
    dependency_hash,
    is_of_a_module,
)

log = logging.getLogger("cardan.kernels")


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
        """Of a Python function."""
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
        target_context.refresh()
        for folder in folders():
            content = folder.read(name)
            if content is not None:
                try:
                    return self.rebuild(pickle.loads(content), target_context)
                except Exception:  # whatever the fault of the file, the kernel can be compiled
                    log.warning("%s in %s is compiled again", name, folder.base, exc_info=True)
        return None

    def keep(self, arguments: tuple[Any, ...], content: Any) -> None:
        """Write what `rebuild` takes."""
        name = self.name(arguments)
        if name is not None:
            KEPT.write(name, serialize.dumps(content))  # type: ignore[no-untyped-call]


class PartStore(_Store):
    """Keeps the parts of one kernel: by its module, by all that imports."""

    def __init__(self, function: Callable[..., Any], new_library: Callable[..., Any]) -> None:
        """new_library(function descriptor, callees, bitcode)."""
        super().__init__(function)
        self._new_library = new_library

    def name(self, arguments: tuple[Any, ...]) -> str | None:
        """Below the folder of all parts for this processor; None: the sources have changed."""
        module, name = self._function.__module__, self._function.__qualname__
        own = own_hash(module)
        if own is None:
            return None
        return f"parts/{target().key}/{module}-{own}/{name}-{digest_of(arguments)}"

    def rebuild(self, content: Any, target_context: Any) -> Any:
        """A part, with all parts that it calls."""
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
        """Keep a part."""
        library, fndesc = result.library, result.fndesc
        if not library.can_be_kept:
            return
        fndesc.typemap = fndesc.calltypes = None  # of use while lowering only
        callees = [callee.origin for callee in library.callees]
        self.keep(
            arguments, (library.bitcode, callees, fndesc, result.environment, result.signature)
        )


def library_of(module: str, name: str, arguments: tuple[Any, ...]) -> Any:
    """The part that a kept part calls, itself kept or lowered now; its symbol is the same."""
    part = getattr(importlib.import_module(module), name).part
    part.compile(arguments)
    return part.overloads[arguments].library


@cache
def hash_of_file(path: str) -> str:
    """SHA-256 (16 hex digits) of a source outside the engine."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


class EntryStore(_Store):
    """Keeps the machine code of one kernel: by all sources of the engine, by the processor."""

    def name(self, arguments: tuple[Any, ...]) -> str | None:
        """Below the folder of these sources and this processor.

        A kernel outside the engine goes by its file too; a function inside a function has none.
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
        """An entry, loaded into this process."""
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
        """Keep an entry, unless it holds addresses of this process, or the sources have changed."""
        module = self._function.__module__
        if result.library.has_dynamic_globals or result.lifted:
            return
        if is_of_a_module(module, self._function.__qualname__) and own_hash(module) is None:
            return
        referenced = tuple(result._find_referenced_environments())
        library, fndesc = result.library.serialize_using_object_code(), result.fndesc
        fndesc.typemap = fndesc.calltypes = None
        self.keep(
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
