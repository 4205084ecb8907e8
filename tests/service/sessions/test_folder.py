"""The folder of a session: what a dead process leaves in it can always be read."""

import itertools
from pathlib import Path

import pytest

from cardan.service.sessions.folder import About, FolderError, KeyFrame, LogWriter, SessionFolder
from cardan.service.sessions.key_frames import KeyFrames
from cardan.service.sessions.log import LoggedCommand
from cardan.service.sessions.messages import PlaybackState


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    made = SessionFolder(tmp_path / "ses_1")
    made.create('{"version": 1}')
    return made


def key(step: int, epoch: int = 0, data: bytes = b"state") -> KeyFrame:
    run = PlaybackState(False, None, epoch, [{"number": 1, "start": 0, "target": 9}])
    return KeyFrame(step, 0.1 * step, run, 3, data)


def entry(number: int) -> LoggedCommand:
    return LoggedCommand(number, 0, 10 * number, "gravity", {"value": [0.0, 0.1, -9.81]}, "me")


def test_a_folder_is_a_session_once_it_says_what_it_is(folder: SessionFolder):
    assert not folder.is_begun
    about = About("ses_1", "näme", 12.5, False, None, {"session": "ses_0", "step": 3})
    folder.write_about(about)
    again = SessionFolder(folder.path)
    assert again.is_begun
    assert again.about() == about
    assert folder.scene() == '{"version": 1}'
    (folder.path / "session.json").write_text("{")
    with pytest.raises(FolderError, match="session"):
        folder.about()


def test_a_key_frame_comes_back_with_all_its_bytes(folder: SessionFolder):
    data = bytes(range(256)) * 100
    folder.write_key(key(7, 2, data))
    assert folder.read_key(2, 7) == key(7, 2, data)
    assert folder.read_key(2, 8) is None


@pytest.mark.parametrize("damage", [0, 5, 40, -1])
def test_a_damaged_key_frame_is_passed_over(folder: SessionFolder, damage: int):
    for step in (0, 10):
        folder.write_key(key(step, data=bytes(1000)))
    path = folder.path / "keys" / "0-10.key"
    data = bytearray(path.read_bytes())
    data[damage] ^= 0x41
    path.write_bytes(data)
    assert [found.step for found in folder.latest_keys()] == [0]
    for length in (0, 3, 30, len(data) - 1):
        path.write_bytes(data[:length])
        assert [found.step for found in folder.latest_keys()] == [0]


def test_key_frames_stay_within_their_bytes_and_keep_the_first_and_the_latest(
    folder: SessionFolder,
):
    size = folder.write_key(key(0, data=bytes(1000)))
    keys = KeyFrames(folder, 10 * size + 200)
    for step in range(1, 500):
        keys.write(key(step, data=bytes(1000)))
        steps = [at for _, at in folder.key_moments()]
        assert steps[0] == 0
        assert steps[-1] == step
        assert len(steps) <= 10
    gaps = [b - a for a, b in itertools.pairwise(steps)]
    assert len(steps) == 10
    # even, up to those that were written last
    assert max(gaps) <= 2 * 499 / 9 + 2
    # a process that goes on knows them all
    assert KeyFrames(folder, 10**9).first_step == 0
    keys.write(key(3, epoch=1))
    assert folder.key_moments() == [(1, 3)]


def test_the_log_ends_with_a_whole_line_whatever_was_written(folder: SessionFolder):
    writer = LogWriter(folder)
    for number in (1, 2, 3):
        writer.append(entry(number))
    assert folder.log(1) == [entry(2), entry(3)]
    writer.append(entry(4))
    writer.withdraw()
    assert writer.lines == 3
    path = folder.path / "log.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"number": 4, "ep')
    assert folder.log() == [entry(1), entry(2), entry(3)]
    again = LogWriter(folder)
    assert again.lines == 3
    again.append(entry(5))
    assert path.read_bytes().startswith(whole)
    assert [one.number for one in folder.log()] == [1, 2, 3, 5]


def test_key_frames_that_the_disk_refuses_are_logged_when_that_begins_and_ends(
    folder: SessionFolder, caplog: pytest.LogCaptureFixture
):
    keys = KeyFrames(folder, 10_000)
    place = folder.path / "keys"
    for turn in (0, 100):
        place.rmdir()
        place.touch()
        for step in range(turn, turn + 5):
            keys.write(key(step))
        place.unlink()
        place.mkdir()
        for step in (turn + 10, turn + 20):
            keys.write(key(step))
        assert folder.key_moments() == [(0, turn + 10), (0, turn + 20)]
        for path in place.iterdir():
            path.unlink()
    levels = [record.levelname for record in caplog.records]
    assert levels == ["ERROR", "WARNING"] * 2
    assert "from step 10 on" in caplog.messages[1]
