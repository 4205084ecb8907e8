"""Pydantic's errors as faults that point into the user's own document."""

import math
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError

from cardan.schemas.base import UNION_PREFIX
from cardan.schemas.error import Fault, float_or_inf, found, shown
from cardan.schemas.pointer import to_pointer
from cardan.schemas.quantities import HUGE, NAME_PATTERN, TINY
from cardan.schemas.spelling import did_you_mean, listed

HALF_TURN = 180.0
"""The largest angle in degrees that one above pi may have meant."""

# kinds of errors of numbers out of range: the key of the bound, and words for it
RANGES = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}

Path = list[str | int]
Detail = dict[str, Any]


def translate(error: ValidationError, model: Any, document: Any) -> list[Fault]:
    """Return one fault per error, without the union branches Pydantic puts into its paths.

    `model` is what the document was validated against: a model, or a union of models.
    """
    return translate_details(error.errors(include_url=False), model, document)


def translate_details(details: Iterable[Any], model: Any, document: Any) -> list[Fault]:
    """Return the faults of errors in the form in which Pydantic lists them."""
    faults: dict[tuple[str, str], Fault] = {}
    for detail in details:
        fault = _fault(detail, model, document)
        if fault is not None:
            faults.setdefault((fault.pointer, fault.code), fault)
    return list(faults.values())


def _fault(detail: Detail, model: Any, document: Any) -> Fault | None:
    path = _user_path(detail["loc"], document)
    kind = detail["type"]
    if kind in _WRITERS:
        return _WRITERS[kind](detail, path, model)
    if kind in _PLAIN:
        code, needed = _PLAIN[kind]
        return _simple(path, code, f"{needed} is needed; found {found(detail['input'])}.", detail)
    return _simple(path, kind, f"{detail['msg']} Found {found(detail['input'])}.", detail)


def _simple(path: Path, code: str, message: str, detail: Detail, hint: str | None = None) -> Fault:
    return Fault(
        pointer=to_pointer(path), code=code, message=message, got=shown(detail["input"]), hint=hint
    )


_PLAIN = {
    "finite_number": ("not_finite", f"A finite number (not NaN, not infinite, within {HUGE:g})"),
    "int_type": ("not_an_integer", "A whole number"),
    "int_from_float": ("not_an_integer", "A whole number"),
    "int_parsing": ("not_an_integer", "A whole number"),
    "float_parsing": ("not_a_number", "A number"),
    "bool_parsing": ("not_a_boolean", "true or false"),
    "string_type": ("not_a_text", "A text"),
    "string_unicode": ("not_a_text", "A text of valid Unicode"),
    "string_too_short": ("wrong_length", "A text that is not empty"),
    "bool_type": ("not_a_boolean", "true or false"),
    "tuple_type": ("not_a_list", "A list"),
    "list_type": ("not_a_list", "A list"),
    "dict_type": ("not_an_object", "An object"),
    "scene_source": (
        "not_an_object",
        "A scene, the name of an example, or the id of a stored scene",
    ),
}


def _pattern(detail: Detail, path: Path, model: Any) -> Fault:
    value, pattern = detail["input"], detail["ctx"]["pattern"]
    if pattern == NAME_PATTERN:
        needed = "Another text (names have no control characters) is needed"
    else:
        needed = f"A text of the form {pattern.removeprefix('^').removesuffix('$')} is needed"
    return _simple(path, "not_allowed", f"{needed}; found {found(value)}.", detail)


def _number_type(detail: Detail, path: Path, model: Any) -> Fault:
    value = detail["input"]
    if isinstance(value, int) and not isinstance(value, bool):
        size = float_or_inf(value)
        message = f"The number is too large; found {size:g}, at most {HUGE:g} is allowed."
        return _simple(path, "out_of_range", message, detail)
    return _simple(path, "not_a_number", f"A number is needed; found {found(value)}.", detail)


def _range(detail: Detail, path: Path, model: Any) -> Fault:
    key, relation = RANGES[detail["type"]]
    bound, value = detail["ctx"][key], detail["input"]
    if bound == TINY and value <= 0:
        relation, bound = "greater than", 0
    name = next((part for part in reversed(path) if isinstance(part, str)), "The value")
    # a limit is said in full
    limit = str(bound) if isinstance(bound, int) else f"{bound:g}"
    message = f"`{name}` must be {relation} {limit}; found {found(value)}."
    hint = None
    if bound == math.pi and value <= HALF_TURN:
        hint = f"Angles are in radians: {value:g} degrees are {math.radians(value):.6g}."
    return _simple(path, "out_of_range", message, detail, hint)


def _not_an_object(detail: Detail, path: Path, model: Any) -> Fault:
    """The fault of a value that is no object; the hint reads two numbers as limits."""
    fields: list[str] = []
    for branch in _branches_at(model, detail["loc"]):
        if isinstance(branch, type) and issubclass(branch, BaseModel):
            fields.extend(branch.model_fields)
    value = detail["input"]
    hint = f"Its fields are {listed(fields)}." if fields else None
    numbers = isinstance(value, list) and all(type(part) in (int, float) for part in value)
    if {"lower", "upper"} <= set(fields) and numbers and len(value) == 2:
        lower, upper = sorted(value)
        hint = f'Write {{"lower": {shown(lower)}, "upper": {shown(upper)}}}.'
    return _simple(
        path, "not_an_object", f"An object is needed; found {found(value)}.", detail, hint
    )


def _missing(detail: Detail, path: Path, model: Any) -> Fault:
    if isinstance(path[-1], int):
        wanted = _fixed_length(model, detail["loc"][:-1])
        message = f"A list of {wanted} numbers is needed; found {found(detail['input'])}."
        return _simple(path[:-1], "wrong_length", message, detail)
    field = str(path[-1])
    hint = None
    for branch in _branches_at(model, detail["loc"][:-1]):
        if isinstance(branch, type) and issubclass(branch, BaseModel):
            hint = branch.model_fields[field].description if field in branch.model_fields else None
    message = f"The field `{field}` is missing."
    return Fault(pointer=to_pointer(path), code="missing", message=message, hint=hint)


def _too_long(detail: Detail, path: Path, model: Any) -> Fault:
    wanted, actual = detail["ctx"]["max_length"], detail["ctx"].get("actual_length")
    if detail["type"] == "string_too_long":
        message = f"A text of at most {wanted} characters is allowed; found {len(detail['input'])}."
    else:
        exact = _fixed_length(model, detail["loc"]) == wanted
        needed = f"A list of {wanted} is needed" if exact else f"At most {wanted} are allowed"
        message = f"{needed}; found a list of {actual}."
    return _simple(path, "wrong_length", message, detail)


def _too_short(detail: Detail, path: Path, model: Any) -> Fault | None:
    wanted, value = detail["ctx"]["min_length"], detail["input"]
    if isinstance(value, (list, tuple)) and len(value) >= wanted:
        return None
    message = f"A list of at least {wanted} is needed; found {found(value)}."
    return _simple(path, "wrong_length", message, detail)


def _unknown_field(detail: Detail, path: Path, model: Any) -> Fault:
    allowed: list[str] = []
    for branch in _branches_at(model, detail["loc"][:-1]):
        if isinstance(branch, type) and issubclass(branch, BaseModel):
            allowed.extend(branch.model_fields)
    field = str(path[-1])
    message = f"Unknown field `{shown(field)}`; the fields allowed here are {listed(allowed)}."
    hint = did_you_mean(field, allowed) or "Remove it."
    if field == "file" and {"vertices", "points"} & set(allowed):
        hint = "Mesh files are read on the command line, and where a scene is imported with them."
    return _simple(path, "unknown_field", message, detail, hint)


def _literal(detail: Detail, path: Path, model: Any) -> Fault:
    values = [
        value
        for branch in _branches_at(model, detail["loc"])
        if get_origin(branch) is Literal
        for value in get_args(branch)
    ]
    allowed = [str(value) for value in values]
    choice = listed(allowed) if allowed else detail["ctx"]["expected"]
    value = detail["input"]
    name = next((part for part in reversed(path) if isinstance(part, str)), "The value")
    message = f"`{name}` must be one of {choice}; found {found(value)}."
    hint = None
    if isinstance(value, str) and value in allowed and value not in values:
        hint = f"A number is needed, without quotation marks: {value}."
    elif isinstance(value, str):
        hint = did_you_mean(value, allowed)
    return _simple(path, "not_allowed", message, detail, hint)


def _unknown_type(detail: Detail, path: Path, model: Any) -> Fault:
    field = "op" if "op_tag" in detail["ctx"]["discriminator"] else "type"
    tags = detail["ctx"]["expected_tags"].replace("'", "").split(", ")
    allowed = [tag.removeprefix(UNION_PREFIX) for tag in tags]
    value = detail["input"]
    value = value[field] if isinstance(value, dict) else getattr(value, field, None)
    message = f"Unknown {field} '{shown(value)}'; the allowed ones are {listed(allowed)}."
    return Fault(
        pointer=to_pointer([*path, field]),
        code="unknown_type",
        message=message,
        got=shown(value),
        hint=did_you_mean(str(value), allowed),
    )


def _no_type(detail: Detail, path: Path, model: Any) -> Fault:
    field = "op" if "op_tag" in detail["ctx"]["discriminator"] else "type"
    value = detail["input"]
    if not isinstance(value, dict):
        message = f"An object with a `{field}` is needed; found {found(value)}."
        return _simple(path, "not_an_object", message, detail)
    choice = listed(_types_at(model, detail["loc"], field))
    if field in value:
        message = f"`{field}` must be one of {choice}; found {found(value[field])}."
        return Fault(
            pointer=to_pointer([*path, field]),
            code="not_a_text",
            message=message,
            got=shown(value[field]),
        )
    message = f"The field `{field}` is missing; it must be one of {choice}."
    return Fault(pointer=to_pointer([*path, field]), code="missing", message=message)


_WRITERS: dict[str, Callable[[Detail, Path, Any], Fault | None]] = {
    "float_type": _number_type,
    "int_parsing_size": _number_type,
    **dict.fromkeys(RANGES, _range),
    "missing": _missing,
    "model_type": _not_an_object,
    "model_attributes_type": _not_an_object,
    "too_long": _too_long,
    "string_too_long": _too_long,
    "too_short": _too_short,
    "extra_forbidden": _unknown_field,
    "literal_error": _literal,
    "enum": _literal,
    "string_pattern_mismatch": _pattern,
    "union_tag_invalid": _unknown_type,
    "union_tag_not_found": _no_type,
}


def _user_path(location: tuple[str | int, ...], document: Any) -> Path:
    """Drop union branches and key markers, which do not exist in the document."""
    path: Path = []
    node = document
    for part in location:
        inside = _has(node, part)
        marker = isinstance(part, str) and (part.startswith(UNION_PREFIX) or part == "[key]")
        if marker and not inside:
            continue
        path.append(part)
        node = node[part] if inside else None
    return path


def _has(node: Any, part: str | int) -> bool:
    if isinstance(node, dict):
        return part in node
    return isinstance(node, (list, tuple)) and isinstance(part, int) and 0 <= part < len(node)


def _fixed_length(model: Any, location: tuple[str | int, ...]) -> int | str:
    for branch in _branches_at(model, location):
        if get_origin(branch) is tuple and Ellipsis not in get_args(branch):
            return len(get_args(branch))
    return "more"


def _branches_at(model: Any, location: tuple[str | int, ...]) -> list[Any]:
    """Follow an error's path through the types; return the types that may stand there."""
    current = list(_flatten(model, ()))
    for part in location:
        if isinstance(part, str) and part.startswith(UNION_PREFIX):
            current = [(tags[1:], branch) for tags, branch in current if tags[:1] == (part,)]
        else:
            current = [
                pair
                for _, branch in current
                for child in _children(branch, part)
                for pair in _flatten(child, ())
            ]
    return [branch for _, branch in current]


def _types_at(model: Any, location: tuple[str | int, ...], field: str) -> list[str]:
    """Values by which a field tells the members of a union apart."""
    members = _branches_at(model, location)
    return [
        value
        for member in members
        for kind in _branches_at(member, (field,))
        for value in get_args(kind)
    ]


def _children(branch: Any, part: str | int) -> Iterator[Any]:
    origin, arguments = get_origin(branch), get_args(branch)
    if isinstance(branch, type) and issubclass(branch, BaseModel):
        if part in branch.model_fields:
            yield branch.model_fields[str(part)].annotation
    elif origin is dict:
        yield arguments[1]
    elif origin in (tuple, list) and isinstance(part, int):
        if len(arguments) == 1 or arguments[-1] is Ellipsis:
            yield arguments[0]
        elif 0 <= part < len(arguments):
            yield arguments[part]


def _flatten(annotation: Any, tags: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the members of a union, each with its tags: those of the unions it is in come first."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        yield from _flatten(inner, (*tags, *(one.tag for one in metadata if isinstance(one, Tag))))
    elif origin is Union or origin is types.UnionType:
        for member in get_args(annotation):
            yield from _flatten(member, tags)
    else:
        yield tags, annotation
