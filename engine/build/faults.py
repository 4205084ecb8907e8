"""What is wrong with a scene that only the engine can tell: physics, and what it does not have."""

from __future__ import annotations

from cardan.schemas import Fault, SceneInvalid


class SceneError(SceneInvalid):
    """A valid document that cannot be simulated. `errors` holds all faults."""


class Faults:
    """Collects faults while a scene is built, so that all of them are told at once."""

    def __init__(self) -> None:
        """Start without any."""
        self.errors: list[Fault] = []

    def add(self, pointer: str, code: str, message: str, hint: str | None = None) -> None:
        """Note one fault at a JSON Pointer."""
        self.errors.append(Fault(pointer=pointer, code=code, message=message, hint=hint))

    def missing(self, pointer: str, what: str, instead: str) -> None:
        """Note a part of the format that this version of the engine does not compute."""
        self.add(
            pointer,
            "not_available",
            f"{what} is not available in this version of the engine.",
            f"Available: {instead}.",
        )

    def raise_if_any(self) -> None:
        """Raise SceneError with everything that was noted."""
        if self.errors:
            raise SceneError(self.errors)
