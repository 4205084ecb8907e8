"""Mass, centre of mass and inertia of every shape, their composition, and the checks of a tensor.

Plain NumPy: this runs once, at the build. Inertia matrices have off-diagonals -int rho x y.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class MassProperties(NamedTuple):
    """Mass [kg], centre of mass (3,) [m], inertia (3, 3) [kg m^2] about it, in the same axes."""

    mass: float
    center: NDArray[np.float64]
    inertia: NDArray[np.float64]


def sphere(density: float, radius: float) -> MassProperties:
    """A solid ball: I = 2/5 m r^2."""
    m = density * 4.0 / 3.0 * math.pi * radius**3
    return MassProperties(m, np.zeros(3), np.eye(3) * 0.4 * m * radius**2)


def box(density: float, size: NDArray[np.float64]) -> MassProperties:
    """A solid box with full edge lengths (3,): I_xx = m (y^2 + z^2)/12."""
    m = density * float(np.prod(size))
    s = np.asarray(size) ** 2
    return MassProperties(m, np.zeros(3), np.diag(m / 12.0 * (s.sum() - s)))


def cylinder(density: float, radius: float, length: float) -> MassProperties:
    """A solid cylinder along z: I_zz = m r^2/2, I_xx = m (3 r^2 + l^2)/12."""
    m = density * math.pi * radius**2 * length
    side = m * (3.0 * radius**2 + length**2) / 12.0
    return MassProperties(m, np.zeros(3), np.diag([side, side, 0.5 * m * radius**2]))


def capsule(density: float, radius: float, length: float) -> MassProperties:
    """A cylinder of the given length along z with a half ball on each end.

    A half ball's centre of mass lies 3/8 r beyond the flat face; its transverse inertia about that
    point is (83/320) m r^2.
    """
    tube = cylinder(density, radius, length)
    half = density * 2.0 / 3.0 * math.pi * radius**3
    offset = 0.5 * length + 0.375 * radius
    side = tube.inertia[0, 0] + 2.0 * (83.0 / 320.0 * half * radius**2 + half * offset**2)
    axial = tube.inertia[2, 2] + 2.0 * 0.4 * half * radius**2
    return MassProperties(tube.mass + 2.0 * half, np.zeros(3), np.diag([side, side, axial]))


def cone(density: float, radius: float, length: float) -> MassProperties:
    """A solid cone along z, base at -length/2, apex at +length/2; centre of mass at -length/4."""
    m = density * math.pi * radius**2 * length / 3.0
    side = m * (3.0 / 20.0 * radius**2 + 3.0 / 80.0 * length**2)
    return MassProperties(
        m, np.array([0.0, 0.0, -0.25 * length]), np.diag([side, side, 0.3 * m * radius**2])
    )


def ellipsoid(density: float, radii: NDArray[np.float64]) -> MassProperties:
    """A solid ellipsoid: I_xx = m (b^2 + c^2)/5."""
    m = density * 4.0 / 3.0 * math.pi * float(np.prod(radii))
    s = np.asarray(radii) ** 2
    return MassProperties(m, np.zeros(3), np.diag(m / 5.0 * (s.sum() - s)))


def tube(density: float, inner: float, outer: float, length: float) -> MassProperties:
    """A hollow cylinder along z: a cylinder less the one of its bore."""
    whole, bore = cylinder(density, outer, length), cylinder(density, inner, length)
    return MassProperties(whole.mass - bore.mass, np.zeros(3), whole.inertia - bore.inertia)


def ring(density: float, major: float, minor: float) -> MassProperties:
    """A torus about z: I_zz = m (R^2 + 3/4 r^2), I_xx = m (R^2/2 + 5/8 r^2)."""
    m = density * 2.0 * math.pi**2 * major * minor**2
    side = m * (0.5 * major**2 + 0.625 * minor**2)
    axial = m * (major**2 + 0.75 * minor**2)
    return MassProperties(m, np.zeros(3), np.diag([side, side, axial]))


def bowl(density: float, inner: float, outer: float, angle: float) -> MassProperties:
    """A cap of a hollow ball about -z, from its axis to `angle` [rad], in spherical coordinates.

    m = 2 pi rho (1 - c) [r^3]/3,  int z = -pi rho s^2 [r^4]/4,
    int z^2 = 2 pi rho (1 - c^3) [r^5]/15
    """
    c, s = math.cos(angle), math.sin(angle)
    cubes, fourths, fifths = (outer**k - inner**k for k in (3, 4, 5))
    m = density * 2.0 * math.pi * (1.0 - c) * cubes / 3.0
    z = -density * math.pi * s**2 * fourths / 4.0 / m
    along = density * 2.0 * math.pi * (1.0 - c**3) * fifths / 15.0
    across = 0.5 * (density * 2.0 * math.pi * (1.0 - c) * fifths / 5.0 - along)
    side = along + across - m * z**2
    return MassProperties(m, np.array([0.0, 0.0, z]), np.diag([side, side, 2.0 * across]))


def polyhedron(
    density: float, vertices: NDArray[np.float64], triangles: NDArray[np.int64]
) -> MassProperties:
    """A closed surface of triangles (t, 3), counter-clockwise from outside, filled evenly.

    Sums signed tetrahedra from the origin; second moments after Blow and Binstock (2004):
    int x x^T = det/120 (sum_i sum_j p_i p_j^T + sum_i p_i p_i^T).
    """
    p = np.asarray(vertices, dtype=float)[triangles]
    reference = p.reshape(-1, 3).mean(axis=0)
    p = p - reference
    det = np.einsum("ti,ti->t", p[:, 0], np.cross(p[:, 1], p[:, 2]))
    volume = det.sum() / 6.0
    total = p.sum(axis=1)
    first = (det[:, None] * total).sum(axis=0) / 24.0
    second = (
        np.einsum("t,ti,tj->ij", det, total, total) + np.einsum("t,tki,tkj->ij", det, p, p)
    ) / 120.0
    center = first / volume
    second = second - volume * np.outer(center, center)
    inertia = density * (np.trace(second) * np.eye(3) - second)
    return MassProperties(density * volume, center + reference, inertia)


def moved(
    part: MassProperties, rotation: NDArray[np.float64], offset: NDArray[np.float64]
) -> MassProperties:
    """The same part after x -> rotation x + offset; its inertia stays about its own centre."""
    return MassProperties(
        part.mass, rotation @ part.center + offset, rotation @ part.inertia @ rotation.T
    )


def composed(parts: list[MassProperties]) -> MassProperties:
    """Several parts as one body: parallel axes, I = sum I_k + m_k (d^2 1 - d d^T)."""
    mass = sum(part.mass for part in parts)
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        inertia += part.inertia + parallel_axis(part.mass, part.center - center)
    return MassProperties(mass, center, inertia)


def parallel_axis(mass: float, d: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inertia that a mass [kg] at d (3,) [m] adds: m (d^2 1 - d d^T) [kg m^2]."""
    if not d.any():
        return np.zeros((3, 3))
    result: NDArray[np.float64] = mass * (d @ d * np.eye(3) - np.outer(d, d))
    return result


def moments_fault(moments: NDArray[np.float64]) -> str | None:
    """Why no body has principal moments (3,), ascending [kg m^2]; None: one may have them."""
    if moments[0] <= 0.0:
        return f"it is not positive definite: principal moments {_shown(moments)}"
    if moments[0] + moments[1] < moments[2] * (1.0 - 1e-9):
        return f"it breaks the triangle inequality: principal moments {_shown(moments)}"
    return None


def _shown(moments: NDArray[np.float64]) -> str:
    return ", ".join(f"{moment:.6g}" for moment in moments)
