"""Docstrings name their sources by author and year, and docs/references.md resolves every key."""

import re
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, python_files, text_of
from tests.architecture.test_references import docstrings

NAME = r"(?:van den |van |De |Van )?[A-Z][\w-]+"
KEY = re.compile(
    rf"{NAME}(?:(?:, | and ){NAME}| Notes| Microsystems)*(?: et al\.)? (?:\d{{4}}\b|n\.d\.)"
)
DECISION = re.compile(r"decisions? (\d{4})(?:, (\d{4}))*")
ENTRY = re.compile(
    r"^\s*Source  (.*?)(?=^\s*(?:Check|Reads|Writes|Where)  |\n\s*\n|\Z)", re.M | re.S
)
# numbers of the first five texts, and design notes that a reader of the project cannot open
PRIVATE = re.compile(r"\b[Tt]ext 00\d|\b00[0-4]'s\b|\bphysics\.md\b|\bscene\.md\b|\bhouse\.md\b")


def known_keys() -> set[str]:
    """Keys of docs/references.md: the first column of its tables."""
    rows = re.findall(r"^\| ([^|]+) \|", text_of(Path("docs/references.md")), re.MULTILINE)
    return {row.strip() for row in rows} - {"key", "---"}


def entries() -> list[tuple[Path, str]]:
    """Every `Source` paragraph of the engine's docstrings."""
    return [
        (path, " ".join(entry.split()))
        for path in python_files("engine")
        for text in docstrings(path)
        for entry in ENTRY.findall(text)
    ]


def test_every_source_is_a_known_key_a_decision_or_a_derivation() -> None:
    found = entries()
    assert len(found) > 60
    bare = [
        (path, entry)
        for path, entry in found
        if not (KEY.search(entry) or DECISION.search(entry) or entry.startswith("derived: "))
    ]
    assert bare == []


def test_every_key_resolves() -> None:
    known = known_keys()
    named = [(path, key) for path, entry in entries() for key in KEY.findall(entry)]
    assert len(named) > 50
    assert [(path, key) for path, key in named if key not in known] == []


def test_every_decision_named_exists() -> None:
    numbers = {path.name[:4] for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")}
    named = [
        (path, number)
        for path, entry in entries()
        for match in DECISION.finditer(entry)
        for number in re.findall(r"\d{4}", match.group())
    ]
    assert [(path, number) for path, number in named if number not in numbers] == []


def test_no_source_is_private() -> None:
    paths = [
        *python_files("schemas", "engine", "service", "benchmarks"),
        *Path().glob("docs/**/*.md"),
    ]
    assert [str(path) for path in paths if PRIVATE.search(text_of(path))] == []


@pytest.mark.parametrize(
    "text",
    [
        "Baraff 1996",
        "Stewart and Trinkle 1996",
        "van den Bergen 2003",
        "Macklin et al. 2019",
        "Luh, Walker and Paul 1980",
        "Constraint Notes n.d.",
        "Sun Microsystems 1993",
    ],
)
def test_keys_are_recognised(text: str) -> None:
    assert KEY.fullmatch(text)
    assert KEY.findall(f"see {text}, 4.1") == [text]
