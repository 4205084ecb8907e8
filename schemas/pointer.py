"""JSON Pointers (RFC 6901): writing them, following them, and setting values through them."""

from collections.abc import Iterable, Mapping
from typing import Any

from cardan.schemas.error import Fault, SceneInvalid, found, printable, shown
from cardan.schemas.spelling import did_you_mean

OPTIONAL_SECTIONS = frozenset(
    {
        ("simulation",),
        ("simulation", "solver"),
        ("simulation", "contact"),
        ("record",),
    }
)
"""Objects a scene may leave out, which an override may therefore begin."""


def to_pointer(path: Iterable[str | int]) -> str:
    """Write a path as a JSON Pointer; ~ and / are escaped."""
    return "".join(
        "/" + printable(str(part)).replace("~", "~0").replace("/", "~1") for part in path
    )


def parse_pointer(pointer: str) -> list[str]:
    """Split a JSON Pointer into its parts. Raises SceneInvalid when it is not one."""
    if pointer and not pointer.startswith("/"):
        raise _invalid(pointer, "A JSON Pointer begins with '/', as in /simulation/dt.")
    parts = pointer.split("/")[1:]
    for part in parts:
        if "~" in part.replace("~0", "").replace("~1", ""):
            raise _invalid(pointer, "In a JSON Pointer '~' is written ~0 and '/' is written ~1.")
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def value_at(document: Any, pointer: str) -> Any:
    """The value at a pointer; None where there is none."""
    for part in parse_pointer(pointer):
        if isinstance(document, dict):
            document = document.get(part)
        elif isinstance(document, list):
            index = _list_index(part, len(document))
            document = None if index is None else document[index]
        else:
            return None
    return document


def apply_overrides(document: Any, overrides: Mapping[str, Any]) -> Any:
    """Return the document with values set at JSON Pointers; the given one is not changed.

    Every object and list on the way must exist, except the sections of a scene that have
    defaults (`/simulation`, its `solver` and `contact`, `/record`). Raises SceneInvalid with one
    fault per pointer that leads nowhere, naming the deepest part that exists.
    """
    document, faults = applied(document, overrides)
    if faults:
        raise SceneInvalid(faults)
    return document


def applied(document: Any, overrides: Mapping[str, Any]) -> tuple[Any, list[Fault]]:
    """Return the document with what can be set of `apply_overrides`, and faults of the rest."""
    faults: list[Fault] = []
    for pointer, value in overrides.items():
        try:
            parts = parse_pointer(pointer)
            document = _set(document, parts, 0, value)
        except SceneInvalid as error:
            faults.extend(error.errors)
    return document, faults


def _set(node: Any, parts: list[str], depth: int, value: Any) -> Any:
    """Return a copy of `node` with the value at parts[depth:]."""
    if depth == len(parts):
        return value
    part = parts[depth]
    if isinstance(node, dict):
        last = depth == len(parts) - 1
        if part not in node and not last and tuple(parts[: depth + 1]) not in OPTIONAL_SECTIONS:
            raise _nowhere(parts, depth, node)
        copy = dict(node)
        copy[part] = _set(node.get(part, {}), parts, depth + 1, value)
        return copy
    if isinstance(node, list):
        index = _list_index(part, len(node))
        if index is None:
            raise _nowhere(parts, depth, node)
        items = list(node)
        items[index] = _set(node[index], parts, depth + 1, value)
        return items
    raise _nowhere(parts, depth, node)


def _list_index(part: str, length: int) -> int | None:
    """Return the index a pointer part names in a list; None when there is no such element."""
    if not part.isascii() or not part.isdigit() or (len(part) > 1 and part[0] == "0"):
        return None
    if len(part) > len(str(length)):
        return None
    index = int(part)
    return index if index < length else None


def _nowhere(parts: list[str], depth: int, node: Any) -> SceneInvalid:
    parent = to_pointer(parts[:depth])
    place = f"'{parent}'" if parent else "the whole document"
    hint: str | None = None
    if isinstance(node, list):
        allowed = f"a list with indices 0 to {len(node) - 1}" if node else "an empty list"
        hint = "A pointer can replace an element of a list, not add one."
    elif isinstance(node, dict):
        allowed = "an object without that field"
        hint = did_you_mean(parts[depth], list(node))
    else:
        allowed = f"{found(node)}, which has no parts"
    message = (
        f"Nothing is at '{to_pointer(parts)}': the deepest part that exists is {place}, {allowed}."
    )
    fault = Fault(
        pointer=to_pointer(parts), code="pointer_not_found", message=message, got=parent, hint=hint
    )
    return SceneInvalid([fault])


def _invalid(pointer: str, message: str) -> SceneInvalid:
    text = printable(pointer)
    return SceneInvalid(
        [Fault(pointer=text, code="pointer_invalid", message=message, got=shown(pointer))]
    )
