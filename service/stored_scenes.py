"""Scenes that are stored by themselves, each with its text as its owner wrote it.

A change replaces the text and counts the revision up; the texts before are kept, the newest of
them, within a count and bytes. Runs and sessions keep a copy of what they were made from, so
neither a change nor a deletion concerns them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, delete, func, insert, select, update

from cardan.service import clock
from cardan.service.simulations import tables as t
from cardan.service.simulations.admission import bind_key
from cardan.service.simulations.rows import newest_first

Row = RowMapping
ID_PREFIX = "scene"
# a use is noted so seldom [s]: not every request shall write
NOTED_S = 300.0

_told = [column for column in t.stored_scenes.c if column.name != "document"]
_told_of_revision = [column for column in t.scene_revisions.c if column.name != "document"]
# the present text as a row of the earlier ones
_as_revision: list[Any] = [
    t.stored_scenes.c.id.label(column.name)
    if column.name == "scene_id"
    else t.stored_scenes.c[column.name]
    for column in t.scene_revisions.c
]


@dataclass(frozen=True)
class KeptRevisions:
    """How many earlier revisions of a scene are kept, and bytes of their texts together."""

    count: int = 50
    size: int = 64 * 1024**2


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

    def __init__(self, engine: Engine, kept: KeptRevisions | None = None) -> None:
        """Use an open database."""
        self._reading = engine
        self._writing = engine.execution_options(writes=True)
        self._kept = kept or KeptRevisions()

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

    def revisions(self, scene_id: str) -> Sequence[Row]:
        """The revisions of a scene that are kept, newest first: the present one, then earlier."""
        present = [column for column in _as_revision if column.name != "document"]
        now = select(*present).where(t.stored_scenes.c.id == scene_id)
        earlier = select(*_told_of_revision).where(t.scene_revisions.c.scene_id == scene_id)
        both = now.union_all(earlier).order_by(t.stored_scenes.c.revision.desc())
        with self._reading.connect() as connection:
            return connection.execute(both).mappings().all()

    def revision(self, scene_id: str, revision: int) -> Row | None:
        """One revision of a scene and its `document`, or `None`."""
        now, earlier = t.stored_scenes.c, t.scene_revisions.c
        present = select(*_as_revision).where(now.id == scene_id, now.revision == revision)
        kept = select(t.scene_revisions).where(
            earlier.scene_id == scene_id, earlier.revision == revision
        )
        with self._reading.connect() as connection:
            return connection.execute(present.union_all(kept)).mappings().first()

    def page(
        self, *, before: int | None, size: int, created_by: str | None = None
    ) -> Sequence[Row]:
        """Stored scenes, newest first, with `seq < before`; all, or those of a key."""
        query = newest_first(select(*_told), t.stored_scenes, before, size, created_by)
        with self._reading.connect() as connection:
            return connection.execute(query).mappings().all()

    def bytes_of(self, key: str) -> int:
        """Bytes of all texts of an API key, earlier revisions too."""
        mine = t.stored_scenes.c.created_by == key
        present = select(func.coalesce(func.sum(t.stored_scenes.c.bytes), 0)).where(mine)
        earlier = (
            select(func.coalesce(func.sum(t.scene_revisions.c.bytes), 0))
            .join(t.stored_scenes, t.stored_scenes.c.id == t.scene_revisions.c.scene_id)
            .where(mine)
        )
        with self._reading.connect() as connection:
            return sum(int(connection.execute(one).scalar_one()) for one in (present, earlier))

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

        The text before becomes an earlier revision. The same text again is no change.
        """
        now = clock.now()
        values: dict[str, Any] = {"used_at": now}
        still = (t.stored_scenes.c.id == scene_id, t.stored_scenes.c.digest == digest)
        with self._writing.begin() as connection:
            if content.digest != digest:
                revision = t.stored_scenes.c.revision + 1
                values |= {"revision": revision, "updated_at": now, **content.columns}
                _keep_present(connection, scene_id, digest)
            changed = connection.execute(update(t.stored_scenes).where(*still).values(values))
            if changed.rowcount and content.digest != digest:
                self._remove_beyond(connection, scene_id)
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
        """Delete a scene, if it still has this digest; False: it was changed or is gone.

        Its earlier revisions and the links to it go too.
        """
        this = [t.stored_scenes.c.id == scene_id]
        if digest is not None:
            this.append(t.stored_scenes.c.digest == digest)
        with self._writing.begin() as connection:
            removed = connection.execute(delete(t.stored_scenes).where(*this)).rowcount
            if removed:
                links = (t.shares.c.kind == "scenes", t.shares.c.resource == scene_id)
                connection.execute(delete(t.shares).where(*links))
        return bool(removed)

    def remove_unused(self, before: float) -> int:
        """Delete the scenes that were neither changed nor used since a time [s]; their number."""
        unused = t.stored_scenes.c.used_at < before
        ids = select(t.stored_scenes.c.id).where(unused)
        links = delete(t.shares).where(t.shares.c.kind == "scenes", t.shares.c.resource.in_(ids))
        with self._writing.begin() as connection:
            connection.execute(links)
            return int(connection.execute(delete(t.stored_scenes).where(unused)).rowcount)

    def _remove_beyond(self, connection: Connection, scene_id: str) -> None:
        """Delete the oldest revisions of a scene that are beyond the count or the bytes."""
        earlier = t.scene_revisions.c
        this = earlier.scene_id == scene_id
        query = select(earlier.revision, earlier.bytes).where(this)
        rows = connection.execute(query.order_by(earlier.revision.desc())).all()
        size = 0
        for place, (revision, length) in enumerate(rows):
            size += length
            if place >= self._kept.count or size > self._kept.size:
                old = delete(t.scene_revisions).where(this, earlier.revision <= revision)
                connection.execute(old)
                return


def _keep_present(connection: Connection, scene_id: str, digest: str) -> None:
    """Copy the present text to the earlier revisions, if it still has this digest."""
    still = (t.stored_scenes.c.id == scene_id, t.stored_scenes.c.digest == digest)
    columns = [column.name for column in t.scene_revisions.c]
    copied = insert(t.scene_revisions).from_select(columns, select(*_as_revision).where(*still))
    connection.execute(copied)
