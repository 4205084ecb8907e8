"""Soft contacts in lanes (packing.py) for the substeps of solvers/substeps/solver.py.

Each contact has these fields in addition to those of layout.py; layers of all groups are
consecutive, and field f of lane l of layer k is at k BLOCK + f W + l:

    SPEED      J v before the kick; tangents: with the speed of the surfaces
    GAIN       J (v_free - v) of one substep
    TOTAL      impulses of the substeps so far
    GAP        at the kick of the step [m]
    SOFT       gamma
    SOFT_STEP  1/(D + gamma);   HARD_STEP  1/D
    REBOUND    separation speed after an impact [m/s]
    AIM        target velocity from the gap
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.solvers.sweeps.simd.layout import BIAS, CFM, LAM, LAYER, POINTS, SCALES, STEPS, W
from cardan.engine.solvers.sweeps.simd.sweep import (
    along,
    contact_velocity,
    frame,
    load_sides,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.solvers.substeps.softness import Softness
    from cardan.engine.world.problem import Lanes
    from cardan.engine.world.rows import Rows
    from cardan.engine.world.substeps import Substeps

SPEED, GAIN, TOTAL, GAP, SOFT, SOFT_STEP, HARD_STEP, REBOUND, AIM = 0, 3, 6, 9, 10, 11, 12, 13, 14
N_SOFT = 15
BLOCK = W * N_SOFT

# the kick of a substep: its number from 1; time from the kick of the step [s]; displacement per
# unit of `gain` until then [s]; 1 where the lanes hold impulses of the previous substep
Moment = tuple[float, float, float, float]


@kernel
def write_soft_point(
    rows: Rows, steps: Substeps, i: int, D: float, compliance: float, at: int
) -> None:
    """Write the fields of the contact with normal row i (-1: empty), from steps.lanes[at] on."""
    out = steps.lanes
    for f in range(N_SOFT):
        out[at + W * f] = 0.0
    if i < 0:
        return
    for r in range(3):
        surface_velocity = rows.bias[i + r] if r > 0 else 0.0
        out[at + W * (SPEED + r)] = steps.speed[i + r] + surface_velocity
        out[at + W * (GAIN + r)] = steps.gain[i + r]
    gamma = D * compliance
    out[at + W * GAP] = rows.error[i]
    out[at + W * SOFT] = gamma
    out[at + W * HARD_STEP] = 1.0 / D if D > 0.0 else 0.0
    out[at + W * SOFT_STEP] = 1.0 / (D + gamma) if D > 0.0 else 0.0
    out[at + W * REBOUND] = rows.rebound[i]


@kernel
def layers_of(lanes: Lanes, g: int) -> int:
    """Number of layers of group g."""
    return (lanes.begin[g + 1] - lanes.layer[g]) // LAYER


@kernel
def write_soft_lanes(rows: Rows, steps: Substeps, lanes: Lanes, soft: Softness) -> None:
    """Write the fields of all contacts in lanes.

    Writes  steps.lanes
    """
    layer = 0
    for g in range(lanes.count[0]):
        layers = layers_of(lanes, g)
        for l in range(W):
            is_point = True
            for p in range(layers):
                i = lanes.row[(g * W + l) * POINTS + p] if is_point else -1
                is_point = i >= 0
                D = lanes.data[lanes.layer[g] + p * LAYER + W * SCALES + l]
                at = (layer + p) * BLOCK + l
                write_soft_point(rows, steps, i, D, soft.compliance, at)
        layer += layers


@fast_kernel
def aim_layer(
    c: NDArray,
    shared: NDArray,
    s: NDArray,
    u: NDArray,
    soft: tuple[float, float, float],
    moment: Moment,
    width: int,
) -> None:
    """One layer of aim_lanes; u: displacements of both sides."""
    h, rate, fastest = soft
    number, time, reach, counted = moment
    for l in range(width):
        gap = s[l + W * GAP] + time * s[l + W * SPEED] + reach * s[l + W * GAIN]
        gap += along(frame(shared, l)[0], contact_velocity(c, shared, u, l))
        push = rate * gap
        push = -fastest if push < -fastest else push
        is_open = gap > 0.0
        aim = gap / h if is_open else push
        s[l + W * AIM] = aim
        c[l + W * STEPS] = s[l + W * HARD_STEP] if is_open else s[l + W * SOFT_STEP]
        c[l + W * CFM] = 0.0 if is_open else s[l + W * SOFT]
        c[l + W * BIAS] = s[l + W * SPEED] + number * s[l + W * GAIN] + aim
        for r in range(1, 3):
            c[l + W * (BIAS + r)] = s[l + W * (SPEED + r)] + number * s[l + W * (GAIN + r)]
        for r in range(3):
            s[l + W * (TOTAL + r)] += counted * c[l + W * (LAM + r)]


@fast_kernel
def aim_lanes(steps: Substeps, lanes: Lanes, soft: Softness, moment: Moment) -> None:
    """Write the soft targets of contacts in lanes in a substep.

    Writes  lanes.data, steps.lanes
    """
    u = lanes.crew.sides
    scalars = (soft.h, soft.rate, soft.fastest)
    of = 0
    for g in range(lanes.count[0]):
        width = lanes.width[g]
        # as in sweep.push_lanes
        if width > W:
            return
        load_sides(lanes, steps.moved, u, g)
        at = lanes.layer[g]
        shared = lanes.data[lanes.begin[g] : at]
        while at < lanes.begin[g + 1]:
            s = steps.lanes[of : of + BLOCK]
            aim_layer(lanes.data[at : at + LAYER], shared, s, u, scalars, moment, width)
            at += LAYER
            of += BLOCK


@fast_kernel
def relax_layer(c: NDArray, s: NDArray, number: float, rebounds: bool, width: int) -> None:
    """One layer of relax_lanes."""
    for l in range(width):
        aim = s[l + W * AIM] if s[l + W * AIM] > 0.0 else 0.0
        struck = rebounds and s[l + W * REBOUND] > 0.0
        struck = struck and s[l + W * TOTAL] + c[l + W * LAM] > 0.0
        aim = -s[l + W * REBOUND] if struck else aim
        c[l + W * BIAS] = s[l + W * SPEED] + number * s[l + W * GAIN] + aim
        c[l + W * CFM] = 0.0
        c[l + W * STEPS] = s[l + W * HARD_STEP]


@fast_kernel
def relax_lanes(steps: Substeps, lanes: Lanes, number: float, rebounds: bool) -> None:
    """Write targets without position correction: no approach; the rebound with `rebounds`.

    Writes  lanes.data
    """
    of = 0
    for g in range(lanes.count[0]):
        width = lanes.width[g]
        if width > W:
            return
        at = lanes.layer[g]
        while at < lanes.begin[g + 1]:
            s = steps.lanes[of : of + BLOCK]
            relax_layer(lanes.data[at : at + LAYER], s, number, rebounds, width)
            at += LAYER
            of += BLOCK


@kernel
def store_totals(steps: Substeps, lanes: Lanes, lam: NDArray) -> None:
    """Write the sums of the impulses of all substeps, including the last, of contacts in lanes.

    Writes  lam of their rows
    """
    layer = 0
    for g in range(lanes.count[0]):
        layers = layers_of(lanes, g)
        for l in range(W):
            for p in range(layers):
                i = lanes.row[(g * W + l) * POINTS + p]
                if i < 0:
                    break
                at = lanes.layer[g] + p * LAYER + W * LAM + l
                of = (layer + p) * BLOCK + W * TOTAL + l
                for r in range(3):
                    lam[i + r] = steps.lanes[of + W * r] + lanes.data[at + W * r]
        layer += layers
