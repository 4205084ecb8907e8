"""Many worlds of one model from their starts to their ends, W at a time, in one call.

Starts and controls are rows of plain floats; so are the frames that are kept. What becomes of a
world depends on its own row alone.
"""

from __future__ import annotations

import cardan.engine.lanes.forms  # noqa: F401  what kernels call for lanes
from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.accounting.energy import potential_energy, whole_motion
from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel, unlocked_kernel
from cardan.engine.compiler.lanes import (
    any_of,
    in_all_lanes,
    lane_of,
    lanes_in,
    with_lane,
)
from cardan.engine.compiler.world_arrays import this_world
from cardan.engine.lanes.kick import keep_velocities
from cardan.engine.lanes.separation import leave_if_touching
from cardan.engine.lanes.step import step
from cardan.engine.trees.articulated_inertia import write_nodes
from cardan.engine.trees.body_sync import (
    write_body_poses,
    write_body_velocities,
    write_joint_coordinates,
)
from cardan.engine.world.lanes import LaneState, LaneWorld, WorldBlock, WorldRuns
from cardan.engine.world.state import EXTREME_KINETIC, FIRST_ENERGY, FIRST_MOMENTUM


@kernel
def row_of(runs: WorldRuns, first: int, lane: int) -> int:
    """World in a lane; lanes beyond the last world repeat it."""
    return min(first + lane, runs.q.shape[0] - 1)


@kernel
def clear_run(state: LaneState, runs: WorldRuns) -> None:
    """Clear steps, books and records of all worlds, as at the start."""
    state.step[0] = 0
    state.left[0] = in_all_lanes(0.0, state.left)
    for k in range(state.extremes.shape[0]):
        state.extremes[k] = in_all_lanes(runs.extremes[k], state.left)
    for k in range(state.ledger.shape[0]):
        state.ledger[k] = in_all_lanes(0.0, state.left)
    for k in range(state.momentum_in.shape[0]):
        state.momentum_in[k] = in_all_lanes(0.0, state.left)
    for i in range(state.tree_bias_acceleration.shape[0]):
        for k in range(state.tree_bias_acceleration.shape[1]):
            state.tree_bias_acceleration[i, k] = in_all_lanes(0.0, state.left)


@kernel
def begin(world: LaneWorld, runs: WorldRuns, first: int, h: float) -> None:
    """Put worlds first, first + 1 ... at their starts; those that touch there are left.

    Writes  state
    """
    state, tree, work = world.state, world.model.tree, world.work.tree
    clear_run(state, runs)
    for lane in range(lanes_in(state.left)):
        row = row_of(runs, first, lane)
        for k in range(state.tree_q.shape[0]):
            state.tree_q[k] = with_lane(state.tree_q[k], lane, runs.q[row, k])
        for k in range(state.tree_qd.shape[0]):
            state.tree_qd[k] = with_lane(state.tree_qd[k], lane, runs.qd[row, k])
    write_nodes(tree, state.tree_q, state.tree_qd, work)
    write_body_poses(tree, work, state)
    write_body_velocities(tree, work, state)
    write_joint_coordinates(tree, state)
    keep_velocities(world)
    leave_if_touching(world, h)
    kinetic, linear, angular = whole_motion(world.model, state)
    state.extremes[EXTREME_KINETIC] = kinetic
    state.extremes[FIRST_ENERGY] = kinetic + potential_energy(world.model, state)
    for k in range(3):
        state.extremes[FIRST_MOMENTUM + k] = linear[k]
        state.extremes[FIRST_MOMENTUM + 3 + k] = angular[k]


@kernel
def command(world: LaneWorld, runs: WorldRuns, first: int, t: int) -> None:
    """Targets of motors from row t of the controls.

    Writes  model.command
    """
    target = world.model.command
    for m in range(runs.velocity.shape[0]):
        k = runs.velocity[m]
        for lane in range(lanes_in(target)):
            row = row_of(runs, first, lane)
            target[k] = with_lane(target[k], lane, runs.controls[row, t, m])


@kernel
def keep(world: LaneWorld, runs: WorldRuns, first: int, frame: int) -> None:
    """Keep coordinates and velocities now.

    Writes  runs.kept_q, kept_qd
    """
    state = world.state
    for lane in range(min(lanes_in(state.left), runs.q.shape[0] - first)):
        for k in range(state.tree_q.shape[0]):
            runs.kept_q[first + lane, frame, k] = lane_of(state.tree_q[k], lane)
        for k in range(state.tree_qd.shape[0]):
            runs.kept_qd[first + lane, frame, k] = lane_of(state.tree_qd[k], lane)


@kernel
def end(world: LaneWorld, runs: WorldRuns, first: int) -> None:
    """Keep the account of the runs.

    Writes  runs.records, ledger, energy, left
    """
    model, state = world.model, world.state
    kinetic, _, _ = whole_motion(model, state)
    potential = potential_energy(model, state)
    for lane in range(min(lanes_in(state.left), runs.q.shape[0] - first)):
        for k in range(LIMITS):
            runs.records[first + lane, k] = lane_of(state.extremes[k], lane)
        for k in range(state.ledger.shape[0]):
            runs.ledger[first + lane, k] = lane_of(state.ledger[k], lane)
        runs.energy[first + lane, 0] = lane_of(kinetic, lane)
        runs.energy[first + lane, 1] = lane_of(potential, lane)
        runs.left[first + lane] = 0 if lane_of(state.left[0], lane) == 0.0 else 1


@kernel
def run_group(world: LaneWorld, runs: WorldRuns, first: int, h: float, n_steps: int) -> None:
    """W worlds from `first` on, from start to end, or until all of them are left."""
    begin(world, runs, first, h)
    keep(world, runs, first, 0)
    held = n_steps // max(runs.controls.shape[1], 1)
    frame = 1
    for done in range(n_steps):
        if done % held == 0:
            command(world, runs, first, done // held)
        step(world, h)
        if not any_of(world.state.left[0] < 0.5):
            break
        if runs.frames[frame] == done + 1:
            keep(world, runs, first, frame)
            frame += 1
    end(world, runs, first)


@unlocked_kernel
def run_worlds(handle: LaneWorld, rows: WorldRuns, h: float, n_steps: int) -> None:
    """Advance all worlds by n_steps steps from their starts.

    runs.frames ends with n_steps; n_steps is a multiple of the rows of controls.

    Writes  runs
    Check   tests/engine/lanes/test_states.py
    """
    world, runs = struct_of(handle), struct_of(rows)
    for first in range(0, runs.q.shape[0], lanes_in(world.state.left)):
        run_group(world, runs, first, h, n_steps)


@kernel
def run_world(
    handle: LaneWorld, rows: WorldRuns, block: WorldBlock, times: tuple[float, int]
) -> None:
    """Advance the world of this thread from its start to its end: what a thread of a GPU does.

    block   all numbers of the world, and their values at the start
    times   time step [s], number of steps; otherwise as run_worlds

    Writes  runs
    Check   tests/engine/lanes/test_gpu.py
    """
    world, runs, numbers = struct_of(handle), struct_of(rows), struct_of(block)
    first = this_world()
    if first < runs.q.shape[0]:
        for k in range(numbers.start.shape[0]):
            numbers.all[k] = in_all_lanes(numbers.start[k], numbers.all)
        run_group(world, runs, first, times[0], times[1])
