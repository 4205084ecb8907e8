"""Integrators for smooth motion in joint coordinates: of order 2 and 4, and adaptive.

Each step uses its own chart, so that quaternions stay of unit length, and no data of previous
steps: splitting a run does not change the bits of its result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.integrators.joint_forces import write_smooth_forces_of_joints
from cardan.engine.integrators.rates import N_QUADRATURES, begin_smooth, end_smooth, smooth_rates
from cardan.engine.world.options import Integrator, StepOptions
from cardan.engine.world.report import NOT_FINITE, TRIGGERED
from cardan.engine.world.state import State
from cardan.engine.world.world import World

Array = NDArray[np.float64]
Field = Callable[[float, Array], Array]
# also whether the value is reliable
Look = Callable[[float, Array], tuple[Array, bool]]

# iterations of the fixed point of the implicit midpoint, and of Newton's method if it fails
LOOKS, NEWTON_STEPS = 30, 20
# tolerance of a midpoint, as a share of the largest rate of change
SOLVED = 1e-14
# and above which what rounding leaves no better is no solution
UNSOLVED = 1e-6
# evaluations of the vector field in one step of the grid at which a run is given up: an adaptive
# integrator needs 12 where the motion is smooth, and some thousands of millions where it is not
MOST_LOOKS = 50_000
# time between two questions whether to stop [s]
ASK_S = 0.05
# share of a step at which its end is looked at
BEFORE_END = 1.0 - 1e-9
# step of the fastest coordinate [rad or m]; offsets in steps and their weights
BESIDE_STEP = 1e-2
BESIDE = ((-2.0, -1.0 / 6.0), (-1.0, 2.0 / 3.0), (1.0, 2.0 / 3.0), (2.0, -1.0 / 6.0))


class WorkLimit(Exception):  # noqa: N818 - a run that is given up: errors.Failure
    """A step takes more than MOST_LOOKS evaluations, or its equation is not solved."""


class Interrupted(Exception):  # noqa: N818 - it is no error
    """The run was stopped on request, inside a step."""


class SmoothRun(NamedTuple):
    """Result of a call of `run_smooth`."""

    done: int
    """Steps of the grid."""
    interrupted: bool = False
    """Whether `should_stop` ended it."""
    gave_up: bool = False
    """Whether the step after them took too much work."""


def rk4(field: Field, t: float, x: Array, h: float) -> Array:
    """The classic Runge-Kutta step of order 4, in the chart.

    What ends or jumps at its end is not of this step: the last look is just before.
    """
    k1 = field(t, x)
    k2 = field(t + 0.5 * h, x + 0.5 * h * k1)
    k3 = field(t + 0.5 * h, x + 0.5 * h * k2)
    k4 = field(t + BEFORE_END * h, x + h * k3)
    return x + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)


def implicit_midpoint(field: Field, t: float, x: Array, h: float) -> Array:
    """x + h f(t + h/2, (x + x')/2): order 2, symmetric; by fixed point, or Newton if stiff.

    Raises WorkLimit where neither finds x'.
    """
    middle = t + 0.5 * h
    rate = field(t, x)
    if not np.isfinite(rate).all():
        return x + h * rate
    for _ in range(LOOKS):
        new = field(middle, x + 0.5 * h * rate)
        change = np.abs(new - rate).max()
        rate = new
        if change <= SOLVED * np.abs(rate).max():
            return x + h * rate
    for _ in range(NEWTON_STEPS):
        off = field(middle, x + 0.5 * h * rate) - rate
        left, size = np.abs(off).max(), np.abs(rate).max()
        if not np.isfinite(left):
            raise WorkLimit
        if left <= 1e2 * SOLVED * size:
            return x + h * rate
        try:
            rate = rate + np.linalg.solve(np.eye(len(x)) - slope(field, middle, x, rate, h), off)
        except np.linalg.LinAlgError as error:
            raise WorkLimit from error
    if not left <= UNSOLVED * size:
        raise WorkLimit
    return x + h * rate


def from_beside(look: Look, t: float, x: Array, v: int, otherwise: Array) -> Array:
    """Field near a singular configuration of loops: cubic interpolation across it.

    At the singularity rounding selects the branch of the mechanism; the branch itself is smooth,
    and only its direction depends on x.
    """
    fastest = np.abs(x[v : 2 * v]).max()
    if not fastest > 0.0:
        return otherwise
    total = np.zeros(len(x))
    for places, weight in BESIDE:
        beside = x.copy()
        beside[:v] += places * BESIDE_STEP / fastest * x[v : 2 * v]
        found, regular = look(t, beside)
        if not regular:
            return otherwise
        total += weight * found
    return total


def slope(field: Field, t: float, x: Array, rate: Array, h: float) -> Array:
    """Derivative of f(t, x + h/2 rate) by the rate, by central differences."""
    n = len(x)
    found = np.empty((n, n))
    for k in range(n):
        e = np.zeros(n)
        e[k] = 1e-6 * max(1.0, abs(rate[k]))
        up, down = (field(t, x + 0.5 * h * (rate + side * e)) for side in (1.0, -1.0))
        found[:, k] = (up - down) / (2.0 * e[k])
    return found


def adaptive(method: Any, tolerance: float) -> Callable[[Field, float, Array, float], Array]:
    """Step of a SciPy integrator over the time grid of the recording."""

    def step(field: Field, t: float, x: Array, h: float) -> Array:
        try:
            solver = method(field, t, x, t + h, rtol=max(tolerance, 3e-14), atol=tolerance)
            while solver.status == "running":
                solver.step()
        except ValueError:
            # Radau refuses to factor a matrix with values that are not finite
            return np.full(len(x), np.nan)
        if solver.status != "finished":
            # the step that its tolerance needs is below the spacing of floating-point times
            raise WorkLimit
        result: Array = solver.y
        return result

    return step


def stepper(options: StepOptions) -> Callable[[Field, float, Array, float], Array]:
    """Step function of the integrator in the options."""
    if options.integrator == Integrator.RK4:
        return rk4
    if options.integrator == Integrator.IMPLICIT_MIDPOINT:
        return implicit_midpoint
    from scipy.integrate import DOP853, Radau  # slow to load, and rarely needed

    method = DOP853 if options.integrator == Integrator.DOP853 else Radau
    return adaptive(method, options.integrator_tolerance)


def guarded(field: Field, should_stop: Callable[[], bool] | None) -> Field:
    """The field of one step of the grid; raises WorkLimit and Interrupted."""
    looks, asked = 0, time.perf_counter()

    def look(t: float, x: Array) -> Array:
        nonlocal looks, asked
        looks += 1
        if looks > MOST_LOOKS:
            raise WorkLimit
        if should_stop is not None and time.perf_counter() - asked > ASK_S:
            asked = time.perf_counter()
            if should_stop():
                raise Interrupted
        return field(t, x)

    return look


def looked_at(state: State) -> list[Array]:
    """Arrays that evaluations of the vector field write: scratch until a step is done."""
    coordinates = [state.tree_q, state.tree_qd, state.joint_q, state.twist]
    return [*coordinates, state.p_WB, state.q_WB, state.v_WB_W, state.w_WB_W]


def kept(state: State) -> list[Array]:
    """Copies of what evaluations write."""
    return [array.copy() for array in looked_at(state)]


def put_back(state: State, before: list[Array]) -> None:
    """Undo what evaluations wrote."""
    for array, copy in zip(looked_at(state), before, strict=True):
        array[...] = copy


def start_of(state: State) -> Array:
    """(2 v + 8,): rates and quadratures of the present state, in its own chart."""
    return np.concatenate([np.zeros(len(state.tree_qd)), state.tree_qd, np.zeros(N_QUADRATURES)])


def leave_joint_forces(world: World, handle: World) -> None:
    """Write the forces of joints that the present motion needs, as a step leaves them; the state
    keeps its bits."""
    state, now, x = world.state, float(world.state.time[0]), start_of(world.state)
    before = kept(state)
    smooth_rates(handle, state.tree_q.copy(), now, x, np.zeros(len(x)))
    write_smooth_forces_of_joints(handle, now, np.zeros(N_QUADRATURES))
    put_back(state, before)


def run_smooth(
    world: World, handle: World, n: int, should_stop: Callable[[], bool] | None = None
) -> SmoothRun:
    """Do up to n steps; stop early when a value is not finite or a trigger fires.

    A step that is stopped on request, or needs too much work, leaves the state before it.
    handle: the world as kernels are called with it (compiler/handles.py).

    Writes  state, report; work and clock are scratch
    Check   tests/laws/test_integrators.py
    """
    state, advance, h = world.state, stepper(world.options), world.options.time_step
    begin_smooth(handle)
    v = len(state.tree_qd)
    for done in range(n):
        before, base, x = kept(state), state.tree_q.copy(), start_of(state)

        def look(t: float, x: Array, base: Array = base) -> tuple[Array, bool]:
            out = np.zeros(len(x))
            x = np.ascontiguousarray(x)
            return out, bool(smooth_rates(handle, base, t, x, out))

        def field(t: float, x: Array, look: Look = look) -> Array:
            found, regular = look(t, x)
            return found if regular else from_beside(look, t, x, v, found)

        try:
            with np.errstate(over="ignore", invalid="ignore"):
                end = advance(guarded(field, should_stop), float(state.time[0]), x, h)
        except (WorkLimit, Interrupted) as stopped:
            put_back(state, before)
            leave_joint_forces(world, handle)
            gave_up = isinstance(stopped, WorkLimit)
            return SmoothRun(done, interrupted=not gave_up, gave_up=gave_up)
        end_smooth(handle, base, end)
        if world.report.status[0] & NOT_FINITE:
            return SmoothRun(done + 1)
        if world.report.status[0] & TRIGGERED or done + 1 == n:
            leave_joint_forces(world, handle)
            return SmoothRun(done + 1)
    return SmoothRun(0)
