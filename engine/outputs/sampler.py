"""Sampler: the frames that a simulation records while it advances."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.sampling import write_one_sample
from cardan.engine.build.samples import BY_CONTACT, FIXED, Counts, grown_samples, sample_arrays
from cardan.engine.compiler.handles import handle_of
from cardan.engine.world.samples import N_CONTACTS, N_FRAMES, Samples
from cardan.engine.world.world import World

LEAST_FRAMES = 16


class Sampler:
    """Arrays for frames, which grow when they are full, and their handle for kernels."""

    def __init__(
        self,
        channels: Collection[str],
        bodies: NDArray[np.int64],
        counts: Counts,
        due: NDArray[np.int64],
    ) -> None:
        """Record the named channels at the start and after the steps `due` (m,), which ascend."""
        self._adopt(sample_arrays(channels, bodies, counts, due, max(len(due) + 1, LEAST_FRAMES)))
        self.sensed: list[NDArray[np.float64]] = []
        self.rows: list[NDArray[np.void]] = []
        self.wants_rows = "constraints" in channels

    def _adopt(self, samples: Samples) -> None:
        self.samples = samples
        self.handle = handle_of(samples)

    @property
    def n_frames(self) -> int:
        """Frames so far."""
        return int(self.samples.count[N_FRAMES])

    @property
    def n_contacts(self) -> int:
        """Contacts of all frames so far."""
        return int(self.samples.count[N_CONTACTS])

    def next_due(self, step: int) -> int | None:
        """The first due step after `step`."""
        due = self.samples.due
        place = int(np.searchsorted(due, step, side="right"))
        return int(due[place]) if place < len(due) else None

    def begin_timing(self) -> None:
        """The phases of steps are counted from zero again."""
        self.samples.phases_before.fill(0)

    def part(self, since: tuple[int, int]) -> dict[str, NDArray[np.generic]]:
        """Frames from number `since[0]` on, and contacts from number `since[1]` on: a copy."""
        samples, (frame, contact) = self.samples, since
        n_frames, n_contacts = self.n_frames, self.n_contacts
        found: dict[str, NDArray[np.generic]] = {}
        for name, array in zip(samples._fields, samples, strict=True):
            if name in FIXED:
                continue
            first, end = (contact, n_contacts) if name in BY_CONTACT else (frame, n_frames)
            found[name] = array[first:end].copy()
        if self.sensed:
            found["sensed"] = np.array(self.sensed[frame:])
        if len(self.rows) > frame:
            found["row_counts"] = np.array([len(rows) for rows in self.rows[frame:]], np.int64)
            found["rows"] = np.concatenate(self.rows[frame:])
        return found

    def restore(self, parts: Sequence[Mapping[str, NDArray[np.generic]]]) -> None:
        """Have the frames of parts, one after another, and no others."""
        n_frames = sum(len(part["time"]) for part in parts)
        n_contacts = sum(len(part["contact"]) for part in parts)
        samples = self.samples
        self._adopt(
            grown_samples(
                samples,
                max(n_frames, len(samples.time)),
                max(n_contacts, len(samples.contact)),
            )
        )
        for name, array in zip(self.samples._fields, self.samples, strict=True):
            if name not in FIXED and len(array):
                rows = np.concatenate([part[name] for part in parts])
                array[: len(rows)] = rows
        self.sensed = [readings for part in parts for readings in part.get("sensed", ())]
        self.rows = [rows for part in parts for rows in _split(part)]
        self.samples.count[:] = 0
        self.samples.count[N_FRAMES], self.samples.count[N_CONTACTS] = n_frames, n_contacts

    def sense(self, readings: NDArray[np.float64]) -> None:
        """Frames without readings of sensors (sensors, fields) have these."""
        missing = self.n_frames - len(self.sensed)
        if missing > 0:
            # nobody writes into what was recorded, so frames may share it
            self.sensed += [readings.copy()] * missing

    def keep_rows(self, rows: NDArray[np.void]) -> None:
        """Frames without constraint rows have these."""
        self.rows += [rows] * (self.n_frames - len(self.rows))

    def write(self, world: World, handle: World) -> None:
        """Record the current state; `handle`: of the world (compiler/handles.py)."""
        while not write_one_sample(handle, self.handle):
            self._grow(int(world.work.contacts.count[0]))

    def _grow(self, n_contacts: int) -> None:
        samples = self.samples
        frames, contacts = len(samples.time), len(samples.contact)
        if self.n_frames >= frames:
            frames *= 2
        elif contacts:
            contacts = max(2 * contacts, int(samples.count[N_CONTACTS]) + n_contacts)
        self._adopt(grown_samples(samples, frames, contacts))


def _split(part: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """The constraint rows of each frame of a part."""
    if "rows" not in part:
        return []
    return np.split(part["rows"], np.cumsum(part["row_counts"])[:-1])


@cache
def no_sampler() -> Sampler:
    """Records nothing: of simulations that nobody records."""
    none = np.zeros(0, np.int64)
    return Sampler((), none, Counts(), none)
