"""Worlds from arrays of states and controls: each is the world alone, in whatever lane."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cardan
from cardan.engine import Simulation, rollout_states
from cardan.engine.compiler.lanes import HAS_LANES, W
from cardan.schemas import load_scene
from tests.engine.lanes.test_lanes import arm, body, double_pendulum, free_chain, joint
from tests.engine.test_controls import SPEED, loop

needs_lanes = pytest.mark.skipif(not HAS_LANES, reason="this way to compile has no lanes")

Array = NDArray[np.float64]
N = W + 2


def near_start(document: dict[str, Any], n: int) -> tuple[Array, Array]:
    """States near the start of a scene, the quaternions not quite of length 1."""
    start = Simulation(load_scene(document)).joint_state()
    random = np.random.default_rng(5)
    q = start.q + 1e-4 * random.standard_normal((n, len(start.q)))
    return q, start.qd + 0.3 * random.standard_normal((n, len(start.qd)))


def driven(document: dict[str, Any]) -> int:
    """Motors of the scene."""
    return sum("motor" in one for one in document["joints"])


def alone(
    document: dict[str, Any], q: Array, qd: Array, controls: Array | None = None
) -> Simulation:
    """One world by commands to a simulation."""
    simulation = Simulation(load_scene(document))
    simulation.reset(q, qd)
    parts = [None] if controls is None else list(controls)
    motors = [one["name"] for one in document["joints"] if "motor" in one]
    for targets in parts:
        for name, target in zip(motors, [] if targets is None else targets, strict=False):
            simulation.set_motor(name, float(target))
        simulation.advance(simulation.total_steps // len(parts))
    return simulation


@needs_lanes
@pytest.mark.parametrize("make", [double_pendulum, free_chain])
def test_every_world_is_the_world_alone(make: Any) -> None:
    document = make(200)
    q, qd = near_start(document, N)
    names = ("energy.final", "energy.initial", "energy.max_relative_drift")
    found = rollout_states(document, q, qd, metrics=names, every=70)
    assert found.in_lanes == N
    assert found.times == pytest.approx([0.0, 0.07, 0.14, 0.2])
    for k in range(N):
        own = alone(document, q[k], qd[k])
        assert np.abs(found.q[k, -1] - own.joint_state().q).max() < 1e-12
        assert np.abs(found.qd[k, -1] - own.joint_state().qd).max() < 1e-11
        energy = sum(own.energy()[part] for part in ("kinetic", "potential"))
        assert found.metrics["energy.final"][k] == pytest.approx(energy, rel=1e-12)
        first = own.summary()["energy"]["initial"] + own.energy()["work_in"]
        assert found.metrics["energy.initial"][k] == pytest.approx(first, rel=1e-12)
    # the laws, not only the other code: nothing drives these worlds
    drift = found.metrics["energy.final"] - found.metrics["energy.initial"]
    assert np.abs(drift).max() < 1e-4 * np.abs(found.metrics["energy.initial"]).max()


@needs_lanes
def test_controls_are_those_of_each_world_and_each_time() -> None:
    document = arm(240)
    q, qd = near_start(document, N)
    controls = np.random.default_rng(1).uniform(-0.4, 0.4, (N, 6, driven(document)))
    found = rollout_states(document, q, 0.0 * qd, controls, ("energy.work_in",))
    assert found.in_lanes == N
    assert found.motors == (("to b0", 0), ("to b1", 0), ("to b3", 0))
    for k in range(N):
        own = alone(document, q[k], 0.0 * qd[k], controls[k])
        assert np.abs(found.q[k, -1] - own.joint_state().q).max() < 1e-12
        assert np.abs(found.qd[k, -1] - own.joint_state().qd).max() < 1e-11
    # another order of the controls in time is another run
    turned = rollout_states(document, q, 0.0 * qd, controls[:, ::-1], ())
    assert np.abs(turned.q[:, -1] - found.q[:, -1]).min(axis=1).max() > 1e-6


@needs_lanes
def test_bits_depend_on_no_neighbour_no_lane_and_no_number_of_worlds() -> None:
    document = arm(40)
    q, qd = near_start(document, 2 * W + 1)
    whole = rollout_states(document, q, qd, every=10)
    backwards = rollout_states(document, q[::-1], qd[::-1], every=10)
    one = rollout_states(document, q[3], qd[3], every=10)
    assert backwards.q[::-1].tobytes() == whole.q.tobytes()
    assert one.in_lanes == 1
    assert one.q[0].tobytes() == whole.q[3].tobytes()
    assert one.metrics["energy.final"][0] == whole.metrics["energy.final"][3]
    assert len(np.unique(whole.q[:, -1, 0])) == len(q)


@needs_lanes
def test_a_summary_is_that_of_its_world_alone() -> None:
    """Worlds of a later group have no records of those before: ever calmer ones, in their order."""
    document = double_pendulum(200)
    start = Simulation(load_scene(document)).joint_state()
    n = 2 * W + 1
    qd = np.tile(start.qd, (n, 1))
    qd[:, -1] += np.linspace(8.0, 0.0, n)
    numbers = ("energy.max_relative_drift", "energy.max_kinetic", "momentum.max_angular_drift")
    plain = rollout_states(document, start.q, qd, metrics=numbers)
    found = rollout_states(document, start.q, qd, metrics=(*numbers, "verdict.status"))
    assert plain.in_lanes == found.in_lanes == n
    for name in numbers:
        assert found.metrics[name].tolist() == plain.metrics[name].tolist()
    drift = found.metrics["energy.max_relative_drift"]
    assert drift[-1] < 0.8 * drift[0]


@pytest.mark.parametrize("metrics", [("energy.final",), ("energy.final", "verdict.status")])
def test_bits_depend_on_no_number_of_threads(metrics: tuple[str, ...]) -> None:
    """Worlds that stay in lanes, and worlds that come to a stop."""
    document = arm(60)
    document["joints"][1]["limits"] = {"lower": -2.5, "upper": 0.25}
    n = 2 * W + 3
    q, qd = near_start(document, n)
    controls = np.zeros((n, 3, 3))
    controls[::3, 1:, 1] = 2.0
    one = rollout_states(document, q, 0.0 * qd, controls, metrics, every=7)
    assert one.in_lanes < n
    for threads in (2, 3, "auto"):
        options: Any = {"every": 7, "threads": threads}
        found = rollout_states(document, q, 0.0 * qd, controls, metrics, **options)
        assert found.q.tobytes() == one.q.tobytes()
        assert found.qd.tobytes() == one.qd.tobytes()
        assert found.in_lanes == one.in_lanes
        for name in metrics:
            assert found.metrics[name].tolist() == one.metrics[name].tolist()


def test_an_error_ends_all_threads() -> None:
    """A joint of a loop that cannot close is named, with its world."""
    document = loop(SPEED)
    start = Simulation(load_scene(document)).joint_state()
    q = np.tile(start.q, (6, 1))
    q[4, 0] += 1.0
    for threads in (1, 3):
        with pytest.raises(ValueError, match=r"world 4: Joint .* does not close"):
            rollout_states(document, q, threads=threads)


@needs_lanes
def test_a_world_that_reaches_a_stop_runs_alone_and_is_counted() -> None:
    document = arm(120)
    document["joints"][1]["limits"] = {"lower": -2.5, "upper": 0.25}
    q, qd = near_start(document, 3)
    qd[:] = 0.0
    controls = np.zeros((3, 1, 3))
    controls[1, 0, 1] = 2.0
    found = rollout_states(document, q, qd, controls, ("verdict.status", "energy.final"))
    assert found.in_lanes == 2
    own = alone(document, q[1], qd[1], controls[1])
    assert found.q[1, -1].tobytes() == own.state.tree_q.tobytes()
    assert found.q[1, -1, 1] == pytest.approx(0.25, abs=0.01)
    assert found.metrics["verdict.status"][1] == own.summary()["verdict"]["status"]
    assert found.metrics["verdict.status"][::2].tolist() == ["trusted"] * 2


def test_scenes_that_lanes_cannot_compute_run_alone() -> None:
    """A slider that falls on the ground, in both formulations."""
    brick = body("b0", [0.0, 0.0, 0.5], shapes=[{"type": "sphere", "radius": 0.1}])
    plane = {"type": "plane", "normal": [0, 0, 1]}
    ground = {"name": "ground", "type": "static", "shapes": [plane]}
    rail = joint("slider", "world", "b0", 0.0, axis=[0, 0, 1])
    for formulation in ("reduced", "maximal"):
        simulation = {"dt": 1e-3, "duration": 0.5, "formulation": formulation}
        document = {"simulation": simulation, "bodies": [ground, brick], "joints": [rail]}
        found = rollout_states(document, [[0.0], [0.2]], n_steps=600, every=150)
        assert found.in_lanes == 0
        assert found.status.tolist() == ["succeeded"] * 2
        fallen = 0.2 - 0.5 * 9.81 * found.times[1] ** 2
        assert found.q[1, 1, 0] == pytest.approx(fallen, abs=1e-6)
        # at rest on the ground
        assert found.q[:, -1, 0] == pytest.approx(-0.4, abs=1e-3)
        assert np.abs(found.qd[:, -1]).max() < 1e-3


def test_what_does_not_fit_is_said() -> None:
    document = arm(10)
    with pytest.raises(ValueError, match=r"q must have the shape \(4\) or \(n, 4\), not \(3,\)"):
        rollout_states(document, np.zeros(3))
    with pytest.raises(ValueError, match="same number of worlds; found q: 2, qd: 3"):
        rollout_states(document, np.zeros((2, 4)), np.zeros((3, 4)))
    with pytest.raises(ValueError, match="10 steps cannot be shared equally by 3 rows"):
        rollout_states(document, controls=np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"qd\[1, 2\] is not finite: nan"):
        rollout_states(document, qd=[[0.0] * 4, [0.0, 0.0, np.nan, 0.0]])
    with pytest.raises(ValueError, match="at least one world"):
        rollout_states(document, np.zeros((0, 4)))
    with pytest.raises(ValueError, match=r"there is no metric 'energy\.colour'"):
        cardan.rollout_states(document, metrics=("energy.colour",))
    with pytest.raises(ValueError, match="n_steps must be at least 1"):
        rollout_states(document, n_steps=0)
    for threads in (0, -2, 1.5, "all"):
        with pytest.raises(
            ValueError, match=f"threads must be at least 1, or 'auto', not {threads!r}"
        ):
            rollout_states(document, threads=threads)  # type: ignore[arg-type]
    floating = free_chain(10)
    start = Simulation(load_scene(floating)).joint_state().q
    with pytest.raises(ValueError, match="of 'b0' must have length 1"):
        rollout_states(floating, [start, 2.0 * start])
