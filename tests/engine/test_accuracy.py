"""A run meets its tolerance with the settings that the summary names, or the verdict says not."""

import numpy as np
import pytest

from benchmarks.trust.case import solved
from cardan.engine import SceneError, Simulation, choose, preview, run
from cardan.schemas import SceneInvalid, load_scene, scene_hash
from cardan.schemas.summary import Summary
from tests.engine.scenes import Document, document, ground


def double_pendulum(**simulation):
    """Two bobs of 1 kg on arms of 1 m, released well above the horizontal."""
    bodies, joints, parent = [], [], "world"
    for k, (x, z) in enumerate([(0.6, 0.8), (1.4, 0.2)]):
        body = {"name": f"bob{k}", "position": [x, 0, z], "mass": 1.0}
        bodies.append({**body, "inertia": [0.01, 0.01, 0.01]})
        hinge = {"name": f"pin{k}", "type": "hinge", "parent": parent, "child": f"bob{k}"}
        anchor = [0, 0, 0] if k == 0 else [0.6, 0, 0.8]
        joints.append({**hinge, "anchor": anchor, "axis": [0, 1, 0]})
        parent = f"bob{k}"
    options = {"duration": 1.0, "dt": 0.01, **simulation}
    return document(bodies, joints, simulation=options, record={"every": 1})


def ball(position, **simulation):
    """A ball that bounces for 1 s, to a tolerance."""
    one = {"name": "ball", "position": [0, 0, 1.05], "mass": 1.0}
    one["shapes"] = [{"type": "sphere", "radius": 0.05, "material": "rubber"}]
    options = {"duration": 1.0, "dt": 0.005, "accuracy": {"position": position}, **simulation}
    rubber = {"rubber": {"restitution": 0.8}}
    return document([ground(material="rubber"), one], materials=rubber, simulation=options)


def places(recording, names):
    """(k, n, 3) m of a recording."""
    table = recording.tables()["bodies"]
    found = np.stack([table["px"], table["py"], table["pz"]], axis=1)
    return found.reshape(-1, names, 3)


def rates(recording, names):
    """(k, n, 3) m/s and (k, n, 4): velocities and orientations of a recording."""
    table = recording.tables()["bodies"]
    v = np.stack([table[name] for name in ("vx", "vy", "vz")], axis=1)
    q = np.stack([table[name] for name in ("qw", "qx", "qy", "qz")], axis=1)
    return v.reshape(-1, names, 3), q.reshape(-1, names, 4)


@pytest.fixture(scope="module")
def exact():
    """The double pendulum every 10 ms, by steps of 10 us in maximal coordinates."""
    scene = load_scene(double_pendulum(dt=1e-5) | {"record": {"every": 1000}})
    return run(scene)[0]


@pytest.fixture(scope="module")
def reference(exact):
    """(101, 2, 3) m."""
    return places(exact, 2)


@pytest.mark.parametrize("named", [{}, {"integrator": "semi_implicit_euler"}])
@pytest.mark.parametrize(("velocity", "angle"), [(1e-3, None), (None, 1e-4), (1e-2, 1e-3)])
def test_velocities_and_angles_are_within_their_tolerances(named, velocity, angle, exact):
    asked = {"position": 1.0, "velocity": velocity, "angle": angle}
    asked = {name: value for name, value in asked.items() if value is not None}
    recording, summary = run(load_scene(double_pendulum(accuracy=asked, **named)))
    found = Summary.model_validate(summary).accuracy
    (v, q), (true_v, true_q) = rates(recording, 2), rates(exact, 2)
    errors = {
        "velocity": np.linalg.norm(v - true_v, axis=2).max(),
        "angle": 2.0 * np.arccos(np.clip(np.abs((q * true_q).sum(axis=2)), 0.0, 1.0)).max(),
    }
    assert found is not None
    assert found.reached
    for name, error in errors.items():
        if name in asked:
            assert error < asked[name]
            assert getattr(found, f"{name}_asked") == asked[name]
            assert getattr(found, f"{name}_error") <= asked[name]
        else:
            assert getattr(found, f"{name}_error") is None


def test_of_two_formulations_the_better_one_is_named():
    asked = {"accuracy": {"position": 1e-3}, "integrator": "semi_implicit_euler"}
    choice = choose(load_scene(double_pendulum(**asked)))
    assert choice is not None
    reason = choice.found["reasons"][1]
    assert reason.startswith("Reduced coordinates: with half of dt")
    assert "in maximal ones by" in reason
    # it says how far the run that was not chosen is from the chosen one
    assert reason.endswith("m apart.")


def test_a_tolerance_of_velocities_that_is_not_met_is_reported():
    asked = {"position": 1.0, "velocity": 1e-9, "max_steps": 4000}
    _, summary = run(load_scene(ball(1.0, accuracy=asked)))
    finding = summary["verdict"]["findings"][-1]
    assert (finding["quantity"], finding["unit"]) == ("accuracy", "m/s")
    assert finding["value"] == summary["accuracy"]["velocity_error"]
    assert any("error of velocities" in text for text in summary["warnings"])


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"formulation": "maximal"},
        {"formulation": "reduced", "integrator": "semi_implicit_euler"},
        {"formulation": "reduced", "integrator": "radau"},
    ],
)
def test_a_double_pendulum_is_within_its_tolerance(named, reference):
    tolerance = 1e-4
    scene = load_scene(double_pendulum(accuracy={"position": tolerance}, **named))
    recording, summary = run(scene)
    found = Summary.model_validate(summary).accuracy
    error = np.linalg.norm(places(recording, 2) - reference, axis=2).max()
    assert error < tolerance
    assert found is not None
    assert found.reached
    assert found.position_error is not None
    assert found.position_error <= tolerance
    for option, value in named.items():
        assert getattr(found, option) == value
    if not named:
        assert (found.formulation, found.integrator) == ("reduced", "dop853")
    assert summary["verdict"]["status"] == "trusted"
    assert summary["scene_hash"] == scene_hash(scene)
    assert found.reasons


def test_a_smaller_tolerance_takes_smaller_steps():
    steps = []
    for tolerance in (1e-4, 1e-6):
        named = {"accuracy": {"position": tolerance}, "formulation": "maximal"}
        choice = choose(load_scene(double_pendulum(**named)))
        assert choice is not None
        found = choice.found
        assert found["order"] == pytest.approx(2.0, abs=0.3)
        steps.append(found["dt"])
    # of second order: a hundredth of the error for a tenth of the step
    assert 4.0 <= steps[0] / steps[1] <= 32.0


@pytest.mark.parametrize("tolerance", [1e-2, 3e-3, 1e-3, 3e-4])
def test_impacts_are_stepped_and_their_error_is_told(tolerance):
    recording, summary = run(load_scene(ball(tolerance)))
    found = summary["accuracy"]
    assert found["reached"]
    assert "contact" in found["reasons"][0]
    # free fall, and after the first impact the flight of a ball at 0.8 of its speed
    table, g, start = recording.tables()["bodies"], 9.81, 1.0
    time, fall = table["time"], np.sqrt(2.0 / g)
    flown, bounced = time < fall, (time > fall) & (time < 2.0 * fall)
    rebound = 0.8 * np.sqrt(2.0 * g * start)
    after = rebound * (time - fall) - 0.5 * g * (time - fall) ** 2
    z = table["pz"][table["body"] == "ball"] - 0.05
    t = time[table["body"] == "ball"]
    flown, bounced, after = (x[table["body"] == "ball"] for x in (flown, bounced, after))
    assert np.abs(z - (start - 0.5 * g * t**2))[flown].max() < tolerance
    assert np.abs(z - after)[bounced].max() < tolerance


@pytest.mark.parametrize(("at", "dt"), [(0.301, 0.1), (0.3337, 0.02)])
def test_triggers_are_late_by_less_than_the_tolerance(at, dt):
    """They act at the end of a step: no tolerance within one shows by how much they are late."""
    push = {"op": "apply_impulse", "body": "b", "impulse": [1, 0, 0]}
    one = {"name": "b", "mass": 1.0, "inertia": [1, 1, 1]}
    options = {"dt": dt, "duration": 1.0, "accuracy": {"position": 1e-3}}
    scene = document([one], gravity=[0, 0, 0], simulation=options)
    scene["triggers"] = [{"name": "go", "when": {"type": "time", "at": at}, "do": [push]}]
    recording, summary = run(load_scene(scene))
    found = summary["accuracy"]
    assert found["reached"]
    off = abs(places(recording, 1)[-1, 0, 0] - (1.0 - at))
    assert off <= found["position_error"] <= 1e-3


def test_impacts_that_do_not_reach_a_tolerance_say_so():
    _, summary = run(load_scene(ball(1e-9, accuracy={"position": 1e-9, "max_steps": 4000})))
    found = summary["accuracy"]
    assert not found["reached"]
    assert found["trial_steps"] <= 4000
    assert found["position_error"] > 1e-6
    assert "limit of work" in found["reasons"][-1]
    assert summary["verdict"]["status"] == "suspect"
    finding = summary["verdict"]["findings"][-1]
    assert (finding["quantity"], finding["value"]) == ("accuracy", found["position_error"])
    assert any("was asked for" in text for text in summary["warnings"])
    Summary.model_validate(summary)


def test_the_recording_keeps_the_grid_of_dt():
    recording, summary = run(load_scene(ball(3e-3) | {"record": {"every": 3}}))
    assert summary["accuracy"]["dt"] < 0.005
    assert np.diff(recording.times())[:-1] == pytest.approx(0.015)


def test_trials_stop_when_they_are_told_to():
    scene = load_scene(double_pendulum(accuracy={"position": 1e-6}))
    assert choose(scene, should_stop=lambda: True) is None
    assert run(scene, should_stop=lambda: True)[1]["status"] == "cancelled"


def test_a_simulation_that_is_advanced_by_hand_refuses_a_tolerance():
    scene = load_scene(double_pendulum(accuracy={"position": 1e-4}))
    with pytest.raises(SceneError) as caught:
        Simulation(scene)
    assert [fault.pointer for fault in caught.value.errors] == ["/simulation/accuracy"]
    assert preview(scene)["degrees_of_freedom"] == 2


def test_a_tolerance_is_not_verified_again():
    with pytest.raises(SceneInvalid) as caught:
        load_scene(double_pendulum(accuracy={"position": 1e-4}, verify=True))
    assert [fault.pointer for fault in caught.value.errors] == ["/simulation/verify"]


@pytest.mark.parametrize("named", [{}, {"integrator": "semi_implicit_euler"}])
def test_forces_of_joints_are_within_their_tolerance(named):
    """A pendulum released horizontally: the tension is 3 m g sin(angle below the horizontal)."""
    asked = {"position": 1e-2, "reaction": 0.05}
    bob = {"name": "bob", "position": [1, 0, 0], "mass": 2.0, "inertia": [1e-9] * 3}
    pin: Document = {"name": "pin", "type": "hinge", "parent": "world", "child": "bob"}
    pin |= {"anchor": [0, 0, 0], "axis": [0, 1, 0]}
    options = {"duration": 1.0, "dt": 0.01, "accuracy": asked, **named}
    record = {"every": 1, "channels": ["pose", "joints"]}
    recording, summary = run(load_scene(document([bob], [pin], simulation=options, record=record)))
    found = Summary.model_validate(summary).accuracy
    assert found is not None
    assert found.reached
    assert found.reaction_asked == 0.05
    assert found.reaction_error is not None
    assert found.reaction_error <= 0.05
    joints = recording.tables()["joints"]
    swing = solved(lambda _, y: [y[1], 9.81 * np.cos(y[0])], [0.0, 0.0], 1.0)
    angle = swing(joints["force_time"])[0]
    place = np.stack([np.cos(angle), 0.0 * angle, -np.sin(angle)], axis=1)
    force = np.stack([joints[name] for name in ("fx", "fy", "fz")], axis=1)
    true = 3.0 * 2.0 * 9.81 * place[:, 2:] * place
    # there is no force before the first step
    assert np.linalg.norm(force - true, axis=1)[1:].max() < 0.05


def heap(**simulation):
    """A tower of six boxes, the heaviest on top."""
    material = {"wood": {"friction": 0.5}}
    bodies = [ground(material="wood")]
    for k in range(6):
        box = {"type": "box", "size": [0.2, 0.2, 0.2], "material": "wood"}
        mass = 40.0 if k == 5 else 1.0
        bodies.append(
            {"name": f"b{k}", "position": [0, 0, 0.1 + 0.2 * k], "mass": mass, "shapes": [box]}
        )
    options = {"duration": 0.2, "dt": 0.005, "accuracy": {"position": 1e-3}, **simulation}
    return document(bodies, materials=material, simulation=options)


@pytest.mark.parametrize(("method", "exact"), [("jacobi", True), ("nncg", False)])
def test_a_solver_is_made_exact_where_that_matters(method, exact):
    choice = choose(load_scene(heap(solver={"method": method})))
    assert choice is not None
    chosen = choice.scene.simulation.solver
    assert (choice.found["solver"], choice.found["solver_tolerance"]) == (method, chosen.tolerance)
    (reason,) = [one for one in choice.found["reasons"] if one.startswith("Solver")]
    assert ("made exact" in reason) == exact
    assert ("as it is" in reason) != exact
    assert (chosen.max_iterations is not None) == exact


def test_a_solver_that_the_scene_tunes_is_left_alone():
    for solver in ({"method": "jacobi", "max_iterations": 3}, {"tolerance": 1e-4}):
        choice = choose(load_scene(heap(solver=solver)))
        assert choice is not None
        assert not any(one.startswith("Solver") for one in choice.found["reasons"])
        assert choice.scene.simulation.solver == load_scene(heap(solver=solver)).simulation.solver
