"""Links that show a session, a run, a batch or a scene to people without a key, until they expire.

A link is a random token; kept is its SHA-256. It shows nothing any more when it has expired, was
revoked, or the key that made it is gone or may not read.
"""

import asyncio
import re
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, Engine, RowMapping, delete, func, insert, select

from cardan.service import clock
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.keys import Key, digest_of
from cardan.service.simulations import tables as t

MOST_SHARES = 100
TOKEN = re.compile(r"view_[\w-]{32}", re.ASCII)


def may_be_token(text: str) -> bool:
    """Whether a text has the form of a token; most keys of requests have not."""
    return TOKEN.fullmatch(text) is not None


Kind = Literal["sessions", "simulations", "batches", "scenes"]


@dataclass(frozen=True, slots=True)
class Share:
    """A link without its token; times in seconds since 1970."""

    id: str
    kind: Kind
    resource: str
    name: str
    created_by: str | None
    created_at: float
    expires_at: float

    @property
    def key(self) -> Key:
        """The key of whoever comes by the link: it reads."""
        return Key(self.id, "", frozenset({"read"}))


class Shares:
    """All links of a database. Methods that are not coroutines may be called from any thread."""

    def __init__(self, engine: Engine, keys: Collection[Key]) -> None:
        """Links are those of `keys`; without keys those of everybody."""
        self._reading = engine
        self._writing = engine.execution_options(writes=True)
        self._makers = {key.name for key in keys if "read" in key.scopes} if keys else None
        self._watching: set[tuple[str, asyncio.Event]] = set()

    def issue(
        self, kind: Kind, resource: str, name: str, seconds: float, owner: str | None
    ) -> tuple[Share, str]:
        """A new link to a resource, and its token. Raises ServiceError."""
        now = clock.now()
        share = Share(clock.new_id("share"), kind, resource, name, owner, now, now + seconds)
        token = f"view_{secrets.token_urlsafe(24)}"
        count = select(func.count()).where(*_of(kind, resource))
        with self._writing.begin() as connection:
            connection.execute(delete(t.shares).where(t.shares.c.expires_at <= now))
            if connection.execute(count).scalar_one() >= MOST_SHARES:
                detail = f"{MOST_SHARES} links show {resource}; revoke one, or let one expire."
                raise ServiceError(ErrorCode.TOO_MANY_SHARES, detail)
            values = {field: getattr(share, field) for field in Share.__slots__}
            connection.execute(insert(t.shares).values(digest=digest_of(token), **values))
        return share, token

    def listing(self, kind: Kind, resource: str) -> Sequence[Share]:
        """The links to a resource that have not expired, oldest first."""
        living = select(t.shares).where(*_of(kind, resource), t.shares.c.expires_at > clock.now())
        with self._reading.connect() as connection:
            rows = connection.execute(living.order_by(t.shares.c.created_at)).mappings().all()
        return [_share(row) for row in rows]

    def find(self, token: str) -> Share | None:
        """The link of a token; None: it shows nothing."""
        if not may_be_token(token):
            return None
        living = (t.shares.c.digest == digest_of(token), t.shares.c.expires_at > clock.now())
        with self._reading.connect() as connection:
            row = connection.execute(select(t.shares).where(*living)).mappings().first()
        if row is None or (self._makers is not None and row["created_by"] not in self._makers):
            return None
        return _share(row)

    async def revoke(self, kind: Kind, resource: str, share_id: str) -> bool:
        """End a link, and whatever is watched by it now; False: there is none of this id."""
        if not await asyncio.to_thread(self._remove, kind, resource, share_id):
            return False
        for watched, over in self._watching:
            if watched == share_id:
                over.set()
        return True

    async def over(self, share: Share) -> None:
        """Return when a link has expired or was revoked."""
        entry = (share.id, asyncio.Event())
        self._watching.add(entry)
        try:
            # it may have been revoked since it was found
            if await asyncio.to_thread(self._exists, share.id):
                async with asyncio.timeout(share.expires_at - clock.now()):
                    await entry[1].wait()
        except TimeoutError:
            return
        finally:
            self._watching.discard(entry)

    def _remove(self, kind: Kind, resource: str, share_id: str) -> bool:
        gone = delete(t.shares).where(*_of(kind, resource), t.shares.c.id == share_id)
        with self._writing.begin() as connection:
            return bool(connection.execute(gone).rowcount)

    def _exists(self, share_id: str) -> bool:
        with self._reading.connect() as connection:
            found = connection.execute(select(t.shares.c.id).where(t.shares.c.id == share_id))
            return found.first() is not None


def _of(kind: Kind, resource: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return t.shares.c.kind == kind, t.shares.c.resource == resource


def _share(row: RowMapping) -> Share:
    return Share(**{field: row[field] for field in Share.__slots__})
