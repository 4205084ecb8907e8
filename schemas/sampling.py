"""Distributions that values of variants are drawn from."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from cardan.schemas.base import Base, type_tag
from cardan.schemas.quantities import Integer, Number, Positive

SamplingMethod = Literal["random", "latin_hypercube", "sobol"]


def _ordered(low: float, high: float) -> None:
    if low >= high:
        raise PydanticCustomError(
            "empty_range", "`low` is {low} and `high` is {high}; `low` must be smaller.",
            {"low": low, "high": high},
        )  # fmt: skip


class Uniform(Base):
    """All values of a range are equally likely."""

    type: Literal["uniform"]
    """Kind of distribution."""
    low: Number
    """Smallest value."""
    high: Number
    """Largest value."""

    @model_validator(mode="after")
    def _check(self) -> "Uniform":
        _ordered(self.low, self.high)
        return self


class LogUniform(Base):
    """All orders of magnitude of a range are equally likely."""

    type: Literal["log_uniform"]
    """Kind of distribution."""
    low: Positive
    """Smallest value."""
    high: Positive
    """Largest value."""

    @model_validator(mode="after")
    def _check(self) -> "LogUniform":
        _ordered(self.low, self.high)
        return self


class Normal(Base):
    """A normal distribution, cut at the bounds if it has any."""

    type: Literal["normal"]
    """Kind of distribution."""
    mean: Number
    """Mean, before it is cut."""
    deviation: Positive
    """Standard deviation, before it is cut."""
    low: Number | None = None
    """Smallest value; none: unbounded."""
    high: Number | None = None
    """Largest value; none: unbounded."""

    @model_validator(mode="after")
    def _check(self) -> "Normal":
        if self.low is not None and self.high is not None:
            _ordered(self.low, self.high)
        return self


class Integers(Base):
    """All whole numbers of a range are equally likely."""

    type: Literal["integers"]
    """Kind of distribution."""
    low: Integer
    """Smallest value."""
    high: Integer
    """Largest value."""

    @model_validator(mode="after")
    def _check(self) -> "Integers":
        _ordered(self.low, self.high)
        return self


Distribution = Annotated[
    Annotated[Uniform, Tag("union:uniform")]
    | Annotated[LogUniform, Tag("union:log_uniform")]
    | Annotated[Normal, Tag("union:normal")]
    | Annotated[Integers, Tag("union:integers")],
    Discriminator(type_tag),
]
"""What values are drawn from."""

Seed = Annotated[Integer, Field(ge=0)]
