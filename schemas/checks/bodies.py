"""Mass and inertia that a body can have, and shapes that fit its kind."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cardan.schemas.body import Body
from cardan.schemas.checks.parts import Parts, fault
from cardan.schemas.checks.series import pose_faults
from cardan.schemas.error import Fault

RELATIVE_ZERO = 1e-12
TRIANGLE_TOLERANCE = 1e-6


def body_faults(parts: Parts) -> Iterator[Fault]:
    """Yield what is wrong with the mass, the inertia and the kind of each body."""
    for i, body in parts.bodies.items():
        path: list[str | int] = ["bodies", i]
        yield from _mass_faults(path, body)
        yield from _inertia_faults(path, body)
        yield from _motion_faults(path, body)
        appears, vanishes = body.appears, body.vanishes
        if appears is not None and vanishes is not None and vanishes <= appears:
            yield fault(
                [*path, "vanishes"],
                "vanishes_before",
                f"Body '{body.name}' vanishes at {vanishes:g} s, before it appears, at "
                f"{appears:g} s.",
                vanishes,
                "`vanishes` must be later than `appears`; triggers can do it in any order.",
            )
        if body.type == "static":
            for field in ("linear_velocity", "angular_velocity"):
                if any(getattr(body, field)):
                    yield fault(
                        [*path, field],
                        "static_velocity",
                        f"Body '{body.name}' is static and has a velocity.",
                        getattr(body, field),
                        "Make it `kinematic`, or remove the velocity.",
                    )


def _motion_faults(path: list[str | int], body: Body) -> Iterator[Fault]:
    if body.motion is None:
        return
    yield from pose_faults([*path, "motion"], body.motion)
    if body.type != "kinematic":
        yield fault(
            [*path, "motion"],
            "motion_of_other_kind",
            f"Body '{body.name}' is {body.type}; only a kinematic body follows a `motion`.",
            body.type,
            'Make it "kinematic", or move it by motors of joints.',
        )
    for field in ("linear_velocity", "angular_velocity"):
        if any(getattr(body, field)):
            yield fault(
                [*path, field],
                "motion_velocity",
                f"Body '{body.name}' has a `motion`, which says how fast it moves.",
                getattr(body, field),
                f"Remove `{field}`.",
            )


def _mass_faults(path: list[str | int], body: Body) -> Iterator[Fault]:
    # planes and surfaces that are not closed have a fault of their own: one is enough
    volume = body.type != "dynamic" or bool(body.shapes)
    if body.mass is not None and body.density is not None:
        yield fault(
            [*path, "density"],
            "mass_conflict",
            f"Body '{body.name}' has both `mass` {body.mass:g} and `density` {body.density:g}.",
            body.density,
            "Keep one of them.",
        )
    elif body.mass is None and body.density is not None:
        if not volume:
            yield fault(
                [*path, "density"],
                "no_volume",
                f"Body '{body.name}' has a `density` and no shape with volume to spread it over.",
                body.density,
                "Add a shape, or give `mass` and `inertia`.",
            )
        for field in ("inertia", "center_of_mass"):
            if getattr(body, field) is not None:
                yield fault(
                    [*path, field],
                    "inertia_without_mass",
                    f"`{field}` goes with `mass`; body '{body.name}' has a `density`, which sets "
                    "it from the shapes.",
                    getattr(body, field),
                    "Give `mass` instead of `density`.",
                )
    elif body.mass is None and body.inertia is not None:
        yield fault(
            [*path, "inertia"],
            "inertia_without_mass",
            f"Body '{body.name}' has an `inertia` and no `mass`.",
            body.inertia,
            "Add `mass`.",
        )
    if body.type == "dynamic":
        yield from _missing_mass(path, body, volume)


def _missing_mass(path: list[str | int], body: Body, volume: bool) -> Iterator[Fault]:
    if body.mass is None and body.density is None and body.inertia is None:
        yield fault(
            [*path, "mass"],
            "mass_missing",
            f"Body '{body.name}' is dynamic and has neither `mass` nor `density`.",
            None,
            'Add one of them, or make the body "static".',
        )
    if body.mass is not None and body.inertia is None and not volume:
        yield fault(
            [*path, "inertia"],
            "inertia_missing",
            f"Body '{body.name}' has a `mass`, no `inertia` and no shape with volume to take "
            "it from.",
            None,
            "Add `inertia`, or a shape.",
        )


def _inertia_faults(path: list[str | int], body: Body) -> Iterator[Fault]:
    if body.inertia is None:
        return
    low, middle, high = (float(value) for value in np.linalg.eigvalsh(_tensor(body.inertia)))
    principal = f"{low:.6g}, {middle:.6g}, {high:.6g}"
    if low <= RELATIVE_ZERO * abs(high):
        yield fault(
            [*path, "inertia"],
            "inertia_not_positive",
            f"The inertia of body '{body.name}' is not positive definite: its principal moments "
            f"are {principal}; all must be greater than 0.",
            body.inertia,
            "The order is xx, yy, zz, xy, xz, yz, about the centre of mass.",
        )
    elif low + middle < high * (1.0 - TRIANGLE_TOLERANCE):
        yield fault(
            [*path, "inertia"],
            "inertia_triangle",
            f"The inertia of body '{body.name}' breaks the triangle inequality: of its principal "
            f"moments {principal} the largest exceeds the sum of the others, which no "
            "distribution of mass can do.",
            body.inertia,
            "The order is xx, yy, zz, xy, xz, yz, about the centre of mass.",
        )


def _tensor(values: tuple[float, ...]) -> npt.NDArray[np.float64]:
    """Return the 3 x 3 tensor of 3 or 6 values."""
    xx, yy, zz = values[:3]
    xy, xz, yz = values[3:] if len(values) > 3 else (0.0, 0.0, 0.0)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
