"""Terms of couplings: a joint coordinate, or a curve of it, times a factor."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.model import Joints

# value, first and second derivative by the coordinate
Jet = tuple[float, float, float]


@kernel
def curve_at(piece: NDArray, span: tuple[int, int], period: float, q: float) -> Jet:
    """A curve of cubic pieces at q: the last piece that begins before q, or the first.

    Reads   rows span[0] ... span[1] - 1 of piece
    """
    k, end = span
    if period > 0.0:
        q -= period * math.floor((q - piece[k, 0]) / period)
    while k + 1 < end and piece[k + 1, 0] <= q:
        k += 1
    x = q - piece[k, 0]
    c0, c1, c2, c3 = piece[k, 1], piece[k, 2], piece[k, 3], piece[k, 4]
    return (
        float(c0 + x * (c1 + x * (c2 + x * c3))),
        float(c1 + x * (2.0 * c2 + x * 3.0 * c3)),
        float(2.0 * c2 + x * 6.0 * c3),
    )


@kernel
def is_straight(joints: Joints, t: int) -> bool:
    """Whether term t has no curve."""
    return bool(joints.term_piece[t] == joints.term_piece[t + 1])


@kernel
def term_at(joints: Joints, t: int, q: float) -> Jet:
    """Value of term t of a coupling at the coordinate q, and its derivatives."""
    factor = joints.term_factor[t]
    if is_straight(joints, t):
        return (float(factor * q), float(factor), 0.0)
    span = (joints.term_piece[t], joints.term_piece[t + 1])
    f, slope, second = curve_at(joints.piece, span, joints.term_period[t], q)
    return (float(factor * f), float(factor * slope), float(factor * second))
