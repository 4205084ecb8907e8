"""Processes that die at the worst moment: accepted work ends exactly once, nothing stays stuck."""

import asyncio
import io
import json
import os
import signal
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import httpx
import psutil
import pytest
from fastapi import FastAPI

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document
from cardan.service.api import problems, trajectories
from cardan.service.api.health import healthz
from cardan.service.api.problems import ProblemError
from cardan.service.compute.messages import CheckOrder
from cardan.service.compute.pool import ComputePool
from cardan.service.intake import SceneText
from cardan.service.processes import starting
from cardan.service.processes import worker as worker_module
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.services import Services, opened
from cardan.service.settings import Settings
from cardan.service.simulations.admission import NewRun
from cardan.service.simulations.states import TERMINAL
from tests.service.real_server import DROP, Server, end_of, wait_for
from tests.service.stopped import stop_with_next_order

pytestmark = pytest.mark.e2e

KILLS = 3  # as many losses fail a run
ENDED = 'event: state\ndata: {"status":"succeeded"'


def pendulum():
    """For seconds: long enough to be killed more than once."""
    scene = example_document("double-pendulum")
    scene["simulation"]["duration"] = 250.0
    scene["record"] = {"every": 1000, "channels": ["pose", "velocity", "energy"]}
    return scene


def processes(server, word):
    """Process ids of the server's descendants with a word in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if parent == server.process.pid and word.encode() in words:
            found.append(int(entry.name))
    return found


def fork_server(server):
    return wait_for(lambda: processes(server, "multiprocessing.forkserver"), what="fork server")[0]


def starts_a_process():
    """Whether some thread of this process waits for the fork server to fork."""
    for newest in sys._current_frames().values():
        frame: FrameType | None = newest
        while frame is not None:
            if frame.f_code.co_name == "read_signed":
                return True
            frame = frame.f_back
    return False


class Here:
    """This very process, as if it were a server."""

    process = type("Process", (), {"pid": os.getpid()})


def fork_server_here():
    return fork_server(Here)


def replace_fork_server():
    """Kill the fork server and wait for another one, which any thread may be the first to start."""
    starting.start_fork_server()
    ended = fork_server_here()
    starting.end_fork_server()
    wait_for(
        lambda: (
            starting.start_fork_server()
            or set(processes(Here, "multiprocessing.forkserver")) - {ended}
        ),
        what="another fork server",
    )


@pytest.fixture(scope="module")
def beaten(tmp_path_factory):
    """A server for the tests that kill the processes which it starts."""
    made = Server(tmp_path_factory.mktemp("beaten"), {"CARDAN_WORKERS": "2"}).start()
    yield made
    made.stop()


@pytest.fixture
def services(tmp_path):
    with opened(Settings(data=tmp_path / "data", workers=2)) as working:
        wait_for(lambda: working.dispatcher.ready, 300, "both slots")
        yield working


def test_a_fork_server_that_dies_takes_no_run_with_it(beaten):
    undisturbed = Simulation(load_scene(pendulum()))
    undisturbed.advance(undisturbed.total_steps)
    with beaten.client() as client:
        info = client.post("/v1/simulations", json={"scene": pendulum()}).json()
        where = info["links"]["self"]
        for killed in range(KILLS):
            wait_for(
                lambda: (now := client.get(where).json())["status"] == "running" and now["step"],
                what="a run that steps",
            )
            victim = fork_server(beaten)
            os.kill(victim, signal.SIGKILL)
            wait_for(lambda at=victim: at not in processes(beaten, "forkserver"))
            assert client.get("/healthz").status_code == 200, killed
        ended = end_of(client, info)
        assert ended["status"] == "succeeded", ended
        summary = client.get(ended["links"]["summary"]).json()
        assert summary["state_hash"] == undisturbed.state_hash()
        assert client.get(info["links"]["events"]).text.count(ENDED) == 1
        wait_for(lambda: client.get("/readyz").status_code == 200, what="every slot again")


def test_a_fork_server_that_dies_while_it_starts_workers_stops_no_slot(services):
    limits = WorkerLimits(memory=2**32, file=0, scene=services.settings.limits)
    compute = ComputePool(WorkerLauncher(), limits)
    frozen = fork_server_here()
    os.kill(frozen, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as callers:
        answer = callers.submit(compute.wait_for_answer, example_order(), within_s=120.0)
        wait_for(starts_a_process, what="somebody who starts a worker")
        os.kill(frozen, signal.SIGKILL)
        assert answer.result(120).faults == ()
    compute.close()
    assert services.dispatcher.dead_slots == 0
    wait_for(
        lambda: services.dispatcher.ready and services.dispatcher.fork_server,
        120,
        "every slot again",
    )
    assert run_here(services) == "succeeded"


def test_a_start_takes_nothing_out_of_the_environment(monkeypatch):
    """Another thread that lists it would fail at the name that is gone."""
    delete, removed = os._Environ.__delitem__, []

    def noted(environ, name):
        removed.append(name)
        delete(environ, name)

    monkeypatch.setattr(os._Environ, "__delitem__", noted)
    replace_fork_server()
    assert removed == []
    path = os.environ["PYTHONPATH"]
    replace_fork_server()
    assert os.environ["PYTHONPATH"] == path


def test_a_fork_server_that_hangs_is_replaced(services, monkeypatch):
    monkeypatch.setattr(starting, "START_SECONDS", 1.0)
    frozen = fork_server_here()
    os.kill(frozen, signal.SIGSTOP)
    compute = ComputePool(services.dispatcher.launcher, WorkerLimits(2**32))
    assert compute.wait_for_answer(example_order(), within_s=120.0).faults == ()
    compute.close()
    assert fork_server_here() != frozen
    wait_for(lambda: services.dispatcher.ready, 120, "every slot again")
    assert run_here(services) == "succeeded"


def test_a_fork_server_that_still_loads_is_not_taken_for_one_that_hangs(monkeypatch):
    # it loads for longer than an old one may be silent, which forks for other services meanwhile
    monkeypatch.setattr(starting, "START_SECONDS", 1.0)
    replace_fork_server()
    started = fork_server_here()
    worker = WorkerLauncher().start("cardan.service.compute.worker", WorkerLimits(2**32))
    worker.kill()
    assert fork_server_here() == started


def test_slots_survive_a_fork_server_that_dies_while_it_starts_their_workers(tmp_path):
    settings = Settings(data=tmp_path / "data", workers=2)
    launcher = WorkerLauncher()
    launcher.prepare()
    frozen = fork_server_here()
    os.kill(frozen, signal.SIGSTOP)
    services = Services(settings, launcher)
    services.start()
    try:
        wait_for(starts_a_process, what="a slot that starts a worker")
        os.kill(frozen, signal.SIGKILL)
        wait_for(
            lambda: services.dispatcher.ready and services.dispatcher.fork_server, 120, "every slot"
        )
        assert services.dispatcher.dead_slots == 0
        assert run_here(services) == "succeeded"
    finally:
        services.close()


def test_a_fork_server_outlives_the_thread_that_happened_to_start_it(services):
    os.kill(fork_server_here(), signal.SIGKILL)
    limits = WorkerLimits(memory=2**32, file=0, scene=services.settings.limits)
    compute = ComputePool(WorkerLauncher(), limits)
    asking = threading.Thread(target=compute.wait_for_answer, args=(example_order(),))
    asking.start()
    asking.join()
    wait_for(lambda: services.dispatcher.ready, 120, "every slot again")
    alive = [slot.worker for lane in compute.lanes.values() for slot in lane.slots if slot.worker]
    assert [(one.alive, one.orphaned) for one in alive] == [(True, False)]
    compute.close()


def test_idle_workers_that_are_stopped_are_replaced_before_a_run_needs_them(services):
    idle = {slot._worker.pid for slot in services.dispatcher._slots}
    for pid in idle:
        os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: not any(map(psutil.pid_exists, idle)), 60, "other workers")
    assert run_here(services) == "succeeded"


def test_a_worker_that_was_killed_may_be_ended_once_more():
    worker = WorkerLauncher().start("cardan.service.compute.worker", WorkerLimits(2**32))
    worker.kill()
    worker.quit(1.0)
    assert not worker.alive


class EndsThreads:
    """A queue that ends the thread which asks it."""

    def recover(self, *, everything: bool, slot: str) -> None:
        raise SystemExit


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_thread_of_the_queue_is_told(services):
    slot = services.dispatcher._slots[0]
    worker = slot._worker
    # what no handler of exceptions may hold back, where one turn begins
    slot._queue = EndsThreads()
    slot.thread.join(60)
    assert not worker.alive
    with pytest.raises(ProblemError, match="1 of 2 threads of the queue have ended") as told:
        asyncio.run(healthz(services))
    assert told.value.status == 503


def test_workers_that_were_paused_with_the_service_are_not_lost(own_server):
    """As in a container that is paused; the service goes on first, and finds nothing said."""
    own_server.environ["CARDAN_SILENCE_S"] = "5"
    own_server.start()
    with own_server.client() as client:
        session = client.post("/v1/sessions", json={"scene": pendulum(), "paused": False}).json()
        order = {"scene": pendulum(), "timeout_s": 60.0}
        links = client.post("/v1/simulations", json=order).json()["links"]
        run = links["self"]
        wait_for(lambda: client.get(run).json()["step"], what="a run that steps")
        everybody = psutil.Process(own_server.process.pid)
        workers = everybody.children(recursive=True)
        for process in (everybody, *workers):
            process.suspend()
        # longer than a session's worker, or a run's, may be silent
        time.sleep(7.0)
        everybody.resume()
        assert client.get("/healthz").status_code == 200
        for process in workers:
            process.resume()
        ended = end_of(client, client.get(run).json())
        assert ended["status"] == "succeeded"
        assert client.get(links["events"]).text.count('"status":"starting"') == 1
        found = client.get(session["links"]["self"]).json()
        assert (found["restarts"], found["state"]) == (0, "running")


@pytest.mark.parametrize("kind", ["run", "request"])
def test_a_process_that_takes_no_order_is_replaced(services, monkeypatch, kind):
    """It is stopped, and the order has more bytes than its socket holds."""
    monkeypatch.setattr(worker_module, "TAKE_SECONDS", 1.0)
    shape = {"type": "box", "size": [0.1, 0.1, 0.1]}
    posts = [
        {"name": f"post {k}", "type": "static", "position": [0, 5 + k, 0], "shapes": [shape]}
        for k in range(4000)
    ]
    large = json.dumps(DROP | {"bodies": [*DROP["bodies"], *posts]})
    if kind == "run":
        for slot in services.dispatcher._slots:
            stop_with_next_order(slot._worker)
        run_id = services.admission.simulation(SceneText("large", large), NewRun({}, 100))
        services.queue.wake.set()
        row = wait_for(lambda: (now := services.catalog.run(run_id))["state"] in TERMINAL and now)
        assert (row["state"], row["losses"]) == ("succeeded", 2)
        return
    order = CheckOrder(large, {}, 0.0)
    assert services.compute.wait_for_answer(order, within_s=120.0).faults == ()
    stop_with_next_order(services.compute.lanes["large"].slots[0].worker)
    assert services.compute.wait_for_answer(order, within_s=120.0).faults == ()


def test_a_killed_checker_is_replaced(beaten):
    with beaten.client() as client:
        tree = {"scene": "double-pendulum"}
        before = client.post("/v1/dynamics/model", json=tree)
        assert before.status_code == 200, before.text
        os.kill(fork_server(beaten), signal.SIGKILL)
        after = client.post("/v1/dynamics/model", json=tree)
        assert (after.status_code, after.json()) == (200, before.json())


def test_a_killed_import_is_done_again_by_another_process(beaten):
    pytest.importorskip("mujoco")
    model = b"""<mujoco><worldbody><body pos="0 0 1"><freejoint/>
      <geom type="sphere" size="0.1"/></body></worldbody></mujoco>"""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("model.xml", model)
    with beaten.client() as client, ThreadPoolExecutor(1) as callers:

        def post() -> httpx.Response:
            kind = {"Content-Type": "application/zip"}
            return client.post("/v1/scenes:import", content=archive.getvalue(), headers=kind)

        asked = callers.submit(post)
        victim = wait_for(lambda: processes(beaten, "cardan.service.compute.importer"))[0]
        os.kill(victim, signal.SIGKILL)
        assert asked.result(90).status_code == 200, asked.result().text
        # whoever is killed again and again is told to come back, not that the model is bad
        asked = callers.submit(post)
        seen: set[int] = set()
        while not asked.done():
            for pid in set(processes(beaten, "cardan.service.compute.importer")) - seen:
                seen.add(pid)
                os.kill(pid, signal.SIGKILL)
        assert (asked.result().status_code, asked.result().json()["code"]) == (503, "worker_lost")
        assert len(seen) == 3
        assert post().status_code == 200


def example_order():
    return CheckOrder(json.dumps(example_document("double-pendulum")), {}, 0.0)


def run_here(services):
    """The state in which a small run ends in this process."""
    text = SceneText("drop", json.dumps(DROP))
    run_id = services.admission.simulation(text, NewRun({}, 100))
    services.queue.wake.set()
    row = wait_for(lambda: (now := services.catalog.run(run_id))["state"] in TERMINAL and now, 120)
    assert row["losses"] == 0
    return row["state"]


def test_a_recording_that_makes_room_while_its_download_waits_is_made_again(services, monkeypatch):
    run_id = services.admission.simulation(SceneText("drop", json.dumps(DROP)), NewRun({}, 100))
    services.queue.wake.set()
    row = wait_for(lambda: (now := services.catalog.run(run_id))["state"] in TERMINAL and now, 120)
    app = FastAPI()
    problems.install(app)
    app.include_router(trajectories.router, prefix="/v1")
    app.state.services = services
    at_once = services.downloads.opened

    def late(*asked):
        """As retention does, between the row that was read and its files."""
        monkeypatch.undo()
        services.queue.forget_result(run_id, row["result"])
        services.discard_result(row["result"])
        return at_once(*asked)

    async def play() -> None:
        transport = httpx.ASGITransport(app)
        where = f"/v1/simulations/{run_id}/trajectory"
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            before = await client.get(where, params={"format": "csv"})
            monkeypatch.setattr(services.downloads, "opened", late)
            answer = await client.get(where, params={"format": "csv", "stride": 2})
            assert answer.status_code == 200, answer.text
            after = await client.get(where, params={"format": "csv"})
            assert after.content == before.content
            # what somebody else has removed is not made again
            now = services.catalog.run(run_id)
            assert now["result"] != row["result"]
            services.discard_result(now["result"])
            gone = await client.get(where, params={"format": "csv"})
            assert (gone.status_code, gone.json()["code"]) == (410, "result_gone")

    asyncio.run(play())
