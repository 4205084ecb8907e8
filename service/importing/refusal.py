"""Why a model cannot be imported."""


class ImportRefusedError(ValueError):
    """A model that cannot be read. `code` is stable, the text a sentence, `hint` what to do."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        """Store the fields of the response."""
        super().__init__(message)
        self.code = code
        self.hint = hint
