"""Recording of a run: tables of arrays in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.queries import EVENT_DTYPE, EVENT_KINDS
from cardan.engine.simulation import Simulation
from cardan.schemas import Scene

Table = dict[str, NDArray[Any]]

POSE = ("px", "py", "pz", "qw", "qx", "qy", "qz")
VELOCITY = ("vx", "vy", "vz", "wx", "wy", "wz")
MOMENTUM = ("lx", "ly", "lz", "hx", "hy", "hz")
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

# time between two calls of `should_stop` and `progress` [s]
CHUNK_S = 0.1


def recording_steps(scene: Scene) -> NDArray[np.int64]:
    """Steps that are recorded: 0, every `record.every` or nearest to `rate`, and the last."""
    total = max(1, round(scene.simulation.duration / scene.simulation.dt))
    if scene.record.rate is None:
        steps = np.arange(0, total + 1, scene.record.every, dtype=np.int64)
    else:
        interval = 1.0 / (scene.record.rate * scene.simulation.dt)
        count = math.floor(total / interval) + 1
        steps = np.unique(np.rint(np.arange(count) * max(interval, 1.0)).astype(np.int64))
        steps = steps[steps <= total]
    return np.union1d(steps, [total])


class Recording:
    """Frames of a simulation, collected by calls of `observe`."""

    def __init__(self, simulation: Simulation) -> None:
        """Select the channels named in the scene's `record`."""
        self._simulation = simulation
        record = simulation.scene.record
        self._channels = set(record.channels)
        names = simulation.body_names
        kept = range(len(names)) if record.bodies is None else map(names.index, record.bodies)
        self._bodies = np.array(sorted(kept), np.int64)
        self._when: list[tuple[float, int]] = []
        self._parts: dict[str, list[Any]] = {
            name: [] for name in ("pose", "velocity", "joints", "contacts", "energy", "momentum")
        }
        self._solver: list[tuple[Any, ...]] = []
        self._phases: list[dict[str, float]] = []
        self._events: list[NDArray[np.void]] = []
        if "events" in self._channels:
            simulation.watch_events()

    def observe(self) -> None:
        """Record the current state."""
        simulation, channels = self._simulation, self._channels
        self._when.append((simulation.time, simulation.step_count))
        if "pose" in channels:
            self._parts["pose"].append(simulation.poses()[self._bodies])
        if "velocity" in channels:
            self._parts["velocity"].append(simulation.velocities()[self._bodies])
        if "joints" in channels:
            self._parts["joints"].append(simulation.joint_table())
        if "contacts" in channels:
            self._parts["contacts"].append(simulation.contact_table())
        if "energy" in channels:
            self._parts["energy"].append(simulation.energy())
        if "momentum" in channels:
            self._parts["momentum"].append(simulation.momentum())
        if "solver" in channels:
            report = simulation.solver_report()
            self._solver.append(tuple(report[name] for name in SOLVER))
            self._phases.append(report["phases"])
        if "events" in channels:
            self._events.append(simulation.events())

    def _stamp(self, counts: NDArray[np.int64]) -> Table:
        """Columns time and step, repeated for the rows of each frame."""
        when = np.array(self._when, dtype=float).reshape(-1, 2)
        return {
            "time": np.repeat(when[:, 0], counts),
            "step": np.repeat(when[:, 1].astype(np.int64), counts),
        }

    def _body_table(self) -> Table:
        names = np.array(self._simulation.body_names)[self._bodies]
        frames = len(self._when)
        table = self._stamp(np.full(frames, len(names)))
        table["body"] = np.tile(names, frames)
        for channel, columns in (("pose", POSE), ("velocity", VELOCITY)):
            if channel in self._channels:
                values = np.concatenate(self._parts[channel]) if frames else np.zeros((0, 7))
                table.update({name: values[:, k] for k, name in enumerate(columns)})
        return table

    def _named_table(self, channel: str, names: dict[str, tuple[str, ...]]) -> Table:
        """Structured rows of each frame; columns in `names` become names instead of numbers."""
        parts = self._parts[channel]
        table = self._stamp(np.array([len(part) for part in parts], np.int64))
        rows = np.concatenate(parts)
        for field in rows.dtype.names or ():
            column = rows[field]
            if field in names:
                text = np.array(names[field]) if names[field] else np.zeros(0, "U1")
                column = text[column]
            table[field] = np.ascontiguousarray(column)
        return table

    def _event_table(self) -> Table:
        """Events of all steps, including those after the last record; no joint: the name ""."""
        self._events.append(self._simulation.events())
        rows = np.concatenate(self._events)
        names = np.array([*self._simulation.body_names, "world"])
        joints = np.array([*self._simulation.joint_names, ""])
        words = {"kind": np.array(EVENT_KINDS), "body_a": names, "body_b": names, "joint": joints}
        return {
            field: words[field][rows[field]]
            if field in words
            else np.ascontiguousarray(rows[field])
            for field in EVENT_DTYPE.names or ()
        }

    def tables(self) -> dict[str, Table]:
        """Columns by table: bodies, joints, contacts, energy, momentum, solver, events."""
        simulation, channels = self._simulation, self._channels
        one = np.ones(len(self._when), np.int64)
        tables: dict[str, Table] = {}
        if channels & {"pose", "velocity"}:
            tables["bodies"] = self._body_table()
        if "joints" in channels:
            tables["joints"] = self._named_table("joints", {"joint": simulation.joint_names})
        if "contacts" in channels:
            bodies = simulation.body_names
            tables["contacts"] = self._named_table("contacts", {"body_a": bodies, "body_b": bodies})
        if "energy" in channels:
            parts = self._parts["energy"]
            columns = {key: np.array([part[key] for part in parts]) for key in parts[0]}
            tables["energy"] = self._stamp(one) | columns
        if "momentum" in channels:
            values = np.array(self._parts["momentum"])
            columns = {name: values[:, k] for k, name in enumerate(MOMENTUM)}
            tables["momentum"] = self._stamp(one) | columns
        if "solver" in channels:
            kept = list(zip(*self._solver, strict=True))
            columns = {name: np.array(kept[k]) for k, name in enumerate(SOLVER)}
            names = sorted({name for phases in self._phases for name in phases})
            for name in names:
                columns[f"{name}_us"] = np.array([p.get(name, 0.0) for p in self._phases])
            tables["solver"] = self._stamp(one) | columns
        if "events" in channels:
            tables["events"] = self._event_table()
        return tables


def run(
    scene: Scene,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Recording, dict[str, Any]]:
    """Simulate a scene to its end, or until it fails or `should_stop` returns True.

    progress(step, total) and should_stop() are called about ten times per second of work.
    Returns the recording and the summary. Raises SceneError.
    """
    simulation = Simulation(scene)
    recording = Recording(simulation)
    recording.observe()
    total = simulation.total_steps
    stopped = False
    chunk = 1
    for due in recording_steps(scene)[1:]:
        while simulation.step_count < due and simulation.failure is None and not stopped:
            done = simulation.advance(min(chunk, int(due) - simulation.step_count))
            if progress is not None:
                progress(simulation.step_count, total)
            stopped = should_stop is not None and should_stop()
            if done == chunk:
                chunk = steps_per_chunk(simulation)
        if simulation.failure is not None or stopped:
            break
        recording.observe()
    summary = simulation.summary()
    if stopped and summary["status"] == "running":
        summary["status"], summary["reason"] = "cancelled", "The run was stopped on request."
    return recording, summary


def steps_per_chunk(simulation: Simulation) -> int:
    """Steps that take about CHUNK_S, from the phases of the last call."""
    step_us = sum(simulation.solver_report()["phases"].values())
    return max(1, int(1e6 * CHUNK_S / max(step_us, 0.1)))
