"""Worlds side by side: each is the world alone, whatever is in the other lanes."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from cardan.engine import Rollout, Simulation, rollout
from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import HAS_LANES, W, lanes_handle
from cardan.engine.compiler.structs import struct
from cardan.engine.lanes.arrays import lane_array
from cardan.engine.runs.variants import value_of
from cardan.engine.spatial.rotation import exponential, sine_cosine
from cardan.schemas import apply_overrides, load_scene
from cardan.schemas.examples import example_document

pytestmark = pytest.mark.skipif(not HAS_LANES, reason="this way to compile has no lanes")

Document = dict[str, Any]


SPRING = {
    "type": "spring",
    "parent": "b0",
    "child": "b3",
    "anchor": [0, 0, 0],
    "anchor2": [1.2, 0, 0],
    "stiffness": 10.0,
}


FALLS: Document = {"name": "less weight", "when": {"type": "time", "at": 0.002}}
FALLS["do"] = [{"op": "gravity", "value": [0, 0, -1]}]
# a gust that comes and goes, and a pull at a point that turns with its body
GUST = {"times": [0.0, 0.02, 0.03], "values": [[0, 0, 0], [3, -2, 1], [0, 0, 0]]}
RISE = {"times": [0.0, 0.2], "values": [[0, 0, 0], [0.2, 0.1, 0]]}
WRENCHES: list[Document] = [
    {"type": "wrench", "body": "b1", "force": {**GUST, "interpolation": "step"}},
    {"type": "wrench", "body": "b3", "force": [0.5, 0, -1], "torque": RISE, "axes": "body"},
]
WRENCHES[1]["point"] = [0.1, 0.05, 0.0]


def double_pendulum(steps: int) -> Document:
    """In joint coordinates."""
    document = example_document("double-pendulum")
    document["simulation"] |= {"formulation": "reduced", "duration": steps * 1e-3}
    document["record"] = {"every": 10}
    return document


def body(name: str, at: list[float], **more: Any) -> Document:
    """A small brick."""
    return {"name": name, "position": at, "mass": 1.0, "inertia": [0.02, 0.03, 0.04], **more}


def joint(kind: str, parent: str, child: str, x: float, **more: Any) -> Document:
    """A joint at x."""
    named = {"name": f"to {child}", "type": kind, "parent": parent, "child": child}
    return {**named, "anchor": [x, 0.0, 0.0], **more}


def free_chain(steps: int) -> Document:
    """A floating chain on a ball, a slider, a screw and two hinges of one joint, turning fast."""
    turning = {"angular_velocity": [3.0, 40.0, -2.0], "linear_velocity": [0.1, 0.0, 2.0]}
    bodies = [body(f"b{i}", [0.4 * i, 0.0, 0.0], **(turning if i == 0 else {})) for i in range(5)]
    joints = [
        joint("ball", "b0", "b1", 0.2),
        joint("slider", "b1", "b2", 0.6, axis=[0, 1, 0]),
        joint("screw", "b2", "b3", 1.0, axis=[1, 0, 0], pitch=0.1),
        joint("universal", "b3", "b4", 1.4, axis=[0, 1, 0], axis2=[0, 0, 1]),
    ]
    simulation = {"dt": 1e-3, "duration": steps * 1e-3, "formulation": "reduced"}
    return {"simulation": simulation, "bodies": bodies, "joints": joints}


def arm(steps: int) -> Document:
    """Hinges and a slider on the ground: servos that follow, a spring, dampers, a torque, stops."""
    servo = {"type": "position", "stiffness": 400.0, "damping": 8.0}
    moves = {"times": [0.0, 0.05, 0.2], "values": [0.0, 0.3, -0.2]}
    bodies = [body(f"b{i}", [0.2 + 0.4 * i, 0.0, 0.0]) for i in range(4)]
    wide = {"lower": -2.5, "upper": 2.5}
    joints = [
        joint("hinge", "world", "b0", 0.0, axis=[0, 0, 1], motor={**servo, "target": moves}),
        joint(
            "hinge", "b0", "b1", 0.4, axis=[0, 1, 0], motor={**servo, "target": 0.2}, limits=wide
        ),
        joint(
            "slider", "b1", "b2", 0.8, axis=[1, 0, 0], spring={"stiffness": 900.0, "damping": 3.0}
        ),
        joint("hinge", "b2", "b3", 1.2, axis=[0, 1, 0], damping=0.1, armature=0.01),
    ]
    joints[3]["motor"] = {"type": "force", "target": 0.7}
    simulation = {"dt": 1e-3, "duration": steps * 1e-3, "formulation": "reduced"}
    record = {"every": 10}
    return {"simulation": simulation, "record": record, "bodies": bodies, "joints": joints}


def pushed_chain(steps: int) -> Document:
    """The floating chain under wrenches."""
    return free_chain(steps) | {"forces": WRENCHES}


def pushed_arm(steps: int) -> Document:
    """The arm under wrenches."""
    return arm(steps) | {"forces": WRENCHES}


def alone(document: Document, overrides: Document) -> Simulation:
    """A variant in a simulation of its own, at its end."""
    simulation = Simulation(load_scene(apply_overrides(document, overrides)))
    simulation.advance(simulation.total_steps)
    return simulation


def varied(count: int) -> list[Document]:
    """Masses and gravity, of every run others."""
    return [
        {"/bodies/1/mass": 1.0 + 0.2 * k, "/gravity": [0.0, 0.1 * k, -9.81]} for k in range(count)
    ]


def assert_worlds_are_those_alone(document: Document) -> Rollout:
    """Run some variants side by side, and each by itself; what became of those side by side."""
    names = ("state_hash", "steps", "contacts.max_count", "verdict.status")
    drifts = ("energy.max_relative_drift", "momentum.max_angular_drift")
    found = rollout(document, varied(W + 2), names + drifts)
    assert found.in_lanes == W + 2
    for k, overrides in enumerate(varied(W + 2)):
        own = alone(document, overrides).summary()
        for name in names + drifts:
            assert found.metrics[name][k] == value_of(own, name)
    return found


@pytest.mark.parametrize("make", [double_pendulum, free_chain, arm, pushed_chain, pushed_arm])
def test_every_world_has_the_bits_it_has_alone(make: Any) -> None:
    found = assert_worlds_are_those_alone(make(60))
    assert (found.metrics["steps"] == 60).all()


def test_energy_stays_where_no_drive_works() -> None:
    found = rollout(double_pendulum(400), varied(W), ("energy.max_relative_drift", "energy.final"))
    assert found.in_lanes == W
    assert (found.metrics["energy.max_relative_drift"] < 1e-5).all()
    # another gravity and another mass: other energies
    assert len(set(found.metrics["energy.final"])) == W


def test_driven_worlds_move_along_their_series() -> None:
    found = rollout(arm(250), varied(W), ("energy.work_in",), trajectories=True)
    assert found.in_lanes == W
    assert found.trajectories is not None
    assert np.ptp(found.trajectories[0, :, 0, 1]) > 0.005
    assert (np.abs(found.metrics["energy.work_in"]) > 0.01).all()


def test_every_world_is_pushed_by_its_own_wrenches() -> None:
    """One of them by none: that world moves as the arm that has none, bit for bit."""
    runs = [
        {"/forces/1/force": [0.0, 0.0, 0.3 * k], "/forces/1/torque": [0, 0, 0]} for k in range(W)
    ]
    calm = {"/forces/0/force": [0.0, 0.0, 0.0], "/gravity": [0.0, 0.0, -9.81]}
    names = ("state_hash", "energy.work_in", "energy.max_relative_drift")
    found = rollout(pushed_arm(80), [run | calm for run in runs], names)
    assert found.in_lanes == W
    assert len(set(found.metrics["energy.work_in"])) == W
    assert (found.metrics["energy.max_relative_drift"] < 1e-5).all()
    still, last = (alone(pushed_arm(80), run | calm) for run in (runs[0], runs[-1]))
    assert found.metrics["state_hash"][0] == still.state_hash()
    assert found.metrics["state_hash"][-1] == last.state_hash()
    assert still.poses().tobytes() == alone(arm(80), {}).poses().tobytes()


def test_bits_depend_on_no_neighbour_and_on_no_lane() -> None:
    document, runs = arm(40), varied(W + 3)
    found = rollout(document, runs, ("state_hash",)).metrics["state_hash"]
    assert len(set(found)) == len(runs)
    backwards = rollout(document, runs[::-1], ("state_hash",)).metrics["state_hash"][::-1]
    pair = rollout(document, runs[1:3], ("state_hash",)).metrics["state_hash"]
    assert backwards.tolist() == found.tolist()
    assert pair.tolist() == found[1:3].tolist()


def test_frames_are_those_of_a_run_alone() -> None:
    document = double_pendulum(55)
    found = rollout(document, varied(2), (), trajectories=True)
    own = rollout(document, varied(1), (), trajectories=True)
    assert found.in_lanes == 2
    assert own.in_lanes == 0
    assert found.trajectories is not None
    assert own.trajectories is not None
    assert own.times is not None
    assert found.times is not None
    assert found.bodies == own.bodies
    assert found.times[0].tobytes() == own.times[0].tobytes()
    assert found.trajectories[0].tobytes() == own.trajectories[0].tobytes()


def test_worlds_that_need_more_than_lanes_can_do_run_alone_and_are_counted() -> None:
    """A stop that is reached, and a motor at its largest force."""
    document = arm(120)
    runs: list[Document] = [
        {},
        {"/joints/1/limits/upper": 0.05},
        {"/joints/0/motor/max_force": 0.5},
        {"/gravity": [0.0, 0.0, -1.0]},
    ]
    found = rollout(document, runs, ("state_hash",))
    assert found.in_lanes == 2
    for k in (1, 2):
        assert found.metrics["state_hash"][k] == alone(document, runs[k]).state_hash()


@pytest.mark.parametrize(
    "change",
    [
        {"/simulation/formulation": "maximal", "/joints/3/armature": 0.0},
        {"/joints/3/friction": 0.1},
        {"/joints/3/motor": {"type": "velocity", "target": 1.0, "max_force": 1.0}},
        {"/forces": [SPRING]},
        {"/forces": [{"type": "drag", "body": "b3", "linear": 0.1}]},
        {"/triggers": [FALLS]},
        {"/simulation/solver": {"method": "pgs"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_scenes_that_do_not_fit_run_alone(change: Document) -> None:
    document = apply_overrides(arm(5), change)
    assert rollout(document, varied(2), ("steps",)).in_lanes == 0


@struct
class Numbers(NamedTuple):
    """One number and what becomes of it, of each world."""

    x: NDArray[Any]
    out: NDArray[Any]


@kernel
def turn_numbers(handle: Numbers) -> None:
    """out <- sine, cosine; then the quaternion of a rotation by x."""
    numbers = struct_of(handle)
    for i in range(numbers.x.shape[0]):
        s, c = sine_cosine(numbers.x[i])
        q = exponential((numbers.x[i], 0.5 * numbers.x[i], -numbers.x[i]))
        numbers.out[i, 0], numbers.out[i, 1] = s, c
        numbers.out[i, 2], numbers.out[i, 3], numbers.out[i, 4], numbers.out[i, 5] = q


def test_branches_on_numbers_are_taken_lane_by_lane() -> None:
    """Every quadrant, small and large angles beside each other, and beyond the polynomials."""
    angles = [*np.linspace(-7.0, 7.0, 41), 1e-9, 0.0, 3.3e5, -2.1e6]
    rows = np.array([np.roll(angles, shift) for shift in range(W)]).T
    numbers = Numbers(lane_array((len(angles),)), lane_array((len(angles), 6)))
    numbers.x["lane"][...] = rows
    turn_numbers(lanes_handle(numbers))
    for i, row in enumerate(rows):
        for lane, x in enumerate(row):
            found = numbers.out["lane"][i, :, lane]
            assert tuple(found[:2]) == sine_cosine(x)
            assert tuple(found[2:]) == exponential((x, 0.5 * x, -x))
            assert found[0] == pytest.approx(math.sin(x), abs=1e-15)
