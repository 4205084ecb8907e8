"""Constraint rows before assembly of the Problem, with their kinds and slots."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct

# kind of a row: determines the account of its work and the joint force it contributes to
ROW_EQUATION, ROW_LIMIT, ROW_MOTOR, ROW_FRICTION, ROW_SPRING, ROW_GRAB = 0, 1, 2, 3, 4, 5
ROW_NORMAL, ROW_TANGENT, ROW_ELEMENT, ROW_SPINNING, ROW_ROLLING = 6, 7, 8, 9, 10
ROW_DRAG, ROW_COUPLING = 11, 12

# slots of a joint's impulses (state.joint_lam): 0-5 are the equations, the others have one per
# coordinate (one spring in all)
SLOT_LOWER, SLOT_UPPER, SLOT_MOTOR, SLOT_FRICTION = 6, 9, 12, 15
SLOT_SPRING, SLOT_DAMPING, N_SLOTS = 18, 19, 22


@struct
class Rows(NamedTuple):
    """One row each: lo <= lam <= hi drives J v + bias + cfm lam to zero (angular columns first)."""

    count: NDArray  # (3,) int64              all rows, rows before the contacts, rows of couplings (the first)
    share: NDArray  # (1,) -                  of the scene's step that these rows are for: errors are corrected per step
    kind: NDArray  # (max,) int64             ROW_EQUATION ...
    joint: NDArray  # (max,) int64            joint it belongs to, or -1
    slot: NDArray  # (max,) int64             which of the joint's impulse slots, the contact, or the force element
    axis: NDArray  # (max,) int64             coordinate 0, 1 or 2 of limits, motors, friction, dampers
    body_a: NDArray  # (max,) int64
    body_b: NDArray  # (max,) int64
    J_a: NDArray  # (max, 6) m, -             W, about A's centre of mass
    J_b: NDArray  # (max, 6) m, -
    bias: NDArray  # (max,) m/s or rad/s
    sweep_bias_delta: NDArray  # (max,) m/s               change of a contact's bias that sweeping solvers may apply
    rebound: NDArray  # (max,) m/s, rad/s     separation speed of a struck contact or stop, included in bias; 0: none
    smooth: NDArray  # (max,) int64            1: normal of a contact that rolls on, which does no work but by errors
    cfm: NDArray  # (max,) 1/kg ...           compliance: w = J v + bias + cfm lam
    lo: NDArray  # (max,) N s or N m s
    hi: NDArray  # (max,) N s or N m s
    error: NDArray  # (max,) m or rad         C of equations and limits (negative: violated); of a force element m/s: correction of its damper's rate; of friction m/s or rad/s: slip that a step makes of a turn
    normal_row: NDArray  # (max,) int64       row of the normal for tangents, spinning and rolling, -1 otherwise
    mu: NDArray  # (max,) - or m              share of the normal impulse that bounds such a row
    lam_warm: NDArray  # (max,) N s or N m s  guess
    joint_arm: NDArray  # (j, 3) m            W, from B's centre of mass to its anchor when the rows were written
