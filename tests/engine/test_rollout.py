"""Variants of a scene in the arrays of the first: the bits of each are those it has alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.engine import Simulation, rollout
from cardan.engine.runs.variants import Variants
from cardan.schemas import SceneInvalid, apply_overrides, load_scene
from cardan.schemas.examples import example_document, example_names

STEPS = 80


def short(name: str) -> dict[str, Any]:
    """The first steps of an example."""
    document = example_document(name)
    document["simulation"]["duration"] = STEPS * document["simulation"]["dt"]
    document["record"] = {"every": 20}
    return document


def moving(document: Mapping[str, Any]) -> int:
    """A body that moves."""
    bodies = document["bodies"]
    return next(i for i, body in enumerate(bodies) if body.get("type", "dynamic") == "dynamic")


def pointers(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Numbers of every part of a scene, and then the scene as it was."""
    i = moving(document)
    found: list[dict[str, Any]] = [
        {f"/bodies/{i}/linear_velocity": [0.3, -0.2, 0.1]},
        {f"/bodies/{i}/angular_velocity": [0.3, 5.0, -0.1]},
        {"/gravity": [0.5, -0.2, -3.0]},
        {"/simulation/dt": document["simulation"]["dt"] * 0.75},
    ]
    if "mass" in document["bodies"][i]:
        found.append({f"/bodies/{i}/mass": 2.5 * document["bodies"][i]["mass"]})
    for k, material in enumerate(document.get("materials", [])):
        if "friction" in material:
            found.append({f"/materials/{k}/friction": 0.05})
    for k, joint in enumerate(document.get("joints", [])):
        for part in ("motor", "spring"):
            for field, value in (joint.get(part) or {}).items():
                if isinstance(value, float | int) and not isinstance(value, bool):
                    found.append({f"/joints/{k}/{part}/{field}": 1.5 * value + 0.01})
    found.append({"/simulation/duration": 0.5 * document["simulation"]["duration"]})
    return [*found[:12], {}]


def alone(document: Mapping[str, Any], overrides: Mapping[str, Any]) -> Simulation:
    """A variant in arrays of its own, at its end."""
    simulation = Simulation(load_scene(apply_overrides(document, overrides)))
    simulation.advance(simulation.total_steps)
    return simulation


@pytest.mark.parametrize("name", example_names())
def test_every_variant_has_the_bits_it_has_alone(name: str) -> None:
    document = short(name)
    varied = pointers(document)
    found = rollout(document, varied, ("state_hash", "energy.final", "steps"))
    assert found.builds == 1
    for k, overrides in enumerate(varied):
        own = alone(document, overrides).summary()
        assert found.metrics["state_hash"][k] == own["state_hash"], overrides
        assert found.metrics["energy.final"][k] == own["energy"]["final"]
        assert found.metrics["steps"][k] == own["steps"]
    # a motor that never reaches its largest force changes nothing
    assert len(set(found.metrics["state_hash"])) > len(varied) // 2


def test_what_changes_the_structure_is_built_anew_and_counted() -> None:
    document = short("incline")
    document["bodies"] = document["bodies"][:2]
    more = [*document["bodies"], dict(document["bodies"][1], name="another", position=[0, 0, 9])]
    varied: list[dict[str, Any]] = [
        {},
        {"/simulation/solver": {"method": "pgs"}},
        {"/bodies": more},
        {"/gravity/2": -1.0, "/bodies": more},
        {},
    ]
    found = rollout(document, varied, ("state_hash",))
    assert found.builds == 4
    for k, overrides in enumerate(varied):
        assert found.metrics["state_hash"][k] == alone(document, overrides).state_hash()


def test_room_that_grew_changes_no_bit_of_the_next_variant() -> None:
    document = short("pile")
    varied: list[dict[str, Any]] = [{"/simulation/duration": 1.0}, {}, {"/gravity/2": -20.0}]
    found = rollout(document, varied, ("state_hash",))
    for k, overrides in enumerate(varied):
        assert found.metrics["state_hash"][k] == alone(document, overrides).state_hash()


def test_arrays_of_values_and_trajectories() -> None:
    document = short("double-pendulum")
    masses = np.array([0.5, 1.0, 2.0])
    found = cardan.rollout(
        document,
        {"/bodies/1/mass": masses, "/bodies/1/linear_velocity": np.zeros((3, 3))},
        ("energy.max_relative_drift", "verdict.status"),
        trajectories=True,
    )
    assert found.status.tolist() == ["succeeded"] * 3
    assert found.bodies == ("upper", "lower")
    assert found.trajectories is not None
    assert found.trajectories.shape == (3, 5, 2, 7)
    assert found.times is not None
    assert found.times[2] == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08])
    assert found.metrics["energy.max_relative_drift"].dtype == np.float64
    assert found.units == {"energy.max_relative_drift": "1", "verdict.status": "1"}
    for k, mass in enumerate(masses):
        own = alone(document, {"/bodies/1/mass": float(mass)})
        assert found.trajectories[k, -1].tobytes() == own.poses().tobytes()


def test_a_shorter_run_ends_in_nan() -> None:
    document = short("double-pendulum")
    ends = [STEPS * 1e-3, 0.5 * STEPS * 1e-3]
    found = rollout(document, {"/simulation/duration": ends}, (), trajectories=True)
    assert found.times is not None
    assert np.isnan(found.times).sum(axis=1).tolist() == [0, 2]


def test_faults_are_said() -> None:
    document = short("double-pendulum")
    with pytest.raises(SceneInvalid) as caught:
        rollout(document, [{}, {"/bodies/0/mass": -1.0}])
    assert caught.value.errors[0].pointer == "/bodies/0/mass"
    with pytest.raises(ValueError, match="equally long; found /gravity/2: 2, /bodies/0/mass: 1"):
        rollout(document, {"/gravity/2": [1.0, 2.0], "/bodies/0/mass": [1.0]})
    with pytest.raises(ValueError, match=r"there is no metric 'energy\.colour'"):
        rollout(document, [{}], ("energy.colour",))


def test_a_run_that_fails_at_once_reads_nothing_of_the_run_before() -> None:
    document = short("incline")
    moving = next(i for i, one in enumerate(document["bodies"]) if one.get("type") != "static")
    far = {f"/bodies/{moving}/position/0": 2e30}
    variants, found = Variants(document), []
    for overrides in ({}, far):
        simulation = variants.simulation(variants.scene(overrides))
        simulation.advance(simulation.total_steps)
        found.append(simulation)
    fresh = alone(document, far)
    assert fresh.failure is not None
    assert variants.builds == 1
    assert found[-1].state_hash() == fresh.state_hash()
    assert found[-1].solver_report()["contacts"] == fresh.solver_report()["contacts"] == 0


def test_a_failed_restart_leaves_the_simulation_usable() -> None:
    document = short("double-pendulum")
    variants = Variants(document)
    variants.simulation(variants.scene({}))
    with pytest.raises(cardan.SceneError):
        variants.simulation(variants.scene({"/simulation/integrator": "rk4"}))
    again = variants.simulation(variants.scene({}))
    again.advance(again.total_steps)
    assert again.state_hash() == alone(document, {}).state_hash()
    assert variants.builds == 1
