"""Couplings of joint coordinates that exist, each once."""

from collections.abc import Iterator

from cardan.schemas.checks.parts import Parts, fault
from cardan.schemas.error import Fault
from cardan.schemas.joint import Coupling, CouplingTerm, Joint
from cardan.schemas.limits import JOINT_COORDINATES

Path = list[str | int]

NOT_SCALAR = ("ball", "fixed", "gear", "rack", "coupling")
"""Joints without coordinates of their own that are numbers; those of gears and racks count in W."""

FOREIGN = ("friction", "armature", "breaking_force")
"""What other joints have and a coupling does not."""


def coupling_faults(path: Path, joint: Coupling, parts: Parts) -> Iterator[Fault]:
    """Yield what is wrong with the terms of a coupling, and fields that it does not have."""
    yield from _field_faults(path, joint)
    yield from _sensor_faults(joint, parts)
    by_name = {one.name: one for one in parts.joints.values()}
    seen: dict[tuple[str, int], int] = {}
    for t, term in enumerate(joint.terms):
        at: Path = [*path, "terms", t]
        if term.factor == 0.0:
            yield fault(
                [*at, "factor"],
                "zero_factor",
                f"The factor of '{term.joint}' is 0; any other number is allowed.",
                term.factor,
                "Leave the term out.",
            )
        yield from _curve_faults(at, joint, term)
        first = seen.setdefault((term.joint, term.coordinate), t)
        if first != t:
            yield fault(
                [*at, "joint"],
                "coordinate_twice",
                f"Coordinate {term.coordinate} of '{term.joint}' is in term {first} already.",
                term.joint,
                "Add up the factors in one term.",
            )
        # else an unknown name, or a joint with faults of its own
        if term.joint in by_name:
            yield from _coordinate_faults(at, term, by_name[term.joint])


def _field_faults(path: Path, joint: Coupling) -> Iterator[Fault]:
    """Yield fields that a coupling does not have, and those that exclude each other."""
    for field in FOREIGN:
        value = getattr(joint, field)
        if value:
            yield fault(
                [*path, field],
                "not_of_a_coupling",
                f"A coupling has no `{field}`; `stiffness` and `damping` act on its sum.",
                value,
                f"Give `{field}` to one of the joints it couples.",
            )
    if joint.slack and (joint.stiffness is not None or joint.damping > 0.0):
        yield fault(
            [*path, "slack"],
            "slack_spring",
            "A coupling that may be slack is rigid when it is taut: it has no `stiffness` and no "
            "`damping`.",
            joint.slack,
            "Leave out one of them.",
        )


def _curve_faults(at: Path, joint: Coupling, term: CouplingTerm) -> Iterator[Fault]:
    """Yield points that are no function, a period that does not close, a spring on a function."""
    if term.curve is None:
        return
    points = term.curve.points
    for k in range(1, len(points)):
        if points[k][0] <= points[k - 1][0]:
            yield fault(
                [*at, "curve", "points", k, 0],
                "not_ascending",
                f"Coordinates of a curve ascend; {points[k][0]} comes after {points[k - 1][0]}.",
                points[k][0],
                "Sort the points, and leave out what is there twice.",
            )
            return
    if term.curve.periodic and points[0][1] != points[-1][1]:
        yield fault(
            [*at, "curve", "points", len(points) - 1, 1],
            "period_open",
            f"The last point of a periodic curve has the value of the first, {points[0][1]}.",
            points[-1][1],
            "Repeat the first value one period later.",
        )
    if joint.stiffness is not None or joint.damping > 0.0:
        yield fault(
            [*at, "curve"],
            "curve_spring",
            "A coupling with a curve is rigid or slack: it has no `stiffness` and no `damping`.",
            None,
            "Leave out one of them, or put a spring on one of the joints.",
        )


def _coordinate_faults(at: Path, term: CouplingTerm, joint: Joint) -> Iterator[Fault]:
    """Yield a coordinate that the joint of a term does not have."""
    if joint.type in NOT_SCALAR:
        yield fault(
            [*at, "joint"],
            "no_coordinate_to_couple",
            f"'{term.joint}' is a {joint.type}; couplings take coordinates of hinge, slider, "
            "screw, cylindrical, universal, hinge2, planar and distance joints.",
            term.joint,
            None,
        )
        return
    count = JOINT_COORDINATES.get(joint.type, 1)
    if term.coordinate >= count:
        yield fault(
            [*at, "coordinate"],
            "out_of_range",
            f"Joint '{term.joint}' has {count} coordinates, and {term.coordinate} was asked "
            "for; they count from 0.",
            term.coordinate,
            None,
        )


def _sensor_faults(joint: Coupling, parts: Parts) -> Iterator[Fault]:
    """Yield sensors at a coupling, which has no place to measure at."""
    sensors = parts.document.get("sensors")
    for i, sensor in enumerate(sensors if isinstance(sensors, list) else []):
        if isinstance(sensor, dict) and sensor.get("joint") == joint.name:
            yield fault(
                ["sensors", i, "joint"],
                "no_place",
                f"'{joint.name}' is a coupling: it has no place where a force could be measured.",
                joint.name,
                "Its force is in the channel `joints`, as that of a limit.",
            )
