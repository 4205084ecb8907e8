"""The smooth part of a scene in joint coordinates: what equilibria and linear models are made of.

    H(q) dqd/dt = Q(q, qd, u),   J(q) qd = 0,   E qd = 0

Q are gravity, springs, dampers, soft drives and given forces; J are the equations of loops, E the
coordinates that rigid drives and equal limits hold. Contacts, stops and dry friction are left out
and named in `left_out`. The algorithms are those of the smooth integrators (integrators/rates.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cardan.engine.build.coordinates import Coordinate, coordinates_of
from cardan.engine.build.faults import Faults
from cardan.engine.build.limits import body_lengths
from cardan.engine.build.options import with_options
from cardan.engine.build.placement import exponential, logarithm
from cardan.engine.build.presence import check_all_there
from cardan.engine.build.rotations import inverse, product, rotation_matrix
from cardan.engine.constraints.joint_couplings import coupled_sum
from cardan.engine.integrators.rates import N_QUADRATURES, begin_smooth, smooth_rates
from cardan.engine.simulation import Simulation
from cardan.engine.statics.slack import loose_joints
from cardan.engine.statics.smooth_scene import Held, held_and_left_out, smooth_scene
from cardan.engine.trees import batches
from cardan.engine.trees.arrays import tree_work
from cardan.engine.trees.impulses import has_loops
from cardan.engine.world.model import COUPLING, DYNAMIC
from cardan.engine.world.problem import Problem
from cardan.engine.world.rows import Rows
from cardan.engine.world.tree import NODE_BALL, NODE_FREE, NODE_SLIDER
from cardan.schemas import Scene

Array = NDArray[np.float64]

# an equation that is this share of the largest one away from those before it is implied by them
RANK_TOLERANCE = 1e-9
# m or rad: couplings and held coordinates are kept to this; passes that may take
KEPT, MOST_PASSES = 1e-12, 10
NO_OFFSET = (0.0, 0.0, 0.0)
# derivatives by differences cost the cube of the velocities, and modes of all bodies 96 n^2 bytes:
# a minute, and 0.7 GB with all differences, for so many
MOST_VELOCITIES = 1000


class Sample(NamedTuple):
    """The smooth motion at one state."""

    q: Array  # (nq,)  with loops closed
    qd: Array  # (nv,)  of free bodies the velocity in W
    chart_rate: Array  # (nv,)  rate of the chart of the state that was asked for
    qdd: Array  # (nv,)  accelerations, without what holds coordinates


class TooLargeError(ValueError):
    """A scene whose derivatives by differences would take minutes."""


class SmoothModel:
    """The smooth part of a scene.

    Velocities are those of the trees, but of free bodies' centres of mass in W, as their charts
    are: a velocity is then the rate of its chart coordinate at the state the chart is around.
    """

    def __init__(self, scene: Scene, drives_hold: bool = True) -> None:
        """Build it; raises SceneError with every fault, and TooLargeError.

        drives_hold: whether rigid drives hold their coordinates; else they are left out.
        """
        check_all_there(
            scene, "a linear model, the search for an equilibrium or inverse kinematics"
        )
        self.scene = scene
        held, self.left_out = held_and_left_out(scene)
        self.held = [one for one in held if drives_hold or one.field.startswith("limits")]
        self.simulation = Simulation(smooth_scene(scene, held, loose_joints(scene)))
        simulation = self.simulation
        self.tree, self.model = simulation.model.tree, simulation.model
        if not len(simulation.state.tree_q):
            faults = Faults()
            faults.add("/bodies", "nothing_moves", "No body of the scene can move.")
            faults.raise_if_any()
        if len(simulation.state.tree_qd) > MOST_VELOCITIES:
            raise TooLargeError(
                f"the scene has {len(simulation.state.tree_qd)} velocities; linear models, the "
                f"search for an equilibrium and inverse kinematics take at most {MOST_VELOCITIES}"
            )
        self.world = simulation.world
        simulation._begin_smooth()
        begin_smooth(simulation._handle)
        self._work, self._dense = tree_work(self.tree), tree_work(self.tree, dense=True)
        turning = np.isin(self.tree.kind, (NODE_BALL, NODE_FREE))
        self._turning = np.flatnonzero(turning).tolist()
        plain = ~turning & (np.diff(self.tree.v_start) > 0)
        self._plain_q = self.tree.q_start[:-1][plain]
        self._plain_v = self.tree.v_start[:-1][plain]
        self._take_state()
        self.held_places = self._places_of_held()
        self.length = self._length()
        joints = self.model.joints
        self._couplings = bool(((joints.kind == COUPLING) & (joints.spring_on == 0)).any())
        self._loops = has_loops(self.tree)

    def set_state(self, q: Mapping[str, Any] | None, qd: Mapping[str, Any] | None = None) -> None:
        """Take coordinates and velocities by names of joints. Raises ValueError."""
        self.simulation.set_state(q, qd)
        self._take_state()

    def _take_state(self) -> None:
        state = self.simulation.state
        self.q = state.tree_q.copy()
        self.qd = self._turned(self.q, state.tree_qd)

    def all_left_out(self) -> list[str]:
        """`left_out` at the poses of `simulation`: with contacts, where anything touches."""
        touching = Simulation(with_options(self.scene))
        state, here = touching.state, self.simulation.state
        state.p_WB[:], state.q_WB[:] = here.p_WB, here.q_WB
        state.v_WB_W[:], state.w_WB_W[:] = 0.0, 0.0
        contacts = ["contacts"] if touching.find_contacts() else []
        return [*self.left_out, *self._drives_left_out(), *contacts]

    def _drives_left_out(self) -> list[str]:
        """Targets of what holds a coordinate that it does not have in `simulation`."""
        state, found = self.simulation.state, []
        for v, held in self.held_places.items():
            at = float(state.tree_q[self.place_in_q(v)])
            if (
                held.value is not None
                and abs(at - held.value) > self.scene.simulation.anchor_tolerance
            ):
                found.append(f"target of joint '{held.joint}'")
            if held.speed is not None and abs(float(state.tree_qd[v]) - held.speed) > KEPT:
                found.append(f"speed of the drive of joint '{held.joint}'")
        return found

    def place_in_q(self, v: int) -> int:
        """Where the coordinate of a velocity is that is no orientation's."""
        node = int(np.searchsorted(self.tree.v_start, v, side="right")) - 1
        return int(self.tree.q_start[node])

    @property
    def nv(self) -> int:
        """Generalised velocities."""
        return len(self.qd)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The motions of the trees."""
        names = self.simulation.joint_names, self.simulation.body_names
        return coordinates_of(self.tree, *names)

    def names(self) -> list[str]:
        """(nv) names of the generalised velocities, and of the charts around a state."""
        found = []
        for motion in self.coordinates:
            whole = motion.joint or motion.body
            number = "" if motion.number in (None, 0) else f".{motion.number + 1}"
            if motion.joint is not None and motion.number is None:
                number = ".suspension"
            if motion.motion in ("ball", "free"):
                found += [f"{whole}.{name.replace('w', 'r')}" for name in motion.v_names[:3]]
                found += [f"{whole}.{name[1:]}" for name in motion.v_names[3:]]
            else:
                found.append(f"{whole}{number}")
        return found

    def _length(self) -> float:
        """A length of the scene [m]: the middle one of its moving bodies."""
        lengths = body_lengths(self.model, self.simulation.state.p_WB)
        moving = lengths[self.model.bodies.kind == DYNAMIC]
        positive = moving[moving > 0.0]
        return float(np.median(positive)) if len(positive) else 1.0

    def scales(self) -> Array:
        """(nv,) a step of each velocity and chart coordinate that is small: rad, or a length."""
        found = np.ones(self.nv)
        for i, kind in enumerate(self.tree.kind):
            v = int(self.tree.v_start[i])
            if kind == NODE_SLIDER:
                found[v] = self.length
            elif kind == NODE_FREE:
                found[v + 3 : v + 6] = self.length
        return found

    def _places_of_held(self) -> dict[int, Held]:
        """Index of the velocity of each held coordinate. Raises SceneError."""
        faults, found = Faults(), {}
        numbers = {name: j for j, name in enumerate(self.simulation.joint_names)}
        for held in self.held:
            j = numbers[held.joint]
            at = np.flatnonzero((self.tree.joint == j) & (self.tree.axis == held.axis))
            if not len(at) or self.tree.kind[at[0]] == NODE_BALL:
                place = [joint.name for joint in self.scene.joints].index(held.joint)
                faults.add(
                    f"/joints/{place}/{held.field}",
                    "held_outside_tree",
                    f"Joint '{held.joint}' is held rigidly, closes a loop or is no joint of one "
                    "axis: it cannot be held in joint coordinates.",
                    "Give it a position drive with a `stiffness`.",
                )
                continue
            found[int(self.tree.v_start[at[0]])] = held
        faults.raise_if_any()
        return found

    # ------------------------------------------------------------------ at a state

    def sample(self, base: Array, y: Array, qd: Array, time: float = 0.0) -> Sample:
        """The motion at the point y of the chart around `base`.

        Loops and couplings are closed by dependent coordinates; held ones stay as they are asked,
        and so do their velocities.
        Raises ValueError near a singular configuration of loops, and where couplings do not close.
        """
        asked = self.moved(base, y)
        found = self._sampled(base, y, self._turned(asked, qd, back=True), time)
        if not (self._couplings or (self._loops and self.held_places)):
            return found
        for _ in range(MOST_PASSES):
            C, errors, T, free = self._open_equations(found.q, asked)
            rates = np.zeros(len(C))
            rates[: len(self.held_places)] = qd[list(self.held_places)]
            if max(np.abs(errors).max(), np.abs(C @ found.qd - rates).max()) <= KEPT:
                return found
            shift, along = np.zeros(self.nv), T @ found.qd[free]
            tied = np.setdiff1d(np.arange(self.nv), free)
            shift[tied] = np.linalg.lstsq(C[:, tied], -errors, rcond=RANK_TOLERANCE)[0]
            along[tied] += np.linalg.lstsq(C[:, tied], rates, rcond=RANK_TOLERANCE)[0]
            q = self.moved(found.q, shift)
            found = self._sampled(
                base, self.chart(base, q), self._turned(q, along, back=True), time
            )
        if np.abs(errors).max() > self.scene.simulation.anchor_tolerance:
            raise ValueError("the couplings and loops of the scene do not close there")
        return found

    def _sampled(self, base: Array, y: Array, qd: Array, time: float) -> Sample:
        """The `sample` at velocities of the trees with which loops are closed."""
        state, v = self.simulation.state, self.nv
        x = np.concatenate([y, qd, np.zeros(N_QUADRATURES)])
        out = np.zeros(len(x))
        regular = smooth_rates(self.simulation._handle, base, time, x, out)
        if not regular:
            raise ValueError("the loops of the scene are near a singular configuration")
        q, qd, qdd = state.tree_q.copy(), state.tree_qd, out[v : 2 * v]
        for i in self._turning:
            _, at, free = self._place_of(i)
            if free:
                qdd[at + 3 : at + 6] += np.cross(qd[at : at + 3], qd[at + 3 : at + 6])
        return Sample(q, self._turned(q, qd), out[:v], self._turned(q, qdd))

    def _open_equations(
        self, q: Array, asked: Array
    ) -> tuple[Array, Array, Array, NDArray[np.int64]]:
        """All equations C at the last sample's q, by how much they are open, T and independents."""
        state, joints, problem = self.simulation.state, self.model.joints, self.world.work.problem
        T, free = self.motions(q)
        C = np.vstack([self.held_equations(), self.loop_equations(q)])
        held = [q[k] - asked[k] for k in map(self.place_in_q, self.held_places)]
        coupled = np.unique(problem.joint[: int(problem.count[2])])
        sums = [coupled_sum(joints, state, int(j)) - joints.angle0[j] for j in coupled]
        errors = np.zeros(len(C))
        errors[: len(held) + len(sums)] = held + sums
        return C, errors, T, free

    def _turned(self, q: Array, qd: Array, back: bool = False) -> Array:
        """Velocities of the trees with those of free bodies in W, or back in the bodies' axes."""
        found = qd.copy()
        for at, R in self._free_axes(q):
            found[at] = (R.T if back else R) @ qd[at]
        return found

    def _free_axes(self, q: Array) -> list[tuple[slice, Array]]:
        """Where velocities of free bodies' centres of mass are, and the bodies' axes in W."""
        places = [self._place_of(i) for i in self._turning]
        return [
            (slice(v + 3, v + 6), rotation_matrix(q[k + 3 : k + 7]))
            for k, v, free in places
            if free
        ]

    def chart(self, base: Array, q: Array) -> Array:
        """The point (nv,) of the chart around `base` that has the coordinates q."""
        y = np.zeros(self.nv)
        y[self._plain_v] = q[self._plain_q] - base[self._plain_q]
        for i in self._turning:
            k, v, free = self._place_of(i)
            at = k + 3 if free else k
            y[v : v + 3] = logarithm(product(inverse(base[at : at + 4]), q[at : at + 4]))
            if free:
                y[v + 3 : v + 6] = q[k : k + 3] - base[k : k + 3]
        return y

    def _place_of(self, node: int) -> tuple[int, int, bool]:
        """First coordinate and velocity of a node that turns, and whether it is free."""
        tree = self.tree
        is_free = bool(tree.kind[node] == NODE_FREE)
        return int(tree.q_start[node]), int(tree.v_start[node]), is_free

    def moved(self, base: Array, y: Array) -> Array:
        """The coordinates at the point y of the chart around `base`."""
        q = base.copy()
        q[self._plain_q] += y[self._plain_v]
        for i in self._turning:
            k, v, free = self._place_of(i)
            at = k + 3 if free else k
            q[at : at + 4] = product(base[at : at + 4], exponential(y[v : v + 3]))
            if free:
                q[k : k + 3] += y[v + 3 : v + 6]
        return q

    def mass_matrix(self, q: Array) -> Array:
        """H (nv, nv)."""
        H = np.zeros((1, self.nv, self.nv))
        batches.mass_matrices(self.tree, q[None].copy(), self._dense, H)
        for at, R in self._free_axes(q):
            H[0][:, at] = H[0][:, at] @ R.T
            H[0][at] = R @ H[0][at]
        return H[0]

    def jacobian(self, q: Array, body: int) -> Array:
        """(6, nv) angular velocity of a body and velocity of its centre of mass, from qd."""
        J = np.zeros((1, 6, self.nv))
        node = int(self.tree.node[body])
        if node >= 0:
            batches.jacobians(self.tree, q[None].copy(), node, NO_OFFSET, self._work, J)
            for at, R in self._free_axes(q):
                J[0][:, at] = J[0][:, at] @ R.T
        return J[0]

    def loop_equations(self, q: Array) -> Array:
        """J (n, nv) of couplings, and of the loops closed by the last `sample`, at its q."""
        work = self.world.work
        loops = self._rates_of(work.loop_rows, int(work.loops.count[0]), q)
        problem = work.problem
        terms = self._rates_of(problem, int(problem.count[2]), q)
        owner = problem.joint[: len(terms)]
        sums = [terms[owner == j].sum(axis=0) for j in np.unique(owner)]
        return np.vstack([*sums, loops])

    def _rates_of(self, rows: Rows | Problem, count: int, q: Array) -> Array:
        """J (count, nv) of the first rows; what cancels to rounding is 0."""
        found, size = np.zeros((count, self.nv)), np.zeros(count)
        kept: dict[int, Array] = {}
        for i in range(count):
            for body, J in ((rows.body_a[i], rows.J_a[i]), (rows.body_b[i], rows.J_b[i])):
                b = int(body)
                if b not in kept:
                    kept[b] = self.jacobian(q, b)
                part = J @ kept[b]
                found[i] += part
                size[i] = max(size[i], float(np.abs(part).max(initial=0.0)))
        found[np.abs(found) <= RANK_TOLERANCE * size[:, None]] = 0.0
        return found

    def held_equations(self) -> Array:
        """E (n, nv) of the held coordinates."""
        found = np.zeros((len(self.held_places), self.nv))
        found[np.arange(len(self.held_places)), list(self.held_places)] = 1.0
        return found

    def motions(
        self, q: Array, independent: NDArray[np.int64] | None = None
    ) -> tuple[Array, NDArray[np.int64]]:
        """T (nv, n) and which (n,) velocities are independent: qd = T qd[independent].

        independent: those of a state nearby, to be kept: of velocities that are alike, as those of
            a parallelogram, rounding would choose others here
        Reads   the loops of the last `sample`, at its q
        """
        loops = self.loop_equations(q)
        C = np.vstack([self.held_equations(), loops])
        if not len(C):
            return np.eye(self.nv), np.arange(self.nv)
        if independent is None:
            independent = self._independent(loops)
        free, dependent = independent, np.setdiff1d(np.arange(self.nv), independent)
        T = np.zeros((self.nv, len(free)))
        T[free, np.arange(len(free))] = 1.0
        T[dependent] = -np.linalg.lstsq(C[:, dependent], C[:, free], rcond=None)[0]
        return T, free

    def _independent(self, loops: Array) -> NDArray[np.int64]:
        """Velocities that loops and what holds leave free, the least bound ones, ascending."""
        loose = np.setdiff1d(np.arange(self.nv), list(self.held_places))
        if not loops.size:
            return loose
        R, order = scipy.linalg.qr(loops[:, loose], mode="r", pivoting=True)
        diagonal = np.abs(np.diag(R))
        rank = int((diagonal > RANK_TOLERANCE * diagonal.max(initial=0.0)).sum())
        found: NDArray[np.int64] = np.sort(loose[order[rank:]])
        return found
