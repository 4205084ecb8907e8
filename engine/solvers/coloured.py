"""A projected Gauss-Seidel sweep over groups of eight contacts (lanes.py), friction on the disk.

What pgs.sweep_cones does to one contact is done here to eight at once, in the same arithmetic: the
loops over lanes have no branches and touch no index but their own, so that they become vector
instructions. Their bound is read from memory: a constant would be unrolled before it is vectorised.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from engine.kernel import fast_kernel
from engine.solvers.lanes import (
    AXES,
    BIAS,
    CFM,
    COUPLING,
    GROUP,
    LAM,
    MASSES,
    MU,
    PUSH_A,
    PUSH_B,
    SCALES,
    STEPS,
    TURN_A,
    TURN_B,
    W,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Lanes

# places in the scratch of one group: six velocities of either side
SIDE_A, SIDE_B = 0, 6 * W


@fast_kernel
def load_sides(v: NDArray, a: NDArray, b: NDArray, u: NDArray, width: int) -> None:
    """Velocities of the bodies of a group, side by side."""
    for l in range(width):
        x = v[a[l]]
        y = v[b[l]]
        for k in range(6):
            u[SIDE_A + k * W + l] = x[k]
            u[SIDE_B + k * W + l] = y[k]


@fast_kernel
def store_sides(v: NDArray, a: NDArray, b: NDArray, u: NDArray, width: int) -> None:
    """The velocities back to the bodies."""
    for l in range(width):
        x = v[a[l]]
        y = v[b[l]]
        for k in range(6):
            x[k] = u[SIDE_A + k * W + l]
            y[k] = u[SIDE_B + k * W + l]


@fast_kernel
def along(c: NDArray, u: NDArray, r: int, l: int) -> float:
    """J v of row r of lane l."""
    f = W * 3 * r + l
    linear = c[f + W * AXES] * (u[l + (SIDE_B + 3 * W)] - u[l + (SIDE_A + 3 * W)])
    linear += c[f + W * (AXES + 1)] * (u[l + (SIDE_B + 4 * W)] - u[l + (SIDE_A + 4 * W)])
    linear += c[f + W * (AXES + 2)] * (u[l + (SIDE_B + 5 * W)] - u[l + (SIDE_A + 5 * W)])
    turn = c[f + W * TURN_A] * u[l + SIDE_A] + c[f + W * TURN_B] * u[l + SIDE_B]
    turn += c[f + W * (TURN_A + 1)] * u[l + (SIDE_A + W)]
    turn += c[f + W * (TURN_B + 1)] * u[l + (SIDE_B + W)]
    turn += c[f + W * (TURN_A + 2)] * u[l + (SIDE_A + 2 * W)]
    turn += c[f + W * (TURN_B + 2)] * u[l + (SIDE_B + 2 * W)]
    e = W * r + l
    return linear + turn + c[e + W * BIAS] + c[e + W * CFM] * c[e + W * LAM]


@fast_kernel
def push(c: NDArray, u: NDArray, k: int, l: int, d: tuple[float, float, float]) -> None:
    """Velocities along world axis k of both sides, by the changes d of the three impulses."""
    f = W * k + l
    kick = c[f] * d[0] + c[f + 3 * W] * d[1] + c[f + 6 * W] * d[2]
    u[f + (SIDE_A + 3 * W)] -= c[W * MASSES + l] * kick
    u[f + (SIDE_B + 3 * W)] += c[W * (MASSES + 1) + l] * kick
    p, q = f + W * PUSH_A, f + W * PUSH_B
    u[f + SIDE_A] += c[p] * d[0] + c[p + 3 * W] * d[1] + c[p + 6 * W] * d[2]
    u[f + SIDE_B] += c[q] * d[0] + c[q + 3 * W] * d[1] + c[q + 6 * W] * d[2]


@fast_kernel
def sweep_group(c: NDArray, u: NDArray, worst: NDArray, omega: float, width: int) -> None:
    """One group: normals, then both tangents within mu times the new normal impulse.

    Writes  c (impulses), u (12 W velocities), worst (W,): largest D |change| of a lane so far
    """
    for l in range(width):
        old0, old1, old2 = c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l]
        w0, w1, w2 = along(c, u, 0, l), along(c, u, 1, l), along(c, u, 2, l)
        x = old0 - omega * c[W * STEPS + l] * w0
        x = x if x > 0.0 else 0.0
        d0 = x - old0
        step = omega * c[W * (STEPS + 1) + l]
        y1 = old1 - step * (w1 + c[W * COUPLING + l] * d0)
        y2 = old2 - step * (w2 + c[W * (COUPLING + 1) + l] * d0)
        radius = c[W * MU + l] * x
        squared = y1 * y1 + y2 * y2
        outside = squared > radius * radius
        share = radius / sqrt(squared if outside else 1.0)
        share = share if outside else 1.0
        d1 = share * y1 - old1
        d2 = share * y2 - old2
        c[W * LAM + l] = x
        c[W * (LAM + 1) + l] = old1 + d1
        c[W * (LAM + 2) + l] = old2 + d2
        d = (d0, d1, d2)
        push(c, u, 0, l, d)
        push(c, u, 1, l, d)
        push(c, u, 2, l, d)
        across = abs(d1) if abs(d1) > abs(d2) else abs(d2)
        across *= c[W * (SCALES + 1) + l]
        change = abs(d0) * c[W * SCALES + l]
        change = change if change > across else across
        worst[l] = change if change > worst[l] else worst[l]


@fast_kernel
def push_group(c: NDArray, u: NDArray, width: int) -> None:
    """Velocities by all impulses of a group."""
    for l in range(width):
        d = (c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l])
        push(c, u, 0, l, d)
        push(c, u, 1, l, d)
        push(c, u, 2, l, d)


@fast_kernel
def push_lanes(lanes: Lanes, v: NDArray) -> None:
    """v += M^-1 J^T lam of all lanes."""
    u, data = lanes.sides, lanes.data
    width = lanes.count[2]
    if width > 2 * W:
        return
    for g in range(lanes.count[0]):
        a = lanes.body_a[g * W : g * W + W]
        b = lanes.body_b[g * W : g * W + W]
        load_sides(v, a, b, u, width)
        push_group(data[g * GROUP : g * GROUP + GROUP], u, width)
        store_sides(v, a, b, u, width)


@fast_kernel
def sweep_lanes(lanes: Lanes, v: NDArray, omega: float) -> float:
    """All groups once; returns the largest D |change| [m/s].

    Reads   v (n_bodies + 1, 6) rad/s, m/s   M^-1 J^T lam; a static body's is 0 and stays so
    Source  decision 0065
    Check   tests/engine/solvers/test_lanes.py
    """
    u, worst, data = lanes.sides, lanes.worst, lanes.data
    width = lanes.count[2]
    # it is W; that it is small tells the compiler that no index wraps round
    if width > 2 * W:
        return 0.0
    for l in range(width):
        worst[l] = 0.0
    for g in range(lanes.count[0]):
        a = lanes.body_a[g * W : g * W + W]
        b = lanes.body_b[g * W : g * W + W]
        c = data[g * GROUP : g * GROUP + GROUP]
        load_sides(v, a, b, u, width)
        sweep_group(c, u, worst, omega, width)
        store_sides(v, a, b, u, width)
    largest = 0.0
    for l in range(width):
        largest = worst[l] if worst[l] > largest else largest
    return largest
