"""A run as a web page, for notebooks."""

import html
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class View:
    """A run as a web page that plays without a server; as the last value of a cell it is shown."""

    html: str = field(repr=False)
    """The whole page."""
    height: int = 480
    """Of the frame in a notebook [px]."""

    def save(self, path: str | Path) -> None:
        """Write the page as a file for any browser. Raises OSError."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # without an origin: the page plays, and reads nothing of the notebook
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )
