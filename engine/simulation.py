"""The door: a scene that moves. The only class of the engine that holds state."""

from __future__ import annotations

import platform
import time
from operator import is_
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from cardan import __version__
from engine import steering
from engine.build.capacity import carry, grown_cache, workspace
from engine.build.events import event_arrays
from engine.build.report import empty_report
from engine.build.rotations import turn
from engine.build.scene import build
from engine.cache import SOURCE_HASH
from engine.collision.scratch import collision_scratch
from engine.diagnostics.account import account, broken_joints, energies
from engine.diagnostics.extremes import start_extremes
from engine.diagnostics.tables import contact_table, joint_table
from engine.failure import Failure, find_failure
from engine.held import hold
from engine.integrators import run_smooth
from engine.queried import Queried
from engine.snapshot import from_bytes, state_hash, to_bytes
from engine.status import CONTACTS_FULL, EVENTS_FULL, NOT_FINITE, PAIRS_FULL
from engine.steered import Steered
from engine.step import Course
from engine.step import run as run_steps
from engine.world.options import ImpactTime, Integrator, SolverMethod
from engine.world.report import (
    PHASE_APPLY,
    PHASE_ASSEMBLE,
    PHASE_BROAD,
    PHASE_MOVE,
    PHASE_NARROW,
    PHASE_ROWS,
    PHASE_SOLVE,
)
from engine.world.state import EXTREME_JOINT_ANGLE, EXTREME_JOINT_POSITION, EXTREME_RESIDUAL
from schemas import Scene, scene_hash

ENGINE_VERSION = __version__

# steps with exact impacts that are done again when contacts need more room
EXACT_BATCH = 64

PHASES = {
    "move": PHASE_MOVE,
    "broad": PHASE_BROAD,
    "narrow": PHASE_NARROW,
    "rows": PHASE_ROWS,
    "assemble": PHASE_ASSEMBLE,
    "solve": PHASE_SOLVE,
    "account": PHASE_APPLY,
}
STOP_REASONS = ("tolerance", "max_iterations", "exact", "stalled", "no_solution")

Array = NDArray[np.float64]


def versions() -> dict[str, str]:
    """What computed a result."""
    return {
        "engine": ENGINE_VERSION,
        "source": SOURCE_HASH,
        "numba": numba.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


class Simulation(Steered, Queried):
    """A scene as it moves: advance it, look at it, push it, save it.

    All quantities are SI, in W; poses are those of body origins; quaternions are [w, x, y, z].
    Arrays over bodies have the order of the scene and include bodies that do not move.
    """

    def __init__(self, scene: Scene) -> None:
        """Build the scene; raises SceneError with every fault."""
        began = time.perf_counter()
        built = build(scene)
        self.scene = scene
        self.scene_hash = scene_hash(scene)
        self.body_names, self.joint_names = built.body_names, built.joint_names
        self.model, self.state, self.options = built.model, built.state, built.options
        self.total_steps = max(1, round(scene.simulation.duration / scene.simulation.dt))
        self.failure: Failure | None = None
        self.report = empty_report()
        self._body_index = {name: i for i, name in enumerate(self.body_names)}
        self._joint_index = {name: i for i, name in enumerate(self.joint_names)}
        self._events = event_arrays(0)
        self._event_parts = []
        self._allocate(len(self.state.contacts.key))
        self._course: tuple[Any, ...] = (None,) * len(Course._fields)
        self._advance_s = 0.0
        self._first_s = 0.0
        self._advanced_steps = 0
        self._identity = f"scene {self.scene_hash[:16]}, engine {SOURCE_HASH}"
        start_extremes(self.model, self.state)
        self.build_s = time.perf_counter() - began

    def _allocate(self, max_contacts: int) -> None:
        self.work = workspace(self.model, self.options, max_contacts)
        pairs = max(64, 4 * max_contacts)
        self.collision = collision_scratch(self.model.shapes, pairs, max_contacts)

    def _grow(self) -> None:
        """Twice the room for contacts; what is cached stays, and what a step left half done."""
        before = self.work
        larger = 2 * len(self.work.contacts.gap)
        self.state = self.state._replace(
            contacts=grown_cache(self.state.contacts, larger),
            resting=grown_cache(self.state.resting, larger),
        )
        self._allocate(larger)
        carry(before, self.work)
        self.watch_events(len(self._events.who) > 0)

    # ------------------------------------------------------------------ time

    @property
    def step_count(self) -> int:
        """Steps done."""
        return int(self.state.step[0])

    def advance(self, n: int = 1) -> int:
        """Do up to n steps; returns how many were done.

        Fewer only when a value stopped being finite: `failure` then says which.
        """
        if self.failure is not None or n <= 0:
            return 0
        self.report.phase_ns.fill(0)
        self.report.timed_steps.fill(0)
        began = time.perf_counter()
        done = 0
        # a step of several flights cannot be undone by itself: go back to before the batch
        exact = self.options.impact_time == ImpactTime.EXACT
        saved, told = b"", list(self._event_parts)
        while done < n:
            if exact:
                self._take_events()
                saved, told = self.snapshot(), list(self._event_parts)
            did = self._run(min(n - done, EXACT_BATCH) if exact else n - done)
            status = int(self.report.status[0])
            if status & (CONTACTS_FULL | PAIRS_FULL):
                if exact:
                    self.restore(saved)
                    self._event_parts = told
                    did = 0
                self._grow()
            elif status & EVENTS_FULL:
                self._take_events()
            done += did
            if status & NOT_FINITE:
                self.failure = find_failure(
                    self.state, int(self.report.bad_body[0]), self.body_names
                )
                break
        elapsed = time.perf_counter() - began
        if self._advanced_steps == 0:
            self._first_s = elapsed
        self._advance_s += elapsed
        self._advanced_steps += done
        return done

    def _run(self, n: int) -> int:
        """Up to n steps, by the integrator of the scene."""
        model, state, work, options = self.model, self.state, self.work, self.options
        if options.integrator != Integrator.SEMI_IMPLICIT_EULER:
            return run_smooth(model, state, work, options, n, self.report)
        course = Course(model, state, work, self.collision, options, self.report, self._events)
        if not all(map(is_, course, self._course)):
            self._course, self._held = course, hold(course)
        return run_steps(self._held, n)

    # ------------------------------------------------------------------ looking

    def poses(self) -> Array:
        """(n_bodies, 7): origin px py pz [m], orientation qw qx qy qz."""
        n = len(self.body_names)
        out = np.empty((n, 7))
        out[:, :3] = self.state.p_WB[:n]
        out[:, 3:] = self.state.q_WB[:n]
        for i in np.flatnonzero(self.model.bodies.com_B[:n].any(axis=1)):
            out[i, :3] -= turn(self.state.q_WB[i], self.model.bodies.com_B[i])
        return out

    def velocities(self) -> Array:
        """(n_bodies, 6): of the origin vx vy vz [m/s], wx wy wz [rad/s]."""
        n = len(self.body_names)
        out = np.concatenate([self.state.v_WB_W[:n], self.state.w_WB_W[:n]], axis=1)
        for i in np.flatnonzero(self.model.bodies.com_B[:n].any(axis=1)):
            arm = turn(self.state.q_WB[i], self.model.bodies.com_B[i])
            out[i, :3] -= np.cross(self.state.w_WB_W[i], arm)
        return out

    def asleep(self) -> NDArray[np.bool_]:
        """(n_bodies,): which bodies sleep; none unless the scene enables sleeping."""
        sleeping: NDArray[np.bool_] = self.state.asleep_with[: len(self.body_names)] >= 0
        return sleeping

    def joint_table(self) -> NDArray[np.void]:
        """One row per joint coordinate: see engine.diagnostics.tables."""
        work = self.work
        return joint_table(self.model.joints, self.state, work.rows, work.problem, self.time_step)

    def broken_joints(self) -> list[dict[str, Any]]:
        """Joints that gave way so far: joint (name), time [s], force [N], of a gear [N m]."""
        return broken_joints(self.state, self.joint_names)

    def contact_table(self) -> NDArray[np.void]:
        """One row per contact of the last step: see engine.diagnostics.tables."""
        work = self.work
        return contact_table(work.contacts, work.rows, work.problem, self.time_step)

    def energy(self) -> dict[str, float]:
        """Energies now and work so far [J]."""
        return energies(self.model, self.state)

    def momentum(self) -> Array:
        """(6,): linear [N s], angular about the origin of W [N m s]."""
        return steering.total_momentum(self.model, self.state)

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

    def warnings(self) -> list[str]:
        """What a careful user should know of this run."""
        found = []
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
            status = "succeeded" if self.step_count >= self.total_steps else "running"
        used = int(self.report.methods[0])
        methods = sorted(m.name.lower() for m in SolverMethod if used >> m & 1)
        return {
            "status": status,
            "reason": self.failure.message if self.failure is not None else None,
            "steps": self.step_count,
            "time": self.time,
            "scene_hash": self.scene_hash,
            "state_hash": self.state_hash(),
            "versions": versions(),
            **account(self.model, self.state, methods, self.joint_names),
            "timing": {
                "total_s": self.build_s + self._advance_s,
                "compile_s": self._first_s,
                "per_step_us": 1e6 * per_step,
                "real_time_factor": self.time_step / per_step if per_step > 0.0 else None,
                "phases": self._phases(),
            },
            "warnings": self.warnings(),
        }

    def state_hash(self) -> str:
        """SHA-256 (hex) of everything that is saved."""
        return state_hash(self.state)

    # ------------------------------------------------------------------ saving

    def snapshot(self) -> bytes:
        """Everything the future depends on."""
        return to_bytes(self.state, self._identity)

    def restore(self, data: bytes) -> None:
        """Go to a snapshot of the same scene and engine; raises ValueError for any other."""
        self.state = from_bytes(data, self._identity, self.state)
        if len(self.state.contacts.key) > len(self.work.contacts.gap):
            self._allocate(len(self.state.contacts.key))
            self.watch_events(len(self._events.who) > 0)
        self.work.contacts.count[0] = 0
        self.work.rows.count[:] = 0
        # what happened on the way that is left is not told any more
        self._events.count[0] = 0
        self._event_parts = []
        self.failure = None
