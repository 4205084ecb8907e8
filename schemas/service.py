"""What the service says of itself."""

from typing import Literal

from pydantic import ConfigDict, RootModel

from cardan.schemas.base import Base


class Health(Base):
    """The service works."""

    status: Literal["alive"]
    """It does."""


class Readiness(Base):
    """Runs and sessions can start."""

    status: Literal["ready"]
    """They can."""
    checks: dict[str, bool]
    """What was checked."""


class LimitsAnswer(Base):
    """Limits of the service; sizes in bytes, times in seconds."""

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)

    scene: dict[str, int | float]
    """Limits of scenes."""


class FormatInfo(Base):
    """A file format of recordings."""

    name: str
    """Value of `format`."""
    media_type: str
    """Value of `Accept`."""
    ending: str
    """Ending of its file names."""
    holds: str
    """One table, or everything."""


class FormatList(Base):
    """All formats of recordings."""

    items: list[FormatInfo]
    """Formats."""
    tables: list[str]
    """Tables of a recording."""


class JsonSchema(Base):
    """A JSON Schema."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Versions(RootModel[dict[str, str | None]]):
    """Versions by name; null: not installed."""
