"""Changes of the tables of the queue, version by version.

They are run in one transaction with the new number of the version: a file is of the version before
or of the version after, also when the process dies between.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """A column that a version has more than the one before."""

    table: str
    column: str
    definition: str

    @property
    def statement(self) -> str:
        """What adds the column."""
        return f"ALTER TABLE {self.table} ADD COLUMN {self.column} {self.definition}"


CHANGES: Mapping[int, tuple[Change, ...]] = {
    2: (Change("batches", "record", "VARCHAR DEFAULT 'full' NOT NULL"),),
    3: (
        Change("batches", "study_id", "VARCHAR"),
        Change("batches", "measure", "JSON"),
        Change("batches", "created_by", "VARCHAR"),
        Change("runs", "created_by", "VARCHAR"),
    ),
    5: (Change("runs", "trace", "VARCHAR"),),
    6: (
        Change("batches", "stored_scene", "JSON"),
        Change("runs", "stored_scene", "JSON"),
    ),
}
"""By the version that has them."""

TABLES: Mapping[int, tuple[str, ...]] = {
    3: ("studies",),
    4: ("shares",),
    6: ("stored_scenes",),
    7: ("scene_revisions",),
}
"""Tables that a version has more than the one before; they are created where they are missing."""

LATEST = max(*CHANGES, *TABLES)


def changes_since(version: int) -> Iterator[str]:
    """Statements that turn tables of a version into those of the latest."""
    for number in range(version + 1, LATEST + 1):
        for change in CHANGES.get(number, ()):
            yield change.statement


def columns_at(version: int, latest: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Columns of each table at a version, from those of the latest."""
    columns = {name: set(present) for name, present in latest.items()}
    for number in range(version + 1, LATEST + 1):
        for change in CHANGES.get(number, ()):
            columns[change.table].discard(change.column)
        for table in TABLES.get(number, ()):
            columns.pop(table, None)
    return columns
