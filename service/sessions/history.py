"""The frames of a session by step, bounded by bytes: the recent ones all, older ones thinned."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from itertools import chain, islice, pairwise

from cardan.schemas.frame import BlockTag
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.streams.codec import SharedFrame

# what a frame costs beside its bytes
OVERHEAD = 600
# of an older frame; contacts of any step are computed again when they are asked for
KEPT_BLOCKS = frozenset(
    {
        BlockTag.POSES,
        BlockTag.JOINTS,
        BlockTag.ENERGY,
        BlockTag.SOLVER,
        BlockTag.ASLEEP,
        BlockTag.ABSENT,
    }
)


class Thinned:
    """Older frames: whenever they are too many bytes, every second of them goes."""

    def __init__(self, max_bytes: int) -> None:
        """Begin empty."""
        self._max_bytes = max_bytes
        self._bytes = 0
        self._apart = 1
        self.frames: list[SharedFrame] = []
        self.widest = 0
        """Steps between two of them, at most."""

    def add(self, frame: SharedFrame) -> None:
        """Append the frame unless it is too close to the one before."""
        frames = self.frames
        if frames:
            gap = frame.step - frames[-1].step
            if gap < self._apart:
                return
            self.widest = max(self.widest, gap)
        frames.append(frame.with_tags(KEPT_BLOCKS))
        self._bytes += _cost(frames[-1])
        if self._bytes > self._max_bytes and len(frames) > 2:
            self._thin()

    def _thin(self) -> None:
        span = self.frames[-1].step - self.frames[0].step
        self._apart = max(2, 2 * span // (len(self.frames) - 1))
        kept = self.frames[:1]
        for frame in self.frames[1:]:
            if frame.step - kept[-1].step >= self._apart:
                kept.append(frame)
        self.frames = kept
        self._bytes = sum(map(_cost, kept))
        self.widest = max((b.step - a.step for a, b in pairwise(kept)), default=0)


class History:
    """The frames of the current epoch, in the order of their steps.

    Recent frames fill half of the bytes; those that leave them become older ones, which fill the
    other half.
    """

    def __init__(self, max_bytes: int) -> None:
        """Keep at most `max_bytes` bytes, but always the newest frame."""
        self._half = max_bytes // 2
        self._recent: deque[SharedFrame] = deque()
        self._bytes = 0
        self._widest = 0
        self._older = Thinned(self._half)

    def __len__(self) -> int:
        """How many frames are kept."""
        return len(self._older.frames) + len(self._recent)

    @property
    def newest(self) -> SharedFrame | None:
        """The last frame of all."""
        return self._recent[-1] if self._recent else None

    @property
    def range(self) -> tuple[int, int] | None:
        """First and last step that are kept."""
        if not self._recent:
            return None
        return self._first.step, self._recent[-1].step

    def spacing(self, first_step: int) -> int:
        """Steps between two kept frames, at most; `first_step` is that of the epoch."""
        if not self._recent:
            return 0
        older = self._older
        joint = self._recent[0].step - older.frames[-1].step if older.frames else 0
        return max(self._widest, older.widest, joint, self._first.step - first_step)

    def add(self, frame: SharedFrame) -> None:
        """Append; a new epoch forgets the old one, a repeated step replaces the frame of it."""
        newest = self.newest
        if newest is not None and frame.header.epoch != newest.header.epoch:
            self._recent.clear()
            self._bytes = self._widest = 0
            self._older = Thinned(self._half)
        repeated: deque[SharedFrame] = deque()
        while self._recent and self._recent[-1].step >= frame.step:
            repeated.appendleft(self._recent.pop())
            self._bytes -= _cost(repeated[0])
        # what happened is told once
        frame = frame.with_events_of(repeated)
        if self._recent:
            self._widest = max(self._widest, frame.step - self._recent[-1].step)
        self._recent.append(frame)
        self._bytes += _cost(frame)
        while self._bytes > self._half and len(self._recent) > 1:
            oldest = self._recent.popleft()
            self._bytes -= _cost(oldest)
            self._older.add(oldest)

    def at(self, step: int) -> SharedFrame | None:
        """The last frame at or before the step, else the first one."""
        if not self._recent:
            return None
        recent = self._recent[0].step <= step or not self._older.frames
        frames: Sequence[SharedFrame] = self._recent if recent else self._older.frames
        return frames[max(0, _after(frames, step) - 1)]

    def between(self, first: int | None, last: int | None, stride: int = 1) -> list[SharedFrame]:
        """Every `stride`-th frame with a step from `first` to `last`, both included.

        What happened in those that are left out comes with the next one.
        """
        parts = []
        for frames in (self._older.frames, self._recent):
            low = 0 if first is None else _after(frames, first - 1)
            high = len(frames) if last is None else _after(frames, last)
            parts.append(islice(frames, low, max(low, high)))
        if stride == 1:
            return list(chain(*parts))
        chosen: list[SharedFrame] = []
        left_out: list[SharedFrame] = []
        for place, frame in enumerate(chain(*parts)):
            if place % stride == 0:
                chosen.append(frame.with_events_of(left_out))
                left_out.clear()
            elif BlockTag.EVENTS in frame.blocks:
                left_out.append(frame)
        return chosen

    def holds(self, epoch: int, sequence: int) -> bool:
        """Whether every frame after `sequence` of `epoch` is still here."""
        newest = self.newest
        if newest is None or newest.header.epoch != epoch or sequence > newest.header.sequence:
            return False
        return self._recent[0].header.sequence <= sequence + 1

    @property
    def _first(self) -> SharedFrame:
        return self._older.frames[0] if self._older.frames else self._recent[0]


def check_step(step: int, first: int, last: int) -> None:
    """Refuse a step that an epoch does not have. Raises ServiceError."""
    if first <= step <= last:
        return
    message = f"There is no step {step} in the history of this epoch."
    fault = {
        "pointer": "/step",
        "code": str(ErrorCode.STEP_OUT_OF_RANGE),
        "message": message,
        "got": step,
        "hint": f"It has the steps {first} to {last}.",
    }
    raise ServiceError(ErrorCode.STEP_OUT_OF_RANGE, message, errors=[fault])


def _cost(frame: SharedFrame) -> int:
    return frame.size + OVERHEAD


def _after(frames: Sequence[SharedFrame], step: int) -> int:
    """Number of frames up to the step."""
    return bisect_right(frames, step, key=lambda frame: frame.step)
