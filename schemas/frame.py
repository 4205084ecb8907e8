"""Binary frames of the protocol `cardan.v1`: what the page receives, little endian.

A frame is a header of 40 bytes and blocks. A block is a header of 16 bytes (tag, count, payload
length, reserved) and a payload padded to a multiple of 8. Readers skip tags they do not know.
Poses are of body origins in W, quaternions [w, x, y, z]; SI units. Single precision is for
pictures; recordings keep double precision.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

import numpy as np
import numpy.typing as npt

HEADER = struct.Struct("<HHIIIQdII")
BLOCK_HEADER = struct.Struct("<IIII")
ALIGNMENT = 8
MAX_BLOCKS = 64

Table = npt.NDArray[np.void]
Floats = npt.NDArray[np.float64]


class FrameKind(IntEnum):
    """Purpose of a frame."""

    STATE = 1
    KEY = 2


class FrameFlags(IntFlag):
    """Flags of a frame, for the reader."""

    NONE = 0
    PAUSED = 1
    FAILED = 2
    GAP_BEFORE = 4


class BlockTag(IntEnum):
    """Kinds of blocks."""

    POSES = 1
    CONTACTS = 2
    JOINTS = 3
    ENERGY = 4
    SOLVER = 5
    GRAB = 6
    STATE_HASH = 7
    EVENTS = 8
    ASLEEP = 9
    ABSENT = 10
    FRICTION = 11
    MOMENTUM = 12
    VELOCITIES = 13
    REACTIONS = 14
    QUANTISED = 15
    QUANTISED_BOX = 16


def _fields(kind: str, names: str) -> list[tuple[str, str]]:
    return [(name, kind) for name in names.split()]


POSE_DTYPE = np.dtype(_fields("<f4", "px py pz qw qx qy qz"))
CONTACT_DTYPE = np.dtype(
    [
        *_fields("<f4", "px py pz nx ny nz gap normal_force friction_force"),
        *_fields("<u2", "body_a body_b"),
    ]
)
JOINT_DTYPE = np.dtype([*_fields("<u2", "joint coordinate"), *_fields("<f4", "q qd motor_force")])
ENERGY_DTYPE = np.dtype(
    _fields(
        "<f8",
        "kinetic potential total work_in dissipated_friction dissipated_impact "
        "dissipated_damping correction",
    )
)
SOLVER_DTYPE = np.dtype(
    _fields(
        "<f8",
        "rows contacts iterations residual coulomb_error max_penetration joint_position_error "
        "step_us real_time_factor collision_us solve_us other_us",
    )
)
GRAB_DTYPE = np.dtype(
    [
        *_fields("<u4", "body reserved"),
        *((name, "<f4", (3,)) for name in ("point", "target", "force")),
    ]
)
EVENT_DTYPE = np.dtype(
    [
        ("time", "<f8"),
        ("step", "<u8"),
        *_fields("<f4", "px py pz nx ny nz approach_speed"),
        *_fields("<u2", "kind joint body_a body_b shape_a shape_b"),
    ]
)
# per contact of the frame, in its order: the force on body_b in W [N], and the coefficient
FRICTION_DTYPE = np.dtype(_fields("<f4", "fx fy fz mu"))
# of the whole scene in W: linear [N s], and angular about the origin [N m s]
MOMENTUM_DTYPE = np.dtype(_fields("<f8", "lx ly lz hx hy hz"))
# of body origins in W [m/s], and angular [rad/s]
VELOCITY_DTYPE = np.dtype(_fields("<f4", "vx vy vz wx wy wz"))
# of each joint, on its child at the anchor in W [N, N m]
REACTION_DTYPE = np.dtype([*_fields("<u2", "joint reserved"), *_fields("<f4", "fx fy fz tx ty tz")])
ASLEEP_DTYPE = np.dtype([("asleep", "u1")])
ABSENT_DTYPE = np.dtype([("absent", "u1")])
STATE_HASH_DTYPE = np.dtype([("hash", "<u8")])
# instead of poses, see schemas/quantised.py
QUANTISED_DTYPE = np.dtype([("p", "<u2", (3,)), ("q", "<u2", (3,))])
QUANTISED_BOX_DTYPE = np.dtype([("low", "<f8", (3,)), ("step", "<f8", (3,))])

DTYPES: dict[BlockTag, np.dtype[np.void]] = {
    BlockTag.POSES: POSE_DTYPE,
    BlockTag.CONTACTS: CONTACT_DTYPE,
    BlockTag.JOINTS: JOINT_DTYPE,
    BlockTag.ENERGY: ENERGY_DTYPE,
    BlockTag.SOLVER: SOLVER_DTYPE,
    BlockTag.GRAB: GRAB_DTYPE,
    BlockTag.STATE_HASH: STATE_HASH_DTYPE,
    BlockTag.EVENTS: EVENT_DTYPE,
    BlockTag.ASLEEP: ASLEEP_DTYPE,
    BlockTag.ABSENT: ABSENT_DTYPE,
    BlockTag.FRICTION: FRICTION_DTYPE,
    BlockTag.MOMENTUM: MOMENTUM_DTYPE,
    BlockTag.VELOCITIES: VELOCITY_DTYPE,
    BlockTag.REACTIONS: REACTION_DTYPE,
    BlockTag.QUANTISED: QUANTISED_DTYPE,
    BlockTag.QUANTISED_BOX: QUANTISED_BOX_DTYPE,
}


class FrameInvalid(ValueError):  # noqa: N818 - the name says what the frame is
    """Bytes that are not a frame of `cardan.v1`."""


@dataclass(frozen=True)
class FrameHeader:
    """The first 40 bytes of a frame."""

    step: int
    """Steps since the start."""
    time: float
    """Simulated time [s]."""
    epoch: int = 0
    """Counts resets, restores and forks."""
    sequence: int = 0
    """Counts the frames of a stream."""
    kind: FrameKind = FrameKind.STATE
    """State or key frame."""
    flags: FrameFlags = FrameFlags.NONE
    """Paused, failed, gap before."""
    dropped: int = 0
    """Frames dropped since the last one that was sent to this client."""


@dataclass(frozen=True)
class Frame:
    """A frame taken apart: header, and one table per known block."""

    header: FrameHeader
    blocks: Mapping[BlockTag, Table] = field(default_factory=dict)


def encode_block(tag: BlockTag, table: Table) -> bytes:
    """Return header, payload and padding of one block. `table` has the dtype of its tag."""
    if table.dtype != DTYPES[tag]:
        raise TypeError(f"block {tag.name} needs {DTYPES[tag]}, not {table.dtype}")
    payload = table.tobytes()
    padding = -len(payload) % ALIGNMENT
    return BLOCK_HEADER.pack(tag, len(table), len(payload), 0) + payload + bytes(padding)


def join_blocks(tag: BlockTag, blocks: Sequence[bytes]) -> bytes:
    """Return one block with the elements of several of its tag, in order."""
    count, payload = 0, []
    for block in blocks:
        _, length, size, _ = BLOCK_HEADER.unpack_from(block)
        count += length
        payload.append(block[BLOCK_HEADER.size : BLOCK_HEADER.size + size])
    return encode_block(tag, np.frombuffer(b"".join(payload), DTYPES[tag], count))


def join_frame(header: FrameHeader, blocks: list[bytes]) -> bytes:
    """Return a frame of blocks that are encoded already, so that viewers can share them."""
    head = HEADER.pack(
        header.kind,
        header.flags,
        len(blocks),
        header.epoch,
        header.sequence,
        header.step,
        header.time,
        header.dropped,
        0,
    )
    return b"".join([head, *blocks])


def encode_frame(header: FrameHeader, blocks: Mapping[BlockTag, Table]) -> bytes:
    """Return the bytes of a frame, blocks in the order given."""
    return join_frame(header, [encode_block(tag, table) for tag, table in blocks.items()])


def decode_frame(data: bytes) -> Frame:
    """Take a frame apart; unknown blocks are skipped. Raises FrameInvalid."""
    if len(data) < HEADER.size:
        raise FrameInvalid(f"a frame has {HEADER.size} bytes or more; found {len(data)}")
    kind, flags, count, epoch, sequence, step, time, dropped, _ = HEADER.unpack_from(data)
    if kind not in list(FrameKind) or count > MAX_BLOCKS:
        raise FrameInvalid(f"unknown kind {kind} or too many blocks ({count})")
    header = FrameHeader(
        step, time, epoch, sequence, FrameKind(kind), FrameFlags(flags & 7), dropped
    )
    blocks: dict[BlockTag, Table] = {}
    offset = HEADER.size
    for _ in range(count):
        if offset + BLOCK_HEADER.size > len(data):
            raise FrameInvalid(f"the frame ends inside a block header at byte {offset}")
        tag, length, size, _ = BLOCK_HEADER.unpack_from(data, offset)
        offset += BLOCK_HEADER.size
        if offset + size > len(data):
            raise FrameInvalid(f"the frame ends inside block {tag} at byte {offset}")
        if tag in list(BlockTag):
            blocks[BlockTag(tag)] = _table(BlockTag(tag), data, offset, length, size)
        offset += size + (-size % ALIGNMENT)
    return Frame(header, blocks)


def _table(tag: BlockTag, data: bytes, offset: int, length: int, size: int) -> Table:
    dtype = DTYPES[tag]
    if size != length * dtype.itemsize:
        raise FrameInvalid(f"block {tag.name}: {length} elements do not fill {size} bytes")
    return np.frombuffer(data, dtype=dtype, count=length, offset=offset)


# in every table: numbers beyond single precision become infinite, without a warning
@np.errstate(over="ignore")
def poses_table(poses: Floats) -> Table:
    """Return the table of poses, from an array of shape (bodies, 7): px py pz qw qx qy qz."""
    values = np.ascontiguousarray(poses, dtype="<f4")
    return values.view(POSE_DTYPE).reshape(len(values))


@np.errstate(over="ignore")
def velocities_table(velocities: Floats) -> Table:
    """Return the table of velocities, from an array of shape (bodies, 6): vx vy vz wx wy wz."""
    values = np.ascontiguousarray(velocities, dtype="<f4")
    return values.view(VELOCITY_DTYPE).reshape(len(values))


def momentum_table(momentum: Floats) -> Table:
    """Return the table of the momentum of a scene, from an array of shape (6,)."""
    return np.ascontiguousarray(momentum, dtype="<f8").view(MOMENTUM_DTYPE)


def reactions_table(joints: npt.NDArray[np.void]) -> Table:
    """Return the table of reactions: one row per joint, of a table with one per coordinate."""
    return table_from(BlockTag.REACTIONS, joints[joints["coordinate"] <= 0])


def asleep_table(asleep: npt.NDArray[np.bool_]) -> Table:
    """Return the table of which bodies sleep, from an array of shape (bodies,)."""
    return np.ascontiguousarray(asleep, dtype="u1").view(ASLEEP_DTYPE)


def absent_table(absent: npt.NDArray[np.bool_]) -> Table:
    """Return the table of which bodies are absent, from an array of shape (bodies,)."""
    return np.ascontiguousarray(absent, dtype="u1").view(ABSENT_DTYPE)


@np.errstate(over="ignore")
def friction_table(contacts: npt.NDArray[np.void], coefficients: Floats) -> Table:
    """Return the table of friction, of contacts with `friction_x` ... and of shape (contacts,)."""
    table: Table = np.zeros(len(contacts), FRICTION_DTYPE)
    for axis in "xyz":
        table[f"f{axis}"] = contacts[f"friction_{axis}"]
    table["mu"] = coefficients
    return table


@np.errstate(over="ignore")
def table_from(tag: BlockTag, source: npt.NDArray[np.void]) -> Table:
    """Return the table of a block from a structured array with (at least) fields of its names."""
    table: Table = np.zeros(len(source), DTYPES[tag])
    for name in DTYPES[tag].names or ():
        if name != "reserved":
            table[name] = source[name]
    return table


@np.errstate(over="ignore")
def row_from(tag: BlockTag, values: Mapping[str, object]) -> Table:
    """Return the table of a block of one element; names that are not given become zero."""
    table: Table = np.zeros(1, DTYPES[tag])
    for name in DTYPES[tag].names or ():
        if name in values:
            table[name][0] = values[name]
    return table
