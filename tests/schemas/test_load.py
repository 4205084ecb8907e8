import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardan.schemas import (
    SceneInvalid,
    count_scene,
    load_scene,
    parse_json,
    scene_hash,
    scene_warnings,
)
from cardan.schemas.checks.surface import closure_of, surface_of
from cardan.schemas.examples import example_document, example_names, example_text
from tests.schemas.broken import GOOD, changed

BODY = {"name": "a", "mass": 1, "shapes": [{"type": "sphere", "radius": 1}]}


@pytest.mark.parametrize("name", example_names())
def test_every_example_is_a_scene(name):
    scene = load_scene(example_text(name))
    assert scene.name == name
    assert load_scene(example_document(name)) == scene


def test_the_examples_are_the_ones_of_the_gallery():
    assert example_names() == [
        "bicycle",
        "bouncing-balls",
        "bowling-ball",
        "box-tower",
        "cardan-joint",
        "dominoes",
        "double-pendulum",
        "gear-train",
        "heavy-top",
        "incline",
        "kapitza-pendulum",
        "newtons-cradle",
        "pendulum-wave",
        "pile",
        "planetary-gear",
        "ragdoll",
        "robot-arm",
        "rolling-race",
        "slider-crank",
        "spinning-handle",
        "stick-slip",
        "terrain",
        "throwing-arm",
        "tippe-top",
        "wheeled-cart",
    ]


def test_an_unknown_example_is_a_key_error():
    with pytest.raises(KeyError):
        example_text("../scene")


def test_the_smallest_scene_has_every_default():
    scene = load_scene({"version": 1, "bodies": [BODY]})
    simulation = scene.simulation
    assert scene.gravity == (0.0, 0.0, -9.81)
    assert (simulation.dt, simulation.duration) == (0.001, 5.0)
    assert (simulation.formulation, simulation.integrator) == ("maximal", "semi_implicit_euler")
    assert (simulation.orientation_update, simulation.gyroscopic) == ("finite", "implicit")
    assert (simulation.solver.method, simulation.solver.tolerance) == ("auto", 1e-8)
    assert simulation.solver.max_iterations is None
    assert simulation.contact.erp == 0.2
    assert simulation.contact.restitution_threshold == 0.5
    assert (scene.record.every, scene.record.rate) == (10, None)
    assert scene.bodies[0].orientation == (1.0, 0.0, 0.0, 0.0)
    assert scene.bodies[0].shapes[0].collision_mask == 0xFFFFFFFF


def test_a_scene_is_frozen():
    scene = load_scene(GOOD)
    with pytest.raises(ValueError, match="frozen"):
        scene.name = "other"  # type: ignore[misc]  # what is refused


def test_every_shape_of_the_format_is_read():
    corner = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    solid: list[dict[str, Any]] = [
        {"type": "sphere", "radius": 1},
        {"type": "box", "size": [1, 2, 3], "color": [1, 0.5, 0]},
        {"type": "capsule", "radius": 1, "length": 0},
        {"type": "cylinder", "radius": 1, "length": 2},
        {"type": "cone", "radius": 1, "length": 2},
        {"type": "ellipsoid", "radii": [1, 2, 3]},
        {"type": "tube", "inner_radius": 1, "outer_radius": 2, "length": 2},
        {"type": "ring", "major_radius": 2, "minor_radius": 1},
        {"type": "bowl", "inner_radius": 1, "outer_radius": 2},
        {"type": "convex", "points": corner, "color": "orange"},
        {"type": "mesh", "vertices": corner, "faces": faces},
    ]
    flat = [
        {"type": "plane", "normal": [0, 0, 2]},
        {"type": "heightfield", "heights": [[0, 1], [1, 0]], "size": [2, 3]},
    ]
    document = {
        "bodies": [
            *({"name": shape["type"], "density": 1, "shapes": [shape]} for shape in solid),
            {"name": "ground", "type": "static", "shapes": flat},
        ]
    }
    scene = load_scene(document)
    assert [body.shapes[0].type for body in scene.bodies[:-1]] == [s["type"] for s in solid]
    assert scene.bodies[1].shapes[0].color == "#ff8000"


def test_faces_without_area_are_left_out_with_a_warning():
    corner = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0, 0], [1e-12, 0, 0]]
    faces = [[5, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    lines = [[0, 1, 1], [0, 4, 1], [0, 5, 2]]
    for body_type in ("static", "dynamic"):
        mesh = {"type": "mesh", "vertices": corner, "faces": faces + lines}
        body = {"name": "a", "type": body_type, "density": 1, "shapes": [mesh]}
        scene = load_scene({"bodies": [body]})
        found = {w.pointer: w for w in scene_warnings(scene)}
        warning = found["/bodies/0/shapes/0/faces"]
        assert warning.code == "faces_without_area"
        assert warning.message.startswith("3 of 7 faces")


def test_a_surface_is_welded_and_tells_why_it_is_not_closed():
    corner = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    apart = [corner[k] for face in faces for k in face]
    surface = surface_of(apart, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])
    assert len(surface.vertices) == 4
    closure = closure_of(surface)
    assert closure.is_closed
    assert closure.volume == pytest.approx(1 / 6)
    assert closure_of(surface_of(corner, faces[:3])).open_edges == 3
    far = surface_of([[1e9 + x, y, z] for x, y, z in corner], faces)
    assert len(far.vertices) == 4
    assert surface_of([[1, 1, 1]] * 3, [[0, 1, 2]]).dropped == 1


def test_every_joint_and_force_of_the_format_is_read():
    ends = {"parent": "world", "child": "a"}
    at, z, x = {"anchor": [0, 0, 0]}, {"axis": [0, 0, 1]}, {"axis2": [1, 0, 0]}
    limits = {"limits": {"lower": -1, "upper": 1, "stiffness": [1, 0, 2], "damping": 1}}
    target = {"times": [0, 1], "values": [0, 1], "interpolation": "step"}
    motor = {"type": "position", "target": target, "max_force": 1, "stiffness": 1, "damping": 1}
    joints: list[dict[str, Any]] = [
        {"type": "ball", **at, **z, "limits": {"swing": 1, "twist": 0.5}},
        {"type": "hinge", **at, **z, **limits, "motor": motor},
        {"type": "slider", **z, "spring": {"stiffness": 1, "damping": 1, "rest": 0.1}},
        {"type": "hinge2", **at, **z, **x, "motor2": {"type": "velocity", "target": 1}},
        {"type": "universal", **at, **z, **x, "limits2": {"upper": 1}, "frame": "parent"},
        {"type": "fixed", "breaking_force": 10},
        {"type": "cylindrical", **at, **z, "motor2": {"type": "force", "target": 1}},
        {"type": "planar", **z, "friction": 1, "damping": 1, "erp": 0.5, "cfm": 1e-6},
        {"type": "distance", **at, "anchor2": [0, 0, 1], "collide_connected": True},
        {"type": "gear", **z, **x, "ratio": -2, "parent": "b"},
    ]
    forces: list[dict[str, Any]] = [
        {"type": "spring", **ends, **at, "anchor2": [0, 0, 1], "stiffness": 10, "rest": 0.5},
        {"type": "torsion", **ends, **z, "stiffness": [1, 2, 3], "damping": 0.1},
        {"type": "wrench", "body": "a", "force": [0, 0, 1], "axes": "body", "point": [0, 0, 1]},
        {"type": "wrench", "body": "a", "torque": {"times": [0], "values": [[0, 0, 1]]}},
        {"type": "drag", "name": "air", "body": "a", "quadratic": 0.5},
        {"type": "point_gravity", "constant": 6.674e-11, "softening": 1e-3},
    ]
    named = [{"name": joint["type"], **ends, **joint} for joint in joints]
    scene = load_scene({"bodies": [BODY, {**BODY, "name": "b"}], "joints": named, "forces": forces})
    assert [joint.type for joint in scene.joints] == [joint["type"] for joint in joints]
    assert [force.type for force in scene.forces] == [force["type"] for force in forces]


def test_a_nearly_unit_quaternion_is_normalised_once_and_for_all():
    scene = load_scene(changed("/bodies/0/orientation", [0.7071, 0.7071, 0, 0]))
    assert sum(value**2 for value in scene.bodies[0].orientation) == pytest.approx(1, abs=1e-15)
    again = load_scene(scene.model_dump(mode="json", exclude_defaults=True))
    assert again.bodies[0].orientation == scene.bodies[0].orientation


def test_an_anchor_in_the_parent_frame_is_measured_there():
    base = {**BODY, "name": "base", "position": [1000, 0, 0], "type": "static"}
    part = {**BODY, "name": "part", "position": [1001, 0, 0]}
    joint = {"name": "j", "type": "ball", "parent": "base", "child": "part", "frame": "parent"}
    document: dict[str, Any] = {
        "bodies": [base, part],
        "joints": [{**joint, "anchor": [0, 0, 1e6]}],
    }
    with pytest.raises(SceneInvalid, match="anchor is 1e"):
        load_scene(document)
    document["joints"][0]["anchor"] = [0.5, 0, 0]
    assert load_scene(document).joints[0].frame == "parent"


def test_a_scene_written_out_is_read_back_equal():
    for name in example_names():
        scene = load_scene(example_text(name))
        text = scene.model_dump_json(exclude_defaults=True)
        assert load_scene(text) == scene


def test_the_hash_is_of_the_meaning_and_not_of_the_writing():
    plain = load_scene({"bodies": [BODY]})
    spelt = load_scene('{"version": 1.0, "bodies": [' + json.dumps(BODY) + '], "joints": []}')
    other = load_scene({"bodies": [{**BODY, "mass": 2}]})
    assert scene_hash(plain) == scene_hash(spelt)
    assert scene_hash(plain) != scene_hash(other)
    assert len(scene_hash(plain)) == 64


def test_counts_are_those_of_the_recording():
    document = changed("/simulation/duration", 0.105)
    document["record"] = {"every": 10, "channels": ["pose"], "bodies": ["ball"]}
    counts = count_scene(load_scene(document))
    assert (counts.bodies, counts.shapes, counts.joints, counts.forces) == (3, 3, 1, 1)
    assert (counts.steps, counts.frames, counts.recorded_values) == (105, 12, 84)


def test_warnings_name_what_is_probably_not_meant():
    document = changed("/simulation", {"dt": 0.03, "duration": 1.0})
    document["materials"]["ice"] = {"friction": 0.01}
    document["joints"][0]["limits"] = {"lower": 0.1, "upper": 1}
    document["materials"] |= {
        "felt": {"damping": 3.0},
        "rubber": {"compliance": 1e-4, "restitution": 0.5, "damping": 3.0},
    }
    found = {(w.pointer, w.code) for w in scene_warnings(load_scene(document))}
    assert found == {
        ("/simulation/dt", "large_step"),
        ("/simulation/duration", "not_whole_steps"),
        ("/materials/steel", "unused_material"),
        ("/materials/ice", "unused_material"),
        ("/materials/felt", "unused_material"),
        ("/materials/felt/damping", "idle_damping"),
        ("/materials/rubber", "unused_material"),
        ("/materials/rubber/restitution", "idle_restitution"),
        ("/joints/0/limits", "starts_beyond_limit"),
    }


def test_a_word_that_names_no_colour_is_a_warning():
    ball = {"type": "sphere", "radius": 0.1}
    colours = ["steelblue", "stealblue", "#abc", "#a0b1c2", [0, 0.5, 1]]
    body = {"name": "b", "mass": 1, "shapes": [{**ball, "color": one} for one in colours]}
    found = scene_warnings(load_scene({"version": 1, "bodies": [body]}))
    assert [(w.pointer, w.code) for w in found] == [("/bodies/0/shapes/1/color", "unknown_color")]
    assert found[0].hint == "Did you mean 'steelblue'?"


def test_a_mesh_that_nobody_sees_is_a_warning():
    face = {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]}
    document = changed("/meshes", {"skin": face, "spare": face})
    document["bodies"][0]["visuals"] = [{"type": "mesh", "mesh": "skin"}]
    found = {(w.pointer, w.code) for w in scene_warnings(load_scene(document))}
    assert found - {("/materials/steel", "unused_material")} == {("/meshes/spare", "unused_mesh")}


def test_warnings_name_what_a_joint_cannot_use():
    end = {"parent": "world", "child": "rod"}
    document = changed("/joints/-", {**end, "name": "weld", "type": "fixed", "friction": 1.0})
    document["joints"] += [
        {**end, "name": "mesh", "type": "gear", "axis": [0, 0, 1], "damping": 0.1},
        {**end, "name": "rod", "type": "distance", "anchor": [0, 0, 1], "anchor2": [1, 0, 1],
         "damping": 0.1},
        {**end, "name": "rope", "type": "distance", "anchor": [0, 0, 1], "anchor2": [1, 0, 1],
         "damping": 0.1, "limits": {"upper": 1}},
        {**end, "name": "jack", "type": "screw", "anchor": [0, 0, 1], "axis": [0, 0, 1], "pitch": 1,
         "limits": {"upper": 1}, "motor": {"type": "velocity", "target": 1}},
    ]  # fmt: skip
    document["joints"][0]["motor"] = {"type": "position", "target": 0, "damping": 1}
    found = {(w.pointer, w.code) for w in scene_warnings(load_scene(document))}
    assert found - {("/materials/steel", "unused_material")} == {
        ("/joints/0/motor/damping", "idle_damping"),
        ("/joints/1/friction", "idle_friction"),
        ("/joints/2/damping", "idle_damping"),
        ("/joints/3/damping", "idle_damping"),
        ("/joints/5/motor/max_force", "motor_over_limit"),
    }


def test_examples_are_read_without_warnings_about_time():
    for name in example_names():
        codes = {warning.code for warning in scene_warnings(load_scene(example_text(name)))}
        assert codes <= {"unused_material"}


def calls_to_load(document):
    """Python functions that are called while a scene is read and checked."""
    text = json.dumps(document)
    count = 0

    def called(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    load_scene(text)
    sys.setprofile(called)
    try:
        load_scene(text)
    finally:
        sys.setprofile(None)
    return count


def test_the_work_to_validate_a_pile_is_a_few_calls_for_each_body():
    pile = example_document("pile")
    more = [body | {"name": f"{body['name']}-again"} for body in pile["bodies"][1:]]
    one = calls_to_load(pile)
    two = calls_to_load(pile | {"bodies": pile["bodies"] + more})
    assert one <= 30 * len(pile["bodies"])
    assert two <= 2.1 * one


def test_importing_the_schemas_reaches_for_nothing_heavy():
    code = (
        "import sys, cardan.schemas\n"
        "print([m for m in ('numba', 'fastapi', 'scipy') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


TEXTS = st.text(st.characters(codec=None), max_size=8)
FIELDS = """version name gravity simulation materials material_pairs bodies joints forces record
type mass density inertia shapes radius size points vertices faces heights position orientation
parent child anchor axis axis2 limits motor target times values dt every solver"""
KEYS = st.one_of(st.sampled_from(FIELDS.split()), TEXTS)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    TEXTS,
    st.sampled_from(["sphere", "hinge", "plane", "mesh", "convex", "wrench", "world", "a"]),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


def refuses_politely(data):
    """Whatever else `load_scene` might raise goes through and fails the test."""
    faults = []
    try:
        scene = load_scene(data)
    except SceneInvalid as error:
        faults, scene = error.errors, None
    assert (scene is None) == bool(faults)
    for fault in faults:
        fault.model_dump_json().encode("utf-8")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_any_json_is_a_scene_or_refused(value):
    refuses_politely(json.dumps(value))


SECTIONS = st.sampled_from(
    [
        "/gravity",
        "/simulation",
        "/simulation/dt",
        "/simulation/solver",
        "/materials",
        "/materials/steel",
        "/material_pairs",
        "/bodies/0",
        "/bodies/0/name",
        "/bodies/0/inertia",
        "/bodies/0/position",
        "/bodies/0/shapes",
        "/bodies/0/shapes/0",
        "/bodies/0/shapes/0/type",
        "/bodies/0/shapes/0/points",
        "/joints/0",
        "/joints/0/parent",
        "/joints/0/anchor",
        "/joints/0/axis2",
        "/joints/0/limits",
        "/joints/0/motor",
        "/forces/0",
        "/forces/0/force",
        "/record",
        "/record/bodies",
    ]
)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SECTIONS, JSON)
def test_a_good_scene_with_any_json_in_one_place_is_a_scene_or_refused(pointer, value):
    refuses_politely(json.dumps(changed(pointer, value)))


@settings(max_examples=200, deadline=None)
@given(st.text() | st.binary())
def test_any_text_is_a_scene_or_refused(text):
    refuses_politely(text)


def test_parse_json_refuses_keys_that_stand_twice():
    with pytest.raises(SceneInvalid, match="more than once"):
        parse_json('{"a": 1, "a": 2}')
    assert parse_json("\ufeff[1, 2.5, null]") == [1, 2.5, None]


@pytest.mark.parametrize("name", example_names())
def test_a_scene_written_with_its_defaults_can_be_read(name: str) -> None:
    scene = load_scene(example_document(name))
    assert load_scene(scene.model_dump_json()) == scene
