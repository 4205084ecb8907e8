"""What is kept, and for how long: ended runs by age, recordings by bytes, scenes by their use.

By default everything is kept. Beyond the age an ended simulation, batch or study is deleted as a
whole, as by its owner. Beyond the bytes the oldest recordings go, and nothing else: rows and
summaries stay, and a trajectory that is asked for is simulated again, with the same bits.
Checkpoints of ended runs always go: whoever ends in the queue has no worker that would remove them.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cardan.service import clock
from cardan.service.recordings.sizes import RecordingSizes
from cardan.service.simulations.catalog import Catalog
from cardan.service.simulations.queue import Queue

log = logging.getLogger("cardan.jobs")

PERIOD_SECONDS = 60.0


@dataclass(frozen=True)
class Keep:
    """Age [s] and bytes up to which ended runs and their recordings are kept; `None`: for ever.

    `unused_scene_s`: time [s] for which stored scenes are kept that nobody uses.
    """

    age_s: float | None = None
    recording_bytes: int | None = None
    unused_scene_s: float | None = None


class Retention:
    """Removes what is beyond the limits, once a minute."""

    def __init__(
        self,
        queue: Queue,
        catalog: Catalog,
        sizes: RecordingSizes,
        keep: Keep,
        discard: Callable[[str], None],
        remove_others: Callable[[float], Iterable[str]] = lambda _before: [],
        remove_scenes: Callable[[float], int] = lambda _before: 0,
        remove_checkpoints: Callable[[], Sequence[str]] = list,
    ) -> None:
        """`discard` removes a recording by its name.

        `remove_others` deletes what else ended before a time [s]; names of the recordings it had.
        `remove_scenes` deletes the stored scenes that were not used since a time [s]; how many.
        `remove_checkpoints` deletes those of ended runs; their names.
        """
        self._remove_others = remove_others
        self._remove_scenes = remove_scenes
        self._remove_checkpoints = remove_checkpoints
        self._queue = queue
        self._catalog = catalog
        self._sizes = sizes
        self._keep = keep
        self._discard = discard
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="retention", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; returns when nothing is removed any more."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def sweep(self) -> int:
        """Remove what is beyond the limits now; the number of recordings removed."""
        removed = 0
        if self._keep.age_s is not None:
            removed += self._remove_aged(clock.now() - self._keep.age_s)
        if self._keep.recording_bytes is not None:
            removed += self._remove_large(self._keep.recording_bytes)
        if self._keep.unused_scene_s is not None:
            scenes = self._remove_scenes(clock.now() - self._keep.unused_scene_s)
            if scenes:
                log.info("retention: %d stored scenes removed", scenes)
        self._remove_checkpoints()
        return removed

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                removed = self.sweep()
                if removed:
                    log.info("retention: %d recordings removed", removed)
            except Exception as error:
                # a database that is busy is not a reason to keep everything from now on
                log.error("retention failed; again in a minute", exc_info=error)
            self._stopping.wait(PERIOD_SECONDS)

    def _remove_aged(self, before: float) -> int:
        removed = self._discard_all(self._remove_others(before))
        for run_id in self._catalog.ended_simulations(before):
            removed += self._discard_all(self._catalog.remove_run(run_id) or ())
        for batch_id in self._catalog.ended_batches(before):
            removed += self._discard_all(self._catalog.remove_batch(batch_id) or ())
        return removed

    def _discard_all(self, names: Iterable[str]) -> int:
        """Remove recordings at once: after an error later on nobody would know of them."""
        removed = 0
        for name in names:
            self._discard(name)
            removed += 1
        return removed

    def _remove_large(self, most: int) -> int:
        """Remove recordings that can be made again, those of the runs that ended first, first."""
        stored = self._catalog.recordings()
        total = self._sizes.total(name for _, name, _ in stored)
        removed = 0
        for run_id, name, repeatable in stored:
            if total <= most:
                break
            if not repeatable:
                continue
            total -= self._sizes.of(name)
            # else another service has removed it meanwhile
            if self._queue.forget_result(run_id, name):
                self._discard(name)
                removed += 1
        return removed
