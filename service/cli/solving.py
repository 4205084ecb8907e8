"""`cardan solve`: solve a complementarity problem in a file, by the same code as over HTTP."""

import json
import sys
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import typer

from cardan.schemas import Fault, SceneInvalid
from cardan.schemas.complementarity_check import read_problem
from cardan.schemas.parse import parse_json
from cardan.service.cli import console
from cardan.service.cli.outputs import prepare_file
from cardan.service.compute.complementarity import answer

TOLERANCE = 1e-8
ENDINGS = (".json", ".npz")
# arrays that are read from files of contacts; those of other programs, as references, are left out
CONTACT_FIELDS = frozenset({"type", "mu", "dim", "dimension", "law", "q", "b"})
SPARSE_PARTS = ("data", "indices", "indptr")
# matrices with more rows than this become sparse
FULL_ROWS = 300
VECTORS = ("x", "lam", "w", "certificate")


@dataclass(frozen=True)
class SolveOptions:
    """Options of `cardan solve`."""

    problem: Path
    kind: str | None
    solver: Mapping[str, Any]
    output: Path | None
    as_json: bool


def solve(options: SolveOptions) -> None:
    """Solve a complementarity problem in a file; exit status 0, INVALID or FAILED."""
    if options.output is not None and options.output.suffix.lower() not in ENDINGS:
        console.stop(
            f"{options.output} ends in {options.output.suffix!r}; .npz or .json is needed.",
            as_json=options.as_json,
        )
    prepare_file(options.output, as_json=options.as_json)
    try:
        document = _with_options(_read(options.problem), options)
        found = answer(read_problem(document), document)
    except SceneInvalid as error:
        console.stop_with_faults(error.errors, as_json=options.as_json)
    if options.output is not None:
        try:
            _write(options.output, found)
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"{options.output} cannot be written: {reason}"
            console.stop(message, console.FAILED, as_json=options.as_json)
    console.print_json({key: value for key, value in found.items() if key not in VECTORS})
    if not found["solved"]:
        raise typer.Exit(console.FAILED)


def _read(path: Path) -> Any:
    """The document of a file, or of standard input. Raises SceneInvalid."""
    if str(path) == "-":
        return parse_json(sys.stdin.buffer.read())
    if path.suffix.lower() not in ENDINGS:
        raise _fault("not_allowed", f"{path} ends in {path.suffix!r}; .json or .npz is needed.")
    try:
        if path.suffix.lower() == ".npz":
            with path.open("rb") as stream, zipfile.ZipFile(stream):
                stream.seek(0)
                file = np.load(stream, allow_pickle=False)
                return document_of({name: file[name] for name in file.files})
        data = path.read_bytes()
    except OSError as error:
        raise _fault("unreadable", f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise _fault("syntax", f"{path} is no .npz file of plain arrays: {error}.") from error
    return parse_json(data)


def document_of(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The document with these arrays; infinite bounds become null.

    Files of contacts, those with `mu`, may hold arrays of other programs, which are left out.
    """
    names = dict.fromkeys(name.partition("_")[0] if _is_part(name) else name for name in arrays)
    contacts = "mu" in arrays
    document: dict[str, Any] = {"type": "coulomb"} if contacts else {}
    for name in names:
        if name in arrays:
            if contacts and name not in CONTACT_FIELDS | {"A", "M", "W"}:
                continue
            value = arrays[name]
            if value.ndim == 2 and len(value) > FULL_ROWS:
                value = scipy.sparse.csr_matrix(value)
                document[name] = {part: getattr(value, part).tolist() for part in SPARSE_PARTS}
            else:
                document[name] = _plain(name, value)
        else:
            parts = {part: arrays.get(f"{name}_{part}") for part in SPARSE_PARTS}
            document[name] = {
                part: value.tolist() for part, value in parts.items() if value is not None
            }
    return document


def _is_part(name: str) -> bool:
    """Whether an array is part of a sparse matrix, as W_data is of W."""
    return name[1:].removeprefix("_") in SPARSE_PARTS and name[1:2] == "_"


def _plain(name: str, value: Any) -> Any:
    """Numbers of an array as lists; infinite bounds as null."""
    if name not in ("lo", "hi"):
        return value.tolist()
    unbounded = -np.inf if name == "lo" else np.inf
    return [None if entry == unbounded else entry for entry in np.atleast_1d(value).tolist()]


def _with_options(document: Any, options: SolveOptions) -> Any:
    """The document with the options of the command line."""
    if not isinstance(document, dict):
        return document
    problem = document.get("problem", document)
    if options.kind is not None and isinstance(problem, dict):
        problem = {**problem, "type": options.kind}
    document = {**document, "problem": problem} if "problem" in document else problem
    chosen = {key: value for key, value in options.solver.items() if value is not None}
    given = document.get("solver", {})
    if not isinstance(given, dict):
        return document
    return {**document, "solver": {"tolerance": TOLERANCE, **given, **chosen}}


def _write(path: Path, found: Mapping[str, Any]) -> None:
    """Write the answer; in .npz its vectors as arrays, without x, which is lam. Raises OSError."""
    if path.suffix.lower() == ".json":
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    arrays: dict[str, Any] = {
        key: np.asarray([np.nan if entry is None else entry for entry in value])
        if isinstance(value, list)
        else np.asarray(value)
        for key, value in found.items()
        if value is not None and not isinstance(value, dict) and key != "x"
    }
    np.savez(path, **arrays)


def _fault(code: str, message: str) -> SceneInvalid:
    return SceneInvalid([Fault(pointer="", code=code, message=message)])
