"""Checks that concern several fields: names, inertia, shapes, joints, forces, options.

Each check reads `Parts`, those parts of a document that are valid by themselves, and yields
faults; so one fault does not hide another.
"""

from collections.abc import Callable, Iterable

from cardan.schemas.checks.bodies import body_faults
from cardan.schemas.checks.forces import force_faults
from cardan.schemas.checks.joints import joint_faults
from cardan.schemas.checks.names import name_faults, reference_faults
from cardan.schemas.checks.options import option_faults
from cardan.schemas.checks.parts import Parts
from cardan.schemas.checks.shapes import mesh_faults, shape_faults
from cardan.schemas.error import Fault

CHECKS: tuple[Callable[[Parts], Iterable[Fault]], ...] = (
    option_faults,
    name_faults,
    reference_faults,
    body_faults,
    shape_faults,
    mesh_faults,
    joint_faults,
    force_faults,
)

__all__ = ["CHECKS", "Parts"]
