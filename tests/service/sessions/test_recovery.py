"""Workers that die or hang: noticed, replaced, and the resumed run computes the same numbers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from cardan.engine import Simulation
from cardan.schemas.frame import BlockTag, Frame
from cardan.schemas.scene import Scene
from cardan.service.sessions.supervisor import Watch

from .conftest import SCENE, Service, bouncing, serving, wait_until

pytestmark = pytest.mark.e2e

SHORT = {**SCENE, "simulation": {"dt": 0.001, "duration": 4.0}}


def steer(service: Service, session: str) -> None:
    """The same commands at the same steps, whatever the wall clock does."""
    with service.watch(session) as viewer:
        viewer.do("step", n=300)
        viewer.do("set_motor", joint="pivot", target=3.0)
        viewer.do("apply_impulse", body="box", impulse=[0.4, 0.1, 1.0])
        viewer.do("step", n=200)
        viewer.do("grab", body="box", point=[0, 0, 0.1])
        viewer.do("grab_move", target=[0.2, 0.3, 0.8])
        viewer.do("step", n=100)
        viewer.do("gravity", value=[0, 0, -5])


def finish(service: Service, session: str) -> str:
    service.wait_for_state(session, "finished")
    found = service.http.get(f"/sessions/{session}/state").json()
    assert found["step"] == 4000
    return str(found["state_hash"])


def undisturbed(service: Service) -> str:
    session = service.create(SHORT)
    with service.watch(session, "holder"):
        steer(service, session)
    service.http.patch(f"/sessions/{session}", json={"speed": None}).raise_for_status()
    service.http.post(f"/sessions/{session}:resume").raise_for_status()
    found = finish(service, session)
    service.http.delete(f"/sessions/{session}")
    return found


def later_than(seconds: float) -> Callable[[Frame], bool]:
    return lambda frame: frame.header.time > seconds


@pytest.fixture(scope="module")
def expected(service: Service) -> str:
    return undisturbed(service)


def test_a_killed_worker_is_noticed_and_the_run_ends_the_same(service: Service, expected: str):
    session = service.create(SHORT)
    with service.watch(session) as viewer:
        viewer.subscribe()
        steer(service, session)
        viewer.do("resume")
        for until in (1.4, 2.3):
            viewer.frame(later_than(until))
            count, last = len(viewer.messages), viewer.frames[-1].header
            os.kill(service.pid(session), signal.SIGKILL)
            lost = viewer.message(after=count, op="event", type="worker_lost")
            assert lost["time"] == pytest.approx(last.time, abs=0.5)
            viewer.message(after=count, op="event", type="worker_resumed")
            after = viewer.frame(lambda f: True).header
            assert after.step >= last.step
            assert after.epoch == last.epoch
        viewer.message(op="event", type="finished")
    assert finish(service, session) == expected
    assert service.state(session)["restarts"] == 2
    service.http.delete(f"/sessions/{session}")


def test_events_are_told_once_though_workers_are_lost(service: Service):
    # it bounces on for ever, and a worker does thousands of steps between two frames
    hop = bouncing(1.0, 0.15)
    simulation = Simulation(Scene.model_validate(hop))
    simulation.watch_events()
    simulation.advance(600_000)
    expected = [(int(row["kind"]), int(row["step"])) for row in simulation.events()]
    assert len(expected) > 1000

    session = service.create(hop)
    with service.watch(session) as viewer:
        viewer.subscribe(poses={"hz": 60}, events={"hz": 60})
        service.http.patch(f"/sessions/{session}", json={"speed": None}).raise_for_status()
        viewer.do("resume")
        for until in (5.0, 200.0):
            viewer.frame(later_than(until))
            count = len(viewer.messages)
            os.kill(service.pid(session), signal.SIGKILL)
            viewer.message(after=count, op="event", type="worker_resumed")
        viewer.message(op="event", type="finished")
        viewer.view(lambda frame: frame.header.step == 600_000)
        rows = [row for frame in viewer.frames for row in frame.blocks.get(BlockTag.EVENTS, ())]
    assert [(int(row["kind"]), int(row["step"])) for row in rows] == expected
    service.http.delete(f"/sessions/{session}")


def test_commands_before_the_first_snapshot_survive_too(service: Service, expected: str):
    session = service.create(SHORT)
    with service.watch(session, "holder"):
        steer(service, session)
        os.kill(service.pid(session), signal.SIGKILL)
        wait_until(lambda: service.state(session)["restarts"] == 1, "the loss is noticed")
        service.wait_for_state(session, "paused")
        assert service.state(session)["step"] == 600
    service.http.patch(f"/sessions/{session}", json={"speed": None}).raise_for_status()
    service.http.post(f"/sessions/{session}:resume").raise_for_status()
    assert finish(service, session) == expected
    service.http.delete(f"/sessions/{session}")


def test_a_step_in_flight_ends_where_it_should(service: Service):
    session = service.create({**SCENE, "simulation": {"dt": 0.0005, "duration": 600.0}})
    with service.watch(session) as viewer:
        viewer.subscribe()
        viewer.send({"op": "step", "n": 20_000, "id": "long"})
        viewer.frame(lambda f: f.header.step > 100)
        os.kill(service.pid(session), signal.SIGKILL)
        result = viewer.message(id="long")
        assert (result["op"], result["step"]) == ("result", 20_000)
        assert service.state(session)["restarts"] == 1
    service.http.delete(f"/sessions/{session}")


def test_commands_sent_while_there_is_no_worker_are_done_later(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.do("step", n=5)
        os.kill(service.pid(session), signal.SIGKILL)
        viewer.send({"op": "step", "n": 5, "id": "later"})
        assert viewer.message(id="later")["step"] == 10


def test_a_hung_worker_is_replaced(tmp_path: Path):
    # longer than a process waits for its turn on a machine that has much to do
    watch = Watch(heartbeat=0.1, silence=2.0)
    with serving(tmp_path, watch=watch) as service:
        session = service.create(paused=False)
        process = psutil.Process(service.pid(session))
        with service.watch(session) as viewer:
            viewer.subscribe()
            viewer.frame(lambda f: f.header.time > 0.1)
            process.suspend()
            lost = viewer.message(op="event", type="worker_lost")
            assert "silent" in lost["reason"]
            viewer.message(op="event", type="worker_resumed")
            viewer.frame(lambda f: f.header.time > 0.5)
        assert not process.is_running()


def test_a_session_fails_when_its_workers_keep_dying(tmp_path: Path):
    with serving(tmp_path, max_restarts=1, max_sessions=1) as service:
        session = service.create()
        for count in (1, 2):
            os.kill(service.pid(session), signal.SIGKILL)
            if count == 1:
                wait_until(lambda: service.state(session)["restarts"] == 1, "restart")
                service.wait_for_state(session, "paused")
        failure = service.wait_for_state(session, "failed")["failure"]
        assert failure["code"] == "worker_lost"
        answer = service.http.post(f"/sessions/{session}:reset")
        assert (answer.status_code, answer.json()["code"]) == (409, "session_failed")
        answer = service.http.post("/sessions", json={"scene": SCENE})
        assert (answer.status_code, answer.json()["code"]) == (503, "no_capacity")
        assert answer.headers["retry-after"]
        assert service.http.delete(f"/sessions/{session}").status_code == 204
        service.create()


def test_a_forgotten_session_expires_but_a_watched_one_does_not(tmp_path: Path):
    with serving(tmp_path, idle_seconds=2.0) as service:
        session = service.create()
        process = psutil.Process(service.pid(session))
        with service.watch(session):
            began = time.monotonic()
            wait_until(lambda: time.monotonic() - began > 3.0, "time passes")
            assert process.is_running()
        wait_until(lambda: not process.is_running(), "the worker ends")
        assert service.http.get(f"/sessions/{session}").status_code == 410


def test_a_session_whose_viewers_left_makes_room_when_the_server_is_full(tmp_path: Path):
    with serving(tmp_path, max_sessions=2, abandoned_seconds=0.0) as service:
        left, used = service.create(), service.create()
        # nobody looked at either: a client without a socket keeps what it made
        answer = service.http.post("/sessions", json={"scene": SCENE})
        assert (answer.status_code, answer.json()["code"]) == (503, "no_capacity")
        with service.watch(left):
            answer = service.http.post("/sessions", json={"scene": SCENE})
            assert answer.status_code == 503
        wait_until(lambda: len(service.sessions.get(left).fanout) == 0, "the viewer is gone")
        service.create()
        assert service.http.get(f"/sessions/{used}").status_code == 200
        gone = service.http.get(f"/sessions/{left}")
        assert gone.status_code == 410
        assert "needed its place" in gone.json()["detail"]
        assert len(service.http.get("/sessions").json()["items"]) == 2


def test_a_session_left_a_moment_ago_keeps_its_place(tmp_path: Path):
    with serving(tmp_path, max_sessions=1, abandoned_seconds=600.0) as service:
        session = service.create()
        with service.watch(session):
            pass
        wait_until(lambda: service.state(session)["viewers"] == 0, "the viewer is gone")
        assert service.http.post("/sessions", json={"scene": SCENE}).status_code == 503


def test_no_worker_outlives_the_service(tmp_path: Path):
    with serving(tmp_path) as service:
        processes = [psutil.Process(service.pid(service.create())) for _ in range(2)]
        limits = Path(f"/proc/{processes[0].pid}/limits")
        if limits.exists():
            core = next(x for x in limits.read_text().splitlines() if "core file" in x)
            assert core.split()[4:6] == ["0", "0"]
    assert not any(process.is_running() for process in processes)


def test_a_spawned_worker_serves_where_there_is_no_fork_server(tmp_path: Path):
    with serving(tmp_path, start_method="spawn") as service:
        session = service.create()
        with service.watch(session) as viewer:
            viewer.subscribe(poses={})
            assert viewer.do("step", n=3)["step"] == 3
            frame: Any = viewer.view(lambda f: f.header.step == 3)
            assert BlockTag.POSES in frame.blocks


def test_a_preload_that_fails_is_noticed():
    program = """
from cardan.service.processes import starting
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
starting.PRELOAD = "cardan.service.processes.nothing"
launcher = WorkerLauncher("forkserver")
launcher.prepare()
try:
    launcher.warm("cardan.service.sessions.worker", WorkerLimits(2**32))
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "did not preload" in done.stdout, done.stderr


def test_a_scene_beyond_the_memory_of_a_worker_is_refused_once(tmp_path: Path):
    boxes = [
        {
            "name": f"box {i}",
            "position": [i % 50, i // 50, 1],
            "mass": 1.0,
            "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1]}],
        }
        for i in range(4000)
    ]
    brief = {"dt": 0.001, "duration": 1.0}
    scene = {**SCENE, "simulation": brief, "bodies": boxes, "joints": []}
    with serving(tmp_path, worker_memory_bytes=640 * 1024**2) as small:
        answer = small.http.post("/sessions", json={"scene": scene})
        assert answer.status_code == 422, answer.text
        assert answer.json()["code"] == "too_large"
        assert "more memory than a worker may use" in answer.json()["detail"]
        # the next one is served
        small.http.delete(f"/sessions/{small.create()}").raise_for_status()
