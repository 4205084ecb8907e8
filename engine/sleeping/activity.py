"""Activity of each body in this step: its kind, ASLEEP, or ABSENT."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.prescribed_motion import velocity_at_end
from cardan.engine.sleeping.wake import moves, return_contacts, wake_by_motion, wake_by_time
from cardan.engine.spatial.vec3 import ZERO3
from cardan.engine.world.model import ABSENT, ASLEEP, DYNAMIC, KINEMATIC, STATIC
from cardan.engine.world.world import World


@kernel
def write_activity(world: World) -> None:
    """STATIC, KINEMATIC or DYNAMIC as in the scene; ASLEEP for sleeping bodies, ABSENT for absent.

    If sleeping is enabled, a kinematic body that rests in this step counts as static: it wakes no
    body.

    Writes  work.motion.activity (n,), which is model.bodies.kind of the world
    """
    kind, state, activity = world.kind, world.state, world.work.motion.activity
    motion = world.model.prescribed
    for i in range(kind.shape[0]):
        activity[i] = kind[i] if state.present[i] == 1 else ABSENT
        if world.options.sleep.enabled == 0:
            continue
        if activity[i] == DYNAMIC and state.asleep_with[i] >= 0:
            activity[i] = ASLEEP
        elif activity[i] == KINEMATIC and not moves(state, i):
            activity[i] = STATIC
    if world.options.sleep.enabled == 1:
        for m in range(motion.body.shape[0]):
            i = motion.body[m]
            if activity[i] == STATIC and velocity_at_end(world, m) != (ZERO3, ZERO3):
                activity[i] = KINEMATIC


@kernel
def wake_all_due(world: World) -> None:
    """Wake the bodies that do not rest in this step, by what time and moving bodies do to them."""
    if world.options.sleep.enabled == 1:
        wake_by_time(world)
        write_activity(world)
        wake_by_motion(world)


@kernel
def update_activity(world: World) -> None:
    """Restore the cached contacts of woken bodies, and write the activity of every body."""
    if world.options.sleep.enabled == 1:
        return_contacts(world.model.shapes, world.state)
    write_activity(world)
