"""Lanes of the pool, on real processes: what is small overtakes, what is lost is replaced."""

import asyncio
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psutil
import pytest

from cardan.schemas import Limits
from cardan.schemas.examples import example_document
from cardan.service.compute import messages as m
from cardan.service.compute.pool import ComputePool, PoolOptions
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from tests.service.real_server import wait_for
from tests.service.stopped import stop_with_next_order

TINY = json.dumps({"scene": "double-pendulum"}).encode()
LIMITS = WorkerLimits(memory=4 * 1024**3, file=0, scene=Limits())


def scene_of(balls):
    """A body with so many balls on a plane: the more, the longer it takes."""
    floor = {"name": "floor", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
    spheres = [
        {
            "name": f"ball {i}",
            "position": [0.3 * (i % 100), 0.3 * (i // 100), 0.15],
            "mass": 1.0,
            "shapes": [{"type": "sphere", "radius": 0.1}],
        }
        for i in range(balls)
    ]
    scene = {"simulation": {"dt": 0.01, "duration": 0.1}, "bodies": [floor, *spheres]}
    return json.dumps({"scene": scene}).encode()


@contextmanager
def pool(limits=LIMITS, **options):
    launcher = WorkerLauncher()
    launcher.prepare()
    working = ComputePool(launcher, limits, PoolOptions(**options))
    try:
        yield working
    finally:
        working.close()


def stopped(lane):
    """The process of a lane, which is given no time any more from its next order on."""
    return stop_with_next_order(lane.slots[0].worker)


def go_on(pid):
    """Give time to a process once it has none."""
    wait_for(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    os.kill(pid, signal.SIGCONT)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_small_scene_is_answered_while_every_other_lane_is_blocked():
    with pool(answer_s=60.0) as working, ThreadPoolExecutor(3) as callers:
        small, large = m.TakeOrder(TINY, "simulation"), m.TakeOrder(scene_of(2000), "simulation")
        model = m.DynamicsOrder("model", TINY)
        for order in (small, large, model):
            working.wait_for_answer(order)
        victims = [stopped(working.lanes[name]) for name in ("large", "dynamics")]
        blocked = [callers.submit(working.wait_for_answer, order) for order in (large, model)]
        assert working.wait_for_answer(small).steps > 0
        assert not any(one.done() for one in blocked)
        for pid in victims:
            go_on(pid)
        assert blocked[0].result(60).steps == 10
        assert json.loads(blocked[1].result(60).body)["nv"] == 2


def test_a_silent_process_fails_its_request_and_is_replaced():
    with pool(answer_s=2.0) as working:
        model = m.DynamicsOrder("model", TINY)
        first = working.wait_for_answer(model, within_s=60.0)
        pid = stopped(working.lanes["dynamics"])
        with pytest.raises(ServiceError, match="no answer within 2 s") as refused:
            working.wait_for_answer(model)
        assert refused.value.code == ErrorCode.COMPUTE_TIMED_OUT
        assert not alive(pid)
        assert working.wait_for_answer(model, within_s=60.0) == first


def test_a_small_scene_on_a_silent_process_is_answered_by_the_other_lane():
    with pool(small=1) as working:
        order = m.TakeOrder(TINY, "simulation")
        first = working.wait_for_answer(order)
        pid = stopped(working.lanes["small"])
        assert working.wait_for_answer(order) == first
        assert not alive(pid)


def test_a_process_that_died_while_idle_costs_nobody_anything():
    with pool() as working:
        order = m.TakeOrder(TINY, "simulation")
        first = working.wait_for_answer(order)
        for slot in working.lanes["small"].slots:
            if slot.worker is not None:
                os.kill(slot.worker.pid, signal.SIGKILL)
        assert working.wait_for_answer(order) == first


def test_a_process_that_was_stopped_while_idle_is_replaced():
    with pool(answer_s=60.0) as working:
        order = m.DynamicsOrder("model", TINY)
        first = working.wait_for_answer(order)
        pid = working.lanes["dynamics"].slots[0].worker.pid
        os.kill(pid, signal.SIGSTOP)
        assert working.wait_for_answer(order) == first
        assert not alive(pid)


def test_a_request_that_kills_its_processes_is_refused_and_the_next_is_answered():
    long = json.loads(scene_of(5))["scene"]
    long["simulation"]["duration"] = 10_000.0
    order = m.ReportOrder(json.dumps(long).encode(), probe_s=300.0)
    with pool(small_bytes=64) as working, ThreadPoolExecutor(1) as callers:
        slot = working.lanes["large"].slots[0]
        asked = callers.submit(working.wait_for_answer, order)
        killed = set()
        for _ in range(2):
            worker = wait_for(lambda: (now := slot.worker) and now.pid not in killed and now)
            killed.add(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(ServiceError, match=r"lost 2 times: .* signal 9") as refused:
            asked.result(60)
        assert refused.value.code == ErrorCode.WORKER_LOST
        assert working.wait_for_answer(m.TakeOrder(TINY, "simulation")).steps > 0


def test_who_gets_no_turn_in_time_is_told_to_come_back():
    async def ask(working, order):
        with pytest.raises(ServiceError) as refused:
            await working.answer(order, within_s=0.5)
        return refused.value

    with pool() as working, ThreadPoolExecutor(1) as callers:
        model = m.DynamicsOrder("model", TINY)
        working.wait_for_answer(model)
        pid = stopped(working.lanes["dynamics"])
        blocked = callers.submit(working.wait_for_answer, model)
        error = asyncio.run(ask(working, model))
        assert (error.code, error.retry_after_s) == (ErrorCode.ENGINE_NOT_READY, 5)
        go_on(pid)
        assert blocked.result(60)


def test_faults_of_a_body_are_those_of_the_request():
    with pool() as working:
        with pytest.raises(ServiceError) as refused:
            working.wait_for_answer(m.TakeOrder(b'{"scene": ', "simulation"))
        assert refused.value.code == ErrorCode.MALFORMED_JSON
        bad = example_document("double-pendulum") | {"gravity": [0, 0]}
        with pytest.raises(ServiceError) as refused:
            working.wait_for_answer(m.TakeOrder(json.dumps({"scene": bad}).encode(), "session"))
        assert refused.value.errors[0]["pointer"] == "/scene/gravity"
