"""Errors of all joints at the current poses, for states that are set."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.accounting.extremes import joint_angle_error, joint_position_error
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import is_open, joint_frame
from cardan.engine.world.model import Joints
from cardan.engine.world.state import State


@kernel
def write_joint_errors(joints: Joints, state: State, out: NDArray) -> None:
    """Write by how much each joint is open; 0 for one that is broken, or of a body that is absent.

    Writes  out (j, 2): position [m] (rack: travel), angle [rad] (gear: rotation)
    Check   tests/engine/test_states.py
    """
    out[:] = 0.0
    for j in range(joints.kind.shape[0]):
        if is_open(joints, state, j):
            continue
        frame = joint_frame(joints, state, j)
        out[j, 0] = joint_position_error(joints, state, j, frame)
        out[j, 1] = joint_angle_error(joints, state, j, frame)
