"""Runs of an order that are computed side by side end as those that are computed alone."""

import json
import socket

import pytest

from cardan.engine.compiler.lanes import HAS_LANES, W
from cardan.engine.runs import lane_group
from cardan.schemas import Limits
from cardan.schemas.examples import example_document
from cardan.service.processes.channel import Channel
from cardan.service.recordings.checksums import file_sum
from cardan.service.simulations import messages as m
from cardan.service.simulations.execution import Execution
from cardan.service.simulations.resumable import ResumableRun
from cardan.service.simulations.together import Together
from tests.engine.test_verdict_doubling import sleeping_top

pytestmark = pytest.mark.skipif(not HAS_LANES, reason="this way to compile has no lanes")

ENERGY = {"type": "metric", "metric": "energy.final"}


def pendulum(steps=1200, **joint):
    scene = example_document("double-pendulum")
    scene["simulation"] |= {"duration": steps * 1e-3, "formulation": "auto"}
    scene["joints"][1] |= joint
    return json.dumps(scene)


def items(runs, record="metrics"):
    return [m.RunItem({"/bodies/1/mass": 0.5 + 0.1 * k}, "", record) for k in range(runs)]


class Desk:
    """An execution in this process, and the other end of its channel."""

    def __init__(self):
        near, far = socket.socketpair()
        self.service = Channel(near)
        self.execution = Execution(Channel(far), Limits())

    def work(self, order):
        """What the runs of an order ended with."""
        self.execution.work(order)
        found = []
        while not isinstance(message := self.service.receive(1.0), m.Finished):
            assert message is not None
            if isinstance(message, m.Done):
                found.append(message)
        return found


@pytest.fixture
def computed(monkeypatch):
    """How many runs each group had."""
    counts = []
    run = Together.run

    def counted(self, *args):
        found = run(self, *args)
        counts.append(len(found))
        return found

    monkeypatch.setattr(Together, "run", counted)
    return counts


def told(done):
    """A summary without what depends on the clock."""
    return {name: value for name, value in done.summary.items() if name != "timing"}


SERVO = {"type": "position", "stiffness": 40.0, "damping": 1.0, "target": 0.3}


@pytest.mark.parametrize(
    "document",
    [pendulum(), pendulum(motor=SERVO), pendulum(spring={"stiffness": 9.0}, damping=0.1)],
    ids=["free", "servo", "spring and damper"],
)
def test_outcomes_are_those_of_runs_alone_in_every_bit(computed, document):
    desk, measure = Desk(), {"objective": ENERGY, "constraints": []}
    together = desk.work(m.RunOrder(document, items(W + 2), measure=measure))
    assert computed == [W, 2]
    alone = [desk.work(m.RunOrder(document, [item], measure=measure))[0] for item in items(W + 2)]
    assert [done.number for done in together] == list(range(W + 2))
    assert computed == [W, 2]
    for done, own in zip(together, alone, strict=True):
        assert (done.event, done.step) == (own.event, own.step) == ("succeeded", 1200)
        assert told(done) == told(own)
    assert len({done.summary["state_hash"] for done in together}) == W + 2


def test_a_run_that_is_no_scene_fails_alone_and_others_go_on(computed):
    runs = items(W + 1)
    runs[1] = m.RunItem({"/bodies/1/mass": -1.0}, "", "metrics")
    found = Desk().work(m.RunOrder(pendulum(20), runs))
    assert [done.event for done in found] == ["succeeded", "failed"] + ["succeeded"] * (W - 1)
    assert found[1].error["code"] == "scene_invalid"
    assert max(computed) == W - 1
    ended = Desk().work(m.RunOrder(pendulum(20), runs, until_failure=True))
    assert [done.event for done in ended] == ["succeeded", "failed"]


def test_runs_that_fail_side_by_side_are_computed_one_by_one(monkeypatch):
    def too_large(*_):
        raise MemoryError

    monkeypatch.setattr(Together, "run", too_large)
    found = Desk().work(m.RunOrder(pendulum(20), items(2)))
    assert [done.event for done in found] == ["succeeded"] * 2


def test_a_run_that_is_cancelled_ends_its_group_and_itself_alone():
    """The request is there before the group begins."""
    desk = Desk()
    desk.service.send(m.StopRun("cancelled", 2))
    found = desk.work(m.RunOrder(pendulum(), items(W)))
    others = ["succeeded"] * (W - 3)
    assert [done.event for done in found] == ["succeeded"] * 2 + ["cancelled", *others]


def test_runs_that_are_told_to_part_go_on_alone(monkeypatch):
    """The first group is; what it was told is not for the second."""
    order = m.RunOrder(pendulum(), items(2 * W), of_batch=True)
    together = Desk().work(order)
    monkeypatch.setattr("cardan.service.simulations.execution.LISTEN_SECONDS", 0.0)
    desk, run = Desk(), Together.run
    ended: list[list[bool]] = []

    def parted(self, *args):
        if not ended:
            desk.service.send(m.Apart())
        found = run(self, *args)
        ended.append([one.has_ended for one in found])
        return found

    monkeypatch.setattr(Together, "run", parted)
    found = desk.work(order)
    assert ended == [[False] * W, [True] * W]
    assert [done.event for done in found] == ["succeeded"] * (2 * W)
    assert [told(done) for done in found] == [told(done) for done in together]


def test_what_lanes_do_not_give_is_computed_alone(computed):
    found = Desk().work(m.RunOrder(pendulum(20, friction=0.1), items(2)))
    assert [done.event for done in found] == ["succeeded"] * 2
    assert sum(computed) == 0


def test_what_a_study_measures_of_recordings_is_that_of_runs_alone(computed):
    kinetic = {"type": "signal", "body": None, "joint": None, "column": "kinetic"}
    measure = {"objective": kinetic | {"reduce": "max", "target": 0.0}, "constraints": []}
    found = Desk().work(m.RunOrder(pendulum(), items(W), measure=measure))
    assert computed == [W]
    alone = [Desk().work(m.RunOrder(pendulum(), [one], measure=measure))[0] for one in items(W)]
    assert [told(done) for done in found] == [told(done) for done in alone]
    assert len({done.summary["measures"]["objective"][0] for done in found}) == W


def test_recordings_are_those_of_runs_alone(computed, tmp_path):
    document = pendulum(motor=SERVO)
    folders = [[tmp_path / f"{how}{k}" for k in range(W)] for how in ("together", "alone")]
    runs = [
        [m.RunItem(one.overrides, str(folder)) for one, folder in zip(items(W), some, strict=True)]
        for some in folders
    ]
    found = Desk().work(m.RunOrder(document, runs[0], of_batch=True))
    assert computed == [W]
    for run in runs[1]:
        Desk().work(m.RunOrder(document, [run], of_batch=True))
    assert all(done.stored for done in found)
    for one, other in zip(*folders, strict=True):
        for table in ("bodies", "joints", "energy"):
            assert file_sum(one / f"{table}.parquet") == file_sum(other / f"{table}.parquet")


def test_a_recording_that_is_not_stored_fails_its_run_alone(computed, tmp_path):
    (tmp_path / "file").write_text("")
    runs = [m.RunItem({}, str(tmp_path / f"run{k}")) for k in range(3)]
    runs[1] = m.RunItem({}, str(tmp_path / "file" / "run"))
    found = Desk().work(m.RunOrder(pendulum(60), runs, of_batch=True))
    assert computed == [3]
    assert [done.event for done in found] == ["succeeded", "failed", "succeeded"]
    assert [done.number for done in found] == [0, 1, 2]
    assert found[1].error["code"] == "storage_failed"


def test_recordings_too_large_for_a_group_are_made_one_by_one(computed, monkeypatch, tmp_path):
    monkeypatch.setattr("cardan.service.simulations.together.MOST_RECORDED", 1000)
    runs = [m.RunItem({}, str(tmp_path / f"run{k}")) for k in range(3)]
    found = Desk().work(m.RunOrder(pendulum(60), runs, of_batch=True))
    assert [done.stored for done in found] == [True] * 3
    assert sum(computed) == 0


def test_the_verdict_of_a_run_of_a_batch_depends_on_no_size_of_its_group():
    """A run by itself is done once more with another step, which finds that the top falls."""
    document, run = json.dumps(sleeping_top(105.0, 1e-3)), m.RunItem({}, "", "metrics")
    groups = [Desk().work(m.RunOrder(document, [run] * n, of_batch=True)) for n in (1, 2)]
    verdicts = [done.summary["verdict"] for group in groups for done in group]
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert verdicts[0]["status"] == "trusted"
    by_itself = Desk().work(m.RunOrder(document, [run]))[0]
    assert by_itself.summary["verdict"]["status"] == "suspect"


def falling(height, duration=0.4):
    """A ball on a vertical rail, which falls on the ground within the run or does not."""
    ball = {"name": "ball", "mass": 1.0, "position": [0, 0, height]}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1}]
    plane = {"type": "plane", "normal": [0, 0, 1]}
    rail = {"name": "rail", "type": "slider", "parent": "world", "child": "ball", "axis": [0, 0, 1]}
    simulation = {"dt": 1e-3, "duration": duration, "formulation": "reduced"}
    scene = {"simulation": simulation, "joints": [rail]}
    scene["bodies"] = [{"name": "ground", "type": "static", "shapes": [plane]}, ball]
    return json.dumps(scene)


@pytest.mark.parametrize(("height", "groups"), [(0.101, 1), (0.2, 2), (1.0, 2)])
def test_where_a_whole_group_touches_soon_the_next_is_not_tried(computed, height, groups):
    found = Desk().work(m.RunOrder(falling(height), items(2 * W)))
    assert [done.event for done in found] == ["succeeded"] * (2 * W)
    assert [done.summary["contacts"]["max_count"] for done in found] == [height < 0.5] * (2 * W)
    assert sum(computed) == groups * W


def test_a_group_that_was_stopped_says_nothing_about_the_next():
    together = Together(falling(1.0), Limits())
    stopped = together.run(items(W), False, lambda _step: True)
    assert not any(one.has_ended for one in stopped)
    assert all(one.has_ended for one in together.run(items(W), False, lambda _step: False))
    touching = Together(falling(0.101), Limits())
    assert all(one.has_ended for one in touching.run(items(W), False, lambda _step: False))
    assert touching.run(items(W), False, lambda _step: False) == []


def on_a_rail(steps, force):
    """A force pushes a body along a rail."""
    body = {"name": "cart", "mass": 1.0, "inertia": [0.1] * 3}
    motor = {"type": "force", "target": force}
    rail = {"name": "rail", "type": "slider", "parent": "world", "child": "cart", "axis": [1, 0, 0]}
    simulation = {"dt": 1e-3, "duration": steps * 1e-3, "formulation": "reduced"}
    joints = [rail | {"anchor": [0, 0, 0], "motor": motor}]
    return json.dumps({"simulation": simulation, "bodies": [body], "joints": joints})


def test_a_run_that_fails_in_its_last_step_has_failed(computed, tmp_path):
    """A force throws every second one out of all bounds in the step that is the last one."""
    quiet = {"times": [0, 1], "values": [0, 0]}
    runs = []
    for k in range(4):
        thrown = {"times": [0, 0.6, 0.601], "values": [0.3, 0.3, 1e50 if k % 2 else 0.3]}
        runs.append(m.RunItem({"/joints/0/motor/target": thrown}, str(tmp_path / f"{k}")))
    (failed,) = Desk().work(m.RunOrder(on_a_rail(2000, quiet), [runs[1]], of_batch=True))
    assert failed.event == "failed"
    last = on_a_rail(failed.step, quiet)
    (alone,) = Desk().work(m.RunOrder(last, [runs[1]], of_batch=True))
    assert (alone.event, alone.step) == ("failed", failed.step)
    computed.clear()
    found = Desk().work(m.RunOrder(last, runs, of_batch=True))
    assert computed == [4]
    assert [done.event for done in found] == ["succeeded", "failed"] * 2
    assert told(found[1]) == told(alone)
    assert found[1].error == alone.error


@pytest.fixture
def handed_over(monkeypatch):
    """Worlds leave their group as soon as they have been alone for a stretch."""
    monkeypatch.setattr(lane_group, "MOST_ALONE_S", 0.0)


@pytest.mark.usefixtures("handed_over")
def test_runs_that_leave_their_group_end_as_those_that_are_computed_alone(tmp_path):
    kinetic = {"type": "signal", "body": None, "joint": None, "column": "kinetic"}
    measure = {"objective": kinetic | {"reduce": "max", "target": 0.0}, "constraints": []}
    document = falling(0.2, duration=0.6)
    folders = [[tmp_path / f"{how}{k}" for k in range(3)] for how in ("together", "alone")]
    runs = [[m.RunItem({}, str(one)) for one in some] for some in folders]
    found = Desk().work(m.RunOrder(document, runs[0], measure=measure, of_batch=True))
    alone = [
        Desk().work(m.RunOrder(document, [run], measure=measure, of_batch=True))[0]
        for run in runs[1]
    ]
    assert [told(done) for done in found] == [told(done) for done in alone]
    assert [done.stored for done in found] == [True] * 3
    for one, other in zip(*folders, strict=True):
        for table in ("bodies", "contacts", "energy"):
            assert file_sum(one / f"{table}.parquet") == file_sum(other / f"{table}.parquet")


@pytest.mark.usefixtures("handed_over")
def test_a_run_that_left_its_group_goes_on_from_its_checkpoint(computed, tmp_path, monkeypatch):
    """Released on its way, it goes on alone from where it was; the next attempt has no group."""
    document = falling(0.2, duration=0.6)

    def attempt(number):
        folders = [str(tmp_path / "checkpoints" / f"run{k}-{number}") for k in range(2)]
        runs = [m.RunItem({}, str(tmp_path / f"{k}"), checkpoint=f) for k, f in enumerate(folders)]
        return m.RunOrder(document, runs, of_batch=True)

    monkeypatch.setattr("cardan.service.simulations.execution.LISTEN_SECONDS", 0.0)
    desk, resumed = Desk(), []
    finish = ResumableRun.finish

    def released(run, progress, should_stop):
        resumed.append(run.resumed_step)
        desk.service.send(m.StopRun("released"))
        return finish(run, progress, should_stop)

    monkeypatch.setattr(ResumableRun, "finish", released)
    assert [done.event for done in desk.work(attempt(1))] == ["released"] * 2
    assert computed == [2]
    assert min(resumed) > 128
    seen = []

    def noted(run, progress, should_stop):
        seen.append(run.resumed_step)
        return finish(run, progress, should_stop)

    monkeypatch.setattr(ResumableRun, "finish", noted)
    found = Desk().work(attempt(2))
    assert [done.event for done in found] == ["succeeded"] * 2
    assert all(later > step for later, step in zip(seen, resumed, strict=True))
    own = Desk().work(m.RunOrder(document, [m.RunItem({}, str(tmp_path / "own"))], of_batch=True))
    assert told(found[0]) == told(own[0])
    assert file_sum(tmp_path / "0" / "bodies.parquet") == file_sum(
        tmp_path / "own" / "bodies.parquet"
    )


@pytest.mark.usefixtures("handed_over")
@pytest.mark.parametrize(("height", "alone"), [(1.0, False), (0.2, True)])
def test_progress_says_how_many_runs_share_the_time(monkeypatch, height, alone):
    monkeypatch.setattr("cardan.service.simulations.execution.PROGRESS_SECONDS", 0.0)
    desk, told = Desk(), []
    desk.execution.work(m.RunOrder(falling(height), items(W)))
    while not isinstance(message := desk.service.receive(1.0), m.Finished):
        if isinstance(message, m.Progress) and message.number == 0:
            told.append(message.together)
    assert told[0] == W
    assert told == sorted(told, reverse=True)
    assert (told[-1] == 1) is alone
