"""A verification finds the order and the time up to which the answer is that of finer steps."""

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation, add_verification, run, verify
from cardan.engine.verdict.verified import step_dependence
from cardan.schemas import load_scene
from cardan.schemas.summary import Verification
from tests.engine.scenes import document, ground


def swinging(angle, dt, duration, links=1, **more):
    """A chain of bobs of 1 m each, let go at an angle [rad] from the vertical."""
    bodies, joints, parent = [], [], "world"
    x, z = np.sin(angle), -np.cos(angle)
    for k in range(links):
        name = f"bob{k}"
        body = {"name": name, "position": [(k + 1) * x, 0, (k + 1) * z], "mass": 1.0}
        bodies.append({**body, "inertia": [0.01, 0.01, 0.01]})
        hinge = {"name": f"pin{k}", "type": "hinge", "parent": parent, "child": name}
        joints.append({**hinge, "anchor": [k * x, 0, k * z], "axis": [0, 1, 0]})
        parent = name
    simulation = {"dt": dt, "duration": duration, **more}
    return load_scene(document(bodies, joints, simulation=simulation))


def places(scene, refinement, times):
    """(k, n, 3) m: where bodies are at these times, with dt / refinement."""
    options = scene.simulation.model_copy(update={"dt": scene.simulation.dt / refinement})
    simulation = Simulation(scene.model_copy(update={"simulation": options}))
    found = []
    for time in times:
        simulation.advance(round(time / options.dt) - simulation.step_count)
        found.append(simulation.poses()[:, :3])
    return np.array(found)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_pendulum_is_of_second_order_and_its_error_is_estimated(formulation):
    scene = swinging(1.0, 0.005, 2.0, formulation=formulation)
    found = Verification.model_validate(verify(scene))
    assert found.order == pytest.approx(2.0, abs=0.1)
    assert found.within
    assert found.horizon == pytest.approx(2.0)
    times = np.linspace(0.1, 2.0, 20)
    error = np.linalg.norm(places(scene, 1, times) - places(scene, 64, times), axis=2).max()
    assert error == pytest.approx(found.position_error, rel=0.3)


def test_the_horizon_of_a_chaotic_pendulum_is_finite_and_holds():
    scene = swinging(2.5, 0.005, 15.0, links=2)
    found = verify(scene)
    assert not found["within"]
    assert 0.5 < found["horizon"] < 14.0
    times = np.arange(0.05, found["horizon"] + 1e-9, 0.05)
    error = np.linalg.norm(places(scene, 1, times) - places(scene, 64, times), axis=2).max()
    assert error <= found["tolerance"] * found["size"]
    last = np.linalg.norm(places(scene, 1, [15.0]) - places(scene, 64, [15.0]), axis=2).max()
    assert last > found["tolerance"] * found["size"]


def test_a_bouncing_ball_is_of_first_order():
    ball = {"name": "ball", "position": [0, 0, 1.05], "mass": 1.0}
    ball["shapes"] = [{"type": "sphere", "radius": 0.05, "material": "rubber"}]
    simulation = {"dt": 0.002, "duration": 1.5}
    floor = ground(material="rubber")
    rubber = {"rubber": {"restitution": 0.8}}
    found = verify(load_scene(document([floor, ball], materials=rubber, simulation=simulation)))
    fall = np.sqrt(2.0 / 9.81)
    assert fall < 1.5
    assert found["order"] is None or found["order"] < 1.7
    assert found["position_error"] > 0.0


def test_free_fall_needs_no_third_run():
    ball = {"name": "ball", "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    found = verify(load_scene(document([ball], simulation={"dt": 0.01, "duration": 1.0})))
    assert (found["runs"], found["order"], found["within"]) == (2, None, True)


def test_the_verdict_says_from_when_the_answer_depends_on_the_step():
    scene = swinging(2.5, 0.005, 15.0, links=2)
    simulation = Simulation(scene)
    simulation.advance(simulation.total_steps)
    summary, found = simulation.summary(), verify(scene)
    add_verification(summary, found)
    assert summary["verdict"]["status"] != "trusted"
    finding = next(
        one for one in summary["verdict"]["findings"] if one["quantity"] == "step_dependence"
    )
    assert finding["first_time"] == found["horizon"]
    assert any(f"from t = {found['horizon']:.6g} s on" in text for text in summary["warnings"])


def test_what_was_estimated_of_the_step_is_withdrawn_where_it_was_measured():
    disc = {"name": "disc", "mass": 1.0, "inertia": [0.1, 0.1, 0.2]}
    disc["angular_velocity"] = [0, 0, 500.0]
    scene = load_scene(document([disc], simulation={"dt": 0.001, "duration": 0.1}))
    simulation = Simulation(scene)
    simulation.advance(simulation.total_steps)
    summary = simulation.summary()
    add_verification(summary, verify(scene))
    assert summary["verdict"] == {"status": "trusted", "findings": []}


def test_a_verification_can_be_stopped():
    assert verify(swinging(1.0, 0.01, 1.0), should_stop=lambda: True) is None


def hanging(stiffness, dt, duration):
    """Two masses of 1 kg, 1 m apart on a spring, that are let go while it is stretched by 1 mm."""
    masses = [
        {"name": name, "position": [x, 0, 50.0], "mass": 1.0, "inertia": [0.01, 0.01, 0.01]}
        for name, x in (("left", 0.0), ("right", 1.0))
    ]
    spring: dict[str, Any] = {
        "type": "spring",
        "parent": "left",
        "child": "right",
        "anchor": [0, 0, 50.0],
    }
    spring |= {"anchor2": [1.0, 0, 50.0], "stiffness": stiffness, "rest": 0.999}
    simulation = {"dt": dt, "duration": duration}
    return load_scene(document(masses, forces=[spring], simulation=simulation))


def test_a_motion_that_is_small_beside_the_scene_is_judged_by_its_own_reach():
    # w h = 0.45: after 50 rad the vibration is a fifth of a turn late, by 1e-5 of the fall
    scene = hanging(1e4, 0.45 / np.sqrt(2e4), 50.0 / np.sqrt(2e4))
    _, summary = run(scene)
    estimated = [one["quantity"] for one in summary["verdict"]["findings"]]
    found = verify(scene)
    assert found["within"]
    w, h = np.sqrt(2e4), scene.simulation.dt
    late = 50.0 * (w * h) ** 2 / 24.0
    assert found["motion_error"] == pytest.approx(2.0 * np.sin(late / 2.0), rel=0.3)
    add_verification(summary, found)
    assert estimated == ["stretch_error"]
    (finding,) = summary["verdict"]["findings"]
    assert (finding["quantity"], finding["value"]) == ("stretch_error", found["motion_error"])
    assert found["motion_of"] == "spring"
    assert summary["verdict"]["status"] == "suspect"


def test_estimates_are_withdrawn_where_every_motion_is_right():
    scene = swinging(1.0, 0.005, 2.0)
    summary = Simulation(scene).summary()
    doubt = {**step_dependence(verify(scene)), "quantity": "step_error"}
    summary["verdict"] = {"status": "suspect", "findings": [doubt]}
    add_verification(summary, verify(scene))
    assert summary["verdict"] == {"status": "trusted", "findings": []}


def test_a_run_verifies_when_its_scene_asks_for_it():
    _, summary = run(swinging(1.0, 0.005, 0.5, verify=True))
    assert summary["verification"] == verify(swinging(1.0, 0.005, 0.5))
    stops = iter([False] * 3)
    _, summary = run(swinging(1.0, 0.005, 0.5, verify=True), should_stop=lambda: next(stops, True))
    assert summary["status"] == "cancelled"
