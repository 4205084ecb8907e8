"""The door: what a person may ask and do."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine import SceneError, Simulation, run
from cardan.schemas import load_scene
from cardan.schemas.summary import Summary
from tests.engine.scenes import brick, document, ground, simulate


def stone(**more: object) -> Simulation:
    """A brick in the air without gravity."""
    return simulate(document([brick("stone", **more)], gravity=[0, 0, 0], simulation={"dt": 1e-3}))


def test_grab_pulls_the_point_to_its_target_and_lets_go() -> None:
    sim = stone()
    sim.grab("stone", [0.1, 0, 0])
    sim.grab_move([0.1, 0, 0.5])
    sim.advance(2000)
    held = sim.grab_state()
    assert held is not None
    assert held["point"] == pytest.approx([0.1, 0, 0.5], abs=1e-3)
    assert sim.summary()["energy"]["balance_error"] < 1e-9
    sim.release()
    assert sim.grab_state() is None


def test_grab_force_is_capped() -> None:
    sim = stone()
    sim.grab("stone", [0, 0, 0])
    sim.grab_move([1e6, 0, 0])
    sim.advance(1)
    held = sim.grab_state()
    assert held is not None
    assert held["force"] == pytest.approx([100 * 9.81 * 2.0, 0, 0], rel=1e-9)


def test_static_bodies_cannot_be_pushed() -> None:
    sim = simulate(document([ground(), brick("stone", position=[0, 0, 1])]))
    for act in (
        lambda: sim.grab("ground", [0, 0, 0]),
        lambda: sim.apply_impulse("ground", [1, 0, 0]),
        lambda: sim.apply_wrench("ground", [1, 0, 0], [0, 0, 0]),
        lambda: sim.set_velocity("ground", [1, 0, 0], [0, 0, 0]),
    ):
        with pytest.raises(ValueError, match="body"):
            act()
    with pytest.raises(ValueError, match="no body 'stoone'"):
        sim.grab("stoone", [0, 0, 0])
    with pytest.raises(ValueError, match="three finite numbers"):
        sim.apply_impulse("stone", [1, float("nan"), 0])


def test_impulse_off_centre_turns_the_body() -> None:
    sim = stone(inertia=[0.5, 0.5, 0.5])
    sim.apply_impulse("stone", [0, 1.0, 0], point=[0.2, 0, 0])
    assert sim.velocities()[0] == pytest.approx([0, 0.5, 0, 0, 0, 0.4])


def test_origin_and_centre_of_mass_are_told_apart() -> None:
    body = brick("stone", position=[1, 2, 3], center_of_mass=[0.5, 0, 0])
    body |= {"angular_velocity": [0, 0, 2.0], "linear_velocity": [0, 0, 0]}
    sim = simulate(document([body], gravity=[0, 0, 0]))
    assert sim.poses()[0, :3] == pytest.approx([1, 2, 3])
    assert sim.state.p_WB[0] == pytest.approx([1.5, 2, 3])
    assert sim.state.v_WB_W[0] == pytest.approx([0, 1.0, 0])
    assert sim.velocities()[0] == pytest.approx([0, 0, 0, 0, 0, 2.0])


def test_what_is_not_there_is_refused_by_name_all_at_once() -> None:
    scene = document(
        [ground(), brick("stone", position=[0, 0, 1])],
        simulation={
            "formulation": "reduced",
            "gyroscopic": "off",
            "orientation_update": "infinitesimal",
        },
    )
    with pytest.raises(SceneError) as caught:
        simulate(scene)
    assert [fault.pointer for fault in caught.value.errors] == [
        "/simulation/gyroscopic",
        "/simulation/orientation_update",
    ]
    assert all("Available" in (fault.hint or "") for fault in caught.value.errors)


def test_motion_that_blows_up_is_a_failure_that_names_the_body() -> None:
    force = {"times": [0.05, 0.06], "values": [[0, 0, 0], [1e40, 0, 0]]}
    push = {"type": "wrench", "body": "stone", "force": force}
    sim = simulate(
        document([brick("stone")], forces=[push], gravity=[0, 0, 0], simulation={"dt": 0.01})
    )
    done = sim.advance(2000)
    assert sim.failure is not None
    assert sim.failure.body == "stone"
    assert sim.failure.step == done < 2000
    assert "stone" in sim.summary()["reason"]
    assert sim.advance(1) == 0


def test_summary_of_a_run_keeps_its_published_form() -> None:
    scene = document([brick("stone")], simulation={"dt": 1e-3, "duration": 0.01})
    _, summary = run(load_scene(scene))
    assert Summary.model_validate(summary).steps == 10


def test_kinematic_body_moves_as_it_is_told_and_carries_what_stands_on_it() -> None:
    belt = {"name": "belt", "type": "kinematic", "linear_velocity": [0.5, 0, 0]}
    belt["shapes"] = [{"type": "box", "size": [4, 4, 0.2]}]
    box = {"name": "box", "position": [0, 0, 0.2], "mass": 1.0}
    box["shapes"] = [{"type": "box", "size": [0.2, 0.2, 0.2]}]
    sim = simulate(document([belt, box], simulation={"dt": 1e-3}))
    sim.advance(1000)
    assert sim.poses()[0, 0] == pytest.approx(0.5, abs=1e-12)
    assert sim.velocities()[1, 0] == pytest.approx(0.5, abs=1e-9)
    assert np.abs(sim.momentum()[0] - 0.5) < 1e-9
    energy = sim.energy()
    # the belt does the work of friction: half becomes kinetic, half is lost in sliding
    assert energy["work_in"] == pytest.approx(0.25, rel=1e-2)
    assert energy["dissipated_friction"] == pytest.approx(0.125, rel=2e-2)
