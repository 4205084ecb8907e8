"""Hashes of what compiled code depends on: source files, Numba, llvmlite and Python."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import llvmlite
import numba


class Package(NamedTuple):
    """A package by its full name, and its folder."""

    name: str
    folder: Path


# this module is cardan.engine.compiler.source_hash
ENGINE = Package(__name__.rsplit(".", 2)[0], Path(__file__).parents[1])


def source_hash(root: Path = ENGINE.folder) -> str:
    """SHA-256 (hex, 16 digits) of all sources below a folder and of what compiles them."""
    return hash_of(sorted(root.rglob("*.py")), root)


def stamp(path: Path) -> tuple[int, int]:
    """Size and modification time of a file, which identify its version."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


# a process runs the files it imported: files changed since then are not its sources
IMPORTED = {path: stamp(path) for path in ENGINE.folder.rglob("*.py")}


def are_as_imported(paths: Iterable[Path]) -> bool:
    """Whether files of the engine are unchanged since this process imported them."""
    try:
        return all(stamp(path) == IMPORTED.get(path) for path in paths)
    except OSError:
        return False


def hash_of(paths: Iterable[Path], root: Path) -> str:
    """SHA-256 (hex, 16 digits) of files, of their places below `root` and of what compiles them.

    Machine code calls Python by the binary interface of its minor version (the cache tag).
    """
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    python = f"{sys.implementation.cache_tag}{sys.abiflags}"
    digest.update(f"{numba.__version__} {llvmlite.__version__} {python}".encode())
    return digest.hexdigest()[:16]


@cache
def file_of(module: str, package: Package) -> Path | None:
    """The source of a module of a package, given by its full name; None: no such."""
    if module != package.name and not module.startswith(f"{package.name}."):
        return None
    place = package.folder.joinpath(*module.removeprefix(package.name).split("."))
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.exists():
            return path
    return None


def is_of_a_module(module: str, qualname: str) -> bool:
    """Whether module and qualified name identify a function uniquely."""
    return module.startswith(f"{ENGINE.name}.") and "<locals>" not in qualname


@cache
def imported_files(path: Path, package: Package) -> tuple[Path, ...]:
    """Files of a package that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    found = (file_of(name, package) for name in names)
    return tuple(sorted({file for file in found if file is not None}))


@cache
def dependencies(module: str, package: Package = ENGINE) -> tuple[Path, ...]:
    """Files of a module of a package and of all it imports there, directly or not."""
    first = file_of(module, package)
    if first is None:
        raise ValueError(f"{module} is no module of {package.name}")
    known: set[Path] = set()
    waiting = [first]
    while waiting:
        path = waiting.pop()
        if path not in known:
            known.add(path)
            waiting.extend(imported_files(path, package))
    return tuple(sorted(known))


@cache
def dependency_hash(module: str, package: Package = ENGINE) -> str:
    """Hash of what a module depends on.

    Code of a module cannot change without it: whatever a kernel calls or reads is imported.
    """
    return hash_of(dependencies(module, package), package.folder)
