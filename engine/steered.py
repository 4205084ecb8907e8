"""The part of a simulation's door through which a person pushes, drives and holds things."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import steering
from engine.world.model import Model
from engine.world.options import Integrator, StepOptions
from engine.world.rows import ROW_GRAB
from engine.world.state import State
from engine.world.workspace import Workspace

Array = NDArray[np.float64]


def vector(value: Any, what: str) -> Array:
    """Three finite numbers. Raises ValueError that names them."""
    array = np.asarray(value, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ValueError(f"{what} must be three finite numbers, not {value!r}")
    return array


class Steered:
    """What may be done to a running simulation, by names; all of it is booked as from outside."""

    model: Model
    state: State
    work: Workspace
    options: StepOptions
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

    def set_motor(
        self, joint: str, target: float, axis: int = 0, max_force: float | None = None
    ) -> None:
        """Command a motor's target (and largest force) from the next step on."""
        if joint not in self._joint_index:
            raise ValueError(f"there is no joint '{joint}'")
        j = self._joint_index[joint]
        if axis not in (0, 1, 2) or self.model.joints.motor_kind[j, axis] == 0:
            raise ValueError(f"joint '{joint}' has no motor on axis {axis}")
        if not math.isfinite(target):
            raise ValueError(f"the target must be a finite number, not {target!r}")
        for i in (self.model.joints.body_a[j], self.model.joints.body_b[j]):
            steering.wake(self.state, i)
        self.state.motor_target[j, axis] = target
        if max_force is not None:
            if not max_force >= 0.0:
                raise ValueError(f"max_force must not be negative, not {max_force!r}")
            self.state.motor_max_force[j, axis] = max_force

    def apply_wrench(
        self, body: str, force: Any, torque: Any, point: Any = None, duration: float = 0.0
    ) -> None:
        """Push a body for `duration` seconds (0: one step) with force [N] and torque [N m], W."""
        wrench = np.concatenate([vector(force, "force"), vector(torque, "torque")])
        where = None if point is None else vector(point, "point")
        until = self.time + max(float(duration), self.time_step)
        steering.apply_wrench(self.model, self.state, self._body(body), wrench, where, until)

    def apply_impulse(self, body: str, impulse: Any, point: Any = None) -> None:
        """Hit a body with an impulse [N s] at a point of W (default: its centre of mass)."""
        where = None if point is None else vector(point, "point")
        i = self._body(body)
        steering.apply_impulse(self.model, self.state, i, vector(impulse, "impulse"), where)

    def set_velocity(self, body: str, linear: Any, angular: Any) -> None:
        """Give a body a velocity of its origin [m/s] and an angular velocity [rad/s], W."""
        i = self._body(body)
        v, w = vector(linear, "linear"), vector(angular, "angular")
        steering.set_velocity(self.model, self.state, i, v, w)

    def set_gravity(self, gravity: Any) -> None:
        """Change gravity [m/s^2], W; the change of potential is booked as work from outside."""
        value = vector(gravity, "gravity")
        for i in range(len(self.model.bodies.kind)):
            steering.wake(self.state, i)
        with steering.Booked(self.model, self.state):
            self.state.gravity_W[:] = value

    def grab(self, body: str, point: Any) -> None:
        """Take hold of a point [m, W] of a dynamic body with a spring.

        Raises ValueError where the integrator knows no hand.
        """
        if self.options.integrator != Integrator.SEMI_IMPLICIT_EULER:
            name = Integrator(self.options.integrator).name.lower()
            raise ValueError(f"'grab' needs semi_implicit_euler, not the integrator '{name}'")
        steering.grab(self.model, self.state, self._body(body), vector(point, "point"))

    def grab_move(self, target: Any) -> None:
        """Move the hand [m, W]; without a held body nothing happens."""
        self.state.grab_target_W[:] = vector(target, "target")

    def release(self) -> None:
        """Let go."""
        self.state.grab_body[0] = -1

    def grab_state(self) -> dict[str, Any] | None:
        """What is held: body (index), point, target [m, W] and the force of the last step [N]."""
        i = int(self.state.grab_body[0])
        if i < 0:
            return None
        rows, lam = self.work.rows, self.work.problem.lam
        held = np.flatnonzero(rows.kind[: rows.count[1]] == ROW_GRAB)
        force = lam[held] / self.time_step if len(held) == 3 else np.zeros(3)
        return {
            "body": i,
            "point": steering.grabbed_point(self.state),
            "target": self.state.grab_target_W.copy(),
            "force": force.copy(),
        }
