"""Visuals: what a body looks like where that is not its collision shapes. They have no mass."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.base import Base, type_tag
from cardan.schemas.geometry import (
    BoxGeometry,
    CapsuleGeometry,
    ConeGeometry,
    CylinderGeometry,
    EllipsoidGeometry,
    SphereGeometry,
)
from cardan.schemas.quantities import Color, Fraction, Index, Name, QuaternionWXYZ, Vec3


class TriangleMesh(Base):
    """A surface of triangles that any number of visuals show. It may be open."""

    vertices: Annotated[tuple[Vec3, ...], Field(min_length=3)]
    """Vertices [m]."""
    faces: Annotated[tuple[tuple[Index, Index, Index], ...], Field(min_length=1)]
    """Triangles: three vertex indices each, counter-clockwise seen from outside."""


class VisualBase(Base):
    """What every visual has: its pose in the body and its colour."""

    position: Vec3 = (0.0, 0.0, 0.0)
    """Origin of the visual in the body frame [m]."""
    orientation: QuaternionWXYZ = (1.0, 0.0, 0.0, 0.0)
    """Visual to body, [w, x, y, z]."""
    color: Color | None = None
    """'#rrggbb', a CSS name, or [r, g, b] fractions."""
    opacity: Fraction = 1.0
    """1: covers what is behind it, 0: is not seen [-]."""


class VisualSphere(SphereGeometry, VisualBase):
    """A ball about the visual's origin."""


class VisualBox(BoxGeometry, VisualBase):
    """A cuboid about the visual's origin."""


class VisualCapsule(CapsuleGeometry, VisualBase):
    """A cylinder along local z with half balls at both ends."""


class VisualCylinder(CylinderGeometry, VisualBase):
    """A cylinder along local z, centred at the visual's origin."""


class VisualCone(ConeGeometry, VisualBase):
    """A cone along local z: base at -length/2, apex at +length/2."""


class VisualEllipsoid(EllipsoidGeometry, VisualBase):
    """An ellipsoid about the visual's origin."""


class VisualMesh(VisualBase):
    """A mesh of the scene."""

    type: Literal["mesh"]
    mesh: Name
    """Name in `meshes` of the scene."""


Visual = Annotated[
    Annotated[VisualSphere, Tag("union:sphere")]
    | Annotated[VisualBox, Tag("union:box")]
    | Annotated[VisualCapsule, Tag("union:capsule")]
    | Annotated[VisualCylinder, Tag("union:cylinder")]
    | Annotated[VisualCone, Tag("union:cone")]
    | Annotated[VisualEllipsoid, Tag("union:ellipsoid")]
    | Annotated[VisualMesh, Tag("union:mesh")],
    Discriminator(type_tag),
]
