"""web/decode.js reads what schemas/frame.py writes, and refuses what is no frame."""

import base64
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pytest

from cardan.schemas.frame import (
    DTYPES,
    BlockTag,
    FrameFlags,
    FrameHeader,
    FrameKind,
    absent_table,
    asleep_table,
    encode_frame,
)
from tests.web.modules import run_module

# written down once by hand from the layout, so that an error shared by both ends cannot hide:
# state frame, paused; epoch 2, sequence 7, step 300, time 0.5; one pose: p = (1, 2, 3), q = w alone
GOLDEN = (
    "0100 0100 01000000 02000000 07000000 2c01000000000000 000000000000e03f 03000000 00000000"
    "01000000 01000000 1c000000 00000000"
    "0000803f 00000040 00004040 0000803f 00000000 00000000 00000000 00000000"
)
DECODE = """
  const bytes = Uint8Array.from(atob(input), (c) => c.charCodeAt(0));
  try {
    return decodeFrame(bytes.buffer);
  } catch (error) {
    return { refused: error.message, known: error instanceof FrameError };
  }
"""

Blocks = Mapping[BlockTag, npt.NDArray[np.void]]


def decode(node: str, data: bytes) -> dict:
    text = base64.b64encode(data).decode()
    return run_module(node, "decode.js", "decodeFrame, FrameError", DECODE, text)


@pytest.fixture(scope="module")
def blocks() -> Blocks:
    """Every kind of block, filled with numbers that differ in each field."""
    counts = {BlockTag.POSES: 3, BlockTag.CONTACTS: 2, BlockTag.FRICTION: 2, BlockTag.JOINTS: 2,
              BlockTag.VELOCITIES: 3, BlockTag.REACTIONS: 2}  # fmt: skip
    random = np.random.default_rng(5)
    made = {}
    for tag, dtype in DTYPES.items():
        table = np.zeros(counts.get(tag, 1), dtype)
        for name in dtype.names or ():
            field = table[name]
            if field.dtype.kind == "f":
                table[name] = random.normal(size=field.shape)
            else:
                table[name] = random.integers(0, 60_000, field.shape)
        made[tag] = table
    made[BlockTag.EVENTS]["kind"] = 2
    made[BlockTag.REACTIONS]["joint"] = [1, 0]
    made[BlockTag.ASLEEP] = asleep_table(np.array([True, False, True]))
    made[BlockTag.ABSENT] = absent_table(np.array([False, True, False]))
    return made


def test_golden_bytes(node: str) -> None:
    frame = decode(node, bytes.fromhex(GOLDEN))
    assert {"paused": True, "failed": False, "gap": False, "key": False}.items() <= frame.items()
    assert (frame["epoch"], frame["sequence"], frame["step"], frame["time"]) == (2, 7, 300, 0.5)
    assert frame["dropped"] == 3
    assert frame["poses"] == [1, 2, 3, 0, 0, 0, 1]
    assert frame["contacts"] is None


def test_every_block_comes_back(node: str, blocks: Blocks) -> None:
    header = FrameHeader(
        step=2**40 + 1, time=12.25, epoch=3, sequence=9, kind=FrameKind.KEY,
        flags=FrameFlags.FAILED | FrameFlags.GAP_BEFORE, dropped=4,
    )  # fmt: skip
    frame = decode(node, encode_frame(header, blocks))
    assert frame["key"]
    assert frame["failed"]
    assert frame["gap"]
    assert not frame["paused"]
    assert (frame["step"], frame["time"]) == (2**40 + 1, 12.25)

    poses = blocks[BlockTag.POSES]
    order = ["px", "py", "pz", "qx", "qy", "qz", "qw"]
    expected = np.stack([poses[name] for name in order], axis=1)
    expected[1] = np.nan  # it is absent
    np.testing.assert_array_equal(np.float32(frame["poses"]).reshape(-1, 7), expected)

    contacts = blocks[BlockTag.CONTACTS]
    names = list(contacts.dtype.names or ())
    values = np.float32(frame["contacts"]["values"]).reshape(-1, 9)
    np.testing.assert_array_equal(values, np.stack([contacts[n] for n in names[:9]], axis=1))
    force = np.float32(frame["contacts"]["friction"]).reshape(-1, 4)
    rows = [blocks[BlockTag.FRICTION][name] for name in ("fx", "fy", "fz", "mu")]
    np.testing.assert_array_equal(force, np.stack(rows, axis=1))
    bodies = np.reshape(frame["contacts"]["bodies"], (-1, 2))
    np.testing.assert_array_equal(bodies, np.stack([contacts[n] for n in names[9:]], axis=1))

    for row, told in zip(blocks[BlockTag.JOINTS], frame["joints"], strict=True):
        assert [told["joint"], told["coordinate"]] == [row["joint"], row["coordinate"]]
        assert np.array([told["q"], told["qd"], told["motorForce"]], np.float32).tolist() == [
            row["q"], row["qd"], row["motor_force"],
        ]  # fmt: skip
    velocities = [list(row.item()) for row in blocks[BlockTag.VELOCITIES]]
    np.testing.assert_array_equal(
        np.array(frame["velocities"], np.float32), np.array(velocities, np.float32).ravel()
    )
    # by the joint that a row names
    reactions = [list(row.item())[2:] for row in blocks[BlockTag.REACTIONS][::-1]]
    np.testing.assert_array_equal(
        np.array(frame["reactions"], np.float32), np.array(reactions, np.float32).ravel()
    )
    assert frame["momentum"] == list(blocks[BlockTag.MOMENTUM][0].item())
    assert list(frame["energy"].values()) == list(blocks[BlockTag.ENERGY][0].item())
    assert list(frame["solver"].values()) == list(blocks[BlockTag.SOLVER][0].item())
    grab = blocks[BlockTag.GRAB][0]
    assert frame["grab"]["body"] == grab["body"]
    for name in ("point", "target", "force"):
        np.testing.assert_array_equal(np.float32(frame["grab"][name]), grab[name])
    event, told = blocks[BlockTag.EVENTS][0], frame["happenings"][0]
    assert told["kind"] == "break"
    assert (told["time"], told["step"]) == (event["time"], event["step"])
    assert told["joint"] == event["joint"]
    for name, fields in (
        ("point", "px py pz"), ("normal", "nx ny nz"), ("bodies", "body_a body_b"),
        ("shapes", "shape_a shape_b"),
    ):  # fmt: skip
        np.testing.assert_array_equal(np.float32(told[name]), [event[k] for k in fields.split()])
    assert np.float32(told["speed"]) == event["approach_speed"]
    assert frame["asleep"] == [1, 0, 1]
    assert frame["stateHash"] == str(blocks[BlockTag.STATE_HASH][0]["hash"])


def test_names_of_the_page_follow_the_fields(node: str, blocks: Blocks) -> None:
    """The page's camel case in the order of the fields: a swapped pair would show here."""
    frame = decode(node, encode_frame(FrameHeader(step=0, time=0.0), blocks))
    assert list(frame["solver"]) == [
        "rows", "contacts", "iterations", "residual", "coulombError", "maxPenetration",
        "jointPositionError", "stepUs", "realTimeFactor", "collisionUs", "solveUs", "otherUs",
    ]  # fmt: skip
    assert [name[:4] for name in frame["energy"]] == [
        "kine", "pote", "tota", "work", "fric", "impa", "damp", "corr",
    ]  # fmt: skip


def test_unknown_blocks_are_skipped(node: str, blocks: Blocks) -> None:
    pose = {BlockTag.POSES: blocks[BlockTag.POSES]}
    data = bytearray(encode_frame(FrameHeader(step=1, time=0.1), pose))
    unknown = bytes.fromhex("63000000 01000000 03000000 00000000 aabbcc0000000000")
    data[4:8] = (2).to_bytes(4, "little")
    data[40:40] = unknown
    assert len(decode(node, bytes(data))["poses"]) == 21


@pytest.mark.parametrize("length", [0, 39, 41, 60, 80])
def test_a_frame_cut_short_is_refused(node: str, length: int) -> None:
    answer = decode(node, bytes.fromhex(GOLDEN)[:length])
    assert answer.get("known"), answer


def test_an_unknown_kind_is_refused(node: str) -> None:
    data = b"\x09" + bytes.fromhex(GOLDEN)[1:]
    assert "kind 9" in decode(node, data)["refused"]


def test_frames_of_the_history_are_split(node: str) -> None:
    one = bytes.fromhex(GOLDEN)
    body = """
      const bytes = Uint8Array.from(atob(input), (c) => c.charCodeAt(0));
      return decodeFrames(bytes.buffer).map((frame) => frame.step);
    """
    data = (len(one).to_bytes(4, "little") + one) * 3
    text = base64.b64encode(data).decode()
    assert run_module(node, "decode.js", "decodeFrames", body, text) == [300, 300, 300]
