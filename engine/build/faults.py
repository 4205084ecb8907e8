"""Faults of a scene beyond its schema: invalid physics, and features that are not implemented."""

from __future__ import annotations

from cardan.schemas import Fault, SceneInvalid
from cardan.schemas.error import found as found
from cardan.schemas.given import GivenInvalid as GivenInvalid
from cardan.schemas.quantities import QUATERNION_TOLERANCE as QUATERNION_TOLERANCE


class SceneError(SceneInvalid):
    """A valid document that cannot be simulated. `errors` holds all faults."""


class Faults:
    """Collects faults while a scene is built, so that one error reports all of them."""

    def __init__(self) -> None:
        """Start with an empty list."""
        self.errors: list[Fault] = []

    def add(self, pointer: str, code: str, message: str, hint: str | None = None) -> None:
        """Add one fault at a JSON Pointer."""
        self.errors.append(Fault(pointer=pointer, code=code, message=message, hint=hint))

    def missing(self, pointer: str, what: str, instead: str) -> None:
        """Add a fault: a part of the format that this version of the engine does not support."""
        self.add(
            pointer,
            "not_available",
            f"{what} is not available in this version of the engine.",
            f"Available: {instead}.",
        )

    def raise_if_any(self) -> None:
        """Raise SceneError with all faults, if there are any."""
        if self.errors:
            raise SceneError(self.errors)
