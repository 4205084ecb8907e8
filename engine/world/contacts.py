"""Contacts of this step."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray


class Contacts(NamedTuple):
    """Contact points, grouped by shape pair; pairs ascend by (shape_a, shape_b), shape_a < shape_b."""

    count: NDArray  # (1,) int64
    dropped: NDArray  # (1,) int64          contacts found beyond the capacity
    body_a: NDArray  # (max,) int64
    body_b: NDArray  # (max,) int64
    shape_a: NDArray  # (max,) int64
    shape_b: NDArray  # (max,) int64
    feature: NDArray  # (max,) int64        same pair, same features in the next step: same contact
    point_W: NDArray  # (max, 3) m          half way between the two surfaces
    normal_W: NDArray  # (max, 3) -         unit, from A to B
    gap: NDArray  # (max,) m                >= 0 apart, < 0 penetrating
    struck: NDArray  # (max,) int64         1: pushed by an impact apart from the kick
    friction: NDArray  # (max,) -           mu
    restitution: NDArray  # (max,) -
    impulse_W: NDArray  # (max, 3) N s      on B: before the solve the guess, afterwards the answer
