"""Triggers: commands that are done when a quantity crosses a value.

A quantity is looked at after every step. It has crossed the value when it is at it or above and was
below it after the step before (`rising`), or the other way round (`falling`). The commands are done
then, before the next step, in the order of the scene.
"""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.action import Action
from cardan.schemas.base import Base, type_tag
from cardan.schemas.quantities import Boolean, Index, Name, Number, Positive

Crossing = Literal["rising", "falling", "either"]
Axis = Annotated[Index, Field(le=2)]


class TimeCondition(Base):
    """The first step that ends at a time or later."""

    type: Literal["time"]
    at: Positive
    """Simulated time [s]."""


class CoordinateCondition(Base):
    """A coordinate of a joint crosses a value."""

    type: Literal["coordinate"]
    joint: Name
    """Name of the joint."""
    axis: Axis = 0
    """Number of the coordinate, from 0."""
    value: Number
    """Value that is crossed; angles count on beyond a turn [m or rad]."""
    crossing: Crossing = "rising"
    """Which way."""


class VelocityCondition(Base):
    """The velocity of a joint coordinate crosses a value."""

    type: Literal["velocity"]
    joint: Name
    """Name of the joint."""
    axis: Axis = 0
    """Number of the coordinate, from 0."""
    value: Number
    """Value that is crossed [m/s or rad/s]."""
    crossing: Crossing = "rising"
    """Which way."""


class ForceCondition(Base):
    """The size of a joint's reaction crosses a value: that which `breaking_force` is compared with.

    It is the mean over a step; blows count as their impulse over `dt`. Not while its bodies sleep.
    """

    type: Literal["force"]
    joint: Name
    """Name of the joint."""
    value: Positive
    """Value that is crossed [N], of a gear [N m]."""
    crossing: Crossing = "rising"
    """Which way."""


class ContactCondition(Base):
    """A body begins to touch (`rising`), or touches no more (`falling`)."""

    type: Literal["contact"]
    body: Name
    """Name of the body."""
    other: Name | None = None
    """The body it touches; none: any."""
    crossing: Crossing = "rising"
    """Begin, end or either."""


class ContactForceCondition(Base):
    """The size of the sum of the contact forces on a body crosses a value: a mean over a step."""

    type: Literal["contact_force"]
    body: Name
    """Name of the body."""
    other: Name | None = None
    """Only forces from this body; none: from all."""
    value: Positive
    """Value that is crossed [N]."""
    crossing: Crossing = "rising"
    """Which way."""


When = Annotated[
    Annotated[TimeCondition, Tag("union:time")]
    | Annotated[CoordinateCondition, Tag("union:coordinate")]
    | Annotated[VelocityCondition, Tag("union:velocity")]
    | Annotated[ForceCondition, Tag("union:force")]
    | Annotated[ContactCondition, Tag("union:contact")]
    | Annotated[ContactForceCondition, Tag("union:contact_force")],
    Discriminator(type_tag),
]


class Trigger(Base):
    """Commands that are done when a condition is met."""

    name: Name
    """Unique among the triggers."""
    when: When
    """The condition."""
    do: Annotated[tuple[Action, ...], Field(min_length=1, max_length=100)]
    """The commands, as those of a live session; at most 100."""
    repeat: Boolean = False
    """Whether they are done each time, not only the first time."""
