"""A projected Gauss-Seidel sweep over groups of eight pairs (lanes.py), friction on the disk.

What pgs.sweep_cones does to one contact is done here to eight at once, in the same arithmetic: the
loops over lanes have no branches and touch no index but their own, so that they become vector
instructions. Their bound is read from memory: a constant would be unrolled before it is vectorised.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from engine.kernel import fast_kernel
from engine.solvers.lane_layout import (
    APART,
    ARM,
    AXES,
    BIAS,
    CFM,
    COUPLING,
    INERTIA,
    LAM,
    LAYER,
    MASSES,
    MU,
    ROUND_SHARED,
    SCALES,
    STEPS,
    W,
)
from engine.solvers.transposed import load_rows, store_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Lanes

# places in the scratch of one group: six velocities of either side, then what its pairs have in
# common, inertias of round bodies too as six numbers
SIDE_A, SIDE_B, COMMON = 0, 6 * W, 12 * W
N_COMMON = INERTIA + 12
NORMAL, TANGENT, MASS_A, MASS_B = COMMON, COMMON + 3 * W, COMMON + MASSES * W, COMMON + 7 * W
BETWEEN, FRICTION = COMMON + APART * W, COMMON + MU * W
INERTIA_A, INERTIA_B = COMMON + INERTIA * W, COMMON + (INERTIA + 6) * W
# and the second tangent
BINORMAL = COMMON + N_COMMON * W
N_SIDES = BINORMAL + 3 * W

Triple = tuple[float, float, float]


@fast_kernel
def load_sides(v: NDArray, a: NDArray, b: NDArray, u: NDArray) -> None:
    """Velocities of the bodies of a group, side by side."""
    load_rows(v, a, u, SIDE_A)
    load_rows(v, b, u, SIDE_B)


@fast_kernel
def load_common(s: NDArray, u: NDArray, width: int) -> None:
    """What the pairs of a group have in common beside them."""
    if s.shape[0] == ROUND_SHARED:
        for l in range(width):
            for k in range(INERTIA):
                u[l + (COMMON + k * W)] = s[l + k * W]
            for k in range(3):
                u[l + (INERTIA_A + k * W)] = s[l + INERTIA * W]
                u[l + (INERTIA_B + k * W)] = s[l + (INERTIA + 1) * W]
                u[l + (INERTIA_A + (3 + k) * W)] = 0.0
                u[l + (INERTIA_B + (3 + k) * W)] = 0.0
    else:
        for l in range(width):
            for k in range(N_COMMON):
                u[l + (COMMON + k * W)] = s[l + k * W]
    for l in range(width):
        x, y, z = u[l + NORMAL], u[l + (NORMAL + W)], u[l + (NORMAL + 2 * W)]
        e, f, g = u[l + TANGENT], u[l + (TANGENT + W)], u[l + (TANGENT + 2 * W)]
        u[l + BINORMAL] = y * g - z * f
        u[l + (BINORMAL + W)] = z * e - x * g
        u[l + (BINORMAL + 2 * W)] = x * f - y * e


@fast_kernel
def store_sides(v: NDArray, a: NDArray, b: NDArray, u: NDArray) -> None:
    """The velocities back to the bodies; of one that is there twice, nothing, they stay."""
    store_rows(v, a, u, SIDE_A)
    store_rows(v, b, u, SIDE_B)


@fast_kernel
def arms(c: NDArray, u: NDArray, l: int) -> tuple[Triple, Triple]:
    """r_a, r_b of lane l."""
    x, y, z = c[l + W * ARM], c[l + W * (ARM + 1)], c[l + W * (ARM + 2)]
    far = (x + u[l + BETWEEN], y + u[l + (BETWEEN + W)], z + u[l + (BETWEEN + 2 * W)])
    return (x, y, z), far


@fast_kernel
def parting(c: NDArray, u: NDArray, l: int) -> Triple:
    """Velocity of the point of body b against that of body a, v_b + w_b x r_b - v_a - w_a x r_a."""
    r, s = arms(c, u, l)
    p, q, w = u[l + SIDE_A], u[l + (SIDE_A + W)], u[l + (SIDE_A + 2 * W)]
    f, g, h = u[l + SIDE_B], u[l + (SIDE_B + W)], u[l + (SIDE_B + 2 * W)]
    x = u[l + (SIDE_B + 3 * W)] - u[l + (SIDE_A + 3 * W)]
    y = u[l + (SIDE_B + 4 * W)] - u[l + (SIDE_A + 4 * W)]
    z = u[l + (SIDE_B + 5 * W)] - u[l + (SIDE_A + 5 * W)]
    x += g * s[2] - h * s[1] - (q * r[2] - w * r[1])
    y += h * s[0] - f * s[2] - (w * r[0] - p * r[2])
    z += f * s[1] - g * s[0] - (p * r[1] - q * r[0])
    return x, y, z


@fast_kernel
def along(u: NDArray, axis: int, l: int, x: Triple) -> float:
    """The part of x along an axis of lane l: NORMAL, TANGENT or BINORMAL."""
    f = l + axis
    return u[f] * x[0] + u[f + W] * x[1] + u[f + 2 * W] * x[2]


@fast_kernel
def turn(u: NDArray, l: int, inertia: int, x: Triple) -> Triple:
    """I^-1 x of one side of lane l: INERTIA_A or INERTIA_B."""
    f = l + inertia
    xy, xz, yz = u[f + 3 * W], u[f + 4 * W], u[f + 5 * W]
    return (
        u[f] * x[0] + xy * x[1] + xz * x[2],
        xy * x[0] + u[f + W] * x[1] + yz * x[2],
        xz * x[0] + yz * x[1] + u[f + 2 * W] * x[2],
    )


@fast_kernel
def push(c: NDArray, u: NDArray, l: int, d: Triple) -> None:
    """Velocities of both sides of lane l, by the changes d of its three impulses."""
    n, t, b = l + NORMAL, l + TANGENT, l + BINORMAL
    x = u[n] * d[0] + u[t] * d[1] + u[b] * d[2]
    y = u[n + W] * d[0] + u[t + W] * d[1] + u[b + W] * d[2]
    z = u[n + 2 * W] * d[0] + u[t + 2 * W] * d[1] + u[b + 2 * W] * d[2]
    r, s = arms(c, u, l)
    p = turn(u, l, INERTIA_A, (r[1] * z - r[2] * y, r[2] * x - r[0] * z, r[0] * y - r[1] * x))
    q = turn(u, l, INERTIA_B, (s[1] * z - s[2] * y, s[2] * x - s[0] * z, s[0] * y - s[1] * x))
    u[l + SIDE_A] -= p[0]
    u[l + (SIDE_A + W)] -= p[1]
    u[l + (SIDE_A + 2 * W)] -= p[2]
    u[l + SIDE_B] += q[0]
    u[l + (SIDE_B + W)] += q[1]
    u[l + (SIDE_B + 2 * W)] += q[2]
    mass_a, mass_b = u[l + MASS_A], u[l + MASS_B]
    u[l + (SIDE_A + 3 * W)] -= mass_a * x
    u[l + (SIDE_A + 4 * W)] -= mass_a * y
    u[l + (SIDE_A + 5 * W)] -= mass_a * z
    u[l + (SIDE_B + 3 * W)] += mass_b * x
    u[l + (SIDE_B + 4 * W)] += mass_b * y
    u[l + (SIDE_B + 5 * W)] += mass_b * z


@fast_kernel
def sweep_layer(c: NDArray, u: NDArray, worst: NDArray, omega: float, width: int) -> None:
    """One point of each pair: normals, then both tangents within mu times the new normal impulse.

    Writes  c (impulses), u (12 W velocities), worst (W,): largest D |change| of a lane so far
    """
    for l in range(width):
        old0, old1, old2 = c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l]
        d = parting(c, u, l)
        w0 = along(u, NORMAL, l, d) + c[W * BIAS + l] + c[W * CFM + l] * old0
        w1 = along(u, TANGENT, l, d) + c[W * (BIAS + 1) + l]
        w2 = along(u, BINORMAL, l, d) + c[W * (BIAS + 2) + l]
        x = old0 - omega * c[W * STEPS + l] * w0
        x = x if x > 0.0 else 0.0
        d0 = x - old0
        step = omega * c[W * (STEPS + 1) + l]
        y1 = old1 - step * (w1 + c[W * COUPLING + l] * d0)
        y2 = old2 - step * (w2 + c[W * (COUPLING + 1) + l] * d0)
        radius = u[l + FRICTION] * x
        squared = y1 * y1 + y2 * y2
        outside = squared > radius * radius
        share = radius / sqrt(squared if outside else 1.0)
        share = share if outside else 1.0
        d1 = share * y1 - old1
        d2 = share * y2 - old2
        c[W * LAM + l] = x
        c[W * (LAM + 1) + l] = old1 + d1
        c[W * (LAM + 2) + l] = old2 + d2
        push(c, u, l, (d0, d1, d2))
        across = abs(d1) if abs(d1) > abs(d2) else abs(d2)
        across *= c[W * (SCALES + 1) + l]
        change = abs(d0) * c[W * SCALES + l]
        change = change if change > across else across
        worst[l] = change if change > worst[l] else worst[l]


@fast_kernel
def push_layer(c: NDArray, u: NDArray, width: int) -> None:
    """Velocities by all impulses of a layer."""
    for l in range(width):
        push(c, u, l, (c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l]))


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
        load_sides(v, a, b, u)
        at = lanes.layer[g]
        load_common(data[lanes.begin[g] : at], u, width)
        while at < lanes.begin[g + 1]:
            push_layer(data[at : at + LAYER], u, width)
            at += LAYER
        store_sides(v, a, b, u)


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
        load_sides(v, a, b, u)
        at = lanes.layer[g]
        load_common(data[lanes.begin[g] : at], u, width)
        while at < lanes.begin[g + 1]:
            sweep_layer(data[at : at + LAYER], u, worst, omega, width)
            at += LAYER
        store_sides(v, a, b, u)
    largest = 0.0
    for l in range(width):
        largest = worst[l] if worst[l] > largest else largest
    return largest
