"""The worker process: receive a scene, simulate, leave the recording on disk, answer.

It does not use the database: the dispatcher commits its reports. It writes only into the given
folder, under a temporary name until everything is on the disk.
"""

import json
import logging
import os
import resource
import signal
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from cardan.schemas import Limits, Scene, SceneInvalid, apply_overrides, load_scene, scene_hash
from cardan.service.compute import complementarity
from cardan.service.compute.dynamics import compute
from cardan.service.processes import limits as process_limits
from cardan.service.simulations import messages as m
from cardan.service.simulations.states import RunEvent

log = logging.getLogger("cardan.worker")

PROGRESS_SECONDS = 0.1
LISTEN_SECONDS = 0.02


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
                pipe.send(Execution(pipe, order, limits.scene).done())
            # a StopRun may arrive after its run has ended: nothing to stop
    except (EOFError, BrokenPipeError, ConnectionResetError):
        log.info("the service is gone; the worker ends")


class Execution:
    """One run, from the scene to the recording on disk."""

    def __init__(self, pipe: Connection, order: m.RunOrder, limits: Limits) -> None:
        """Take the order; progress and the wish to stop go through the pipe."""
        self._pipe = pipe
        self._order = order
        self._limits = limits
        self._stop: str | None = None
        self._step = 0
        self._dt = 0.0
        self._began = time.perf_counter()
        self._told = self._listened = self._began

    def done(self) -> m.Done:
        """Simulate and store; never raises but for a lost service."""
        from cardan.engine import SceneError

        try:
            return self._simulate()
        except (BrokenPipeError, EOFError):
            raise
        except SceneInvalid as error:
            return self._failed("scene_invalid", str(error), errors=_faults(error.errors))
        except SceneError as error:
            return self._failed("scene_invalid", str(error), errors=_faults(error.errors))
        except OSError as error:
            return self._failed(
                "storage_failed", f"The recording could not be written: {error.strerror or error}."
            )
        except MemoryError:
            return self._failed("out_of_memory", "The run needs more memory than a worker may use.")
        except Exception as error:
            log.exception("the run in %s failed", self._order.folder)
            return self._failed("engine_error", f"{type(error).__name__}: {error}")

    def _simulate(self) -> m.Done:
        from cardan import engine
        from cardan.service.recordings.engine_tables import finite_values, recording_of
        from cardan.service.recordings.folder import write_folder

        scene = load(self._order.document, self._order.overrides, self._limits)
        self._dt = scene.simulation.dt
        self._pipe.send(m.Started(round(scene.simulation.duration / self._dt)))
        self._began = time.perf_counter()
        recording, summary = engine.run(
            scene, progress=self._progress, should_stop=self._should_stop
        )
        factor = self._factor()
        event, error = self._judge(summary)
        if event == RunEvent.RELEASED:
            return m.Done(event, self._step)
        if scene.simulation.verify and event == RunEvent.SUCCEEDED:
            found = engine.verify(scene, should_stop=self._should_stop)
            if found is None:
                event, error = self._judge(summary)
            else:
                engine.add_verification(summary, found)
        summary = finite_values(summary)
        stored = recording_of(scene, scene_hash(scene), recording.tables(), summary)
        write_folder(stored, Path(self._order.folder))
        return m.Done(
            event=event,
            step=int(summary["steps"]),
            summary=summary,
            error=error,
            stored=True,
            real_time_factor=factor,
        )

    def _judge(self, summary: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
        if summary["status"] == "failed":
            reason = summary.get("reason")
            return RunEvent.FAILED, {
                "code": "engine_diverged",
                "message": str(reason),
                "retryable": False,
            }
        if self._stop is not None:
            messages = {
                RunEvent.CANCELLED: "Cancelled on request.",
                RunEvent.TIMED_OUT: "The run took longer than its timeout_s.",
            }
            message = messages.get(RunEvent(self._stop), "Stopped.")
            return self._stop, {"code": self._stop, "message": message, "retryable": True}
        return RunEvent.SUCCEEDED, None

    def _failed(self, code: str, message: str, **more: Any) -> m.Done:
        error = {"code": code, "message": message, "retryable": code == "storage_failed", **more}
        return m.Done(event=RunEvent.FAILED, step=self._step, error=error)

    def _progress(self, step: int, _total: int) -> None:
        self._step = step
        now = time.perf_counter()
        if now - self._told >= PROGRESS_SECONDS:
            self._told = now
            self._pipe.send(m.Progress(step, self._factor()))

    def _should_stop(self) -> bool:
        now = time.perf_counter()
        if now - self._listened < LISTEN_SECONDS:
            return self._stop is not None
        self._listened = now
        while self._pipe.poll():
            message = self._pipe.recv()
            if isinstance(message, m.StopRun):
                self._stop = message.why
        return self._stop is not None

    def _factor(self) -> float:
        elapsed = time.perf_counter() - self._began
        return self._step * self._dt / elapsed if elapsed > 0.0 else 0.0


def check(order: m.CheckOrder, limits: Limits) -> m.Checked:
    """Build the engine of a scene and report what it refuses."""
    from cardan import engine

    try:
        scene = load(order.document, order.overrides, limits)
        simulation = engine.Simulation(scene)
    except SceneInvalid as error:
        return m.Checked(_faults(error.errors))
    except engine.SceneError as error:
        return m.Checked(_faults(error.errors))
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
        preview=engine.preview(scene) if order.probe_s > 0.0 else None,
    )


def load(document: str, overrides: Mapping[str, Any], limits: Limits) -> Scene:
    """The scene of a stored document. Raises SceneInvalid."""
    return load_scene(apply_overrides(json.loads(document), overrides), limits)


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


def _faults(errors: Any) -> list[dict[str, Any]]:
    """Faults as plain values."""
    return [dict(e) if isinstance(e, Mapping) else e.model_dump() for e in errors]
