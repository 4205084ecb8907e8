"""Angles that look like degrees: every angle of a scene is in radians."""

import math
from collections.abc import Iterator
from typing import Any

from cardan.schemas.drive import BallPositionMotor, Limits, PositionMotor
from cardan.schemas.error import Fault, shown
from cardan.schemas.joint import Joint
from cardan.schemas.pointer import to_pointer
from cardan.schemas.scene import Scene
from cardan.schemas.series import NumberSeries, VectorSeries

ROUND_DEGREES = frozenset({30.0, 45.0, 60.0, 90.0, 120.0, 135.0, 150.0, 180.0, 270.0, 360.0})
"""In radians each of them is several turns."""

ANGULAR = {
    "hinge": ("",),
    "universal": ("", "2"),
    "hinge2": ("", "2"),
    "cylindrical": ("2",),
    "planar": ("3",),
    "screw": ("",),
    "ball": ("",),
}
"""Endings of `limits` and `motor` of the coordinates that are angles."""

Place = tuple[list[str | int], float]


def angle_warnings(scene: Scene) -> Iterator[Fault]:
    """Warnings about limits, targets and starts of angles that are round numbers of degrees."""
    for i, joint in enumerate(scene.joints):
        for path, value in _angles(joint):
            if abs(value) in ROUND_DEGREES:
                yield Fault(
                    pointer=to_pointer(["joints", i, *path]),
                    code="looks_like_degrees",
                    message=f"The angle of joint '{joint.name}' is {value:g} rad, "
                    f"{abs(value) / math.tau:.3g} turns.",
                    got=shown(value),
                    hint=f"Angles are in radians: {value:g} degrees are {math.radians(value):.6g}.",
                )


def _angles(joint: Joint) -> Iterator[Place]:
    """Each limit, target and start of a joint that is an angle; of a series the farthest value."""
    initial = getattr(joint, "initial", None)
    if initial is not None:
        yield from _starts(joint.type, initial.position)
    for ending in ANGULAR.get(joint.type, ()):
        limits = getattr(joint, f"limits{ending}", None)
        if isinstance(limits, Limits):
            for side in ("lower", "upper"):
                value = getattr(limits, side)
                if value is not None:
                    yield [f"limits{ending}", side], value
        motor = getattr(joint, f"motor{ending}", None)
        if isinstance(motor, PositionMotor | BallPositionMotor):
            yield from _targets([f"motor{ending}", "target"], motor.target)


def _starts(kind: str, position: Any) -> Iterator[Place]:
    """Initial angles of a joint of a kind."""
    if not isinstance(position, tuple):
        if kind != "slider":
            yield ["initial", "position"], position
        return
    # of a cylindrical and a planar joint only the last coordinate is an angle
    first = len(position) - 1 if kind in ("cylindrical", "planar") else 0
    for k, value in enumerate(position[first:], first):
        yield ["initial", "position", k], value


def _targets(path: list[str | int], target: Any) -> Iterator[Place]:
    if isinstance(target, NumberSeries | VectorSeries):
        flat = target.values if isinstance(target, NumberSeries) else sum(target.values, ())
        yield [*path, "values"], max(flat, key=abs)
    elif isinstance(target, tuple):
        for k, value in enumerate(target):
            yield [*path, k], value
    else:
        yield path, target
