"""Samples: what is recorded of a run, frame by frame."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct

# Samples.count
N_FRAMES, N_CONTACTS, N_PASSED = 0, 1, 2

# columns of Samples.solved
(
    SOLVED_METHOD,
    SOLVED_ROWS,
    SOLVED_CONTACTS,
    SOLVED_ISLANDS,
    SOLVED_ITERATIONS,
    SOLVED_STATUS,
    N_SOLVED,
) = range(7)

# columns of Samples.contact
CONTACT_POINT, CONTACT_NORMAL, CONTACT_GAP, CONTACT_LAM, CONTACT_MU, N_CONTACT = 0, 3, 6, 7, 10, 11


@struct
class Samples(NamedTuple):
    """Frames of a run. The arrays of a channel that is not recorded have room for no frame."""

    count: NDArray  # (3,) int64               N_FRAMES ...: frames, their contacts, due steps done
    due: NDArray  # (m,) int64                 steps after which a frame is recorded, ascending
    bodies: NDArray  # (b,) int64              bodies that are recorded
    time: NDArray  # (frames,) s
    step: NDArray  # (frames,) int64           steps done
    pose: NDArray  # (frames, b, 7) m, -       centre of mass p_WB, orientation q_WB
    velocity: NDArray  # (frames, b, 6) m/s    v_WB_W of the centre of mass, w_WB_W rad/s
    present: NDArray  # (frames, b) int64      1: the body is there, 0: it is absent
    tree_q: NDArray  # (frames, c) m, rad or -  coordinates of trees, as State.tree_q
    tree_qd: NDArray  # (frames, v) m/s or rad/s
    joint_motion: NDArray  # (frames, j, 3, 2) m or rad   q and qd of each coordinate
    joint_drive: NDArray  # (frames, j, 3, 2) N or N m    of motor and limit
    joint_reaction: NDArray  # (frames, j, 6) N, N m      on the child at the anchor, W
    contacts: NDArray  # (frames,) int64       contacts of each frame
    contact_body: NDArray  # (max, 2) int64    bodies of a contact, one frame after another
    contact: NDArray  # (max, 11) m, -, N s    CONTACT_POINT ...: point, normal, gap, impulses, mu
    energy: NDArray  # (frames, 8) J           in the order of reports.ENERGIES
    momentum: NDArray  # (frames, 6) N s, N m s   linear, angular about the origin of W
    solved: NDArray  # (frames, 6) int64       SOLVED_METHOD ... of the last step
    residual: NDArray  # (frames, 2) m/s       natural map, and on the cone (world/report.py)
    phase_ns: NDArray  # (frames, 8) int64 ns  since the frame before; last the timed steps
    phases_before: NDArray  # (8,) int64 ns    report.phase_ns and timed_steps at the last frame
