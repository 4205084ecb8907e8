"""Joints between a parent (may be `world`) and a child: a union on `type`.

The coordinate of a joint is the motion of the child relative to the parent along or about the
axis, zero at the poses of the scene (of a distance joint: the distance itself). With `initial` the
bodies beyond the joint start elsewhere; whatever else the scene says of places, anchors, axes and
rest lengths still refers to the poses of the scene. `anchor`, `axis`, `axis2` are
given in W at the start, or in the parent's frame with `"frame": "parent"`; `axis` is then fixed in
the parent, `axis2` in the child.
"""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.base import Base, type_tag
from cardan.schemas.drive import BallLimits, BallMotor, JointSpring, Limits, Motor
from cardan.schemas.initial import Initial, InitialBall, InitialPair, InitialTriple
from cardan.schemas.quantities import (
    Boolean,
    Direction,
    Fraction,
    Name,
    NonNegative,
    Number,
    Positive,
    Vec3,
)


class JointBase(Base):
    """What every joint has."""

    name: Name
    """Unique among the joints."""
    parent: Name
    """Name of a body, or `world`."""
    child: Name
    """Name of another body."""
    frame: Literal["world", "parent"] = "world"
    """Frame of `anchor`, `anchor2`, `axis`, `axis2`: W, or the parent's, both at the start."""
    friction: NonNegative = 0.0
    """Coulomb friction of each free motion of the joint; the three rotations of a ball have one
    between them, and so have the two displacements of a planar joint [N or N m]."""
    damping: NonNegative = 0.0
    """Viscous damping of each free motion of the joint [N s/m or N m s/rad]."""
    armature: NonNegative = 0.0
    """Inertia of the rotors that turn with each free motion of the joint, as the joint feels it
    behind its gears; reduced coordinates only [kg or kg m^2]."""
    erp: Fraction | None = None
    """Share of the position error removed per step; none: the engine's choice [-]."""
    cfm: NonNegative = 0.0
    """Constraint force mixing: compliance of the joint's rows per step [1/kg]."""
    collide_connected: Boolean = False
    """Whether parent and child may touch each other."""
    breaking_force: Positive | None = None
    """Reaction force beyond which the joint is gone from the next step on; of a gear the torque on
    the child; none: never. Blows count: they are impulses over the time step [N]."""


class Ball(JointBase):
    """Keeps one point of both bodies together: three free rotations."""

    type: Literal["ball"]
    anchor: Vec3
    """The common point [m]."""
    axis: Direction | None = None
    """Axis of the cone and twist limits; needed with `limits` [-]."""
    limits: BallLimits | None = None
    """Cone and twist limits."""
    motor: BallMotor | None = None
    """Drive of the three rotations."""
    initial: InitialBall | None = None
    """Orientation and angular velocity at the start."""


class Hinge(JointBase):
    """One rotation about `axis` through `anchor`."""

    type: Literal["hinge"]
    anchor: Vec3
    """A point of the axis [m]."""
    axis: Direction
    """Direction of the axis [-]."""
    limits: Limits | None = None
    """Stops of the angle."""
    motor: Motor | None = None
    """Drive of the angle."""
    spring: JointSpring | None = None
    """Torsion spring on the angle."""
    initial: Initial | None = None
    """Coordinate and velocity at the start."""


class Slider(JointBase):
    """One translation along `axis`."""

    type: Literal["slider"]
    anchor: Vec3 | None = None
    """Where forces and pictures place the joint; default: origin of the child [m]."""
    axis: Direction
    """Direction of the motion [-]."""
    limits: Limits | None = None
    """Stops of the displacement."""
    motor: Motor | None = None
    """Drive of the displacement."""
    spring: JointSpring | None = None
    """Spring on the displacement."""
    initial: Initial | None = None
    """Coordinate and velocity at the start."""


class Fixed(JointBase):
    """No relative motion."""

    type: Literal["fixed"]
    anchor: Vec3 | None = None
    """Where the reaction is reported; default: origin of the child [m]."""


class TwoAxisJoint(JointBase):
    """Two rotations, about `axis` (fixed in the parent) and `axis2` (fixed in the child)."""

    anchor: Vec3
    """The point where the axes meet [m]."""
    axis: Direction
    """First axis, fixed in the parent [-]."""
    axis2: Direction
    """Second axis, fixed in the child; not parallel to the first [-]."""
    limits: Limits | None = None
    """Stops of the first angle."""
    motor: Motor | None = None
    """Drive of the first angle."""
    limits2: Limits | None = None
    """Stops of the second angle."""
    motor2: Motor | None = None
    """Drive of the second angle."""
    spring: JointSpring | None = None
    """Hinge2: suspension along `axis`; universal: torsion spring on the first angle."""
    initial: InitialPair | None = None
    """Coordinates and velocities at the start."""


class Hinge2(TwoAxisJoint):
    """A wheel: steers about `axis`, rolls about `axis2`, may be sprung along `axis`."""

    type: Literal["hinge2"]


class Universal(TwoAxisJoint):
    """A Cardan joint: two rotations about crossing axes at right angles."""

    type: Literal["universal"]


class Cylindrical(JointBase):
    """Slides along and turns about `axis`: coordinate 0 the displacement, 1 the angle."""

    type: Literal["cylindrical"]
    anchor: Vec3
    """A point of the axis [m]."""
    axis: Direction
    """Direction of the axis [-]."""
    limits: Limits | None = None
    """Stops of the displacement."""
    motor: Motor | None = None
    """Drive of the displacement."""
    limits2: Limits | None = None
    """Stops of the angle."""
    motor2: Motor | None = None
    """Drive of the angle."""
    spring: JointSpring | None = None
    """Spring on the displacement."""
    initial: InitialPair | None = None
    """Coordinates and velocities at the start."""


class Planar(JointBase):
    """Moves in the plane across `axis`: coordinates 0 and 1 displacements, 2 the angle about it."""

    type: Literal["planar"]
    anchor: Vec3 | None = None
    """A point of the plane; default: origin of the child [m]."""
    axis: Direction
    """Normal of the plane [-]."""
    direction: Direction | None = None
    """First displacement, in the plane and fixed in the parent; the second follows by the right
    hand. What of it is along `axis` is left out. Default: any [-]."""
    limits: Limits | None = None
    """Stops of the first displacement."""
    motor: Motor | None = None
    """Drive of the first displacement."""
    limits2: Limits | None = None
    """Stops of the second displacement."""
    motor2: Motor | None = None
    """Drive of the second displacement."""
    limits3: Limits | None = None
    """Stops of the angle."""
    motor3: Motor | None = None
    """Drive of the angle."""
    initial: InitialTriple | None = None
    """Coordinates and velocities at the start."""


class Wheel(Base):
    """A wheel or drum on which one end of a cable is wound, about the anchor of its body.

    Where the body turns the wheel takes the cable along; on a body that does not turn the cable
    slides around it without friction. The cable stays in the plane of the wheel, and on it.
    """

    radius: Positive
    """Radius at which the cable runs [m]."""
    axis: Direction
    """Normal of the wheel, fixed in its body. Followed from parent to child the cable runs around
    the wheel by the right hand; the opposite axis leads it around the other side [-]."""


class Distance(JointBase):
    """Keeps `anchor` (on the parent) and `anchor2` (on the child) at their first distance.

    With `limits` the distance may vary between `lower` and `upper` (a rope has no `lower`); with a
    `spring` or a `motor` it may vary too, and `friction` and `damping` act along it. Where the
    anchors coincide the line between them is the direction in which they part.

    An anchor may be the middle of a wheel: the line then ends where it touches the wheel, and the
    distance is the length of the straight part plus what has been wound up since the start.
    """

    type: Literal["distance"]
    anchor: Vec3
    """A point of the parent [m]."""
    anchor2: Vec3
    """A point of the child [m]."""
    wheel: Wheel | None = None
    """A wheel of the parent about `anchor`, on which the cable is wound."""
    wheel2: Wheel | None = None
    """A wheel of the child about `anchor2`; its axis is parallel to that of `wheel`."""
    limits: Limits | None = None
    """Smallest and largest distance [m]."""
    spring: JointSpring | None = None
    """Makes the distance elastic; `rest` counts from the first distance."""
    motor: Motor | None = None
    """Drive of the distance: a winch, a cylinder."""


class Screw(JointBase):
    """Turns about `axis` and moves along it by `pitch` per turn: one coordinate, the angle."""

    type: Literal["screw"]
    anchor: Vec3
    """A point of the axis [m]."""
    axis: Direction
    """Direction of the axis [-]."""
    pitch: Number
    """Way along `axis` per turn, negative for a left-handed thread; not zero [m]."""
    limits: Limits | None = None
    """Stops of the angle."""
    motor: Motor | None = None
    """Drive of the angle."""
    spring: JointSpring | None = None
    """Torsion spring on the angle."""
    initial: Initial | None = None
    """Coordinate and velocity at the start."""


class Gear(JointBase):
    """Couples two turns: that of the child about `axis2` is `ratio` times the parent's.

    Turns count in W from the start (coordinate 0 the parent's, 1 the child's); a negative ratio
    turns the wheels against each other. The wheels need joints of their own, which also carry what
    the gear takes: the difference of the torques. On a carrier that turns about a parallel axis
    the turns are still those in W: a planet that rolls in a fixed ring is a gear of carrier and
    planet.
    """

    type: Literal["gear"]
    axis: Direction
    """Axis of the parent's turn, fixed in the parent [-]."""
    axis2: Direction | None = None
    """Axis of the child's turn, fixed in the child; default: `axis` [-]."""
    ratio: Number = 1.0
    """Turn of the child per turn of the parent; not zero [-]."""


class Rack(JointBase):
    """Couples a turn and a way: the child moves along `axis2` by `ratio` per radian of the parent.

    Turn (coordinate 0) and way of the child's centre of mass (coordinate 1) count in W from the
    start. Pinion and rack need joints of their own.
    """

    type: Literal["rack"]
    axis: Direction
    """Axis of the parent's turn, fixed in the parent [-]."""
    axis2: Direction
    """Direction of the child's way, fixed in W [-]."""
    ratio: Number
    """Way of the child per turn of the parent: the radius of the pinion; not zero [m/rad]."""


class Curve(Base):
    """A smooth function of a coordinate: the cubic spline through points (not-a-knot).

    Of up to four points it is their polynomial. Before the first and after the last it is straight.
    """

    points: Annotated[tuple[tuple[Number, Number], ...], Field(min_length=2, max_length=10000)]
    """Coordinate and value of each, coordinates ascending [m or rad, unit of the value]."""
    periodic: Boolean = False
    """Whether it repeats: the last point is one period after the first and has its value."""


class CouplingTerm(Base):
    """A joint coordinate, or a function of it, times a number."""

    joint: Name
    """Name of a joint of one or more scalar coordinates: not of a ball, gear, rack or coupling."""
    coordinate: Annotated[int, Field(ge=0, le=2, strict=True)] = 0
    """Which of its coordinates, counted from 0 [-]."""
    factor: Number
    """What the coordinate is multiplied by; not zero [unit of the offset per m or rad]."""
    curve: Curve | None = None
    """A function whose value is multiplied instead of the coordinate: a cam, a linkage's law; not
    with `stiffness` or `damping`."""


class Coupling(JointBase):
    """A relation of joint coordinates: the sum of `factor` times coordinate is `offset`.

    With `slack` it is a limit of the sum, and with the `curve` of a term that of any function: a
    follower on a cam. Differentials, planetary gears, tendons over several joints, fingers that
    move together. The relation is rigid, or, with `stiffness` or `damping`, a spring and damper on
    the sum: a belt. Distance joints in a coupling are segments of a cable, between points and
    around wheels of any bodies: only the sum of their lengths counts. A coupling has one
    coordinate, the sum. Its force on the sum is reported as that of a limit: on the joint of a term
    it acts `factor` times (by the slope of its curve).
    """

    parent: Literal["world"] = "world"
    """A coupling has no bodies of its own; leave this out."""
    child: Literal["world"] = "world"
    """A coupling has no bodies of its own; leave this out."""
    type: Literal["coupling"]
    terms: Annotated[tuple[CouplingTerm, ...], Field(min_length=1, max_length=1000)]
    """The coordinates, each once."""
    offset: Number | None = None
    """What the sum is; default: the sum at the poses of the scene, where all coordinates are 0 but
    those of distance joints [m or rad]."""
    stiffness: Positive | None = None
    """Makes the coupling a spring: force per deviation of the sum [N/m or N m/rad]."""
    slack: Boolean = False
    """Whether the sum may be less than `offset`: a rope, a limit; not with `stiffness` or
    `damping`."""


Joint = Annotated[
    Annotated[Ball, Tag("union:ball")]
    | Annotated[Hinge, Tag("union:hinge")]
    | Annotated[Slider, Tag("union:slider")]
    | Annotated[Hinge2, Tag("union:hinge2")]
    | Annotated[Universal, Tag("union:universal")]
    | Annotated[Fixed, Tag("union:fixed")]
    | Annotated[Cylindrical, Tag("union:cylindrical")]
    | Annotated[Planar, Tag("union:planar")]
    | Annotated[Distance, Tag("union:distance")]
    | Annotated[Screw, Tag("union:screw")]
    | Annotated[Gear, Tag("union:gear")]
    | Annotated[Rack, Tag("union:rack")]
    | Annotated[Coupling, Tag("union:coupling")],
    Discriminator(type_tag),
]
