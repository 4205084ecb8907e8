"""The account of a run: tables of its last step, what was found about it, the summary."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from cardan import __version__
from cardan.engine.compiler.cache import SOURCE_HASH
from cardan.engine.errors import Failure
from cardan.engine.outputs.reports import (
    PHASES,
    broken_joints,
    contact_table,
    energies,
    fired_triggers,
    joint_table,
    summarise,
    total_momentum,
)
from cardan.engine.outputs.snapshot import state_hash
from cardan.engine.verdict import (
    Names,
    Overlap,
    Parting,
    findings,
    parted_ways,
    sentence,
    verdict,
)
from cardan.engine.verdict.small_energies import all_energy
from cardan.engine.world.model import DYNAMIC, Model
from cardan.engine.world.options import SolverMethod, StepOptions
from cardan.engine.world.report import STOP_REASONS, Report
from cardan.engine.world.state import (
    EXTREME_JOINT_ANGLE,
    EXTREME_JOINT_POSITION,
    EXTREME_RESIDUAL,
    State,
)
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import World

ENGINE_VERSION = __version__

Array = NDArray[np.float64]


def versions() -> dict[str, str]:
    """Versions of everything that a result depends on."""
    return {
        "engine": ENGINE_VERSION,
        "source": SOURCE_HASH,
        "numba": numba.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


class Account:
    """The report of a run: tables, findings, warnings, and the summary."""

    model: Model
    state: State
    work: Workspace
    options: StepOptions
    report: Report
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    trigger_names: tuple[str, ...]
    scene_hash: str
    total_steps: int
    failure: Failure | None
    formulation: str
    build_s: float
    _overlaps: Sequence[Overlap]
    _ignored: Sequence[Overlap]
    _parting: Parting
    _advance_s: float
    _first_s: float
    _advanced_steps: int
    _handle: World

    if TYPE_CHECKING:

        @property
        def world(self) -> World:
            """Arguments of kernels; `_handle` is that of the last one asked for."""
            ...

    def __repr__(self) -> str:
        """One line: what the simulation holds, and its time."""
        moving = int((self.model.bodies.kind == DYNAMIC).sum())
        counts = f"{moving} moving bodies, {len(self.joint_names)} joints, {self.formulation}"
        return f"<{type(self).__name__}: {counts}, t = {float(self.state.time[0]):g} s>"

    def joint_table(self) -> NDArray[np.void]:
        """One row per joint coordinate: see cardan.engine.outputs.reports."""
        return joint_table(self.world, self._handle)

    def broken_joints(self) -> list[dict[str, Any]]:
        """Joints that gave way so far: joint (name), time [s], force [N], of a gear [N m]."""
        return broken_joints(self.state, self.joint_names)

    def contact_table(self) -> NDArray[np.void]:
        """One row per contact of the last step: see cardan.engine.outputs.reports."""
        work = self.work
        return contact_table(work.contacts, work.rows, work.problem, float(self.options.time_step))

    def friction_coefficients(self) -> Array:
        """(contacts,): the coefficient of friction of each row of the contact table."""
        contacts = self.work.contacts
        return contacts.friction[: int(contacts.count[0])].copy()

    def energy(self) -> dict[str, float]:
        """Energies now and work so far [J]."""
        return energies(self.model, self.state)

    def momentum(self) -> Array:
        """(6,): linear [N s], angular about the origin of W [N m s]."""
        return total_momentum(self.model, self.state)

    def _phases(self) -> dict[str, float]:
        """Microseconds per step of each phase, in the last call of advance."""
        scale = 1e-3 / max(int(self.report.timed_steps[0]), 1)
        return {name: float(self.report.phase_ns[i]) * scale for name, i in PHASES.items()}

    def solver_report(self) -> dict[str, Any]:
        """How the last step was solved, and the time of its phases [microseconds]."""
        report, extremes = self.report, self.state.extremes
        contacts = self.work.contacts
        n = int(contacts.count[0])
        depth = float(max(0.0, -contacts.gap[:n].min())) if n else 0.0
        return {
            "method": SolverMethod(int(report.method[0])).name.lower(),
            "rows": int(self.work.rows.count[0]),
            "contacts": n,
            "islands": int(report.islands[0]),
            "iterations": int(report.iterations[0]),
            "residual": float(report.residual[0]),
            "coulomb_error": float(report.coulomb_error[0]),
            "stop_reason": STOP_REASONS[int(report.solver_status[0])],
            "max_penetration": depth,
            "joint_position_error": float(extremes[EXTREME_JOINT_POSITION]),
            "joint_angle_error": float(extremes[EXTREME_JOINT_ANGLE]),
            "phases": self._phases(),
        }

    def findings(self) -> list[dict[str, Any]]:
        """Where this run left the limits within which it can be trusted (engine/verdict/)."""
        names = Names(self.body_names, self.joint_names)
        parted = self._parted_ways()
        return findings(self.model, self.state, self.options, names, self._overlaps, parted)

    def _parted_ways(self) -> Array:
        """(n,) m: how far overlaps at the start pushed each body up."""
        return parted_ways(self.model, self.state, self._parting)

    def warnings(self) -> list[str]:
        """Sentences of the findings, and notes that a careful user should read."""
        return self._warnings(self.findings())

    def _warnings(self, findings: Sequence[dict[str, Any]]) -> list[str]:
        found = [sentence(finding) for finding in findings]
        residual, asked = (
            float(self.state.extremes[EXTREME_RESIDUAL]),
            self.options.solver.tolerance,
        )
        if residual > asked:
            found.append(
                f"The largest solver residual was {residual:.3g} (m/s or rad/s), the tolerance "
                f"asked for is {asked:.3g}: missed by a factor of {residual / asked:.3g}."
            )
        for broken in self.broken_joints():
            if broken["force"] == 0.0:
                found.append(f"Joint '{broken['joint']}' was ended at {broken['time']:.6g} s.")
                continue
            found.append(
                f"Joint '{broken['joint']}' broke at {broken['time']:.6g} s under a reaction of "
                f"{broken['force']:.6g} (N; of a gear N m)."
            )
        if self.failure is not None:
            found.append(self.failure.message)
        return found

    def summary(self) -> dict[str, Any]:
        """The account of the run so far, with the stable keys of the service."""
        per_step = self._advance_s / max(self._advanced_steps, 1)
        if self.failure is not None:
            status = "failed"
        else:
            status = "succeeded" if int(self.state.step[0]) >= self.total_steps else "running"
        found = self.findings()
        used = int(self.report.methods[0])
        methods = sorted(m.name.lower() for m in SolverMethod if used >> m & 1)
        return {
            "status": status,
            "reason": self.failure.message if self.failure is not None else None,
            "steps": int(self.state.step[0]),
            "time": float(self.state.time[0]),
            "scene_hash": self.scene_hash,
            "state_hash": self.state_hash(),
            "versions": versions(),
            **self._summarised(methods),
            "timing": {
                "total_s": self.build_s + self._advance_s,
                "compile_s": self._first_s,
                "per_step_us": 1e6 * per_step,
                "real_time_factor": float(self.options.time_step) / per_step
                if per_step > 0.0
                else None,
                "phases": self._phases(),
            },
            "triggers": fired_triggers(self.state, self.trigger_names),
            "verdict": verdict(found, self.failure, all_energy(self.model, self.state)),
            "warnings": self._warnings(found),
        }

    def _summarised(self, methods: list[str]) -> dict[str, Any]:
        """The parts of the summary that state and model tell, and pairs that do not collide."""
        found = summarise(self.model, self.state, methods, self.joint_names)
        names = Names(self.body_names, self.joint_names)
        found["contacts"]["ignored_overlaps"] = [
            {"body": names.body(a), "other_body": names.body(b), "depth": depth}
            for a, b, depth, _ in self._ignored
        ]
        found["solver"]["formulation"] = self.formulation
        return found

    def state_hash(self) -> str:
        """SHA-256 (hex) of everything that is saved."""
        return state_hash(self.state)
