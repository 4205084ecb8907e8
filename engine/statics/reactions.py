"""Reactions at rest: which forces of joints, stops, drives and contacts balance what acts.

    sum of J^T x  +  f  =  0   on every dynamic body

x are forces of constraint rows at one pose: free for equations, one-sided for stops and normals of
contacts, bounded for drives and joint friction, in cones for friction of contacts. f are gravity,
springs, soft drives and given forces. The rows are those of a step of negligible length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.bodies.forces import write_forces
from cardan.engine.build.loops import reaction_length
from cardan.engine.build.options import without_rotors
from cardan.engine.build.presence import check_all_there
from cardan.engine.constraints.motor_targets import position_error
from cardan.engine.simulation import Simulation
from cardan.engine.statics.cones import Cone, Program
from cardan.engine.verdict.springs import spring_lengths
from cardan.engine.world.model import (
    BALL,
    DYNAMIC,
    FORCE_SPRING,
    FORCE_TORSION,
    MOTOR_POSITION,
    PLANAR,
    Model,
)
from cardan.engine.world.rows import (
    ROW_COUPLING,
    ROW_DRAG,
    ROW_ELEMENT,
    ROW_EQUATION,
    ROW_FRICTION,
    ROW_LIMIT,
    ROW_MOTOR,
    ROW_NORMAL,
    ROW_ROLLING,
    ROW_SPINNING,
    ROW_SPRING,
    ROW_TANGENT,
    SLOT_LOWER,
)
from cardan.engine.world.state import State
from cardan.schemas import Scene
from cardan.schemas.options import SimulationOptions

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

# share of dt that the step is long from which rows are read
STILL = 1e-9
# a stop or a contact carries within this share of the scene's length [m]; a stop [rad]
REACH = 1e-3
NAMES = {
    ROW_EQUATION: "equation",
    ROW_COUPLING: "coupling",
    ROW_LIMIT: "stop",
    ROW_MOTOR: "drive",
    ROW_FRICTION: "friction",
    ROW_NORMAL: "normal",
    ROW_TANGENT: "tangent",
    ROW_SPINNING: "spinning",
    ROW_ROLLING: "rolling",
}


@dataclass(frozen=True)
class Reactions:
    """Unknown forces at one pose, and what they have to balance.

    Forces and torques are scaled by `force` [N] and force times `length`, so that all numbers are
    of the order of 1.
    """

    simulation: Simulation
    rows: Whole  # (n,)  row of each unknown in the workspace
    program: Program  # A x = b on every dynamic body: moments, then forces; without its cost
    fixed: list[tuple[int, float]]  # rows with known forces [N or N m]
    unit: Array  # (n,)  N or N m of each unknown
    force: float  # N
    length: float  # m
    bodies: Whole  # dynamic bodies, in the order of the equations
    sizes: Array  # (bodies,)  sum of the sizes of known forces on each, in units of `force`
    misplaced: str  # a sentence on a lock or a drive whose joint is elsewhere; empty: none

    def load(self, wrench: Array) -> Array:
        """(m,) a load (bodies of the scene and the world, 6) moments and forces [N m, N] scaled."""
        return _scaled(wrench[self.bodies], self.force, self.length)


def still_scene(scene: Scene) -> Scene:
    """The scene with constraint rows of a step of negligible length."""
    options = scene.simulation
    dt = STILL * options.dt
    still = SimulationOptions(
        dt=dt,
        duration=dt,
        collisions=options.collisions,
        contact=options.contact.model_copy(
            update={"restitution_law": "newton", "impact_time": "step"}
        ),
    )
    return without_rotors(scene.model_copy(update={"simulation": still}))


def reactions_at(scene: Scene, pose: Simulation | None = None) -> Reactions:
    """Unknown forces of a scene at its start, or at the poses of another simulation of it.

    Raises SceneError.
    """
    check_all_there(scene, "statics")
    simulation = Simulation(still_scene(scene))
    state = simulation.state
    if pose is not None:
        for name in ("p_WB", "q_WB", "twist"):
            getattr(state, name)[:] = getattr(pose.state, name)
        # loose couplings are not in the other simulation, and have no coordinate of their own
        for k, joint in enumerate(pose.joint_names):
            state.joint_q[simulation.joint_names.index(joint)] = pose.state.joint_q[k]
    state.v_WB_W[:], state.w_WB_W[:] = 0.0, 0.0
    kept = {name: getattr(state, name).copy() for name in ("p_WB", "q_WB")}
    simulation.advance(1)
    for name, array in kept.items():
        getattr(state, name)[:] = array
    write_forces(
        simulation.model, state, simulation.time, simulation.time_step, simulation.work.motion
    )
    return _assembled(simulation)


def tensions(model: Model, state: State, length: float) -> Array:
    """(f,) N: size of the force of each spring of the scene, of a torsion spring at this length."""
    forces = model.forces
    torsion = forces.kind == FORCE_TORSION
    now = np.where(torsion, state.twist, forces.rest)
    now[forces.kind == FORCE_SPRING] = spring_lengths(model, state)
    x = np.abs(now - forces.rest)
    k = forces.stiffness
    size: Array = x * (np.abs(k[:, 0]) + x * (np.abs(k[:, 1]) + x * np.abs(k[:, 2])))
    return np.where(torsion, size / length, size)


def _assembled(simulation: Simulation) -> Reactions:
    """The equations of all dynamic bodies."""
    model, state, rows = simulation.model, simulation.state, simulation.work.rows
    bodies = np.flatnonzero(model.bodies.kind == DYNAMIC)
    length = reaction_length(model, state.p_WB)
    wrench = simulation.work.motion.wrench.copy()
    weight = model.bodies.mass[:, None] * state.gravity_W
    misplaced = _misplaced(simulation)
    chosen, fixed, lo, hi = _sorted_rows(simulation, REACH * length)
    # forces that are in balance leave nothing of each other
    sizes = np.abs(wrench[bodies])
    sizes[:, 3:] += np.abs(weight[bodies])
    wrench[:, 3:] += weight
    for i, given in fixed:
        alone = np.zeros_like(wrench)
        _push(alone, rows, i, given)
        sizes += np.abs(alone[bodies])
        wrench += alone
    of_bodies = np.zeros(len(model.bodies.kind))
    of_bodies[bodies] = (sizes[:, :3] / length).sum(axis=1) + sizes[:, 3:].sum(axis=1)
    for ends in (model.forces.body_a, model.forces.body_b):
        np.add.at(of_bodies, ends, 0.5 * tensions(model, state, length))
    force = max(float(of_bodies.sum()), 1e-12)
    place = np.full(len(model.bodies.kind), -1)
    place[bodies] = np.arange(len(bodies))
    A = np.zeros((6 * len(bodies), len(chosen)))
    for k, i in enumerate(chosen):
        for r in _terms_of(rows, i):
            for body, J in ((rows.body_a[r], rows.J_a[r]), (rows.body_b[r], rows.J_b[r])):
                if place[body] >= 0:
                    at = 6 * int(place[body])
                    A[at : at + 6, k] += J
    A.reshape(len(bodies), 6, len(chosen))[:, :3] /= length
    turns = ~(np.abs(rows.J_b[chosen, 3:]) + np.abs(rows.J_a[chosen, 3:])).any(axis=1)
    A[:, turns] *= length
    unit = np.where(turns, force * length, force)
    cones = _cones(simulation, chosen, turns, (force, length))
    program = Program(A, -_scaled(wrench[bodies], force, length), lo / unit, hi / unit, cones)
    return Reactions(
        simulation=simulation,
        rows=chosen,
        program=program,
        fixed=fixed,
        unit=unit,
        force=force,
        length=length,
        bodies=bodies,
        sizes=of_bodies[bodies] / force,
        misplaced=misplaced,
    )


def _scaled(wrenches: Array, force: float, length: float) -> Array:
    """(6 n,) moments and forces of n bodies (n, 6) [N m, N], in units of force times length and
    of force."""
    scaled = wrenches.copy()
    scaled[:, :3] /= length
    return (scaled / force).ravel()


def _terms_of(rows: Any, i: int) -> list[int]:
    """The rows that one unknown force acts by: all terms of a coupling, else one row."""
    if rows.kind[i] != ROW_COUPLING:
        return [i]
    coupled = np.arange(int(rows.count[2]))
    return [int(r) for r in coupled[rows.joint[coupled] == rows.joint[i]]]


def _push(wrench: Array, rows: Any, i: int, force: float) -> None:
    """Add the force of row i to its bodies."""
    for r in _terms_of(rows, i):
        wrench[rows.body_a[r]] += force * rows.J_a[r]
        wrench[rows.body_b[r]] += force * rows.J_b[r]


def _sorted_rows(
    simulation: Simulation, reach: float
) -> tuple[Whole, list[tuple[int, float]], Array, Array]:
    """Unknown rows with their bounds [N, N m], and rows whose forces are known."""
    rows, contacts = simulation.work.rows, simulation.work.contacts
    h = simulation.time_step
    chosen: list[int] = []
    lo: list[float] = []
    hi: list[float] = []
    fixed: list[tuple[int, float]] = []
    first = int(rows.count[1])
    for i in range(first + 3 * int(contacts.count[0])):
        kind = int(rows.kind[i])
        bounds = (-np.inf, np.inf)
        if kind in (ROW_NORMAL, ROW_TANGENT, ROW_SPINNING, ROW_ROLLING):
            if contacts.gap[int(rows.slot[i])] > reach:
                continue
            bounds = (0.0, np.inf) if kind == ROW_NORMAL else bounds
        elif kind == ROW_DRAG or i != _terms_of(rows, i)[0]:
            continue
        elif kind == ROW_MOTOR and (push := _servo_push(simulation, i)) != 0.0:
            fixed.append((i, push))
            continue
        elif kind == ROW_EQUATION or (kind == ROW_COUPLING and rows.cfm[i] == 0.0):
            pass
        elif rows.cfm[i] > 0.0:
            given = -float(rows.bias[i]) / (float(rows.cfm[i]) * h)
            fixed.append((i, float(np.clip(given, rows.lo[i] / h, rows.hi[i] / h))))
            continue
        elif rows.lo[i] == rows.hi[i] or kind in (ROW_SPRING, ROW_ELEMENT):
            fixed.append((i, float(rows.lo[i]) / h))
            continue
        elif kind == ROW_LIMIT:
            if rows.error[i] > max(reach, REACH):
                continue
            bounds = (0.0, np.inf)
        else:
            bounds = (float(rows.lo[i]) / h, float(rows.hi[i]) / h)
        chosen.append(i)
        lo.append(bounds[0])
        hi.append(bounds[1])
    return np.array(chosen, np.int64), fixed, np.array(lo), np.array(hi)


def _servo_error(simulation: Simulation, i: int) -> float:
    """How far the coordinate of row i is from the target of its rigid position drive [m or rad]."""
    rows, joints = simulation.work.rows, simulation.model.joints
    j, axis = int(rows.joint[i]), int(rows.axis[i])
    rigid = rows.kind[i] == ROW_MOTOR and joints.motor_kind[j, axis] == MOTOR_POSITION
    if not rigid or rows.cfm[i] > 0.0:
        return 0.0
    error = float(position_error(simulation.state, simulation.model, j, axis, 0.0, 0.0))
    return error if abs(error) > simulation.scene.simulation.anchor_tolerance else 0.0


def _servo_push(simulation: Simulation, i: int) -> float:
    """The largest force of a servo that is not at its target, towards it; 0: it is, or no bound."""
    error, largest = _servo_error(simulation, i), float(simulation.work.rows.hi[i])
    return (
        -math.copysign(largest / simulation.time_step, error)
        if error and largest < math.inf
        else 0.0
    )


def _misplaced(simulation: Simulation) -> str:
    """A sentence on a joint that a lock or a drive without a bound would move."""
    rows = simulation.work.rows
    for i in range(int(rows.count[1])):
        name = simulation.joint_names[int(rows.joint[i])] if rows.joint[i] >= 0 else ""
        lock = rows.kind[i] == ROW_EQUATION and rows.slot[i] >= SLOT_LOWER
        if lock and abs(rows.error[i]) > simulation.scene.simulation.anchor_tolerance:
            return f"Joint '{name}' is not where its equal limits hold it."
        if rows.hi[i] == math.inf and _servo_error(simulation, i):
            return f"Joint '{name}' is not at the target of its drive."
    return ""


def _cones(
    simulation: Simulation, chosen: Whole, turns: NDArray[np.bool_], scale: tuple[float, float]
) -> list[Cone]:
    """Friction of contacts, and of joints whose axes share one bound, in scaled unknowns."""
    rows, joints, (force, length) = simulation.work.rows, simulation.model.joints, scale
    place = {int(i): k for k, i in enumerate(chosen)}
    found: list[Cone] = []
    groups: dict[tuple[int, int, int], list[int]] = {}
    for k, i in enumerate(chosen):
        kind, j = int(rows.kind[i]), int(rows.joint[i])
        if kind in (ROW_TANGENT, ROW_SPINNING, ROW_ROLLING):
            groups.setdefault((kind, int(rows.normal_row[i]), -1), []).append(k)
        elif kind == ROW_FRICTION:
            shared = {BALL: 3, PLANAR: 2}.get(int(joints.kind[j]), 0)
            if int(rows.axis[i]) < shared:
                groups.setdefault((kind, -1, j), []).append(k)
    for (_, normal, j), members in groups.items():
        if j >= 0:
            unit = force * length if turns[members[0]] else force
            found.append(Cone(-1, tuple(members), float(joints.friction[j]) / unit))
            continue
        mu = float(rows.mu[chosen[members[0]]])
        mu /= length if turns[members[0]] else 1.0
        found.append(Cone(place[normal], tuple(members), mu))
    return found
