"""Databases as Cardan wrote them while versions were numbers, made by the statements it made."""

from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
VERSION_1 = FOLDER / "version_1.sql"


def statements(file: str, version: int) -> Iterator[str]:
    """Those that lead to a version, from the first that the file has."""
    for part in FOLDER.joinpath(file).read_text(encoding="utf-8").split("-- version ")[1:]:
        number, _, text = part.partition("\n")
        if int(number) <= version:
            yield from filter(None, (one.strip() for one in text.split(";")))


def fill(file, version: int) -> None:
    """Write the tables of a version into a file of SQLite, with what those of version 1 held."""
    file.executescript(VERSION_1.read_text(encoding="utf-8"))
    for statement in statements("own_versions.sql", version):
        file.execute(statement)
    file.execute(f"PRAGMA user_version={version}")
