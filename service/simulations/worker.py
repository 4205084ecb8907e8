"""The worker process: receive a scene, simulate, leave the recording on disk, answer.

It does not use the database: the dispatcher commits its reports. It writes only into the given
folder, under a temporary name until everything is on the disk.
"""

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cardan.schemas import Limits, Scene, SceneInvalid, apply_overrides, load_scene, scene_hash
from cardan.service.processes.channel import Channel
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop
from cardan.service.simulations import messages as m
from cardan.service.simulations.states import RunEvent

log = logging.getLogger("cardan.worker")

PROGRESS_SECONDS = 0.1
LISTEN_SECONDS = 0.02


def main(channel: Channel, limits: WorkerLimits) -> None:
    """Do runs; a StopRun may arrive after its run has ended: nothing to stop."""
    while not isinstance(order := channel.receive(), Stop):
        if isinstance(order, m.RunOrder):
            channel.send(Execution(channel, order, limits.scene).done())


class Execution:
    """One run, from the scene to the recording on disk."""

    def __init__(self, channel: Channel, order: m.RunOrder, limits: Limits) -> None:
        """Take the order; progress and the wish to stop go through the channel."""
        self._channel = channel
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
        self._channel.send(m.Started(round(scene.simulation.duration / self._dt)))
        self._began = time.perf_counter()
        recording, summary = engine.run(
            scene, progress=self._progress, should_stop=self._should_stop
        )
        factor = self._factor()
        event, error = self._judge(summary)
        if event == RunEvent.RELEASED:
            return m.Done(event, self._step)
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
            self._channel.send(m.Progress(step, self._factor()))

    def _should_stop(self) -> bool:
        now = time.perf_counter()
        if now - self._listened < LISTEN_SECONDS:
            return self._stop is not None
        self._listened = now
        while (message := self._channel.receive(0.0)) is not None:
            if isinstance(message, m.StopRun):
                self._stop = message.why
        return self._stop is not None

    def _factor(self) -> float:
        elapsed = time.perf_counter() - self._began
        return self._step * self._dt / elapsed if elapsed > 0.0 else 0.0


def load(document: str, overrides: Mapping[str, Any], limits: Limits) -> Scene:
    """The scene of a stored document. Raises SceneInvalid."""
    return load_scene(apply_overrides(json.loads(document), overrides), limits)


def _faults(errors: Any) -> list[dict[str, Any]]:
    """Faults as plain values."""
    return [dict(e) if isinstance(e, Mapping) else e.model_dump() for e in errors]
