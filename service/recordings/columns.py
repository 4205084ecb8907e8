"""Units and meanings of the columns of a recording, by table.

Poses, velocities, forces and points are written in W; poses are those of the body origin;
quaternions are w, x, y, z and turn body axes into W; the momentum is about the origin of W.
"""

from collections.abc import Mapping

Meaning = tuple[str, str]

_WHEN: dict[str, Meaning] = {"time": ("s", "simulated time"), "step": ("1", "number of steps done")}


def _axes(names: str, unit: str, words: str) -> dict[str, Meaning]:
    return {
        name: (unit, f"{words}, {axis} of W")
        for name, axis in zip(names.split(), "xyz", strict=True)
    }


def _joules(names: str) -> dict[str, Meaning]:
    return {name: ("J", name.replace("_", " ")) for name in names.split()}


COLUMNS: Mapping[str, Mapping[str, Meaning]] = {
    "bodies": {
        **_WHEN,
        "body": ("1", "name of the body"),
        **_axes("px py pz", "m", "position of the body origin"),
        "qw": ("1", "orientation, scalar part"),
        "qx": ("1", "orientation, vector part x"),
        "qy": ("1", "orientation, vector part y"),
        "qz": ("1", "orientation, vector part z"),
        **_axes("vx vy vz", "m/s", "velocity of the body origin"),
        **_axes("wx wy wz", "rad/s", "angular velocity"),
        "present": ("1", "whether the body is there; absent: where it will appear, at rest"),
    },
    "joints": {
        **_WHEN,
        "joint": ("1", "name of the joint"),
        "coordinate": ("1", "number of the coordinate within the joint"),
        "q": ("rad or m", "joint coordinate"),
        "qd": ("rad/s or m/s", "rate of the coordinate"),
        "motor_force": ("N m or N", "force of the motor along the coordinate"),
        "limit_force": ("N m or N", "force of the limit along the coordinate"),
        **_axes("fx fy fz", "N", "reaction force on the child at the anchor"),
        **_axes("tx ty tz", "N m", "reaction torque on the child at the anchor"),
        "force_time": ("s", "time that the forces belong to: the middle of the step"),
    },
    "contacts": {
        **_WHEN,
        "body_a": ("1", "first body"),
        "body_b": ("1", "second body"),
        **_axes("px py pz", "m", "contact point"),
        **_axes("nx ny nz", "1", "normal, from body_a to body_b"),
        "gap": ("m", "distance of the surfaces, negative when they overlap"),
        "normal_force": ("N", "force along the normal"),
        "friction_force": ("N", "magnitude of the tangential force"),
        **_axes("friction_x friction_y friction_z", "N", "tangential force on body_b"),
        "friction_coefficient": ("1", "largest tangential force over the normal force"),
        "force_time": ("s", "time that the forces belong to: the middle of the step"),
    },
    "energy": {
        **_WHEN,
        **_joules(
            "kinetic potential total work_in dissipated_friction dissipated_impact"
            " dissipated_damping correction"
        ),
    },
    "momentum": {
        **_WHEN,
        **_axes("lx ly lz", "kg m/s", "linear momentum"),
        **_axes("hx hy hz", "kg m^2/s", "angular momentum about the origin of W"),
    },
    "solver": {
        **_WHEN,
        "method": ("1", "method that solved the largest island of the step"),
        "rows": ("1", "constraint rows"),
        "contacts": ("1", "contacts"),
        "islands": ("1", "independent problems"),
        "iterations": ("1", "iterations done, of all islands"),
        "residual": ("m/s", "distance to complementarity"),
        "coulomb_error": ("m/s", "distance to Coulomb's law"),
        "stop_reason": ("1", "why the method stopped"),
    },
    "sensors": {
        **_WHEN,
        "force_time": ("s", "time that all but distances belong to: the middle of the step"),
        "sensor": ("1", "name of the sensor"),
        **{f"a{k}": ("m/s^2", f"specific force, {k} of the sensor") for k in "xyz"},
        **{f"w{k}": ("rad/s", f"angular velocity, {k} of the sensor") for k in "xyz"},
        **{f"f{k}": ("N", f"force, {k} of the axes of the sensor") for k in "xyz"},
        **{f"t{k}": ("N m", f"torque, {k} of the axes of the sensor") for k in "xyz"},
        "distance": ("m", "distance along a ray"),
    },
    "constraints": {
        **_WHEN,
        "force_time": ("s", "time that the impulses belong to: the middle of the step"),
        "row": ("1", "what it belongs to, and which row of it"),
        "kind": ("1", "equation, stop, motor, friction, spring, normal, tangent ..."),
        "body_a": ("1", "body that gets the opposite of the impulse"),
        "body_b": ("1", "body that gets the impulse"),
        "active": ("1", "strictly within its bounds, so that w = 0 is held"),
        "redundant": ("1", "an equation that those before it imply: others can bear its part"),
        "lam": ("N s or N m s", "impulse of the step"),
        "w": ("m/s or rad/s", "what is left of its velocity"),
        "lo": ("N s or N m s", "lower bound; not a number: none"),
        "hi": ("N s or N m s", "upper bound; not a number: none"),
        **{
            f"{side}_{name}": ("1 or m", f"J for {name} of body_{side}, {words}")
            for side in "ab"
            for name, words in (
                *((f"w{k}", "angular velocity") for k in "xyz"),
                *((f"v{k}", "velocity of the centre of mass") for k in "xyz"),
            )
        },
    },
    "events": {
        "time": ("s", "simulated time: the middle of the step, of a break or a trigger its end"),
        "step": ("1", "number of the step, from 1"),
        "kind": ("1", "begin, end: of a touch of two shapes; break; trigger; appear; vanish"),
        "body_a": ("1", "first body; parent of the joint"),
        "body_b": ("1", "second body; child of the joint"),
        "shape_a": ("1", "number of the shape within the first body, from 0; -1: none"),
        "shape_b": ("1", "number of the shape within the second body, from 0; -1: none"),
        "joint": ("1", "joint that broke, else empty"),
        "trigger": ("1", "trigger that fired, else empty"),
        **_axes("px py pz", "m", "where they touch, or touched last; the joint's anchor"),
        **_axes("nx ny nz", "1", "normal, from body_a to body_b; way of the force on the child"),
        "approach_speed": ("m/s", "speed along the normal at which the surfaces met"),
    },
}
KEYS = (
    "time",
    "step",
    "body",
    "present",
    "joint",
    "coordinate",
    "sensor",
    "row",
    "body_a",
    "body_b",
)


def unit_of(table: str, column: str) -> str:
    """The unit of a column; phases of the solver are microseconds, unknown ones have none."""
    known = COLUMNS.get(table, {}).get(column)
    if known is not None:
        return known[0]
    return "us" if column.endswith("_us") or table == "solver" else "1"


def meaning_of(table: str, column: str) -> str:
    """The meaning of a column in words."""
    known = COLUMNS.get(table, {}).get(column)
    return known[1] if known is not None else column.replace("_", " ")
