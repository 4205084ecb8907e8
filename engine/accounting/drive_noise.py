"""Forces of rigid drives that alternate from step to step: noise, which positions do not show.

A mechanism that the step follows has a force that changes slowly. Where the equations of a loop
lose their rank, an error of them is a force that overshoots, comes back and overshoots again: three
changes of alternate sign. The least of the three is twice an amplitude that is surely noise.

    extremes[LIMITS + j + n + VARIED n + OF_A_DRIVE i :]   joint i, of its first coordinate
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.accounting.body_records import VARIED
from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.compiler.kernel import kernel
from cardan.engine.trees.impulses import has_loops
from cardan.engine.world.model import Model
from cardan.engine.world.rows import ROW_MOTOR
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# impulse of the last step, its last two changes, its largest; the largest amplitude that
# alternates [N s or N m s] and the end of that step [s]
LAST, CHANGE, CHANGE_BEFORE, LARGEST, NOISE, NOISE_TIME = range(6)
OF_A_DRIVE = 6
# steps after which there are three changes
FIRST_STEPS = 4


@kernel
def first_drive(model: Model) -> int:
    """Where the numbers of joint 0 are in extremes."""
    return LIMITS + model.joints.kind.shape[0] + (1 + VARIED) * model.bodies.kind.shape[0]


def drive_records(model: Model, state: State) -> NDArray:
    """(j, OF_A_DRIVE): the numbers of each joint."""
    n_joints, n = len(model.joints.kind), len(model.bodies.kind)
    first = LIMITS + n_joints + (1 + VARIED) * n
    return state.extremes[first : first + OF_A_DRIVE * n_joints].reshape(n_joints, OF_A_DRIVE)


@kernel
def record_drive_noise(world: World) -> None:
    """Note how far the forces of rigid drives alternate, in scenes with loops of trees.

    Reads   work.rows, problem.lam
    Writes  state.extremes
    Check   tests/engine/test_verdict.py
    """
    rows, lam, state = world.work.rows, world.work.problem.lam, world.state
    if not has_loops(world.model.tree):
        return
    extremes = state.extremes
    first = first_drive(world.model)
    for i in range(rows.count[1]):
        if rows.kind[i] != ROW_MOTOR or rows.axis[i] != 0 or rows.cfm[i] > 0.0:
            continue
        at = first + OF_A_DRIVE * rows.joint[i]
        change, last = lam[i] - extremes[at + LAST], extremes[at + CHANGE]
        before = extremes[at + CHANGE_BEFORE]
        extremes[at + LAST], extremes[at + CHANGE] = lam[i], change
        extremes[at + CHANGE_BEFORE] = last
        if state.step[0] < FIRST_STEPS:
            continue
        extremes[at + LARGEST] = max(extremes[at + LARGEST], abs(lam[i]))
        noise = 0.5 * min(abs(change), min(abs(last), abs(before)))
        if change * last < 0.0 and last * before < 0.0 and noise > extremes[at + NOISE]:
            extremes[at + NOISE] = noise
            extremes[at + NOISE_TIME] = (state.step[0] + 1) * world.options.time_step
