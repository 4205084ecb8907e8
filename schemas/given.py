"""The error of a value that is given beside a scene and does not fit it."""

from collections.abc import Iterable
from typing import Any

from cardan.schemas.pointer import to_pointer


class GivenInvalid(ValueError):  # noqa: N818 - the name says what the value is
    """A value does not fit the scene; `pointer` is its place among what is given."""

    def __init__(self, place: Iterable[str | int], message: str, got: Any = None) -> None:
        """Keep the place, and what was found there (none: the message says it)."""
        self.pointer, self.got = to_pointer(place), got
        super().__init__(message)
