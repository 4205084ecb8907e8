"""Wheels of distance joints: a cable that leads straight from one to the other, in one plane."""

import math
from collections.abc import Iterator

from cardan.schemas.checks.geometry import dot, unit
from cardan.schemas.checks.parts import fault
from cardan.schemas.error import Fault
from cardan.schemas.joint import Distance

Path = list[str | int]

LARGEST_SLOPE = 0.1
"""Sine of the largest angle between a cable and the plane of its wheel."""

PARALLEL = 1e-6


def wheel_faults(path: Path, joint: Distance) -> Iterator[Fault]:
    """Yield wheels that reach the other end, or that are not in the plane of the cable."""
    wheels = {
        field: wheel
        for field, wheel in (("wheel", joint.wheel), ("wheel2", joint.wheel2))
        if wheel is not None
    }
    if not wheels:
        return
    axes = [unit(wheel.axis) for wheel in wheels.values()]
    field, cosine = next(iter(wheels)), dot(axes[0], axes[-1])
    if 1.0 - abs(cosine) > PARALLEL:
        yield fault(
            [*path, "wheel2", "axis"],
            "wheels_not_parallel",
            f"The axes of both wheels of '{joint.name}' make an angle of "
            f"{math.degrees(math.acos(abs(cosine))):.4g} degrees; 0 is needed.",
            wheels["wheel2"].axis,
            "Lead the cable over a point between them: two distance joints in a coupling.",
        )
        return
    a, b = joint.anchor, joint.anchor2
    way = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    off = dot(way, axes[0])
    flat = math.sqrt(max(dot(way, way) - off * off, 0.0))
    radii = [0.0 if wheel is None else wheel.radius for wheel in (joint.wheel, joint.wheel2)]
    reach = abs(math.copysign(radii[1], cosine) - radii[0])
    if flat <= reach:
        yield fault(
            [*path, field, "radius"],
            "no_tangent",
            f"No straight line leads from one end of '{joint.name}' to the other: the anchors are "
            f"{flat:.6g} m apart in the plane of the wheel; more than {reach:.6g} m is needed.",
            wheels[field].radius,
            "An end of the cable is outside of the wheel of the other.",
        )
    elif abs(off) > LARGEST_SLOPE * math.hypot(flat, off):
        yield fault(
            [*path, field, "axis"],
            "out_of_plane",
            f"The cable of '{joint.name}' leaves the plane of its wheel by "
            f"{math.degrees(math.atan2(abs(off), flat)):.4g} degrees; at most "
            f"{math.degrees(math.asin(LARGEST_SLOPE)):.3g} are accepted.",
            wheels[field].axis,
            "The axis is normal to the plane in which the cable runs.",
        )
