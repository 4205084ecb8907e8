"""Bodies that appear and vanish while a simulation runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.body_records import (
    EARLY,
    EARLY_TURN,
    KEEPS_L,
    KICK_L,
    KICK_V,
    LAST_B,
    LAST_L,
    LAST_V,
    LAST_W,
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
from cardan.engine.build.presence import held_bodies
from cardan.engine.build.rotations import inverse, rotation_matrix, turn
from cardan.engine.interaction.commands import Booked, Commands, neighbours, wake
from cardan.engine.world.model import Model
from cardan.engine.world.options import Integrator
from cardan.engine.world.state import State

Array = NDArray[np.float64]
# of the velocity and of the spin of a body: its last kick, and the sums that have it
SUMS_OF_KICKS = (
    (KICK_V, (SUM_V, VARIED_V, MOST_VARIED_V)),
    (KICK_L, (SUM_L, VARIED_L, MOST_VARIED_L)),
)
Start = tuple[Array, Array, Array, Array]
Change = Callable[[Model, State, int, Start], None]


class Begun(NamedTuple):
    """What joints and torsion springs continue from, at the start of a scene."""

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
    for k in neighbours(model, state, i):
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
    _begun: Begun

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
        places = dict(zip(("px", "py", "pz"), self.state.p_WB[i], strict=True))
        self._note_event(kind, body_a=i, **places)
