"""`formulation: auto`: joint coordinates where they are supported and likely faster."""

from __future__ import annotations

from typing import Any

import pytest

from cardan.engine import SceneError, Simulation, run
from cardan.engine.build.rewrite import pairs_of, same_structure
from cardan.engine.build.scene import build
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document, example_names

Document = dict[str, Any]

BALL: Document = {"inertia": [1e-4, 1e-4, 1e-4]}


def robots(
    n: int, *, links: int = 3, loose: int = 0, looped: bool = False, **options: Any
) -> Document:
    """n arms of hinges on the world, and balls that hang on nothing."""
    bodies: list[Document] = []
    joints: list[Document] = []
    for i in range(n):
        parent = "world"
        for k in range(links):
            name = f"arm{i}.{k}"
            at = [float(i), 0.0, 2.0 - 0.3 * k]
            bodies.append({"name": name, "position": [at[0], 0.15, at[2]], "mass": 0.1, **BALL})
            hinge = {"name": f"pin{i}.{k}", "type": "hinge", "axis": [0, 1, 0], "anchor": at}
            joints.append({**hinge, "parent": parent, "child": name})
            parent = name
        if looped:
            end = {"name": f"end{i}", "type": "ball", "parent": "world", "child": parent}
            joints.append({**end, "anchor": [float(i), 0.15, 2.0 - 0.3 * links]})
    for k in range(loose):
        bodies.append({"name": f"ball{k}", "position": [0.1 * k, 3.0, 5.0], "mass": 0.1, **BALL})
    simulation = {"dt": 0.001, "duration": 0.05, "formulation": "auto", **options}
    return {"version": 1, "bodies": bodies, "joints": joints, "simulation": simulation}


def afloat(document: Document) -> Document:
    """The same with arms that nothing holds."""
    held = [joint for joint in document["joints"] if joint["parent"] != "world"]
    return {**document, "joints": held}


def chosen(document: Document) -> str:
    return Simulation(load_scene(document)).formulation


@pytest.mark.parametrize(
    ("document", "formulation"),
    [
        (robots(1), "reduced"),
        (robots(2, loose=16), "reduced"),
        (robots(2, loose=17), "maximal"),
        (afloat(robots(2, loose=4)), "reduced"),
        (afloat(robots(2, loose=5)), "maximal"),
        (robots(8, links=8), "reduced"),
        (robots(8, links=9), "maximal"),
        (robots(1, looped=True), "maximal"),
        (robots(0, loose=3), "maximal"),
        (robots(1, stabilisation="projection"), "maximal"),
        (robots(1, gyroscopic="explicit"), "maximal"),
        (robots(1, sleeping={"enabled": True}), "maximal"),
        (robots(1, solver={"method": "small_steps"}), "maximal"),
        (robots(1, integrator="rk4"), "reduced"),
        (robots(1, integrator="dop853"), "reduced"),
    ],
)
def test_the_formulation_that_suits(document: Document, formulation: str) -> None:
    simulation = Simulation(load_scene(document))
    assert simulation.formulation == formulation
    assert simulation.summary()["solver"]["formulation"] == formulation


FORMULATIONS = ("maximal", "reduced", "auto")


@pytest.mark.parametrize("name", [*example_names(), *FORMULATIONS])
def test_a_scene_whose_defaults_are_filled_in_is_the_same(name: str) -> None:
    """Sessions keep it so, and answer with it: what it means must not depend on what is named."""
    robot = robots(1, formulation=name) if name in FORMULATIONS else None
    scene = load_scene(robot or example_document(name))
    one, other = build(scene), build(load_scene(scene.model_dump_json()))
    assert one.options == other.options
    assert same_structure(one, other)
    pairs = [*pairs_of(one.model, other.model), *pairs_of(one.state, other.state)]
    assert all(a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.mark.parametrize("n", [1, 8])
def test_it_is_that_formulation_to_the_bit(n: int) -> None:
    document = robots(n, links=9)
    auto = Simulation(load_scene(document))
    named = robots(n, links=9, formulation=auto.formulation)
    other = Simulation(load_scene(named))
    for simulation in (auto, other):
        simulation.advance(50)
    assert auto.state_hash() == other.state_hash()


def test_a_variant_that_needs_the_other_one_is_built_anew() -> None:
    simulation = Simulation(load_scene(robots(2, loose=4)))
    assert not simulation.restart(load_scene(robots(2, loose=4, gyroscopic="off")))
    assert simulation.formulation == "reduced"


def test_what_neither_formulation_has_is_refused() -> None:
    options: Document = {"integrator": "rk4", "sleeping": {"enabled": True}}
    with pytest.raises(SceneError) as refused:
        Simulation(load_scene(robots(1, **options)))
    assert {fault.pointer for fault in refused.value.errors} == {"/simulation/sleeping/enabled"}


def test_a_tolerance_leaves_the_choice_open_too() -> None:
    options: Document = {"accuracy": {"position": 1e-4}, "dt": 0.01}
    _, summary = run(load_scene(robots(1, **options)))
    found = summary["accuracy"]
    assert (found["formulation"], found["reached"]) == ("reduced", True)
