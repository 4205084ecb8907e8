"""A projected Gauss-Seidel sweep over groups of sixteen pairs (packing.py), friction on the disk.

    d = v_b + w_b x r_b - v_a - w_a x r_a        relative velocity, once for three rows
    w = (n . d, t1 . d, t2 . d) + bias           + cfm lam_n
    p = n d_n + t1 d_1 + t2 d_2                  by the changes of the three impulses
    v_a -= p/m_a,  w_a -= I_a^-1 (r_a x p),      b likewise, positive

The operations are those of pgs.sweep_cones for VECTOR contacts at once. Loops over lanes have no
branches, call only inlined functions and touch only their own index, so that LLVM vectorises them.
The bound is read from memory, because LLVM unrolls a constant loop before it vectorises. Apart from
the layer, which is only read while velocities are written, loops use at most two arrays: with more,
the overlap checks exceed LLVM's limit and the loop stays scalar.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from cardan.engine.compiler.inline import inlined_kernel
from cardan.engine.compiler.kernel import fast_kernel
from cardan.engine.solvers.sweeps.simd.layout import (
    APART,
    ARM,
    AXES,
    BIAS,
    CFM,
    COUPLING,
    HALF,
    INERTIA,
    LAM,
    LAYER,
    MASSES,
    MU,
    POINTS,
    ROUND_SHARED,
    SCALES,
    STEPS,
    W,
)
from cardan.engine.solvers.sweeps.simd.transpose import load_rows, store_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes

# offsets in the scratch of a group: six velocity components of either side; the largest change, or
# two errors, of each lane, which persist across groups; temporaries of a layer
SIDE_A, SIDE_B, WORST, FOUND = 0, 6 * W, 12 * W, 14 * W
N_SIDES = 17 * W
# and in the data shared by the points of a pair
INERTIA_A, INERTIA_B, ROUND_B = W * INERTIA, W * (INERTIA + 6), W * (INERTIA + 1)

Triple = tuple[float, float, float]
Frame = tuple[Triple, Triple, Triple]


@fast_kernel
def load_sides(lanes: Lanes, v: NDArray, u: NDArray, g: int) -> None:
    """Load the velocities of the bodies of a group into lanes."""
    for l in range(0, lanes.width[g], HALF):
        first = g * W + l
        load_rows(v, lanes.body_a[first : first + HALF], u, SIDE_A + l)
        load_rows(v, lanes.body_b[first : first + HALF], u, SIDE_B + l)


@fast_kernel
def store_sides(lanes: Lanes, v: NDArray, u: NDArray, g: int) -> None:
    """Store the velocities of a group to its bodies."""
    for l in range(0, lanes.width[g], HALF):
        first = g * W + l
        store_rows(v, lanes.body_a[first : first + HALF], u, SIDE_A + l)
        store_rows(v, lanes.body_b[first : first + HALF], u, SIDE_B + l)


@inlined_kernel
def arms(c: NDArray, s: NDArray, l: int) -> tuple[Triple, Triple]:
    """r_a, r_b of lane l."""
    x, y, z = c[l + W * ARM], c[l + W * (ARM + 1)], c[l + W * (ARM + 2)]
    f = l + W * APART
    return (x, y, z), (x + s[f], y + s[f + W], z + s[f + 2 * W])


@inlined_kernel
def contact_velocity(c: NDArray, s: NDArray, u: NDArray, l: int) -> Triple:
    """Velocity of the point of body b relative to that of a, v_b + w_b x r_b - v_a - w_a x r_a."""
    r, q = arms(c, s, l)
    f, g, h = u[l + SIDE_A], u[l + (SIDE_A + W)], u[l + (SIDE_A + 2 * W)]
    x = u[l + (SIDE_B + 3 * W)] - u[l + (SIDE_A + 3 * W)] - (g * r[2] - h * r[1])
    y = u[l + (SIDE_B + 4 * W)] - u[l + (SIDE_A + 4 * W)] - (h * r[0] - f * r[2])
    z = u[l + (SIDE_B + 5 * W)] - u[l + (SIDE_A + 5 * W)] - (f * r[1] - g * r[0])
    f, g, h = u[l + SIDE_B], u[l + (SIDE_B + W)], u[l + (SIDE_B + 2 * W)]
    return x + (g * q[2] - h * q[1]), y + (h * q[0] - f * q[2]), z + (f * q[1] - g * q[0])


@inlined_kernel
def frame(s: NDArray, l: int) -> Frame:
    """n, t1, t2 of lane l."""
    f, g = l + W * AXES, l + W * (AXES + 3)
    n, t = (s[f], s[f + W], s[f + 2 * W]), (s[g], s[g + W], s[g + 2 * W])
    x, y = n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2]
    return n, t, (x, y, n[0] * t[1] - n[1] * t[0])


@inlined_kernel
def along(axis: Triple, x: Triple) -> float:
    """Component of x along an axis."""
    return axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2]


@inlined_kernel
def in_world_axes(axes: Frame, d: Triple) -> Triple:
    """The vector with components d along three axes, in world axes."""
    n, t, b = axes
    return (
        n[0] * d[0] + t[0] * d[1] + b[0] * d[2],
        n[1] * d[0] + t[1] * d[1] + b[1] * d[2],
        n[2] * d[0] + t[2] * d[1] + b[2] * d[2],
    )


@inlined_kernel
def spin_change(s: NDArray, l: int, inertia: int, r: Triple, p: Triple) -> Triple:
    """I^-1 (r x p) of one side of lane l: INERTIA_A or INERTIA_B."""
    f = l + inertia
    xy, xz, yz = s[f + 3 * W], s[f + 4 * W], s[f + 5 * W]
    x, y, z = r[1] * p[2] - r[2] * p[1], r[2] * p[0] - r[0] * p[2], r[0] * p[1] - r[1] * p[0]
    return (
        s[f] * x + xy * y + xz * z,
        xy * x + s[f + W] * y + yz * z,
        xz * x + yz * y + s[f + 2 * W] * z,
    )


@inlined_kernel
def spin_change_round(s: NDArray, l: int, inertia: int, r: Triple, p: Triple) -> Triple:
    """The spin_change of a round body; inertia: INERTIA_A or ROUND_B."""
    share = s[l + inertia]
    x, y, z = share * p[0], share * p[1], share * p[2]
    return r[1] * z - r[2] * y, r[2] * x - r[0] * z, r[0] * y - r[1] * x


@inlined_kernel
def change_velocities(
    s: NDArray, u: NDArray, l: int, p: Triple, spins: tuple[Triple, Triple]
) -> None:
    """Update both velocities of lane l by an impulse p and its changes of angular velocity."""
    mass_a, mass_b = s[l + W * MASSES], s[l + W * (MASSES + 1)]
    for k in range(3):
        f = l + W * k
        u[f + SIDE_A] -= spins[0][k]
        u[f + SIDE_B] += spins[1][k]
        u[f + (SIDE_A + 3 * W)] -= mass_a * p[k]
        u[f + (SIDE_B + 3 * W)] += mass_b * p[k]


@inlined_kernel
def apply_impulse(c: NDArray, s: NDArray, u: NDArray, l: int, p: Triple) -> None:
    """Update both velocities of lane l by an impulse p."""
    r, q = arms(c, s, l)
    spins = (spin_change(s, l, INERTIA_A, r, p), spin_change(s, l, INERTIA_B, q, p))
    change_velocities(s, u, l, p, spins)


@inlined_kernel
def apply_impulse_round(c: NDArray, s: NDArray, u: NDArray, l: int, p: Triple) -> None:
    """Apply an impulse as apply_impulse does, to round bodies."""
    r, q = arms(c, s, l)
    spins = (spin_change_round(s, l, INERTIA_A, r, p), spin_change_round(s, l, ROUND_B, q, p))
    change_velocities(s, u, l, p, spins)


@inlined_kernel
def change_contact(c: NDArray, s: NDArray, u: NDArray, omega: float, l: int) -> Triple:
    """Sweep the contact of lane l: the normal, then both tangents within mu times its new impulse.

    Writes  u: the new impulses, the largest D |change| of the lane so far
    Returns the change of the contact's impulse in world axes [N s]
    """
    old0, old1, old2 = c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l]
    d, axes = contact_velocity(c, s, u, l), frame(s, l)
    w0 = along(axes[0], d) + c[W * BIAS + l] + c[W * CFM + l] * old0
    w1 = along(axes[1], d) + c[W * (BIAS + 1) + l]
    w2 = along(axes[2], d) + c[W * (BIAS + 2) + l]
    x = old0 - omega * c[W * STEPS + l] * w0
    x = x if x > 0.0 else 0.0
    d0 = x - old0
    step = omega * c[W * (STEPS + 1) + l]
    y1 = old1 - step * (w1 + c[W * COUPLING + l] * d0)
    y2 = old2 - step * (w2 + c[W * (COUPLING + 1) + l] * d0)
    radius = s[l + W * MU] * x
    squared = y1 * y1 + y2 * y2
    outside = squared > radius * radius
    share = radius / sqrt(squared if outside else 1.0)
    share = share if outside else 1.0
    d1 = share * y1 - old1
    d2 = share * y2 - old2
    u[l + FOUND] = x
    u[l + (FOUND + W)] = old1 + d1
    u[l + (FOUND + 2 * W)] = old2 + d2
    across = abs(d1) if abs(d1) > abs(d2) else abs(d2)
    across *= c[W * (SCALES + 1) + l]
    change = abs(d0) * c[W * SCALES + l]
    change = change if change > across else across
    u[l + WORST] = change if change > u[l + WORST] else u[l + WORST]
    return in_world_axes(axes, (d0, d1, d2))


@fast_kernel
def sweep_layer(c: NDArray, s: NDArray, u: NDArray, omega: float, width: int) -> None:
    """Sweep one point of each pair of a group."""
    if s.shape[0] == ROUND_SHARED:
        for l in range(width):
            apply_impulse_round(c, s, u, l, change_contact(c, s, u, omega, l))
    else:
        for l in range(width):
            apply_impulse(c, s, u, l, change_contact(c, s, u, omega, l))
    for l in range(width):
        c[l + W * LAM] = u[l + FOUND]
        c[l + W * (LAM + 1)] = u[l + (FOUND + W)]
        c[l + W * (LAM + 2)] = u[l + (FOUND + 2 * W)]


@inlined_kernel
def contact_impulse(c: NDArray, s: NDArray, l: int) -> Triple:
    """The impulse of lane l in world axes [N s]."""
    return in_world_axes(frame(s, l), (c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l]))


@fast_kernel
def push_layer(c: NDArray, s: NDArray, u: NDArray, width: int) -> None:
    """Add the velocity changes of all impulses of a layer."""
    if s.shape[0] == ROUND_SHARED:
        for l in range(width):
            apply_impulse_round(c, s, u, l, contact_impulse(c, s, l))
    else:
        for l in range(width):
            apply_impulse(c, s, u, l, contact_impulse(c, s, l))


@fast_kernel
def push_groups(lanes: Lanes, v: NDArray, first: int, end: int) -> None:
    """v += M^-1 J^T lam of the groups [first, end)."""
    u, data = lanes.crew.sides, lanes.data
    for g in range(first, end):
        width = lanes.width[g]
        # never taken; the bound lets the compiler exclude index overflow
        if width > W:
            return
        load_sides(lanes, v, u, g)
        at = lanes.layer[g]
        s = data[lanes.begin[g] : at]
        while at < lanes.begin[g + 1]:
            push_layer(data[at : at + LAYER], s, u, width)
            at += LAYER
        store_sides(lanes, v, u, g)


@fast_kernel
def sweep_groups(lanes: Lanes, v: NDArray, omega: float, first: int, end: int) -> None:
    """Sweep the groups [first, end) once.

    Writes  crew.sides: the largest D |change| of each lane so far
            v (n_bodies + 1, 6) rad/s, m/s   M^-1 J^T lam, 0 of static bodies
    """
    u, data = lanes.crew.sides, lanes.data
    for g in range(first, end):
        load_sides(lanes, v, u, g)
        at, layer = lanes.layer[g], g * POINTS
        s = data[lanes.begin[g] : at]
        while at < lanes.begin[g + 1]:
            width = lanes.used[layer]
            # as in push_groups
            if width > W:
                return
            sweep_layer(data[at : at + LAYER], s, u, omega, width)
            at += LAYER
            layer += 1
        store_sides(lanes, v, u, g)
