"""The door: a scene that moves. The only class of the engine that holds state."""

from __future__ import annotations

import time
from collections.abc import Callable
from operator import index, is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.contradictions import note_contradictions
from cardan.engine.accounting.extremes import start_extremes
from cardan.engine.build.allocate import with_caches, with_room_to_grab, workspace
from cardan.engine.build.events import event_arrays
from cardan.engine.build.limits import lay_down_limits
from cardan.engine.build.presence import responses
from cardan.engine.build.report import empty_report
from cardan.engine.build.rewrite import clear_run, rewrite
from cardan.engine.build.room import Room, first_room, grown_room
from cardan.engine.build.scene import Built, build
from cardan.engine.build.world import clock_arrays, no_controls, spare_arrays, with_activity
from cardan.engine.compiler.cache import SOURCE_HASH
from cardan.engine.compiler.handles import handle_of
from cardan.engine.errors import Failure, find_failure, work_failure
from cardan.engine.integrators.schemes import MOST_LOOKS, run_smooth
from cardan.engine.interaction.presence import Begun, Presence
from cardan.engine.interaction.queries import Queries
from cardan.engine.interaction.states import States
from cardan.engine.interaction.threads import Helpers, threads_for
from cardan.engine.outputs.sampler import no_sampler
from cardan.engine.outputs.second_runs import SecondRuns
from cardan.engine.outputs.sensors import Sensing
from cardan.engine.outputs.snapshot import from_bytes, to_bytes
from cardan.engine.rows.ahead import Ahead
from cardan.engine.rows.table import row_table
from cardan.engine.step.step import ASSIST, PROJECT
from cardan.engine.step.step import run as run_steps
from cardan.engine.step.timing import begin_timing
from cardan.engine.verdict import Overlap, find_overlaps, ignored_pairs, parting
from cardan.engine.world.collision import collision_scratch
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import Integrator
from cardan.engine.world.report import (
    CONTACTS_FULL,
    EVENTS_FULL,
    NOT_FINITE,
    PAIRS_FULL,
    SAMPLES_FULL,
    TRIGGERED,
)
from cardan.engine.world.state import VELOCITIES_SET
from cardan.engine.world.triggers import FIRED_TIME
from cardan.engine.world.world import World
from cardan.schemas import GivenScene, Scene, scene_hash, scene_of
from cardan.schemas.action import (
    Action,
    AppearAction,
    ApplyForceAction,
    ApplyImpulseAction,
    BreakJointAction,
    GravityAction,
    SetMotorAction,
    SetVelocityAction,
    VanishAction,
)

# speed at which bodies that overlap at the start part, unless the scene says otherwise [m/s]
CALM = 0.2


class Simulation(Presence, Queries, States, SecondRuns, Ahead, Sensing):
    """A scene as it moves: advance it, look at it, push it, save it.

    All quantities are SI, in W; poses are those of body origins; quaternions are [w, x, y, z].
    Arrays over bodies have the order of the scene and include bodies that do not move.
    """

    def __init__(self, scene: GivenScene) -> None:
        """Build a scene, loaded or a document; raises SceneInvalid or SceneError, every fault."""
        began = time.perf_counter()
        built = build(scene := scene_of(scene))
        self._built, self._zero = built, built.zero
        self.body_names, self.joint_names = built.body_names, built.joint_names
        self.trigger_names = tuple(trigger.name for trigger in scene.triggers)
        self.model, self.state, self.options = built.model, built.state, built.options
        self.formulation = built.formulation
        self.report = empty_report()
        self._body_index = {name: i for i, name in enumerate(self.body_names)}
        self._joint_index = {name: i for i, name in enumerate(self.joint_names)}
        self._events = event_arrays(0)
        moving = int((self.model.bodies.kind == DYNAMIC).sum())
        self._threads, self.helpers = threads_for(scene.simulation.threads, moving), Helpers()
        self._world: World | None = None
        self._parts: tuple[Any, ...] = ()
        self._allocate(first_room(len(self.state.contacts.key)))
        self._start(scene, began)

    def _start(self, scene: Scene, began: float) -> None:
        """Stand before the first step of a scene whose arrays are written."""
        self.scene, self._responses = scene, responses(scene)
        self._begun = Begun(self.state.joint_q.copy(), self.state.twist.copy())
        self._placement = self._first = None
        self.scene_hash = scene_hash(scene)
        self.total_steps = max(1, round(scene.simulation.duration / scene.simulation.dt))
        self.failure: Failure | None = None
        self._event_parts: list[NDArray[np.void]] = []
        self.sampler, self._controls = no_sampler(), no_controls()
        self._advance_s = self._first_s = 0.0
        self._advanced_steps, self._redundant_at = 0, -1
        self._forget_readings()
        self._turn_rotors()
        self._identity = f"scene {self.scene_hash[:16]}, engine {SOURCE_HASH}"
        start_extremes(self.model, self.state)
        lay_down_limits(self.model, self.state, self.options)
        self.begin_trail()
        self._part_overlaps()
        note_contradictions(self.handle)
        self.build_s = time.perf_counter() - began

    def restart(self, scene: Scene) -> bool:
        """Become the simulation of a scene that differs in values, in the arrays there are.

        False: its structure is another (build/rewrite.py), and nothing was changed. Recordings of
        the run before lose their simulation. Raises SceneError.
        """
        began = time.perf_counter()
        if self._ignored or scene.simulation.ignore_initial_overlaps:
            return False
        built = build(scene)
        if not rewrite(self._built._replace(state=self.state), built):
            return False
        self._zero = built.zero
        self.options = built.options if built.options != self.options else self.options
        if len(self._events.who) > 0:
            self.watch_events(False)
        clear_run(self.report, self.work, self.collision)
        self._start(scene, began)
        return True

    def _allocate(self, room: Room) -> None:
        self.work = workspace(self.model, self.options, room, self._threads)
        self.collision = collision_scratch(self.model.shapes, room.pairs, room.contacts)

    def _grow(self, status: int) -> None:
        """Room for the contacts and pairs that were found; what is cached stays."""
        room = grown_room(self.state, self.work, self.collision, status)
        self.state = with_caches(self.state, room.contacts)
        self.work = workspace(self.model, self.options, room, self._threads)
        if room.pairs > len(self.collision.sweep.pair_a):
            self.collision = collision_scratch(self.model.shapes, room.pairs, room.contacts)
        self.watch_events(len(self._events.who) > 0)

    def _make_room(self, status: int) -> None:
        """Room for what the last step was short of; that step left the state as it was.

        A step whose sample found no room was done: the sample is taken now.
        """
        if status & (CONTACTS_FULL | PAIRS_FULL):
            self._grow(status)
        elif status & SAMPLES_FULL:
            self.sample()
        elif status & EVENTS_FULL:
            if self._events.count[0] == 0:
                self._events = event_arrays(2 * len(self._events.who))
            self._take_events()

    def find_contacts(self) -> int:
        """Find the contacts at the present poses (`work.contacts`); how many they are.

        Integrators of smooth motion know none.
        """
        if self.options.integrator != Integrator.SEMI_IMPLICIT_EULER:
            return 0
        self._run(0)
        while (status := int(self.report.status[0])) & (CONTACTS_FULL | PAIRS_FULL):
            self._grow(status)
            self._run(0)
        return int(self.work.contacts.count[0])

    def _part_overlaps(self) -> None:
        """Find the overlaps at the start; ignore those the scene says, part the others calmly."""
        self.find_contacts()
        at_start = self.model, self.state, self.work.contacts
        self._overlaps, self._ignored = find_overlaps(*at_start), list[Overlap]()
        self._parting = parting(*at_start)
        self.work.contacts.count[0] = 0
        if self.scene.simulation.ignore_initial_overlaps:
            self._ignored = ignored_pairs(self.model, self._overlaps)
            self._overlaps = [one for one in self._overlaps if one not in self._ignored]
            world = len(self.model.bodies.kind) - 1
            keys = [min(a, b) * world + max(a, b) for a, b, *_ in self._ignored]
            excluded = np.concatenate([self.state.excluded, np.array(keys, np.int64)])
            self.state = self.state._replace(excluded=np.sort(excluded))
        if self._overlaps and self.scene.simulation.contact.max_correction_speed is None:
            self.options = self.options._replace(max_correction_speed=CALM)

    # ------------------------------------------------------------------ time

    @property
    def step_count(self) -> int:
        """Steps done."""
        return int(self.state.step[0])

    def advance(self, n: int = 1, should_stop: Callable[[], bool] | None = None) -> int:
        """Do up to n steps, a whole number; returns how many were done.

        Fewer only when a value stopped being finite or a step needs too much work (`failure` then
        says which), or when should_stop() returned True: integrators of smooth motion ask about
        twenty times a second of work, also inside a step; the state is that after a whole step.
        """
        if self.failure is not None or index(n) <= 0:
            return 0
        begin_timing(self.report, n)
        self.sampler.begin_timing()
        began = time.perf_counter()
        done, ended = 0, False
        while done < n and not ended:
            more, ended = self._run_sensed(self._steps_at_once(n - done), should_stop)
            done += more
            status = int(self.report.status[0])
            self._make_room(status)
            if status & NOT_FINITE:
                self.failure = find_failure(
                    self.state, int(self.report.bad_body[0]), self.body_names
                )
                break
            if status & TRIGGERED:
                self.do_triggered()
            self._note_trail()
        elapsed = time.perf_counter() - began
        if self._advanced_steps == 0:
            self._first_s = elapsed
        self._advance_s += elapsed
        self._advanced_steps += done
        return done

    def _add_to_frames(self) -> None:
        """Add to new frames what kernels do not record: sensors and rows."""
        self._sense_frames()
        if self.sampler.wants_rows:
            known = self._redundant if self.step_count == self._redundant_at else None
            rows = row_table(self.work.rows, self.work.problem, self.options, known)
            self.sampler.keep_rows(rows)

    def _run_sensed(
        self, n: int, should_stop: Callable[[], bool] | None = None
    ) -> tuple[int, bool]:
        """Advance as `_run`; with sensors or rows the step before a frame is done by itself."""
        if not self.scene.sensors and not self.sampler.wants_rows:
            return self._run(n, should_stop)
        due = self.sampler.next_due(self.step_count)
        n = n if due is None else min(n, due - self.step_count)
        if n > 1:
            return self._run(n - 1, should_stop)
        self._note_moment()
        if self.sampler.wants_rows and len(self.state.tree_q):
            # rates of trees are known in the middle of the step only
            self._redundant, self._redundant_at = self.redundant_ahead(), self.step_count + 1
        found = self._run(1, should_stop)
        self._read_sensors()
        if not int(self.report.status[0]) & SAMPLES_FULL:
            self._add_to_frames()
        return found

    def _run(self, n: int, should_stop: Callable[[], bool] | None = None) -> tuple[int, bool]:
        """Up to n steps, by the integrator of the scene: how many, and whether they ended early."""
        world = self.world
        if self.options.integrator == Integrator.SEMI_IMPLICIT_EULER:
            samples = self.sampler.handle
            done = self.helpers.advance(
                world,
                lambda handle, k: run_steps(handle, samples, ASSIST - k),
                lambda n: run_steps(self._handle, samples, n),
                n,
            )
            return done, False
        due = self.sampler.next_due(self.step_count)
        n = n if due is None else min(n, due - self.step_count)
        n = self._steps_as_commanded(n)
        self._begin_smooth()
        run = run_smooth(world, self._handle, n, should_stop)
        if run.gave_up:
            name = Integrator(self.options.integrator).name.lower()
            self.failure = work_failure(self.state, name, MOST_LOOKS)
        if self.step_count == due and not int(self.report.status[0]) & NOT_FINITE:
            self.sample()
        return run.done, run.interrupted or run.gave_up

    def _begin_smooth(self) -> None:
        """Command motors, and project velocities that were set onto the joints."""
        if self.state.velocities_changed[0] == VELOCITIES_SET or len(self._controls.targets):
            run_steps(self._handle, self.sampler.handle, PROJECT)

    def sample(self) -> None:
        """Record the current state in `sampler`."""
        self.sampler.write(self.world, self._handle)
        self._read_sensors()
        self._add_to_frames()

    def count_elsewhere(self, seconds: float) -> None:
        """Count steps that something else did on the state, after the first, and their time."""
        self._advanced_steps = self.step_count
        self._advance_s = self._first_s + seconds

    @property
    def built(self) -> Built:
        """Model, state and workspace, with the values of the present scene."""
        return self._built._replace(state=self.state, options=self.options)

    @property
    def world(self) -> World:
        """Everything that a step reads and writes: what kernels are called with."""
        self.work = with_room_to_grab(self.model, self.state, self.work)
        told = (self._events, self._controls)
        parts = (self.model, self.state, self.work, self.collision, self.options, *told)
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
                controls=self._controls,
                clock=clock_arrays(self.options.time_step),
                report=self.report,
                events=self._events,
            )
            self._handle = handle_of(self._world)
        return self._world

    @property
    def handle(self) -> Any:
        """Handle of `world`, which kernels take."""
        _ = self.world
        return self._handle

    # ------------------------------------------------------------------ triggers

    def do(self, action: Action) -> None:
        """Do what an action of the scene format says. Raises ValueError as its method does."""
        match action:
            case SetMotorAction():
                self.set_motor(action.joint, action.target, action.axis, action.max_force)
            case ApplyForceAction():
                given = (action.force, action.torque, action.point, action.duration)
                self.apply_wrench(action.body, *given)
            case ApplyImpulseAction():
                self.apply_impulse(action.body, action.impulse, action.point)
            case SetVelocityAction():
                self.set_velocity(action.body, action.linear, action.angular)
            case GravityAction():
                self.set_gravity(action.value)
            case BreakJointAction():
                self.break_joint(action.joint)
            case AppearAction():
                self.appear(action.body)
            case VanishAction():
                self.vanish(action.body)

    def do_triggered(self) -> None:
        """Do what the triggers that fired at the end of the last step say, in their order.

        What pushes a body that is absent does nothing, nor does what drives a joint that broke.
        """
        with self.as_the_scene_says():
            for k in np.flatnonzero(self.state.triggers[:, FIRED_TIME] == self.state.time[0]):
                if k < len(self.trigger_names):
                    self._note_event("trigger", trigger=k)
                for action in self._responses[k].do:
                    if self._has_object(action):
                        self.do(action)

    # ------------------------------------------------------------------ saving

    def snapshot(self) -> bytes:
        """Everything the future depends on."""
        return to_bytes(self.state, self._identity, can_be_repeated=self.can_be_repeated)

    def restore(self, data: bytes) -> None:
        """Go to a snapshot of the same scene and engine; raises ValueError for any other."""
        self.state, can_be_repeated = from_bytes(data, self._identity, self.state)
        self.find_trail_later(can_be_repeated=can_be_repeated)
        if len(self.state.contacts.key) > len(self.work.contacts.gap):
            self._allocate(first_room(len(self.state.contacts.key)))
            self.watch_events(len(self._events.who) > 0)
        self.work.contacts.count[0] = 0
        self.work.rows.count[:] = 0
        # what happened on the way that is left is not told any more
        self._events.count[0] = 0
        self._event_parts = []
        self.failure = None
        self._forget_readings()
