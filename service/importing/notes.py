"""Notes on what an import drops, approximates and guesses; equal notes are merged."""

from cardan.schemas.imported import ImportNote, NoteKind


class Notes:
    """The notes of one import."""

    def __init__(self) -> None:
        """Start without any."""
        self._places: dict[tuple[NoteKind, str, str], list[str]] = {}

    def dropped(self, code: str, message: str, where: str = "") -> None:
        """Note what is not in the scene."""
        self._note("dropped", code, message, where)

    def approximated(self, code: str, message: str, where: str = "") -> None:
        """Note what differs in the scene."""
        self._note("approximated", code, message, where)

    def guessed(self, code: str, message: str, where: str = "") -> None:
        """Note what the model did not say."""
        self._note("guessed", code, message, where)

    def listed(self) -> list[ImportNote]:
        """All notes, in the order in which they first came."""
        return [
            ImportNote(kind=kind, code=code, message=message, where=where)
            for (kind, code, message), where in self._places.items()
        ]

    def _note(self, kind: NoteKind, code: str, message: str, where: str) -> None:
        places = self._places.setdefault((kind, code, message), [])
        if where and where not in places:
            places.append(where)
