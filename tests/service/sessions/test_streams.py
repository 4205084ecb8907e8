"""Mailbox, viewer, fan-out and history: who gets which frame, and who is closed."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import orjson
import pytest
from cardan_client.frames import decode

from cardan.schemas.frame import (
    DTYPES,
    BlockTag,
    FrameFlags,
    FrameHeader,
    FrameKind,
    decode_frame,
    encode_block,
    poses_table,
)
from cardan.schemas.frame import row_from as row
from cardan.service.sessions.history import OVERHEAD, History
from cardan.service.streams import codec
from cardan.service.streams.codec import SharedFrame
from cardan.service.streams.fanout import Fanout
from cardan.service.streams.mailbox import Mailbox
from cardan.service.streams.viewer import MAX_TEXTS, TRY_AGAIN_LATER, Viewer


def frame(sequence: int, *, step: int | None = None, epoch: int = 0) -> SharedFrame:
    header = FrameHeader(step if step is not None else 10 * sequence, 0.01 * sequence, epoch)
    poses = np.full((2, 7), float(sequence))
    tables = {
        BlockTag.POSES: poses_table(poses),
        BlockTag.ENERGY: row(BlockTag.ENERGY, {"kinetic": float(sequence)}),
    }
    return codec.share(header, tables).numbered(sequence)


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


def watching(time: Callable[[], float], **rates: float) -> Viewer:
    viewer = Viewer("me", time)
    viewer.subscribe(rates or {"poses": 60.0})
    return viewer


def test_mailbox_keeps_the_newest_per_key():
    box: Mailbox[str, int] = Mailbox()
    assert box.put({"a": 1, "b": 1}) == 0
    assert box.put({"a": 2}) == 1
    assert box.take({"a"}) == {"a": 2}
    assert box
    assert box.take({"a", "b"}) == {"b": 1}
    assert not box


def test_a_frame_split_and_joined_is_the_same_bytes():
    shared = frame(7)
    assert codec.split(shared.encode()).encode() == shared.encode()
    with pytest.raises(ValueError, match="ends inside"):
        codec.split(shared.encode()[:-8])


def test_a_viewer_gets_only_its_channels(time: Time):
    viewer = watching(time, energy=60.0)
    viewer.offer(frame(1))
    data = viewer.next_frame()
    assert data is not None
    assert list(decode_frame(data).blocks) == [BlockTag.ENERGY]


def test_the_newest_frame_wins_and_the_lost_ones_are_counted(time: Time):
    viewer = watching(time)
    for sequence in (1, 2, 3):
        viewer.offer(frame(sequence))
    data = viewer.next_frame()
    assert data is not None
    header = decode_frame(data).header
    assert (header.sequence, header.dropped) == (3, 2)
    assert viewer.next_frame() is None


def test_at_most_the_window_is_unacknowledged(time: Time):
    viewer = watching(time)
    sent = []
    for sequence in range(1, 20):
        time.now += 0.1
        viewer.offer(frame(sequence))
        sent.append(viewer.next_frame())
    assert sum(data is not None for data in sent) == viewer.window == 4
    viewer.acknowledge(2)
    data = viewer.next_frame()
    assert data is not None
    assert decode_frame(data).header.sequence == 19
    viewer.acknowledge(12345)
    viewer.acknowledge(19)
    viewer.offer(frame(20))
    time.now += 0.1
    assert viewer.next_frame() is not None


def test_one_moment_shown_many_times_leaves_the_window_open(time: Time):
    """Moments of the past are numbered as the newest frame; whoever draws slowly misses some."""
    viewer = watching(time)
    viewer.live = False
    for _ in range(3 * viewer.window):
        for _ in range(2):
            viewer.show(frame(7))
            assert viewer.next_frame() is not None
        viewer.acknowledge(7)


@pytest.mark.parametrize(("hz", "expected"), [(10.0, 10), (30.0, 30), (60.0, 60), (1000.0, 60)])
def test_a_channel_keeps_its_rate(time: Time, hz: float, expected: int):
    viewer = watching(time, poses=hz)
    received = 0
    for sequence in range(1, 121):
        viewer.offer(frame(sequence))
        data = viewer.next_frame()
        if data is not None:
            received += 1
            viewer.acknowledge(sequence)
        time.now += 1 / 60
    assert received / 2 == pytest.approx(expected, abs=1)


def test_channels_of_one_frame_never_mix_moments(time: Time):
    viewer = watching(time, poses=60.0, energy=5.0)
    for sequence in range(1, 61):
        viewer.offer(frame(sequence))
        data = viewer.next_frame()
        if data is not None:
            seen = decode_frame(data)
            for tag, field in ((BlockTag.POSES, "px"), (BlockTag.ENERGY, "kinetic")):
                if tag in seen.blocks:
                    assert seen.blocks[tag][field][0] == seen.header.sequence
            viewer.acknowledge(sequence)
        time.now += 1 / 60


def test_a_slow_channel_rides_on_the_frames_of_a_fast_one(time: Time):
    viewer = watching(time, poses=60.0, energy=25.0)
    messages, energies = 0, 0
    for tick in range(240 * 4):
        if tick % 4 == 0:
            viewer.offer(frame(tick))
        data = viewer.next_frame()
        if data is not None:
            messages += 1
            energies += BlockTag.ENERGY in decode_frame(data).blocks
            viewer.acknowledge(tick - tick % 4)
        time.now += 1 / 240
    assert messages == pytest.approx(240, abs=3)
    assert energies == pytest.approx(100, abs=3)


def test_a_frame_never_comes_before_the_events_of_its_step(time: Time):
    """The first events find no frame that is due; those of the next frame come with it."""
    viewer = watching(time, poses=20.0, events=20.0)
    happened = np.zeros(1, DTYPES[BlockTag.EVENTS])
    told: list[int] = []
    for tick in range(1, 61):
        time.now += 1 / 240
        if tick in (13, 18, 22):
            happened["step"] = tick
            tables = {BlockTag.POSES: poses_table(np.zeros((1, 7)))}
            if tick > 13:
                tables[BlockTag.EVENTS] = happened
            viewer.offer(codec.share(FrameHeader(tick, tick / 240), tables).numbered(tick))
        data = viewer.next_frame()
        if data is not None:
            seen = decode_frame(data)
            told += list(seen.blocks.get(BlockTag.EVENTS, happened[:0])["step"])
            assert [step for step in (18, 22) if step <= seen.header.step] == told
            viewer.acknowledge(seen.header.sequence)
    assert told == [18, 22]


def test_seek_shows_the_past_to_one_viewer_only(time: Time):
    one, other = watching(time), watching(time)
    one.live = False
    one.show(frame(3))
    for viewer in (one, other):
        viewer.offer(frame(50))
    seen, live = one.next_frame(), other.next_frame()
    assert seen is not None
    assert live is not None
    assert decode_frame(seen).header.sequence == 3
    assert decode_frame(seen).header.kind is FrameKind.KEY
    assert decode_frame(live).header.sequence == 50


def test_the_gap_is_told_once(time: Time):
    viewer = watching(time)
    viewer.gap = True
    flags = []
    for sequence in (1, 2):
        time.now += 1
        viewer.offer(frame(sequence))
        data = viewer.next_frame()
        assert data is not None
        flags.append(decode_frame(data).header.flags)
    assert flags == [FrameFlags.GAP_BEFORE, FrameFlags.NONE]


def test_events_come_in_order_and_a_deaf_viewer_is_closed_alone(time: Time):
    fanout = Fanout(lambda channels: None)
    deaf, alert = watching(time), watching(time)
    fanout.add(deaf)
    fanout.add(alert)
    heard = []
    for number in range(MAX_TEXTS + 1):
        fanout.announce("state", 0, number, {})
        heard.append(orjson.loads(alert.next_text() or "")["sequence_event"])
    assert heard == list(range(1, MAX_TEXTS + 2))
    assert deaf.closing is not None
    assert deaf.closing[0] == TRY_AGAIN_LATER
    assert deaf.overflow.is_set()
    assert alert.closing is None


def test_wanted_channels_are_the_union_and_told_when_they_change(time: Time):
    told: list[frozenset[str]] = []
    fanout = Fanout(told.append)
    one, other = watching(time, poses=60.0), watching(time, contacts=5.0)
    fanout.add(one)
    fanout.add(other)
    fanout.remove(one)
    fanout.refresh()
    assert told == [{"poses"}, {"poses", "contacts"}, {"contacts"}]


def test_quantised_poses_go_to_who_asks_and_are_made_once(time: Time):
    poses = np.random.default_rng(1).random((40, 7))
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    table = poses_table(poses)
    moment = codec.share(FrameHeader(1, 0.1), {BlockTag.POSES: table}).numbered(1)
    codec.quantised.cache_clear()
    got = []
    for quantised in (False, True, True):
        viewer = Viewer("me", time)
        viewer.subscribe({"poses": 60.0}, quantised=quantised)
        viewer.offer(moment)
        data = viewer.next_frame()
        assert data is not None
        got.append(data)
    exact, compact = decode_frame(got[0]).blocks, decode_frame(got[1]).blocks
    assert list(exact) == [BlockTag.POSES]
    assert list(compact) == [BlockTag.QUANTISED, BlockTag.QUANTISED_BOX]
    assert got[1] == got[2]
    assert codec.quantised.cache_info()[:2] == (1, 1)
    # the history keeps what it kept
    assert moment.size == len(got[0])
    assert np.abs(decode(got[1]).poses[:, 0] - table["px"]).max() <= 1.0 / 131_070 + 1e-7


def test_poses_that_would_be_coarse_are_sent_as_they_are(time: Time):
    poses = np.zeros((2, 7))
    poses[:, 3], poses[1, 0] = 1.0, 66.0
    moment = codec.share(FrameHeader(1, 0.1), {BlockTag.POSES: poses_table(poses)}).numbered(1)
    viewer = Viewer("me", time)
    viewer.subscribe({"poses": 60.0}, quantised=True)
    viewer.offer(moment)
    data = viewer.next_frame()
    assert data == moment.encode()


def test_friction_costs_only_who_asks_for_it(time: Time):
    """16 bytes a contact, with the contacts it is of; both channels together send each once."""
    rows = {tag: np.ones(5, DTYPES[tag]) for tag in (BlockTag.CONTACTS, BlockTag.FRICTION)}
    moment = codec.share(FrameHeader(1, 0.1), rows).numbered(1)
    got: dict[str, bytes] = {}
    for wanted in ("contacts", "friction", "contacts friction"):
        viewer = watching(time, **dict.fromkeys(wanted.split(), 60.0))
        viewer.offer(moment)
        data = viewer.next_frame()
        assert data is not None
        got[wanted] = data
    assert list(decode_frame(got["contacts"]).blocks) == [BlockTag.CONTACTS]
    assert list(decode_frame(got["friction"]).blocks) == [BlockTag.CONTACTS, BlockTag.FRICTION]
    assert got["contacts friction"] == got["friction"]
    assert len(got["friction"]) - len(got["contacts"]) == 16 + 5 * 16


def test_missed_events_are_those_since_the_frame():
    fanout = Fanout(lambda channels: None)
    for sequence in range(10):
        fanout.announce("command", 0, sequence, {"n": sequence})
    missed, forgotten = fanout.missed(0, 7)
    assert [event["n"] for event in missed] == [7, 8, 9]
    assert not forgotten
    for sequence in range(10, 10 + MAX_TEXTS):
        fanout.announce("command", 0, sequence, {"n": sequence})
    assert fanout.missed(0, 3)[1]


def test_wait_returns_when_a_frame_becomes_due():
    async def watch() -> tuple[bytes | None, float]:
        loop = asyncio.get_running_loop()
        viewer = watching(loop.time, poses=20.0)
        viewer.offer(frame(1))
        assert viewer.next_frame() is not None
        viewer.offer(frame(2))
        began = loop.time()
        while (data := viewer.next_frame()) is None:
            await viewer.wait()
        return data, loop.time() - began

    data, seconds = asyncio.run(asyncio.wait_for(watch(), 5))
    assert data is not None
    assert seconds > 0.03


def test_history_answers_by_step_and_keeps_recent_frames_whole():
    one = frame(0).size + OVERHEAD
    history = History(one * 20)
    for sequence in range(21):
        history.add(frame(sequence))
    assert history.range == (0, 200)
    found, first = history.at(105), history.at(0)
    assert found is not None
    assert first is not None
    assert (found.step, first.step) == (100, 0)
    assert [f.step for f in history.between(160, 200, 2)] == [160, 180, 200]
    assert history.holds(0, 20)
    assert history.holds(0, 10)
    assert not history.holds(0, 9)
    assert not history.holds(1, 20)


def test_history_thins_what_is_old_and_says_how_far_apart_it_is():
    one = frame(0).size + OVERHEAD
    history = History(one * 20)
    for sequence in range(1000):
        history.add(frame(sequence))
        steps = [f.step for f in history.between(None, None)]
        assert steps[0] == 0
        assert steps[-1] == 10 * sequence
        assert len(steps) <= 21
        assert history.spacing(0) >= max(np.diff(steps), default=0)
    # ten recent ones, and older ones at even distances
    assert steps[-10:] == list(range(9900, 10000, 10))
    gaps = np.diff(steps[:-10])
    assert len(gaps) >= 4
    assert gaps.max() <= 2 * gaps.min()
    assert history.spacing(0) <= 10000 / 4
    shown = history.at(5000)
    assert shown is not None
    assert shown.step <= 5000


def test_frames_that_are_kept_long_have_no_contacts():
    history = History(1)
    contacts = encode_block(BlockTag.CONTACTS, np.zeros(3, DTYPES[BlockTag.CONTACTS]))
    for sequence in range(3):
        history.add(frame(sequence).with_block(BlockTag.CONTACTS, contacts))
    first, newest = history.at(0), history.newest
    assert first is not None
    assert newest is not None
    assert BlockTag.CONTACTS in newest.blocks
    assert BlockTag.CONTACTS not in first.blocks
    assert BlockTag.POSES in first.blocks


def test_history_replaces_a_repeated_step_and_drops_an_old_epoch():
    history = History(10**6)
    for sequence, step in ((1, 0), (2, 10), (3, 10)):
        history.add(frame(sequence, step=step))
    assert [f.header.sequence for f in history.between(None, None)] == [1, 3]
    history.add(frame(4, step=0, epoch=1))
    assert [f.header.sequence for f in history.between(None, None)] == [4]


def with_events(sequence: int, steps: list[int]) -> SharedFrame:
    shared = frame(sequence)
    if not steps:
        return shared
    table = np.zeros(len(steps), DTYPES[BlockTag.EVENTS])
    table["step"] = steps
    return shared.with_block(BlockTag.EVENTS, encode_block(BlockTag.EVENTS, table))


def told_steps(data: bytes | None) -> list[int]:
    assert data is not None
    blocks = decode_frame(data).blocks
    return blocks[BlockTag.EVENTS]["step"].tolist() if BlockTag.EVENTS in blocks else []


def test_history_keeps_events_of_frames_that_are_replaced_or_left_out():
    history = History(10**6)
    for sequence, step, events in ((1, 0, []), (2, 10, [4, 9]), (3, 10, []), (4, 10, [10])):
        history.add(replace_step(with_events(sequence, events), step))
    for sequence in range(5, 9):
        history.add(replace_step(with_events(sequence, [sequence]), 10 * sequence))
    kept = history.between(None, None)
    assert [told_steps(one.encode()) for one in kept] == [[], [4, 9, 10], [5], [6], [7], [8]]
    assert [told_steps(one.encode()) for one in history.between(None, None, 3)] == [
        [],
        [4, 9, 10, 5, 6],
    ]


def replace_step(shared: SharedFrame, step: int) -> SharedFrame:
    return SharedFrame(replace(shared.header, step=step), shared.blocks)


def test_contact_events_of_lost_frames_come_with_the_next_one(time: Time):
    viewer = watching(time, poses=60.0, events=60.0)
    for sequence, steps in ((1, [3, 4]), (2, []), (3, [25]), (4, [])):
        viewer.offer(with_events(sequence, steps))
    data = viewer.next_frame()
    assert told_steps(data) == [3, 4, 25]
    assert decode_frame(data or b"").header.sequence == 4
    time.now += 0.1
    viewer.offer(with_events(5, []))
    assert told_steps(viewer.next_frame()) == []


def test_contact_events_go_to_their_channel_only_and_not_with_key_frames(time: Time):
    blind, watcher = watching(time), watching(time, events=60.0)
    for viewer in (blind, watcher):
        viewer.offer(with_events(1, [7]))
    assert told_steps(blind.next_frame()) == []
    watcher.show(with_events(9, [1, 2]))
    assert watcher.next_frame() is None
    # what was waiting is not forgotten
    watcher.offer(with_events(10, []))
    assert told_steps(watcher.next_frame()) == [7]


def test_a_viewer_that_lets_contact_events_pile_up_is_closed(time: Time):
    viewer = watching(time, poses=60.0, events=60.0)
    steps = list(range(10_000))
    for sequence in range(1, 9):
        viewer.offer(with_events(sequence, steps))
    assert viewer.closing is not None
    assert viewer.closing[0] == TRY_AGAIN_LATER
