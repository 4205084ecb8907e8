"""Motion of a world in a lane, for a world of its own: what reports of a moment are made of."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import lane_of
from cardan.engine.world.lanes import LaneWorld
from cardan.engine.world.world import World


@kernel
def read_row(source: Any, lane: int, target: NDArray) -> None:
    """target (n,) <- the numbers of one lane."""
    for i in range(target.shape[0]):
        target[i] = lane_of(source[i], lane)


@kernel
def read_rows(source: Any, lane: int, target: NDArray) -> None:
    """target (n, m) <- the numbers of one lane."""
    for i in range(target.shape[0]):
        for k in range(target.shape[1]):
            target[i, k] = lane_of(source[i, k], lane)


@kernel
def read_motion(lanes: LaneWorld, lane: int, handle: World) -> None:
    """Put a world where the one in a lane is: step, motion and work so far.

    What only the account of a run needs is not read.

    Writes  world.state
    Check   tests/engine/lanes/test_recordings.py
    """
    group, world = struct_of(lanes), struct_of(handle)
    source, target = group.state, world.state
    target.step[0] = source.step[0]
    target.time[0] = target.step[0] * world.options.time_step
    read_rows(source.p_WB, lane, target.p_WB)
    read_rows(source.q_WB, lane, target.q_WB)
    read_rows(source.v_WB_W, lane, target.v_WB_W)
    read_rows(source.w_WB_W, lane, target.w_WB_W)
    read_rows(source.joint_q, lane, target.joint_q)
    read_row(source.tree_q, lane, target.tree_q)
    read_row(source.tree_qd, lane, target.tree_qd)
    read_rows(source.tree_bias_acceleration, lane, target.tree_bias_acceleration)
    read_row(source.ledger, lane, target.ledger)
