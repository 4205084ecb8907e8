"""Tables of fields, written from the models of the scene: names, meanings, units, defaults."""

from importlib import import_module
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

MODULES = (
    "action", "body", "drive", "force", "initial", "joint", "material", "options", "record",
    "scene", "sensor", "series", "shape", "study", "trigger", "visual",
)  # fmt: skip

# bases whose fields stand in the table of what inherits them
INHERITED = ("Geometry", "Signal", "Quantity")


def model_of(name: str) -> type[BaseModel]:
    """The model of a part of a scene or study. Raises LookupError."""
    for module in MODULES:
        found = getattr(import_module(f"cardan.schemas.{module}"), name, None)
        if isinstance(found, type) and issubclass(found, BaseModel):
            return found
    raise LookupError(f"there is no part of a scene or study called {name}")


def own_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Fields that the class itself declares, or what it is a kind of."""
    declaring = [one for one in model.__mro__ if one is model or one.__name__.endswith(INHERITED)]
    own = {name for one in declaring for name in one.__annotations__}
    return {name: field for name, field in model.model_fields.items() if name in own}


def table_of(name: str) -> str:
    """The fields of a part of the scene as a table of Markdown."""
    rows = ["| field | meaning | default |", "|---|---|---|"]
    for field, info in own_fields(model_of(name)).items():
        if field in ("type", "op") and len(values_of(info.annotation)) == 1:
            continue
        meaning = " ".join((info.description or "").split())
        allowed = values_of(info.annotation)
        if allowed and not all(f"`{value}`" in meaning for value in allowed):
            meaning += " One of " + ", ".join(f"`{value}`" for value in allowed) + "."
        rows.append(f"| `{field}` | {meaning.replace('|', chr(92) + '|')} | {default_of(info)} |")
    return "\n".join(rows)


def values_of(annotation: Any) -> list[Any]:
    """The values of a field that takes one of a few texts; empty for others."""
    origin = get_origin(annotation)
    if origin is Literal:
        return list(get_args(annotation))
    if origin is Annotated:
        return values_of(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [value for part in get_args(annotation) for value in values_of(part)]
    return []


def default_of(info: FieldInfo) -> str:
    """The default of a field, as JSON would say it."""
    if info.is_required():
        return "needed"
    value = info.default
    if value is None or value is PydanticUndefined or value == ():
        return "-"
    if isinstance(value, BaseModel):
        return "see there"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        listed = ", ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value)
        return f"`[{listed}]`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
