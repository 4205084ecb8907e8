"""What a session does about its worker and its viewers, whatever comes first."""

import asyncio
import errno
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import WorkerLostError
from cardan.service.sessions import replayer
from cardan.service.sessions.folder import LogWriter, SessionFolder
from cardan.service.sessions.live_run import LiveRun
from cardan.service.sessions.live_session import MAX_PENDING, LiveSession
from cardan.service.sessions.log import LoggedCommand
from cardan.service.sessions.messages import (
    Command,
    Frame,
    Heartbeat,
    PlaybackState,
    Result,
    Start,
)
from cardan.service.sessions.replay_messages import Found, FrameAt
from cardan.service.sessions.supervisor import Watch
from tests.service.sessions.conftest import SCENE, bouncing
from tests.service.sessions.puppet import PATIENCE, POLICY, Puppet, playing, session_in, viewer_of

GRAB = {"body": "box", "point": [0, 0, 0]}
REFUSED = ServiceError(ErrorCode.COMMAND_IMPOSSIBLE, "only a dynamic body can be grabbed").problem


def played(path: Path, part: Callable[[LiveSession, Puppet], Awaitable[None]]) -> None:
    """Let a session begin and play a part of its life, then end it."""

    async def play() -> None:
        puppet = Puppet()
        session = session_in(path / "session", puppet)
        async with playing(puppet, session):
            await asyncio.gather(session.start(), puppet.begin())
            await part(session, puppet)

    asyncio.run(play())


def test_what_another_has_hold_of_is_let_go_when_control_is_taken(tmp_path: Path):
    """Its release would be refused, and the body pulled for ever."""

    async def part(session: LiveSession, puppet: Puppet) -> None:
        pupil = viewer_of(session, "pupil")
        viewer_of(session, "teacher")
        grabbed = session.submit("grab", GRAB, viewer=pupil)
        await puppet.answer("grab")
        await grabbed
        session.control.take("teacher")
        await puppet.answer("release")

    played(tmp_path, part)


def test_whoever_takes_control_keeps_what_it_has_hold_of(tmp_path: Path):
    async def part(session: LiveSession, puppet: Puppet) -> None:
        teacher = viewer_of(session, "teacher")
        grabbed = session.submit("grab", GRAB, viewer=teacher)
        await puppet.answer("grab")
        await grabbed
        session.control.take("teacher")
        session.submit("pause", {})
        await puppet.answer("pause")

    played(tmp_path, part)


def test_a_viewer_can_leave_however_many_commands_wait(tmp_path: Path):
    async def part(session: LiveSession, puppet: Puppet) -> None:
        viewer = viewer_of(session, "me")
        grabbed = session.submit("grab", GRAB, viewer=viewer)
        await puppet.answer("grab")
        await grabbed
        for _ in range(MAX_PENDING):
            session.submit("pause", {})
        with pytest.raises(ServiceError) as caught:
            session.submit("pause", {})
        assert caught.value.code is ErrorCode.TOO_MANY_COMMANDS
        session.leave(viewer)
        ops = [(await puppet.hear(Command)).op for _ in range(MAX_PENDING + 1)]
        assert ops == ["pause"] * MAX_PENDING + ["release"]

    played(tmp_path, part)


def test_a_grab_that_is_refused_takes_nothing_out_of_a_hand(tmp_path: Path):
    async def part(session: LiveSession, puppet: Puppet) -> None:
        one, other = viewer_of(session, "one"), viewer_of(session, "other")
        for viewer, problem in ((one, None), (other, REFUSED)):
            answer = session.submit("grab", GRAB, viewer=viewer)
            await puppet.answer("grab", problem)
            await answer
        session.leave(one)
        await puppet.answer("release")

    played(tmp_path, part)


def test_a_viewer_that_left_before_its_grab_was_answered_holds_nothing(tmp_path: Path):
    async def part(session: LiveSession, puppet: Puppet) -> None:
        one, other = viewer_of(session, "one"), viewer_of(session, "other")
        session.submit("grab", GRAB, viewer=one)
        session.leave(one)
        await puppet.answer("grab")
        await puppet.answer("release")
        # what the next one takes hold of meanwhile stays in its hand
        first = session.submit("grab", GRAB, viewer=other)
        await puppet.answer("grab")
        await first
        third = viewer_of(session, "third")
        second = session.submit("grab", GRAB, viewer=third)
        session.leave(other)
        await puppet.answer("grab")
        await second
        session.submit("pause", {})
        await puppet.answer("pause")

    played(tmp_path, part)


def test_whoever_was_pulled_away_a_body_neither_moves_nor_releases_that_of_another(
    tmp_path: Path,
):
    """It still drags, and lets go at last, while the other one pulls."""

    async def part(session: LiveSession, puppet: Puppet) -> None:
        one, other = viewer_of(session, "one"), viewer_of(session, "other")
        first = session.submit("grab", GRAB, viewer=one)
        await puppet.answer("grab")
        await first
        second = session.submit("grab", GRAB, viewer=other)
        # already while the other one's is on its way
        move = {"target": [0, 0, 1]}
        assert (await session.submit("grab_move", move, viewer=one)).problem is None
        await puppet.answer("grab")
        await second
        assert (await session.submit("release", {}, viewer=one)).problem is None
        # the hand of the other, and programs, which have none
        for viewer, op in ((other, "grab_move"), (None, "grab_move"), (other, "release")):
            answer = session.submit(op, move if op == "grab_move" else {}, viewer=viewer)
            await puppet.answer(op)
            await answer

    played(tmp_path, part)


def test_who_had_hold_of_a_body_when_the_service_stopped_has_let_go(tmp_path: Path):
    async def play() -> None:
        puppet = Puppet()
        session_in(tmp_path / "session", puppet)
        folder = SessionFolder(tmp_path / "session")
        log = LogWriter(folder)
        log.append(LoggedCommand(7, 0, 10, "grab", GRAB, "me"))
        log.append(LoggedCommand(8, 0, 12, "grab_move", {"target": [0, 0, 1]}, "me"))
        session = LiveSession.stored(folder, POLICY, puppet.start)
        async with playing(puppet, session):
            paused = session.submit("pause", {})
            await puppet.begin()
            await puppet.answer("release")
            await puppet.answer("pause")
            await paused

    asyncio.run(play())


def test_a_worker_that_is_not_understood_is_replaced(tmp_path: Path):
    async def part(session: LiveSession, puppet: Puppet) -> None:
        waiting = session.submit("pause", {})
        await puppet.hear(Command)
        puppet.say(Frame(b"no frame"))
        while len(puppet.channels) == 1:
            await asyncio.sleep(0.001)
        await puppet.begin()
        await puppet.answer("pause")
        assert (await waiting).problem is None
        assert session.restarts == 1

    played(tmp_path, part)


def test_a_worker_that_takes_nothing_any_more_is_replaced(tmp_path: Path):
    """What is on its way to it has more bytes than its socket holds."""

    async def play() -> None:
        puppet = Puppet()
        policy = replace(POLICY, watch=Watch(silence=0.2, grace=0.01))
        session = session_in(tmp_path / "session", puppet, policy)
        async with playing(puppet, session):
            await asyncio.gather(session.start(), puppet.begin())
            restored = session.submit("restore", {}, body=bytes(2**22))
            while len(puppet.channels) == 1:
                await asyncio.sleep(0.001)
            await puppet.begin()
            await puppet.answer("restore")
            assert (await restored).problem is None

    asyncio.run(play())


def test_a_command_that_two_workers_die_of_is_the_cause_and_the_third_is_told(tmp_path: Path):
    """The session goes on, however often somebody tries it again."""

    async def part(session: LiveSession, puppet: Puppet) -> None:
        for attempt in range(2):
            first = session.submit("set_state", {"q": {}, "qd": {}})
            second = session.submit("pause", {})
            for told in range(3):
                lives = len(puppet.channels)
                command = await puppet.hear(Command)
                assert command.op == "set_state"
                if told == 2:
                    break
                puppet.channels[-1].close()
                while len(puppet.channels) == lives:
                    await asyncio.sleep(0.001)
                start = await puppet.hear(Start)
                assert start.fatal == (command.number if told == 1 else 0)
                puppet.ready()
            puppet.say(Result(command.number, 0, 0, 0.0, None, REFUSED))
            await puppet.answer("pause")
            assert (await first).problem == REFUSED
            assert (await second).problem is None
            assert session.restarts == 2 * (attempt + 1)

    played(tmp_path, part)


def test_a_worker_that_dies_while_it_repeats_a_command_counts_too(tmp_path: Path):
    async def part(session: LiveSession, puppet: Puppet) -> None:
        waiting = session.submit("set_state", {"q": {}, "qd": {}})
        number = (await puppet.hear(Command)).number
        for fatal in (0, number):
            lives = len(puppet.channels)
            puppet.channels[-1].close()
            while len(puppet.channels) == lives:
                await asyncio.sleep(0.001)
            assert (await puppet.hear(Start)).fatal == fatal
        puppet.ready()
        await puppet.answer("set_state", REFUSED)
        assert (await waiting).problem == REFUSED

    played(tmp_path, part)


def test_a_session_is_in_use_as_long_as_it_does_what_it_was_told(tmp_path: Path):
    """Ten million steps take longer than a session may be idle, or without its viewers."""

    async def part(session: LiveSession, puppet: Puppet) -> None:
        for number, op in enumerate(("step", "pause"), 1):
            answer = session.submit(op, {})
            session.last_used = 0.0
            puppet.say(Heartbeat(0, 5, 0.005, 1.0))
            # heard in this order
            puppet.say(Result(number, 0, 5, 0.005, {}, None))
            await answer
            assert session.last_used > 0.0
        session.last_used = 0.0
        puppet.say(Heartbeat(0, 6, 0.006, 1.0))
        while session.progress.step < 6:
            await asyncio.sleep(0.001)
        assert session.last_used == 0.0

    played(tmp_path, part)


def test_whoever_opens_a_session_that_begins_waits_for_it(tmp_path: Path):
    async def play() -> None:
        puppet = Puppet()
        session = session_in(tmp_path / "session", puppet)
        async with playing(puppet, session):
            opened = asyncio.create_task(session.open())
            starting = asyncio.create_task(session.start())
            while not puppet.channels:
                await asyncio.sleep(0.001)
            await puppet.hear(Start)
            assert not opened.done()
            # not even the loss of its first worker ends the wait
            puppet.channels.pop().close()
            await puppet.begin()
            await asyncio.gather(opened, starting)
            assert session.progress.body_names == ["box"]

    asyncio.run(play())


def test_a_session_that_is_deleted_while_it_starts_is_none(tmp_path: Path):
    async def play() -> None:
        puppet = Puppet()
        session = session_in(tmp_path / "session", puppet)
        async with playing(puppet, session):
            starting = asyncio.create_task(session.start())
            while not puppet.channels:
                await asyncio.sleep(0.001)
            await session.close("it was deleted")
            with pytest.raises(ServiceError) as caught:
                await starting
            assert caught.value.code is ErrorCode.SESSION_CLOSED

    asyncio.run(play())


def test_a_process_for_which_no_socket_is_left_is_one_that_could_not_be_started(
    monkeypatch: pytest.MonkeyPatch,
):
    def no_more(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("cardan.service.processes.launcher.socket.socketpair", no_more)
    with pytest.raises(WorkerLostError, match="Too many open files"):
        WorkerLauncher().start("cardan.service.sessions.worker", WorkerLimits(2**30))


def test_steps_that_are_asked_for_as_the_run_ends_are_answered():
    """The session lets them pass while the word that the run has ended is on its way to it."""
    scene = bouncing(0.5, 1.0)
    scene["simulation"]["duration"] = 0.01
    run = LiveRun(json.dumps(scene), PlaybackState(), None)
    run.apply(1, "step", {"n": 10, "sample_every": None}, b"")
    while run.phase == "paused":
        run.work(0.0)
    assert run.phase == "finished"
    run.apply(2, "step", {"n": 5, "sample_every": None}, b"")
    first, second = run.answers
    assert (first.number, first.value) == (1, {"steps_done": 10})
    assert (second.number, second.step) == (2, 10)
    assert second.value == {"steps_done": 0, "interrupted": "finished"}


def test_a_process_that_computes_the_past_and_hangs_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """However often somebody asks meanwhile, and gives up."""
    monkeypatch.setattr(replayer, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(replayer, "IDLE_SECONDS", 0.25)

    async def play() -> None:
        puppet = Puppet()
        past = replayer.Replayers(puppet.start)
        ask = partial(past.ask, "ses_1", tmp_path, FrameAt(0, 0, 5))
        refused = 0
        while len(puppet.channels) < 2:
            with pytest.raises(ServiceError) as caught:
                await ask()
            assert caught.value.code is ErrorCode.COMPUTE_TIMED_OUT
            refused += 1
            assert refused < 50
        assert refused > 2
        monkeypatch.setattr(replayer, "ANSWER_SECONDS", PATIENCE)
        answered = asyncio.create_task(ask())
        while not answered.done():
            order = await asyncio.to_thread(puppet.channels[-1].receive, 0.1)
            if isinstance(order, FrameAt):
                puppet.channels[-1].send(Found(order.number, 5, 0.005))
        assert (await answered).step == 5
        await past.close_all()
        puppet.close()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("op", "arguments"), [("reset", {"q": {"nothing": 0.1}, "qd": {}}), ("restore", {})]
)
def test_a_way_back_that_is_refused_changes_nothing(op: str, arguments: dict[str, object]):
    """Neither a run that has failed nor steps that are under way."""
    failed = LiveRun(json.dumps(SCENE), PlaybackState(), None)
    huge = {"body": "rod", "linear": [1e50] * 3, "angular": [1e50] * 3}
    failed.apply(1, "set_velocity", huge, b"")
    stepping = LiveRun(json.dumps(SCENE), PlaybackState(), None)
    for run in (failed, stepping):
        run.apply(2, "step", {"n": 5, "sample_every": None}, b"")
    failed.work(0.0)
    before = failed.failure()
    assert before is not None
    answered = len(failed.answers)
    for run in (failed, stepping):
        with pytest.raises(ServiceError):
            run.apply(3, op, arguments, b"no snapshot")
        assert run.epoch == 0
    assert (failed.phase, failed.failure()) == ("failed", before)
    assert len(failed.answers) == answered
    assert not stepping.answers
    while stepping.busy:
        stepping.work(0.0)
    assert [answer.value for answer in stepping.answers] == [{"steps_done": 5}]
