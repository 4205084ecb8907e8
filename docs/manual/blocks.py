"""Code blocks of the manual: what is run, drawn and tested."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: str
    """Name of its page, as `shapes`."""
    number: int
    """Its place among the blocks of the page, from 1."""
    language: str
    """As `json`, `python` or `sh`."""
    text: str
    """What is between the fences."""

    @property
    def name(self) -> str:
        """Page and number."""
        return f"{self.page}-{self.number}"

    @cached_property
    def document(self) -> Any:
        """The value of a block of JSON. Raises ValueError."""
        return json.loads(self.text)

    @property
    def is_scene(self) -> bool:
        """Whether it is a whole scene."""
        return self.language == "json" and "bodies" in self.document


def blocks_of(text: str, page: str) -> Iterator[Block]:
    """All blocks of a page, in order."""
    for number, found in enumerate(FENCE.finditer(text), 1):
        yield Block(page, number, found["language"], found["text"])


def all_blocks() -> list[Block]:
    """All blocks of all pages."""
    return [
        block
        for path in sorted(FOLDER.glob("*.md"))
        for block in blocks_of(path.read_text("utf-8"), path.stem)
    ]
