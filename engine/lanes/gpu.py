"""Many worlds of one model on a GPU, one in each thread (not compiled).

All float arrays of LaneWorld, and the counter of its steps, are parts of one block of numbers that
every world has. Everything else is the same in all worlds, and is copied to the card once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.compiler.cuda import Card
from cardan.engine.compiler.gpu import entry_types, struct_block, type_of, type_of_worlds
from cardan.engine.compiler.lanes import LANES
from cardan.engine.compiler.world_arrays import TILE
from cardan.engine.lanes.arrays import lane_array
from cardan.engine.lanes.library import LIBRARY
from cardan.engine.lanes.many import run_world
from cardan.engine.world.lanes import LaneWorld, WorldBlock, WorldRuns

SHARE = 0.8  # of the free memory of the card
COUNTERS = ("step",)  # whole numbers of LaneState that steps change
RESULTS = ("kept_q", "kept_qd", "records", "ledger", "energy", "left")


class Gpu:
    """Runs of worlds of one model on a card."""

    def __init__(self, world: LaneWorld, times: tuple[float, int], card: Card):
        """Take the numbers in the first lane of `world`; times: time step [s], number of steps."""
        self.card = card
        self._world, self._times = world, times
        self._worlds: Worlds | None = None
        self._kernel: Any = None

    def capacity(self, bytes_of_rows: int) -> int:
        """Worlds for which the card has memory; bytes_of_rows: of the runs of one world."""
        one = size_of(self._world, TILE) // TILE + bytes_of_rows
        return max(int(self.card.free * SHARE) // one, 1)

    def run(self, runs: WorldRuns) -> None:
        """Run worlds from start to end; not more than the first time."""
        if self._worlds is None:
            self._kernel = self.card.load(run_world, argument_types(self._world, runs), LIBRARY)
            self._worlds = Worlds(self._world, self.card, len(runs.q))
        kept = self.card.mark()
        address, read = self._worlds.put_runs(runs)
        arguments = (self._worlds.handle, address, self._worlds.block, *self._times)
        self.card.run(self._kernel, len(runs.q), arguments)
        read()
        self.card.free_since(kept)

    def close(self) -> None:
        """Give the memory of the card back."""
        self.card.free_since(0)


def argument_types(world: LaneWorld, runs: WorldRuns) -> tuple[Any, ...]:
    """Types of the arguments of `run_world`."""
    return entry_types((type_of_worlds(world, COUNTERS), type_of(runs), block_type()))


class Worlds:
    """The block of numbers of every world, and what all worlds share, on a card."""

    def __init__(self, world: LaneWorld, card: Card, capacity: int):
        """Room for so many worlds that start with the numbers of the first lane of `world`."""
        self._card = card
        own = own_arrays(world)
        ends = np.cumsum([array.size for array in own.values()])
        self.nitems = int(ends[-1])
        self._first = dict(zip(own, (ends - [a.size for a in own.values()]).tolist(), strict=True))
        self._block = card.room(size_of(world, capacity))
        typed = type_of_worlds(world, COUNTERS)
        self.handle = card.put(struct_block(typed, self._placed(world)))
        start = np.concatenate([first_lane(array).ravel() for array in own.values()])
        members = (self._block, self.nitems, (self.nitems,)), self._shared(start)
        self.block = card.put(struct_block(block_type(), members))

    def _shared(self, array: NDArray[Any]) -> tuple[int, int, tuple[int, ...]]:
        """The descriptor that a struct has in place of an array that is the same in all worlds."""
        return self._card.put(np.ascontiguousarray(array)), array.size, array.shape

    def _placed(self, one: Any) -> Any:
        """The descriptors that a struct has in place of its arrays."""
        if isinstance(one, tuple):
            return [self._placed(member) for member in one]
        first = self._first.get(one.ctypes.data)
        if first is None:
            return self._shared(one)
        return self._block + 8 * TILE * first, self.nitems, one.shape

    def put_runs(self, runs: WorldRuns) -> tuple[int, Callable[[], None]]:
        """Address of the runs on the card, and what copies their results back."""
        placed = {name: self._shared(getattr(runs, name)) for name in WorldRuns._fields}
        address = self._card.put(struct_block(type_of(runs), placed.values()))

        def read() -> None:
            for name in RESULTS:
                self._card.get(getattr(runs, name), placed[name][0])

        return address, read


def block_type() -> Any:
    """Type of WorldBlock."""
    return type_of_worlds(WorldBlock(lane_array((1,)), np.zeros(1)))


def size_of(world: LaneWorld, capacity: int) -> int:
    """Bytes of the numbers of so many worlds."""
    numbers = sum(array.size for array in own_arrays(world).values())
    return 8 * TILE * -(-capacity // TILE) * numbers


def own_arrays(one: Any, name: str = "") -> dict[int, NDArray[Any]]:
    """Arrays that every world has for itself, by their address: some are in two structs."""
    if isinstance(one, tuple):
        found: dict[int, NDArray[Any]] = {}
        for field, member in zip(one._fields, one, strict=True):  # type: ignore[attr-defined]
            found |= own_arrays(member, field)
        return found
    is_own = one.size > 0 and (one.dtype == LANES or name in COUNTERS)
    return {one.ctypes.data: one} if is_own else {}


def first_lane(array: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers of the first world; of a counter: its bits."""
    found: NDArray[np.float64] = (
        array["lane"][..., 0] if array.dtype == LANES else array.view(np.float64)
    )
    return found
