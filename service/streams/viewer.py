"""Selection and timing of messages to one viewer.

Two classes of delivery. Frames: the newest wins, per channel not more often than the viewer asked
for, and at most `window` of them unacknowledged. Texts (results, events): in order, never dropped.
Contact events travel in frames, but as texts do: those of frames that were not sent come with the
next one. A viewer that lets `MAX_TEXTS` or `MAX_EVENT_BYTES` pile up is closed.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping

import orjson

from cardan.schemas.frame import BlockTag, FrameKind, join_blocks
from cardan.service.metrics import FRAMES_DROPPED
from cardan.service.streams.codec import CHANNELS, SharedFrame
from cardan.service.streams.mailbox import Mailbox

WINDOW = 4
MAX_TEXTS = 1024
MAX_EVENT_BYTES = 4 * 1024 * 1024
MAX_HZ = 60.0
TRY_AGAIN_LATER = 1013
# a frame due within this time is due now: the producer's rhythm and ours are never quite the same
SLACK_SECONDS = 0.004
# a channel due before the next frame comes goes with this one: one message per frame, not two
JOIN_SECONDS = 1.0 / MAX_HZ


class Viewer:
    """The sending side of one connection."""

    def __init__(self, client_id: str, clock: Callable[[], float], window: int = WINDOW) -> None:
        """Begin with no channel and nothing to send."""
        self.client_id = client_id
        self.window = window
        self.live = True
        self.closing: tuple[int, str] | None = None
        self.overflow = asyncio.Event()
        self.gap = False
        self._clock = clock
        self._wake = asyncio.Event()
        self._texts: deque[str] = deque()
        self._slots: Mailbox[str, SharedFrame] = Mailbox()
        self._quantised = False
        self._periods: dict[str, float] = {}
        # the next turn of every period: channels of one rate go together, so a frame that shows a
        # moment never comes before what happened until then
        self._due: dict[float, float] = {}
        self._unacknowledged: deque[int] = deque()
        self._dropped = 0
        self._events: list[bytes] = []
        self._event_bytes = 0

    @property
    def channels(self) -> frozenset[str]:
        """The channels this viewer is subscribed to."""
        return frozenset(self._periods)

    def subscribe(self, rates: Mapping[str, float], *, quantised: bool = False) -> None:
        """Send these channels from now on, each at most at its rate [Hz].

        quantised: poses in 12 bytes instead of 28.
        """
        now = self._clock()
        self._quantised = quantised
        self._periods = {name: 1.0 / min(hz, MAX_HZ) for name, hz in rates.items()}
        self._due = dict.fromkeys(self._periods.values(), now)
        self._slots.clear()
        if "events" not in rates:
            self._forget_events()

    def offer(self, frame: SharedFrame) -> None:
        """A new live frame; replaces one that was not sent yet."""
        if self.live:
            self._fill(frame)

    def show(self, frame: SharedFrame) -> None:
        """A key frame for this viewer alone, due at once on every channel."""
        self._slots.clear()
        self._due = dict.fromkeys(self._periods.values(), self._clock())
        self._fill(frame.as_key())

    def push(self, message: Mapping[str, object]) -> None:
        """Queue a text; too many waiting ones close the viewer."""
        if self.closing is not None:
            return
        if len(self._texts) >= MAX_TEXTS:
            self._texts.clear()
            self.overflow.set()
            self.close(TRY_AGAIN_LATER, f"{MAX_TEXTS} messages were waiting unread")
            return
        self._texts.append(orjson.dumps(message).decode())
        self._wake.set()

    def close(self, code: int, reason: str) -> None:
        """End the connection once the texts queued so far are sent."""
        if self.closing is None:
            self.closing = (code, reason)
        self._slots.clear()
        self._wake.set()

    def acknowledge(self, sequence: int) -> None:
        """The viewer has rendered the frame: it and those sent before it are no longer counted.

        Moments of the past that are shown while nothing moves have one number, and whoever draws
        slowly acknowledges several of them at once.
        """
        if sequence in self._unacknowledged:
            while sequence in self._unacknowledged:
                self._unacknowledged.popleft()
            self._wake.set()

    def next_text(self) -> str | None:
        """The next text to send, in order."""
        return self._texts.popleft() if self._texts else None

    def next_frame(self) -> bytes | None:
        """The frame to send now, if one is due and the window is open."""
        if not self._slots or len(self._unacknowledged) >= self.window:
            return None
        now = self._clock()
        if not self._due_within(now + SLACK_SECONDS):
            return None
        taken = self._slots.take(self._due_within(now + JOIN_SECONDS))
        frame = max(
            taken.values(), key=lambda one: (one.header.kind is FrameKind.KEY, one.header.sequence)
        )
        names = [name for name, one in taken.items() if one is frame]
        if "events" in taken:
            frame = frame.with_block(BlockTag.EVENTS, join_blocks(BlockTag.EVENTS, self._events))
            names = [*(name for name in names if name != "events"), "events"]
            self._forget_events()
        for period in {self._periods[name] for name in taken}:
            turn = self._due[period] + period
            self._due[period] = turn if turn > now else now + period
        tags = {tag for name in names for tag in CHANNELS[name]}
        if self._quantised:
            frame = frame.with_quantised_poses()
        data = frame.encode(tags, gap=self.gap, dropped=self._dropped)
        self._unacknowledged.append(frame.header.sequence)
        self._dropped, self.gap = 0, False
        return data

    async def wait(self) -> None:
        """Return when something may have become sendable."""
        if self._texts or self.closing is not None:
            return
        seconds = None
        if self._slots and len(self._unacknowledged) < self.window:
            periods = self._periods.items()
            waiting = [self._due[period] for name, period in periods if self._slots.peek(name)]
            seconds = max(0.0, min(waiting) - self._clock())
        self._wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _due_within(self, moment: float) -> set[str]:
        """Channels with a frame waiting whose turn comes before the moment."""
        periods = self._periods.items()
        waiting = {name: self._due[period] for name, period in periods if self._slots.peek(name)}
        return {name for name, turn in waiting.items() if turn <= moment}

    def _forget_events(self) -> None:
        self._events.clear()
        self._event_bytes = 0

    def _keep_events(self, block: bytes) -> None:
        """Events of a live frame wait until a frame takes them along."""
        self._events.append(block)
        self._event_bytes += len(block)
        if self._event_bytes > MAX_EVENT_BYTES:
            self._forget_events()
            self.overflow.set()
            self.close(TRY_AGAIN_LATER, f"{MAX_EVENT_BYTES} bytes of events were waiting unread")

    def _fill(self, frame: SharedFrame) -> None:
        names = self._periods
        holding = [name for name in names if not CHANNELS[name].isdisjoint(frame.blocks)]
        if frame.header.kind is FrameKind.KEY:
            # a look at some moment: what happened before it was told, or is in the history
            holding = [name for name in holding if name != "events"]
        elif "events" in holding:
            self._keep_events(frame.blocks[BlockTag.EVENTS])
            if self.closing is not None:
                return
        elif self._events:
            holding.append("events")
        if not holding:
            return
        if self._slots.put(dict.fromkeys(holding, frame)) == len(holding):
            self._dropped += 1
            FRAMES_DROPPED.inc()
        self._wake.set()
