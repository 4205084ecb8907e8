"""A part of a recording: a span of time, every n-th frame, some bodies, some channels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cardan.service.recordings.columns import KEYS, POSE, VELOCITY
from cardan.service.recordings.tables import TABLES, Tables, to_numpy

CHANNELS = ("pose", "velocity", *TABLES[1:])


class SliceError(ValueError):
    """A slice that cannot be: `field` names the parameter."""

    def __init__(self, field: str, message: str, got: str | float | None) -> None:
        """Name the parameter, what is wrong and what was given."""
        super().__init__(message)
        self.field = field
        self.got = got


@dataclass(frozen=True)
class Slice:
    """Which part: `start <= time <= end` [s], every `stride`-th frame, bodies and channels."""

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
        """Raise SliceError when it cannot be."""
        if self.start is not None and self.end is not None and self.start > self.end:
            raise SliceError("from", f"from must not be after to = {self.end}", self.start)
        for name in self.channels:
            if name not in CHANNELS:
                raise SliceError("channels", f"there are {', '.join(CHANNELS)}", name)


def cut(recording: Tables, part: Slice) -> Tables:
    """The part of a recording. Raises SliceError for unknown bodies or an impossible slice."""
    part.check()
    if part.whole:
        return recording
    _check_bodies(recording, part)
    steps = kept_steps(recording, part.stride)
    tables = {
        name: _columns(_rows(name, table, part, steps), name, part)
        for name, table in recording.tables.items()
        if name in part.tables()
    }
    return recording.with_tables(tables)


def kept_steps(recording: Tables, stride: int) -> npt.NDArray[np.int64]:
    """Every n-th recorded step, from the first one; events happen between them."""
    found = [
        to_numpy(table["step"]) for name, table in recording.tables.items() if name != "events"
    ]
    steps = np.unique(np.concatenate(found)) if found else np.zeros(0)
    return steps[:: min(stride, len(steps) + 1)].astype(np.int64)


def _rows(name: str, table: pa.Table, part: Slice, steps: npt.NDArray[np.int64]) -> pa.Table:
    keep = np.ones(table.num_rows, dtype=bool)
    time = to_numpy(table["time"])
    if part.start is not None:
        keep &= time >= part.start
    if part.end is not None:
        keep &= time <= part.end
    if part.stride > 1 and name != "events":
        keep &= np.isin(to_numpy(table["step"]), steps)
    if part.bodies:
        keep &= _about_bodies(table, part.bodies)
    return table.filter(pa.array(keep))


def _about_bodies(
    table: pa.Table, bodies: tuple[str, ...]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    about = np.zeros(table.num_rows, dtype=bool)
    columns = [name for name in ("body", "body_a", "body_b") if name in table.column_names]
    if not columns:
        return np.ones(table.num_rows, dtype=bool)
    for name in columns:
        values = table[name].cast(pa.string())
        about |= np.asarray(pc.is_in(values, value_set=pa.array(bodies)).to_numpy(), dtype=bool)
    return about


def _columns(table: pa.Table, name: str, part: Slice) -> pa.Table:
    if name != "bodies" or not part.channels:
        return table
    groups: Mapping[str, tuple[str, ...]] = {"pose": POSE, "velocity": VELOCITY}
    wanted = {column for channel in part.channels for column in groups.get(channel, ())}
    return table.select([c for c in table.column_names if c in wanted or c in KEYS])


def _check_bodies(recording: Tables, part: Slice) -> None:
    table = recording.tables.get("bodies")
    if table is None or not part.bodies:
        return
    known = set(pc.unique(table["body"].cast(pa.string())).to_pylist())
    for body in part.bodies:
        if body not in known:
            listed = ", ".join(sorted(known)[:20])
            raise SliceError("bodies", f"no such body was recorded; there are {listed}", body)
