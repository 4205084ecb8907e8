"""Anderson acceleration of depth one for Gauss-Seidel sweeps.

A sweep maps impulses x_k to g_k; its residual is f_k = g_k - x_k. The next sweep starts from the
linear extrapolation of the last two that minimises the residual:

    x_(k+1) = g_k + beta (g_k - g_(k-1)),   beta = <f_k, f_(k-1) - f_k> / |f_k - f_(k-1)|^2
    <f, g> = sum of D f g over the normals;   0 <= beta <= MOST_BETA

Velocities are linear in impulses and are extrapolated with the same beta. The next sweep projects
impulses outside their set; the result of the last sweep is not extrapolated. Where a sweep changes
impulses much more than the previous one (the active set changed), beta is 0 once.

A load path through n bodies needs about n sweeps, without acceleration about n^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.solvers.sweeps.pgs import sweep_cone
from cardan.engine.solvers.sweeps.simd.layout import LAM, LAYER, SCALES, W
from cardan.engine.solvers.sweeps.simd.sweep import sweep_lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes, Problem

# lanes.kept of a layer: impulses after the last sweep; normal impulses at the start of this sweep;
# their change by the last sweep. After all layers the same of each contact swept singly.
SWEPT, BEGUN, CHANGE, N_INVARIANTS = 0, 3 * W, 4 * W, 5 * W
SWEPT_ALONE, BEGUN_ALONE, CHANGE_ALONE, N_KEPT_ALONE = 0, 3, 4, 5
MOST_BETA = 5.0
# no extrapolation after a sweep with more than twice the squared change of the previous one
WORSE = 4.0
# level of a body not reached yet; fewest and most sweeps for the longest load path
FAR = 2**40
LEAST_SWEEPS, MOST_SWEEPS, GROUNDLESS_SWEEPS, SLENDER = 5, 100, 15, 9


@fast_kernel
def begin_layer(c: NDArray, kept: NDArray, width: int) -> None:
    """Store the impulses at the start of the first sweep."""
    for l in range(width):
        kept[l + BEGUN] = c[W * LAM + l]


@fast_kernel
def compare_layer(c: NDArray, kept: NDArray, width: int) -> tuple[float, float]:
    """|f|^2 and <f, f of the last sweep> of a layer."""
    squared, both = 0.0, 0.0
    for l in range(width):
        change = c[W * LAM + l] - kept[l + BEGUN]
        squared += c[W * SCALES + l] * change * change
        both += c[W * SCALES + l] * change * kept[l + CHANGE]
    return squared, both


@fast_kernel
def keep_layer(c: NDArray, kept: NDArray, width: int) -> None:
    """Store the impulses after the first sweep, which has no predecessor to extrapolate from."""
    for l in range(width):
        x = c[W * LAM + l]
        kept[l + CHANGE] = x - kept[l + BEGUN]
        kept[l + BEGUN] = x
        kept[l + SWEPT] = x
        kept[l + (SWEPT + W)] = c[W * (LAM + 1) + l]
        kept[l + (SWEPT + 2 * W)] = c[W * (LAM + 2) + l]


@fast_kernel
def carry_layer(c: NDArray, kept: NDArray, beta: float, width: int) -> None:
    """lam += beta (lam - lam after the last sweep)."""
    for l in range(width):
        x, y, z = c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l]
        kept[l + CHANGE] = x - kept[l + BEGUN]
        ahead = x + beta * (x - kept[l + SWEPT])
        c[W * LAM + l] = ahead
        c[W * (LAM + 1) + l] = y + beta * (y - kept[l + (SWEPT + W)])
        c[W * (LAM + 2) + l] = z + beta * (z - kept[l + (SWEPT + 2 * W)])
        kept[l + BEGUN] = ahead
        kept[l + SWEPT] = x
        kept[l + (SWEPT + W)] = y
        kept[l + (SWEPT + 2 * W)] = z


@kernel
def begin(problem: Problem, lanes: Lanes) -> None:
    """Store the impulses of all contacts before the first sweep.

    Writes  lanes.kept
    """
    m = 0
    for g in range(lanes.count[0]):
        at, width = lanes.layer[g], lanes.width[g]
        while at < lanes.begin[g + 1]:
            begin_layer(lanes.data[at : at + LAYER], lanes.kept[m : m + N_INVARIANTS], width)
            at += LAYER
            m += N_INVARIANTS
    for r in range(lanes.count[1]):
        lanes.kept[m + BEGUN_ALONE] = problem.lam[lanes.rest[r]]
        m += N_KEPT_ALONE


@kernel
def compare(problem: Problem, lanes: Lanes) -> tuple[float, float]:
    """|f|^2 and <f, f of the last sweep> of all contacts; the second is 0 after the first sweep."""
    squared, both = 0.0, 0.0
    m = 0
    for g in range(lanes.count[0]):
        at, width = lanes.layer[g], lanes.width[g]
        while at < lanes.begin[g + 1]:
            c, kept = lanes.data[at : at + LAYER], lanes.kept[m : m + N_INVARIANTS]
            more = compare_layer(c, kept, width)
            squared += more[0]
            both += more[1]
            at += LAYER
            m += N_INVARIANTS
    for r in range(lanes.count[1]):
        i = lanes.rest[r]
        change = problem.lam[i] - lanes.kept[m + BEGUN_ALONE]
        squared += problem.diagonal[i] * change * change
        both += problem.diagonal[i] * change * lanes.kept[m + CHANGE_ALONE]
        m += N_KEPT_ALONE
    return squared, both


@kernel
def carry_impulses(problem: Problem, lanes: Lanes, beta: float, is_first: bool) -> None:
    """Extrapolate all impulses.

    Writes  lanes.data, kept; problem.lam of lanes.rest
    """
    m = 0
    for g in range(lanes.count[0]):
        at, width = lanes.layer[g], lanes.width[g]
        while at < lanes.begin[g + 1]:
            c, kept = lanes.data[at : at + LAYER], lanes.kept[m : m + N_INVARIANTS]
            if is_first:
                keep_layer(c, kept, width)
            else:
                carry_layer(c, kept, beta, width)
            at += LAYER
            m += N_INVARIANTS
    for r in range(lanes.count[1]):
        i = lanes.rest[r]
        lanes.kept[m + CHANGE_ALONE] = problem.lam[i] - lanes.kept[m + BEGUN_ALONE]
        for k in range(3):
            x = problem.lam[i + k]
            if not is_first:
                problem.lam[i + k] += beta * (x - lanes.kept[m + SWEPT_ALONE + k])
            lanes.kept[m + SWEPT_ALONE + k] = x
        lanes.kept[m + BEGUN_ALONE] = problem.lam[i]
        m += N_KEPT_ALONE


@kernel
def carry_velocities(lanes: Lanes, v: NDArray, n: int, beta: float, is_first: bool) -> None:
    """Extrapolate the velocities of the first n bodies of lanes.moving, as carry_impulses.

    Writes  v, lanes.speeds
    """
    for m in range(n):
        i = lanes.moving[m]
        for k in range(6):
            x = v[i, k]
            if not is_first:
                v[i, k] += beta * (x - lanes.speeds[i, k])
            lanes.speeds[i, k] = x


@kernel
def carry_on(problem: Problem, lanes: Lanes, v: NDArray, n_moving: int, before: float) -> float:
    """Compute the start of the next sweep.

    before: |f|^2 of the previous sweep, negative after the first. Returns |f|^2 of this sweep.

    Writes  lanes.data, kept, speeds; problem.lam of lanes.rest; v
    """
    squared, both = compare(problem, lanes)
    is_first = before < 0.0
    beta = 0.0
    if not is_first and squared <= WORSE * before:
        apart = squared - 2.0 * both + before
        if apart > 0.0:
            beta = min(max((both - squared) / apart, 0.0), MOST_BETA)
    carry_impulses(problem, lanes, beta, is_first)
    carry_velocities(lanes, v, n_moving, beta, is_first)
    return squared


@kernel
def list_moving(problem: Problem, lanes: Lanes, n: int) -> int:
    """List the movable bodies of the n listed contacts; return their number.

    Writes  lanes.moving; lanes.taken: FAR for these, 0 for fixed bodies
    """
    for c in range(n):
        lanes.taken[problem.body_a[lanes.listed[c]]] = -1
        lanes.taken[problem.body_b[lanes.listed[c]]] = -1
    moving = 0
    for c in range(n):
        for side in range(2):
            i = lanes.listed[c]
            body = problem.body_a[i] if side == 0 else problem.body_b[i]
            if lanes.taken[body] >= 0:
                continue
            lanes.taken[body] = 0
            if problem.inverse_mass[body] > 0.0:
                lanes.taken[body] = FAR
                lanes.moving[moving] = body
                moving += 1
    return moving


@kernel
def longest_way(problem: Problem, lanes: Lanes, n: int, n_moving: int) -> int:
    """Number of bodies on the longest load path to the ground; 0: no path.

    Reads   lanes.listed, moving, and taken, written by list_moving
    Writes  lanes.taken
    """
    level = lanes.taken
    is_backwards, changed = False, True
    while changed:
        changed = False
        for k in range(n):
            i = lanes.listed[n - 1 - k if is_backwards else k]
            a, b = problem.body_a[i], problem.body_b[i]
            if level[a] + 1 < level[b]:
                level[b] = level[a] + 1
                changed = True
            elif level[b] + 1 < level[a]:
                level[a] = level[b] + 1
                changed = True
        is_backwards = not is_backwards
    farthest = 0
    for m in range(n_moving):
        if level[lanes.moving[m]] < FAR:
            farthest = max(farthest, level[lanes.moving[m]])
    return farthest


@kernel
def sweeps_for(way: int, n: int, is_busy: bool) -> int:
    """Number of sweeps for load paths of `way` bodies and n contacts.

    Slender stacks converge slowest and get more sweeps. Busy scenes get fewer: impulses of moving
    bodies change in the next step anyway, while resting bodies keep theirs as a warm start.
    """
    if way == 0:
        return GROUNDLESS_SWEEPS
    if is_busy:
        return min(LEAST_SWEEPS + way // 4, MOST_SWEEPS)
    return min(LEAST_SWEEPS + 3 * way // 4 + SLENDER * way * way // n, MOST_SWEEPS)


@kernel
def sweep_accelerated(
    problem: Problem,
    lanes: Lanes,
    n: int,
    v: NDArray,
    most: int,
    tolerance: float,
    busy: float,
) -> tuple[float, int]:
    """Sweep the n listed contacts in lanes; return the last largest D |change| and the sweeps.

    most: largest number of sweeps; 0: chosen from the load paths, and fewer where the first sweep
    changes more than `busy` [m/s].

    Reads   v   M^-1 J^T lam
    Writes  lanes.data, problem.lam of lanes.rest, v; lanes scratch
    Source  Anderson 1965; decision 0126
    Check   tests/engine/solvers/sweeps/test_anderson.py
    """
    begin(problem, lanes)
    n_moving, done = 0, 0
    before = -1.0
    while True:
        change = sweep_lanes(lanes, v, 1.0)
        for r in range(lanes.count[1]):
            change = max(change, sweep_cone(problem, v, lanes.rest[r], 1.0))
        done += 1
        if change <= tolerance:
            return change, done
        if done == 1:
            n_moving = list_moving(problem, lanes, n)
            if most == 0:
                most = sweeps_for(longest_way(problem, lanes, n, n_moving), n, change > busy)
        if done >= most:
            return change, done
        before = carry_on(problem, lanes, v, n_moving, before)
