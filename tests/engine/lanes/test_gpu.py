"""One world a thread: the kernels of lanes compiled for a GPU, and their results on one."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cardan.engine import NoDeviceError, rollout_states
from cardan.engine.compiler import cuda
from cardan.engine.compiler.lanes import HAS_LANES
from cardan.engine.runs import states
from tests.engine.lanes.emulated import Emulated
from tests.engine.lanes.test_lanes import arm, double_pendulum, free_chain
from tests.engine.lanes.test_states import driven, near_start

Array = NDArray[np.float64]
N = 35  # worlds: more than a tile

if not HAS_LANES:
    pytest.skip("this way to compile has no lanes", allow_module_level=True)


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


@pytest.mark.parametrize("make", [double_pendulum, free_chain, arm])
def test_a_thread_has_the_bits_of_a_lane(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "Card", Emulated)
    document = make(120)
    found = worlds_of(document, "gpu")
    assert_same_bits(found, worlds_of(document, "cpu"))
    # worlds move, each from a state of its own
    assert np.ptp(found.q[:, -1], axis=0).max() > 1e-3


@pytest.mark.skipif(bool(missing()), reason=f"no GPU here: {missing()}")
@pytest.mark.parametrize("make", [double_pendulum, free_chain, arm])
def test_a_card_has_the_bits_of_the_processor(make: Any) -> None:
    document = make(120)
    assert_same_bits(worlds_of(document, "gpu"), worlds_of(document, "cpu"))
