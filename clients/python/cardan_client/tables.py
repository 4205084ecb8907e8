"""Recordings for other packages, with units; each package is imported when it is asked for."""

import importlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cardan_client.errors import PackageMissing

if TYPE_CHECKING:
    from cardan_client.results import Trajectory

XYZ = ("x", "y", "z")
WXYZ = ("w", "x", "y", "z")


def to_pandas(track: "Trajectory", table: str) -> Any:
    """Return a table as a `pandas.DataFrame`. Raises KeyError, PackageMissing."""
    pandas = _package("pandas", "pandas")
    frame = pandas.DataFrame(dict(_columns(track, table)))
    frame.attrs = {"units": dict(track.units.get(table, {})), **_plain(track.metadata)}
    return frame


def to_arrow(track: "Trajectory", table: str) -> Any:
    """Return a table as a `pyarrow.Table`. Raises KeyError, PackageMissing."""
    arrow = _package("pyarrow", "arrow")
    columns, units = _columns(track, table), track.units.get(table, {})
    arrays = [arrow.array(values) for values in columns.values()]
    fields = [
        arrow.field(name, array.type, metadata={"unit": units.get(name, "1")})
        for name, array in zip(columns, arrays, strict=True)
    ]
    metadata = {name: str(value) for name, value in _plain(track.metadata).items()}
    return arrow.Table.from_arrays(arrays, schema=arrow.schema(fields, metadata=metadata))


def to_xarray(track: "Trajectory") -> Any:
    """Return an `xarray.Dataset` over time and body. Raises PackageMissing."""
    xarray = _package("xarray", "xarray")
    moving = ("time", "body", "xyz")
    values: dict[str, Any] = {
        "position": (moving, track.poses[..., :3], _in_w("m")),
        "orientation": (("time", "body", "wxyz"), track.poses[..., 3:], _in_w("1")),
    }
    if track.velocities is not None:
        values["velocity"] = (moving, track.velocities[..., :3], _in_w("m/s"))
        values["angular_velocity"] = (moving, track.velocities[..., 3:], _in_w("rad/s"))
    for table, columns in track.tables.items():
        units = track.units.get(table, {})
        if table != "bodies" and np.array_equal(columns.get("step", ()), track.steps):
            for name in columns.keys() - {"time", "step"}:
                values[f"{table}_{name}"] = ("time", columns[name], {"units": units.get(name, "1")})
    coordinates = {
        "time": ("time", track.times, {"units": "s"}),
        "step": ("time", track.steps, {"units": "1"}),
        "body": ("body", list(track.bodies)),
        "xyz": ("xyz", list(XYZ)),
        "wxyz": ("wxyz", list(WXYZ)),
    }
    return xarray.Dataset(values, coordinates, _plain(track.metadata))


def _package(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise PackageMissing(name, extra) from None


def _columns(track: "Trajectory", table: str) -> Mapping[str, NDArray[Any]]:
    if table not in track.tables:
        raise KeyError(f"{table!r} was not recorded; there are: {', '.join(track.tables)}")
    return track.tables[table]


def _in_w(unit: str) -> dict[str, str]:
    return {"units": unit, "frame": "W"}


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What files can hold beside numbers: texts, numbers, and the rest as JSON."""
    return {
        name: value if isinstance(value, (str, int, float)) else json.dumps(value)
        for name, value in metadata.items()
        if name != "units"
    }
