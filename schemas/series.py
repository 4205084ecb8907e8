"""Quantities over time: a number (or vector), or samples {times, values, interpolation}."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.base import Base
from cardan.schemas.quantities import Number, QuaternionWXYZ, Vec3

Interpolation = Literal["linear", "step"]
MotionInterpolation = Literal["linear", "cubic"]


class NumberSeries(Base):
    """A number over time: held at its first and last value outside the times."""

    times: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Sample times, strictly increasing [s]."""
    values: Annotated[tuple[Number, ...], Field(min_length=1)]
    """One value per time, in the unit of the quantity."""
    interpolation: Interpolation = "linear"
    """`linear` between samples, or `step`: a value holds until the next time."""


class VectorSeries(Base):
    """A vector over time: held at its first and last value outside the times."""

    times: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Sample times, strictly increasing [s]."""
    values: Annotated[tuple[Vec3, ...], Field(min_length=1)]
    """One vector per time, in the unit of the quantity."""
    interpolation: Interpolation = "linear"
    """`linear` between samples, or `step`: a value holds until the next time."""


class PoseSeries(Base):
    """Poses of a body over time: held at the first before the times, and at the last after them."""

    times: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Sample times, strictly increasing [s]."""
    positions: tuple[Vec3, ...] | None = None
    """Body origin in W, one for each time; none: the `position` of the body [m]."""
    orientations: tuple[QuaternionWXYZ, ...] | None = None
    """Body to world, [w, x, y, z], one for each time; none: the `orientation` of the body."""
    interpolation: MotionInterpolation = "linear"
    """`linear`: straight lines and turns of constant rate between samples; `cubic`: splines with
    continuous accelerations through all samples, turns in rotation vectors."""


def _series_tag(value: Any) -> str:
    series = isinstance(value, (dict, NumberSeries, VectorSeries))
    return "union:series" if series else "union:constant"


Target = Annotated[
    Annotated[Number, Tag("union:constant")] | Annotated[NumberSeries, Tag("union:series")],
    Discriminator(_series_tag),
]
VectorTarget = Annotated[
    Annotated[Vec3, Tag("union:constant")] | Annotated[VectorSeries, Tag("union:series")],
    Discriminator(_series_tag),
]
