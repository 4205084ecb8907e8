"""Recording of a run: tables of arrays in memory."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.presence import passing_bodies
from cardan.engine.build.rotations import turn_all
from cardan.engine.build.samples import Counts
from cardan.engine.interaction.queries import EVENT_DTYPE, EVENT_KINDS
from cardan.engine.outputs.reports import (
    ENERGIES,
    PHASES,
    contact_tables,
    joint_tables,
)
from cardan.engine.outputs.sampler import Sampler
from cardan.engine.outputs.sensors import SENSOR_FIELDS
from cardan.engine.rows.table import ROW_DTYPE, named_columns
from cardan.engine.simulation import Simulation
from cardan.engine.world.options import Integrator, SolverMethod
from cardan.engine.world.report import N_PHASES, STOP_REASONS
from cardan.engine.world.samples import N_CONTACTS
from cardan.schemas import GivenScene, scene_of
from cardan.schemas.record import MOMENTUM, POSE, VELOCITY

Table = dict[str, NDArray[Any]]

SOLVER = (
    "method",
    "rows",
    "contacts",
    "islands",
    "iterations",
    "residual",
    "coulomb_error",
    "stop_reason",
)

# columns of Samples.solved
SOLVED = ("method", "rows", "contacts", "islands", "iterations", "stop_reason")
METHODS = np.array([method.name.lower() for method in sorted(SolverMethod)])

# channels that a state has by itself
OF_STATE = {"pose", "velocity", "presence", "energy", "momentum"}


def recording_steps(scene: GivenScene) -> NDArray[np.int64]:
    """Steps that are recorded: 0, every `record.every` or nearest to `rate`, and the last."""
    scene = scene_of(scene)
    total = max(1, round(scene.simulation.duration / scene.simulation.dt))
    interval = scene.record.interval(scene.simulation.dt)
    count = math.floor(total / interval) + 1
    steps = np.unique(np.rint(np.arange(count) * interval).astype(np.int64))
    return steps if steps[-1] == total else np.append(steps, total)


class Recording:
    """Frames of a simulation: those of due steps, and of calls of `observe`."""

    def __init__(
        self,
        simulation: Simulation,
        due: NDArray[np.int64] | None = None,
        channels: Collection[str] | None = None,
    ) -> None:
        """Select channels; none: those named in the scene's `record`.

        due: (m,) steps after which `Simulation.advance` records a frame by itself, ascending
        """
        self._simulation = simulation
        record = simulation.scene.record
        self._channels: set[str] = set(record.channels if channels is None else channels)
        if self._channels & {"pose", "velocity"} and passing_bodies(simulation.scene):
            self._channels.add("presence")
        names = simulation.body_names
        kept = range(len(names)) if record.bodies is None else map(names.index, record.bodies)
        self._bodies = np.array(sorted(kept), np.int64)
        self._events: list[NDArray[np.void]] = []
        self._saved_events = 0
        self._sampler = Sampler(
            self._channels,
            self._bodies,
            Counts(joints=len(simulation.joint_names)),
            np.zeros(0, np.int64) if due is None else due,
        )
        simulation.sampler = self._sampler
        if "events" in self._channels:
            simulation.watch_events()

    @classmethod
    def of_run(cls, simulation: Simulation, channels: Collection[str] | None = None) -> Recording:
        """A recording of all frames of the scene; `observe` records the first, before any step."""
        return cls(simulation, recording_steps(simulation.scene)[1:], channels)

    def __repr__(self) -> str:
        """One line: its frames and bodies."""
        return f"<Recording: {self._sampler.n_frames} frames of {len(self._bodies)} bodies>"

    @property
    def needs_step(self) -> bool:
        """Whether frames have more than the state: what a step says when it is done."""
        return not self._channels <= OF_STATE

    @property
    def nbytes(self) -> int:
        """Memory of its arrays [byte]."""
        return sum(array.nbytes for array in self._sampler.samples)

    def observe(self) -> None:
        """Record the current state."""
        self._simulation.sampler = self._sampler
        self._simulation.sample()

    def keep_events(self) -> None:
        """Have the events so far; the simulation no longer has them."""
        self._events.append(self._simulation.events())

    @property
    def size(self) -> tuple[int, int]:
        """Frames and contacts so far."""
        return self._sampler.n_frames, self._sampler.n_contacts

    def part(self, since: tuple[int, int]) -> Table:
        """Rows recorded since the recording had this size, and events since the last call.

        `restore` takes the parts of a whole recording.
        """
        self.keep_events()
        events, self._saved_events = self._events[self._saved_events :], len(self._events)
        return {**self._sampler.part(since), "events": np.concatenate(events)}

    def restore(self, parts: Sequence[Mapping[str, NDArray[Any]]]) -> None:
        """Have what the parts have, and no more; the simulation is where they end."""
        self._sampler.restore(parts)
        self._events = [part["events"].astype(EVENT_DTYPE) for part in parts]
        self._saved_events = len(self._events)

    def _part(self, name: str) -> NDArray[Any]:
        """The frames so far of an array of the samples."""
        values: NDArray[Any] = getattr(self._sampler.samples, name)[: self._sampler.n_frames]
        return values

    def _stamp(self, counts: NDArray[np.int64] | int) -> Table:
        """Columns time and step, repeated for the rows of each frame."""
        return {
            "time": np.repeat(self._part("time"), counts),
            "step": np.repeat(self._part("step"), counts),
        }

    def _force_stamp(self, counts: NDArray[np.int64] | int) -> Table:
        """Column force_time: forces are means over the step that ends at `time`, so of its middle.

        Before the first step, and with integrators of smooth motion, it is `time` itself.
        """
        stamp = self._stamp(counts)
        half = 0.5 * self._simulation.time_step
        if self._simulation.options.integrator != Integrator.SEMI_IMPLICIT_EULER:
            half = 0.0
        return {"force_time": stamp["time"] - np.where(stamp["step"] > 0, half, 0.0)}

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the recorded bodies, in the order of the scene."""
        return tuple(self._simulation.body_names[i] for i in self._bodies)

    def times(self) -> NDArray[np.float64]:
        """(frames,) s of all frames."""
        return self._part("time").copy()

    def poses(self) -> NDArray[np.float64]:
        """(frames, bodies, 7): origins px py pz [m] and orientations qw qx qy qz of all frames."""
        com_B = self._simulation.model.bodies.com_B
        out = self._part("pose").copy()
        for k, i in enumerate(self._bodies):
            if com_B[i].any():
                out[:, k, :3] -= turn_all(out[:, k, 3:], com_B[i])
        return out

    def velocities(self) -> NDArray[np.float64]:
        """(frames, bodies, 6): of origins vx vy vz [m/s], and wx wy wz [rad/s], of all frames."""
        com_B = self._simulation.model.bodies.com_B
        out = self._part("velocity").copy()
        for k, i in enumerate(self._bodies):
            if com_B[i].any():
                arm = turn_all(self._part("pose")[:, k, 3:], com_B[i])
                out[:, k, :3] -= np.cross(out[:, k, 3:], arm)
        return out

    def _body_table(self) -> Table:
        names = np.array(self._simulation.body_names)[self._bodies]
        table = self._stamp(len(names))
        table["body"] = np.tile(names, self._sampler.n_frames)
        if "pose" in self._channels:
            values = self.poses().reshape(-1, 7)
            table.update({name: values[:, k] for k, name in enumerate(POSE)})
        if "velocity" in self._channels:
            values = self.velocities().reshape(-1, 6)
            table.update({name: values[:, k] for k, name in enumerate(VELOCITY)})
        if "presence" in self._channels:
            table["present"] = self._part("present").reshape(-1).astype(bool)
        return table

    def _named_table(
        self,
        rows: NDArray[np.void],
        counts: NDArray[np.int64],
        names: dict[str, tuple[str, ...]],
    ) -> Table:
        """Structured rows of each frame; columns in `names` become names instead of numbers."""
        table = self._stamp(counts)
        for field in rows.dtype.names or ():
            column = rows[field]
            if field in names:
                text = np.array(names[field]) if names[field] else np.zeros(0, "U1")
                column = text[column]
            table[field] = np.ascontiguousarray(column)
        return table

    def _joint_table(self) -> Table:
        parts = (self._part(f"joint_{part}") for part in ("motion", "drive", "reaction"))
        rows = joint_tables(self._simulation.model.joints, *parts)
        frames = self._sampler.n_frames
        counts = np.full(frames, len(rows) // max(frames, 1))
        table = self._named_table(rows, counts, {"joint": self._simulation.joint_names})
        return table | self._force_stamp(counts)

    def _contact_table(self) -> Table:
        samples, counts = self._sampler.samples, self._part("contacts")
        n = int(samples.count[N_CONTACTS])
        h = self._simulation.time_step
        rows = contact_tables(samples.contact_body[:n], samples.contact[:n], h)
        bodies = self._simulation.body_names
        table = self._named_table(rows, counts, {"body_a": bodies, "body_b": bodies})
        return table | self._force_stamp(counts)

    def _solver_table(self) -> Table:
        """Report and phases of each frame; phases that were not timed are those before."""
        solved, residual = self._part("solved"), self._part("residual")
        words = {"method": METHODS, "stop_reason": np.array(STOP_REASONS)}
        columns = dict(zip(SOLVED, solved.T, strict=True))
        columns |= {name: text[columns[name]] for name, text in words.items()}
        columns |= {"residual": residual[:, 0], "coulomb_error": residual[:, 1]}
        table = self._stamp(1) | {name: np.ascontiguousarray(columns[name]) for name in SOLVER}
        phases = self._part("phase_ns")
        timed = phases[:, N_PHASES]
        last = np.maximum.accumulate(np.where(timed > 0, np.arange(len(timed)), 0))
        scale = 1e-3 / np.maximum(timed[last], 1)
        for name in sorted(PHASES):
            table[f"{name}_us"] = phases[last, PHASES[name]] * scale
        return table

    def _sensor_table(self) -> Table:
        """One row per sensor; values that it does not measure are not a number."""
        sensors = self._simulation.scene.sensors
        names = np.array([sensor.name for sensor in sensors])
        table = self._stamp(len(names)) | self._force_stamp(len(names))
        table["sensor"] = np.tile(names, self._sampler.n_frames)
        values = np.array(self._sampler.sensed).reshape(-1, len(SENSOR_FIELDS))
        columns = np.ascontiguousarray(values.T)
        return table | dict(zip(SENSOR_FIELDS, columns, strict=True))

    def _constraint_table(self) -> Table:
        """All constraint rows of the recorded steps."""
        simulation, frames = self._simulation, self._sampler.rows
        counts = np.array([len(rows) for rows in frames], np.int64)
        rows = np.concatenate(frames) if frames else np.zeros(0, ROW_DTYPE)
        columns = named_columns(rows, simulation.body_names, simulation.joint_names)
        return self._stamp(counts) | self._force_stamp(counts) | columns

    def _event_table(self) -> Table:
        """Events of all steps, including those after the last record; none: the name ""."""
        self.keep_events()
        rows = np.concatenate(self._events)
        names = np.array([*self._simulation.body_names, "world", ""])
        joints = np.array([*self._simulation.joint_names, ""])
        triggers = np.array([*self._simulation.trigger_names, ""])
        words = {"kind": np.array(EVENT_KINDS), "body_a": names, "body_b": names, "joint": joints}
        words["trigger"] = triggers
        return {
            field: words[field][rows[field]]
            if field in words
            else np.ascontiguousarray(rows[field])
            for field in EVENT_DTYPE.names or ()
        }

    def tables(self) -> dict[str, Table]:
        """Columns of the tables: bodies, joints, contacts, energy, momentum, solver, events.

        Also constraints, and sensors if the scene has any.
        """
        channels, tables = self._channels, {}
        if channels & {"pose", "velocity"}:
            tables["bodies"] = self._body_table()
        if "joints" in channels:
            tables["joints"] = self._joint_table()
        if "contacts" in channels:
            tables["contacts"] = self._contact_table()
        for channel, names in (("energy", ENERGIES), ("momentum", MOMENTUM)):
            if channel in channels:
                columns = np.ascontiguousarray(self._part(channel).T)
                tables[channel] = self._stamp(1) | dict(zip(names, columns, strict=True))
        if "solver" in channels:
            tables["solver"] = self._solver_table()
        if "sensors" in channels and self._simulation.scene.sensors:
            tables["sensors"] = self._sensor_table()
        if "constraints" in channels:
            tables["constraints"] = self._constraint_table()
        if "events" in channels:
            tables["events"] = self._event_table()
        return tables
