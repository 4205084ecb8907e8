"""One producer, many readers: frames and events of a session to all its viewers."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cardan.service.streams.codec import SharedFrame
from cardan.service.streams.viewer import MAX_TEXTS, Viewer


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; `sequence` is the newest frame at that moment."""

    number: int
    epoch: int
    sequence: int
    message: dict[str, Any]


class Fanout:
    """The viewers of a session, and the events of the recent past."""

    def __init__(self, on_channels: Callable[[frozenset[str]], None]) -> None:
        """`on_channels` gets the channels that at least one viewer wants, whenever they change."""
        self._viewers: set[Viewer] = set()
        self._events: deque[Event] = deque(maxlen=MAX_TEXTS)
        self._on_channels = on_channels
        self._channels: frozenset[str] = frozenset()
        self._number = 0

    def __len__(self) -> int:
        """How many viewers there are."""
        return len(self._viewers)

    def __iter__(self) -> Iterator[Viewer]:
        """The viewers; the set may change meanwhile."""
        return iter(tuple(self._viewers))

    @property
    def channels(self) -> frozenset[str]:
        """The channels that at least one viewer wants."""
        return self._channels

    def add(self, viewer: Viewer) -> None:
        """Send a viewer what is published from now on."""
        self._viewers.add(viewer)
        self.refresh()

    def remove(self, viewer: Viewer) -> None:
        """Stop sending to a viewer."""
        self._viewers.discard(viewer)
        self.refresh()

    def refresh(self) -> None:
        """Recompute the wanted channels, after those of a viewer have changed."""
        wanted = frozenset().union(*(viewer.channels for viewer in self._viewers))
        if wanted != self._channels:
            self._channels = wanted
            self._on_channels(wanted)

    def publish(self, frame: SharedFrame) -> None:
        """Offer a live frame to every viewer; never waits."""
        for viewer in self._viewers:
            viewer.offer(frame)

    def announce(self, kind: str, epoch: int, sequence: int, data: dict[str, Any]) -> None:
        """Send an event to every viewer; never waits."""
        self._number += 1
        message = {
            "op": "event", "sequence_event": self._number, "type": kind, "epoch": epoch,
            "sequence": sequence, **data,
        }  # fmt: skip
        self._events.append(Event(self._number, epoch, sequence, message))
        for viewer in self:
            viewer.push(message)

    def missed(self, epoch: int, sequence: int) -> tuple[list[dict[str, Any]], bool]:
        """Events at or after a frame, and whether the oldest of them are no longer kept.

        A viewer may get events at that frame twice: `sequence_event` tells which they are.
        """
        after = [e for e in self._events if (e.epoch, e.sequence) >= (epoch, sequence)]
        forgotten = len(after) == len(self._events) and self._number > len(self._events)
        return [event.message for event in after], forgotten

    def close(self, code: int, reason: str) -> None:
        """End every connection after what is queued."""
        for viewer in self:
            viewer.close(code, reason)
