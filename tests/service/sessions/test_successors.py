"""A worker that goes on where one died: every command is done once, and answered."""

import json
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cardan.service.processes.channel import Channel
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop
from cardan.service.sessions import frames
from cardan.service.sessions.folder import KeyFrame, LogWriter, SessionFolder
from cardan.service.sessions.key_frames import KeyFrames
from cardan.service.sessions.live_run import LiveRun
from cardan.service.sessions.log import LoggedCommand
from cardan.service.sessions.messages import (
    Accepted,
    Command,
    Message,
    PlaybackState,
    Refused,
    Result,
    Start,
    Status,
)
from cardan.service.sessions.worker import main
from tests.service.sessions.conftest import SCENE

IMPULSE = {"body": "box", "impulse": [1.0, 0.0, 0.0], "point": None}
BOX = 1


class KilledError(Exception):
    """Stands for SIGKILL."""


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    made = SessionFolder(tmp_path / "session")
    made.create(json.dumps(SCENE))
    return made


def lived(folder: SessionFolder, commands: Sequence[Command], fatal: int = 0) -> list[Message]:
    """What a worker says that takes these commands, until it stops or is killed."""
    near, far = socket.socketpair()
    service, worker = Channel(near), Channel(far)
    start = Start(str(folder.path), PlaybackState(), (0, 0), [], (0, 0), 60.0, 60.0, 2**20, fatal)
    for message in (start, *commands, Stop()):
        service.send(message)
    try:
        main(worker, WorkerLimits(2**32))
    except KilledError:
        pass
    finally:
        worker.close()
    said: list[Message] = []
    while True:
        try:
            said.append(service.receive(5.0))
        except EOFError:
            service.close()
            return said


def results(said: Sequence[Message]) -> list[Result]:
    return [message for message in said if isinstance(message, Result)]


def ops(folder: SessionFolder) -> list[str]:
    return [entry.op for entry in folder.log()]


def speed_of_box(folder: SessionFolder) -> Any:
    (state,) = results(lived(folder, [Command(99, "state", {})]))
    assert state.value is not None
    return state.value["velocities"][BOX][0]


def test_a_command_whose_answer_two_workers_did_not_live_to_give_is_done_once(
    folder: SessionFolder,
):
    lived(folder, [])
    LogWriter(folder).append(LoggedCommand(1, 0, 0, "apply_impulse", IMPULSE, None))
    # it repeats the line, keeps a key frame with it inside, and ends before it takes the command
    lived(folder, [])
    (answer,) = results(lived(folder, [Command(1, "apply_impulse", IMPULSE)]))
    assert (answer.number, answer.applied_step, answer.problem) == (1, 0, None)
    assert speed_of_box(folder) == pytest.approx(1.0)
    assert ops(folder) == ["apply_impulse"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_reset_is_done_once_though_its_worker_dies_in_it(
    folder: SessionFolder, monkeypatch: pytest.MonkeyPatch, when: str
):
    write = KeyFrames.write

    def killed(self: KeyFrames, key: KeyFrame) -> None:
        """Around the moment at which the new epoch is on the disk."""
        if key.epoch == 0 or when == "after":
            write(self, key)
        if key.epoch == 1:
            raise KilledError

    steps = Command(1, "step", {"n": 10_000_000})
    with monkeypatch.context() as patch:
        patch.setattr(KeyFrames, "write", killed)
        said = lived(folder, [steps, Command(2, "reset", {})])
    # who waited for the steps knows that the reset has ended them
    assert [(one.number, (one.value or {})["interrupted"]) for one in results(said)] == [
        (1, "reset")
    ]
    assert Accepted in map(type, said)
    said = lived(folder, [Command(2, "reset", {})])
    (answer,) = [one for one in results(said) if one.number == 2]
    assert (answer.applied_step, answer.problem) == (0, None)
    assert {message.epoch for message in said if isinstance(message, Status)} <= {0, 1}
    assert folder.key_moments()[-1][0] == 1
    assert ops(folder) == ["step", "reset"]


def test_a_command_that_was_written_down_and_would_be_refused_is_withdrawn(folder: SessionFolder):
    lived(folder, [])
    grab = {"body": "floor", "point": [0, 0, 0]}
    log = LogWriter(folder)
    log.append(LoggedCommand(1, 0, 0, "apply_impulse", IMPULSE, None))
    log.append(LoggedCommand(2, 0, 0, "grab", grab, None))
    (answer,) = results(lived(folder, [Command(2, "grab", grab)]))
    assert answer.problem is not None
    assert answer.problem["code"] == "command_impossible"
    assert ops(folder) == ["apply_impulse"]
    assert speed_of_box(folder) == pytest.approx(1.0)


@pytest.mark.parametrize("op", ["apply_impulse", "reset", "state"])
def test_a_command_that_workers_were_lost_with_is_refused_and_not_done(
    folder: SessionFolder, op: str
):
    lived(folder, [])
    log = LogWriter(folder)
    log.append(LoggedCommand(1, 0, 0, "apply_impulse", IMPULSE, None))
    if op == "apply_impulse":
        log.append(LoggedCommand(2, 0, 0, op, IMPULSE, None))
    given = IMPULSE if op == "apply_impulse" else {}
    # a worker that is told so may be lost too
    lived(folder, [], fatal=2)
    said = lived(folder, [Command(2, op, given), Command(3, "pause", {})], fatal=2)
    refused, paused = results(said)
    assert refused.problem is not None
    assert refused.problem["code"] == "worker_lost"
    assert op in refused.problem["detail"]
    assert (paused.number, paused.problem) == (3, None)
    assert ops(folder) == ["apply_impulse", "pause"]
    assert speed_of_box(folder) == pytest.approx(1.0)


def test_a_command_that_was_done_is_answered_though_workers_were_lost_with_it(
    folder: SessionFolder,
):
    lived(folder, [])
    LogWriter(folder).append(LoggedCommand(1, 0, 0, "apply_impulse", IMPULSE, None))
    # it keeps a key frame with the line inside
    lived(folder, [])
    (answer,) = results(lived(folder, [Command(1, "apply_impulse", IMPULSE)], fatal=1))
    assert answer.problem is None
    assert speed_of_box(folder) == pytest.approx(1.0)


@pytest.mark.parametrize("op", ["apply_impulse", "reset"])
def test_a_command_that_needs_too_much_memory_is_refused_and_a_successor_goes_on(
    folder: SessionFolder, monkeypatch: pytest.MonkeyPatch, op: str
):
    def apply(*_: Any) -> None:
        raise MemoryError

    given = IMPULSE if op == "apply_impulse" else {}
    lived(folder, [Command(1, "apply_impulse", IMPULSE)])
    with monkeypatch.context() as patch:
        patch.setattr(LiveRun, "apply", apply)
        # it has the present state half changed, so it takes no more
        said = lived(folder, [Command(2, op, given), Command(3, "pause", {})])
    assert not any(isinstance(message, Refused) for message in said)
    (refused,) = results(said)
    assert refused.problem is not None
    assert (refused.number, refused.problem["code"]) == (2, "too_large")
    assert "The command" in refused.problem["detail"]
    (paused,) = results(lived(folder, [Command(3, "pause", {})]))
    assert paused.problem is None
    assert ops(folder) == ["apply_impulse", "pause"]
    assert speed_of_box(folder) == pytest.approx(1.0)


def test_steps_that_were_answered_are_done_before_the_next_command(folder: SessionFolder):
    """Also after the service was killed: the only key frame is that of the start."""
    lived(folder, [Command(1, "step", {"n": 1})])
    (key,) = [key for key in folder.latest_keys() if key.step == 1]
    folder.remove_key(key.epoch, key.step)
    told = results(lived(folder, [Command(2, "apply_impulse", IMPULSE)]))
    assert (told[-1].number, told[-1].applied_step) == (2, 1)


@pytest.mark.parametrize("where", ["noted", "sent"])
def test_a_series_that_needs_too_much_memory_is_refused_and_the_session_goes_on(
    folder: SessionFolder, monkeypatch: pytest.MonkeyPatch, where: str
):
    send = Channel.send

    def sample(*_: Any) -> None:
        raise MemoryError

    def send_small(channel: Channel, message: Message) -> None:
        if isinstance(message, Result) and message.value:
            raise MemoryError
        send(channel, message)

    step = Command(1, "step", {"n": 1, "sample_every": 1})
    with monkeypatch.context() as patch:
        if where == "noted":
            patch.setattr(frames, "sample", sample)
        else:
            patch.setattr(Channel, "send", send_small)
        said = lived(folder, [step])
    (refused,) = results(said)
    assert refused.problem is not None
    assert (refused.number, refused.step, refused.problem["code"]) == (1, 1, "too_large")
    assert refused.problem["errors"][0]["pointer"] == "/sample_every"
    assert not any(isinstance(message, Refused) for message in said)
    (state,) = results(lived(folder, [Command(2, "state", {})]))
    assert state.value is not None
    assert state.value["step"] == 1


def test_a_command_of_the_log_that_needs_too_much_memory_is_no_fault_of_the_scene(
    folder: SessionFolder, monkeypatch: pytest.MonkeyPatch
):
    def replay(*_: Any) -> None:
        raise MemoryError

    lived(folder, [])
    LogWriter(folder).append(LoggedCommand(1, 0, 0, "apply_impulse", IMPULSE, None))
    with monkeypatch.context() as patch:
        patch.setattr(LiveRun, "replay", replay)
        said = lived(folder, [Command(1, "apply_impulse", IMPULSE)])
    assert not any(isinstance(message, Refused | Result) for message in said)
    # the session counts this loss, and tells the next worker to go on without it
    (answer,) = results(lived(folder, [Command(1, "apply_impulse", IMPULSE)], fatal=1))
    assert answer.problem is not None
    assert ops(folder) == []
