"""The constraint problem of the step ahead as arrays: what is solved, and what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.allocate import with_caches, with_room_to_grab, workspace
from cardan.engine.build.coordinates import coordinates_of
from cardan.engine.build.events import event_arrays
from cardan.engine.build.report import empty_report
from cardan.engine.build.room import Room, grown_room, room_of
from cardan.engine.build.world import (
    clock_arrays,
    copied,
    no_controls,
    spare_arrays,
    with_activity,
)
from cardan.engine.compiler.handles import handle_of
from cardan.engine.errors import Failure
from cardan.engine.outputs.sampler import no_sampler
from cardan.engine.rows.names import Place, ProblemRow, name_row, places_of
from cardan.engine.rows.redundant import MOST_ROWS, implied_rows, rows_within_bounds
from cardan.engine.rows.table import AXES, bounds_at
from cardan.engine.step.step import LOOK_AHEAD
from cardan.engine.step.step import run as run_steps
from cardan.engine.trees import batches
from cardan.engine.trees.arrays import tree_work
from cardan.engine.world.collision import CollisionScratch, collision_scratch
from cardan.engine.world.model import DYNAMIC, Model
from cardan.engine.world.options import (
    ImpactTime,
    Integrator,
    RestitutionLaw,
    SolverMethod,
    StepOptions,
)
from cardan.engine.world.report import CONTACTS_FULL, PAIRS_FULL
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import World

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StepProblem:
    """Constraints of one step, in the velocities v of the formulation, in the middle of the step.

        M (v_after - v_before) = J^T lam + M (v_free - v_before)
        w = J v_after + bias + cfm lam = A lam + b,    lam in its set, w complementary to it

    Maximal coordinates: v are angular velocity and velocity of the centre of mass of every dynamic
    body that is awake, in W. Joint coordinates: those of trees, then those of bodies in none.
    """

    rows: tuple[ProblemRow, ...]
    velocities: tuple[str, ...]  # (n,)  names: `box: wx`, `elbow`, `socket: wx`
    J: Array  # (rows, n)  1, m
    M: Array  # (n, n)  kg m^2, kg m, kg
    v_before: Array  # (n,)  rad/s, m/s   before the kick
    v_free: Array  # (n,)   after the kick of forces alone
    v_after: Array  # (n,)  with the impulses lam
    lam: Array  # (rows,)  N s or N m s   the force is lam/time_step
    w: Array  # (rows,)  m/s or rad/s
    bias: Array  # (rows,)  m/s or rad/s   surfaces, bodies with given motions, errors, restitution
    cfm: Array  # (rows,)  1/kg or 1/(kg m^2)
    lo: Array  # (rows,)  N s or N m s   of tangents, spinning and rolling at this lam
    hi: Array  # (rows,)
    mu: Array  # (rows,)  - or m   share of the normal's lam that bounds such a row, else 0
    normal: NDArray[np.int64]  # (rows,)  row of the normal of such a row, else -1
    active: NDArray[np.bool_]  # (rows,)  lam strictly within its bounds, so that w = 0 is held
    redundant: NDArray[np.bool_]  # (rows,)  equations that the equations before them imply
    step: int  # steps done before this one
    time: float  # s   the middle of the step
    time_step: float  # s

    @cached_property
    def A(self) -> Array:
        """(rows, rows) J M^-1 J^T + cfm."""
        found: Array = self.J @ np.linalg.solve(self.M, self.J.T) + np.diag(self.cfm)
        return found

    @property
    def b(self) -> Array:
        """(rows,) m/s or rad/s   J v_free + bias, the w of no impulse."""
        found: Array = self.J @ self.v_free + self.bias
        return found

    @property
    def force(self) -> Array:
        """(rows,) N or N m   lam/time_step."""
        return self.lam / self.time_step


class Ahead:
    """The view of a simulation on the step ahead of it."""

    model: Model
    state: State
    work: Workspace
    collision: CollisionScratch
    options: StepOptions
    failure: Failure | None
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]

    def problem(self) -> StepProblem:
        """The constraint problem of the step from the present state, and its solution.

        It is solved on a copy: the simulation does not move, and the next step solves the same.
        Raises ValueError where a step has no such problem (small_steps, integrators of smooth
        motion, impacts by Poisson's or a propagating law or at exact times, after a failure), and
        for more than 2000 rows or velocities.
        """
        self._refuse_other_steps()
        reading = self._reading()
        if reading.is_too_large:
            raise ValueError(
                f"the problem of this step has {reading.n_rows} rows and {reading.n} velocities; "
                f"it is given up to {MOST_ROWS} of each"
            )
        return reading.problem(self.options)

    def redundant_ahead(self) -> NDArray[np.bool_]:
        """Equations (rows,) of the next step that others imply; none of more than 2000 rows."""
        self._refuse_other_steps()
        reading = self._reading()
        if reading.is_too_large:
            return np.zeros(reading.n_rows, bool)
        return reading.problem(self.options).redundant

    def _reading(self) -> _Reading:
        """A copy of the simulation in the middle of its next step."""
        world = self._copied_world(room_of(self.work, self.collision))
        while (status := _look(world)) & (CONTACTS_FULL | PAIRS_FULL):
            room = grown_room(world.state, world.work, world.collision, status)
            world = self._copied_world(room)
        return _Reading(world, self.body_names, self.joint_names)

    def _refuse_other_steps(self) -> None:
        options = self.options
        if self.failure is not None:
            raise ValueError("the simulation has failed: no step is ahead of it")
        if options.integrator != Integrator.SEMI_IMPLICIT_EULER:
            name = Integrator(options.integrator).name.lower()
            raise ValueError(f"the integrator {name} solves no constraint problem once a step")
        if options.solver.method == SolverMethod.SMALL_STEPS:
            raise ValueError("the solver small_steps solves many small problems in a step, not one")
        if options.restitution_law != RestitutionLaw.NEWTON:
            name = RestitutionLaw(options.restitution_law).name.lower()
            raise ValueError(f"impacts by the law {name} are solved before the problem of the step")
        if options.impact_time != ImpactTime.STEP:
            raise ValueError("impacts at exact times divide a step into parts with own problems")

    def _copied_world(self, room: Room) -> World:
        """A world of its own in the present state."""
        work = workspace(self.model, self.options, room)
        work = with_room_to_grab(self.model, self.state, work)
        state = copied(with_caches(self.state, room.contacts))
        return World(
            model=with_activity(self.model, work),
            kind=self.model.bodies.kind,
            state=state,
            spare=spare_arrays(state),
            work=work,
            collision=collision_scratch(self.model.shapes, room.pairs, room.contacts),
            options=self.options,
            controls=no_controls(),
            clock=clock_arrays(self.options.time_step),
            report=empty_report(),
            events=event_arrays(0),
        )


def _look(world: World) -> int:
    """Begin the step; the status."""
    run_steps(handle_of(world), no_sampler().handle, LOOK_AHEAD)
    return int(world.report.status[0])


class _Reading:
    """A world in the middle of a step, read into arrays."""

    def __init__(
        self, world: World, body_names: tuple[str, ...], joint_names: tuple[str, ...]
    ) -> None:
        self.world = world
        self.body_names, self.joint_names = body_names, joint_names
        self.tree = world.model.tree
        self.n_rates = len(world.state.tree_qd)
        bodies = world.model.bodies
        single = (bodies.kind == DYNAMIC) & (bodies.node < 0)
        self.single = np.flatnonzero(single[: len(body_names)])
        self.n_rows = int(world.work.rows.count[0])
        self.n = self.n_rates + 6 * len(self.single)

    @property
    def is_too_large(self) -> bool:
        """Whether dense arrays of the problem would have more than 2000 rows or columns."""
        return max(self.n_rows, self.n) > MOST_ROWS

    def problem(self, options: StepOptions) -> StepProblem:
        """The arrays."""
        part, motion, state = self.world.work.problem, self.world.work.motion, self.world.state
        tree, rows, h = self.world.work.tree, self.n_rows, float(options.time_step)
        J, M = self._jacobian(), self._mass()
        names = (*self.body_names, "world"), self.joint_names
        places = zip(*places_of(self.world.work.rows), strict=True)
        v_free = self._velocities(tree.free, motion.velocity_free)
        after = np.hstack([state.w_WB_W, state.v_WB_W])
        lam, cfm, normal = part.lam[:rows].copy(), part.cfm[:rows].copy(), part.normal_row[:rows]
        lo, hi = bounds_at(self.world.work.rows, part, lam)
        equations = np.isinf(lo) & np.isinf(hi) & (cfm == 0.0) & J.any(axis=1)
        friction = (int(options.friction_kind), int(options.directions))
        return StepProblem(
            rows=tuple(name_row(Place(*map(int, one)), *names) for one in places),
            velocities=tuple(self._velocity_names()),
            J=J,
            M=M,
            v_before=self._velocities(tree.mean, motion.velocity_old),
            v_free=v_free,
            v_after=self._velocities(state.tree_qd, after),
            lam=lam,
            w=part.w[:rows].copy(),
            bias=part.b[:rows] - J @ v_free,
            cfm=cfm,
            lo=lo,
            hi=hi,
            mu=np.where(normal >= 0, part.mu[:rows], 0.0),
            normal=normal.copy(),
            active=rows_within_bounds(lam, lo, hi, normal, friction),
            redundant=implied_rows(J, M, equations),
            step=int(state.step[0]),
            time=float(state.time[0]) + 0.5 * h,
            time_step=h,
        )

    # ------------------------------------------------------------------ velocities

    def _velocities(self, rates: Array, bodies: Array) -> Array:
        """(n,) rates of trees (v,), and velocities (bodies, 6) of the others."""
        return np.concatenate([rates, bodies[self.single].ravel()])

    def _velocity_names(self) -> Iterator[str]:
        motions = coordinates_of(self.tree, self.joint_names, self.body_names)
        several = Counter(motion.joint for motion in motions)
        for motion in motions:
            owner = motion.body if motion.joint is None else motion.joint
            single = motion.number is None or several[motion.joint] == 1
            number = "" if single else f" {(motion.number or 0) + 1}"
            for name in motion.v_names:
                yield f"{owner}{number}" if name == "qd" else f"{owner}{number}: {name}"
        for body in self.single:
            for axis in AXES:
                yield f"{self.body_names[body]}: {axis}"

    def _mass(self) -> Array:
        """(n, n): joint-space inertia of trees, and inertia about the centre of mass of others."""
        M, v, state = np.zeros((self.n, self.n)), self.n_rates, self.world.state
        if v:
            H = np.zeros((1, v, v))
            batches.mass_matrices(self.tree, state.tree_q[None], tree_work(self.tree, True), H)
            M[:v, :v] = H[0]
        inverse = self.world.work.motion.inverse_inertia_W
        for k, body in enumerate(self.single):
            first = v + 6 * k
            M[first : first + 3, first : first + 3] = np.linalg.inv(inverse[body])
            mass = self.world.model.bodies.mass[body]
            M[first + 3 : first + 6, first + 3 : first + 6] = mass * np.eye(3)
        return M

    def _jacobian(self) -> Array:
        """(rows, n): J_a of body a and J_b of body b, of bodies of trees by their Jacobians."""
        part, node = self.world.work.problem, self.world.model.bodies.node
        first = np.full(len(node), -1)
        first[self.single] = self.n_rates + 6 * np.arange(len(self.single))
        by_node: dict[int, Array] = {}
        J = np.zeros((self.n_rows, self.n))
        for i in range(self.n_rows):
            for body, side in ((part.body_a[i], part.J_a[i]), (part.body_b[i], part.J_b[i])):
                if node[body] >= 0:
                    if node[body] not in by_node:
                        by_node[node[body]] = self._node_jacobian(int(node[body]))
                    J[i, : self.n_rates] += side @ by_node[node[body]]
                elif first[body] >= 0:
                    J[i, first[body] : first[body] + 6] += side
        return self._with_sums(J)

    def _with_sums(self, J: Array) -> Array:
        """J with that of a coupling in its first row: the sum of its terms; 0 in the others."""
        n = int(self.world.work.problem.count[2])
        owner = self.world.work.problem.joint[:n]
        for j in np.unique(owner):
            terms = np.flatnonzero(owner == j)
            J[terms[0]] = J[terms].sum(axis=0)
            J[terms[1:]] = 0.0
        return J

    def _node_jacobian(self, node: int) -> Array:
        """(6, rates): velocity of a node by the rates of its trees."""
        found = np.zeros((1, 6, self.n_rates))
        q, work = self.world.state.tree_q[None], tree_work(self.tree)
        batches.jacobians(self.tree, q, node, (0.0, 0.0, 0.0), work, found)
        return found[0]
