"""Commands to a running simulation: forces, velocities, motors, gravity, grabbing, breaking."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.rotations import inverse, rotation_matrix, turn
from cardan.engine.outputs.reports import total_energy, total_momentum
from cardan.engine.world.model import DYNAMIC, FORCE_POINT_GRAVITY, MOTOR_VELOCITY, STATIC, Model
from cardan.engine.world.options import Integrator, StepOptions
from cardan.engine.world.rows import ROW_GRAB
from cardan.engine.world.state import DRIVES_SET, FREED, LEDGER_IMPACT, LEDGER_WORK_IN, State
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import Controls

Array = NDArray[np.float64]

# ops of actions on a body that has to be there
PUSHES = ("apply_force", "apply_impulse", "set_velocity")


class Booked:
    """Context manager that books changes of energy and momenta as external work and impulse."""

    def __init__(self, model: Model, state: State) -> None:
        """Store the model and the state that will be changed."""
        self._model, self._state = model, state

    def __enter__(self) -> None:
        """Store energy and momenta."""
        self._energy = total_energy(self._model, self._state)
        self._momentum = total_momentum(self._model, self._state)

    def __exit__(self, *_: object) -> None:
        """Book the difference."""
        change = total_energy(self._model, self._state) - self._energy
        self._state.ledger[LEDGER_WORK_IN] += change
        self._state.momentum_in[:] += total_momentum(self._model, self._state) - self._momentum


def wake(state: State, i: int) -> None:
    """Wake body i and all bodies that fell asleep with it; reset its rest time."""
    first = state.asleep_with[i]
    if first >= 0:
        members = state.asleep_with == first
        state.asleep_with[members] = -1
        state.still_steps[members] = 0
        state.woken[0] = 1
    state.still_steps[i] = 0


def refuse_absent(state: State, i: int) -> None:
    """Raise ValueError for a body that is absent."""
    if state.present[i] == 0:
        raise ValueError("the body is absent; let it appear before")


def attracts(model: Model, i: int) -> bool:
    """Whether point gravity of body i acts on others."""
    pulls = model.forces.kind == FORCE_POINT_GRAVITY
    return bool(pulls.any()) and bool(model.bodies.attracting_mass[i] > 0.0)


def neighbours(model: Model, state: State, i: int) -> set[int]:
    """Bodies that rest on body i, or are connected to it by a joint or a force element; all, if it
    attracts them."""
    if attracts(model, i):
        return set(range(len(state.present)))
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
    """Set the velocity of body i's origin [m/s] and its angular velocity [rad/s], in W.

    Raises ValueError for a static body, for one that follows a motion, and for one that is absent.
    """
    refuse_absent(state, i)
    if model.bodies.kind[i] == STATIC:
        raise ValueError("a static body has no velocity to set")
    if i in model.prescribed.body:
        raise ValueError("a body with a `motion` has the velocity of that motion")
    for k in (i, *neighbours(model, state, i)):
        wake(state, k)
    with Booked(model, state):
        arm = turn(state.q_WB[i], model.bodies.com_B[i])
        state.w_WB_W[i] = angular
        state.v_WB_W[i] = linear + np.cross(angular, arm)
    state.velocities_changed[0] = 1


def apply_impulse(model: Model, state: State, i: int, impulse: Array, point: Array | None) -> None:
    """Apply an impulse [N s, W] to body i at a point [m, W] (default: the centre of mass).

    Raises ValueError unless the body is dynamic and there.
    """
    refuse_absent(state, i)
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
    """Apply force [N] and torque [N m] (6,), linear first, W, to body i until a time [s].

    Raises ValueError unless the body is dynamic and there.
    """
    refuse_absent(state, i)
    if model.bodies.kind[i] != DYNAMIC:
        raise ValueError("only a dynamic body can be pushed")
    wake(state, i)
    torque = wrench[3:].copy()
    if point is not None:
        torque += np.cross(point - state.p_WB[i], wrench[:3])
    state.applied[i] = (*wrench[:3], *torque, until)


def grab(model: Model, state: State, i: int, point: Array) -> None:
    """Attach the grab spring to body i at a point [m, W].

    Raises ValueError unless the body is dynamic and there.
    """
    refuse_absent(state, i)
    if model.bodies.kind[i] != DYNAMIC:
        raise ValueError("only a dynamic body can be grabbed")
    wake(state, i)
    state.grab_body[0] = i
    state.grab_point_B[:] = turn(inverse(state.q_WB[i]), point - state.p_WB[i])
    state.grab_target_W[:] = point


def grabbed_point(state: State) -> Array:
    """Current position of the grabbed point [m], W (3,)."""
    i = int(state.grab_body[0])
    return state.p_WB[i] + turn(state.q_WB[i], state.grab_point_B)


def end_joint(model: Model, state: State, j: int) -> None:
    """End joint j: what its spring stores is lost, and its bodies may touch."""
    a, b = int(model.joints.body_a[j]), int(model.joints.body_b[j])
    for i in (a, b, *neighbours(model, state, a), *neighbours(model, state, b)):
        wake(state, i)
    energy = total_energy(model, state)
    state.broken[j] = state.time[0], 0.0
    state.ledger[LEDGER_IMPACT] += energy - total_energy(model, state)
    keys = state.excluded
    if model.joints.excluded[j] >= 0:
        k = int(np.searchsorted(keys, model.joints.excluded[j]))
        keys[k:-1] = keys[k + 1 :].copy()
        keys[-1] = FREED


def vector(value: Any, what: str) -> Array:
    """Three finite numbers as an array; raises a ValueError that names the argument."""
    array = np.asarray(value, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ValueError(f"{what} must be three finite numbers, not {value!r}")
    return array


class Commands:
    """Commands to a running simulation, by names; their effects are booked as external."""

    model: Model
    state: State
    work: Workspace
    options: StepOptions
    _note_event: Callable[..., None]
    leave_scene: Callable[[], None]
    _controls: Controls
    _body_index: dict[str, int]
    _joint_index: dict[str, int]

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.state.time[0])

    @property
    def time_step(self) -> float:
        """Length of a step [s]."""
        return float(self.options.time_step)

    def _body(self, name: str) -> int:
        if name not in self._body_index:
            raise ValueError(f"there is no body '{name}'")
        return self._body_index[name]

    def _is_broken(self, j: int) -> bool:
        return not math.isnan(self.state.broken[j, 0])

    def _has_object(self, action: Any) -> bool:
        """Whether the body that an action pushes is there, and the joint that it drives whole."""
        if action.op == "set_motor":
            return not self._is_broken(self._joint_index[action.joint])
        return action.op not in PUSHES or bool(self.state.present[self._body(action.body)])

    def set_motor(
        self, joint: str, target: float, axis: int = 0, max_force: float | None = None
    ) -> None:
        """Command a motor's target (and largest force) from the next step on.

        A velocity motor without a bound on its force has a new speed at once, as at the start.

        Raises ValueError for a joint that broke: nothing is left to drive.
        """
        if joint not in self._joint_index:
            raise ValueError(f"there is no joint '{joint}'")
        j = self._joint_index[joint]
        if axis not in (0, 1, 2) or self.model.joints.motor_kind[j, axis] == 0:
            raise ValueError(f"joint '{joint}' has no motor on axis {axis}")
        if self._is_broken(j):
            ended = self.state.broken[j, 0]
            raise ValueError(f"joint '{joint}' broke at {ended:.6g} s: its motor drives no more")
        if not math.isfinite(target):
            raise ValueError(f"the target must be a finite number, not {target!r}")
        if max_force is not None and not max_force >= 0.0:
            raise ValueError(f"max_force must not be negative, not {max_force!r}")
        self.leave_scene()
        for i in (self.model.joints.body_a[j], self.model.joints.body_b[j]):
            wake(self.state, i)
        jumps = self.state.motor_target[j, axis] != target
        self.state.motor_target[j, axis] = target
        if max_force is not None:
            self.state.motor_max_force[j, axis] = max_force
        bound = self.state.motor_max_force[j, axis]
        bound = self.model.joints.motor_max_force[j, axis] if math.isnan(bound) else bound
        is_speed = self.model.joints.motor_kind[j, axis] == MOTOR_VELOCITY
        if jumps and is_speed and bound == math.inf and self.state.velocities_changed[0] == 0:
            self.state.velocities_changed[0] = DRIVES_SET

    def follow(self, controls: Controls) -> None:
        """Command motors from now on as `set_motor` does, when and to what `controls` say."""
        self.leave_scene()
        self._controls = controls

    def _steps_as_commanded(self, n: int) -> int:
        """n, or the steps up to those from which on another row of the controls holds."""
        held, step = int(self._controls.held[0]), int(self.state.step[0])
        is_last = step // held + 1 >= len(self._controls.targets)
        return n if is_last else min(n, held - step % held)

    def apply_wrench(
        self, body: str, force: Any, torque: Any, point: Any = None, duration: float = 0.0
    ) -> None:
        """Apply force [N] and torque [N m], W, to a body for `duration` seconds (0: one step)."""
        self.leave_scene()
        wrench = np.concatenate([vector(force, "force"), vector(torque, "torque")])
        where = None if point is None else vector(point, "point")
        until = self.time + (float(duration) or self.time_step)
        apply_wrench(self.model, self.state, self._body(body), wrench, where, until)

    def apply_impulse(self, body: str, impulse: Any, point: Any = None) -> None:
        """Apply an impulse [N s, W] to a body at a point [m, W] (default: its centre of mass)."""
        self.leave_scene()
        where = None if point is None else vector(point, "point")
        i = self._body(body)
        apply_impulse(self.model, self.state, i, vector(impulse, "impulse"), where)

    def set_velocity(self, body: str, linear: Any, angular: Any) -> None:
        """Set the velocity of a body's origin [m/s] and its angular velocity [rad/s], W."""
        self.leave_scene()
        i = self._body(body)
        v, w = vector(linear, "linear"), vector(angular, "angular")
        set_velocity(self.model, self.state, i, v, w)

    def set_gravity(self, gravity: Any) -> None:
        """Change gravity [m/s^2], W; book the change of potential as external work."""
        self.leave_scene()
        value = vector(gravity, "gravity")
        for i in range(len(self.model.bodies.kind)):
            wake(self.state, i)
        with Booked(self.model, self.state):
            self.state.gravity_W[:] = value

    def break_joint(self, joint: str) -> None:
        """End a joint from the next step on; one that is broken stays so.

        Raises ValueError for a coordinate of a tree in reduced coordinates.
        """
        self.leave_scene()
        if joint not in self._joint_index:
            raise ValueError(f"there is no joint '{joint}'")
        j = self._joint_index[joint]
        if self.model.tree.inner[j] == 1:
            raise ValueError(
                f"joint '{joint}' is a coordinate of a tree; give it a `breaking_force`, or let a "
                "trigger break it"
            )
        if self._is_broken(j):
            return
        end_joint(self.model, self.state, j)
        a, b = self.model.joints.body_a[j], self.model.joints.body_b[j]
        anchor = self.state.p_WB[b] + turn(self.state.q_WB[b], self.model.joints.anchor_B[j])
        places = dict(zip(("px", "py", "pz"), anchor, strict=True))
        self._note_event("break", joint=j, body_a=a, body_b=b, **places)

    def grab(self, body: str, point: Any) -> None:
        """Grab a dynamic body at a point [m, W] with a spring.

        Raises ValueError for integrators without the grab spring.
        """
        self.leave_scene()
        if self.options.integrator != Integrator.SEMI_IMPLICIT_EULER:
            name = Integrator(self.options.integrator).name.lower()
            raise ValueError(f"'grab' needs semi_implicit_euler, not the integrator '{name}'")
        grab(self.model, self.state, self._body(body), vector(point, "point"))

    def grab_move(self, target: Any) -> None:
        """Move the target of the grab spring [m, W]; without a grabbed body nothing happens."""
        self.leave_scene()
        self.state.grab_target_W[:] = vector(target, "target")

    def release(self) -> None:
        """Release the grabbed body."""
        self.leave_scene()
        self.state.grab_body[0] = -1

    def grab_state(self) -> dict[str, Any] | None:
        """Grabbed body (index), point and target [m, W], and the force of the last step [N]."""
        i = int(self.state.grab_body[0])
        if i < 0:
            return None
        rows, lam = self.work.rows, self.work.problem.lam
        held = np.flatnonzero(rows.kind[: rows.count[1]] == ROW_GRAB)
        force = lam[held] / self.time_step if len(held) == 3 else np.zeros(3)
        return {
            "body": i,
            "point": grabbed_point(self.state),
            "target": self.state.grab_target_W.copy(),
            "force": force.copy(),
        }
