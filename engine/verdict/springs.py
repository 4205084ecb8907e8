"""Springs of a scene: how far each is stretched, and the body that it is of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.rotations import turn
from cardan.engine.verdict.motion import ends_of_spring
from cardan.engine.world.model import COUPLING, FORCE_SPRING, Model
from cardan.engine.world.state import State

Array = NDArray[np.float64]


def stretches(model: Model, state: State, motion: Array) -> Array:
    """(s,) m or rad: coordinates on which springs of joints and couplings act, and lengths of
    springs between bodies, as they are; torsion springs turn as the bodies they join.

    motion (j, 3, 2): coordinates of all joints now
    """
    joints, found = model.joints, list[float]()
    for j in np.flatnonzero(joints.spring_on == 1):
        if joints.kind[j] == COUPLING:
            terms = slice(joints.term_start[j], joints.term_start[j + 1])
            moved = motion[joints.term_joint[terms], joints.term_axis[terms], 0]
            found.append(float(joints.term_factor[terms] @ moved))
        else:
            found.append(float(motion[j, 0, 0]))
    return np.concatenate([np.array(found, float), spring_lengths(model, state)])


def spring_lengths(model: Model, state: State) -> Array:
    """(s,) m: lengths of springs between bodies, as they are."""
    forces, found = model.forces, list[float]()
    for f in np.flatnonzero(forces.kind == FORCE_SPRING):
        a, b = int(forces.body_a[f]), int(forces.body_b[f])
        arm = turn(state.q_WB[b], forces.anchor_B[f]) - turn(state.q_WB[a], forces.anchor_A[f])
        found.append(float(np.linalg.norm(state.p_WB[b] - state.p_WB[a] + arm)))
    return np.array(found, float)


def spring_ends(model: Model) -> NDArray[np.int64]:
    """(s, 3): parent, child and joint of each of these springs (motion.ends_of_spring)."""
    between = len(model.joints.kind) + np.flatnonzero(model.forces.kind == FORCE_SPRING)
    springs = [*np.flatnonzero(model.joints.spring_on == 1), *between]
    return np.array([ends_of_spring(model, int(one)) for one in springs], np.int64).reshape(-1, 3)
