"""Sampler: the frames that a simulation records while it advances."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.sampling import write_one_sample
from cardan.engine.build.samples import grown_samples, sample_arrays
from cardan.engine.compiler.handles import hold
from cardan.engine.world.samples import N_CONTACTS, N_FRAMES, Samples
from cardan.engine.world.world import World

LEAST_FRAMES = 16


class Sampler:
    """Arrays for frames, which grow when they are full, and their handle for kernels."""

    def __init__(
        self,
        channels: Collection[str],
        bodies: NDArray[np.int64],
        n_joints: int,
        due: NDArray[np.int64],
    ) -> None:
        """Record the named channels after the steps `due` (m,), which ascend."""
        self._adopt(sample_arrays(channels, bodies, n_joints, due, max(len(due), LEAST_FRAMES)))

    def _adopt(self, samples: Samples) -> None:
        self.samples = samples
        self.held = hold(samples)

    @property
    def n_frames(self) -> int:
        """Frames so far."""
        return int(self.samples.count[N_FRAMES])

    def next_due(self, step: int) -> int | None:
        """The first due step after `step`."""
        due = self.samples.due
        place = int(np.searchsorted(due, step, side="right"))
        return int(due[place]) if place < len(due) else None

    def begin_timing(self) -> None:
        """The phases of steps are counted from zero again."""
        self.samples.phases_before.fill(0)

    def write(self, world: World, held: World) -> None:
        """Record the current state; `held` is the handle of the world."""
        while not write_one_sample(held, self.held):
            self._grow(int(world.work.contacts.count[0]))

    def _grow(self, n_contacts: int) -> None:
        samples = self.samples
        frames, contacts = len(samples.time), len(samples.contact)
        if self.n_frames >= frames:
            frames *= 2
        elif contacts:
            contacts = max(2 * contacts, int(samples.count[N_CONTACTS]) + n_contacts)
        self._adopt(grown_samples(samples, frames, contacts))


@cache
def no_sampler() -> Sampler:
    """Records nothing: of simulations that nobody records."""
    none = np.zeros(0, np.int64)
    return Sampler((), none, 0, none)
