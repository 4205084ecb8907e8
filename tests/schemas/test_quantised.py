"""Quantised poses: the error is within what is said, and 12 bytes hold a body."""

import math

import numpy as np
import pytest
from cardan_client.frames import decode
from hypothesis import given
from hypothesis import strategies as st

from cardan.schemas.frame import POSE_DTYPE, BlockTag, FrameHeader, encode_frame, poses_table
from cardan.schemas.quantised import LARGEST_STEP, QUATERNION_STEP, STEPS, quantise

# in steps of the box, along each axis
POSITION_ERROR = 0.5
# with errors of half a step h in three components that are 1/2 each, the fourth is wrong by 3 h,
# and the quaternion by sqrt(12) h; its angle is twice that: 1.5e-4 rad
ANGLE_ERROR = 2.0 * math.sqrt(3.0) * QUATERNION_STEP


def scattered(seed, bodies, extent=60.0, centre=0.0):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(bodies, 4))
    return np.hstack(
        [
            centre + extent * (rng.random((bodies, 3)) - 0.5),
            q / np.linalg.norm(q, axis=1, keepdims=True),
        ]
    )


def plain(table):
    return table.view("<f4").reshape(len(table), 7).astype(float)


def quantised(table):
    found = quantise(table)
    assert found is not None
    return found


def framed(table, box):
    blocks = {BlockTag.QUANTISED: table, BlockTag.QUANTISED_BOX: box}
    return encode_frame(FrameHeader(1, 0.1), blocks)


def there_and_back(poses):
    """Poses as they are sent, as a client reads quantised ones, and their box."""
    sent = poses_table(poses)
    table, box = quantised(sent)
    return plain(sent), decode(framed(table, box)).poses.astype(float), box


def angles(a, b):
    """Angle between rotations [rad], exact for small ones too."""
    sign = np.where((a * b).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    return 4.0 * np.arcsin(np.minimum(1.0, 0.5 * np.linalg.norm(a - sign * b, axis=1)))


@given(st.integers(0, 2**32), st.floats(1e-6, 65.0), st.floats(-100.0, 100.0))
def test_errors_are_within_the_bounds(seed, extent, centre):
    sent, found, box = there_and_back(scattered(seed, 50, extent, centre))
    # the readers' single precision rounds once more
    rounding = np.spacing(np.float32(abs(centre) + extent))
    error = np.abs(found[:, :3] - sent[:, :3])
    assert (error <= POSITION_ERROR * box["step"][0] + rounding).all()
    assert (box["step"][0] <= LARGEST_STEP).all()
    assert angles(sent[:, 3:], found[:, 3:]).max() <= ANGLE_ERROR + 4e-7


def test_the_bound_of_angles_is_reached_nearly():
    """All components 1/2, and three of them between two steps."""
    rng = np.random.default_rng(3)
    q = 0.5 + 1e-4 * rng.normal(size=(200_000, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    sent, found, _ = there_and_back(np.hstack([np.zeros((len(q), 3)), q]))
    worst = angles(sent[:, 3:], found[:, 3:]).max()
    assert 0.9 * ANGLE_ERROR < worst <= ANGLE_ERROR + 4e-7


def test_what_stands_straight_stays_so():
    poses = scattered(1, 9)
    turns = [np.eye(4)[n % 4] for n in range(8)] + [[np.sqrt(0.5), 0.0, 0.0, -np.sqrt(0.5)]]
    poses[:, 3:] = turns
    _, found, _ = there_and_back(poses)
    assert np.array_equal(found[:8, 3:], poses[:8, 3:])
    assert np.array_equal(found[8, 4:6], [0.0, 0.0])
    assert angles(poses[8:, 3:], found[8:, 3:])[0] < ANGLE_ERROR


def test_one_rotation_has_one_form():
    poses = scattered(2, 20)
    turned = np.hstack([poses[:, :3], -poses[:, 3:]])
    assert np.array_equal(quantised(poses_table(poses))[0], quantised(poses_table(turned))[0])


def test_corners_of_the_box_are_exact_and_a_flat_box_is_none():
    poses = scattered(4, 3, extent=8.0)
    poses[:, 2] = 0.1
    sent, found, box = there_and_back(poses)
    for axis in (0, 1):
        for row in (sent[:, axis].argmin(), sent[:, axis].argmax()):
            assert found[row, axis] == pytest.approx(sent[row, axis], abs=1e-6)
    assert box["step"][0, 2] == 0.0
    assert np.array_equal(found[:, 2], sent[:, 2])
    alone, again, _ = there_and_back(poses[:1])
    assert np.array_equal(alone[:, :3], again[:, :3])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, 1.01 * STEPS * LARGEST_STEP])
def test_what_would_be_coarse_or_is_not_finite_is_sent_as_it_is(value):
    poses = scattered(5, 4, extent=1.0)
    poses[2, 1] = value
    assert quantise(poses_table(poses)) is None
    assert quantise(np.zeros(0, POSE_DTYPE)) is None
    broken = scattered(5, 4)
    broken[1, 4] = np.nan
    assert quantise(poses_table(broken)) is None


def test_a_frame_of_1000_bodies_is_less_than_half():
    sent = poses_table(scattered(6, 1000))
    table, box = quantised(sent)
    before = encode_frame(FrameHeader(1, 0.1), {BlockTag.POSES: sent})
    assert (len(before), len(framed(table, box))) == (28_056, 12_120)
