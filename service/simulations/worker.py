"""The worker process: receive orders, compute, answer.

It does not use the database: the dispatcher commits its reports.
"""

import logging
import os
import resource
import signal
import time
from multiprocessing.connection import Connection
from typing import Any

from cardan.schemas import Limits, SceneInvalid
from cardan.service.compute import complementarity
from cardan.service.compute.dynamics import compute
from cardan.service.processes import limits as process_limits
from cardan.service.simulations import messages as m
from cardan.service.simulations.execution import Execution, faults_of, load

log = logging.getLogger("cardan.worker")


def main(pipe: Connection, limits: m.WorkerLimits, start_method: str) -> None:
    """Serve orders until a request to exit or until the service has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if start_method == "forkserver":
        process_limits.die_with_parent()
    process_limits.limit_resources(limits.memory)
    # a write past this fails like one on a full disk, and is reported, not fatal
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limits.file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file, hard))
    from cardan import engine

    execution = Execution(pipe, limits.scene)
    pipe.send(m.Ready(engine.warmup(), os.getppid()))
    try:
        while True:
            order = pipe.recv()
            if isinstance(order, m.Quit):
                return
            if isinstance(order, m.CheckOrder):
                pipe.send(check(order, limits.scene))
            elif isinstance(order, m.ComputeOrder):
                pipe.send(compute(order, limits.scene))
            elif isinstance(order, m.SolveOrder):
                pipe.send(complementarity.solve(order))
            elif isinstance(order, m.RunOrder):
                execution.work(order)
            # a StopRun may arrive after its run has ended: nothing to stop
    except (EOFError, BrokenPipeError, ConnectionResetError):
        log.info("the service is gone; the worker ends")


def check(order: m.CheckOrder, limits: Limits) -> m.Checked:
    """Build the engine of a scene and report what it refuses."""
    from cardan import engine

    try:
        scene = load(order.document, order.overrides, limits)
        simulation = engine.Simulation(scene)
    except SceneInvalid as error:
        return m.Checked(faults_of(error.errors))
    except engine.SceneError as error:
        return m.Checked(faults_of(error.errors))
    except MemoryError:
        fault = {
            "pointer": "",
            "code": "too_large",
            "message": "The scene needs more memory than a worker may use.",
            "got": None,
            "hint": "Use fewer bodies or coarser shapes.",
        }
        return m.Checked([fault])
    return m.Checked(
        seconds_per_step=_seconds_per_step(simulation, order.probe_s),
        total_steps=simulation.total_steps,
    )


def _seconds_per_step(simulation: Any, probe_s: float) -> float | None:
    """Cost of the first steps, measured for about `probe_s`; a pile costs more when it touches."""
    if probe_s <= 0.0:
        return None
    begin = time.perf_counter()
    steps, chunk = 0, 1
    while True:
        done = simulation.advance(min(chunk, simulation.total_steps - steps))
        steps += done
        elapsed = time.perf_counter() - begin
        if done == 0 or elapsed > probe_s or steps >= simulation.total_steps:
            return float(elapsed / max(steps, 1))
        chunk *= 2
