"""Collision shapes: a union on `type`. Lengths in m, each posed in the body frame."""

from math import pi
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
from cardan.schemas.quantities import (
    ALL_GROUPS,
    Bits32,
    Color,
    Direction,
    Index,
    Name,
    Number,
    Positive,
    QuaternionWXYZ,
    Vec2Positive,
    Vec3,
)


class ShapeBase(Base):
    """What every shape has: its pose in the body, its material and its collision filter.

    Shapes a and b may touch when group(a) & mask(b) and group(b) & mask(a) are both non-zero.
    """

    position: Vec3 = (0.0, 0.0, 0.0)
    """Origin of the shape in the body frame [m]."""
    orientation: QuaternionWXYZ = (1.0, 0.0, 0.0, 0.0)
    """Shape to body, [w, x, y, z]."""
    material: Name | None = None
    """Name in `materials`; without one: friction 0.5, restitution 0."""
    collision_group: Bits32 = 1
    """Bits of the groups this shape belongs to."""
    collision_mask: Bits32 = ALL_GROUPS
    """Bits of the groups this shape may touch."""
    color: Color | None = None
    """For pictures: '#rrggbb', a CSS name, or [r, g, b] fractions."""


class Sphere(SphereGeometry, ShapeBase):
    """A ball about the shape's origin."""


class Box(BoxGeometry, ShapeBase):
    """A cuboid about the shape's origin."""


class Capsule(CapsuleGeometry, ShapeBase):
    """A cylinder along local z with half balls at both ends."""


class Cylinder(CylinderGeometry, ShapeBase):
    """A cylinder along local z, centred at the shape's origin."""


class Cone(ConeGeometry, ShapeBase):
    """A cone along local z: base at -length/2, apex at +length/2."""


class Ellipsoid(EllipsoidGeometry, ShapeBase):
    """An ellipsoid about the shape's origin."""


class Tube(ShapeBase):
    """A hollow cylinder along local z, open at both ends, centred at the shape's origin."""

    type: Literal["tube"]
    inner_radius: Positive
    """Radius of the bore [m]."""
    outer_radius: Positive
    """Radius of the outside [m]."""
    length: Positive
    """Full length along z [m]."""


class Ring(ShapeBase):
    """A torus about local z."""

    type: Literal["ring"]
    major_radius: Positive
    """From the shape's origin to the middle of the cross section [m]."""
    minor_radius: Positive
    """Radius of the cross section, less than `major_radius` [m]."""


class Bowl(ShapeBase):
    """A cap of a hollow ball, open towards local z; the origin is the centre of the ball."""

    type: Literal["bowl"]
    inner_radius: Positive
    """Radius of the hollow [m]."""
    outer_radius: Positive
    """Radius of the outside [m]."""
    angle: Annotated[Positive, Field(le=0.5 * pi)] = 0.5 * pi
    """Between the axis and the rim, seen from the centre; pi/2 is half a ball [rad]."""


class Plane(ShapeBase):
    """The half space normal . x <= offset, solid; static bodies only."""

    type: Literal["plane"]
    normal: Direction
    """Out of the solid; any length but zero [-]."""
    offset: Number = 0.0
    """Distance of the surface from the shape's origin along the unit normal [m]."""


class Convex(ShapeBase):
    """The convex hull of points."""

    type: Literal["convex"]
    points: Annotated[tuple[Vec3, ...], Field(min_length=4)]
    """At least four points that do not lie in one plane [m]."""


class Mesh(ShapeBase):
    """A triangle mesh; on a static or kinematic body as it is, on a dynamic one as convex pieces.

    Triangles push to the side they are counter-clockwise seen from. The inside of a closed mesh is
    solid; an open one is a sheet that holds back what comes from its front. On a dynamic body it
    must be closed; one that is not convex needs the extra `cardan[meshes]`.
    """

    type: Literal["mesh"]
    vertices: Annotated[tuple[Vec3, ...], Field(min_length=3)]
    """Vertices [m]; those at one place count as one."""
    faces: Annotated[tuple[tuple[Index, Index, Index], ...], Field(min_length=1)]
    """Triangles: three vertex indices each, counter-clockwise seen from outside."""


class Heightfield(ShapeBase):
    """Heights over a rectangle centred at the shape's origin; static bodies only.

    All below is solid, as far down as the rectangle is wide. Each cell is cut in two along the
    diagonal between its corners of high x, low y and low x, high y.
    """

    type: Literal["heightfield"]
    heights: Annotated[tuple[tuple[Number, ...], ...], Field(min_length=2)]
    """Rows along y (low to high), in each row along x; at least 2 x 2 [m]."""
    size: Vec2Positive
    """Extent along x and y [m]."""


Shape = Annotated[
    Annotated[Sphere, Tag("union:sphere")]
    | Annotated[Box, Tag("union:box")]
    | Annotated[Capsule, Tag("union:capsule")]
    | Annotated[Cylinder, Tag("union:cylinder")]
    | Annotated[Cone, Tag("union:cone")]
    | Annotated[Ellipsoid, Tag("union:ellipsoid")]
    | Annotated[Tube, Tag("union:tube")]
    | Annotated[Ring, Tag("union:ring")]
    | Annotated[Bowl, Tag("union:bowl")]
    | Annotated[Plane, Tag("union:plane")]
    | Annotated[Convex, Tag("union:convex")]
    | Annotated[Mesh, Tag("union:mesh")]
    | Annotated[Heightfield, Tag("union:heightfield")],
    Discriminator(type_tag),
]
