"""The spare worker: the next session takes it, and a dead or a stopped one is no harm."""

import os
import signal
import time

import psutil

from tests.service.sessions.conftest import Service, wait_until


def spare_pid(service: Service) -> int:
    """Of a spare that was started now: the one before it may have died with its fork server."""
    before = service.sessions.spare.pid
    service.http.delete(f"/sessions/{service.create()}")
    pid = wait_until(
        lambda: service.sessions.spare.pid not in (None, before) and service.sessions.spare.pid,
        "a spare worker",
    )
    assert isinstance(pid, int)
    return pid


def test_a_session_takes_the_spare_worker_and_another_is_started(service: Service):
    spare = spare_pid(service)
    session = service.create()
    assert service.pid(session) == spare
    wait_until(lambda: service.sessions.spare.pid not in (None, spare), "the next spare worker")
    service.http.delete(f"/sessions/{session}")


def test_a_spare_worker_that_died_is_not_used(service: Service):
    spare = spare_pid(service)
    os.kill(spare, signal.SIGKILL)
    wait_until(lambda: not psutil.pid_exists(spare), "the end of the spare worker")
    session = service.create()
    assert service.pid(session) != spare
    assert service.state(session)["restarts"] == 0
    service.http.delete(f"/sessions/{session}")


def test_a_spare_worker_that_is_stopped_is_not_waited_for(service: Service):
    spare = spare_pid(service)
    os.kill(spare, signal.SIGSTOP)
    began = time.monotonic()
    session = service.create()
    # a worker may take a minute to build its scene, but one without a task answers at once
    assert time.monotonic() - began < 30.0
    assert service.pid(session) != spare
    assert not psutil.pid_exists(spare)
    assert service.state(session)["restarts"] == 0
    service.http.delete(f"/sessions/{session}")
