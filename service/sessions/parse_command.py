"""A command as it comes from a client: checked, with every fault named."""

from typing import Any

from pydantic import Field, ValidationError

from cardan.schemas import command as c
from cardan.schemas.error import Fault, found, in_short, shown
from cardan.schemas.quantities import Count
from cardan.schemas.spelling import did_you_mean, listed
from cardan.schemas.translate import translate
from cardan.service.errors import ErrorCode, ServiceError

MAX_STEPS = 10_000_000
MAX_SAMPLED_VALUES = 2_000_000


class SampledStep(c.Step):
    """Does some steps, and notes the state every few of them."""

    n: Count = Field(1, le=MAX_STEPS)
    """Number of steps."""
    sample_every: Count | None = None
    """Steps between two samples; none: no series is returned."""


MODELS: dict[str, type[c.CommandBase]] = {
    "pause": c.Pause,
    "resume": c.Resume,
    "step": SampledStep,
    "speed": c.Speed,
    "reset": c.Reset,
    "set_motor": c.SetMotor,
    "grab": c.Grab,
    "grab_move": c.GrabMove,
    "release": c.Release,
    "apply_force": c.ApplyForce,
    "apply_impulse": c.ApplyImpulse,
    "set_velocity": c.SetVelocity,
    "set_state": c.SetState,
    "gravity": c.Gravity,
    "break_joint": c.BreakJoint,
    "appear": c.Appear,
    "vanish": c.Vanish,
}
CONTROL_MODELS: dict[str, type[c.CommandBase]] = {
    "take_control": c.TakeControl,
    "release_control": c.ReleaseControl,
}
VIEWER_MODELS: dict[str, type[c.CommandBase]] = {"seek": c.Seek, "live": c.Live}


def parse_command(
    document: Any, models: dict[str, type[c.CommandBase]] = MODELS
) -> tuple[str, dict[str, Any]]:
    """The op of a command and its arguments, defaults filled in. Raises ServiceError."""
    if not isinstance(document, dict):
        message = f"A command is a JSON object; found {found(document)}."
        raise _invalid([_fault("", "not_an_object", message, document)])
    op = document.get("op")
    if not isinstance(op, str) or op not in models:
        what = f"found {found(op)}" if "op" in document else "it is missing"
        message = f"`op` must be one of {listed(models)}; {what}."
        hint = did_you_mean(op, models) if isinstance(op, str) else None
        raise _invalid([_fault("/op", "unknown_op", message, op, hint)])
    model = models[op]
    try:
        command = model.model_validate(document)
    except ValidationError as error:
        raise _invalid(translate(error, model, document)) from error
    return op, command.model_dump(exclude={"op", "id"})


def check_series(arguments: dict[str, Any], bodies: int) -> None:
    """Refuse a `step` whose series would be too large. Raises ServiceError."""
    every = arguments.get("sample_every")
    if every is None:
        return
    values = -(-arguments["n"] // every) * 13 * bodies
    if values > MAX_SAMPLED_VALUES:
        message = f"The series would have {values} values; the limit is {MAX_SAMPLED_VALUES}."
        hint = "Take fewer steps at once, or a larger sample_every."
        raise _invalid([_fault("/sample_every", "limit_exceeded", message, every, hint)])


def _fault(pointer: str, code: str, message: str, got: Any, hint: str | None = None) -> Fault:
    return Fault(pointer=pointer, code=code, message=message, got=shown(got), hint=hint)


def _invalid(faults: list[Fault]) -> ServiceError:
    errors = [fault.model_dump() for fault in faults]
    return ServiceError(ErrorCode.COMMAND_INVALID, in_short("command", faults), errors=errors)
