"""Parts of compiled code that are kept between processes: what did not change is not lowered again.

A part is the LLVM IR of one kernel with its helpers out of Numba inside, and a list of the kernels
it calls. Fresh or kept, it is linked from the same bitcode, so machine code does not depend on
which parts were found (decision 0005).
"""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import serialize
from numba.core.compiler import compile_result

from engine.sources import are_as_imported, dependencies, dependency_hash

CHECKSUM = 32  # bytes before the content of a file


def checksum(content: bytes) -> bytes:
    """SHA-256: a machine may stop before a file is on its disk."""
    return hashlib.sha256(content).digest()


@cache
def own_hash(module: str) -> str | None:
    """Hash of what a module of this process depends on; None: that lies no longer on the disk."""
    found = dependency_hash(module)
    return found if are_as_imported(dependencies(module)) else None


class PartStore:
    """Keeps the parts of one kernel; stands where Numba has its cache."""

    cache_path = None

    def __init__(self, folder: Path, function: Any, new_library: Any) -> None:
        """Below `folder`, by module, by all it imports. new_library(codegen, callees, bitcode)."""
        self._folder = folder
        self._function = function
        self._new_library = new_library

    def _path(self, arguments: tuple[Any, ...]) -> Path | None:
        module, name = self._function.__module__, self._function.__qualname__
        own = own_hash(module)
        if own is None:
            return None
        what = hashlib.sha256(", ".join(map(str, arguments)).encode()).hexdigest()[:16]
        return self._folder / f"{module}-{own}" / f"{name}-{what}"

    def load_overload(self, arguments: tuple[Any, ...], target: Any) -> Any:
        """The part for these types of arguments, or None."""
        path = self._path(arguments)
        if path is None:
            return None
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if checksum(content[CHECKSUM:]) != content[:CHECKSUM]:
            return None
        bitcode, callees, fndesc, environment, signature = pickle.loads(content[CHECKSUM:])
        libraries = [library_of(*callee) for callee in callees]
        library = self._new_library(target.codegen(), fndesc, libraries, bitcode)
        return compile_result(  # type: ignore[no-untyped-call]
            target_context=target,
            typing_context=target.typing_context,
            library=library,
            environment=environment,
            entry_point=target.get_executable(library, fndesc, environment),
            fndesc=fndesc,
            signature=signature,
            objectmode=False,
            lifted=(),
        )

    def save_overload(self, arguments: tuple[Any, ...], result: Any) -> None:
        """Keep a part, if there is room; a half written file is never seen."""
        library, fndesc = result.library, result.fndesc
        path = self._path(arguments)
        if path is None or not library.can_be_kept:
            return
        fndesc.typemap = fndesc.calltypes = None  # of use while lowering only
        callees = [callee.origin for callee in library.callees]
        content = serialize.dumps(  # type: ignore[no-untyped-call]
            (library.bitcode, callees, fndesc, result.environment, result.signature)
        )
        unfinished = path.with_name(f"{path.name}-{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(checksum(content) + content)
            unfinished.replace(path)
        except OSError:
            with suppress(OSError):
                unfinished.unlink()


def library_of(module: str, name: str, arguments: tuple[Any, ...]) -> Any:
    """The part that a kept part calls, itself kept or lowered now; its symbol is the same."""
    part = getattr(importlib.import_module(module), name).part
    part.compile(arguments)
    return part.overloads[arguments].library
