"""Broken scenes and what is to be said about each: shared by the tests of schemas, API, command."""

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Broken:
    """A scene with one fault. `finding` stands in the message."""

    name: str
    document: Any
    pointer: str
    code: str
    finding: str

    @property
    def text(self) -> str:
        """The scene as JSON text (a document that is a text already is taken as it is)."""
        if isinstance(self.document, str):
            return self.document
        return json.dumps(self.document)


BALL = {
    "name": "ball",
    "position": [0, 0, 1],
    "mass": 1.0,
    "shapes": [{"type": "sphere", "radius": 0.1}],
}
ROD = {
    "name": "rod",
    "position": [0.5, 0, 1],
    "mass": 2.0,
    "shapes": [{"type": "box", "size": [1, 0.1, 0.1]}],
}
GROUND = {
    "name": "ground",
    "type": "static",
    "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}],
}
PIVOT = {
    "name": "pivot",
    "type": "hinge",
    "parent": "world",
    "child": "rod",
    "anchor": [0, 0, 1],
    "axis": [0, 1, 0],
}
GOOD: dict[str, Any] = {
    "version": 1,
    "name": "good",
    "simulation": {"dt": 0.001, "duration": 1.0},
    "materials": {"steel": {"friction": 0.4, "restitution": 0.3}},
    "bodies": [BALL, ROD, GROUND],
    "joints": [PIVOT],
    "forces": [{"type": "drag", "body": "rod", "linear": 0.1}],
    "record": {"every": 5},
}


def changed(pointer: str, value: Any) -> dict[str, Any]:
    """The good scene with one value set (the last part may be new, or '-' to append)."""
    document = deepcopy(GOOD)
    node: Any = document
    *way, last = pointer.split("/")[1:]
    for part in way:
        node = node[int(part)] if isinstance(node, list) else node[part]
    if last == "-":
        node.append(value)
    elif isinstance(node, list):
        node[int(last)] = value
    else:
        node[last] = value
    return document


def without(pointer: str) -> dict[str, Any]:
    """The good scene with one field left out."""
    document = deepcopy(GOOD)
    node: Any = document
    *way, last = pointer.split("/")[1:]
    for part in way:
        node = node[int(part)] if isinstance(node, list) else node[part]
    del node[last]
    return document


def case(name: str, pointer: str, value: Any, code: str, finding: str, at: str = "") -> Broken:
    """A good scene with one wrong value, the fault at the same place unless `at` is given."""
    return Broken(name, changed(pointer, value), at or pointer, code, finding)


NAN = float("nan")
INF = float("inf")
SHAPE = "/bodies/0/shapes/0"
SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
CORNER = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
TETRAHEDRON = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
MOTOR = {"type": "velocity", "max_force": 1.0}
TRIGGER = {
    "name": "late",
    "when": {"type": "time", "at": 1.0},
    "do": [{"op": "gravity", "value": [0, 0, 0]}],
}


def _joint(**fields: Any) -> dict[str, Any]:
    return {**PIVOT, **fields}


def _target(times: list[float], values: list[float]) -> dict[str, Any]:
    return _joint(motor={**MOTOR, "target": {"times": times, "values": values}})


NUMBERS = [
    case("nan", "/bodies/0/mass", NAN, "not_finite", "found NaN"),
    case("infinity", "/gravity", [0, 0, INF], "not_finite", "found Infinity", "/gravity/2"),
    case("huge-integer", "/bodies/0/mass", 10**60, "out_of_range", "at most 1e+50"),
    case("endless-integer", "/bodies/0/mass", 10**400, "not_finite", "found Infinity"),
    case("huge-number", "/bodies/0/mass", 1e300, "out_of_range", "at most 1e+50"),
    case("negative-mass", "/bodies/0/mass", -1.0, "out_of_range", "found -1"),
    case("zero-mass", "/bodies/0/mass", 0, "out_of_range", "greater than 0; found 0"),
    case("text-for-number", "/bodies/0/mass", "1.0", "not_a_number", "found the text '1.0'"),
    case("boolean-for-number", "/bodies/0/mass", True, "not_a_number", "the boolean true"),
    case("null-for-number", f"{SHAPE}/radius", None, "not_a_number", "found null"),
    case("fraction-for-count", "/record/every", 2.5, "not_an_integer", "found 2.5"),
    case("zero-every", "/record/every", 0, "out_of_range", "at least 1; found 0"),
    case("number-for-boolean", "/joints/0/collide_connected", 1, "not_a_boolean", "found 1"),
    case("number-for-name", "/bodies/0/name", 7, "not_a_text", "found 7"),
    case("empty-name", "/bodies/0/name", "", "wrong_length", "not empty"),
    case("two-of-three", "/bodies/0/position", [0, 1], "wrong_length", "list of 3 numbers"),
    case("four-of-three", "/bodies/0/position", [0, 1, 2, 3], "wrong_length", "found a list of 4"),
    case("four-inertias", "/bodies/0/inertia", [1, 1, 1, 0], "wrong_length", "list of 6 numbers"),
    case("wrong-quaternion", "/bodies/0/orientation", [1, 1, 0, 0], "not_normalised", "1.41421"),
    case("zero-step", "/simulation/dt", 0.0, "out_of_range", "found 0"),
    case("huge-step", "/simulation/dt", 2.0, "out_of_range", "longer than the `duration` 1"),
    case("restitution-above-one", "/materials/steel/restitution", 1.5, "out_of_range", "found 1.5"),
    case("negative-friction", "/materials/steel/friction", -0.1, "out_of_range", "found -0.1"),
    case("boolean-version", "/version", True, "not_an_integer", "the boolean true"),
    case("wrong-version", "/version", 2, "not_allowed", "must be one of 1; found 2"),
]

WORDS = [
    case("unknown-field", "/bodies/0/masss", 1.0, "unknown_field", "Unknown field `masss`"),
    case("unknown-section", "/body", [], "unknown_field", "Unknown field `body`"),
    case("odd-field", "/bodies/0/a~b", 1.0, "unknown_field", "`a~b`", "/bodies/0/a~0b"),
    case("unknown-shape", f"{SHAPE}/type", "ball", "unknown_type", "type 'ball'; the allowed"),
    case("shape-without-type", SHAPE, {"radius": 1}, "missing", "`type` is missing; it must be one "
         "of sphere, box", f"{SHAPE}/type"),
    case("number-for-type", "/joints/0/type", 7, "not_a_text", "`type` must be one of ball, hinge"),
    case("unknown-joint-type", "/joints/0/type", "revolute", "unknown_type", "hinge"),
    case("wrong-field-of-type", f"{SHAPE}/size", [1, 1, 1], "unknown_field", "`size`"),
    case("unknown-option", "/simulation/integrator", "euler", "not_allowed", "'euler'"),
    case("unknown-channel", "/record/channels", ["poses"], "not_allowed", "pose, velocity",
         "/record/channels/0"),
    case("list-for-object", "/bodies/0", [1], "not_an_object", "found [1]"),
    case("object-for-list", "/bodies", {}, "not_a_list", "an object of 0 fields"),
    case("too-many-triggers", "/triggers", [{**TRIGGER, "name": f"late-{i}"} for i in range(101)],
         "wrong_length", "At most 100 are allowed; found a list of 101"),
    Broken("no-bodies", {"bodies": []}, "/bodies", "wrong_length", "at least 1"),
    Broken("no-bodies-field", {"version": 1}, "/bodies", "missing", "`bodies` is missing"),
    Broken("missing-radius", without(f"{SHAPE}/radius"), f"{SHAPE}/radius", "missing", "`radius`"),
    Broken("not-an-object", [], "", "not_an_object", "found []"),
    Broken("syntax", '{"bodies": [,]}', "", "syntax", "line 1, column 13"),
    Broken("comment", '{\n"bodies": [] // none\n}', "", "syntax", "line 2, column 14"),
    Broken("empty", "", "", "syntax", "line 1, column 1"),
    Broken("nested", "[" * 100_000, "", "too_deep", "nested too deeply"),
    Broken("duplicate-key", '{"bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1], '
           '"mass": 2}]}',
           "/bodies/0/mass", "duplicate_key", "'mass' stands more than once"),
]  # fmt: skip

NAMES = [
    case("duplicate-name", "/bodies/0/name", "rod", "duplicate_name", "/bodies/0/name",
         "/bodies/1/name"),
    case("world-reserved", "/bodies/0/name", "world", "reserved_name", "'world' is reserved"),
    case("unknown-body", "/joints/0/child", "rood", "unknown_body", "named 'rood'"),
    case("unknown-body-of-force", "/forces/0/body", "rood", "unknown_body", "named 'rood'"),
    case("unknown-body-of-record", "/record/bodies", ["bat"], "unknown_body", "named 'bat'",
         "/record/bodies/0"),
    case("unknown-material", f"{SHAPE}/material", "steal", "unknown_material", "named 'steal'"),
    case("unknown-material-of-pair", "/material_pairs", [{"materials": ["steel", "ice"]}],
         "unknown_material", "named 'ice'", "/material_pairs/0/materials/1"),
    case("joint-to-itself", "/joints/0/parent", "rod", "self_joint", "'rod'", "/joints/0/child"),
    case("joint-of-statics", "/joints/0/child", "ground", "nothing_moves", "'ground'"),
    case("world-as-child", "/joints/0", _joint(parent="rod", child="world"), "world_child",
         "only the parent", "/joints/0/child"),
    case("duplicate-joint", "/joints/-", _joint(), "duplicate_name", "/joints/0/name",
         "/joints/1/name"),
    case("drag-on-static", "/forces/0/body", "ground", "nothing_moves", "static"),
]  # fmt: skip

BODIES = [
    Broken("mass-missing", without("/bodies/0/mass"), "/bodies/0/mass", "mass_missing", "neither"),
    case("mass-and-density", "/bodies/0/density", 500, "mass_conflict", "`density` 500"),
    case("density-without-shape", "/bodies/0", {"name": "ball", "density": 1}, "no_volume",
         "no shape", "/bodies/0/density"),
    case("mass-without-inertia", "/bodies/0/shapes", [], "inertia_missing", "no `inertia`",
         "/bodies/0/inertia"),
    case("inertia-without-mass", "/bodies/2/inertia", [1, 1, 1], "inertia_without_mass",
         "no `mass`"),
    case("indefinite-inertia", "/bodies/0/inertia", [1, 1, 1, 2, 0, 0], "inertia_not_positive",
         "-1, 1, 3"),
    case("impossible-inertia", "/bodies/0/inertia", [1, 1, 3], "inertia_triangle", "1, 1, 3"),
    case("plane-on-dynamic", SHAPE, {"type": "plane", "normal": [0, 0, 1]}, "not_static",
         "is dynamic", f"{SHAPE}/type"),
    case("plane-without-normal", "/bodies/2/shapes/0/normal", [0, 0, 0], "zero_axis", "[0, 0, 0]"),
    case("static-with-velocity", "/bodies/2/linear_velocity", [1, 0, 0], "static_velocity",
         "is static"),
    case("flat-hull", SHAPE, {"type": "convex", "points": SQUARE}, "flat_hull", "one plane",
         f"{SHAPE}/points"),
    case("three-point-hull", SHAPE, {"type": "convex", "points": SQUARE[:3]}, "wrong_length",
         "at least 4", f"{SHAPE}/points"),
    case("mesh-index", "/bodies/2/shapes/0", {"type": "mesh", "vertices": SQUARE[:3],
         "faces": [[0, 1, 3]]}, "index_out_of_range", "vertex 3", "/bodies/2/shapes/0/faces/0/2"),
    case("mesh-without-area", "/bodies/2/shapes/0", {"type": "mesh", "vertices": SQUARE[:3],
         "faces": [[0, 1, 1]]}, "no_area", "No face", "/bodies/2/shapes/0/faces"),
    case("open-mesh-that-moves", SHAPE, {"type": "mesh", "vertices": CORNER,
         "faces": TETRAHEDRON[:3]}, "mesh_not_closed", "3 edges belong to one face only",
         f"{SHAPE}/faces"),
    case("mesh-with-a-turned-face", SHAPE, {"type": "mesh", "vertices": CORNER,
         "faces": [*TETRAHEDRON[:3], TETRAHEDRON[3][::-1]]}, "mesh_not_closed",
         "3 edges join faces of opposite sense", f"{SHAPE}/faces"),
    case("mesh-with-a-fin", SHAPE, {"type": "mesh", "vertices": [*CORNER, [1, 1, 1]],
         "faces": [*TETRAHEDRON, [0, 1, 4]]}, "mesh_not_closed",
         "1 edges belong to more than two faces", f"{SHAPE}/faces"),
    case("mesh-inside-out", SHAPE, {"type": "mesh", "vertices": CORNER,
         "faces": [face[::-1] for face in TETRAHEDRON]}, "mesh_inside_out", "inside out",
         f"{SHAPE}/faces"),
    case("flat-mesh-that-moves", SHAPE, {"type": "mesh", "vertices": SQUARE[:3],
         "faces": [[0, 1, 2], [0, 2, 1]]}, "mesh_without_volume", "flat", f"{SHAPE}/faces"),
    case("ragged-heights", "/bodies/2/shapes/0", {"type": "heightfield", "size": [1, 1],
         "heights": [[0, 0], [0, 0, 0]]}, "length_mismatch", "row 1 has 3",
         "/bodies/2/shapes/0/heights/1"),
    case("text-mask", f"{SHAPE}/collision_mask", "all", "not_an_integer", "'all'"),
    case("wrong-color", f"{SHAPE}/color", [0, 0, 255], "not_a_color", "[0, 0, 255]"),
]  # fmt: skip

HINGE2 = {"type": "hinge2", "axis": [0, 0, 1]}
ENDS = {"name": "j", "parent": "world", "child": "rod", "axis": [0, 0, 1]}
GEAR = {**ENDS, "type": "gear", "ratio": 0}
PLANAR = {**ENDS, "type": "planar", "direction": [0, 0, -3]}
ROPE = {"name": "rope", "type": "distance", "parent": "world", "child": "rod",
        "anchor": [0, 0, 1], "anchor2": [0.1, 0, 1]}  # fmt: skip
JOINTS = [
    case("zero-axis", "/joints/0/axis", [0, 0, 0], "zero_axis", "length zero"),
    case("anchor-far", "/joints/0/anchor", [0, 0, 10_000], "anchor_far", "'rod'"),
    case("limits-crossed", "/joints/0/limits", {"lower": 1, "upper": -1}, "limits_crossed",
         "`lower` 1 is greater than `upper` -1", "/joints/0/limits/lower"),
    case("empty-limits", "/joints/0/limits", {}, "missing", "`lower` or `upper`"),
    case("parallel-axes", "/joints/0", _joint(**HINGE2, axis2=[0, 0, -2]), "parallel_axes",
         "parallel", "/joints/0/axis2"),
    case("oblique-universal", "/joints/0", _joint(type="universal", axis2=[0, 1, 1]),
         "axes_not_perpendicular", "45 degrees", "/joints/0/axis2"),
    case("second-motor-on-hinge", "/joints/0/motor2", {**MOTOR, "target": 1}, "unknown_field",
         "`motor2`"),
    case("times-not-increasing", "/joints/0", _target([0, 2, 1], [0, 1, 2]),
         "times_not_increasing", "1 s follows 2 s", "/joints/0/motor/target/times/2"),
    case("too-few-values", "/joints/0", _target([0, 1], [0]), "length_mismatch",
         "2 times and 1 values", "/joints/0/motor/target/values"),
    case("text-for-target", "/joints/0", _joint(motor={**MOTOR, "target": "fast"}),
         "not_a_number", "'fast'", "/joints/0/motor/target"),
    case("negative-motor-force", "/joints/0", _joint(motor={**MOTOR, "target": 1, "max_force": -1}),
         "out_of_range", "found -1", "/joints/0/motor/max_force"),
    case("distance-of-nothing", "/joints/0", {"name": "rope", "type": "distance",
         "parent": "world", "child": "rod", "anchor": [0, 0, 1], "anchor2": [0, 0, 1]},
         "zero_distance", "0 m apart", "/joints/0/anchor2"),
    case("cone-without-axis", "/joints/0", {"name": "tip", "type": "ball", "parent": "world",
         "child": "rod", "anchor": [0, 0, 1], "limits": {"swing": 1}}, "missing", "no `axis`",
         "/joints/0/axis"),
    case("screw-without-pitch", "/joints/0", _joint(type="screw", pitch=0), "zero_pitch",
         "is 0", "/joints/0/pitch"),
    case("gear-without-ratio", "/joints/0", GEAR, "zero_ratio", "is 0", "/joints/0/ratio"),
    case("planar-direction-across", "/joints/0", PLANAR, "parallel_axes", "parallel to `axis`",
         "/joints/0/direction"),
    case("rope-of-no-length", "/joints/0", {**ROPE, "limits": {"upper": 0}}, "zero_distance",
         "leaves no room", "/joints/0/limits/upper"),
    case("speed-of-a-spring", "/joints/0", _joint(motor={"type": "position", "target": 1,
         "stiffness": 5, "max_speed": 1}), "speed_of_a_spring", "spring and damper",
         "/joints/0/motor/max_speed"),
    case("number-for-ball-target", "/joints/0", {"name": "tip", "type": "ball", "parent": "world",
         "child": "rod", "anchor": [0, 0, 1], "motor": {**MOTOR, "target": 1.0}}, "not_a_list",
         "found 1", "/joints/0/motor/target"),
    case("two-stiffnesses", "/joints/0/spring", {"stiffness": [1, 2]}, "wrong_length",
         "list of 3 numbers", "/joints/0/spring/stiffness"),
]  # fmt: skip

SEEN = {"type": "mesh", "mesh": "skin"}
VISUALS = [
    case("visual-of-no-mesh", "/bodies/0/visuals", [SEEN], "unknown_mesh", "no mesh named 'skin'",
         "/bodies/0/visuals/0/mesh"),
    case("plane-to-see", "/bodies/0/visuals", [{"type": "plane", "normal": [0, 0, 1]}],
         "unknown_type", "'plane'", "/bodies/0/visuals/0/type"),
    case("visual-with-a-material", "/bodies/0/visuals",
         [{"type": "sphere", "radius": 1, "material": "steel"}], "unknown_field", "material",
         "/bodies/0/visuals/0/material"),
    case("too-opaque", "/bodies/0/visuals", [{"type": "sphere", "radius": 1, "opacity": 2}],
         "out_of_range", "2", "/bodies/0/visuals/0/opacity"),
    case("face-of-no-vertex", "/meshes", {"skin": {"vertices": CORNER, "faces": [[0, 1, 4]]}},
         "index_out_of_range", "vertices 0 to 3", "/meshes/skin/faces/0/2"),
    case("mesh-without-faces", "/meshes", {"skin": {"vertices": CORNER}}, "missing", "faces",
         "/meshes/skin/faces"),
]  # fmt: skip

MILLION_BODIES = '{"bodies": [' + ", ".join(['{"name": "ball", "mass": 1}'] * 1_000_000) + "]}"

RUNS = [
    case("integrator-of-reduced", "/simulation/integrator", "radau", "not_allowed", "'reduced'"),
    case("too-many-steps", "/simulation/duration", 1e9, "limit_exceeded", "steps; the limit is"),
    case("endless", "/simulation/dt", 1e-40, "limit_exceeded", "1e+40 steps",
         "/simulation/duration"),
    case("every-and-rate", "/record/rate", 60, "record_conflict", "`rate` 60"),
    Broken("million-bodies", MILLION_BODIES, "/bodies", "limit_exceeded",
           "1000000 bodies"),
    case("too-many-shapes", "/bodies/0/shapes", [{"type": "sphere", "radius": 1}] * 60_000,
         "limit_exceeded", "60002 shapes", "/bodies"),
    case("too-many-visuals", "/bodies/0/visuals", [{"type": "sphere", "radius": 1}] * 60_000,
         "limit_exceeded", "60000 visuals", "/bodies"),
    case("too-large-meshes", "/meshes", {f"m{k}": {"vertices": [0] * 90_000} for k in range(4)},
         "limit_exceeded", "360000 vertices of all meshes"),
    case("too-large-mesh", "/meshes", {"big": {"vertices": [0] * 200_000}}, "limit_exceeded",
         "200000 mesh vertices", "/meshes/big/vertices"),
    case("too-many-hull-points", SHAPE, {"type": "convex", "points": [[0, 0, 0]] * 5000},
         "limit_exceeded", "5000 hull points", f"{SHAPE}/points"),
]  # fmt: skip

BROKEN: list[Broken] = [*NUMBERS, *WORDS, *NAMES, *BODIES, *JOINTS, *VISUALS, *RUNS]
