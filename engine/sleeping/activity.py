"""What each body does in this step: the kinds of the model, as they are now."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.kernel import kernel
from engine.spatial.vec3 import load3
from engine.world.model import ASLEEP, DYNAMIC, KINEMATIC, STATIC, Bodies, Model
from engine.world.options import SleepOptions
from engine.world.state import State

NOT_AT_ALL = (0.0, 0.0, 0.0)


@kernel
def write_activity(kind: NDArray, state: State, sleep: SleepOptions, activity: NDArray) -> None:
    """STATIC, KINEMATIC or DYNAMIC as in the model, but bodies that sleep are ASLEEP.

    Where bodies may sleep, a kinematic body that stands still counts as static: it wakes nobody.

    Writes  activity (n,)
    """
    for i in range(kind.shape[0]):
        activity[i] = kind[i]
        if sleep.enabled == 0:
            continue
        if kind[i] == DYNAMIC and state.asleep_with[i] >= 0:
            activity[i] = ASLEEP
        elif kind[i] == KINEMATIC and load3(state.v_WB_W, i) == NOT_AT_ALL:
            activity[i] = KINEMATIC if load3(state.w_WB_W, i) != NOT_AT_ALL else STATIC


@kernel
def as_active(model: Model, activity: NDArray) -> Model:
    """The model with what bodies do now in place of their kinds: what sleeps is passed over."""
    bodies = model.bodies
    return Model(
        Bodies(
            activity,
            bodies.mass,
            bodies.inverse_mass,
            bodies.inertia_B,
            bodies.inverse_inertia_B,
            bodies.com_B,
            bodies.node,
        ),
        model.shapes,
        model.materials,
        model.joints,
        model.targets,
        model.forces,
        model.meshes,
        model.tree,
    )
