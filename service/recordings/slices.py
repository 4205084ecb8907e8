"""A part of a recording: a span of time, every n-th frame, some bodies, some channels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cardan.schemas.record import POSE, VELOCITY
from cardan.service.recordings.columns import KEYS
from cardan.service.recordings.sources import Loaded, Recording, Source, loaded
from cardan.service.recordings.tables import TABLES, Tables, to_numpy

CHANNELS = ("pose", "velocity", *TABLES[1:])
# a part of a table with at most so many values is held in memory, since formats that are written
# column by column read it once per column
MOST_HELD = 1 << 22
# columns that decide whether a row belongs to a slice
FILTERED = ("time", "step", "body", "body_a", "body_b")


class SliceError(ValueError):
    """An impossible slice: `field` names the parameter."""

    def __init__(self, field: str, message: str, got: str | float | None) -> None:
        """Name the parameter, what is wrong and what was given."""
        super().__init__(message)
        self.field = field
        self.got = got


@dataclass(frozen=True)
class Slice:
    """Which part: `start <= time <= end` [s] but for rounding, every `stride`-th frame, and the
    named bodies and channels; none named: all."""

    start: float | None = None
    end: float | None = None
    stride: int = 1
    bodies: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether this leaves nothing out."""
        return self == Slice()

    def tables(self) -> tuple[str, ...]:
        """The tables this slice needs."""
        if not self.channels:
            return TABLES
        wanted = {"bodies" if name in ("pose", "velocity") else name for name in self.channels}
        return tuple(name for name in TABLES if name in wanted)

    def check(self) -> None:
        """Raise SliceError if the slice is impossible."""
        if self.start is not None and self.end is not None and self.start > self.end:
            raise SliceError("from", f"{self.start} is after to = {self.end}.", self.start)
        for name in self.channels:
            if name not in CHANNELS:
                message = f"There is no channel {name!r}; there are {', '.join(CHANNELS)}."
                raise SliceError("channels", message, name)


def cut(recording: Tables, part: Slice) -> Tables:
    """The part of a recording. Raises SliceError for unknown bodies or an impossible slice."""
    if part.whole:
        return recording
    sources = cut_chunks(loaded(recording), part).sources
    return recording.with_tables({name: _table(source) for name, source in sources.items()})


def cut_chunks(recording: Recording, part: Slice) -> Recording:
    """The part of a recording that is read in chunks. Raises SliceError."""
    part.check()
    if part.whole:
        return recording
    _check_bodies(recording, part)
    steps = kept_steps(recording, part.stride) if part.stride > 1 else None
    sources = {
        name: _held(_Cut(name, source, part, steps))
        for name, source in recording.sources.items()
        if name in part.tables()
    }
    return replace(recording, sources=sources)


def kept_steps(recording: Recording, stride: int) -> npt.NDArray[np.int64]:
    """Every n-th recorded step, from the first one; events happen between them."""
    found = [
        np.unique(to_numpy(chunk["step"]).astype(np.int64))
        for name, source in recording.sources.items()
        if name != "events"
        for chunk in source.chunks(["step"])
    ]
    steps = np.unique(np.concatenate([np.zeros(0, np.int64), *found]))
    return steps[:: min(stride, len(steps) + 1)]


class _Cut:
    """A part of a table, filtered again whenever it is read."""

    def __init__(
        self, name: str, source: Source, part: Slice, steps: npt.NDArray[np.int64] | None
    ) -> None:
        self._name = name
        self._source = source
        self._part = part
        self._steps = steps
        kept = _columns(source.schema.names, name, part)
        self.schema = pa.schema([source.schema.field(column) for column in kept])
        self._keys = [column for column in FILTERED if column in source.schema.names]
        self.num_rows = sum(chunk.num_rows for chunk in self.chunks(["time"]))

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The rows that are left of each chunk."""
        wanted = list(self.schema.names if columns is None else columns)
        for chunk in self._source.chunks(list(dict.fromkeys([*wanted, *self._keys]))):
            yield _rows(self._name, chunk, self._part, self._steps).select(wanted)


def _held(source: Source) -> Source:
    """A part in memory, if it is small."""
    small = source.num_rows * len(source.schema.names) <= MOST_HELD
    return Loaded(_table(source)) if small else source


def _table(source: Source) -> pa.Table:
    return pa.concat_tables([source.schema.empty_table(), *source.chunks()])


def _rows(name: str, table: pa.Table, part: Slice, steps: npt.NDArray[np.int64] | None) -> pa.Table:
    keep = np.ones(table.num_rows, dtype=bool)
    time = to_numpy(table["time"])
    if part.start is not None:
        keep &= time >= part.start - _rounding(part.start)
    if part.end is not None:
        keep &= time <= part.end + _rounding(part.end)
    if steps is not None and name != "events":
        keep &= np.isin(to_numpy(table["step"]), steps)
    if part.bodies:
        keep &= _about_bodies(table, part.bodies)
    return table.filter(pa.array(keep))


def _rounding(time: float) -> float:
    """Difference of a step's number times `dt` from a time as it was typed, at most [s]."""
    return 4.0 * float(np.spacing(abs(time)))


def _about_bodies(
    table: pa.Table, bodies: tuple[str, ...]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    about = np.zeros(table.num_rows, dtype=bool)
    columns = [name for name in ("body", "body_a", "body_b") if name in table.column_names]
    if not columns:
        return np.ones(table.num_rows, dtype=bool)
    import pyarrow.compute as pc  # slow to load, and rarely needed

    for name in columns:
        values = table[name].cast(pa.string())
        about |= np.asarray(pc.is_in(values, value_set=pa.array(bodies)).to_numpy(), dtype=bool)
    return about


def _columns(names: Sequence[str], table: str, part: Slice) -> list[str]:
    if table != "bodies" or not part.channels:
        return list(names)
    groups: Mapping[str, tuple[str, ...]] = {"pose": POSE, "velocity": VELOCITY}
    wanted = {column for channel in part.channels for column in groups.get(channel, ())}
    return [c for c in names if c in wanted or c in KEYS]


def _check_bodies(recording: Recording, part: Slice) -> None:
    source = recording.sources.get("bodies")
    if source is None or not part.bodies:
        return
    known: set[str] = set()
    for chunk in source.chunks(["body"]):
        known |= set(chunk["body"].cast(pa.string()).unique().to_pylist())
    for body in part.bodies:
        if body not in known:
            listed = ", ".join(sorted(known)[:20]) + (", ..." if len(known) > 20 else "")
            message = f"No body {body!r} was recorded; there are {listed}."
            raise SliceError("bodies", message, body)
