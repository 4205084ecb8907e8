"""The model every part of a scene and of the API inherits: frozen, and closed to unknown fields."""

from typing import Any

from pydantic import BaseModel, ConfigDict

UNION_PREFIX = "union:"
"""Marks the branch of a union inside Pydantic's error paths, so that it never reaches a user."""


class Base(BaseModel):
    """A frozen model without unknown fields. Its fields carry unit and frame in their text."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


def type_tag(value: Any) -> str | None:
    """Return the branch of a union on the field `type`, or None when there is no such text."""
    return _text_tag(value, "type")


def op_tag(value: Any) -> str | None:
    """Return the branch of a union on the field `op`, or None when there is no such text."""
    return _text_tag(value, "op")


def _text_tag(value: Any, field: str) -> str | None:
    tag = value.get(field) if isinstance(value, dict) else getattr(value, field, None)
    return UNION_PREFIX + tag if isinstance(tag, str) else None
