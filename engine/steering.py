"""What a person may do to a running simulation; all of it is booked as coming from outside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.build.rotations import inverse, rotation_matrix, turn
from engine.diagnostics.energy import momenta, moving_energy, potential_energy
from engine.world.model import DYNAMIC, STATIC, Model
from engine.world.state import LEDGER_WORK_IN, State

Array = NDArray[np.float64]


def total_energy(model: Model, state: State) -> float:
    """Kinetic and potential energy [J]."""
    return float(moving_energy(model, state) + potential_energy(model, state))


def total_momentum(model: Model, state: State) -> Array:
    """(6,) linear, then angular about the origin of W."""
    linear, angular = momenta(model.bodies, state)
    return np.array([*linear, *angular])


class Booked:
    """Books what changes inside a `with` as work and impulse from outside."""

    def __init__(self, model: Model, state: State) -> None:
        """Take the model and the state that is about to be changed."""
        self._model, self._state = model, state

    def __enter__(self) -> None:
        """Remember energy and momenta."""
        self._energy = total_energy(self._model, self._state)
        self._momentum = total_momentum(self._model, self._state)

    def __exit__(self, *_: object) -> None:
        """Book the difference."""
        change = total_energy(self._model, self._state) - self._energy
        self._state.ledger[LEDGER_WORK_IN] += change
        self._state.momentum_in[:] += total_momentum(self._model, self._state) - self._momentum


def wake(state: State, i: int) -> None:
    """Wake body i with all that fell asleep together with it; its rest begins anew."""
    first = state.asleep_with[i]
    if first >= 0:
        members = state.asleep_with == first
        state.asleep_with[members] = -1
        state.still_steps[members] = 0
        state.woken[0] = 1
    state.still_steps[i] = 0


def neighbours(model: Model, state: State, i: int) -> set[int]:
    """Bodies that rest on body i, or hang on it by a joint or a force element."""
    n_shapes = len(model.shapes.kind)
    keys = state.resting.key[: state.resting.count[0]]
    touching = (model.shapes.body[keys // n_shapes], model.shapes.body[keys % n_shapes])
    hanging = (model.joints.body_a, model.joints.body_b)
    pulled = (model.forces.body_a, model.forces.body_b)
    found: set[int] = set()
    for a, b in (touching, hanging, pulled):
        found.update(b[a == i].tolist(), a[b == i].tolist())
    return found


def set_velocity(model: Model, state: State, i: int, linear: Array, angular: Array) -> None:
    """Give body i a velocity of its origin and an angular velocity, in W.

    Raises ValueError for a static body.
    """
    if model.bodies.kind[i] == STATIC:
        raise ValueError("a static body has no velocity to set")
    for k in (i, *neighbours(model, state, i)):
        wake(state, k)
    with Booked(model, state):
        arm = turn(state.q_WB[i], model.bodies.com_B[i])
        state.w_WB_W[i] = angular
        state.v_WB_W[i] = linear + np.cross(angular, arm)
    state.velocities_changed[0] = 1


def apply_impulse(model: Model, state: State, i: int, impulse: Array, point: Array | None) -> None:
    """Hit body i with an impulse [N s] at a point of W (default: the centre of mass).

    Raises ValueError unless the body is dynamic.
    """
    if model.bodies.kind[i] != DYNAMIC:
        raise ValueError("only a dynamic body can be hit")
    wake(state, i)
    with Booked(model, state):
        state.v_WB_W[i] += impulse * model.bodies.inverse_mass[i]
        if point is not None:
            R = rotation_matrix(state.q_WB[i])
            moment = np.cross(point - state.p_WB[i], impulse)
            state.w_WB_W[i] += R @ model.bodies.inverse_inertia_B[i] @ R.T @ moment
    state.velocities_changed[0] = 1


def apply_wrench(
    model: Model, state: State, i: int, wrench: Array, point: Array | None, until: float
) -> None:
    """Push body i with force and torque (6,), linear first, W, until a time [s].

    Raises ValueError unless the body is dynamic.
    """
    if model.bodies.kind[i] != DYNAMIC:
        raise ValueError("only a dynamic body can be pushed")
    wake(state, i)
    torque = wrench[3:].copy()
    if point is not None:
        torque += np.cross(point - state.p_WB[i], wrench[:3])
    state.applied[i] = (*wrench[:3], *torque, until)


def grab(model: Model, state: State, i: int, point: Array) -> None:
    """Take hold of a point of W on body i.

    Raises ValueError unless the body is dynamic.
    """
    if model.bodies.kind[i] != DYNAMIC:
        raise ValueError("only a dynamic body can be grabbed")
    wake(state, i)
    state.grab_body[0] = i
    state.grab_point_B[:] = turn(inverse(state.q_WB[i]), point - state.p_WB[i])
    state.grab_target_W[:] = point


def grabbed_point(state: State) -> Array:
    """Where the held point is now, in W (3,)."""
    i = int(state.grab_body[0])
    return state.p_WB[i] + turn(state.q_WB[i], state.grab_point_B)
