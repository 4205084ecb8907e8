"""Lines of the log: for people, or one JSON object each with the ids that belong together.

`request`, `run` and `worker` are given as `extra` of a message: a request queues a run, a worker
begins it, and the same ids lead from one line to the next.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

FIELDS = ("request", "run", "batch", "session", "worker", "method", "path", "status", "seconds")
TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, ids, exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def set_up(level: str, form: Literal["text", "json"]) -> None:
    """Write the log to standard error, from this level on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else logging.Formatter(TEXT))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
