"""Anderson acceleration of depth one for Gauss-Seidel sweeps.

A sweep maps impulses x_k to g_k; its residual is f_k = g_k - x_k. The next sweep starts from the
linear extrapolation of the last two that minimises the residual:

    x_(k+1) = g_k + beta (g_k - g_(k-1)),   beta = <f_k, f_(k-1) - f_k> / |f_k - f_(k-1)|^2
    <f, g> = sum of D f g over the normals and the box rows;   0 <= beta <= MOST_BETA

Velocities are linear in impulses and are extrapolated with the same beta. The next sweep projects
impulses outside their set; the result of the last sweep is not extrapolated. Where a sweep changes
impulses much more than the previous one (the active set changed), beta is 0 once.

A load path through n bodies needs about n sweeps, without acceleration about n^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.solvers.sweeps.simd.layout import LAM, LAYER, SCALES, W

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes, Problem

# lanes.kept of a layer: impulses after the last sweep; normal impulses at the start of this sweep;
# their change by the last sweep. After all layers the same of each contact swept singly.
SWEPT, BEGUN, CHANGE, N_INVARIANTS = 0, 3 * W, 4 * W, 5 * W
SWEPT_ALONE, BEGUN_ALONE, CHANGE_ALONE, N_KEPT_ALONE = 0, 3, 4, 5
# the same of a box row, in lanes.kept_boxes
SWEPT_BOX, BEGUN_BOX, CHANGE_BOX, N_KEPT_BOX = 0, 1, 2, 3
MOST_BETA = 5.0
# in the place of beta: there is no sweep before to extrapolate from
FIRST = -1.0
# no extrapolation after a sweep with more than twice the squared change of the previous one
WORSE = 4.0
# level of a body not reached yet; fewest and most sweeps for the longest load path
FAR = 2**40
LEAST_SWEEPS, MOST_SWEEPS, GROUNDLESS_SWEEPS, SLENDER = 5, 100, 15, 9
# fewest sweeps of joints and of busy steps, and the change that ends those as a share of `busy`:
# impulses of moving bodies change in the next step anyway, those of resting ones start it
JOINT_SWEEPS, BUSY_SWEEPS, CALM = 20, 25, 0.02


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
def begin_groups(lanes: Lanes, first: int, end: int) -> None:
    """Store the impulses of the groups [first, end) before the first sweep."""
    for g in range(first, end):
        at, m, width = lanes.layer[g], N_INVARIANTS * lanes.layers[g], lanes.width[g]
        while at < lanes.begin[g + 1]:
            begin_layer(lanes.data[at : at + LAYER], lanes.kept[m : m + N_INVARIANTS], width)
            at += LAYER
            m += N_INVARIANTS


@kernel
def compare_groups(lanes: Lanes, first: int, end: int) -> None:
    """lanes.sums <- |f|^2 and <f, f of the last sweep> of each layer of the groups [first, end)."""
    for g in range(first, end):
        at, n, width = lanes.layer[g], lanes.layers[g], lanes.width[g]
        while at < lanes.begin[g + 1]:
            m = N_INVARIANTS * n
            c, kept = lanes.data[at : at + LAYER], lanes.kept[m : m + N_INVARIANTS]
            lanes.sums[n, 0], lanes.sums[n, 1] = compare_layer(c, kept, width)
            at += LAYER
            n += 1


@kernel
def carry_groups(lanes: Lanes, beta: float, first: int, end: int) -> None:
    """Extrapolate the impulses of the groups [first, end); FIRST: keep them as they are."""
    for g in range(first, end):
        at, m, width = lanes.layer[g], N_INVARIANTS * lanes.layers[g], lanes.width[g]
        while at < lanes.begin[g + 1]:
            c, kept = lanes.data[at : at + LAYER], lanes.kept[m : m + N_INVARIANTS]
            if beta == FIRST:
                keep_layer(c, kept, width)
            else:
                carry_layer(c, kept, beta, width)
            at += LAYER
            m += N_INVARIANTS


@kernel
def carry_velocities(lanes: Lanes, v: NDArray, beta: float, first: int, end: int) -> None:
    """Extrapolate the velocities of the bodies [first, end) of lanes.moving, as carry_groups.

    Writes  v, lanes.speeds
    """
    for m in range(first, end):
        i = lanes.moving[m]
        for k in range(6):
            x = v[i, k]
            if beta != FIRST:
                v[i, k] += beta * (x - lanes.speeds[i, k])
            lanes.speeds[i, k] = x


@kernel
def begin_singly(problem: Problem, lanes: Lanes) -> None:
    """Store the impulses before the first sweep of all rows that are not in lanes.

    Writes  lanes.kept, kept_boxes
    """
    for i in range(lanes.count[2]):
        lanes.kept_boxes[i, BEGUN_BOX] = problem.lam[i]
    m = N_INVARIANTS * lanes.layers[lanes.count[0]]
    for r in range(lanes.count[1]):
        lanes.kept[m + BEGUN_ALONE] = problem.lam[lanes.rest[r]]
        m += N_KEPT_ALONE


@kernel
def compare(problem: Problem, lanes: Lanes) -> tuple[float, float]:
    """|f|^2 and <f, f of the last sweep> of all rows; the second is void after the first sweep.

    Reads   lanes.sums
    """
    squared, both = 0.0, 0.0
    for i in range(lanes.count[2]):
        change = problem.lam[i] - lanes.kept_boxes[i, BEGUN_BOX]
        squared += problem.diagonal[i] * change * change
        both += problem.diagonal[i] * change * lanes.kept_boxes[i, CHANGE_BOX]
    layers = lanes.layers[lanes.count[0]]
    for n in range(layers):
        squared += lanes.sums[n, 0]
        both += lanes.sums[n, 1]
    m = N_INVARIANTS * layers
    for r in range(lanes.count[1]):
        i = lanes.rest[r]
        change = problem.lam[i] - lanes.kept[m + BEGUN_ALONE]
        squared += problem.diagonal[i] * change * change
        both += problem.diagonal[i] * change * lanes.kept[m + CHANGE_ALONE]
        m += N_KEPT_ALONE
    return squared, both


@kernel
def carry_singly(problem: Problem, lanes: Lanes, beta: float) -> None:
    """Extrapolate the impulses of all rows that are not in lanes, as carry_groups.

    Writes  problem.lam, lanes.kept, kept_boxes
    """
    for i in range(lanes.count[2]):
        kept, x = lanes.kept_boxes[i], problem.lam[i]
        kept[CHANGE_BOX] = x - kept[BEGUN_BOX]
        if beta != FIRST:
            problem.lam[i] += beta * (x - kept[SWEPT_BOX])
        kept[SWEPT_BOX] = x
        kept[BEGUN_BOX] = problem.lam[i]
    m = N_INVARIANTS * lanes.layers[lanes.count[0]]
    for r in range(lanes.count[1]):
        i = lanes.rest[r]
        lanes.kept[m + CHANGE_ALONE] = problem.lam[i] - lanes.kept[m + BEGUN_ALONE]
        for k in range(3):
            x = problem.lam[i + k]
            if beta != FIRST:
                problem.lam[i + k] += beta * (x - lanes.kept[m + SWEPT_ALONE + k])
            lanes.kept[m + SWEPT_ALONE + k] = x
        lanes.kept[m + BEGUN_ALONE] = problem.lam[i]
        m += N_KEPT_ALONE


@kernel
def beta_of(squared: float, both: float, before: float) -> float:
    """The share of the extrapolation; FIRST after the first sweep, when `before` is negative."""
    if before < 0.0:
        return FIRST
    apart = squared - 2.0 * both + before
    if squared > WORSE * before or apart <= 0.0:
        return 0.0
    return float(min(max((both - squared) / apart, 0.0), MOST_BETA))


@kernel
def list_moving(problem: Problem, lanes: Lanes, n: int) -> int:
    """List the movable bodies of the n listed contacts and the box rows; return their number.

    Writes  lanes.moving; lanes.taken: FAR for these, 0 for fixed bodies
    """
    n_boxes = lanes.count[2]
    for k in range(n_boxes + n):
        i = k if k < n_boxes else lanes.listed[k - n_boxes]
        lanes.taken[problem.body_a[i]] = -1
        lanes.taken[problem.body_b[i]] = -1
    moving = 0
    for k in range(n_boxes + n):
        for side in range(2):
            i = k if k < n_boxes else lanes.listed[k - n_boxes]
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
    level, n_boxes = lanes.taken, lanes.count[2]
    n_links = n_boxes + n
    is_backwards, changed = False, True
    while changed:
        changed = False
        for p in range(n_links):
            k = n_links - 1 - p if is_backwards else p
            i = k if k < n_boxes else lanes.listed[k - n_boxes]
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
def sweeps_for(way: int, n: int) -> int:
    """Number of sweeps for load paths of `way` bodies and n contacts.

    Slender stacks converge slowest and get more sweeps.
    """
    if way == 0:
        return GROUNDLESS_SWEEPS
    return min(LEAST_SWEEPS + 3 * way // 4 + SLENDER * way * way // n, MOST_SWEEPS)
