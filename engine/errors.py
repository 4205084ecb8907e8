"""Failures of a running simulation: what left its range, of which body, when, and the remedy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cardan.engine.bodies.finite import LARGEST
from cardan.engine.world.state import State


class Failure(NamedTuple):
    """Why a simulation cannot go on: a value of a body left the range of finite motions, or an
    adaptive integrator cannot finish a step of the grid."""

    step: int
    time: float  # s
    body: str  # "" where an integrator failed
    quantity: str  # of the body, as "linear velocity"; "work" where an integrator failed
    message: str  # what happened, and the remedy


def work_failure(state: State, integrator: str, most: int) -> Failure:
    """Describe a step of the grid that an integrator could not finish, and a remedy."""
    step, time = int(state.step[0]), float(state.time[0])
    if integrator == "implicit_midpoint":
        return Failure(
            step,
            time,
            "",
            "work",
            f"At step {step} (t = {time:.6g} s) the equation of a step of 'implicit_midpoint' is "
            "not solved by Newton's method: the step is too long for this motion. Make "
            '`simulation.dt` smaller, or use `simulation.integrator`: "dop853" or "radau".',
        )
    other = "radau" if integrator == "dop853" else "dop853"
    return Failure(
        step,
        time,
        "",
        "work",
        f"At step {step} (t = {time:.6g} s) '{integrator}' needs more than {most} evaluations of "
        "the equations of motion for one step of the grid, or steps below rounding: something "
        "jumps there or is very stiff. Make `simulation.integrator_tolerance` larger or "
        f'`simulation.dt` smaller, or try `simulation.integrator`: "{other}" or '
        '"semi_implicit_euler".',
    )


def find_failure(state: State, body: int, names: tuple[str, ...]) -> Failure:
    """Find the quantity of body number `body` that is not finite; describe it and a remedy."""
    quantities = {
        "position": state.p_WB,
        "orientation": state.q_WB,
        "linear velocity": state.v_WB_W,
        "angular velocity": state.w_WB_W,
    }
    bad = [name for name, a in quantities.items() if not (np.abs(a[body]) < LARGEST / 12).all()]
    quantity = bad[0] if bad else "state"
    step, time = int(state.step[0]), float(state.time[0])
    return Failure(
        step,
        time,
        names[body],
        quantity,
        f"At step {step} (t = {time:.6g} s) the {quantity} of body '{names[body]}' is not finite "
        f"or beyond {LARGEST:g}: the motion blew up. A smaller dt, softer springs or less stiff "
        "motors may help.",
    )
