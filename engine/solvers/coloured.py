"""A projected Gauss-Seidel sweep over groups of eight pairs (lanes.py), friction on the disk.

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
    LAM,
    LAYER,
    MASSES,
    MU,
    N_SHARED,
    PUSH_A,
    PUSH_B,
    SCALES,
    SHARED,
    STEPS,
    TURN_A,
    TURN_B,
    W,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Lanes

# places in the scratch of one group: six velocities of either side, what its pairs have in common
SIDE_A, SIDE_B, COMMON = 0, 6 * W, 12 * W
N_SIDES = COMMON + SHARED


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
def load_common(s: NDArray, u: NDArray, width: int) -> None:
    """What the pairs of a group have in common beside them."""
    for l in range(width):
        for k in range(N_SHARED):
            u[l + (COMMON + k * W)] = s[l + k * W]


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
    """J v + bias of row r of lane l."""
    f = W * 3 * r + l
    linear = u[f + (COMMON + W * AXES)] * (u[l + (SIDE_B + 3 * W)] - u[l + (SIDE_A + 3 * W)])
    linear += u[f + (COMMON + W * (AXES + 1))] * (u[l + (SIDE_B + 4 * W)] - u[l + (SIDE_A + 4 * W)])
    linear += u[f + (COMMON + W * (AXES + 2))] * (u[l + (SIDE_B + 5 * W)] - u[l + (SIDE_A + 5 * W)])
    turn = c[f + W * TURN_A] * u[l + SIDE_A] + c[f + W * TURN_B] * u[l + SIDE_B]
    turn += c[f + W * (TURN_A + 1)] * u[l + (SIDE_A + W)]
    turn += c[f + W * (TURN_B + 1)] * u[l + (SIDE_B + W)]
    turn += c[f + W * (TURN_A + 2)] * u[l + (SIDE_A + 2 * W)]
    turn += c[f + W * (TURN_B + 2)] * u[l + (SIDE_B + 2 * W)]
    return linear + turn + c[W * r + l + W * BIAS]


@fast_kernel
def push(c: NDArray, u: NDArray, k: int, l: int, d: tuple[float, float, float]) -> None:
    """Velocities along world axis k of both sides, by the changes d of the three impulses."""
    f = W * k + l
    kick = u[f + COMMON] * d[0] + u[f + (COMMON + 3 * W)] * d[1] + u[f + (COMMON + 6 * W)] * d[2]
    u[f + (SIDE_A + 3 * W)] -= u[l + (COMMON + W * MASSES)] * kick
    u[f + (SIDE_B + 3 * W)] += u[l + (COMMON + W * (MASSES + 1))] * kick
    p, q = f + W * PUSH_A, f + W * PUSH_B
    u[f + SIDE_A] += c[p] * d[0] + c[p + 3 * W] * d[1] + c[p + 6 * W] * d[2]
    u[f + SIDE_B] += c[q] * d[0] + c[q + 3 * W] * d[1] + c[q + 6 * W] * d[2]


@fast_kernel
def sweep_layer(c: NDArray, u: NDArray, worst: NDArray, omega: float, width: int) -> None:
    """One point of each pair: normals, then both tangents within mu times the new normal impulse.

    Writes  c (impulses), u (12 W velocities), worst (W,): largest D |change| of a lane so far
    """
    for l in range(width):
        old0, old1, old2 = c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l]
        w0, w1, w2 = along(c, u, 0, l), along(c, u, 1, l), along(c, u, 2, l)
        w0 += c[W * CFM + l] * old0
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
def push_layer(c: NDArray, u: NDArray, width: int) -> None:
    """Velocities by all impulses of a layer."""
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
        at = lanes.begin[g]
        load_common(data[at : at + SHARED], u, width)
        at += SHARED
        while at < lanes.begin[g + 1]:
            push_layer(data[at : at + LAYER], u, width)
            at += LAYER
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
        load_sides(v, a, b, u, width)
        at = lanes.begin[g]
        load_common(data[at : at + SHARED], u, width)
        at += SHARED
        while at < lanes.begin[g + 1]:
            sweep_layer(data[at : at + LAYER], u, worst, omega, width)
            at += LAYER
        store_sides(v, a, b, u, width)
    largest = 0.0
    for l in range(width):
        largest = worst[l] if worst[l] > largest else largest
    return largest
