"""Why sessions ended: kept in a file, so that their addresses say it after a restart too."""

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cardan.service import clock
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.files import replace_file

log = logging.getLogger("cardan.sessions")

MOST_CLOSED = 1024


@dataclass(frozen=True, slots=True)
class End:
    """How a session ended: a word for programs, a clause for people, seconds since 1970."""

    reason: str
    detail: str
    closed_at: float


class Closed:
    """The last `MOST_CLOSED` sessions that ended."""

    def __init__(self, path: Path) -> None:
        """Read the file, if there is one; one that cannot be read is begun anew."""
        self._path = path
        self._ends: dict[str, End] = {}
        try:
            found: Mapping[str, Any] = json.loads(path.read_bytes())
            self._ends = {name: End(**end) for name, end in found.items()}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, AttributeError) as error:
            log.error("%s cannot be read: %s", path, error)

    def add(self, session_id: str, reason: str, detail: str) -> None:
        """Remember the end of a session."""
        self._ends[session_id] = End(reason, detail, clock.now())
        while len(self._ends) > MOST_CLOSED:
            del self._ends[next(iter(self._ends))]
        ends = {name: asdict(end) for name, end in self._ends.items()}
        try:
            replace_file(self._path, json.dumps(ends).encode())
        except OSError as error:
            log.error("%s was not written: %s", self._path, error)

    def check(self, session_id: str) -> None:
        """Refuse a session that has ended. Raises ServiceError."""
        end = self._ends.get(session_id)
        if end is not None:
            raise ServiceError(
                ErrorCode.SESSION_CLOSED,
                f"The session {session_id} was closed: {end.detail}.",
                reason=end.reason,
                closed_at=_text(end.closed_at),
            )


def _text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
