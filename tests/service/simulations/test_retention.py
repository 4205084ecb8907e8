"""What is beyond age or bytes is removed, all of it, and nothing else."""

from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.exc import NoResultFound

from cardan.service import clock
from cardan.service.intake import SceneText
from cardan.service.recordings.folder import sweep
from cardan.service.recordings.results import FolderResults
from cardan.service.recordings.sizes import RecordingSizes
from cardan.service.simulations.admission import Admission, NewBatch, NewRun
from cardan.service.simulations.catalog import Catalog
from cardan.service.simulations.queue import Queue
from cardan.service.simulations.retention import Keep, Retention
from cardan.service.simulations.rows import Outcome
from cardan.service.simulations.sqlite import open_database
from cardan.service.simulations.states import RunEvent
from cardan.service.stored_scenes import SceneContent
from tests.service.simulations.conftest import SCENE

DAY = 86_400.0


@pytest.fixture
def ended(desk, tmp_path, monkeypatch):
    """Simulations that ended one, two, ... days ago, with recordings of 1000 bytes."""
    results = tmp_path / "results"
    now = clock.now()

    def end(claim, days, event=RunEvent.SUCCEEDED):
        folder = results / claim.folder
        folder.mkdir(parents=True)
        (folder / "bodies.parquet").write_bytes(bytes(1000))
        monkeypatch.setattr(clock, "now", lambda: now - days * DAY)
        outcome = Outcome(event, step=1, summary={"a": 1}, result=claim.folder)
        desk.queue.finish(claim, outcome)
        monkeypatch.undo()

    return end


def retention(desk, tmp_path, keep, remove_scenes=lambda _before: 0):
    results = tmp_path / "results"

    def discard(name):
        kept = {path.name for path in results.iterdir()} - {name}
        sweep(results, frozenset(kept))

    sizes = RecordingSizes(FolderResults(results).size)
    return Retention(desk.queue, desk.catalog, sizes, keep, discard, remove_scenes=remove_scenes)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_scenes_that_nobody_uses_are_removed(desk, tmp_path, monkeypatch):
    scenes, now = desk.scenes, clock.now()

    def stored(days, name):
        monkeypatch.setattr(clock, "now", lambda: now - days * DAY)
        return scenes.create(SceneContent(b"{}", name, name, "hash"), None)

    unused, used, changed, young = [
        stored(days, name) for days, name in ((9, "a"), (9, "b"), (9, "c"), (1, "d"))
    ]
    monkeypatch.setattr(clock, "now", lambda: now - 2 * DAY)
    scenes.note_use(scenes.get(used))
    assert scenes.replace(changed, "c", SceneContent(b"[]", "e", "c", "hash"))
    monkeypatch.undo()
    keep = Keep(unused_scene_s=5 * DAY)
    keeper = retention(desk, tmp_path, keep, scenes.remove_unused)
    keeper.sweep()
    assert scenes.get(unused) is None
    assert [row["id"] for row in scenes.page(before=None, size=9)] == [young, changed, used]


def test_nothing_is_removed_by_default(desk, tmp_path, ended):
    run = desk.simulation()
    ended(desk.queue.claim("me"), 1000)
    keeper = retention(desk, tmp_path, Keep())
    keeper.start()
    keeper.stop()
    assert keeper.sweep() == 0
    assert desk.catalog.run(run)["result"] in names(tmp_path / "results")


def test_what_is_too_old_goes_as_a_whole(desk, tmp_path, ended):
    old, young, waiting = (desk.simulation() for _ in range(3))
    for days in (10, 1):
        ended(desk.queue.claim("me"), days)
    desk.queue.cancel(waiting)
    waiting = desk.simulation()
    gone, half = desk.batch(2), desk.batch(2)
    desk.queue.claim("me")  # the simulation that waits is being computed
    for days in (20, 8, 20):
        ended(desk.queue.claim("me"), days)
    keeper = retention(desk, tmp_path, Keep(age_s=7 * DAY))
    assert keeper.sweep() == 3
    assert desk.catalog.run(old) is None
    assert desk.catalog.batch(gone) is None
    assert desk.catalog.run(young)["result"] in names(tmp_path / "results")
    assert desk.state(waiting) == "starting"
    # one of its runs has not ended
    assert len(desk.catalog.runs_of(half)) == 2
    assert len(names(tmp_path / "results")) == 2
    assert desk.catalog.events(old) == []
    assert keeper.sweep() == 0


def test_recordings_beyond_the_bytes_go_first_ended_first(desk, tmp_path, ended):
    runs = [desk.simulation() for _ in range(5)]
    late = desk.simulation()
    for days in (5, 9, 3, 2, 1):
        ended(desk.queue.claim("me"), days)
    ended(desk.queue.claim("me"), 100, RunEvent.TIMED_OUT)
    keeper = retention(desk, tmp_path, Keep(recording_bytes=4000))
    assert keeper.sweep() == 2
    kept = [desk.catalog.run(run)["result"] is not None for run in runs]
    assert kept == [False, False, True, True, True]
    # it could not be made again
    assert desk.catalog.run(late)["result"] is not None
    assert desk.catalog.run(runs[1])["summary"] == {"a": 1}
    assert len(names(tmp_path / "results")) == 4
    assert keeper.sweep() == 0


def test_checkpoints_of_runs_that_ended_in_the_queue_are_removed(services):
    runs = [services.admission.simulation(SCENE, NewRun({}, 10)) for _ in range(3)]
    claims = [services.queue.claim_group("me", lambda _batch, _waiting: 1)[0] for _ in runs]
    for claim in claims:
        services.checkpoints.of(claim.run_id, 1).path.mkdir(parents=True)
    # as by a service that is stopped
    services.queue.finish_all([(claim, Outcome(RunEvent.RELEASED)) for claim in claims])
    services.queue.cancel(runs[0])
    services.queue.cancel(runs[1])
    assert services.catalog.remove_run(runs[1]) == []
    services.retention.sweep()
    assert names(services.settings.data / "checkpoints") == {f"{runs[2]}-1"}


class Meanwhile(Catalog):
    """Something happens between what is found and what is done about it."""

    def __init__(self, engine, happens):
        super().__init__(engine)
        self.happens = happens

    def recordings(self):
        found = super().recordings()
        self.happens()
        return found

    def remove_batch(self, batch_id, **more):
        self.happens()
        return super().remove_batch(batch_id, **more)


def test_two_services_remove_no_more_than_one(desk, tmp_path, ended):
    runs = [desk.simulation() for _ in range(6)]
    other = retention(desk, tmp_path, Keep(recording_bytes=4000))
    desk.catalog = Meanwhile(desk.open(), other.sweep)
    keeper = retention(desk, tmp_path, Keep(recording_bytes=4000))
    for days in (6, 5, 4, 3):
        ended(desk.queue.claim("me"), days)
    assert keeper.sweep() == 0
    for days in (2, 1):
        ended(desk.queue.claim("me"), days)
    # the other one removes two, whose sizes are known here
    assert keeper.sweep() == 0
    kept = [desk.catalog.run(run)["result"] is not None for run in runs]
    assert kept == [False] * 2 + [True] * 4


def test_a_recording_that_was_made_again_meanwhile_goes_with_its_batch(desk, tmp_path, ended):
    batch = desk.batch(1)
    claim = desk.queue.claim("me")
    ended(claim, 9)
    run, results = claim.run_id, tmp_path / "results"
    desk.queue.forget_result(run, claim.folder)
    desk.catalog = Meanwhile(desk.open(), lambda: desk.queue.adopt_result(run, claim.folder))
    assert retention(desk, tmp_path, Keep(age_s=7 * DAY)).sweep() == 1
    assert desk.catalog.batch(batch) is None
    assert names(results) == set()


def test_an_error_leaves_no_recording_that_nobody_knows(desk, tmp_path, ended):
    run = desk.simulation()
    ended(desk.queue.claim("me"), 9)
    desk.batch(1)
    ended(desk.queue.claim("me"), 9)

    def fails():
        raise RuntimeError

    desk.catalog = Meanwhile(desk.open(), fails)
    with pytest.raises(RuntimeError):
        retention(desk, tmp_path, Keep(age_s=7 * DAY)).sweep()
    assert desk.catalog.run(run) is None
    assert names(tmp_path / "results") == desk.queue.referenced_results()


def test_deleting_one_of_many_runs_looks_at_no_other(tmp_path):
    engine = open_database(tmp_path / "queue.sqlite3")
    counted = []

    @event.listens_for(engine, "connect")
    def count(connection, _record):
        connection.set_progress_handler(lambda: counted.append(1), 100)

    engine.dispose()
    admission, queue = Admission(engine, most_queued=10_000, key_lifetime_s=1.0), Queue(engine)
    catalog = Catalog(engine)
    costs = []
    for more in (50, 500):
        # runs of one scene, and one of its own
        same = [NewRun({}, 10)] * more
        admission.batch(SCENE, NewBatch("b", [], [], None, "continue"), same)
        run = admission.simulation(SceneText(f"of {more}", "{}"), NewRun({}, 10))
        assert queue.cancel(run)
        counted.clear()
        assert catalog.remove_run(run) == []
        costs.append(len(counted))
        with pytest.raises(NoResultFound):
            catalog.scene_document(f"of {more}")
    assert costs[1] <= costs[0] + 1
    assert catalog.scene_document(SCENE.hash) == SCENE.document
    engine.dispose()
