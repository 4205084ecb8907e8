"""Several processes write at once: claims, ends, cancellations and the order of events.

A test that waits for a lock asks the database whether the other side waits.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

import pytest
from sqlalchemy import text

from cardan.service import clock
from cardan.service.simulations.rows import Outcome, worker_lost_error
from cardan.service.simulations.states import RunEvent, RunState
from tests.service.real_server import wait_for
from tests.service.simulations.one_by_one import Queue

WON = Outcome(RunEvent.SUCCEEDED, step=10, summary={"a": 1})
BAD = Outcome(RunEvent.FAILED, step=3, error={"code": "engine_diverged", "message": "m"})
LOST = Outcome(RunEvent.WORKER_LOST, error=worker_lost_error("signal 9"))
BACK = Outcome(RunEvent.RELEASED)


# SQLite has one writer at a time
only_shared = pytest.mark.parametrize("database", ["postgresql"], indirect=True)

WAITING = text(
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@contextmanager
def held_up(desk, statement, run_or_batch, work):
    """Work that waits for what a statement of another transaction holds."""
    engine = desk.open()

    def waiting():
        with engine.connect() as looking:
            return looking.execute(WAITING).scalar_one()

    with ThreadPoolExecutor(1) as thread, engine.connect() as connection:
        connection.execute(text(statement), {"id": run_or_batch})
        future = thread.submit(work)
        try:
            wait_for(waiting, what="the other transaction")
            yield connection, future
        finally:
            connection.rollback()


@only_shared
def test_who_is_fenced_meanwhile_is_told_so(desk):
    run = desk.simulation()
    claim = desk.queue.claim("slow")
    taken = "UPDATE runs SET attempt = 2, owner = 'quick' WHERE id = :id"
    with held_up(desk, taken, run, lambda: desk.queue.renew(claim, 5)) as (connection, renewed):
        connection.commit()
        assert renewed.result() is None
    claim = desk.batch(2) and desk.queue.claim("me")
    ended = "UPDATE runs SET state = 'cancelling' WHERE id = :id"
    with held_up(desk, ended, claim.run_id, lambda: desk.queue.finish(claim, BACK)) as held:
        held[0].commit()
        assert held[1].result() is RunState.CANCELLED


@only_shared
@pytest.mark.parametrize("how", ["finish", "recover"])
def test_a_batch_is_held_before_its_runs(desk, how):
    batch = desk.batch(3)
    queue = Queue(desk.open(), lease_s=-1.0)
    claim = queue.claim("me")
    assert claim is not None
    ends = {
        "finish": lambda: queue.finish(claim, BAD),
        "recover": lambda: queue.recover(everything=False),
    }
    hold = "SELECT seq FROM batches WHERE id = :id FOR UPDATE"
    with held_up(desk, hold, batch, ends[how]) as (connection, _):
        # fails when the one who waits for the batch holds the run already
        mine = text("SELECT id FROM runs WHERE id = :id FOR UPDATE NOWAIT")
        assert connection.execute(mine, {"id": claim.run_id}).all() == [(claim.run_id,)]


@only_shared
def test_what_is_being_claimed_is_not_told_to_be_cancelled(desk):
    batch = desk.batch(3, on_failure="stop")
    claim = desk.queue.claim("me")
    other = desk.catalog.runs_of(batch)[1]["id"]
    taken = "UPDATE runs SET state = 'starting', owner = 'another' WHERE id = :id"
    with held_up(desk, taken, other, lambda: desk.queue.finish_all([(claim, BAD)])) as held:
        held[0].commit()
        assert other not in held[1].result()
    assert desk.states(batch) == ["failed", "starting", "cancelled"]
    assert [event["data"]["status"] for event in desk.catalog.events(other)] == ["queued"]


@only_shared
def test_workers_and_requests_get_into_nobodys_way(desk):
    batches = [desk.batch(12, on_failure=rule) for rule in ("continue", "stop_after:9")]
    for _ in range(10):
        desk.simulation()
    stopped = threading.Event()

    def work(number):
        queue = Queue(desk.open(), lease_s=30.0)
        ends, rounds = [WON, BAD, LOST, BACK], 0
        while claims := queue.claim_group(f"worker {number}", lambda _batch, _waiting: 4):
            queue.renew_all(claims, {claim.run_id: (1, 2.0) for claim in claims})
            # in another order than they were claimed in
            mixed = [(c, ends[(i + rounds + number) % 4]) for i, c in enumerate(claims)]
            queue.finish_all(mixed[::-1])
            rounds += 1
        return rounds

    def disturb():
        queue = Queue(desk.open())
        while not stopped.is_set():
            queue.recover(everything=False)
            queue.cancel_batch(batches[0], "enough")
            queue.retry_failed(batches[0], desk.admission.reserve_capacity)

    def follow(batch):
        seen: list[int] = []
        while not stopped.is_set():
            new = desk.catalog.batch_events(batch, after=seen[-1] if seen else 0, size=50)
            seen += [event["seq"] for event in new]
        return seen

    with ThreadPoolExecutor() as threads:
        # they raise when the database ends a circle of waiting
        workers = [threads.submit(work, number) for number in range(4)]
        followed = [threads.submit(follow, batch) for batch in batches]
        disturbing = threads.submit(disturb)
        rounds_done = [worker.result() for worker in workers]
        stopped.set()
        disturbing.result()
    desk.queue.cancel_batch(batches[0], "enough")
    for batch, seen in zip(batches, followed, strict=True):
        all_ = [event["seq"] for event in desk.catalog.batch_events(batch, after=0, size=9999)]
        # nothing became visible before something with a lower number
        assert seen.result() == all_[: len(seen.result())]
        assert all(a < b for a, b in pairwise(all_))
        counts = desk.catalog.batch_progress(desk.catalog.batch(batch))["counts"]
        assert counts["queued"] + counts["starting"] + counts["running"] == 0
        assert sum(counts.values()) == 12
    assert sum(rounds_done) >= 9


def test_max_parallel_holds_however_many_claim_at_once(desk):
    batch = desk.batch(30, max_parallel=2)
    everybody = threading.Barrier(6)

    def claim(number):
        queue = Queue(desk.open())
        everybody.wait()
        return queue.claim_group(f"worker {number}", lambda _batch, _waiting: 2)

    with ThreadPoolExecutor(6) as threads:
        claimed = [group for group in threads.map(claim, range(6)) if group]
    # of those who ask at the same moment some may be sent away, and ask again
    assert 1 <= len(claimed) <= 2
    assert desk.states(batch).count("starting") == sum(len(group) for group in claimed)


def test_leases_end_by_the_clock_of_the_database(desk, monkeypatch):
    run = desk.simulation()
    assert desk.queue.claim("me").run_id == run
    right = clock.now()
    monkeypatch.setattr(clock, "now", lambda: right + 3600.0)
    # SQLite has no clock but that of its one machine
    shared = desk.open().dialect.name == "postgresql"
    assert desk.queue.recover(everything=False) == ([] if shared else [run])
