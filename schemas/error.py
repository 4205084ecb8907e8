"""Errors of an input: faults, the exception that carries them, and problem details."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from cardan.schemas.base import Base

MAX_FAULTS = 1000
SHOWN_LENGTH = 80


def printable(text: str) -> str:
    """Return text that can be encoded as UTF-8: lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


Printable = Annotated[str, AfterValidator(printable)]


class Fault(Base):
    """One fault at one place of the document."""

    pointer: Printable
    """RFC 6901 JSON Pointer into the user's document; empty: the whole document."""
    code: str
    """Stable name of the kind of fault."""
    message: Printable
    """A sentence: what is wrong, what was found, what is allowed."""
    got: Printable | int | float | bool | None = None
    """The value found, shortened; lists and objects in words."""
    hint: Printable | None = None
    """What to do about it."""


def in_short(what: str, faults: Sequence[Fault]) -> str:
    """How many faults something has, and the first of them with its place: for `detail`."""
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    first = faults[0]
    return f"The {what} has {count}. {first.pointer or 'The document'}: {first.message}"


def gathered(faults: Iterable[Fault]) -> list[tuple[str, Fault]]:
    """Faults that say the same, once each: where they are in words, and the first of them.

    A program that writes a field wrong does so for every body.
    """
    places: dict[tuple[str, str | None], list[Fault]] = {}
    for fault in faults:
        places.setdefault((fault.message, fault.hint), []).append(fault)
    return [(_where(same), same[0]) for same in places.values()]


def _where(same: list[Fault]) -> str:
    """The first place of faults, how many more there are, and the last."""
    first, last = (fault.pointer or "/" for fault in (same[0], same[-1]))
    if len(same) == 1:
        return first
    return f"{first} and {len(same) - 1} more, the last {last}"


class SceneInvalid(ValueError):  # noqa: N818 - the name says what the scene is
    """A scene has faults. `errors` holds the first MAX_FAULTS, in order of the document's parts.

    Where there are more, a last fault says how many follow.
    """

    def __init__(self, errors: list[Fault]) -> None:
        """Keep the faults, of which there must be at least one."""
        if len(errors) > MAX_FAULTS:
            more = len(errors) - MAX_FAULTS
            rest = Fault(pointer="", code="more_faults", message=f"{more} more faults follow.")
            errors = [*errors[:MAX_FAULTS], rest]
        self.errors = errors
        lines = [
            " ".join(filter(None, [f"{place}:", one.message, one.hint]))
            for place, one in gathered(errors)
        ]
        super().__init__("\n".join(lines))


class Problem(Base):
    """Problem details (RFC 9457), the body of every answer that is not a success.

    Further members hold what one kind of problem adds, such as the figure of a limit.
    """

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)

    type: str = "about:blank"
    """URI of the kind of problem."""
    title: str
    """Short text, the same for every problem of the kind."""
    status: int
    """HTTP status."""
    detail: str = ""
    """What happened this time."""
    code: str
    """Stable name of the kind of problem."""
    request_id: str = ""
    """Found again in the logs."""
    retryable: bool = False
    """Whether the same request may succeed later."""
    errors: list[Fault] = Field(default_factory=list)
    """Every fault of the input."""


def shown(value: Any) -> str | int | float | bool | None:
    """Shorten a value of a document for the field `got` of a fault."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else f"{float_or_inf(value):g}"
    if isinstance(value, float):
        return value if math.isfinite(value) else _not_finite(value)
    if isinstance(value, str):
        text = printable(value)
        return text if len(text) <= SHOWN_LENGTH else text[:SHOWN_LENGTH] + "..."
    return _container(value)


def float_or_inf(value: int) -> float:
    """Convert an integer of any size; too large ones become infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _container(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        if len(value) <= 6 and all(isinstance(v, (int, float)) for v in value):
            return "[" + ", ".join(str(shown(v)) for v in value) + "]"
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    return f"a {type(value).__name__}"


def found(value: Any) -> str:
    """Describe a value in words, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {json.dumps(value)}"
    if isinstance(value, str):
        return f"the text '{shown(value)}'"
    return f"{shown(value)}"
