"""Commands that push the simulation: from an op and its arguments to a call of the engine.

Arguments have passed the models of `service.sessions.parse_command`; what only the scene knows
(does this body exist, has this joint a motor) is checked here. All vectors are in W, SI units.
"""

from collections.abc import Callable, Sequence
from typing import Any

from cardan.engine import Simulation
from cardan.schemas import Fault
from cardan.schemas.checks.names import unknown_name
from cardan.schemas.error import shown
from cardan.schemas.given import GivenInvalid
from cardan.service.errors import ErrorCode, ServiceError

Arguments = dict[str, Any]


def apply_command(
    simulation: Simulation, op: str, arguments: Arguments, asked: str | None = None
) -> None:
    """Do what `op` says, at the next step. Raises ServiceError.

    `asked` is the op that a client sent, where it is another one.
    """
    check_name(arguments, "body", "body", simulation.body_names)
    check_name(arguments, "joint", "joint", simulation.joint_names)
    _check_joints(arguments, simulation.joint_names)
    try:
        COMMANDS[op](simulation, arguments)
    except (ValueError, KeyError, IndexError) as error:
        raise ServiceError(
            ErrorCode.COMMAND_IMPOSSIBLE,
            f"The simulation cannot take {asked or op}: {error.args[0]}.",
            errors=[_fault_of(error, arguments).model_dump()],
        ) from error


def _fault_of(error: Exception, arguments: Arguments) -> Fault:
    """The fault of a value whose place the error says, else of the joint or body it is about."""
    if isinstance(error, GivenInvalid):
        place, got = error.pointer, error.got
    else:
        name = next((name for name in ("joint", "body") if name in arguments), None)
        place, got = ("", None) if name is None else (f"/{name}", arguments[name])
    words = str(error.args[0])
    message = f"{words[:1].upper()}{words[1:]}."
    return Fault(pointer=place, code="unsuitable", message=message, got=shown(got))


def check_name(arguments: Arguments, field: str, kind: str, known: Sequence[str]) -> None:
    """Refuse a name in `field` that no such thing of the scene has. Raises ServiceError."""
    name = arguments.get(field)
    if name is None or name in known:
        return
    fault = unknown_name(kind, [field], name, list(known))
    raise ServiceError(ErrorCode(f"unknown_{kind}"), fault.message, errors=[fault.model_dump()])


def _check_joints(arguments: Arguments, known: Sequence[str]) -> None:
    """Refuse coordinates and velocities of joints that the scene lacks. Raises ServiceError."""
    faults = [
        unknown_name("joint", [field, name], name, list(known))
        for field in ("q", "qd")
        for name in arguments.get(field) or {}
        if name not in known
    ]
    if faults:
        listed = [fault.model_dump() for fault in faults]
        raise ServiceError(ErrorCode.UNKNOWN_JOINT, faults[0].message, errors=listed)


def _set_motor(simulation: Simulation, a: Arguments) -> None:
    simulation.set_motor(a["joint"], a["target"], axis=a["axis"], max_force=a["max_force"])


def _apply_force(simulation: Simulation, a: Arguments) -> None:
    simulation.apply_wrench(
        a["body"], a["force"], a["torque"], point=a["point"], duration=a["duration"]
    )


COMMANDS: dict[str, Callable[[Simulation, Arguments], None]] = {
    "set_motor": _set_motor,
    "apply_force": _apply_force,
    "apply_impulse": lambda s, a: s.apply_impulse(a["body"], a["impulse"], a["point"]),
    "set_velocity": lambda s, a: s.set_velocity(a["body"], a["linear"], a["angular"]),
    "set_state": lambda s, a: s.set_state(a["q"], a["qd"]),
    "gravity": lambda s, a: s.set_gravity(a["value"]),
    "break_joint": lambda s, a: s.break_joint(a["joint"]),
    "appear": lambda s, a: s.appear(a["body"]),
    "vanish": lambda s, a: s.vanish(a["body"]),
    "grab": lambda s, a: s.grab(a["body"], a["point"]),
    "grab_move": lambda s, a: s.grab_move(a["target"]),
    "release": lambda s, a: s.release(),
}
