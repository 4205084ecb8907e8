"""Results as arrays."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan_client import tables

POSE = ("px", "py", "pz", "qw", "qx", "qy", "qz")
VELOCITY = ("vx", "vy", "vz", "wx", "wy", "wz")


@dataclass(frozen=True, repr=False)
class Trajectory:
    """The recording of a run: arrays by frame and body, and every table as it was recorded."""

    times: NDArray[np.float64]
    """(frames,) [s]."""
    steps: NDArray[np.int64]
    """(frames,): steps done."""
    bodies: tuple[str, ...]
    """Names of the bodies, in the order of the arrays."""
    poses: NDArray[np.float64]
    """(frames, bodies, 7): px py pz of the origins [m], qw qx qy qz, in W."""
    velocities: NDArray[np.float64] | None
    """(frames, bodies, 6): vx vy vz [m/s], wx wy wz [rad/s], in W; None: not recorded."""
    tables: Mapping[str, Mapping[str, NDArray[Any]]]
    """Columns of every table by name: bodies, joints, contacts, energy, ..."""
    units: Mapping[str, Mapping[str, str]]
    """Units of the columns, by table."""
    metadata: Mapping[str, Any]
    """Scene, versions, frame and order of quaternions."""

    def __repr__(self) -> str:
        """How much of what, in a line."""
        span = f"{self.times[0]:g} to {self.times[-1]:g} s"
        return f"<Trajectory: {len(self.times)} frames of {len(self.bodies)} bodies, {span}>"

    def to_pandas(self, table: str = "bodies") -> Any:
        """Return a table as a `pandas.DataFrame`; `attrs` hold units and metadata.

        Raises KeyError for a table that was not recorded, PackageMissing.
        """
        return tables.to_pandas(self, table)

    def to_arrow(self, table: str = "bodies") -> Any:
        """Return a table as a `pyarrow.Table`; fields hold their `unit`, as in Parquet files.

        Raises KeyError for a table that was not recorded, PackageMissing.
        """
        return tables.to_arrow(self, table)

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` over time and body; `attrs` hold units and metadata.

        `position`, `orientation` [w, x, y, z], `velocity`, `angular_velocity` in W, and what was
        recorded once per frame, such as `energy_total`. Raises PackageMissing.
        """
        return tables.to_xarray(self)


@dataclass(frozen=True)
class State:
    """The state of a live session at one moment, in double precision."""

    step: int
    """Steps since the start."""
    time: float
    """Simulated time [s]."""
    bodies: tuple[str, ...]
    """Names of the bodies, in the order of the arrays."""
    poses: NDArray[np.float64]
    """(bodies, 7): px py pz [m], qw qx qy qz, in W."""
    velocities: NDArray[np.float64]
    """(bodies, 6): vx vy vz [m/s], wx wy wz [rad/s], in W."""
    state_hash: str
    """Identity of the state, hex."""
    document: Mapping[str, Any]
    """Everything the service says: joints, contacts, energy, solver, grab."""


@dataclass(frozen=True, repr=False)
class Result:
    """A run that succeeded; `trajectory` of the client fetches its recording."""

    info: Mapping[str, Any]
    """State of the run: id, status, times, links."""
    summary: Mapping[str, Any]
    """Energies, drift, penetration, residuals, verdict, timing."""

    def __repr__(self) -> str:
        """Which run, and its verdict."""
        verdict = self.summary.get("verdict", {}).get("status", "without a verdict")
        return f"<Result {self.id}: {self.info['status']}, {verdict}>"

    @property
    def id(self) -> str:
        """Id of the run."""
        return str(self.info["id"])

    @property
    def overrides(self) -> Mapping[str, Any]:
        """Values by JSON Pointer of a run of a batch."""
        found: Mapping[str, Any] = self.info.get("overrides", {})
        return found

    def metric(self, name: str) -> Any:
        """Return a value of the summary by its dotted key. Raises KeyError."""
        value: Any = self.summary
        for part in name.split("."):
            value = value[part]
        return value


def read_trajectory(data: bytes) -> Trajectory:
    """Read a recording in NPZ. Raises ValueError for one without poses, or without a moment."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        metadata = json.loads(str(archive["metadata"]))
        read: dict[str, dict[str, NDArray[Any]]] = {}
        for key in archive.files:
            table, _, column = key.partition("/")
            if column:
                read.setdefault(table, {})[column] = archive[key]
    bodies = read.get("bodies", {})
    if "px" not in bodies:
        raise ValueError("the recording has no poses; record the channel `pose`")
    if not len(bodies["step"]):
        raise ValueError("no recorded time lies between `from_` and `to`")
    # rows are ordered by frame, and within a frame by body
    steps, first = np.unique(bodies["step"], return_index=True)
    names = tuple(str(name) for name in bodies["body"][: len(bodies["step"]) // len(steps)])
    shape = (len(steps), len(names))
    velocities = _stacked(bodies, VELOCITY, shape) if "vx" in bodies else None
    return Trajectory(
        times=bodies["time"][first],
        steps=steps,
        bodies=names,
        poses=_stacked(bodies, POSE, shape),
        velocities=velocities,
        tables=read,
        units=metadata.get("units", {}),
        metadata=metadata,
    )


def read_state(document: Mapping[str, Any]) -> State:
    """Return the state of a session as arrays."""
    bodies = tuple(document["body_names"])
    return State(
        step=document["step"],
        time=document["time"],
        bodies=bodies,
        poses=np.array(document["poses"], float).reshape(len(bodies), 7),
        velocities=np.array(document["velocities"], float).reshape(len(bodies), 6),
        state_hash=document["state_hash"],
        document=document,
    )


def _stacked(
    table: Mapping[str, NDArray[Any]], columns: tuple[str, ...], shape: tuple[int, int]
) -> NDArray[np.float64]:
    return np.stack([table[name].reshape(shape) for name in columns], axis=-1)
