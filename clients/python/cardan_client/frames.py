"""Binary frames of `cardan.v1`: 40 bytes of header, then tagged blocks, little endian."""

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# kind, flags, blocks, epoch, sequence, step, time, dropped, unused
HEADER = struct.Struct("<HHIIIQdII")
# kind of the table, rows, bytes, unused; each block ends at a multiple of ALIGNMENT
BLOCK = struct.Struct("<IIII")
ALIGNMENT = 8


def _columns(kind: str, names: str) -> list[tuple[str, str]]:
    return [(name, kind) for name in names.split()]


CONTACTS = np.dtype(
    _columns("<f4", "px py pz nx ny nz gap normal_force friction_force")
    + _columns("<u2", "body_a body_b")
)
ABSENT = np.dtype(_columns("u1", "absent"))
FRICTION = np.dtype(_columns("<f4", "fx fy fz mu"))
JOINTS = np.dtype(_columns("<u2", "joint coordinate") + _columns("<f4", "q qd motor_force"))
ENERGY = np.dtype(
    _columns(
        "<f8",
        "kinetic potential total work_in dissipated_friction dissipated_impact "
        "dissipated_damping correction",
    )
)
SOLVER = np.dtype(
    _columns(
        "<f8",
        "rows contacts iterations residual coulomb_error max_penetration joint_position_error "
        "step_us real_time_factor collision_us solve_us other_us",
    )
)
EVENTS = np.dtype(
    _columns("<f8", "time")
    + _columns("<u8", "step")
    + _columns("<f4", "px py pz nx ny nz approach_speed")
    + _columns("<u2", "kind joint body_a body_b shape_a shape_b")
)
MOMENTUM = np.dtype(_columns("<f8", "lx ly lz hx hy hz"))
VELOCITIES = np.dtype(_columns("<f4", "vx vy vz wx wy wz"))
REACTIONS = np.dtype(_columns("<u2", "joint reserved") + _columns("<f4", "fx fy fz tx ty tz"))
TABLES = {
    2: ("contacts", CONTACTS),
    3: ("joints", JOINTS),
    4: ("energy", ENERGY),
    5: ("solver", SOLVER),
    8: ("events", EVENTS),
    10: ("absent", ABSENT),
    11: ("friction", FRICTION),
    12: ("momentum", MOMENTUM),
    13: ("velocities", VELOCITIES),
    14: ("reactions", REACTIONS),
}
POSES, QUANTISED, QUANTISED_BOX = 1, 15, 16
QUANTISED_POSE = np.dtype([("p", "<u2", (3,)), ("q", "<u2", (3,))])
BOX = np.dtype([("low", "<f8", (3,)), ("step", "<f8", (3,))])
# a component of a quaternion is at most 1 / sqrt(2), and has 15 bits
HALF = 16383
QUATERNION_STEP = 0.5**0.5 / HALF
OTHERS = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])


@dataclass(frozen=True)
class Frame:
    """One moment of a live session."""

    step: int
    """Steps since the start."""
    time: float
    """Simulated time [s]."""
    epoch: int
    """Counts resets and restores."""
    sequence: int
    """Number of the frame."""
    dropped: int
    """Frames that were left out before this one."""
    poses: NDArray[np.float32]
    """(bodies, 7): px py pz [m], qw qx qy qz, in W; empty unless `poses` is subscribed to."""
    tables: dict[str, NDArray[Any]] = field(default_factory=dict)
    """Contacts, friction, joints, energy, solver, events, momentum, velocities and reactions:
    structured arrays by channel; with poses, while bodies are absent, `absent`: 1 for each."""


def decode(data: bytes) -> Frame:
    """Take a frame apart; blocks of unknown kinds are skipped. Raises ValueError."""
    if len(data) < HEADER.size:
        raise ValueError(f"a frame has {HEADER.size} bytes or more; found {len(data)}")
    _, _, count, epoch, sequence, step, time, dropped, _ = HEADER.unpack_from(data)
    poses: NDArray[np.float32] = np.zeros((0, 7), np.float32)
    tables: dict[str, NDArray[Any]] = {}
    compact: NDArray[Any] | None = None
    offset = HEADER.size
    for _ in range(count):
        if offset + BLOCK.size > len(data):
            raise ValueError(f"the frame ends inside a block header at byte {offset}")
        tag, length, size, _ = BLOCK.unpack_from(data, offset)
        offset += BLOCK.size
        if offset + size > len(data):
            raise ValueError(f"the frame ends inside block {tag} at byte {offset}")
        if tag == POSES:
            poses = np.frombuffer(data, "<f4", 7 * length, offset).reshape(length, 7)
        elif tag == QUANTISED:
            compact = np.frombuffer(data, QUANTISED_POSE, length, offset)
        elif tag == QUANTISED_BOX and compact is not None:
            poses = _poses(compact, np.frombuffer(data, BOX, 1, offset)[0])
        elif tag in TABLES:
            name, dtype = TABLES[tag]
            tables[name] = np.frombuffer(data, dtype, length, offset)
        offset += size + (-size % ALIGNMENT)
    return Frame(step, time, epoch, sequence, dropped, poses, tables)


def _poses(compact: NDArray[Any], box: Any) -> NDArray[np.float32]:
    """Poses of quantised ones: positions are steps of a box, rotations three of four components.

    The highest bits of the first two words say which component was left out.
    """
    words = compact["q"].astype(np.int64)
    left_out = (words[:, 0] >> 15) | (words[:, 1] >> 15) << 1
    three = ((words & 0x7FFF) - HALF) * QUATERNION_STEP
    rows = np.arange(len(compact))
    q = np.empty((len(compact), 4))
    q[rows[:, None], OTHERS[left_out]] = three
    q[rows, left_out] = np.sqrt(np.maximum(0.0, 1.0 - (three * three).sum(axis=1)))
    places = box["low"] + box["step"] * compact["p"]
    return np.hstack([places, q]).astype(np.float32)
