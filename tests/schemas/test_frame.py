import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardan.schemas.frame import (
    BLOCK_HEADER,
    DTYPES,
    HEADER,
    BlockTag,
    FrameFlags,
    FrameHeader,
    FrameInvalid,
    FrameKind,
    decode_frame,
    encode_block,
    encode_frame,
    join_frame,
    poses_table,
    row_from,
    table_from,
    velocities_table,
)


def header(**changes):
    return FrameHeader(step=12, time=0.125, epoch=3, sequence=7, dropped=2, **changes)


def test_layout_is_that_of_the_protocol():
    assert (HEADER.size, BLOCK_HEADER.size) == (40, 16)
    sizes = {tag: dtype.itemsize for tag, dtype in DTYPES.items()}
    first = {1: 28, 2: 40, 3: 16, 4: 64, 5: 96, 6: 44, 7: 8, 8: 56, 9: 1, 10: 1, 11: 16}
    assert sizes == first | {12: 48, 13: 24, 14: 28, 15: 12, 16: 48}


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_single_precision_become_infinite_without_a_warning():
    assert np.isinf(poses_table(np.full((1, 7), 1e60))["px"]).all()
    assert np.isinf(velocities_table(np.full((1, 6), -1e60))["vx"]).all()
    forces = [(name, "<f8") for name in ("fx", "fy", "fz", "tx", "ty", "tz")]
    joints = np.zeros(1, [("joint", "<u2"), *forces])
    joints["fx"] = 1e60
    assert np.isinf(table_from(BlockTag.REACTIONS, joints)["fx"]).all()
    assert np.isinf(row_from(BlockTag.REACTIONS, {"fx": 1e60})["fx"]).all()


def test_header_bytes_are_where_readers_expect_them():
    data = encode_frame(header(kind=FrameKind.KEY, flags=FrameFlags.PAUSED), {})
    assert struct.unpack("<HHIIIQdII", data) == (2, 1, 0, 3, 7, 12, 0.125, 2, 0)


def test_poses_follow_the_header_in_scene_order():
    poses = np.arange(14.0).reshape(2, 7)
    data = encode_frame(header(), {BlockTag.POSES: poses_table(poses)})
    assert struct.unpack_from("<IIII", data, 40) == (1, 2, 56, 0)
    assert struct.unpack_from("<14f", data, 56) == tuple(range(14))
    assert len(data) == 40 + 16 + 56


def test_blocks_come_back_and_stay_aligned():
    rng = np.random.default_rng(1)
    blocks = {}
    for tag, dtype in DTYPES.items():
        count = 1 if tag >= BlockTag.ENERGY else 3
        blocks[tag] = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
    data = encode_frame(header(flags=FrameFlags.GAP_BEFORE), blocks)
    assert len(data) % 8 == 0
    frame = decode_frame(data)
    assert frame.header == header(flags=FrameFlags.GAP_BEFORE)
    for tag, table in blocks.items():
        assert frame.blocks[tag].tobytes() == table.tobytes()


def test_unknown_blocks_are_skipped():
    energy = encode_block(BlockTag.ENERGY, row_from(BlockTag.ENERGY, {"kinetic": 2.5}))
    unknown = struct.pack("<IIII", 99, 1, 5, 0) + bytes(8)
    frame = decode_frame(join_frame(header(), [unknown, energy]))
    assert list(frame.blocks) == [BlockTag.ENERGY]
    assert frame.blocks[BlockTag.ENERGY]["kinetic"][0] == 2.5


def test_a_wider_table_is_cut_to_the_fields_of_the_block():
    wide = np.zeros(2, [("joint", "i4"), ("coordinate", "i4"), ("q", "f8"), ("qd", "f8"),
                        ("motor_force", "f8"), ("fx", "f8")])  # fmt: skip
    wide["q"] = [0.5, -1.5]
    table = table_from(BlockTag.JOINTS, wide)
    assert table.dtype == DTYPES[BlockTag.JOINTS]
    assert table["q"].tolist() == [0.5, -1.5]


def test_a_table_of_another_block_is_refused():
    with pytest.raises(TypeError, match="ENERGY"):
        encode_block(BlockTag.ENERGY, poses_table(np.zeros((1, 7))))


def test_every_cut_of_a_frame_is_refused():
    data = encode_frame(header(), {BlockTag.POSES: poses_table(np.zeros((2, 7)))})
    for length in range(len(data)):
        with pytest.raises(FrameInvalid):
            decode_frame(data[:length])


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_a_frame_or_refused(data, begin_well):
    data = HEADER.pack(1, 0, 2, 0, 0, 0, 0.0, 0, 0) + data if begin_well else data
    with suppress(FrameInvalid):
        assert decode_frame(data).header.step >= 0
