"""Those who follow something: in few pieces, and in few threads."""

import asyncio
import json
import threading

from anyio.to_thread import run_sync

from cardan.service.api.following import EVENTS_AT_ONCE, EventSource, Now, stream_of, when_ended
from cardan.service.api.layers import RequestLayer
from cardan.service.intake import SceneText
from cardan.service.simulations.admission import Admission, NewBatch, NewRun
from cardan.service.simulations.catalog import Catalog
from cardan.service.simulations.changes import Changes
from cardan.service.simulations.sqlite import open_database

# more than the threads that all requests have together
CROWD = 60
RUNS = 1200


def test_events_that_are_there_are_sent_together(tmp_path):
    engine = open_database(tmp_path / "queue.sqlite3")
    admission = Admission(engine, most_queued=RUNS, key_lifetime_s=60.0)
    catalog, changes = Catalog(engine), Changes()
    batch = NewBatch("b", ["/x"], [], None, "continue")
    runs = [NewRun({"/x": k}, 10) for k in range(RUNS)]
    batch_id = admission.batch(SceneText("hash", "{}"), batch, runs)
    source = EventSource(
        batch_id,
        "run",
        lambda after: catalog.batch_events(batch_id, after=after, size=EVENTS_AT_ONCE),
        lambda: Now(True, (), {}),
    )

    async def read():
        return [piece async for piece in stream_of(source, changes, 0)]

    pieces = asyncio.run(read())
    engine.dispose()
    lines = b"".join(pieces).decode().splitlines()
    told = [json.loads(line.partition(": ")[2]) for line in lines if line.startswith("data")]
    assert [one["run"] for one in told[:-1]] == list(range(RUNS))
    assert len(pieces) <= 4


def test_the_end_of_the_service_lets_all_followers_go():
    changes = Changes()
    source = EventSource("sim_a", "state", lambda _after: [], lambda: Now(False, (), {}))

    async def follow():
        waiting = asyncio.create_task(when_ended(changes, "sim_a", lambda: ("now", False), 60.0))
        stream = stream_of(source, changes, 0)
        first = await anext(stream)
        changes.close()
        assert [piece async for piece in stream] == []
        late = when_ended(changes, "sim_a", lambda: ("late", False), 60.0)
        return first, await asyncio.wait_for(waiting, 30.0), await asyncio.wait_for(late, 30.0)

    assert asyncio.run(follow())[1:] == ("now", "late")


def test_a_request_that_is_cut_off_is_told_why():
    sent = []

    async def long(_scope, _receive, _send):
        await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.disconnect"}

    async def cut_off():
        scope = {"type": "http", "method": "GET", "path": "/v1/limits", "headers": []}
        asking = asyncio.create_task(RequestLayer(long)(scope, receive, send))
        await asyncio.sleep(0.0)
        asking.cancel()
        await asking

    asyncio.run(cut_off())
    assert sent[0]["status"] == 503
    assert (b"retry-after", b"5") in sent[0]["headers"]
    problem = json.loads(sent[1]["body"])
    assert (problem["code"], problem["retryable"]) == ("service_stops", True)


def test_a_crowd_of_followers_leaves_threads_to_requests():
    changes = Changes()

    async def crowd():
        changes.bind(asyncio.get_running_loop())
        released = threading.Event()
        seen = []

        def look():
            seen.append(1)
            if len(seen) > 2 * CROWD:
                released.wait(60.0)
            return None, False

        def now():
            look()
            return Now(released.is_set(), (), {})

        source = EventSource("sim_a", "state", lambda _after: [], now)

        async def follow():
            return [piece async for piece in stream_of(source, changes, 0)]

        waiting = [when_ended(changes, "sim_a", look, 60.0) for _ in range(CROWD)]
        tasks = [asyncio.create_task(one) for one in (*waiting, *(follow() for _ in range(CROWD)))]
        while len(seen) < 2 * CROWD:
            await asyncio.sleep(0.01)
        changes.publish("sim_a")
        while len(seen) <= 2 * CROWD:
            await asyncio.sleep(0.01)
        try:
            # a request of somebody else
            return await asyncio.wait_for(run_sync(lambda: "answered"), 30.0)
        finally:
            released.set()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    assert asyncio.run(crowd()) == "answered"
