"""The recent past of a session: frames by step, bounded by bytes."""

from bisect import bisect_right
from collections import deque
from itertools import islice

from cardan.service.streams.codec import SharedFrame

# what a frame costs beside its bytes
OVERHEAD = 600


class History:
    """A ring of the frames of the current epoch, in the order of their steps."""

    def __init__(self, max_bytes: int) -> None:
        """Keep at most `max_bytes` bytes, but always the newest frame."""
        self._max_bytes = max_bytes
        self._frames: deque[SharedFrame] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        """How many frames are kept."""
        return len(self._frames)

    @property
    def newest(self) -> SharedFrame | None:
        """The last frame of all."""
        return self._frames[-1] if self._frames else None

    @property
    def range(self) -> tuple[int, int] | None:
        """First and last step that are kept."""
        if not self._frames:
            return None
        return self._frames[0].step, self._frames[-1].step

    def add(self, frame: SharedFrame) -> None:
        """Append; a new epoch forgets the old one, a repeated step replaces the frame of it."""
        newest = self.newest
        if newest is not None and frame.header.epoch != newest.header.epoch:
            self._frames.clear()
            self._bytes = 0
        elif newest is not None and frame.step <= newest.step:
            while self._frames and self._frames[-1].step >= frame.step:
                self._bytes -= self._frames.pop().size + OVERHEAD
        self._frames.append(frame)
        self._bytes += frame.size + OVERHEAD
        while self._bytes > self._max_bytes and len(self._frames) > 1:
            self._bytes -= self._frames.popleft().size + OVERHEAD

    def at(self, step: int) -> SharedFrame | None:
        """The last frame at or before the step, else the first one."""
        if not self._frames:
            return None
        index = bisect_right(self._frames, step, key=lambda frame: frame.step)
        return self._frames[max(0, index - 1)]

    def between(self, first: int | None, last: int | None, stride: int = 1) -> list[SharedFrame]:
        """Every `stride`-th frame with a step from `first` to `last`, both included."""
        low = 0 if first is None else self._index_from(first)
        high = len(self._frames)
        if last is not None:
            high = bisect_right(self._frames, last, key=lambda frame: frame.step)
        # islice takes no stride beyond the platform's word
        return list(islice(self._frames, low, max(low, high), min(stride, high + 1)))

    def holds(self, epoch: int, sequence: int) -> bool:
        """Whether every frame after `sequence` of `epoch` is still here."""
        newest = self.newest
        if newest is None or newest.header.epoch != epoch or sequence > newest.header.sequence:
            return False
        return self._frames[0].header.sequence <= sequence + 1

    def _index_from(self, step: int) -> int:
        return bisect_right(self._frames, step - 1, key=lambda frame: frame.step)
