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
from cardan.engine import commands
from cardan.engine.accounting.extremes import start_extremes
from cardan.engine.build.allocate import grown_cache, workspace
from cardan.engine.build.events import event_arrays
from cardan.engine.build.limits import lay_down_limits
from cardan.engine.build.report import empty_report
from cardan.engine.build.rewrite import clear_run, rewrite, same_structure
from cardan.engine.build.rotations import turn
from cardan.engine.build.scene import build
from cardan.engine.build.world import clock_arrays, spare_arrays, with_activity
from cardan.engine.commands import Commands
from cardan.engine.compiler.cache import SOURCE_HASH
from cardan.engine.compiler.handles import hold
from cardan.engine.errors import Failure, find_failure
from cardan.engine.integrators.schemes import run_smooth
from cardan.engine.queries import Queries
from cardan.engine.reports import (
    PHASES,
    STOP_REASONS,
    broken_joints,
    contact_table,
    energies,
    joint_table,
    summarise,
)
from cardan.engine.sampler import no_sampler
from cardan.engine.snapshot import from_bytes, state_hash, to_bytes
from cardan.engine.states import States
from cardan.engine.step.step import run as run_steps
from cardan.engine.verdict import Names, Overlap, find_overlaps, findings, sentence, verdict
from cardan.engine.world.collision import collision_scratch
from cardan.engine.world.options import Integrator, SolverMethod
from cardan.engine.world.report import (
    CONTACTS_FULL,
    EVENTS_FULL,
    NOT_FINITE,
    PAIRS_FULL,
    SAMPLES_FULL,
)
from cardan.engine.world.state import EXTREME_JOINT_ANGLE, EXTREME_JOINT_POSITION, EXTREME_RESIDUAL
from cardan.engine.world.world import World
from cardan.schemas import Scene, scene_hash

ENGINE_VERSION = __version__

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


class Simulation(Commands, Queries, States):
    """A scene as it moves: advance it, look at it, push it, save it.

    All quantities are SI, in W; poses are those of body origins; quaternions are [w, x, y, z].
    Arrays over bodies have the order of the scene and include bodies that do not move.
    """

    def __init__(self, scene: Scene) -> None:
        """Build the scene; raises SceneError with every fault."""
        began = time.perf_counter()
        built = build(scene)
        self._built, self._zero = built, built.zero
        self.body_names, self.joint_names = built.body_names, built.joint_names
        self.model, self.state, self.options = built.model, built.state, built.options
        self.report = empty_report()
        self._body_index = {name: i for i, name in enumerate(self.body_names)}
        self._joint_index = {name: i for i, name in enumerate(self.joint_names)}
        self._events = event_arrays(0)
        self._world: World | None = None
        self._parts: tuple[Any, ...] = ()
        self._allocate(len(self.state.contacts.key))
        self._start(scene, began)

    def _start(self, scene: Scene, began: float) -> None:
        """Stand before the first step of a scene whose arrays are written."""
        self.scene = scene
        self._placement = self._first = None
        self.scene_hash = scene_hash(scene)
        self.total_steps = max(1, round(scene.simulation.duration / scene.simulation.dt))
        self.failure: Failure | None = None
        self._event_parts: list[NDArray[np.void]] = []
        self.sampler = no_sampler()
        self._advance_s = 0.0
        self._first_s = 0.0
        self._advanced_steps = 0
        self._identity = f"scene {self.scene_hash[:16]}, engine {SOURCE_HASH}"
        start_extremes(self.model, self.state)
        lay_down_limits(self.model, self.state, self.options)
        self._overlaps = self._find_overlaps()
        self.build_s = time.perf_counter() - began

    def restart(self, scene: Scene) -> bool:
        """Become the simulation of a scene that differs in values, in the arrays there are.

        False: its structure is another (build/rewrite.py), and nothing was changed. Recordings of
        the run before lose their simulation. Raises SceneError.
        """
        began = time.perf_counter()
        built = build(scene)
        if not same_structure(self._built, built):
            return False
        rewrite(self._built._replace(state=self.state), built)
        self._zero = built.zero
        self.options = built.options if built.options != self.options else self.options
        if len(self._events.who) > 0:
            self.watch_events(False)
        clear_run(self.report, self.work, self.collision)
        self._start(scene, began)
        return True

    def _allocate(self, max_contacts: int) -> None:
        self.work = workspace(self.model, self.options, max_contacts)
        pairs = max(64, 4 * max_contacts)
        self.collision = collision_scratch(self.model.shapes, pairs, max_contacts)

    def _grow(self) -> None:
        """Twice the room for contacts; what is cached stays."""
        larger = 2 * len(self.work.contacts.gap)
        self.state = self.state._replace(
            contacts=grown_cache(self.state.contacts, larger),
            resting=grown_cache(self.state.resting, larger),
        )
        self._allocate(larger)
        self.watch_events(len(self._events.who) > 0)

    def _make_room(self, status: int) -> None:
        """Room for what the last step was short of; that step left the state as it was.

        A step whose sample found no room was done: the sample is taken now.
        """
        if status & (CONTACTS_FULL | PAIRS_FULL):
            self._grow()
        elif status & SAMPLES_FULL:
            self.sample()
        elif status & EVENTS_FULL:
            if self._events.count[0] == 0:
                self._events = event_arrays(2 * len(self._events.who))
            self._take_events()

    def _find_overlaps(self) -> list[Overlap]:
        """Bodies that overlap at the start; integrators of smooth motion know no contacts."""
        if self.options.integrator != Integrator.SEMI_IMPLICIT_EULER:
            return []
        self._run(0)
        while int(self.report.status[0]) & (CONTACTS_FULL | PAIRS_FULL):
            self._grow()
            self._run(0)
        found = find_overlaps(self.model, self.state, self.work.contacts)
        self.work.contacts.count[0] = 0
        return found

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
        self.sampler.begin_timing()
        began = time.perf_counter()
        done = 0
        while done < n:
            done += self._run(n - done)
            status = int(self.report.status[0])
            self._make_room(status)
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
        world = self.world
        if self.options.integrator == Integrator.SEMI_IMPLICIT_EULER:
            return run_steps(self._held, self.sampler.held, n)
        due = self.sampler.next_due(self.step_count)
        if due is None or due > self.step_count + n:
            return run_smooth(world, self._held, n)
        done = run_smooth(world, self._held, due - self.step_count)
        if self.step_count == due and not int(self.report.status[0]) & NOT_FINITE:
            self.sample()
        return done

    def sample(self) -> None:
        """Record the current state in `sampler`."""
        self.sampler.write(self.world, self._held)

    @property
    def world(self) -> World:
        """Everything that a step reads and writes: what kernels are called with."""
        parts = (self.model, self.state, self.work, self.collision, self.options, self._events)
        if self._world is None or not all(map(is_, parts, self._parts)):
            self._parts = parts
            self._world = World(
                model=with_activity(self.model, self.work),
                kind=self.model.bodies.kind,
                state=self.state,
                spare=spare_arrays(self.state),
                work=self.work,
                collision=self.collision,
                options=self.options,
                clock=clock_arrays(self.options.time_step),
                report=self.report,
                events=self._events,
            )
            self._held = hold(self._world)
        return self._world

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
        """One row per joint coordinate: see cardan.engine.reports."""
        work = self.work
        return joint_table(self.model.joints, self.state, work.rows, work.problem, self.time_step)

    def broken_joints(self) -> list[dict[str, Any]]:
        """Joints that gave way so far: joint (name), time [s], force [N], of a gear [N m]."""
        return broken_joints(self.state, self.joint_names)

    def contact_table(self) -> NDArray[np.void]:
        """One row per contact of the last step: see cardan.engine.reports."""
        work = self.work
        return contact_table(work.contacts, work.rows, work.problem, self.time_step)

    def energy(self) -> dict[str, float]:
        """Energies now and work so far [J]."""
        return energies(self.model, self.state)

    def momentum(self) -> Array:
        """(6,): linear [N s], angular about the origin of W [N m s]."""
        return commands.total_momentum(self.model, self.state)

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
        """Where this run left the limits within which it can be trusted (engine/verdict.py)."""
        names = Names(self.body_names, self.joint_names)
        return findings(self.model, self.state, self.options, names, self._overlaps)

    def warnings(self) -> list[str]:
        """What a careful user should know of this run: sentences of the findings, and notes."""
        found = [sentence(finding) for finding in self.findings()]
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
            **summarise(self.model, self.state, methods, self.joint_names),
            "timing": {
                "total_s": self.build_s + self._advance_s,
                "compile_s": self._first_s,
                "per_step_us": 1e6 * per_step,
                "real_time_factor": self.time_step / per_step if per_step > 0.0 else None,
                "phases": self._phases(),
            },
            "verdict": verdict(self.findings(), self.failure),
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
