"""JSON text to a document, with faults that JSON readers usually ignore."""

import json
from typing import Any

from cardan.schemas.error import Fault, SceneInvalid, printable
from cardan.schemas.pointer import to_pointer

LONGEST_INTEGER = 40
MAX_DEPTH_TEXT = "a scene needs no more than ten levels"


Repeated = dict[int, tuple[dict[str, Any], list[str]]]
"""Objects of a document with keys that stand twice, by identity, and those keys."""


def parse_json(data: str | bytes) -> Any:
    """Read JSON text; raises SceneInvalid on a syntax error and on duplicate keys."""
    document, faults = read_json(data)
    if faults:
        raise SceneInvalid(faults)
    return document


def read_json(data: str | bytes) -> tuple[Any, list[Fault]]:
    """Read JSON text: the document with the last of duplicate keys, and one fault for each.

    NaN and numbers beyond double precision become floats that are not finite, so that the models
    report them at their place. Raises SceneInvalid with line and column of a syntax error.
    """
    document, repeated = _read(data)
    return document, _repeated_keys(document, repeated)


def _read(data: str | bytes) -> tuple[Any, Repeated]:
    """Read JSON text once: the document, and its duplicate keys."""
    repeated: Repeated = {}

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            seen: set[str] = set()
            keys = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
            repeated[id(members)] = (members, keys)
        return members

    text = _text(data)
    try:
        document = json.loads(text, object_pairs_hook=collect, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise _fault(
            "syntax",
            f"This is not JSON: {error.msg} in line {error.lineno}, column {error.colno}.",
            _excerpt(text, error.pos),
            "Common causes: a comma too many, a missing quote, a comment.",
        ) from error
    except RecursionError as error:
        raise _fault("too_deep", f"The document is nested too deeply; {MAX_DEPTH_TEXT}.") from error
    return document, repeated


def _repeated_keys(document: Any, repeated: Repeated) -> list[Fault]:
    """Return one fault for every duplicate key."""
    if not repeated:
        return []
    return [
        Fault(
            pointer=to_pointer([*path, key]),
            code="duplicate_key",
            message=f"The field '{printable(key)}' stands more than once in the same object.",
            got=printable(key),
            hint="Keep one of them.",
        )
        for path, node in _objects(document)
        if id(node) in repeated
        for key in dict.fromkeys(repeated[id(node)][1])
    ]


def _objects(document: Any) -> list[tuple[list[str | int], dict[str, Any]]]:
    """Return every object of a document with its path, outermost first."""
    result: list[tuple[list[str | int], dict[str, Any]]] = []
    waiting: list[tuple[list[str | int], Any]] = [([], document)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            result.append((path, node))
            waiting.extend(([*path, key], value) for key, value in reversed(node.items()))
        elif isinstance(node, list):
            waiting.extend(([*path, i], node[i]) for i in range(len(node) - 1, -1, -1))
    return result


def _integer(text: str) -> int | float:
    """Read an integer; one too long for any quantity becomes a float, infinite if need be."""
    return int(text) if len(text) <= LONGEST_INTEGER else float(text)


def _text(data: str | bytes) -> str:
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _fault(
            "not_utf8",
            f"The document is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}.",
        ) from error


def _excerpt(text: str, position: int) -> str:
    line_start = text.rfind("\n", 0, position) + 1
    return printable(text[max(line_start, position - 20) : position + 20])


def _fault(
    code: str, message: str, got: str | None = None, hint: str | None = None
) -> SceneInvalid:
    return SceneInvalid([Fault(pointer="", code=code, message=message, got=got, hint=hint)])
