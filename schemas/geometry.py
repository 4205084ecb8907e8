"""Geometry of simple solids, which collision shapes and visuals have in common."""

from typing import Literal

from cardan.schemas.base import Base
from cardan.schemas.quantities import NonNegative, Positive, Vec3Positive


class SphereGeometry(Base):
    """A ball about the shape's origin."""

    type: Literal["sphere"]
    radius: Positive
    """Radius [m]."""


class BoxGeometry(Base):
    """A cuboid about the shape's origin."""

    type: Literal["box"]
    size: Vec3Positive
    """Full edge lengths along x, y, z [m]."""


class CapsuleGeometry(Base):
    """A cylinder along local z with half balls at both ends."""

    type: Literal["capsule"]
    radius: Positive
    """Radius [m]."""
    length: NonNegative
    """Length of the cylinder part, without the caps [m]."""


class CylinderGeometry(Base):
    """A cylinder along local z, centred at the shape's origin."""

    type: Literal["cylinder"]
    radius: Positive
    """Radius [m]."""
    length: Positive
    """Full length along z [m]."""


class ConeGeometry(Base):
    """A cone along local z: base at -length/2, apex at +length/2."""

    type: Literal["cone"]
    radius: Positive
    """Radius of the base [m]."""
    length: Positive
    """Height along z [m]."""


class EllipsoidGeometry(Base):
    """An ellipsoid about the shape's origin."""

    type: Literal["ellipsoid"]
    radii: Vec3Positive
    """Half axes along x, y, z [m]."""
