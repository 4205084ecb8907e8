"""Targets of motors that change while a run goes on, without Python between two steps."""

from __future__ import annotations

from math import isnan

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.impact_rows import drives_at_once
from cardan.engine.sleeping.wake import disturb
from cardan.engine.world.model import MOTOR_VELOCITY
from cardan.engine.world.state import DRIVES_SET, VELOCITIES_KEPT
from cardan.engine.world.world import World


@kernel
def command(world: World, u: int, target: float) -> None:
    """Command the target of motor u of the controls; of a joint that broke nothing is left.

    A velocity motor without a bound on its force has a new speed at once, as at the start.

    Writes  state.motor_target, velocities_changed; the bodies of the joint wake
    """
    model, state, motors = world.model, world.state, world.controls.motors
    j, axis = motors[u, 0], motors[u, 1]
    if not isnan(state.broken[j, 0]):
        return
    disturb(state, model.joints.body_a[j])
    disturb(state, model.joints.body_b[j])
    jumps = state.motor_target[j, axis] != target
    state.motor_target[j, axis] = target
    is_speed = model.joints.motor_kind[j, axis] == MOTOR_VELOCITY
    starts = jumps and is_speed and drives_at_once(world, j, axis)
    if starts and state.velocities_changed[0] == VELOCITIES_KEPT:
        state.velocities_changed[0] = DRIVES_SET


@kernel
def command_motors(world: World) -> None:
    """Command all motors of the controls at the beginning of a step from which on a row holds.

    Check   tests/engine/test_controls.py
    """
    controls, step = world.controls, world.state.step[0]
    row = step // controls.held[0]
    if row < controls.targets.shape[0] and step == row * controls.held[0]:
        for u in range(controls.motors.shape[0]):
            command(world, u, controls.targets[row, u])
