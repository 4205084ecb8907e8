"""Small smooth runs are done once more with other steps; their verdicts say what that showed."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from benchmarks.trust import blows, smooth
from benchmarks.trust.case import looked, off_by
from cardan import load_scene
from cardan.engine import Simulation
from cardan.engine.outputs.account import Account
from cardan.engine.verdict import Names, doubling
from cardan.engine.verdict.estimates import is_abrupt
from tests.engine.scenes import Document, brick, document, ground

BOX = {"type": "box", "size": [0.1, 0.1, 0.1]}


def sleeping_top(spin: float, dt: float) -> dict[str, Any]:
    """A top let go 0.03 rad off the vertical; 108 rad/s hold it there."""
    lean = 0.03
    up = [math.sin(lean), 0.0, math.cos(lean)]
    top = {
        "name": "top",
        "mass": 0.5,
        "inertia": [0.0005, 0.0005, 0.0008],
        "position": [0.1 * x for x in up],
        "orientation": [math.cos(0.5 * lean), 0.0, math.sin(0.5 * lean), 0.0],
        "angular_velocity": [spin * x for x in up],
    }
    ball = {"name": "tip", "type": "ball", "parent": "world", "child": "top", "anchor": [0, 0, 0]}
    return {
        "bodies": [top],
        "joints": [ball],
        "gravity": [0, 0, -9.81],
        "simulation": {"dt": dt, "duration": 2.0, "formulation": "reduced"},
    }


def servo(dt: float) -> dict[str, Any]:
    """An arm whose drive oscillates at 20 rad/s, hardly damped."""
    arm = {"name": "arm", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    drive = {"type": "position", "target": 1.0, "stiffness": 400.0, "damping": 4.0}
    hinge = {
        "name": "shoulder",
        "type": "hinge",
        "parent": "world",
        "child": "arm",
        "anchor": [0, 0, 0],
        "axis": [0, 0, 1],
        "motor": drive,
    }
    return {
        "bodies": [arm],
        "joints": [hinge],
        "gravity": [0, 0, 0],
        "simulation": {"dt": dt, "duration": 2.0},
    }


def cart_on_casters(duration: float) -> Document:
    """Two driven wheels and two casters on a plane: which of the four carry is open to rigid
    bodies, and the way depends on it."""
    floor = ground(material="ground")
    casters = [
        {"type": "sphere", "radius": 0.03, "position": [x, 0, -0.09], "material": "ice"}
        for x in (0.2, -0.2)
    ]
    cart: Document = {"name": "cart", "mass": 4.0, "position": [0, 0, 0.12], "shapes": casters}
    bodies, joints = [floor, cart | {"inertia": [0.05, 0.05, 0.1]}], []
    tyre = {"type": "sphere", "radius": 0.1, "material": "tyre"}
    for name, y, rate in (("left", 0.2, 6.0), ("right", -0.2, 10.0)):
        place = {"position": [0, y, 0.1], "shapes": [tyre]}
        bodies.append({"name": name, "mass": 0.5} | place)
        axle = {"name": f"axle-{name}", "type": "hinge", "parent": "cart", "child": name}
        drive = {"motor": {"type": "velocity", "target": rate}}
        joints.append(axle | {"anchor": place["position"], "axis": [0, 1, 0]} | drive)
    simulation = {"dt": 1e-3, "duration": duration, "formulation": "reduced"}
    scene = document(bodies, joints, simulation=simulation, gravity=[0, 0, -9.81])
    scene["materials"] = {
        name: {"friction": mu} for name, mu in (("ground", 1.0), ("tyre", 1.0), ("ice", 0.0))
    }
    scene["material_pairs"] = [{"materials": ["ground", "ice"], "friction": 0.0}]
    return scene


def run(document: dict[str, Any]) -> Simulation:
    """A scene at its end."""
    simulation = Simulation(load_scene(document))
    simulation.advance(simulation.total_steps)
    return simulation


def quantities(found: list[dict[str, Any]]) -> list[str]:
    """Names of findings."""
    return [str(one["quantity"]) for one in found]


def test_motion_that_parts_from_its_neighbours_is_found() -> None:
    """What errors of single steps add up to is small, and the top falls another way."""
    careless, careful = run(sleeping_top(105.0, 1e-3)), run(sleeping_top(105.0, 1e-5 * 3))
    assert Account.findings(careless) == []
    found = careless.findings()
    assert quantities(found) == ["step_error"]
    assert found[0]["body"] == "top"
    assert careless.summary()["verdict"]["status"] == "suspect"
    top = careful.poses()[0, :3]
    assert np.linalg.norm(careless.poses()[0, :3] - top) > 0.05 * 0.1


@pytest.mark.parametrize(("error", "left"), [(0.02, []), (0.05, ["step_error"])])
def test_what_is_estimated_is_withdrawn_where_errors_are_small(
    error: float, left: list[str]
) -> None:
    """An estimate stands between what withdraws it and what takes its place."""
    one = run(servo(0.02))
    estimates = Account.findings(one)
    assert quantities(estimates) == ["step_error"]
    shares = one._shares()
    names = Names(one.body_names, one.joint_names)
    errors = np.zeros(len(shares.bodies()))
    errors[-1] = error
    assert quantities(doubling.with_measured(estimates, errors, shares, names)) == left


def test_a_run_that_was_pushed_is_judged_by_estimates() -> None:
    """The scene alone does not say what it did."""
    pushed = Simulation(load_scene(servo(0.02)))
    pushed.advance(50)
    pushed.set_motor("shoulder", 1.0)
    pushed.advance(pushed.total_steps - 50)
    assert pushed.findings() == Account.findings(pushed) != []


def test_a_run_is_judged_at_its_end() -> None:
    """Before it the moments to compare are not all there."""
    one = Simulation(load_scene(servo(0.02)))
    one.advance(one.total_steps - 1)
    assert one.findings() == Account.findings(one) != []


@pytest.mark.parametrize(
    "document", [sleeping_top(105.0, 1e-3), servo(0.02), cart_on_casters(20.0)]
)
def test_a_run_that_goes_on_from_a_snapshot_is_judged_as_one_that_was_not_stopped(
    document: dict[str, Any],
) -> None:
    whole, stopped = run(document), Simulation(load_scene(document))
    stopped.advance(37)
    resumed = Simulation(load_scene(document))
    resumed.restore(stopped.snapshot())
    resumed.advance(resumed.total_steps - 37)
    assert resumed.findings() == whole.findings() != []
    assert resumed.summary()["verdict"] == whole.summary()["verdict"]


def test_a_snapshot_of_a_run_that_was_pushed_is_judged_by_estimates() -> None:
    """It is no more the run of its scene; one of before is."""
    pushed, resumed = (Simulation(load_scene(servo(0.02))) for _ in range(2))
    pushed.advance(50)
    pushed.apply_impulse("arm", [0.0, 0.1, 0.0], [1.0, 0.0, 0.0])
    pushed.advance(1)
    resumed.restore(pushed.snapshot())
    resumed.advance(resumed.total_steps - 51)
    assert resumed.findings() == Account.findings(resumed) != []


def test_a_run_that_was_reset_is_judged_every_time_alike() -> None:
    one = run(sleeping_top(105.0, 1e-3))
    found = [one.findings()]
    for _ in range(2):
        one.reset()
        one.advance(one.total_steps)
        found.append(one.findings())
    assert found[0] == found[1] == found[2] != Account.findings(one)


def test_looking_changes_no_bit() -> None:
    """Steps end at the moments that are compared; the state is that of steps in one call."""
    seen = run(sleeping_top(114.0, 2e-3))
    plain = Simulation(load_scene(sleeping_top(114.0, 2e-3)))
    plain.leave_scene()
    plain.advance(plain.total_steps)
    seen.findings()
    assert seen.state_hash() == plain.state_hash()


def tossed(dt: float, **material: float) -> dict[str, Any]:
    """A spinning capsule falls on a floor."""
    capsule = {
        "name": "capsule",
        "mass": 1.331,
        "position": [0, 0, 0.3],
        "angular_velocity": [1.84, 4.48, -4.48],
        "shapes": [{"type": "capsule", "radius": 0.0778, "length": 0.1478, "material": "m"}],
    }
    plane = {"type": "plane", "normal": [0, 0, 1], "material": "m"}
    return {
        "bodies": [{"name": "floor", "type": "static", "shapes": [plane]}, capsule],
        "materials": {"m": {"friction": 0.7} | material},
        "gravity": [0, 0, -9.81],
        "simulation": {"dt": dt, "duration": 1.2},
    }


def test_what_tumbles_is_found() -> None:
    """Estimates see the energy of its bounces; where it ends up is measured."""
    soft = {"compliance": 1.33e-4, "damping": 3.85}
    careless, careful = (run(tossed(dt, **soft)) for dt in (1.1e-3, 1.1e-3 / 16))
    assert Account.findings(careless) == []
    found = careless.findings()
    assert quantities(found) == ["step_error"]
    assert found[0]["body"] == "capsule"
    a, b = (one.poses()[1] for one in (careless, careful))
    assert 2.0 * math.acos(min(abs(float(a[3:] @ b[3:])), 1.0)) > 0.05 * math.pi
    assert run(tossed(1e-4, **soft)).findings() == []


def dropped(seed: int, dt: float) -> Document:
    """A box that is thrown on a floor."""
    dice = np.random.default_rng(seed)
    floor = {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
    box: Document = {"name": "box", "mass": 1.0, "position": [0, 0, 0.5]}
    box["shapes"] = [{"type": "box", "size": [0.1, 0.2, 0.3]}]
    q = dice.normal(size=4)
    box["orientation"] = (q / np.linalg.norm(q)).tolist()
    box["linear_velocity"] = dice.uniform(-2.0, 2.0, 3).tolist()
    box["angular_velocity"] = dice.uniform(-5.0, 5.0, 3).tolist()
    simulation = {"dt": dt, "duration": 0.8}
    return document([floor, box], gravity=[0, 0, -9.81], simulation=simulation)


def advised(found: list[dict[str, Any]]) -> list[float]:
    """Steps [s] that the findings of a step's error name."""
    words = [one["change"] for one in found if one["quantity"] == "step_error"]
    return [float(match[1]) for word in words if (match := re.search(r"at most (\S+) s", word))]


def test_a_step_that_is_advised_where_bodies_touch_mostly_leaves_no_finding() -> None:
    """Of 14 thrown boxes 2; twice the step, from estimates where there are some, left 5 of 15."""
    steps = {seed: advised(run(dropped(seed, 8e-3)).findings()) for seed in range(30)}
    left = [
        seed
        for seed, step in steps.items()
        for dt in step
        if "step_error" in quantities(run(dropped(seed, dt)).findings())
    ]
    assert sum(map(len, steps.values())) > 10
    assert len(left) <= 3


def measured_at(value: float, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings of a box on a floor whose half step is off by so much, and which had these."""
    one = run(dropped(0, 8e-3))
    shares = one._shares()
    errors = np.full(len(shares.bodies()), value)
    return doubling.with_measured(found, errors, shares, Names(one.body_names, one.joint_names))


def test_where_bodies_touch_the_larger_of_estimate_and_difference_counts() -> None:
    found = [{"quantity": "step_error", "value": 0.4}, {"quantity": "turn_per_step", "value": 1.0}]
    assert measured_at(0.3, found) == found
    kept, measured = measured_at(0.5, found)
    assert kept is found[1]
    assert measured["value"] == 0.5
    assert advised([measured]) == [pytest.approx(8e-3 * 0.4 * 0.06 / 0.5, rel=0.05)]


def test_no_step_is_advised_where_half_of_it_is_another_motion() -> None:
    (found,) = measured_at(2.1, [])
    assert advised([found]) == []
    assert "does not tell" in found["change"]


def poured(dt: float) -> Document:
    """Twenty boxes, four by five, let go askew above a floor."""
    rng = np.random.default_rng(5)
    shape = {"type": "box", "size": [0.1, 0.15, 0.2]}
    floor = {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
    boxes: list[Document] = []
    for k in range(20):
        q = rng.normal(size=4)
        box: Document = {"name": f"b{k}", "mass": 1.0, "shapes": [shape]}
        box |= {"position": [0.25 * (k % 5), 0.25 * (k // 5), 0.3]}
        box |= {"orientation": (q / np.linalg.norm(q)).tolist(), "linear_velocity": [0.5, 0, 0]}
        boxes.append(box)
    simulation = {"dt": dt, "duration": 0.4}
    return document([floor, *boxes], gravity=[0, 0, -9.81], simulation=simulation)


def test_of_many_bodies_that_touch_the_worst_is_found() -> None:
    """Twenty boxes: one of them turns over its corner elsewhere with a sixteenth of the step."""
    careless, careful = (run(poured(dt)) for dt in (1e-3, 1e-3 / 16))
    assert Account.findings(careless) == []
    assert quantities(careless.findings()) == ["step_error"]
    a, b = (one.poses()[1:, 3:] for one in (careless, careful))
    apart = 2.0 * np.arccos(np.minimum(np.abs((a * b).sum(axis=1)), 1.0))
    assert apart.max() > 0.1


def test_what_tumbles_under_substeps_is_found() -> None:
    scene = tossed(1 / 240, restitution=0.8)
    scene["simulation"]["solver"] = {"method": "small_steps"}
    careful = {"simulation": scene["simulation"] | {"dt": 1 / 240 / 16}}
    one, other = run(scene), run(scene | careful)
    a, b = one.poses()[1], other.poses()[1]
    assert 2.0 * math.acos(min(abs(float(a[3:] @ b[3:])), 1.0)) > 0.05 * math.pi
    assert Account.findings(one) == []
    assert quantities(one.findings()) == ["step_error"]


def test_a_rope_that_becomes_taut_beside_exact_impacts_is_found() -> None:
    """Impacts of bodies alone are exact."""

    def thrown(dt: float) -> Simulation:
        weight: Document = {"name": "weight", "mass": 4.0, "inertia": [0.004] * 3}
        weight |= {"position": [0.28, 0, -0.16], "linear_velocity": [2.5, 0.5, 3.5]}
        rope: Document = {"name": "rope", "type": "distance", "parent": "world", "child": "weight"}
        rope |= {"anchor": [0, 0, 0], "anchor2": [0.28, 0, -0.16], "limits": {"upper": 0.38}}
        simulation = {"dt": dt, "duration": 1.4, "contact": {"impact_time": "exact"}}
        return run(document([weight], [rope], gravity=[0, 0, -9.81], simulation=simulation))

    careless, careful = thrown(0.01), thrown(0.01 / 64)
    off = np.linalg.norm(careless.poses()[0, :3] - careful.poses()[0, :3])
    assert off > 0.05
    assert Account.findings(careless) == []
    assert quantities(careless.findings()) == ["step_error"]


def test_what_lies_under_substeps_is_trusted() -> None:
    """It sinks into soft rows, by another way with each step."""
    box = {"name": "box", "mass": 1.0, "position": [0, 0, 0.052], "shapes": [BOX]}
    floor = {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
    simulation = {"dt": 0.01, "duration": 1.0, "solver": {"method": "small_steps"}}
    settled = run(document([floor, box], simulation=simulation))
    assert settled.findings() == []
    assert settled._measured is not None


def test_what_touches_is_not_cleared() -> None:
    """It may come to the same rest on different ways."""
    one = run(tossed(1.1e-3))
    shares = one._shares()
    names = Names(one.body_names, one.joint_names)
    found = Account.findings(run(servo(0.02)))
    nothing = np.zeros(len(shares.bodies()))
    assert doubling.with_measured(found, nothing, shares, names) == found != []


def test_of_long_runs_the_beginning_is_done_again() -> None:
    """Sooner where bodies touch."""
    top, falling = (
        Simulation(load_scene(one)) for one in (sleeping_top(114.0, 2e-3), tossed(1e-3))
    )
    for one, most in ((top, doubling.MOST_WORK), (falling, doubling.MOST_WORK_TOUCHING)):
        of_run = one.model, one.options
        assert doubling.repeated_steps(*of_run, most) == most
        assert doubling.repeated_steps(*of_run, most + 1) == most - most % 8
        assert doubling.repeated_steps(*of_run, 1) == 0


def test_a_long_run_whose_beginning_depends_on_the_step_is_not_trusted() -> None:
    """Metres apart with half the step, and no step shows it."""
    scene = cart_on_casters(20.0)
    one, other = run(scene), run(scene | {"simulation": scene["simulation"] | {"dt": 5e-4}})
    assert float(np.linalg.norm(one.poses()[1, :3] - other.poses()[1, :3])) > 1.0
    assert Account.findings(one) == []
    (found,) = one.findings()
    # the cart or one of its wheels, which go with it
    assert (found["quantity"], found["body"]) in [("step_error", name) for name in one.body_names]


def test_runs_of_a_few_steps_are_done_again() -> None:
    """An impulse at 0.301 s acts at the end of its step of 0.1 s: a seventh of the way is lost."""
    late = {"op": "apply_impulse", "body": "b", "impulse": [1.0, 0.0, 0.0]}
    trigger = {"name": "late", "when": {"type": "time", "at": 0.301}, "do": [late]}
    body: Document = {"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    scene = document([body], gravity=[0, 0, 0], simulation={"dt": 0.1, "duration": 1.0})
    one = run(scene | {"triggers": [trigger]})
    assert one.poses()[0, 0] == pytest.approx(0.6)
    assert quantities(one.findings()) == ["step_error"]
    scene["simulation"] = {"dt": 0.1, "duration": 1.0}
    body["linear_velocity"] = [1.0, 0.0, 0.0]
    assert run(scene).findings() == []


def test_a_long_run_with_an_estimate_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its beginning could not withdraw what is estimated of all of it."""
    short = run(servo(0.02))
    assert short.findings() != []
    assert short._measured is not None
    monkeypatch.setattr(doubling, "MOST_WORK", short.total_steps // 2)
    long = run(servo(0.02))
    assert long.findings() == Account.findings(long) != []
    assert long._measured is None


@pytest.mark.parametrize("order", [1.0, 2.0])
@pytest.mark.parametrize("factor", doubling.COARSER)
def test_errors_are_extrapolated_by_their_order(order: float, factor: int) -> None:
    """Of C h^p with p = 1 and p = 2 the error of the run itself is C."""
    coarse = np.array([factor**order - 1.0, 0.0])
    fine = np.array([1.0 - 0.5**order, 0.0])
    assert doubling.measured_errors(coarse, fine, factor) == pytest.approx([1.0, 0.0])


def test_what_is_measured_of_few_steps_is_the_error_of_a_pendulum() -> None:
    """153 steps: looks at multiples of eight alone miss the moment when it is off most."""
    case = next(iter(smooth.pendulums([(0.29, 2.3, 0.036, 5.5)])))
    one, times, values = looked(case.document, case)
    assert case.truth is not None
    true = np.array([case.truth(t) for t in times])
    assert Account.findings(one) == []
    (found,) = one.findings()
    assert found["quantity"] == "step_error"
    # of the reach, which is half the way
    assert found["value"] == pytest.approx(2.0 * off_by(case, times, values, true), rel=0.1)


def test_impacts_at_stops_are_of_first_order_whatever_two_differences_say() -> None:
    """A pendulum that is off by 6 %: their ratio is 5.8, of second order 7, of first 2."""
    _, case = blows.stopped([(1.4, 0.990895269391374, 0.0084)] * 2)
    one, times, values = looked(case.document, case)
    assert case.truth is not None
    true = np.array([case.truth(t) for t in times])
    assert off_by(case, times, values, true) > 0.05
    assert quantities(one.findings()) == ["step_error"]


@pytest.mark.parametrize(
    "part",
    [
        {"limits": {"upper": 1.0}},
        {"limits": {"upper": 1.0, "stiffness": 100.0}},
        {"friction": 0.1},
        {"motor": {"type": "velocity", "target": 1.0, "max_force": 1.0}},
    ],
)
def test_stops_friction_and_bounded_motors_are_abrupt(part: Document) -> None:
    """A spring and a motor without a bound are not."""
    joint: Document = {"name": "j", "type": "hinge", "parent": "world", "child": "b"}
    joint |= {"anchor": [0, 0, 0], "axis": [0, 1, 0], "damping": 0.1, "spring": {"stiffness": 1.0}}
    for more, abrupt in ((part, True), ({"motor": {"type": "velocity", "target": 1.0}}, False)):
        scene = document([brick("b", position=[0.5, 0, 0])], [joint | more])
        assert is_abrupt(Simulation(load_scene(scene)).model) is abrupt


def links_with_stop_and_friction(dt: float) -> Document:
    """Two links that fall on a stop; the second one hangs on a hinge with friction."""
    shape = {"type": "box", "size": [0.5, 0.05, 0.05]}
    bodies: list[Document] = [
        {"name": name, "mass": 1.0, "position": [x, 0, 0], "shapes": [shape]}
        for name, x in (("upper", 0.25), ("lower", 0.75))
    ]
    hinge: Document = {"type": "hinge", "axis": [0, 1, 0], "child": "upper", "parent": "world"}
    stop = {"lower": -0.5, "upper": 0.8, "restitution": 0.3}
    joints = [
        hinge | {"name": "shoulder", "anchor": [0, 0, 0], "limits": stop},
        hinge | {"name": "elbow", "anchor": [0.5, 0, 0], "friction": 0.1}
        | {"parent": "upper", "child": "lower"},
    ]  # fmt: skip
    simulation = {"dt": dt, "duration": 2.0, "collisions": False}
    return document(bodies, joints, simulation=simulation)


def test_what_stops_and_friction_change_is_compared_by_the_first_order() -> None:
    """Links that are off by 7 % of their way, which is two reaches: a run with twice the step is
    off by as much again, and by the second order that would be little."""
    one, fine = (run(links_with_stop_and_friction(dt)) for dt in (2e-3, 2e-3 / 32))
    shares, lower = one._shares(), one.body_names.index("lower")
    pairs = [doubling.moment(s.state) for s in (one, fine)]
    assert shares.of(pairs[:1], pairs[1:])[lower] > 0.05
    assert Account.findings(one) == []
    (found,) = one.findings()
    assert found["quantity"] == "step_error"
    assert run(links_with_stop_and_friction(5e-4)).findings() == []


@pytest.mark.parametrize(("friction", "order"), [(0.0, 2.0), (0.5, 1.0)])
def test_a_step_is_advised_by_the_order_of_the_errors(friction: float, order: float) -> None:
    """Of the first where a hinge has friction, of the second where an arm only swings."""
    scene = servo(0.09)
    scene["joints"][0]["friction"] = friction
    one = run(scene)
    (found,) = [f for f in Account.findings(one) if f["quantity"] == "step_error"]
    step = 0.09 * 0.8 * (found["limit"] / found["value"]) ** (1.0 / order)
    assert f"at most {step:.2g} s" in found["change"]


def test_balls_that_an_impact_goes_through_do_not_count_by_what_they_hardly_move() -> None:
    """A cradle of five balls on hinges: the three in the middle swing by 0.2 mm."""
    bodies: list[Document] = []
    joints: list[Document] = []
    for k in range(5):
        ball = {"type": "sphere", "radius": 0.1, "material": "m"}
        bodies.append(
            {"name": f"b{k}", "mass": 1.0, "position": [0.2 * k, 0, -1], "shapes": [ball]}
        )
        joints.append({"name": f"j{k}", "type": "hinge", "parent": "world", "child": f"b{k}"})
        joints[k] |= {"anchor": [0.2 * k, 0, 0], "axis": [0, 1, 0]}
    joints[0]["initial"] = {"position": 0.5}
    one = run(
        document(
            bodies,
            joints,
            simulation={"dt": 1e-3, "duration": 1.2},
            contact={"restitution_law": "propagating"},
            materials={"m": {"restitution": 1.0, "friction": 0.0}},
        )
    )
    assert one.poses()[4, 0] > 1.1
    assert one.findings() == []


@pytest.mark.parametrize("steps", [16, 17, 31, 32, 63, 64, 1000, 1001])
def test_moments_are_ends_of_steps_of_every_other_run(steps: int) -> None:
    """Whatever the estimate; and they come early, too."""
    due = doubling.due_steps(steps)
    assert due[:2] == (0, 2)
    assert list(due) == sorted(set(due))
    assert due[-1] <= steps
    assert len(due) >= min(steps // 2, doubling.MOMENTS)
    for estimate in (0.0, 1e-3, 1.0):
        factor = doubling.coarser_step(estimate, steps)
        seen = [step for step in due if doubling.ends_with(step, factor)]
        assert all(step % factor == 0 for step in seen)
        assert len(seen) > doubling.LEAST_STEPS
        assert seen[0] == 0
        assert seen[-1] > 0.75 * steps


def test_what_is_soon_at_rest_is_seen_to_be_wrong() -> None:
    """Two radians of a drive a step: after a tenth of the run the arm stands."""
    document = servo(0.009)
    document["joints"][0]["motor"] |= {"stiffness": 250.0**2, "damping": 1.2 * 250.0}
    document["simulation"]["duration"] = 1.0
    one = run(document)
    assert quantities(Account.findings(one)) == ["step_error"]
    assert quantities(one.findings()) == ["step_error"]


@pytest.mark.parametrize("more", ["nothing", "trigger", "breaking_force", "appears"])
def test_runs_with_triggers_and_joints_that_break_are_done_again_too(more: str) -> None:
    """A servo that arrives within six steps: no estimate of a step sees how late it brakes."""
    arm: Document = {"name": "arm", "mass": 1.0, "inertia": [0.05, 0.05, 0.05]}
    motor = {"type": "position", "target": 0.056, "max_force": 19.0, "max_speed": 1.0}
    hinge: Document = {"name": "hinge", "type": "hinge", "parent": "world", "child": "arm"}
    hinge |= {"anchor": [0, 0, 0], "axis": [0, 0, 1], "motor": motor}
    other: Document = {**arm, "name": "other", "position": [1, 0, 0]}
    scene = document([arm, other], [hinge], gravity=[0, 0, 0])
    scene["simulation"] = {"dt": 0.01, "duration": 0.7}
    if more == "trigger":
        stop = {"op": "set_velocity", "body": "other", "linear": [1, 0, 0], "angular": [0, 0, 0]}
        scene["triggers"] = [{"name": "go", "when": {"type": "time", "at": 0.1}, "do": [stop]}]
    elif more == "breaking_force":
        hinge["breaking_force"] = 1e9
    elif more == "appears":
        other["appears"] = 0.1003
    one = run(scene)
    assert Account.findings(one) == []
    assert quantities(one.findings()) == ["step_error"]
    assert one.findings()[0]["body"] == "arm"


def test_bodies_that_come_and_go_where_something_happens_are_judged_by_estimates() -> None:
    """A ball that is thrown anew wherever it lands is somewhere else a step later."""
    ball: Document = {"name": "ball", "mass": 1.0, "position": [0, 0, 0.5]}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1}]
    landed = {"type": "contact", "body": "ball", "other": "ground"}
    again = [{"op": op, "body": "ball"} for op in ("vanish", "appear")]
    scene = document([ground(), ball], simulation={"dt": 1e-3, "duration": 2.0})
    scene["triggers"] = [{"name": "landed", "when": landed, "repeat": True, "do": again}]
    one = run(scene)
    assert one.findings() == Account.findings(one) == []
