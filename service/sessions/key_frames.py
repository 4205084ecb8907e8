"""The key frames of a run in the folder of its session, thinned as the run grows."""

import contextlib
import logging

from cardan.service.sessions.folder import KeyFrame, SessionFolder

log = logging.getLogger("cardan.worker")


class KeyFrames:
    """Writes key frames; those of the present epoch fit into a number of bytes."""

    def __init__(self, folder: SessionFolder, max_bytes: int) -> None:
        """Go on with what is in the folder."""
        self._folder = folder
        self._max_bytes = max_bytes
        self._epoch = max((epoch for epoch, _ in folder.key_moments()), default=0)
        self._sizes: dict[int, int] = {}
        self._refused = False
        for epoch, step in folder.key_moments():
            if epoch == self._epoch:
                self._sizes[step] = folder.key_size(epoch, step)

    @property
    def first_step(self) -> int | None:
        """The step at which the epoch begins."""
        return min(self._sizes, default=None)

    def write(self, key: KeyFrame) -> None:
        """Store a key frame, if the disk takes it; the log says when that ends and begins again."""
        try:
            self._store(key)
        except OSError as error:
            if not self._refused:
                log.error("key frames are not written: %s", error)
            self._refused = True
            return
        if self._refused:
            log.warning("key frames are written again, from step %d on", key.step)
        self._refused = False

    def _store(self, key: KeyFrame) -> None:
        """Write one; a new epoch forgets those of earlier ones. Raises OSError."""
        size = self._folder.write_key(key)
        if key.epoch != self._epoch:
            self._epoch, self._sizes = key.epoch, {}
            for epoch, step in self._folder.key_moments():
                if epoch != key.epoch:
                    self._folder.remove_key(epoch, step)
        self._sizes[key.step] = size
        self._thin()

    def _thin(self) -> None:
        """Remove those that leave the smallest gaps, never the first nor the latest."""
        while sum(self._sizes.values()) > self._max_bytes and len(self._sizes) > 2:
            steps = sorted(self._sizes)
            gaps = {b: c - a for a, b, c in zip(steps, steps[1:], steps[2:], strict=False)}
            step = min(gaps, key=gaps.__getitem__)
            del self._sizes[step]
            with contextlib.suppress(OSError):
                self._folder.remove_key(self._epoch, step)
