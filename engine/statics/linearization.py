"""Linear models of scenes about a state, in minimal coordinates.

    dx/dt = f0 + A (x - x0) + B (u - u0),   y = y0 + C (x - x0) + D (u - u0),   x = (z, dz/dt)

z are independent joint coordinates: all of a tree; of loops as many as the mechanism has freedoms.
Orientations have rotation vectors from the state, in the axes of the body; from one that turns on
as it does there, where it turns (spinning_frames.py). Derivatives are differences of fourth order
of the equations of motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cardan.engine.bodies.forces import value_at
from cardan.engine.build.rotations import turn
from cardan.engine.statics.channels import Evaluation, joint_place, read_outputs
from cardan.engine.statics.fields import check_fields
from cardan.engine.statics.smooth import Sample, SmoothModel
from cardan.engine.statics.spinning_frames import rates_seen, turning_at
from cardan.engine.statics.stencil import Stencil, stencil_of
from cardan.engine.world.model import MOTOR_NONE
from cardan.engine.world.tree import NODE_BALL
from cardan.schemas import GivenScene, scene_of
from cardan.schemas.given import GivenInvalid

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# rad, or share of a length: the step of differences; truncation and rounding are about 1e-12
STEP = 1e-3
# 1/s: eigenvalues are pairs when their imaginary part exceeds this share of their modulus
OSCILLATES = 1e-7
# error of the derivatives of accelerations: a share of the largest, and of the acceleration itself
# over a step of differences
NOISE, ROUNDING = 1e-11, 1e-15
KINDS = ("target", "force")
INPUT_FIELDS = ("joint", "coordinate", "kind")


class UnresolvedError(ValueError):
    """A state beside which the steps of differences vanish."""


@dataclass(frozen=True)
class Mode:
    """An eigenvalue, of a pair the one with the positive imaginary part, and its shape."""

    eigenvalue: complex  # 1/s
    frequency: float  # Hz, of the undamped oscillation: |eigenvalue|/2 pi; 0: none
    damping_ratio: float  # -     -Re/|eigenvalue|; 1 or -1: no oscillation
    shape: Complex  # (n,)   of z; its largest component is 1
    bodies: Complex  # (bodies, 6)  rotation [rad] and displacement of the origin [m], in W


@dataclass(frozen=True)
class Linearization:
    """A linear model."""

    coordinates: tuple[str, ...]  # (n) names of z; x = (z, dz/dt)
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Array  # (2 n, 2 n)
    B: Array  # (2 n, inputs)
    C: Array  # (outputs, 2 n)
    D: Array  # (outputs, inputs)
    x0: Array  # (2 n,)  z [m, rad] and dz/dt; orientations count from the state: 0
    u0: Array  # (inputs,)
    y0: Array  # (outputs,)
    f0: Array  # (2 n,)  dx/dt at the state: 0 at rest in equilibrium, of z of orientations always
    mass: Array  # (n, n)  kinetic energy is dz/dt . mass dz/dt / 2
    modes: tuple[Mode, ...]  # from the slowest to the fastest
    left_out: tuple[str, ...]  # what the model leaves out: contacts, stops, dry friction

    @property
    def eigenvalues(self) -> Complex:
        """(2 n,) of A [1/s]."""
        found: Complex = np.linalg.eigvals(self.A).astype(complex)
        return found


def linearize(
    scene: GivenScene,
    q: Mapping[str, Any] | None = None,
    qd: Mapping[str, Any] | None = None,
    inputs: Sequence[Mapping[str, Any]] | None = None,
    outputs: Sequence[Mapping[str, Any]] | None = None,
) -> Linearization:
    """The linear model of a scene about its start, or about q and qd by names of joints.

    inputs: {"joint": name, "coordinate": 0, "kind": "target" | "force"}; default: the targets of
        all motors. A force acts along or about the coordinate [N, N m].
    outputs: {"joint": name, "coordinate": 0, "quantity": "position" | "velocity" | "acceleration"}
        or {"body": name, "point": [x, y, z], "quantity": "position" | "velocity"}, three rows in W
        of a point of the body; default: positions of all joint coordinates.

    Raises SceneInvalid, SceneError, and ValueError for names and fields that do not exist, loops
    that do not close and singular configurations.
    """
    smooth = SmoothModel(scene_of(scene))
    if q or qd:
        smooth.set_state(q, qd)
    try:
        return about(smooth, smooth.q, smooth.qd, inputs, outputs)
    except UnresolvedError as error:
        place = _largest(q=q, qd=qd)
        if place is None:
            raise
        raise GivenInvalid(place, str(error)) from error


def _largest(**given: Mapping[str, Any] | None) -> tuple[str, str] | None:
    """What is given by names of joints: the place of the largest number; None: nothing."""
    sizes = {
        (what, joint): float(np.abs(numbers).max())
        for what, by_joint in given.items()
        for joint, numbers in (by_joint or {}).items()
    }
    return max(sizes, key=lambda place: sizes[place], default=None)


def about(
    smooth: SmoothModel,
    q: Array,
    qd: Array,
    inputs: Sequence[Mapping[str, Any]] | None = None,
    outputs: Sequence[Mapping[str, Any]] | None = None,
) -> Linearization:
    """The linear model of a smooth model about coordinates q and velocities qd."""
    start = smooth.sample(q, np.zeros(smooth.nv), qd)
    base, rate = start.q, start.qd
    T, free = smooth.motions(base)
    n, turning = len(free), turning_at(smooth, base, rate)
    measured, output_names = read_outputs(smooth, outputs)
    scale = smooth.scales()[free]

    def look(z: Array, zd: Array) -> tuple[Array, Array, Array]:
        """State, its rate and the outputs beside the state; loops shift dependent coordinates."""
        found = smooth.sample(base, T @ z, rate + T @ zd)
        qdd = _accelerations(smooth, found, free)
        place = smooth.chart(base, found.q)
        seen, change = rates_seen(turning, place, found, qdd)
        x = np.concatenate([place[free], found.qd[free]])
        f = np.concatenate([seen[free], change[free]])
        return x, f, measured(found._replace(qdd=qdd))

    # drives may hold all coordinates: the model then has no states
    _, f0, y0 = look(np.zeros(n), np.zeros(n))
    X, F, Y = (np.zeros((rows, 2 * n)) for rows in (2 * n, 2 * n, len(y0)))
    stencil = stencil_of(smooth.model)
    for k in range(2 * n):
        X[:, k], F[:, k], Y[:, k] = _differences(look, k, STEP * scale[k % n], n, stencil)
    if not np.isfinite(F).all() or np.linalg.matrix_rank(X) < len(X):
        raise UnresolvedError(
            "coordinates or velocities of the state are too large for derivatives"
        )
    A, C = (np.asarray(np.linalg.solve(X.T, part.T).T, np.float64) for part in (F, Y))
    B, D, u0, input_names = _inputs(smooth, inputs, (base, rate), (T, free), measured)
    mass, left_out = T.T @ smooth.mass_matrix(base) @ T, smooth.all_left_out()
    return Linearization(
        coordinates=tuple(np.array(smooth.names())[free]),
        inputs=tuple(input_names),
        outputs=tuple(output_names),
        A=A, B=B, C=C, D=D,
        x0=np.concatenate([_values(smooth, base)[free], rate[free]]),
        u0=u0, y0=y0, f0=f0, mass=mass,
        modes=tuple(modes(A, f0, _shapes_of_bodies(smooth, base, T))),
        left_out=tuple(left_out),
    )  # fmt: skip


def _accelerations(smooth: SmoothModel, found: Sample, free: NDArray[np.int64]) -> Array:
    """(nv,) accelerations of all coordinates when held ones keep their rates.

        C qdd = [0, loops . a],   T' H (qdd - a) = 0      =>   qdd = T zdd + g

    a is the motion in which nothing is held: it keeps loops closed, and what holds does no work
    along T. g are the accelerations of dependent coordinates at zdd = 0, as moving loops have.

    Check   tests/engine/statics/test_linearization.py
    """
    if not smooth.held_places:
        return found.qdd
    T = smooth.motions(found.q, free)[0]
    H = smooth.mass_matrix(found.q)
    E, loops = smooth.held_equations(), smooth.loop_equations(found.q)
    C = np.vstack([E, loops])
    tied = np.setdiff1d(np.arange(smooth.nv), free)
    g = np.zeros(smooth.nv)
    asked = np.concatenate([np.zeros(len(E)), loops @ found.qdd])
    g[tied] = np.linalg.lstsq(C[:, tied], asked, rcond=None)[0]
    return np.asarray(T @ np.linalg.solve(T.T @ H @ T, T.T @ (H @ (found.qdd - g))) + g)


def _differences(
    look: Callable[[Array, Array], tuple[Array, Array, Array]],
    k: int,
    step: float,
    n: int,
    stencil: Stencil,
) -> list[Array]:
    """Derivatives by the k-th component of the state, of fourth order."""
    total: list[Any] = [0.0, 0.0, 0.0]
    for offset, weight in stencil:
        x = np.zeros(2 * n)
        x[k] = offset * step
        for i, value in enumerate(look(x[:n], x[n:])):
            total[i] = total[i] + weight / step * value
    return total


def _values(smooth: SmoothModel, q: Array) -> Array:
    """(nv,) coordinates where they are numbers; of orientations 0, of free bodies the place."""
    found = np.zeros(smooth.nv)
    for motion in smooth.coordinates:
        if motion.motion == "free":
            found[motion.v[0] + 3 : motion.v[1]] = q[motion.q[0] : motion.q[0] + 3]
        elif motion.motion != "ball":
            found[motion.v[0]] = q[motion.q[0]]
    return found


def _shapes_of_bodies(smooth: SmoothModel, q: Array, T: Array) -> Callable[[Complex], Complex]:
    """A function of z, (n,): rotations and displacements of all origins (bodies, 6)."""
    simulation = smooth.simulation
    J = np.zeros((len(simulation.body_names), 6, T.shape[1]))
    for b in range(len(J)):
        found = smooth.jacobian(q, b) @ T
        arm = turn(simulation.state.q_WB[b], smooth.model.bodies.com_B[b])
        J[b, :3] = found[:3]
        J[b, 3:] = found[3:] - np.cross(found[:3], arm, axis=0)
    return lambda z: J @ z


# ---------------------------------------------------------------------- inputs and outputs


def _inputs(
    smooth: SmoothModel,
    given: Sequence[Mapping[str, Any]] | None,
    at: tuple[Array, Array],
    basis: tuple[Array, NDArray[np.int64]],
    measured: Evaluation,
) -> tuple[Array, Array, Array, list[str]]:
    """B, D, u0 and names."""
    joints, (T, free) = smooth.model.joints, basis
    if given is None:
        driven = np.argwhere(joints.motor_kind != MOTOR_NONE)
        names = smooth.simulation.joint_names
        given = [{"joint": names[j], "coordinate": int(axis)} for j, axis in driven]
    columns, rows, u0, found = [], [], [], []
    still = smooth.sample(at[0], np.zeros(smooth.nv), at[1])
    H = smooth.mass_matrix(at[0])
    for i, one in enumerate(given):
        check_fields("an input", one, INPUT_FIELDS)
        j, axis, name = joint_place(smooth, one, ("inputs", i))
        kind = one.get("kind", "target")
        if kind not in KINDS:
            message = f"kind of an input must be one of {', '.join(KINDS)}, not '{kind}'"
            raise GivenInvalid(("inputs", i, "kind"), message)
        if kind == "force":
            node = np.flatnonzero((smooth.tree.joint == j) & (smooth.tree.axis == axis))
            if not len(node) or smooth.tree.kind[node[0]] == NODE_BALL:
                message = f"joint '{name}' is no joint of a tree with one axis: no force"
                raise GivenInvalid(("inputs", i, "joint"), message)
            push = T[int(smooth.tree.v_start[node[0]])]
            qdd = T @ np.linalg.solve(T.T @ H @ T, push)
            rows.append(measured(still._replace(qdd=still.qdd + qdd)) - measured(still))
            columns.append(np.concatenate([np.zeros(len(free)), qdd[free]]))
            u0.append(0.0)
        else:
            if smooth.model.joints.motor_kind[j, axis] == MOTOR_NONE:
                message = f"joint '{name}' has no motor with a target, or a rigid one"
                raise GivenInvalid(("inputs", i, "joint"), message)
            change, output, value = _by_target(smooth, (j, axis), at, basis, measured)
            columns.append(change)
            rows.append(output)
            u0.append(value)
        found.append(f"{name} {kind}")
    n = len(given)
    B = np.stack(columns, axis=1) if n else np.zeros((2 * len(free), 0))
    D = np.stack(rows, axis=1) if n else np.zeros((len(measured(still)), 0))
    return B, D, np.array(u0), found


def _by_target(
    smooth: SmoothModel,
    motor: tuple[int, int],
    at: tuple[Array, Array],
    basis: tuple[Array, NDArray[np.int64]],
    measured: Evaluation,
) -> tuple[Array, Array, float]:
    """Derivatives of dx/dt and of the outputs by the target of a motor, and the target."""
    j, axis = motor
    joints, state, free = smooth.model.joints, smooth.simulation.state, basis[1]
    value = float(value_at(smooth.model.targets, int(joints.motor_table[j, axis]), 0.0))
    total, step = np.zeros(len(free)), STEP * max(1.0, abs(value))
    output: Any = 0.0
    for offset, weight in stencil_of(smooth.model):
        state.motor_target[j, axis] = value + offset * step
        found = smooth.sample(at[0], np.zeros(smooth.nv), at[1])
        qdd = _accelerations(smooth, found, free)
        total += weight / step * qdd[free]
        output = output + weight / step * measured(found._replace(qdd=qdd))
    state.motor_target[j, axis] = math.nan
    return np.concatenate([np.zeros(len(free)), total]), output, value


# ---------------------------------------------------------------------- modes


def modes(A: Array, f0: Array, body_motions: Callable[[Complex], Complex]) -> list[Mode]:
    """The modes of dx/dt = f0 + A x, x = (z, dz/dt), from the slowest to the fastest.

    An error e of A shifts a mode of modulus s by e/s, and its damping ratio by e/s^2: a ratio that
    is not larger is 0, and so is an eigenvalue whose square is not.
    """
    values, vectors = scipy.linalg.eig(A)
    n = len(A) // 2
    error = NOISE * float(np.abs(A[n:, :n]).max(initial=0.0))
    error += ROUNDING / STEP * float(np.abs(f0[n:]).max(initial=0.0))
    values[np.abs(values) ** 2 <= error] = 0.0
    found = []
    for value, vector in zip(values, vectors.T, strict=True):
        size = abs(value)
        damped = size > 0.0 and abs(value.real) * size > error
        if value.imag < -OSCILLATES * size:
            continue
        shape = vector[:n]
        largest = shape[int(np.argmax(np.abs(shape)))] if n else 1.0
        shape = shape / largest if abs(largest) > 0.0 else shape
        found.append(
            Mode(
                complex(value),
                float(size / (2.0 * math.pi)) if value.imag > OSCILLATES * size else 0.0,
                float(-value.real / size) if damped else 0.0,
                shape,
                body_motions(shape),
            )
        )
    return sorted(found, key=lambda mode: (abs(mode.eigenvalue), mode.eigenvalue.real))
