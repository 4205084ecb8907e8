"""Projected Gauss-Seidel of the time step, with several contacts at a time where possible."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import add_impulse, first_dependent, row_velocity
from cardan.engine.problem.residual import contact_errors, larger
from cardan.engine.solvers.stopping import GOES_ON, StoppingRules, rule_that_applies
from cardan.engine.solvers.sweeps.blocks import write_box_steps
from cardan.engine.solvers.sweeps.joints import write_joints
from cardan.engine.solvers.sweeps.pgs import sweep_cone
from cardan.engine.solvers.sweeps.simd.layout import W
from cardan.engine.solvers.sweeps.simd.packing import clear_empty_lanes, lay_out, leave_odd
from cardan.engine.solvers.sweeps.simd.work import (
    FILL,
    STORE,
    do_work,
    measure_lanes,
    push_lanes,
    sweep_lanes,
)
from cardan.engine.world.problem import BIAS_APPLIED
from cardan.engine.world.report import STOPPED_MAX_ITERATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes, Problem

# number of contacts sampled for the velocity change by forces
SAMPLES = 16


@kernel
def list_contacts(problem: Problem, lanes: Lanes) -> int:
    """List all contacts of the problem; return their number."""
    n = 0
    for i in range(problem.count[1], problem.count[0], 3):
        lanes.listed[n] = i
        n += 1
    return n


@kernel
def apply_sweep_bias(problem: Problem, rows: NDArray, n: int) -> bool:
    """Apply the sweep bias of contacts that have one; return whether any contact has a guess.

    Writes  problem.b, sweep_bias_delta (BIAS_APPLIED) of the contacts with normal rows rows[0:n]
    Source  decision 0065
    """
    is_warm = False
    for c in range(n):
        i = rows[c]
        is_warm = is_warm or problem.lam[i] != 0.0
        if problem.sweep_bias_delta[i] != BIAS_APPLIED:
            for r in range(i, i + 3):
                problem.b[r] += problem.sweep_bias_delta[r]
        problem.sweep_bias_delta[i] = BIAS_APPLIED
    return is_warm


@kernel
def clear_velocity(v: NDArray, a: int, b: int) -> None:
    """Set the velocities of two bodies to zero."""
    for k in range(6):
        v[a, k] = 0.0
        v[b, k] = 0.0


@kernel
def start_velocities(problem: Problem, lanes: Lanes, v: NDArray) -> None:
    """v = M^-1 J^T lam of the contacts in lanes and in `rest`, and of the box rows.

    Writes  v (n_bodies + 1, 6) rad/s, m/s; 0 at the world, which empty lanes refer to
    """
    for lane in range(lanes.count[0] * W):
        clear_velocity(v, lanes.body_a[lane], lanes.body_b[lane])
    for r in range(lanes.count[1]):
        i = lanes.rest[r]
        clear_velocity(v, problem.body_a[i], problem.body_b[i])
    for i in range(lanes.count[2]):
        clear_velocity(v, problem.body_a[i], problem.body_b[i])
    push_lanes(problem, lanes, v)
    for i in range(lanes.count[2]):
        add_impulse(problem, i, problem.lam[i], v)
    for r in range(lanes.count[1]):
        for i in range(lanes.rest[r], lanes.rest[r] + 3):
            add_impulse(problem, i, problem.lam[i], v)


@kernel
def load_lanes(problem: Problem, lanes: Lanes, n: int, v: NDArray) -> None:
    """Colour the pairs of n listed contacts and copy them into lanes, or leave all to `rest`.

    Reads   lanes.listed
    Writes  lanes; problem.lam into its set; for `rest` scratch like blocks.write_steps
    Check   tests/engine/solvers/sweeps/test_simd.py
    """
    pairs = lay_out(problem, lanes, n)
    do_work(problem, lanes, v, FILL, 0, pairs)
    clear_empty_lanes(lanes)
    leave_odd(problem, lanes, n)


@kernel
def start_listed(problem: Problem, lanes: Lanes, n: int, v: NDArray) -> None:
    """Load the n listed contacts into lanes; v = M^-1 J^T lam of their guesses.

    Writes  lanes, problem.lam into its set; v
    """
    load_lanes(problem, lanes, n, v)
    start_velocities(problem, lanes, v)


@kernel
def start_mixed(problem: Problem, lanes: Lanes, n: int, v: NDArray) -> None:
    """Load the n listed contacts into lanes, to be swept with all box rows; as start_listed.

    No box row may be dependent.

    Writes  lanes, problem.lam into its set; problem.w of the box rows: steps; v
    """
    load_lanes(problem, lanes, n, v)
    lanes.count[2] = first_dependent(problem)
    write_box_steps(problem, lanes.count[2])
    write_joints(problem, lanes)
    start_velocities(problem, lanes, v)


@kernel
def velocity_change_by_forces(problem: Problem, lanes: Lanes, n: int) -> float:
    """Velocity change of a body by forces in a step [m/s], mean over some of the n contacts."""
    total, found = 0.0, 0
    for c in range(0, n, max(1, n // SAMPLES)):
        body = problem.body_b[lanes.listed[c]]
        if problem.inverse_mass[body] == 0.0:
            body = problem.body_a[lanes.listed[c]]
        x, y = problem.velocity_free[body], problem.velocity_old[body]
        total += sqrt((x[3] - y[3]) ** 2 + (x[4] - y[4]) ** 2 + (x[5] - y[5]) ** 2)
        found += 1
    return total / found if found > 0 else 0.0


@kernel
def sweep_listed(
    problem: Problem,
    lanes: Lanes,
    n: int,
    v: NDArray,
    rules: StoppingRules,
    relaxation: float,
) -> tuple[int, int]:
    """Sweep n listed contacts that share no body with other rows; STOPPED_..., sweeps.

    Writes  lanes.data, problem.lam of lanes.rest; v and what pgs writes: scratch
    Check   tests/engine/solvers/sweeps/test_simd.py
    """
    start_listed(problem, lanes, n, v)
    for k in range(rules.max_iterations):
        change = sweep_lanes(problem, lanes, v, relaxation)
        for r in range(lanes.count[1]):
            change = max(change, sweep_cone(problem, v, lanes.rest[r], relaxation))
        status = rule_that_applies(rules, inf, change)
        if status != GOES_ON:
            return status, k + 1
    return STOPPED_MAX_ITERATIONS, rules.max_iterations


@kernel
def measure_listed(problem: Problem, lanes: Lanes, v: NDArray) -> tuple[float, float]:
    """Largest natural map and Coulomb error of the swept contacts.

    Writes  problem.lam, problem.w of these contacts; lanes scratch
            v (n_bodies + 1, 6) rad/s, m/s   M^-1 J^T lam of the bodies of these contacts
    Check   tests/engine/solvers/sweeps/test_simd.py
    """
    start_velocities(problem, lanes, v)
    worst, coulomb = measure_lanes(problem, lanes, v)
    do_work(problem, lanes, v, STORE, 0, lanes.count[0])
    for r in range(lanes.count[1]):
        for i in range(lanes.rest[r], lanes.rest[r] + 3):
            problem.w[i] = row_velocity(problem, v, i)
        natural, cone = contact_errors(problem, problem.w, lanes.rest[r])
        worst, coulomb = larger(worst, natural), larger(coulomb, cone)
    return worst, coulomb
