"""The current state of a simulation as a binary frame and as JSON."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan.engine import Simulation
from cardan.schemas.frame import (
    BlockTag,
    FrameFlags,
    FrameHeader,
    Table,
    absent_table,
    asleep_table,
    encode_frame,
    friction_table,
    momentum_table,
    poses_table,
    reactions_table,
    row_from,
    table_from,
    velocities_table,
)

COLLISION_WORDS = ("broad", "narrow", "collision", "contact")


@dataclass(frozen=True, slots=True)
class Shot:
    """What a frame says about the session beside the state of the simulation."""

    epoch: int
    phase: str
    real_time_factor: float


def frame(simulation: Simulation, shot: Shot, channels: Collection[str]) -> bytes:
    """The encoded frame of this moment, with sequence 0; costly blocks only if in `channels`.

    With the channel `events`, removes the collected events, so that each is sent once.
    """
    still = shot.phase != "running"
    joints = simulation.joint_table()
    tables: dict[BlockTag, Table] = {
        BlockTag.POSES: poses_table(simulation.poses()),
        BlockTag.JOINTS: table_from(BlockTag.JOINTS, joints),
        BlockTag.ENERGY: row_from(BlockTag.ENERGY, simulation.energy()),
        BlockTag.SOLVER: _solver(simulation.solver_report(), shot.real_time_factor),
        BlockTag.MOMENTUM: momentum_table(simulation.momentum()),
    }
    if "velocities" in channels:
        tables[BlockTag.VELOCITIES] = velocities_table(simulation.velocities())
    if "reactions" in channels:
        tables[BlockTag.REACTIONS] = reactions_table(joints)
    if "contacts" in channels or "friction" in channels:
        contacts = simulation.contact_table()
        tables[BlockTag.CONTACTS] = table_from(BlockTag.CONTACTS, contacts)
        if "friction" in channels:
            coefficients = simulation.friction_coefficients()
            tables[BlockTag.FRICTION] = friction_table(contacts, coefficients)
    if simulation.scene.simulation.sleeping.enabled:
        tables[BlockTag.ASLEEP] = asleep_table(simulation.asleep())
    present = simulation.present()
    if not present.all():
        tables[BlockTag.ABSENT] = absent_table(~present)
    if "events" in channels:
        happened = simulation.events()
        if len(happened):
            # a frame has the number of a trigger in the place of a joint's
            fired = happened["trigger"] >= 0
            happened["joint"][fired] = happened["trigger"][fired]
            tables[BlockTag.EVENTS] = table_from(BlockTag.EVENTS, happened)
    grab = simulation.grab_state()
    if grab is not None:
        tables[BlockTag.GRAB] = row_from(BlockTag.GRAB, grab)
    if still:
        number = int(simulation.state_hash()[:16], 16)
        tables[BlockTag.STATE_HASH] = row_from(BlockTag.STATE_HASH, {"hash": number})
    flags = FrameFlags.PAUSED if still else FrameFlags.NONE
    if shot.phase == "failed":
        flags |= FrameFlags.FAILED
    header = FrameHeader(simulation.step_count, simulation.time, shot.epoch, flags=flags)
    return encode_frame(header, tables)


def sample(simulation: Simulation) -> dict[str, Any]:
    """One row of the series that a `step` command returns."""
    return {
        "step": simulation.step_count,
        "time": simulation.time,
        "poses": simulation.poses().tolist(),
        "velocities": simulation.velocities().tolist(),
        "joints": _records(simulation.joint_table(), ("joint", "coordinate", "q", "qd")),
        "energy": plain(simulation.energy()),
    }


def describe(simulation: Simulation) -> dict[str, Any]:
    """The whole state as JSON; poses [px py pz qw qx qy qz] and velocities in scene order, in W."""
    return {
        "step": simulation.step_count,
        "time": simulation.time,
        "body_names": list(simulation.body_names),
        "poses": simulation.poses().tolist(),
        "velocities": simulation.velocities().tolist(),
        "asleep": simulation.asleep().tolist(),
        "present": simulation.present().tolist(),
        "joint_names": list(simulation.joint_names),
        "joints": _records(simulation.joint_table()),
        "broken_joints": simulation.broken_joints(),
        "motor_targets": _motor_targets(simulation),
        "gravity": simulation.state.gravity_W.tolist(),
        "contacts": _records(simulation.contact_table()),
        "sensors": simulation.sensors(),
        "energy": plain(simulation.energy()),
        "momentum": simulation.momentum().tolist(),
        "solver": plain(simulation.solver_report()),
        "grab": plain(simulation.grab_state()),
        "state_hash": simulation.state_hash(),
    }


def _motor_targets(simulation: Simulation) -> list[dict[str, Any]]:
    """Targets of motors that a client or a trigger has commanded; all others are the scene's."""
    commanded = simulation.state.motor_target
    return [
        {"joint": simulation.joint_names[j], "axis": axis, "target": float(commanded[j, axis])}
        for j, axis in np.argwhere(~np.isnan(commanded)).tolist()
    ]


def plain(value: Any) -> Any:
    """The same value with Python's numbers and lists in place of NumPy's."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _solver(report: Mapping[str, Any], real_time_factor: float) -> Table:
    phases: Mapping[str, float] = report["phases"]
    whole = sum(phases.values())
    collision = sum(
        spent for name, spent in phases.items() if any(word in name for word in COLLISION_WORDS)
    )
    solve = sum(spent for name, spent in phases.items() if "solve" in name)
    timing = {
        "step_us": whole,
        "real_time_factor": real_time_factor,
        "collision_us": collision,
        "solve_us": solve,
        "other_us": whole - collision - solve,
    }
    return row_from(BlockTag.SOLVER, {**report, **timing})


def _records(table: Table, names: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    chosen = names or table.dtype.names or ()
    columns = [table[name].tolist() for name in chosen]
    return [dict(zip(chosen, row, strict=True)) for row in zip(*columns, strict=True)]
