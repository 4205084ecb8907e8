"""Bodies that appear and vanish while a simulation runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.body_records import (
    AIM_P,
    AIM_V,
    EARLY,
    EARLY_TURN,
    KEEPS_L,
    KICK_L,
    KICK_V,
    LAST_B,
    LAST_L,
    LAST_V,
    LAST_W,
    MOST_AIM,
    MOST_VARIED_L,
    MOST_VARIED_V,
    START_P,
    STRUCK_STEP,
    SUM_L,
    SUM_V,
    VARIED,
    VARIED_L,
    VARIED_V,
)
from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.build.bodies import start_of_body
from cardan.engine.build.components import components
from cardan.engine.build.presence import held_bodies
from cardan.engine.build.rotations import inverse, rotation_matrix, turn, turned
from cardan.engine.interaction.commands import Booked, Commands, neighbours, wake
from cardan.engine.outputs.reports import joint_forces
from cardan.engine.world.model import DYNAMIC, STATIC, Model
from cardan.engine.world.options import Integrator
from cardan.engine.world.state import State
from cardan.engine.world.world import World

Array = NDArray[np.float64]
# of the velocity and of the spin of a body: its last kick, and the sums that have it
SUMS_OF_KICKS = (
    (KICK_V, (SUM_V, VARIED_V, MOST_VARIED_V)),
    (KICK_L, (SUM_L, VARIED_L, MOST_VARIED_L)),
)
Start = tuple[Array, Array, Array, Array]
Change = Callable[[Model, State, int, Start], None]


# parts in which turning within a step is followed
TURN_PARTS = 4


class Begun(NamedTuple):
    """Values at the start of a scene from which joints and torsion springs are followed."""

    joint_q: Array  # (j, 3) m or rad
    twist: Array  # (f,) rad


def variation_of(model: Model, state: State, i: int) -> Array:
    """(VARIED,) a view: how the kicks of body i varied (accounting/variation.py)."""
    first = LIMITS + len(model.joints.kind) + len(model.bodies.kind) + VARIED * i
    return state.extremes[first : first + VARIED]


def put(model: Model, state: State, i: int, start: Start) -> None:
    """Let body i appear with a pose (p, q) and velocities (v, w) of its centre of mass, W.

    What that brings of energy and momentum is booked as external.
    """
    with Booked(model, state):
        state.present[i] = 1
        if i not in model.prescribed.body:
            state.p_WB[i], state.q_WB[i], state.v_WB_W[i], state.w_WB_W[i] = start
    begin_again(model, state, i)
    # what sleeps touches no static body, also where one comes
    is_static = model.bodies.kind[i] == STATIC
    for k in range(len(state.present)) if is_static else neighbours(model, state, i):
        wake(state, k)
    state.velocities_changed[0] = 1


def start_joints(model: Model, state: State, i: int, begun: Begun) -> None:
    """Give the joints and torsion springs of body i the angles that they had at the start.

    Angles go on from their last values across whole turns, and impulses start the next solve.
    """
    joints, forces = model.joints, model.forces
    held = (joints.body_a == i) | (joints.body_b == i)
    state.joint_q[held], state.joint_lam[held] = begun.joint_q[held], 0.0
    twisted = (forces.body_a == i) | (forces.body_b == i)
    state.twist[twisted] = begun.twist[twisted]


def remove(model: Model, state: State, i: int, start: Start) -> None:
    """Let body i vanish, to where it appears next, without velocity; what it touched wakes.

    What that takes of energy and momentum is booked as external. Its contacts end in the next step.
    """
    for k in (i, *neighbours(model, state, i)):
        wake(state, k)
    if state.grab_body[0] == i:
        state.grab_body[0] = -1
    state.applied[i] = 0.0
    # an error of its last kick has no time to matter
    own = variation_of(model, state, i)
    for kick, sums in SUMS_OF_KICKS:
        size = float(np.linalg.norm(own[kick : kick + 3]))
        for total in sums:
            own[total] = max(0.0, own[total] - size)
    with Booked(model, state):
        state.present[i] = 0
        state.v_WB_W[i], state.w_WB_W[i] = 0.0, 0.0
        if i not in model.prescribed.body:
            state.p_WB[i], state.q_WB[i] = start[:2]
    begin_again(model, state, i)


def after_flight(model: Model, state: State, i: int, start: Start, late: float) -> Start:
    """Where body i is `late` seconds after its start, if nothing but gravity acts on it."""
    p, q, v, w = start
    if model.bodies.kind[i] != DYNAMIC:
        return p + late * v, turned(q, late * w), v, w
    bodies, g, h = model.bodies, state.gravity_W, late / TURN_PARTS
    L = turn(q, bodies.inertia_B[i] @ turn(inverse(q), w))

    def rate(q: Array) -> Array:
        return turn(q, bodies.inverse_inertia_B[i] @ turn(inverse(q), L))

    for _ in range(TURN_PARTS):
        q = turned(q, h * rate(turned(q, 0.5 * h * rate(q))))
    return p + late * v + 0.5 * late**2 * g, q, v + late * g, rate(q)


def may_err(model: Model, state: State, i: int, place: Array, velocity: Array) -> None:
    """Place [m] and velocity [m/s] of body i may be wrong by so much from now on."""
    if model.bodies.kind[i] == DYNAMIC:
        own = variation_of(model, state, i)
        own[AIM_P : AIM_P + 3] += place
        own[AIM_V : AIM_V + 3] += velocity
        own[MOST_AIM] = max(own[MOST_AIM], float(np.linalg.norm(own[AIM_P : AIM_P + 3])))


def begin_again(model: Model, state: State, i: int) -> None:
    """Forget how body i moved before."""
    state.L_conserved[i], state.w_drifted[i], state.link_inertia[i] = 0.0, 0.0, 0.0
    state.still_steps[i] = 0
    state.presence_changed[0] = 1
    own = variation_of(model, state, i)
    # the next kick differs from none before: how kicks vary is what step errors are estimated from
    v, w = state.v_WB_W[i], state.w_WB_W[i]
    own[LAST_V : LAST_V + 3], own[LAST_W : LAST_W + 3], own[LAST_L : LAST_L + 3] = v, w, w
    own[LAST_B : LAST_B + 3] = turn(inverse(state.q_WB[i]), v)
    if own[KEEPS_L] == 1.0:
        R = rotation_matrix(state.q_WB[i])
        own[LAST_L : LAST_L + 3] = R @ model.bodies.inertia_B[i] @ R.T @ w
    own[KICK_V : KICK_V + 9] = 0.0
    own[STRUCK_STEP], own[EARLY], own[EARLY_TURN] = state.step[0], 0.0, 0.0
    own[START_P : START_P + 3] = state.p_WB[i]


class Presence(Commands):
    """Commands that let bodies appear and vanish."""

    scene: Any
    formulation: str
    body_names: tuple[str, ...]
    closest_points: Callable[[str, str], dict[str, Any]]
    _begun: Begun
    _follows_scene: bool
    _handle: World

    if TYPE_CHECKING:

        @property
        def world(self) -> World:
            """Arguments of kernels."""
            ...

    def appear(self, body: str) -> None:
        """Let a body appear with the pose and velocity of the scene; one that is there stays.

        Joints and springs act while both their bodies are there. Raises ValueError for a body that
        they hold in joint coordinates, and with integrators of smooth motion.
        """
        self._change(body, "appear", put, 1)

    def vanish(self, body: str) -> None:
        """Let a body vanish: it has no mass and touches nothing; one that is absent stays so.

        Until it appears it has the pose at which it will, and no velocity. Raises ValueError as
        `appear`.
        """
        self._change(body, "vanish", remove, 0)

    def present(self) -> NDArray[np.bool_]:
        """(n_bodies,): which bodies are there."""
        there: NDArray[np.bool_] = self.state.present[: len(self._body_index)] == 1
        return there

    def _lag(self, at: float | None) -> float:
        """How long ago a moment of the scene was, if it is within this step [s]; else 0."""
        late = 0.0 if at is None else self.time - at
        return late if self._follows_scene and 0.0 < late < self.time_step else 0.0

    def _catch_up(self, i: int, start: Start, late: float, held: bool) -> None:
        """A body that appears within a step is at its end where flight takes it from there.

        If something holds it or is near, it stays where it is, and is late.
        """
        model, state = self.model, self.state
        if model.bodies.kind[i] == STATIC or i in model.prescribed.body:
            return
        if not held and not self._is_near(i, start, late):
            put(model, state, i, after_flight(model, state, i, start, late))
        else:
            # what holds it is not foreseen
            may_err(model, state, i, late * start[2], (not held) * late * state.gravity_W)

    def _is_near(self, i: int, start: Start, late: float) -> bool:
        """Whether another body is within reach of body i in its flight of `late` seconds."""
        shapes, state, n = self.model.shapes, self.state, len(self.body_names)
        radius = np.full(n + 1, -np.inf)
        reach = np.linalg.norm(shapes.p_BS, axis=1) + shapes.bounding_radius
        np.maximum.at(radius, shapes.body, reach)
        if radius[i] == -np.inf:
            return False
        way = late * float(np.linalg.norm(start[2]) + radius[i] * np.linalg.norm(start[3]))
        way += 0.5 * late**2 * float(np.linalg.norm(state.gravity_W))
        apart = np.linalg.norm(state.p_WB[:n] - state.p_WB[i], axis=1)
        close = (apart <= radius[:n] + radius[i] + way) & (state.present[:n] == 1)
        name = self.body_names[i]
        return any(
            self.closest_points(name, self.body_names[k])["distance"] <= way
            for k in np.flatnonzero(close)
            if k != i
        )

    def _doubt_what_it_held(self, i: int, late: float) -> None:
        """Note the error of bodies that body i pushed or held, and let go `late` before the end.

        All that hangs together with it has the impulse of that time [s] too much.
        """
        model, joints, contacts = self.model, self.model.joints, self.work.contacts
        found = slice(0, int(contacts.count[0]))
        a = np.concatenate([contacts.body_a[found], joints.body_a])
        b = np.concatenate([contacts.body_b[found], joints.body_b])
        reaction = joint_forces(self.world, self._handle)[0][:, :3]
        push = np.concatenate([contacts.impulse_W[found] / self.time_step, reaction])
        loaded, moving = push.any(axis=1), model.bodies.kind == DYNAMIC
        total = push[loaded & (a == i)].sum(axis=0) - push[loaded & (b == i)].sum(axis=0)
        both = loaded & (moving[a] | (a == i)) & (moving[b] | (b == i))
        part = components(len(moving), a[both], b[both])
        freed = np.flatnonzero(moving & (part == part[i]) & (np.arange(len(moving)) != i))
        if len(freed) > 0:
            error = late * total / model.bodies.mass[freed].sum()
            for k in freed.tolist():
                may_err(model, self.state, k, np.zeros(3), error)

    def _change(self, body: str, kind: str, change: Change, present: int) -> None:
        self.leave_scene()
        i = self._body(body)
        if self.options.integrator != Integrator.SEMI_IMPLICIT_EULER:
            name = Integrator(self.options.integrator).name.lower()
            raise ValueError(f"'{kind}' needs semi_implicit_euler, not the integrator '{name}'")
        held = held_bodies(self.scene)
        if body in held and self.formulation == "reduced":
            held_by = f"{held[body]} holds '{body}' in joint coordinates"
            raise ValueError(f"{held_by}; it can {kind} with the formulation 'maximal'")
        if self.state.present[i] == present:
            return
        if body in held and any(getattr(one, "initial", None) for one in self.scene.joints):
            raise ValueError(f"{held[body]} holds '{body}', and joints have an `initial` place")
        start_joints(self.model, self.state, i, self._begun)
        start = start_of_body(self.scene.bodies[i], self.model.bodies.com_B[i])
        change(self.model, self.state, i, start)
        late = self._lag(self.scene.bodies[i].appears if present else self.scene.bodies[i].vanishes)
        if late > 0.0 and present:
            self._catch_up(i, start, late, body in held)
        elif late > 0.0:
            self._doubt_what_it_held(i, late)
        places = dict(zip(("px", "py", "pz"), self.state.p_WB[i], strict=True))
        self._note_event(kind, body_a=i, **places)
