"""Contacts of this step."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct


@struct
class Contacts(NamedTuple):
    """Contact points, grouped by shape pair; pairs ascend by (shape_a, shape_b), shape_a < shape_b."""

    count: NDArray  # (1,) int64
    dropped: NDArray  # (1,) int64          contacts found beyond the capacity
    body_a: NDArray  # (max,) int64
    body_b: NDArray  # (max,) int64
    shape_a: NDArray  # (max,) int64
    shape_b: NDArray  # (max,) int64
    feature: NDArray  # (max,) int64        identifies the contact of a pair in the next step
    point_W: NDArray  # (max, 3) m          midpoint between the two surfaces
    normal_W: NDArray  # (max, 3) -         unit, from A to B
    gap: NDArray  # (max,) m                >= 0 apart, < 0 penetrating
    facet: NDArray  # (max,) int64          triangle whose smooth surface was met, -1: none
    struck: NDArray  # (max,) int64         1: had an impact separate from the kick
    friction: NDArray  # (max,) -           mu
    restitution: NDArray  # (max,) -
    rolling: NDArray  # (max,) m            lever arm of rolling friction
    spinning: NDArray  # (max,) m           lever arm of friction about the normal
    compliance: NDArray  # (max,) m per N       0: rigid
    damping: NDArray  # (max,) N s/m        of a compliant contact
    patch: (
        NDArray  # (max, 2) m^2, m    share of the contact in the area of its patch, in its length
    )
    hardening: NDArray  # (max,) -          p of force ~ depth^p; 1: a linear spring
    surface_velocity_W: NDArray  # (max, 3) m/s        velocity of B's surface relative to B minus that of A's relative to A
    impulse_W: (
        NDArray  # (max, 3) N s      on B: before the solve the warm start, afterwards the solution
    )
    moment_W: NDArray  # (max, 3) N m s     on B, of spinning and rolling friction: likewise
