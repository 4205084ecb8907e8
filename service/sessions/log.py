"""The step-stamped log of accepted commands: with the scene it replays a steered run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MAX_ENTRIES = 100_000
# queries: they change nothing, so they are neither logged nor announced
QUERIES = frozenset({"state", "summary", "snapshot", "raycast", "closest_points", "problem"})
# up to 60 a second while a grab moves: logged, but not announced
UNANNOUNCED = QUERIES | {"grab_move"}
# what decides whether somebody has hold of a body
HANDS = frozenset({"grab", "release", "reset", "restore"})


@dataclass(frozen=True, slots=True)
class LoggedCommand:
    """A command that took effect at `step` of `epoch`."""

    number: int
    epoch: int
    step: int
    op: str
    arguments: dict[str, Any]
    client_id: str | None

    def describe(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {
            "number": self.number,
            "epoch": self.epoch,
            "step": self.step,
            "op": self.op,
            **self.arguments,
            "client_id": self.client_id,
        }


class CommandLog:
    """The newest `MAX_ENTRIES` entries, in order."""

    def __init__(self, entries: Sequence[LoggedCommand] = ()) -> None:
        """Begin with entries of an earlier life of the session."""
        self._entries = list(entries[-MAX_ENTRIES:])
        self.forgotten = len(entries) - len(self._entries)

    @property
    def last_number(self) -> int:
        """Number of the newest command; 0: there is none."""
        return self._entries[-1].number if self._entries else 0

    def last_step(self, epoch: int) -> int:
        """Step of the newest command of an epoch; 0: there is none."""
        return max((entry.step for entry in self._entries if entry.epoch == epoch), default=0)

    @property
    def hand(self) -> str | None:
        """The client that has hold of a body by the stream; requests over HTTP have no hand."""
        last = next((entry for entry in reversed(self._entries) if entry.op in HANDS), None)
        return last.client_id if last is not None and last.op == "grab" else None

    def held_at(self, epoch: int, step: int) -> bool:
        """Whether a viewer may have hold of a body in a state of this step."""
        for entry in reversed(self._entries):
            if entry.op not in HANDS or entry.epoch != epoch or entry.step > step:
                continue
            if entry.op == "grab" and entry.client_id is not None:
                return True
            # at the same step the state may be that before it was let go
            if entry.step < step:
                return False
        return False

    def add(self, entry: LoggedCommand) -> None:
        """Append; the oldest tenth goes when there are too many."""
        self._entries.append(entry)
        if len(self._entries) > MAX_ENTRIES:
            extra = MAX_ENTRIES // 10
            del self._entries[:extra]
            self.forgotten += extra

    def describe(self) -> dict[str, Any]:
        """The whole log as JSON."""
        return {
            "items": [entry.describe() for entry in self._entries],
            "forgotten": self.forgotten,
        }
