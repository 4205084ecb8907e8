"""Masses and inertias of the bodies of a scene, and the solid boxes that move as they do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.bodies import build_bodies
from cardan.engine.build.faults import Faults
from cardan.engine.build.rotations import quaternion_of
from cardan.engine.world.model import DYNAMIC
from cardan.schemas import Scene

Array = NDArray[np.float64]


def masses(scene: Scene) -> list[dict[str, Any]]:
    """Mass properties of the dynamic bodies, in the order of the scene.

    Each has body (name), mass [kg], center_of_mass (3,) in the body [m], inertia xx yy zz xy xz yz
    about it in the axes of the body [kg m^2], principal_moments (3,) ascending [kg m^2],
    principal_axes (quaternion [w, x, y, z] that turns them into the axes of the body), and box
    (3,): the sides along them of the solid box of the same mass and inertia [m]. Raises SceneError.
    """
    faults = Faults()
    bodies = build_bodies(scene, faults)
    faults.raise_if_any()
    moving = np.flatnonzero(bodies.kind == DYNAMIC)
    inertia = bodies.inertia_B[moving]
    moments, axes = np.linalg.eigh(inertia)
    axes[:, :, 2] *= np.linalg.det(axes)[:, None]
    sides = solid_box(bodies.mass[moving], moments)
    return [
        {
            "body": scene.bodies[i].name,
            "mass": float(bodies.mass[i]),
            "center_of_mass": bodies.com_B[i].tolist(),
            "inertia": [*np.diag(I).tolist(), float(I[0, 1]), float(I[0, 2]), float(I[1, 2])],
            "principal_moments": own.tolist(),
            "principal_axes": quaternion_of(turned).tolist(),
            "box": side.tolist(),
        }
        for i, I, own, turned, side in zip(moving, inertia, moments, axes, sides, strict=True)
    ]


def solid_box(mass: Array, moments: Array) -> Array:
    """Sides (n, 3) [m] of solid boxes of masses (n,) and principal moments (n, 3).

    From I_x = m (b^2 + c^2)/12 and so on: a^2 = 6 (I_y + I_z - I_x)/m.
    """
    squares = 6.0 * (moments.sum(axis=1, keepdims=True) - 2.0 * moments) / mass[:, None]
    sides: Array = np.sqrt(np.maximum(squares, 0.0))
    return sides
