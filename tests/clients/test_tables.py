"""Recordings of the Python client for pandas, xarray and pyarrow, with their units."""

import io
import json
import sys

import numpy as np
import pytest
from cardan_client import PackageMissing
from cardan_client.results import POSE, VELOCITY, Trajectory, read_trajectory

BODIES = ("floor", "ball")
TIMES = np.array([0.0, 0.1, 0.2])
UNITS = {
    "bodies": {"time": "s", "px": "m", "vx": "m/s", "body": "1"},
    "energy": {"time": "s", "total": "J"},
}


@pytest.fixture
def track() -> Trajectory:
    """A recording of three frames as the service sends it."""
    count = len(TIMES) * len(BODIES)
    columns = {
        "bodies/time": np.repeat(TIMES, len(BODIES)),
        "bodies/step": np.repeat([0, 100, 200], len(BODIES)),
        "bodies/body": np.tile(BODIES, len(TIMES)),
        "energy/time": TIMES,
        "energy/step": np.array([0, 100, 200]),
        "energy/total": np.array([3.0, 2.0, 1.0]),
        "contacts/step": np.array([100]),
        "contacts/gap": np.array([-1e-6]),
    }
    for number, name in enumerate((*POSE, *VELOCITY)):
        columns[f"bodies/{name}"] = 100.0 * number + np.arange(count)
    file = io.BytesIO()
    metadata = {"scene_name": "drop", "seed": 0, "versions": {"engine": "1"}, "units": UNITS}
    np.savez(file, allow_pickle=False, metadata=np.array(json.dumps(metadata)), **columns)
    return read_trajectory(file.getvalue())


def test_a_table_is_a_data_frame_with_units(track: Trajectory):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = track.to_pandas()
    assert list(frame.columns) == list(track.tables["bodies"])
    ball = frame[frame.body == "ball"]
    assert ball.px.to_numpy().tolist() == track.poses[:, 1, 0].tolist()
    assert frame.attrs["units"]["px"] == "m"
    assert frame.attrs["scene_name"] == "drop"
    assert track.to_pandas("energy").total.iloc[-1] == 1.0
    with pytest.raises(KeyError, match="'joints' was not recorded; there are: bodies, energy"):
        track.to_pandas("joints")


def test_a_table_is_an_arrow_table_with_units(track: Trajectory):
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = track.to_arrow("energy")
    assert table.schema.field("total").metadata == {b"unit": b"J"}
    assert table.schema.metadata[b"versions"] == b'{"engine": "1"}'
    assert table.column("total").to_pylist() == [3.0, 2.0, 1.0]
    assert track.to_arrow().schema.field("body").type == arrow.string()
    with pytest.raises(KeyError, match="was not recorded"):
        track.to_arrow("joints")


def test_a_recording_is_a_dataset_over_time_and_body(track: Trajectory):
    pytest.importorskip("xarray", reason="xarray is not installed")
    data = track.to_xarray()
    ball = data.position.sel(body="ball", xyz="z")
    assert ball.values.tolist() == track.poses[:, 1, 2].tolist()
    assert data.orientation.sel(body="floor", wxyz="w").values.tolist() == [300.0, 302.0, 304.0]
    assert data.angular_velocity.dims == ("time", "body", "xyz")
    assert track.velocities is not None
    assert np.array_equal(data.angular_velocity.values, track.velocities[..., 3:])
    units = {name: one.attrs["units"] for name, one in data.variables.items() if one.attrs}
    assert units == {
        "time": "s",
        "step": "1",
        "position": "m",
        "orientation": "1",
        "velocity": "m/s",
        "angular_velocity": "rad/s",
        "energy_total": "J",
    }
    assert data.position.attrs["frame"] == "W"
    assert float(data.energy_total.sel(time=0.1, method="nearest")) == 2.0
    # contacts are not one per frame
    assert "contacts_gap" not in data
    assert data.attrs["seed"] == 0


@pytest.mark.parametrize(
    ("package", "extra", "way"),
    [("pandas", "pandas", "pandas"), ("xarray", "xarray", "xarray"), ("pyarrow", "arrow", "arrow")],
)
def test_a_package_that_is_missing_is_named(
    track: Trajectory, monkeypatch: pytest.MonkeyPatch, package: str, extra: str, way: str
):
    # None: the import system says that there is no such module
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PackageMissing, match=rf"pip install 'cardan-client\[{extra}\]'") as caught:
        getattr(track, f"to_{way}")()
    assert (caught.value.name, caught.value.extra) == (package, extra)
