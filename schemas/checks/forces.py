"""External forces that act on something."""

from collections.abc import Iterator

from cardan.schemas.checks.ends import Ends
from cardan.schemas.checks.parts import WORLD, Parts, fault
from cardan.schemas.checks.series import series_faults
from cardan.schemas.error import Fault
from cardan.schemas.force import Drag, PointGravity, Spring, Torsion, Wrench


def force_faults(parts: Parts) -> Iterator[Fault]:
    """Yield what is wrong with each force."""
    ends = Ends.of(parts)
    first_gravity: int | None = None
    for i, force in parts.forces.items():
        path: list[str | int] = ["forces", i]
        match force:
            case Spring():
                yield from ends.pair_faults(path, force.parent, force.child)
                yield from ends.far_faults([*path, "anchor"], force.anchor, [force.parent])
                yield from ends.far_faults([*path, "anchor2"], force.anchor2, [force.child])
            case Torsion():
                yield from ends.pair_faults(path, force.parent, force.child)
            case Wrench():
                yield from _body_faults(path, force, ends)
                yield from series_faults([*path, "force"], force.force)
                yield from series_faults([*path, "torque"], force.torque)
            case Drag():
                yield from _body_faults(path, force, ends)
            case PointGravity():
                if first_gravity is not None:
                    yield fault(
                        [*path, "type"],
                        "duplicate_force",
                        f"There is a point_gravity already, force {first_gravity}; one is allowed.",
                        force.type,
                        "Add their constants.",
                    )
                first_gravity = i if first_gravity is None else first_gravity


def _body_faults(path: list[str | int], force: Wrench | Drag, ends: Ends) -> Iterator[Fault]:
    body = ends.bodies.get(force.body)
    if force.body != WORLD and body is not None and body.type != "dynamic":
        yield fault(
            [*path, "body"],
            "nothing_moves",
            f"Body '{body.name}' is {body.type}; a force does not move it.",
            force.body,
            "Name a dynamic body.",
        )
