"""Sensors: what the last step did to frames on bodies, to joints and to contacts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.rotations import inverse, product, rotation_matrix, turn
from cardan.engine.errors import Failure
from cardan.engine.outputs.reports import joint_forces
from cardan.engine.outputs.sampler import Sampler
from cardan.engine.world.model import Model
from cardan.engine.world.options import StepOptions
from cardan.engine.world.rows import ROW_FRICTION, ROW_MOTOR
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import World
from cardan.schemas import Scene
from cardan.schemas.sensor import ContactForce, ForceTorque, Imu, RayDistance, Sensor

Array = NDArray[np.float64]

SENSOR_FIELDS = (
    *("ax", "ay", "az", "wx", "wy", "wz"),
    *("fx", "fy", "fz", "tx", "ty", "tz"),
    "distance",
)
# which of SENSOR_FIELDS a sensor has
FIELDS_OF = {
    "imu": slice(0, 6),
    "force_torque": slice(6, 12),
    "contact_force": slice(6, 12),
    "ray": slice(12, 13),
}


class Moment(NamedTuple):
    """Poses and velocities of all bodies before a step."""

    step: int
    poses: Array  # (bodies, 7)  origins [m], orientations
    velocities: Array  # (bodies, 6)  of origins [m/s], angular [rad/s]


class Sensing:
    """The view of a simulation on its sensors."""

    model: Model
    state: State
    work: Workspace
    options: StepOptions
    scene: Scene
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    sampler: Sampler
    failure: Failure | None
    poses: Callable[[], Array]
    velocities: Callable[[], Array]
    raycast: Callable[..., NDArray[np.void]]
    _body_index: dict[str, int]
    _joint_index: dict[str, int]
    _before: Moment | None
    _readings: Array
    _handle: World

    if TYPE_CHECKING:

        @property
        def world(self) -> World:
            """Arguments of kernels; `_handle` is that of the last one asked for."""
            ...

    def sensors(self) -> dict[str, dict[str, float]]:
        """Readings by name of the sensor: those of its type among SENSOR_FIELDS.

        ax ay az [m/s^2], wx wy wz [rad/s], fx fy fz [N], tx ty tz [N m], distance [m]. Means over
        the last step, not a number before the first step, after a state was set and on bodies that
        are absent; a distance is that of now.
        """
        found = {}
        for sensor, row in zip(self.scene.sensors, self._readings, strict=True):
            fields = FIELDS_OF[sensor.type]
            values = [self._distance(sensor)] if isinstance(sensor, RayDistance) else row[fields]
            found[sensor.name] = dict(zip(SENSOR_FIELDS[fields], map(float, values), strict=True))
        return found

    def _forget_readings(self) -> None:
        """Clear all readings."""
        self._before = None
        self._readings = np.full((len(self.scene.sensors), len(SENSOR_FIELDS)), math.nan)

    def _note_moment(self) -> None:
        """A step is about to be done."""
        self._before = Moment(int(self.state.step[0]), self.poses(), self.velocities())

    def _read_sensors(self) -> None:
        """The readings after the step that was noted, if it was done; frames get them."""
        before = self._before
        if before is not None and int(self.state.step[0]) == before.step + 1:
            self._before = None
            step = _Step(self, before)
            if not (np.isfinite(step.poses).all() and np.isfinite(step.velocities).all()):
                self._forget_readings()
                return
            for row, sensor in zip(self._readings, self.scene.sensors, strict=True):
                there = self._is_there(sensor)
                row[FIELDS_OF[sensor.type]] = step.reading(sensor) if there else math.nan

    def _sense_frames(self) -> None:
        """Frames that the sampler has since the last call are of now."""
        if len(self.sampler.sensed) == self.sampler.n_frames:
            return
        for k, sensor in enumerate(self.scene.sensors):
            if isinstance(sensor, RayDistance):
                self._readings[k, FIELDS_OF["ray"]] = self._distance(sensor)
        self.sampler.sense(self._readings)

    def _is_there(self, sensor: Sensor) -> bool:
        """Whether the body that a sensor is on is not absent; a joint's bodies never are."""
        own = self._body_index.get(getattr(sensor, "body", ""), -1)
        return own < 0 or bool(self.state.present[own])

    def _distance(self, sensor: RayDistance) -> float:
        """Distance to the nearest shape of another body [m]; nan: none, absent, or a failed run."""
        if self.failure is not None or not self._is_there(sensor):
            return math.nan
        origin, way = np.array(sensor.position), np.array(sensor.direction)
        own = self._body_index.get(sensor.body, -1)
        if own >= 0:
            pose = self.poses()[own]
            origin, way = pose[:3] + turn(pose[3:], origin), turn(pose[3:], way)
        far = math.inf if sensor.max_distance is None else sensor.max_distance
        hits = self.raycast(origin, way, far, every=True)
        hits = hits[hits["body"] != own]
        return float(hits["distance"][0]) if len(hits) else math.nan


class _Step:
    """One step, from its two ends and from the impulses in its middle."""

    def __init__(self, simulation: Sensing, before: Moment) -> None:
        self.simulation = simulation
        self.before, self.h = before, float(simulation.options.time_step)
        self.poses, self.velocities = simulation.poses(), simulation.velocities()

    def reading(self, sensor: Sensor) -> Any:
        """The values of a sensor."""
        match sensor:
            case Imu():
                return self._imu(sensor)
            case ForceTorque():
                return self._joint(sensor)
            case ContactForce():
                return self._contacts(sensor)
            case RayDistance():
                return self.simulation._distance(sensor)

    def _turned(self, body: int) -> Array:
        """Rotation vector of a body in the step, in its axes [rad]."""
        turned = product(inverse(self.before.poses[body, 3:]), self.poses[body, 3:])
        turned = turned if turned[0] >= 0.0 else -turned
        sine = float(np.linalg.norm(turned[1:]))
        angle = 2.0 * math.atan2(sine, float(turned[0]))
        return turned[1:] * (angle / sine if sine > 0.0 else 2.0)

    def _middle(self, body: int) -> Array:
        """Orientation of a body in the middle of the step."""
        half = 0.5 * self._turned(body)
        angle = float(np.linalg.norm(half))
        scale = math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5
        turned = np.array([math.cos(0.5 * angle), *(scale * half)])
        return product(self.before.poses[body, 3:], turned)

    def _point_velocity(self, poses: Array, velocities: Array, point_B: Array) -> Array:
        """Velocity of a point of a body, W [m/s]."""
        arm = turn(poses[3:], point_B)
        found: Array = velocities[:3] + np.cross(velocities[3:], arm)
        return found

    def _imu(self, sensor: Imu) -> Array:
        """Changes of velocity and orientation in the step over its length: (dv - g h)/h, phi/h."""
        body, point = self.simulation._body_index[sensor.body], np.array(sensor.position)
        first = self._point_velocity(self.before.poses[body], self.before.velocities[body], point)
        last = self._point_velocity(self.poses[body], self.velocities[body], point)
        force_W = (last - first) / self.h - self.simulation.state.gravity_W
        to_sensor = rotation_matrix(np.array(sensor.orientation)).T
        force_B = rotation_matrix(self._middle(body)).T @ force_W
        return np.concatenate([to_sensor @ force_B, to_sensor @ self._turned(body) / self.h])

    def _resting(self, body: int, other: int, awake: set[tuple[int, int]]) -> tuple[Array, Array]:
        """Force and torque of contacts of sleeping bodies, which have no rows: as before the sleep.

        awake: pairs that had rows, and fell asleep after the step
        """
        s, force, torque = self.simulation, np.zeros(3), np.zeros(3)
        cache, shapes = s.state.resting, s.model.shapes
        origin = self.poses[body, :3]
        for i in range(int(cache.count[0])):
            a, b = (int(shapes.body[k]) for k in divmod(int(cache.key[i]), len(shapes.kind)))
            if body not in (a, b) or (other >= 0 and other not in (a, b)) or (a, b) in awake:
                continue
            sign = (-1.0 if a == body else 1.0) / self.h
            push = sign * cache.impulse_W[i]
            force += push
            torque += np.cross(cache.point_W[i] - origin, push) + sign * cache.moment_W[i]
        return force, torque

    def _in_axes(self, force: Array, torque: Array, axes: str, body: int) -> Array:
        """Force and torque of W in W, or in the axes of a body in the middle of the step."""
        if axes == "world" or body >= len(self.poses):
            return np.concatenate([force, torque])
        R = rotation_matrix(self._middle(body)).T
        return np.concatenate([R @ force, R @ torque])

    def _joint(self, sensor: ForceTorque) -> Array:
        """The reaction as in tables, and what drives, friction and dampers give."""
        s, work = self.simulation, self.simulation.work
        joints, j = s.model.joints, s._joint_index[sensor.joint]
        if (s.state.asleep_with[[joints.body_a[j], joints.body_b[j]]] >= 0).any():
            return np.full(6, math.nan)
        reaction, _ = joint_forces(s.world, s._handle)
        force, torque = reaction[j, :3].copy(), reaction[j, 3:].copy()
        rows = work.rows
        for i in range(int(rows.count[1])):
            if rows.joint[i] != j or np.isfinite(s.state.broken[j, 0]):
                continue
            if rows.kind[i] in (ROW_MOTOR, ROW_FRICTION):
                given = work.problem.lam[i] / self.h
                push = given * rows.J_b[i, 3:]
                force += push
                torque += given * rows.J_b[i, :3] - np.cross(rows.joint_arm[j], push)
        return self._in_axes(force, torque, sensor.axes, int(joints.body_b[j]))

    def _contacts(self, sensor: ContactForce) -> Array:
        """Sum over the rows of contacts."""
        s, rows, part = self.simulation, self.simulation.work.rows, self.simulation.work.problem
        body = s._body_index[sensor.body]
        other = -1 if sensor.other is None else s._body_index[sensor.other]
        force, torque = np.zeros(3), np.zeros(3)
        awake: set[tuple[int, int]] = set()
        for i in range(int(rows.count[0])):
            if i < rows.count[1] and rows.normal_row[i] < 0:
                continue
            ends = (int(rows.body_a[i]), int(rows.body_b[i]))
            if body not in ends or (other >= 0 and other not in ends):
                continue
            awake.add(ends)
            J = rows.J_a[i] if ends[0] == body else rows.J_b[i]
            force += part.lam[i] / self.h * J[3:]
            torque += part.lam[i] / self.h * J[:3]
        # J is about the centre of mass
        arm = turn(self._middle(body), s.model.bodies.com_B[body])
        torque += np.cross(arm, force)
        rest_force, rest_torque = self._resting(body, other, awake)
        force, torque = force + rest_force, torque + rest_torque
        return self._in_axes(force, torque, sensor.axes, body)
