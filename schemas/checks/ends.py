"""The two ends of a joint or of a spring, and how far an anchor may be from them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from cardan.schemas.body import Body
from cardan.schemas.checks.geometry import Vector, bounding_radius, rotate
from cardan.schemas.checks.parts import WORLD, Parts, fault
from cardan.schemas.error import Fault

FAR_FACTOR = 100.0
"""An anchor farther from its body than this many extents of the scene is a mistake."""

SMALLEST_EXTENT = 1.0

Path = list[str | int]


@dataclass(frozen=True)
class Ends:
    """Bodies by name, and the extent of the scene, for checks of joints and forces."""

    bodies: dict[str, Body]
    extent: float = field(default=SMALLEST_EXTENT)

    @classmethod
    def of(cls, parts: Parts) -> "Ends":
        """Return the ends of a document's valid bodies."""
        bodies = parts.bodies_by_name
        return cls(bodies, scene_extent(list(bodies.values())))

    def pair_faults(self, path: Path, parent: str, child: str) -> Iterator[Fault]:
        """Yield what is wrong with a pair: the same body twice, or none that can move."""
        if parent == child:
            yield fault(
                [*path, "child"],
                "self_joint",
                f"Parent and child are the same body, '{parent}'.",
                child,
                "Name two different bodies.",
            )
        elif child == WORLD:
            yield fault(
                [*path, "child"],
                "world_child",
                "The child is a body; only the parent may be 'world'.",
                child,
                "Exchange parent and child, and reverse the axis.",
            )
        elif self._fixed(parent) and self._fixed(child):
            yield fault(
                [*path, "child"],
                "nothing_moves",
                f"Neither '{parent}' nor '{child}' can be moved by forces.",
                child,
                "Make one of them dynamic, or remove this.",
            )

    def _fixed(self, name: str) -> bool:
        """Return whether a body is known not to move by forces."""
        body = self.bodies.get(name)
        return name == WORLD or (body is not None and body.type != "dynamic")

    def to_world(self, frame: str, parent: str, point: Vector) -> Vector | None:
        """Return a point in W, given there or in the parent's frame; None if that is unknown."""
        if frame == "world" or parent == WORLD:
            return point
        body = self.bodies.get(parent)
        if body is None:
            return None
        x, y, z = (
            p + r for p, r in zip(body.position, rotate(body.orientation, point), strict=True)
        )
        return (x, y, z)

    def far_faults(self, path: Path, point: Vector | None, names: list[str]) -> Iterator[Fault]:
        """Yield a fault when an anchor (in W) is implausibly far from one of its bodies."""
        if point is None:
            return
        for name in names:
            body = self.bodies.get(name)
            if body is None:
                continue
            distance = math.dist(point, body.position)
            if distance > FAR_FACTOR * self.extent:
                yield fault(
                    path,
                    "anchor_far",
                    f"The anchor is {distance:.6g} m from the origin of body '{name}'; all bodies "
                    f"together measure {self.extent:.6g} m (counted as 1 m at least), and at most "
                    f"{FAR_FACTOR:g} times that is accepted.",
                    point,
                    "Anchors are in W unless the joint says frame 'parent'; check units and frame. "
                    "If it is meant to be there, place a static body there.",
                )
                return


def scene_extent(bodies: list[Body]) -> float:
    """Return the diagonal of the box around all bodies and shapes; at least 1 m."""
    low, high = [math.inf] * 3, [-math.inf] * 3
    for body in bodies:
        radius = max((bounding_radius(shape) for shape in body.shapes), default=0.0)
        for k in range(3):
            low[k] = min(low[k], body.position[k] - radius)
            high[k] = max(high[k], body.position[k] + radius)
    return max(SMALLEST_EXTENT, math.dist(low, high)) if bodies else SMALLEST_EXTENT
