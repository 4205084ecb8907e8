"""Contacts in lanes (packing.py) as soft rows of substeps (solvers/substeps/solver.py).

Beside the numbers of packing.py each contact has these; layers of all groups follow one another,
and
field f of lane l of layer k stands at k BLOCK + f W + l:

    SPEED      J v before the kick; tangents: with the speed of the surfaces
    GAIN       J (v_free - v) of one substep
    TOTAL      impulses of the substeps so far
    GAP        where the kick of the step is [m]
    SOFT       gamma
    SOFT_STEP  1/(D + gamma);   HARD_STEP  1/D
    REBOUND    speed at which a struck contact parts [m/s]
    AIM        velocity that the gap asks for
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import fast_kernel, kernel
from cardan.engine.solvers.sweeps.simd.layout import BIAS, CFM, LAM, LAYER, POINTS, SCALES, STEPS, W
from cardan.engine.solvers.sweeps.simd.sweep import along, frame, load_sides, parting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.solvers.substeps.softness import Softness
    from cardan.engine.world.problem import Lanes
    from cardan.engine.world.rows import Rows
    from cardan.engine.world.substeps import Substeps

SPEED, GAIN, TOTAL, GAP, SOFT, SOFT_STEP, HARD_STEP, REBOUND, AIM = 0, 3, 6, 9, 10, 11, 12, 13, 14
N_SOFT = 15
BLOCK = W * N_SOFT

# when a substep has its kick: its number from 1; time from the kick of the step [s]; how far one
# unit of `gain` has led until then [s]; 1 where impulses of a substep before stand in the lanes
Moment = tuple[float, float, float, float]


@kernel
def write_soft_point(
    rows: Rows, steps: Substeps, i: int, D: float, compliance: float, at: int
) -> None:
    """Numbers of the contact with normal row i, -1: of nothing, from steps.lanes[at] on."""
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
    """How many layers group g has."""
    return (lanes.begin[g + 1] - lanes.layer[g]) // LAYER


@kernel
def write_soft_lanes(rows: Rows, steps: Substeps, lanes: Lanes, soft: Softness) -> None:
    """Numbers of all contacts in lanes.

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
    """One layer of aim_lanes, whose sides are displaced by u."""
    h, rate, fastest = soft
    number, time, reach, counted = moment
    for l in range(width):
        gap = s[l + W * GAP] + time * s[l + W * SPEED] + reach * s[l + W * GAIN]
        gap += along(frame(shared, l)[0], parting(c, shared, u, l))
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
    """What contacts in lanes ask for in a substep, soft.

    Writes  lanes.data, steps.lanes
    """
    u = lanes.sides
    scalars = (soft.h, soft.rate, soft.fastest)
    of = 0
    for g in range(lanes.count[0]):
        width = lanes.width[g]
        # as in coloured.push_lanes
        if width > W:
            return
        load_sides(lanes, steps.moved, g)
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
    """What contacts in lanes ask for without correction: not to close, and to rebound if asked.

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
    """Impulses of all substeps of the contacts in lanes, the last one's among them.

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
