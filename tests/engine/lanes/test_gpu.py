"""One world a thread: the kernels of lanes compiled for a GPU, and their results on one."""

import re
import sys
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from cardan.engine import NoDeviceError, Simulation, rollout_states
from cardan.engine.compiler import cuda
from cardan.engine.compiler.lanes import HAS_LANES
from cardan.engine.runs import states, world_rows
from cardan.schemas import load_scene
from tests.engine.lanes.test_lanes import arm, double_pendulum, free_chain, pushed_arm
from tests.engine.lanes.test_states import driven, near_start

if not HAS_LANES:
    pytest.skip("this way to compile has no lanes", allow_module_level=True)

from cardan.engine.compiler.gpu import ENTRY, ptx_of
from cardan.engine.lanes.arrays import lane_world
from cardan.engine.lanes.gpu import argument_types
from cardan.engine.lanes.library import LIBRARY
from cardan.engine.lanes.many import run_world
from tests.engine.lanes.emulated import Emulated

Array = NDArray[np.float64]
N = 35  # worlds: more than a tile
DEVICES: tuple[Literal["cpu", "gpu"], ...] = ("cpu", "gpu")


def missing() -> str:
    """Why nothing can run on a card here; "" where it can."""
    try:
        cuda.Card()
    except NoDeviceError as error:
        return str(error)
    return ""


def worlds_of(document: dict[str, Any], device: Any) -> Any:
    """Worlds near the start of a scene, with controls if it has motors."""
    q, qd = near_start(document, N)
    controls = np.random.default_rng(1).uniform(-0.4, 0.4, (N, 4, driven(document)))
    with_motors = controls if driven(document) else None
    return rollout_states(document, q, qd, with_motors, every=30, device=device)


def assert_same_bits(one: Any, other: Any) -> None:
    """All that two rollouts found is the same."""
    assert one.in_lanes == other.in_lanes == N
    assert np.array_equal(one.q, other.q)
    assert np.array_equal(one.qd, other.qd)
    for name, values in one.metrics.items():
        assert np.array_equal(values, other.metrics[name]), name


@pytest.mark.parametrize("make", [double_pendulum, free_chain, pushed_arm])
def test_a_thread_has_the_bits_of_a_lane(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_rows, "Card", Emulated)
    document = make(120)
    found = worlds_of(document, "gpu")
    assert_same_bits(found, worlds_of(document, "cpu"))
    # worlds move, each from a state of its own
    assert np.ptp(found.q[:, -1], axis=0).max() > 1e-3


def test_a_thread_leaves_worlds_as_a_lane_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_rows, "Card", Emulated)
    document = arm(120)
    document["joints"][1]["limits"] = {"lower": -2.5, "upper": 0.25}
    q, qd = near_start(document, N)
    # every third world comes to the stop
    controls = np.zeros((N, 1, driven(document)))
    controls[::3, 0, 1] = 2.0
    found = {one: rollout_states(document, q, 0.0 * qd, controls, device=one) for one in DEVICES}
    assert 0 < found["gpu"].in_lanes == found["cpu"].in_lanes < N
    assert np.array_equal(found["gpu"].q, found["cpu"].q)


def test_ptx_rounds_every_operation() -> None:
    one = Simulation(load_scene(double_pendulum(10)))
    rows = states._Worlds(one.scene, (None, None, None), (), None)._rows
    runs = world_rows.Worker(rows, one)._runs(slice(0, 1))
    world = lane_world(one.built)
    text = ptx_of(run_world, argument_types(world, runs), LIBRARY)
    assert f".entry {ENTRY}(" in text
    assert "mul.rn.f64" in text
    # what assemblers may contract has no rounding in its name
    assert re.search(r"\b(fma\.rn|mad|add|sub|mul)\.f64", text) is None


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(NoDeviceError, match=r"cuda-bindings.*pip install 'cardan\[gpu\]'"):
        rollout_states(double_pendulum(10), device="gpu")


def test_a_metric_of_a_summary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_rows, "Card", Emulated)
    with pytest.raises(ValueError, match="need no summary"):
        rollout_states(double_pendulum(10), metrics=("bodies.b0.max_speed",), device="gpu")


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="device must be"):
        rollout_states(double_pendulum(10), device="tpu")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no steps"):
        rollout_states(double_pendulum(10), steps=3)  # type: ignore[call-arg]


@pytest.mark.skipif(bool(missing()), reason=f"no GPU here: {missing()}")
@pytest.mark.parametrize("make", [double_pendulum, free_chain, arm])
def test_a_card_has_the_bits_of_the_processor(make: Any) -> None:
    document = make(120)
    assert_same_bits(worlds_of(document, "gpu"), worlds_of(document, "cpu"))
