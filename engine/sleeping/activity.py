"""Activity of each body in this step: its kind, ASLEEP, or ABSENT."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.sleeping.wake import return_contacts
from cardan.engine.spatial.vec3 import load3
from cardan.engine.world.model import ABSENT, ASLEEP, DYNAMIC, KINEMATIC, STATIC
from cardan.engine.world.world import World

NOT_AT_ALL = (0.0, 0.0, 0.0)


@kernel
def write_activity(world: World) -> None:
    """STATIC, KINEMATIC or DYNAMIC as in the scene; ASLEEP for sleeping bodies, ABSENT for absent.

    If sleeping is enabled, a kinematic body at rest counts as static: it wakes no body.

    Writes  work.motion.activity (n,), which is model.bodies.kind of the world
    """
    kind, state, activity = world.kind, world.state, world.work.motion.activity
    for i in range(kind.shape[0]):
        activity[i] = kind[i] if state.present[i] == 1 else ABSENT
        if world.options.sleep.enabled == 0:
            continue
        if activity[i] == DYNAMIC and state.asleep_with[i] >= 0:
            activity[i] = ASLEEP
        elif activity[i] == KINEMATIC and load3(state.v_WB_W, i) == NOT_AT_ALL:
            activity[i] = KINEMATIC if load3(state.w_WB_W, i) != NOT_AT_ALL else STATIC


@kernel
def update_activity(world: World) -> None:
    """Restore the cached contacts of woken bodies, and write the activity of every body."""
    if world.options.sleep.enabled == 1:
        return_contacts(world.model.shapes, world.state)
    write_activity(world)
