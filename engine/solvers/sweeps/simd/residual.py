"""Residual of contacts in lanes: problem/residual.py for several contacts at a time.

Velocities are recomputed from the impulses. Each contact is then measured by its natural map and,
on the round cone, with De Saxce's correction, by the same formulas.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from cardan.engine.compiler.inline import inlined_kernel
from cardan.engine.compiler.kernel import fast_kernel
from cardan.engine.solvers.sweeps.simd.layout import BIAS, CFM, LAM, LAYER, MU, SCALES, W
from cardan.engine.solvers.sweeps.simd.sweep import (
    FOUND,
    WORST,
    along,
    contact_velocity,
    frame,
    load_sides,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Lanes


@inlined_kernel
def natural_error(
    y: tuple[float, float, float], w: tuple[float, float, float], radius: float
) -> tuple[float, float]:
    """Natural maps of a normal, y = D lam, and of its tangents within a radius."""
    z = y[0] - w[0]
    z = z if z > 0.0 else 0.0
    x1, x2 = y[1] - w[1], y[2] - w[2]
    squared = x1 * x1 + x2 * x2
    outside = squared > radius * radius
    share = radius / sqrt(squared if outside else 1.0)
    share = share if outside else 1.0
    e1, e2 = y[1] - share * x1, y[2] - share * x2
    return abs(y[0] - z), sqrt(e1 * e1 + e2 * e2)


@inlined_kernel
def cone_error(y: tuple[float, float, float], w: tuple[float, float, float], mu: float) -> float:
    """| y - P_K(y - u) |,  u = (w_n + mu |w_t|, w_t), see projection.project_cone."""
    n = y[0] - w[0] - mu * sqrt(w[1] * w[1] + w[2] * w[2])
    x1, x2 = y[1] - w[1], y[2] - w[2]
    length = sqrt(x1 * x1 + x2 * x2)
    inside = length <= mu * n
    at_tip = mu * length <= -n
    on = (n + mu * length) / (1.0 + mu * mu)
    on = on if not at_tip else 0.0
    share = mu * on / (length if length > 0.0 else 1.0)
    on = on if not inside else n
    share = share if not inside else 1.0
    e0, e1, e2 = y[0] - on, y[1] - share * x1, y[2] - share * x2
    return sqrt(e0 * e0 + e1 * e1 + e2 * e2)


@fast_kernel
def measure_layer(c: NDArray, s: NDArray, u: NDArray, width: int) -> None:
    """Measure one point of each pair.

    Writes  c: w in the place of the biases; u: the largest errors of each lane so far
    """
    for l in range(width):
        lam = (c[W * LAM + l], c[W * (LAM + 1) + l], c[W * (LAM + 2) + l])
        d, axes = contact_velocity(c, s, u, l), frame(s, l)
        w0 = along(axes[0], d) + c[W * BIAS + l] + c[W * CFM + l] * lam[0]
        w1 = along(axes[1], d) + c[W * (BIAS + 1) + l]
        w = (w0, w1, along(axes[2], d) + c[W * (BIAS + 2) + l])
        D, D_t, mu = c[W * SCALES + l], c[W * (SCALES + 1) + l], s[l + W * MU]
        D_c = D if D_t < D else D_t
        y = (D * lam[0], D_t * lam[1], D_t * lam[2])
        pressed = lam[0] if lam[0] > 0.0 else 0.0
        normal, tangents = natural_error(y, w, D_t * mu * pressed)
        cone = cone_error((D_c * lam[0], D_c * lam[1], D_c * lam[2]), w, mu)
        natural = normal if normal > tangents else tangents
        # NaN counts as larger than every number
        natural = natural if natural == natural else cone
        # a pair with fewer points than others of its group: a layer without a contact
        natural = natural if D != 0.0 else 0.0
        cone = cone if D != 0.0 else 0.0
        f = l + WORST
        u[f] = u[f] if natural <= u[f] else natural
        u[f + W] = u[f + W] if cone <= u[f + W] else cone
        u[l + FOUND] = w[0]
        u[l + (FOUND + W)] = w[1]
        u[l + (FOUND + 2 * W)] = w[2]
    for l in range(width):
        c[l + W * BIAS] = u[l + FOUND]
        c[l + W * (BIAS + 1)] = u[l + (FOUND + W)]
        c[l + W * (BIAS + 2)] = u[l + (FOUND + 2 * W)]


@fast_kernel
def measure_groups(lanes: Lanes, v: NDArray, first: int, end: int) -> None:
    """Measure the groups [first, end).

    Writes  lanes.data: w in the place of the biases, so that lanes must be loaded to sweep again;
            crew.sides: the largest errors of each lane so far
    """
    u, data = lanes.crew.sides, lanes.data
    for g in range(first, end):
        width = lanes.width[g]
        # as in push_groups
        if width > W:
            return
        load_sides(lanes, v, u, g)
        at = lanes.layer[g]
        s = data[lanes.begin[g] : at]
        while at < lanes.begin[g + 1]:
            measure_layer(data[at : at + LAYER], s, u, width)
            at += LAYER
