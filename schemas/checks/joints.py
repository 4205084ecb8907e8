"""Joints that connect, with axes and limits that make sense."""

import math
from collections.abc import Iterator

from cardan.schemas.checks.couplings import coupling_faults
from cardan.schemas.checks.ends import Ends
from cardan.schemas.checks.geometry import Vector, cross, dot, unit
from cardan.schemas.checks.parts import Parts, fault
from cardan.schemas.checks.series import series_faults
from cardan.schemas.checks.wheels import wheel_faults
from cardan.schemas.drive import BallLimits, BallMotor, Limits, Motor, PositionDrive
from cardan.schemas.error import Fault
from cardan.schemas.joint import (
    Ball,
    Coupling,
    Distance,
    Gear,
    Hinge2,
    Joint,
    Planar,
    Rack,
    Screw,
    Universal,
)

PARALLEL = 1e-6
RIGHT_ANGLE = 1e-3

Path = list[str | int]


def joint_faults(parts: Parts) -> Iterator[Fault]:
    """Yield what is wrong with each joint."""
    ends = Ends.of(parts)
    tolerance = parts.simulation.anchor_tolerance if parts.simulation else 1e-3
    for i, joint in parts.joints.items():
        path: Path = ["joints", i]
        if isinstance(joint, Coupling):
            yield from coupling_faults(path, joint, parts)
            continue
        yield from ends.pair_faults(path, joint.parent, joint.child)
        yield from _anchor_faults(path, joint, ends, tolerance)
        yield from _axis_faults(path, joint)
        for field in ("limits", "limits2", "limits3"):
            yield from _limit_faults([*path, field], getattr(joint, field, None))
        if isinstance(joint, Distance):
            yield from _length_faults([*path, "limits"], joint)
            yield from wheel_faults(path, joint)
        for field in ("motor", "motor2", "motor3"):
            motor = getattr(joint, field, None)
            if motor is not None:
                yield from _motor_faults([*path, field], motor)


def _motor_faults(path: Path, motor: Motor | BallMotor) -> Iterator[Fault]:
    yield from series_faults([*path, "target"], motor.target)
    drive = motor if isinstance(motor, PositionDrive) else None
    if drive is not None and drive.max_speed is not None and drive.stiffness is not None:
        yield fault(
            [*path, "max_speed"],
            "speed_of_a_spring",
            f"A drive with `stiffness` is a spring and damper; `max_speed` {drive.max_speed:g} "
            "belongs to one without.",
            drive.max_speed,
            "Leave out `stiffness`, or slow the drive by its `damping`.",
        )


def _length_faults(path: Path, joint: Distance) -> Iterator[Fault]:
    upper = joint.limits.upper if joint.limits is not None else None
    if upper is not None and upper <= 0.0:
        yield fault(
            [*path, "upper"],
            "zero_distance",
            f"The largest distance {upper:g} m of '{joint.name}' leaves no room; more than 0 is "
            "needed.",
            upper,
            "Limits of a distance joint are distances; use a ball joint to keep points together.",
        )


def _anchor_faults(path: Path, joint: Joint, ends: Ends, tolerance: float) -> Iterator[Fault]:
    if isinstance(joint, Gear | Rack | Coupling):
        return
    if isinstance(joint, Distance):
        for field, name in (("anchor", joint.parent), ("anchor2", joint.child)):
            point = ends.to_world(joint.frame, joint.parent, getattr(joint, field))
            yield from ends.far_faults([*path, field], point, [name])
        length = math.dist(joint.anchor, joint.anchor2)
        if length <= tolerance:
            yield fault(
                [*path, "anchor2"],
                "zero_distance",
                f"The anchors of '{joint.name}' are {length:g} m apart, which gives the joint no "
                f"direction; more than {tolerance:g} m is needed.",
                joint.anchor2,
                "Use a ball joint to keep two points together.",
            )
    elif joint.anchor is not None:
        point = ends.to_world(joint.frame, joint.parent, joint.anchor)
        yield from ends.far_faults([*path, "anchor"], point, [joint.parent, joint.child])


def _axis_faults(path: Path, joint: Joint) -> Iterator[Fault]:
    match joint:
        case Ball() if joint.limits is not None and joint.axis is None:
            yield fault(
                [*path, "axis"],
                "missing",
                f"Ball joint '{joint.name}' has limits and no `axis` to measure them from.",
                None,
                "Add `axis`, the middle of the cone.",
            )
        case Hinge2() | Universal():
            cosine = _cosine(joint.axis, joint.axis2)
            if _sine(joint.axis, joint.axis2) < PARALLEL:
                yield fault(
                    [*path, "axis2"],
                    "parallel_axes",
                    f"`axis` and `axis2` of '{joint.name}' are parallel; they must cross.",
                    joint.axis2,
                    "Use a hinge for a single axis.",
                )
            elif isinstance(joint, Universal) and abs(cosine) > RIGHT_ANGLE:
                angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
                yield fault(
                    [*path, "axis2"],
                    "axes_not_perpendicular",
                    f"The axes of universal joint '{joint.name}' meet at {angle:.6g} degrees; "
                    "90 are needed.",
                    joint.axis2,
                    "Use hinge2 for axes at another angle.",
                )
        case Planar() if joint.direction is not None:
            if _sine(joint.axis, joint.direction) < PARALLEL:
                yield fault(
                    [*path, "direction"],
                    "parallel_axes",
                    f"`direction` of '{joint.name}' is parallel to `axis`; it must lie in the "
                    "plane across it.",
                    joint.direction,
                    None,
                )
        case Screw() if joint.pitch == 0.0:
            yield fault(
                [*path, "pitch"],
                "zero_pitch",
                f"The pitch of screw '{joint.name}' is 0; any other number is allowed.",
                joint.pitch,
                "Use a hinge for a turn without way.",
            )
        case Gear() | Rack() if joint.ratio == 0.0:
            yield fault(
                [*path, "ratio"],
                "zero_ratio",
                f"The ratio of {joint.type} '{joint.name}' is 0; any other number is allowed.",
                joint.ratio,
                None,
            )


def _limit_faults(path: Path, limits: Limits | BallLimits | None) -> Iterator[Fault]:
    if isinstance(limits, BallLimits):
        if limits.swing is None and limits.twist is None:
            yield fault(path, "missing", "The limits need `swing` or `twist`.", None, None)
    elif isinstance(limits, Limits):
        if limits.lower is None and limits.upper is None:
            yield fault(path, "missing", "The limits need `lower` or `upper`.", None, None)
        elif limits.lower is not None and limits.upper is not None and limits.lower > limits.upper:
            yield fault(
                [*path, "lower"],
                "limits_crossed",
                f"`lower` {limits.lower:g} is greater than `upper` {limits.upper:g}.",
                limits.lower,
                "Exchange them.",
            )


def _cosine(a: Vector, b: Vector) -> float:
    return dot(unit(a), unit(b))


def _sine(a: Vector, b: Vector) -> float:
    return math.hypot(*cross(unit(a), unit(b)))
