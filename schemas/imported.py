"""What an import of a foreign model asks for and answers: options, the scene, and a report."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from cardan.schemas.base import Base
from cardan.schemas.options import ChosenFormulation
from cardan.schemas.quantities import Boolean, Text

NoteKind = Literal["dropped", "approximated", "guessed"]


def _number_as_text(value: Any) -> Any:
    """`keyframe=1` on the command line and in Python is a number; names are texts."""
    return str(value) if type(value) is int else value


class ImportOptions(Base):
    """How a URDF or MJCF model becomes a scene."""

    root: Literal["fixed", "free"] = "fixed"
    """URDF: whether the root link is fixed to the world or floats."""
    links: Literal["merged", "kept"] = "merged"
    """`merged`: links on fixed joints become part of the body that carries them; `kept`: those
    with mass stay bodies of their own on fixed joints."""
    keyframe: Annotated[Text | None, BeforeValidator(_number_as_text)] = None
    """MJCF: name or number of the keyframe to start from. URDF: name of a <group_state> of the
    SRDF beside it. None: `home` if there is one, else the reference configuration."""
    formulation: ChosenFormulation = "maximal"
    """Formulation of the scene. It decides what can be exact: see the report."""
    drives: Literal["none", "position"] = "none"
    """URDF: `position` gives every hinge and slider that mimics none a rigid position motor that
    holds the start, with the effort and the velocity of its <limit> as bounds."""
    ground: Boolean = False
    """Whether to add a plane below the lowest shape, for models that bring none."""
    visuals: Boolean = True
    """Whether bodies get the shapes of the model that are only seen; they can be most of a scene's
    size."""
    main: Text | None = None
    """Path of the model in an archive that holds several."""


class ImportNote(Base):
    """One thing the scene does not say as the model did."""

    kind: NoteKind
    """`dropped`: not in the scene; `approximated`: there, and not the same; `guessed`: the model
    did not say it."""
    code: str
    """Stable name of what happened."""
    message: str
    """What happened, and what it means for the motion."""
    where: list[str] = Field(default_factory=list)
    """Elements of the model, as `joint 'knee'`."""


class ImportReport(Base):
    """What became of a model."""

    format: Literal["urdf", "mjcf", "scene"]
    """Format of the model; `scene`: a scene of Cardan, whose mesh files were read."""
    name: str
    """Name the model gives itself."""
    compiler: str
    """What read it."""
    source: str
    """Path of the model in its folder or archive."""
    bodies: int
    """Bodies of the scene."""
    joints: int
    """Joints of the scene."""
    mass: float | None
    """Mass of all dynamic bodies [kg]; None: a scene, where densities may stand for it."""
    keyframe: str | None = None
    """Keyframe or state it starts from."""
    notes: list[ImportNote] = Field(default_factory=list)
    """What was dropped, approximated and guessed."""


class ImportAnswer(Base):
    """The scene of a model, and the report."""

    scene: dict[str, Any]
    """A scene document that validates."""
    report: ImportReport
    """What became of the model."""
