"""Scratch for the least-norm reactions of joints in loops."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct


@struct
class LeastReactions(NamedTuple):
    """Reactions that joints of one loop set can bear, and what those of the solver lack."""

    found: NDArray  # (j, 6) N, N m       force and torque on the child at the anchor, W, as the solver left them
    shift: NDArray  # (j, 6) N, N m       what least-norm reactions add to them; 0 outside loops
    place: NDArray  # (n_bodies,) int64   number of a body in the set, -1: it is not moved by it
    joint: NDArray  # (r,) int64          joint of each unit reaction
    unit: NDArray  # (r, 6) -             unit reaction at the anchor: force, torque over the length, W
    effect: NDArray  # (r, 6 b) -         forces and moments over the length that it puts on the bodies of the set
    share: NDArray  # (r,) N              how much of each unit reaction there is, then what balances itself
    column: NDArray  # (r,) -             one direction of the range of `effect`
    along: NDArray  # (6 b,) -            of each column of `effect` along that direction
    square: NDArray  # (6 b,) -           of each column of `effect`, its squared norm
