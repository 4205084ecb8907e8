"""Scenes that are stored by themselves, each with its text as its owner wrote it.

A change replaces the text and counts the revision up. Runs and sessions keep a copy of what they
were made from, so neither a change nor a deletion concerns them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, RowMapping, delete, func, insert, select, update

from cardan.service import clock
from cardan.service.simulations import tables as t
from cardan.service.simulations.admission import bind_key
from cardan.service.simulations.rows import newest_first

Row = RowMapping
ID_PREFIX = "scene"
# a use is noted so seldom [s]: not every request shall write
NOTED_S = 300.0

_told = [column for column in t.stored_scenes.c if column.name != "document"]


@dataclass(frozen=True)
class SceneContent:
    """A checked text and what is known of it."""

    document: bytes
    digest: str
    name: str
    scene_hash: str

    @property
    def columns(self) -> Mapping[str, Any]:
        """The columns that change with the text."""
        return {
            "document": self.document,
            "digest": self.digest,
            "name": self.name,
            "scene_hash": self.scene_hash,
            "bytes": len(self.document),
        }


class StoredScenes:
    """Reads and changes of stored scenes; safe to use from many threads. Rows lack the text."""

    def __init__(self, engine: Engine) -> None:
        """Use an open database."""
        self._reading = engine
        self._writing = engine.execution_options(writes=True)

    def get(self, scene_id: str) -> Row | None:
        """One stored scene, or `None`."""
        with self._reading.connect() as connection:
            found = connection.execute(select(*_told).where(t.stored_scenes.c.id == scene_id))
            return found.mappings().first()

    def with_document(self, scene_id: str) -> Row | None:
        """One stored scene and its `document`, or `None`."""
        with self._reading.connect() as connection:
            found = connection.execute(
                select(t.stored_scenes).where(t.stored_scenes.c.id == scene_id)
            )
            return found.mappings().first()

    def page(
        self, *, before: int | None, size: int, created_by: str | None = None
    ) -> Sequence[Row]:
        """Stored scenes, newest first, with `seq < before`; all, or those of a key."""
        query = newest_first(select(*_told), t.stored_scenes, before, size, created_by)
        with self._reading.connect() as connection:
            return connection.execute(query).mappings().all()

    def bytes_of(self, key: str) -> int:
        """Bytes of all texts of an API key."""
        query = select(func.coalesce(func.sum(t.stored_scenes.c.bytes), 0))
        with self._reading.connect() as connection:
            mine = query.where(t.stored_scenes.c.created_by == key)
            return int(connection.execute(mine).scalar_one())

    def create(
        self, content: SceneContent, created_by: str | None, *, key: str | None = None
    ) -> str:
        """Store a scene; its id. `key` is a reserved Idempotency-Key."""
        scene_id, now = clock.new_id(ID_PREFIX), clock.now()
        with self._writing.begin() as connection:
            connection.execute(
                insert(t.stored_scenes).values(
                    id=scene_id,
                    revision=1,
                    created_by=created_by,
                    created_at=now,
                    updated_at=now,
                    used_at=now,
                    **content.columns,
                )
            )
            bind_key(connection, key, scene_id)
        return scene_id

    def replace(self, scene_id: str, digest: str, content: SceneContent) -> bool:
        """Replace the text if it still has this digest; False: it was changed or deleted.

        The same text again is no change.
        """
        now = clock.now()
        values: dict[str, Any] = {"used_at": now}
        if content.digest != digest:
            revision = t.stored_scenes.c.revision + 1
            values |= {"revision": revision, "updated_at": now, **content.columns}
        still = (t.stored_scenes.c.id == scene_id, t.stored_scenes.c.digest == digest)
        with self._writing.begin() as connection:
            changed = connection.execute(update(t.stored_scenes).where(*still).values(values))
        return bool(changed.rowcount)

    def note_use(self, row: Row) -> None:
        """Note that something was made from a scene."""
        now = clock.now()
        if now - row["used_at"] < NOTED_S:
            return
        this = t.stored_scenes.c.id == row["id"]
        with self._writing.begin() as connection:
            connection.execute(update(t.stored_scenes).where(this).values(used_at=now))

    def remove(self, scene_id: str, digest: str | None = None) -> bool:
        """Delete a scene, if it still has this digest; False: it was changed or is gone."""
        this = [t.stored_scenes.c.id == scene_id]
        if digest is not None:
            this.append(t.stored_scenes.c.digest == digest)
        with self._writing.begin() as connection:
            return bool(connection.execute(delete(t.stored_scenes).where(*this)).rowcount)

    def remove_unused(self, before: float) -> int:
        """Delete the scenes that were neither changed nor used since a time [s]; their number."""
        with self._writing.begin() as connection:
            unused = delete(t.stored_scenes).where(t.stored_scenes.c.used_at < before)
            return int(connection.execute(unused).rowcount)
