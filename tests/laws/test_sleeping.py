"""What has come to rest is left alone, and wakes when something happens to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene
from tests.engine.scenes import cube, document, ground, rod, simulate
from tests.laws.test_determinism import poison

pytestmark = pytest.mark.law

DT = 0.002
# rest for 0.05 s is enough in these tests: 25 steps
SLEEPING = {"enabled": True, "time": 0.05}
SLOW = 0.005  # m/s, below the speed at which bodies fall asleep


def ball(name: str, position: list[float], **more: Any) -> dict[str, Any]:
    """A ball of 0.1 m and 1 kg."""
    shape = {"type": "sphere", "radius": 0.1}
    return {"name": name, "position": position, "mass": 1.0, "shapes": [shape], **more}


def tower(n: int, x: float = 0.0) -> list[dict[str, Any]]:
    """n cubes that stand on each other."""
    return [cube(f"box-{x:g}-{k}", [x, 0.0, 0.1 + 0.2 * k]) for k in range(n)]


def scene(bodies: list[Any], joints: list[Any] | None = None, **more: Any) -> Simulation:
    options = {"dt": DT, "sleeping": more.pop("sleeping", SLEEPING)}
    return simulate(document(bodies, joints, simulation=options, **more))


def balance(sim: Simulation) -> float:
    return float(sim.summary()["energy"]["balance_error"])


def test_nothing_sleeps_unless_it_is_asked_for() -> None:
    sim = scene([ground(), *tower(2)], sleeping={"time": 0.01})
    sim.advance(100)
    assert not sim.asleep().any()
    assert sim.solver_report()["contacts"] == 8


def test_a_tower_falls_asleep_and_does_not_move_by_a_bit() -> None:
    sim = scene([ground(), *tower(5), *tower(3, x=2.0)])
    steps = 0
    while not sim.asleep().any():
        sim.advance(1)
        steps += 1
    assert steps >= 25
    sim.advance(30)
    assert sim.asleep().tolist() == [False] + [True] * 8
    assert sim.solver_report()["contacts"] == 0
    assert sim.solver_report()["rows"] == 0
    assert not sim.velocities().any()
    before = sim.poses().tobytes()
    sim.advance(500)
    assert sim.poses().tobytes() == before
    # rounding of 40 J, measured by the kinetic energy of 8 kg at 1 mm/s
    assert balance(sim) < 1e-8
    assert sim.summary()["momentum"]["max_linear_drift"] < 1e-12


def test_islands_sleep_each_by_itself() -> None:
    slow = ball("ball", [1.0, 0, 0.1], linear_velocity=[0.5, 0, 0], angular_velocity=[0, 5, 0])
    sim = scene([ground(), *tower(3), slow])
    sim.advance(80)
    assert sim.asleep().tolist() == [False, True, True, True, False]


def test_a_slow_body_in_an_island_keeps_all_awake() -> None:
    # a pendulum that hangs on a box: the box alone would sleep
    hanging = rod("arm", [0.0, 0.3, 1.0], 0.4)
    pin = {
        "name": "pin",
        "type": "ball",
        "parent": "box-0-0",
        "child": "arm",
        "anchor": [0, 0.3, 1],
    }
    sim = scene([ground(), *tower(1), hanging], [pin])
    sim.advance(300)
    assert not sim.asleep().any()


def test_what_is_left_of_motion_is_booked() -> None:
    drifting = ball("drifting", [0, 0, 0.1], linear_velocity=[3e-3, 4e-3, 0])
    smooth = {"default": {"friction": 0.0}}
    sim = scene([ground(), drifting], gravity=[0, 0, 0], materials=smooth)
    sim.advance(25)
    assert sim.asleep()[1]
    energy = sim.energy()
    assert energy["kinetic"] == 0.0
    assert energy["dissipated_damping"] == pytest.approx(0.5 * 25e-6, rel=1e-12)
    assert sim.summary()["energy"]["max_relative_drift"] < 1e-12
    assert sim.summary()["momentum"]["max_linear_drift"] < 1e-15
    assert sim.state.momentum_in[:3] == pytest.approx([-3e-3, -4e-3, 0], rel=1e-12)


def chain_in_space() -> list[dict[str, Any]]:
    """Balls in a row that touch, at rest."""
    return [ball(f"ball-{k}", [0.2 * k, 0.0, 0.0]) for k in range(3)]


@pytest.mark.parametrize("restitution", [0.0, 1.0])
@pytest.mark.parametrize("start", [-0.5, -0.53, -0.5317])
def test_a_strike_wakes_without_losing_momentum(restitution: float, start: float) -> None:
    striker = ball("striker", [start, 0.01, 0.0], linear_velocity=[2.0, 0.3, 0.0])
    bodies = [*chain_in_space(), striker]
    options: dict[str, Any] = {
        "gravity": [0, 0, 0],
        "materials": {"hard": {"restitution": restitution, "friction": 0.3}},
    }
    for body in bodies:
        body["shapes"][0]["material"] = "hard"
    sim = scene(bodies, **options)
    first = sim.momentum()
    sim.advance(30)
    assert sim.asleep().tolist() == [True, True, True, False]
    while sim.asleep().any():
        before = sim.velocities()
        sim.advance(1)
    # the step that wakes is the step that hits: nothing was struck as if it could not move
    assert not before[:3].any()
    assert sim.solver_report()["contacts"] == 3
    sim.advance(200)
    assert sim.momentum() == pytest.approx(first, abs=1e-12)
    assert sim.velocities()[2, 0] > 0.1
    # the same as if nobody had slept
    awake = scene(bodies, sleeping={}, **options)
    awake.advance(sim.step_count)
    np.testing.assert_allclose(sim.velocities(), awake.velocities(), atol=1e-12)
    np.testing.assert_allclose(sim.poses(), awake.poses(), atol=1e-12)


def test_waking_by_a_ball_takes_the_whole_tower_and_only_it() -> None:
    thrown = ball("thrown", [-1.0, 0, 0.5], linear_velocity=[3.0, 0, 1.0])
    sim = scene([ground(), *tower(3), *tower(2, x=3.0), thrown])
    sim.advance(60)
    assert sim.asleep().tolist() == [False, True, True, True, True, True, False]
    sim.advance(100)
    assert sim.asleep().tolist() == [False, False, False, False, True, True, False]
    assert sim.velocities()[1:4].any(axis=1).all()
    assert balance(sim) < 1e-9


def plate(**more: Any) -> dict[str, Any]:
    """A kinematic table whose top is at z = 0."""
    shape = {"type": "box", "size": [2, 2, 0.2]}
    return {
        "name": "plate",
        "type": "kinematic",
        "position": [0, 0, -0.1],
        "shapes": [shape],
        **more,
    }


def test_support_that_is_pulled_away_wakes() -> None:
    sim = scene([plate(), *tower(2)])
    sim.advance(60)
    assert sim.asleep().tolist() == [False, True, True]
    # far beyond the margin within one step
    sim.set_velocity("plate", [0, 0, -100.0], [0, 0, 0])
    sim.advance(100)
    assert not sim.asleep().any()
    fall = 0.5 * 9.81 * (100 * DT) ** 2
    assert sim.poses()[1:, 2] == pytest.approx([0.1 - fall, 0.3 - fall], abs=1e-4)


def test_a_moving_support_lets_nobody_sleep() -> None:
    sim = scene([plate(linear_velocity=[0.005, 0, 0]), *tower(2)])
    sim.advance(200)
    assert not sim.asleep().any()
    sim.set_velocity("plate", [0, 0, 0], [0, 0, 0])
    sim.advance(60)
    assert sim.asleep().tolist() == [False, True, True]


HOIST: dict[str, dict[str, Any]] = {
    "fixed": {"type": "fixed"},
    "distance": {"type": "distance", "anchor2": [0, 0, 0.1]},
    "rope": {"type": "distance", "anchor2": [0, 0, 0.1], "limits": {"upper": 0.95}},
    "slider": {"type": "slider", "axis": [0, 0, 1], "limits": {"lower": -0.05, "upper": 0.05}},
    "spring": {"type": "spring", "anchor2": [0, 0, 0.1], "stiffness": 400.0, "damping": 5.0},
}


def hoisted(name: str, sleeping: dict[str, Any]) -> Simulation:
    """A box on the ground below a hook that begins to rise after 0.3 s, by 0.5 m/s at once."""
    rise = {"times": [0.0, 0.3, 0.5], "positions": [[0, 0, 1], [0, 0, 1], [0, 0, 1.1]]}
    hook = {"name": "hook", "type": "kinematic", "position": [0, 0, 1], "motion": rise}
    held: dict[str, Any] = {"name": "held", "parent": "hook", "child": "box", "anchor": [0, 0, 1]}
    held |= HOIST[name]
    if name in ("fixed", "slider"):
        held["anchor"] = [0, 0, 0.1]
    bodies = [ground(), hook, cube("box", [0, 0, 0.1])]
    if name == "spring":
        return scene(bodies, forces=[held], sleeping=sleeping)
    return scene(bodies, [held], sleeping=sleeping)


@pytest.mark.parametrize("name", HOIST)
def test_what_a_kinematic_body_holds_wakes_when_that_begins_to_move(name: str) -> None:
    asleep, awake = hoisted(name, SLEEPING), hoisted(name, {})
    for sim in (asleep, awake):
        sim.advance(140)
    assert asleep.asleep()[2]
    for sim in (asleep, awake):
        sim.advance(110)
    assert awake.poses()[2, 2] > 0.13
    assert asleep.poses()[2, :3] == pytest.approx(awake.poses()[2, :3], abs=1e-6)
    assert not asleep.asleep()[2]


def test_what_a_moving_body_attracts_wakes() -> None:
    sun = {"name": "sun", "type": "kinematic", "position": [0, 0, 3], "mass": 100.0}
    bodies = [ground(), sun, cube("box", [0, 0, 0.1])]
    pull = {"name": "pull", "type": "point_gravity", "constant": 0.1}
    sim = scene(bodies, forces=[pull])
    sim.advance(100)
    assert sim.asleep()[2]
    sim.set_velocity("sun", [0, 0, -4.0], [0, 0, 0])
    # from a distance of 1 m on the pull exceeds gravity
    sim.advance(280)
    assert sim.poses()[2, 2] > 0.105


@pytest.mark.parametrize("kind", ["static", "kinematic", "dynamic"])
@pytest.mark.parametrize("change", ["appears", "vanishes"])
def test_what_an_attractor_pulled_wakes_when_that_comes_or_goes(kind: str, change: str) -> None:
    sun: dict[str, Any] = {"name": "sun", "type": kind, "position": [0, 0, 3], "mass": 1000.0}
    sun |= {"inertia": [1, 1, 1]} if kind == "dynamic" else {}
    hook = {"name": "hook", "type": "fixed", "parent": "world", "child": "sun"}
    ceiling = {"name": "ceiling", "type": "static", "position": [0, 0, 0.4]}
    ceiling |= {"shapes": [{"type": "box", "size": [2, 2, 0.2]}]}
    # some three times gravity
    pull = {"name": "pull", "type": "point_gravity", "constant": 0.25}
    start = 0.1 if change == "appears" else 0.2
    bodies = [ground(), ceiling, cube("box", [0, 0, start]), sun | {change: 0.4}]
    held = [hook] if kind == "dynamic" else []
    sim = scene(bodies, held, forces=[pull])
    sim.advance(180)
    assert sim.asleep()[2]
    sim.advance(220)
    assert sim.poses()[2, 2] == pytest.approx(0.3 - start, abs=1e-3)


def test_what_a_static_body_appears_in_wakes() -> None:
    peg = {"name": "peg", "type": "static", "position": [0, 0, 0.1], "appears": 0.4}
    peg |= {"shapes": [{"type": "box", "size": [0.05, 0.05, 0.05]}]}
    sim = scene([ground(), cube("box", [0, 0, 0.1]), peg])
    sim.advance(190)
    assert sim.asleep()[1]
    sim.advance(20)
    assert not sim.asleep()[1]
    assert sim.solver_report()["contacts"] > 4


def test_a_kinematic_body_that_arrives_wakes() -> None:
    pusher = plate(position=[-1.5, 0, 0.1], linear_velocity=[0.5, 0, 0])
    pusher["shapes"] = [{"type": "box", "size": [0.2, 0.2, 0.2]}]
    sim = scene([ground(), pusher, *tower(1)])
    sim.advance(100)
    assert sim.asleep()[2]
    sim.advance(1400)
    assert sim.poses()[1, 0] == pytest.approx(-0.0, abs=1e-9)
    assert sim.poses()[2, 0] == pytest.approx(0.2, abs=1e-3)


def test_every_command_wakes() -> None:
    def asleep() -> Simulation:
        sim = scene([ground(), *tower(2)])
        sim.advance(60)
        assert sim.asleep()[1:].all()
        return sim

    for command in (
        lambda sim: sim.apply_impulse("box-0-1", [0.1, 0, 0]),
        lambda sim: sim.apply_wrench("box-0-0", [1, 0, 0], [0, 0, 0]),
        lambda sim: sim.set_velocity("box-0-0", [0.1, 0, 0], [0, 0, 0]),
        lambda sim: sim.grab("box-0-1", [0, 0, 0.3]),
        lambda sim: sim.set_gravity([0, 0, -1.6]),
    ):
        sim = asleep()
        command(sim)
        sim.advance(1)
        assert not sim.asleep().any()
        assert sim.solver_report()["contacts"] == 8


def test_what_is_held_or_pushed_stays_awake() -> None:
    sim = scene([ground(), *tower(1)])
    sim.grab("box-0-0", [0, 0, 0.2])
    sim.advance(200)
    assert not sim.asleep()[1]
    sim.release()
    sim.apply_wrench("box-0-0", [0.1, 0, 0], [0, 0, 0], duration=0.4)
    sim.advance(200)
    assert not sim.asleep()[1]
    sim.advance(40)
    assert sim.asleep()[1]


def test_waking_starts_from_the_impulses_bodies_rested_on() -> None:
    def jolt(forget: bool) -> float:
        sim = scene([ground(), *tower(3)], solver={"method": "pgs"})
        sim.advance(300)
        assert sim.asleep()[1:].all()
        if forget:
            sim.state.resting.impulse_W[:] = 0.0
        # too few sweeps to find the weights anew
        sim.options = sim.options._replace(solver=sim.options.solver._replace(max_iterations=5))
        sim.set_gravity([0, 0, -9.81])
        sim.advance(1)
        assert sim.solver_report()["contacts"] == 12
        return float(np.abs(sim.velocities()).max())

    # a swept contact that stands starts from 0.997 of its impulse
    assert jolt(forget=False) < 1e-4
    assert jolt(forget=True) > 1e-3, "or the impulses are not what keeps it quiet"


def lever(**motor: Any) -> tuple[list[Any], list[Any]]:
    arm = rod("arm", [0, 0, 1.0], 0.4)
    pin = {
        "name": "pin",
        "type": "hinge",
        "parent": "world",
        "child": "arm",
        "anchor": [0, 0, 1],
        "axis": [0, 1, 0],
        "motor": {
            "type": "position",
            "stiffness": 400.0,
            "damping": 40.0,
            "max_force": 50,
            **motor,
        },
    }
    return [arm], [pin]


def test_a_motor_wakes_when_its_target_varies_or_is_commanded() -> None:
    target = {"times": [0.0, 1.0, 1.1], "values": [0.0, 0.0, 0.3], "interpolation": "linear"}
    sim = scene(*lever(target=target))
    sim.advance(495)
    assert sim.asleep()[0]
    sim.advance(50)
    assert not sim.asleep()[0]
    sim.advance(450)
    assert sim.asleep()[0]
    before = sim.joint_table()["q"][0]
    assert before == pytest.approx(0.3, abs=0.05)
    sim.set_motor("pin", -0.2)
    sim.advance(1)
    assert not sim.asleep()[0]
    sim.advance(500)
    assert sim.joint_table()["q"][0] == pytest.approx(-0.2, abs=0.05)
    assert balance(sim) < 1e-9


def test_a_force_that_varies_wakes_and_a_constant_one_does_not() -> None:
    times = {"times": [0.0, 0.5, 0.6], "values": [[0, 0, 0], [0, 0, 0], [8, 0, 0]]}
    for force, sleeps in (({**times, "interpolation": "linear"}, False), ([1.0, 0, 0], True)):
        push = {"type": "wrench", "body": "box-0-0", "force": force, "torque": [0, 0, 0]}
        sim = scene([ground(), *tower(1)], forces=[push])
        sim.advance(240)
        assert sim.asleep()[1]
        sim.advance(100)
        assert sim.asleep()[1] == sleeps
        assert (sim.velocities()[1, 0] > 0.1) == (not sleeps)


def test_bodies_on_one_spring_sleep_and_wake_together() -> None:
    spring = {"type": "spring", "parent": "box-0-0", "child": "box-1-0", "stiffness": 50.0}
    spring |= {"anchor": [0.1, 0, 0.1], "anchor2": [0.9, 0, 0.1], "rest": 0.7}
    sim = scene([ground(), *tower(1), *tower(1, x=1.0)], forces=[spring])
    sim.advance(100)
    assert sim.asleep()[1:].all()
    sim.apply_impulse("box-1-0", [0, 0.001, 0])
    sim.advance(1)
    assert not sim.asleep().any()


def lively() -> dict[str, Any]:
    """A tower, a lever and a thrown ball that wakes what slept."""
    bodies, joints = lever(target=0.0)
    bodies[0]["position"][1] = 3.0
    joints[0]["anchor"] = [0, 3.0, 1.0]
    thrown = ball("thrown", [-1.0, 0, 0.5], linear_velocity=[3.0, 0, 1.0])
    options = {"dt": DT, "sleeping": SLEEPING}
    return document(
        [ground(), *tower(3), *tower(2, x=3.0), thrown, *bodies], joints, simulation=options
    )


def test_pieces_snapshots_and_poison_change_nothing() -> None:
    scene = load_scene(lively())
    whole, pieces = Simulation(scene), Simulation(scene)
    whole.advance(400)
    sizes = [1, 2, 37, 60, 43, 7]
    for n in sizes:
        pieces.advance(n)
    assert pieces.asleep().any()
    for _ in range(10):
        saved = pieces.snapshot()
        pieces = Simulation(scene)
        pieces.restore(saved)
        poison(pieces)
        pieces.advance((400 - sum(sizes)) // 10)
    assert pieces.step_count == whole.step_count
    assert pieces.state_hash() == whole.state_hash()


def test_sleepers_are_bounded_in_price_by_what_is_awake() -> None:
    """No rows, no contacts, no pairs, whatever number sleeps."""
    bodies = [body for k in range(30) for body in tower(3, x=float(k))]
    thrown = ball("thrown", [0, 20.0, 0.1], linear_velocity=[0.5, 0, 0])
    sim = scene([ground(), *bodies, thrown])
    sim.advance(80)
    assert sim.asleep().sum() == 90
    assert sim.collision.sweep.pair_count[0] == 1
    assert sim.solver_report()["contacts"] == 1
    assert int(sim.state.resting.count[0]) == 30 * 12


def test_to_fall_asleep_and_to_wake_is_no_event() -> None:
    sim = scene([ground(), *tower(2)])
    sim.watch_events()
    sim.advance(100)
    assert sim.asleep()[1:].all()
    began = sim.events()
    assert len(began) == 2
    sim.set_gravity([0, 0, -9.81])
    sim.advance(5)
    assert not sim.asleep().any()
    assert len(sim.events()) == 0
    # what leaves while it is awake is told
    sim.set_velocity("box-0-1", [0, 0, 2.0], [0, 0, 0])
    sim.advance(5)
    assert len(sim.events()) == 1


def test_what_nothing_holds_does_not_sleep() -> None:
    """A slow body in flight was stopped, and its momentum was booked as the ground's."""
    drifting = ball("drifting", [0, 0, 0], linear_velocity=[SLOW, 0, 0])
    sim = scene([drifting], gravity=[0, 0, 0])
    sim.advance(600)
    assert not sim.asleep().any()
    assert sim.poses()[0, 0] == pytest.approx(600 * DT * SLOW, rel=1e-12)


def test_a_belt_lets_nobody_sleep() -> None:
    """A parcel goes along with it, however slow."""
    floor = ground()
    floor["shapes"][0]["material"] = "belt"
    belt = {"friction": 0.5, "surface_velocity": [SLOW, 0, 0]}
    sim = scene([floor, *tower(2)], materials={"belt": belt})
    start = sim.poses()[1, 0]
    sim.advance(600)
    assert not sim.asleep().any()
    assert sim.poses()[1, 0] - start == pytest.approx(600 * DT * SLOW, rel=0.05)
