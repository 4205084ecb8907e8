"""Bodies to arrays: mass, inertia, initial poses and velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.bodies.mass_properties import (
    MassProperties,
    composed,
    moments_fault,
    parallel_axis,
)
from cardan.engine.build.components import components
from cardan.engine.build.faults import Faults
from cardan.engine.build.memoised import memoised, memoised_for
from cardan.engine.build.mobility import sets_of_bodies
from cardan.engine.build.presence import is_absent
from cardan.engine.build.rotations import cross, turn, turn_all
from cardan.engine.build.shapes import mass_of_shape
from cardan.engine.world.model import DYNAMIC, KINEMATIC, STATIC, Bodies, Joints
from cardan.schemas import Scene
from cardan.schemas.body import Body

Floats = NDArray[np.float64]

# bodies whose masses are kept, for variants of a scene
MOST_BODIES = 256
# [m] extent from which on mechanisms are put in place alike
LARGE = 1.0

BODY_KINDS = {"static": STATIC, "kinematic": KINEMATIC, "dynamic": DYNAMIC}


def given_inertia(values: tuple[float, ...]) -> NDArray[np.float64]:
    """(3, 3) from xx, yy, zz or xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = (*values, 0.0, 0.0, 0.0)[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@memoised_for(MOST_BODIES)
def mass_of_shapes(shapes: tuple[Any, ...], density: float) -> MassProperties | None:
    """Shapes of one density [kg/m^3] as one body; None when none of them has a volume."""
    parts = [p for p in (mass_of_shape(s, density) for s in shapes) if p is not None]
    return composed(parts) if parts else None


def mass_properties(body: Any, pointer: str, faults: Faults) -> MassProperties:
    """Mass properties of a dynamic body in its own frame, inertia about its centre of mass.

    They are either computed from the shapes or given: then shapes have no mass, and the centre of
    mass is the origin of the body unless `center_of_mass` is given.
    """
    density = body.density if body.density is not None else 1.0
    whole = mass_of_shapes(body.shapes, density)
    center = whole.center if whole is not None and body.inertia is None else np.zeros(3)
    if body.center_of_mass is not None:
        center = np.array(body.center_of_mass, dtype=float)
    total = body.mass if body.mass is not None else (whole.mass if whole is not None else 0.0)
    if body.inertia is not None:
        inertia = given_inertia(body.inertia)
    elif whole is None:
        faults.add(
            pointer,
            "no_inertia",
            "The body has neither shapes with a volume nor `inertia`.",
            "Give `inertia` (3 or 6 numbers) or a shape over which the mass is spread.",
        )
        return MassProperties(1.0, center, np.eye(3))
    else:
        inertia = whole.inertia + parallel_axis(whole.mass, center - whole.center)
        inertia = inertia * (total / whole.mass)
    return MassProperties(float(total), center, inertia)


def build_bodies(scene: Scene, faults: Faults) -> Bodies:
    """Mass properties of all bodies; the last element is the world."""
    n = len(scene.bodies) + 1
    bodies = Bodies(
        kind=np.zeros(n, np.int64),
        mass=np.zeros(n),
        inverse_mass=np.zeros(n),
        attracting_mass=np.zeros(n),
        inertia_B=np.zeros((n, 3, 3)),
        inverse_inertia_B=np.zeros((n, 3, 3)),
        com_B=np.zeros((n, 3)),
        span=np.zeros(n),
        node=np.full(n, -1),
        mechanism=np.zeros(n, np.int64),
        mass_in_all=np.zeros(n),
    )
    for i, body in enumerate(scene.bodies):
        bodies.kind[i] = BODY_KINDS[body.type]
        if body.type == "dynamic":
            part = mass_properties(body, f"/bodies/{i}", faults)
            bodies.mass[i] = part.mass
            bodies.inverse_mass[i] = 1.0 / part.mass
            bodies.inertia_B[i] = part.inertia
            bodies.com_B[i] = part.center
        bodies.attracting_mass[i] = bodies.mass[i] or body.mass or 0.0
    _check_and_invert(bodies, faults)
    return bodies


def write_mechanisms(bodies: Bodies, joints: Joints, p_WB: Floats) -> None:
    """Write which mechanism each dynamic body is part of, its mass, and its extent: `spans_of`."""
    moving = bodies.kind == DYNAMIC
    bodies.mechanism[:] = sets_of_bodies(joints, moving)
    mass = np.bincount(bodies.mechanism, bodies.mass)
    for one, other in ((joints.body_a, joints.body_b), (joints.body_b, joints.body_a)):
        mass[bodies.mechanism[one[moving[one] & ~moving[other]]]] = np.inf
    bodies.mass_in_all[:] = np.where(moving, mass[bodies.mechanism], np.inf)
    ends = ((joints.body_a, joints.anchor_A), (joints.body_b, joints.anchor_B))
    bodies.span[:] = spans_of(bodies.kind, bodies.mass, bodies.inertia_B, ends, p_WB)


@memoised
def spans_of(
    kind: NDArray[np.int64],
    mass: Floats,
    inertia_B: Floats,
    ends: tuple[tuple[NDArray[np.int64], Floats], ...],
    p_WB: Floats,
) -> Floats:
    """(n,) m: extent of what joints hold together, bodies and their arms; 0 unless dynamic.

    ends    bodies at both ends of the joints, and anchors (j, 3) m from their centres of mass
    p_WB    (n, 3) m    centres of mass
    """
    dynamic, (body_a, body_b) = kind == DYNAMIC, (body for body, _ in ends)
    moments = np.einsum("nii->n", inertia_B)
    arm = np.sqrt(np.divide(0.5 * moments, mass, out=np.zeros(len(kind)), where=dynamic))
    for body, anchor in ends:
        np.maximum.at(arm, body, np.sqrt(np.einsum("ji,ji->j", anchor, anchor)))
    inner = dynamic[body_a] & dynamic[body_b]
    part = components(len(kind), body_a[inner], body_b[inner])
    n = int(part.max()) + 1
    lower, upper, longest = np.full((n, 3), np.inf), np.full((n, 3), -np.inf), np.zeros(n)
    np.minimum.at(lower, part, p_WB)
    np.maximum.at(upper, part, p_WB)
    np.maximum.at(longest, part, arm)
    extent = np.linalg.norm(upper - lower, axis=1) + 2.0 * longest
    return np.where(dynamic, np.minimum(extent, LARGE)[part], 0.0)


def _check_and_invert(bodies: Bodies, faults: Faults) -> None:
    """Write the inverse inertias; one that no body has is a fault. All at once: it is faster."""
    dynamic = np.flatnonzero(bodies.kind == DYNAMIC)
    moments = np.linalg.eigvalsh(bodies.inertia_B[dynamic])
    for i, its_moments in zip(dynamic, moments, strict=True):
        fault = moments_fault(its_moments)
        if fault is not None:
            faults.add(f"/bodies/{i}/inertia", "inertia", f"No body has this inertia: {fault}.")
            bodies.inertia_B[i] = np.eye(3)
    inverse = np.linalg.inv(bodies.inertia_B[dynamic])
    bodies.inverse_inertia_B[dynamic] = 0.5 * (inverse + inverse.transpose(0, 2, 1))


def start_of_body(
    body: Body, com_B: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """p (3,), q (4,), v (3,) of the centre of mass and w (3,), in W, that the scene says."""
    q, w = np.array(body.orientation), np.array(body.angular_velocity)
    arm = turn(q, com_B)
    return body.position + arm, q, body.linear_velocity + cross(w, arm), w


def initial_motion(
    scene: Scene, bodies: Bodies
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """p (n, 3), q (n, 4), v (n, 3) of the centres of mass and w (n, 3), in W; last the world.

    Absent bodies have no velocity.
    """
    n = len(scene.bodies) + 1
    p, q = np.zeros((n, 3)), np.zeros((n, 4))
    v, w = np.zeros((n, 3)), np.zeros((n, 3))
    q[:, 0] = 1.0
    for i, body in enumerate(scene.bodies):
        q[i] = body.orientation
        p[i] = body.position
        if body.type != "static" and not is_absent(body):
            w[i], v[i] = body.angular_velocity, body.linear_velocity
    arm = turn_all(q, bodies.com_B)
    return p + arm, q, v + np.cross(w, arm), w
