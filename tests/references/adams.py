"""Fourteen one-joint systems and an actuator against MSC ADAMS, 5 s each.

A reaction of the engine is the impulse of a step over its length: the mean force over the step,
which is the force in its middle to second order. What is compared with the published force at a
time is therefore the mean of the step that ends there and the step that begins there; the
accelerations are differences of velocities over the same two steps. Torques are about the place of
the joint on the ground.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from cardan.engine.build.rotations import turn
from tests.engine.scenes import simulate
from tests.published import data
from tests.references.adams_systems import systems
from tests.references.exact_rods import TIMES, Array, Curves, G, inverse, product, size
from tests.references.rows import Case, Row, share

SOURCE = "MSC ADAMS, from Project Chrono's unit tests (BSD-3)"
EXACT = "exact motion to 1e-12 (the ADAMS curve is off)"


class Asked(NamedTuple):
    """What is asked of one quantity: absolute + relative * (size at that time)."""

    what: str
    fields: tuple[str, ...]
    absolute: float
    relative: float
    unit: str


POSITION = Asked("position", ("position",), 3e-5, 5e-6, "m")
ORIENTATION = Asked("orientation", ("orientation",), 3e-5, 0.0, "rad")
VELOCITY = Asked("velocity, spin", ("velocity", "spin"), 3e-4, 5e-6, "m/s, rad/s")
ACCELERATION = Asked("their rates", ("acceleration", "spin_rate"), 2e-3, 1e-5, "m/s^2, rad/s^2")
FORCE = Asked("reaction force", ("force",), 2e-3, 1e-5, "N")
TORQUE = Asked("reaction torque", ("torque",), 2e-3, 1e-5, "N m")


@functools.cache
def published(name: str) -> Curves:
    """What ADAMS says, or the exact motion where that is off."""
    system = systems()[name]
    if system.exact is not None:
        return system.exact()

    def table(kind: str, width: int = 3) -> Array:
        if not kind:
            return np.full((501, width), np.nan)
        file = data("joints", f"{name}_ADAMS_{kind}.txt")
        return np.loadtxt(file, skiprows=3)[:, 1:]

    force, torque = (system.sign * table(kind) for kind in system.files)
    return Curves(
        table("Pos"),
        table("Quat", 4),
        table("Vel"),
        table("Avel"),
        table("Acc"),
        table("Aacc"),
        force,
        torque,
    )


@functools.cache
def computed(name: str) -> Curves:
    """The same of our engine."""
    system = systems()[name]
    dt = system.dt
    sim = simulate({**system.scene, "simulation": {"dt": dt, "duration": 5.0}})
    place = np.array(system.place)
    n, steps = len(TIMES), round(0.01 / dt)
    pose, velocity = np.zeros((n, 7)), np.zeros((n, 6))
    rates, reactions = np.full((n, 6), np.nan), np.full((n, 6), np.nan)
    pose[0], velocity[0] = sim.poses()[0], sim.velocities()[0]
    for k in range(1, n):
        # from one step before a published time to one step after it
        sim.advance(steps - 1 if k == 1 else steps - 2)
        before = sim.velocities()[0]
        sim.advance(1)
        pose[k], velocity[k] = sim.poses()[0], sim.velocities()[0]
        first = reaction(sim, place)
        sim.advance(1)
        rates[k] = (sim.velocities()[0] - before) / (2 * dt)
        reactions[k] = 0.5 * (first + reaction(sim, place))
    if not system.scene["joints"]:
        reactions[:, :3] = -(rates[:, :3] + [0.0, 0.0, G])
    return Curves(
        pose[:, :3],
        pose[:, 3:],
        velocity[:, :3],
        velocity[:, 3:],
        rates[:, :3],
        rates[:, 3:],
        reactions[:, :3],
        reactions[:, 3:],
    )


def reaction(sim: Any, place: Array) -> Array:
    """(6,) force on the ground [N] and torque about `place` [N m] in the last step, all joints.

    It acted in the middle of that step, half a step back.
    """
    table, half = sim.joint_table(), 0.5 * sim.time_step
    v, w = np.split(sim.velocities()[0], 2)
    back = np.array([1.0, *(-0.5 * half * w)])
    p = sim.poses()[0, :3] - half * v
    q = product(back / np.linalg.norm(back), sim.poses()[0, 3:])[0]
    total = np.zeros(6)
    for row in table:
        if row["coordinate"] > 0:
            continue
        anchor = p + turn(q, sim.model.joints.anchor_B[row["joint"]])
        force = np.array([row["fx"], row["fy"], row["fz"]])
        torque = np.array([row["tx"], row["ty"], row["tz"]])
        total[:3] -= force
        total[3:] -= torque + np.cross(anchor - place, force)
    motors = table["motor_force"] * (table["coordinate"] == 0)
    total[:3] -= motors.sum() * np.array([0.0, 0.0, 1.0])
    return total


def angles(ours: Array, theirs: Array) -> Array:
    """Angle [rad] from one orientation to the other, each measured from its own start."""
    moved = product(ours, inverse(ours[:1]))
    asked = product(theirs, inverse(theirs[:1]))
    return 2.0 * np.arcsin(np.minimum(1.0, size(product(moved, inverse(asked))[:, 1:])))


def errors(name: str, asked: Asked) -> tuple[Array, Array]:
    """Error and allowed error of a quantity at TIMES, the worse of its fields. May hold NaN."""
    theirs, ours = published(name), computed(name)
    if asked is ORIENTATION:
        error = angles(ours.orientation, theirs.orientation)
        return error, np.full_like(error, asked.absolute)
    worst, bound = np.zeros(len(TIMES)), np.ones(len(TIMES))
    for field in asked.fields:
        theirs_now = getattr(theirs, field)
        error = size(getattr(ours, field) - theirs_now)
        allowed = asked.absolute + asked.relative * size(theirs_now)
        if asked in (FORCE, TORQUE, ACCELERATION):
            # a cracking whip: what counts is the height of the crack, not its flank
            allowed = asked.absolute + asked.relative * np.full_like(error, size(theirs_now).max())
        if asked is TORQUE:
            # forces good to `absolute` have torques good to that times their arm
            arm = size(theirs.position - np.array(systems()[name].place))
            allowed = asked.absolute * np.maximum(1.0, arm) + allowed - asked.absolute
        worse = ~(error / allowed <= worst / bound)
        worst, bound = np.where(worse, error, worst), np.where(worse, allowed, bound)
    return worst, bound


def measure(name: str) -> list[Row]:
    """All quantities of one system."""
    rows = []
    for asked in (POSITION, ORIENTATION, VELOCITY, ACCELERATION, FORCE, TORQUE):
        error, allowed = errors(name, asked)
        known = np.isfinite(error)
        if not known.any():
            continue
        used = float((error[known] / allowed[known]).max())
        more = f" + {asked.relative:g} size" if asked.relative else ""
        bound = f"<= {asked.absolute:g} {asked.unit}{more}"
        rows.append(share(asked.what, bound, used, f"{error[known].max():.2g} {asked.unit}"))
    return rows


CASES = {
    name: Case(EXACT if system.exact else SOURCE, functools.partial(measure, name))
    for name, system in systems().items()
}
