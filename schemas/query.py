"""Queries of a live session that change nothing: rays and distances."""

from typing import Annotated, Literal

from pydantic import Field

from cardan.schemas.base import Base
from cardan.schemas.quantities import (
    ALL_GROUPS,
    Bits32,
    Direction,
    Finite,
    FiniteVec3,
    Index,
    Name,
    NonNegative,
    Vec3,
)

MAX_RAYS = 10_000


class Ray(Base):
    """A half line."""

    origin: Vec3
    """Where it begins, in W [m]."""
    direction: Direction
    """Where it goes, in W; of any length but zero."""
    max_distance: NonNegative | None = None
    """How far it goes; none: without end [m]."""


class RaycastRequest(Base):
    """Request to cast rays between two steps."""

    rays: Annotated[tuple[Ray, ...], Field(min_length=1, max_length=MAX_RAYS)]
    """At most 10000."""
    hits: Literal["nearest", "all"] = "nearest"
    """The nearest shape on each ray, or every one by distance."""
    mask: Bits32 = ALL_GROUPS
    """Only shapes are met whose `collision_group` shares a bit with it."""


class RayHit(Base):
    """The point where a ray meets a shape."""

    body: str
    """Name of the body."""
    shape: Index
    """Number of the shape within its body, from 0."""
    distance: Finite
    """From the origin of the ray; 0 when it begins inside [m]."""
    point: FiniteVec3
    """In W [m]."""
    normal: FiniteVec3
    """Out of the shape, in W; against the ray when it begins inside [-]."""


class RayHits(Base):
    """The hits of one ray."""

    hits: list[RayHit]
    """Nearest first; empty: nothing."""


class RaycastAnswer(Base):
    """The hits of all rays."""

    step: Index
    """Steps since the start."""
    time: Finite
    """Simulated time [s]."""
    results: list[RayHits]
    """One for each ray, in order."""


class ClosestPointsRequest(Base):
    """Request for the distance of two bodies."""

    body_a: Name
    """Name of the first body."""
    body_b: Name
    """Name of the second body."""


class ClosestPointsAnswer(Base):
    """The nearest pair of shapes of two bodies."""

    step: Index
    """Steps since the start."""
    time: Finite
    """Simulated time [s]."""
    distance: Finite
    """Between the surfaces; negative: depth of the overlap [m]."""
    point_a: FiniteVec3
    """On the first body, in W [m]."""
    point_b: FiniteVec3
    """On the second body, in W [m]."""
    normal: FiniteVec3
    """From the first to the second body, in W [-]."""
    shape_a: Index
    """Number of the shape within the first body, from 0."""
    shape_b: Index
    """Number of the shape within the second body, from 0."""
