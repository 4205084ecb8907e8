"""Constraint rows before they become a Problem, and what each of them is for."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

# what a row is for: decides where its work is booked and to which joint force it counts
ROW_EQUATION, ROW_LIMIT, ROW_MOTOR, ROW_FRICTION, ROW_SPRING, ROW_GRAB = 0, 1, 2, 3, 4, 5
ROW_NORMAL, ROW_TANGENT, ROW_ELEMENT = 6, 7, 8

# slots of a joint's impulses (state.joint_lam); 0-5 are the equations
SLOT_LOWER, SLOT_UPPER, SLOT_MOTOR, SLOT_FRICTION, SLOT_SPRING, SLOT_DAMPING, N_SLOTS = (
    6,
    8,
    10,
    12,
    14,
    15,
    18,
)


class Rows(NamedTuple):
    """One row each: lo <= lam <= hi drives J v + bias + cfm lam to zero (angular columns first)."""

    count: NDArray  # (2,) int64              all rows, rows before the contacts
    share: NDArray  # (1,) -                  of the scene's step that these rows are for: errors are corrected per step
    kind: NDArray  # (max,) int64             ROW_EQUATION ...
    joint: NDArray  # (max,) int64            joint it belongs to, or -1
    slot: NDArray  # (max,) int64             which of the joint's impulse slots, the contact, or the force element
    axis: NDArray  # (max,) int64             joint axis 0 or 1 of limits, motors, friction, springs
    body_a: NDArray  # (max,) int64
    body_b: NDArray  # (max,) int64
    J_a: NDArray  # (max, 6) m, -             W, about A's centre of mass
    J_b: NDArray  # (max, 6) m, -
    bias: NDArray  # (max,) m/s or rad/s
    cfm: NDArray  # (max,) 1/kg ...           compliance: w = J v + bias + cfm lam
    lo: NDArray  # (max,) N s or N m s
    hi: NDArray  # (max,) N s or N m s
    error: NDArray  # (max,) m or rad         C of equations and limits (negative: violated)
    normal_row: NDArray  # (max,) int64       row of the normal for tangents, -1 otherwise
    mu: NDArray  # (max,) -
    lam_warm: NDArray  # (max,) N s or N m s  guess
