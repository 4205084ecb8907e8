"""Execution of an order: runs of one scene, in the arrays of the first.

Runs that the engine can compute side by side are (`together.py`), the others one after another.

It writes only into the given folders, under a temporary name until everything is on the disk.
"""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardan.schemas import Limits, Scene, SceneInvalid, load_changed
from cardan.service.processes.channel import Channel
from cardan.service.simulations import messages as m
from cardan.service.simulations.checkpoints import CheckpointFolder
from cardan.service.simulations.measures import measured, needs_recording
from cardan.service.simulations.states import RunEvent

if TYPE_CHECKING:
    from cardan.engine import Simulation
    from cardan.engine.runs.recording import Recording
    from cardan.engine.runs.variants import Variants
    from cardan.service.simulations.together import Neighbour, Together

log = logging.getLogger("cardan.worker")

PROGRESS_SECONDS = 0.1
LISTEN_SECONDS = 0.02
STOPPED = {
    RunEvent.CANCELLED: "Cancelled on request.",
    RunEvent.TIMED_OUT: "The run took longer than its timeout_s.",
}


class Execution:
    """The orders of one worker; the arrays of the last scene are kept for the next order."""

    def __init__(self, channel: Channel, limits: Limits) -> None:
        """Progress and requests to stop go through the channel."""
        self._channel = channel
        self._limits = limits
        self._document = ""
        self._variants: Variants | None = None
        self._together: Together | None = None
        self._told = self._listened = 0.0
        self._apart = False

    def work(self, order: m.RunOrder) -> None:
        """Do the runs of an order, until all are stopped or one fails that ends the order."""
        self._order = order
        self._stops: dict[int | None, str] = {}
        number, ended, began = 0, False, time.process_time()
        while number < len(order.runs) and not ended:
            if self._reason(number) == RunEvent.RELEASED:
                break
            group: Sequence[Neighbour | None] = self._side_by_side(number) or [None]
            for neighbour in group:
                self._channel.send(done := self._run(number, order.runs[number], neighbour))
                number += 1
                ended = order.until_failure and done.event != RunEvent.SUCCEEDED
                if ended:
                    break
        self._channel.send(m.Finished(time.process_time() - began))

    def _side_by_side(self, number: int) -> "Sequence[Neighbour]":
        """Compute the runs from this one on that can be neighbours; see `Together.run`."""
        order = self._order
        if len(order.runs) - number < 2:
            return []
        from cardan.service.simulations.together import Together, W

        items = order.runs[number : number + W]
        self._begin(number, together=len(items))
        self._apart = False
        self._channel.send(m.Progress(number, 0, 0.0, len(items)))

        def should_stop(step: int) -> bool:
            self._progress(step, 0)
            stopped = any(self._reason(number + k) is not None for k in range(len(items)))
            return stopped or self._apart

        try:
            self._variants_of(order.document)
            if self._together is None:
                self._together = Together(order.document, self._limits)
            record = order.measure is not None and needs_recording(order.measure)
            found = self._together.run(items, record, should_stop)
        except (BrokenPipeError, EOFError):
            raise
        except Exception as error:
            # there may be memory for one of them; a process that ends costs the first a loss
            log.warning("runs are computed one by one: %s: %s", type(error).__name__, error)
            self._variants = self._together = None
            return []
        self._share_s = (time.perf_counter() - self._began) / max(len(found), 1)
        return found

    def _begin(self, number: int, together: int = 1) -> None:
        self._number, self._step, self._first_step, self._dt = number, 0, 0, 0.0
        self._sharing = together
        self._began = time.perf_counter()

    def _run(self, number: int, item: m.RunItem, neighbour: "Neighbour | None") -> m.Done:
        """Simulate and store a run, or what is left of one that was computed with others.

        Never raises but for a lost service.
        """
        from cardan.engine import SceneError

        self._begin(number)
        try:
            if neighbour is not None and neighbour.has_ended:
                return self._told_of(item, neighbour)
            return self._simulate(item, neighbour)
        except (BrokenPipeError, EOFError):
            raise
        except (SceneInvalid, SceneError) as error:
            return self._failed("scene_invalid", str(error), errors=faults_of(error.errors))
        except OSError as error:
            return self._failed(
                "storage_failed", f"The recording could not be written: {error.strerror or error}."
            )
        except MemoryError:
            return self._failed("out_of_memory", "The run needs more memory than a worker may use.")
        except Exception as error:
            log.exception("the run in %s failed", item.folder)
            self._variants = self._together = None
            return self._failed("engine_error", f"{type(error).__name__}: {error}")

    def _told_of(self, item: m.RunItem, one: "Neighbour") -> m.Done:
        """The end of a run that was computed with others."""
        from cardan import engine
        from cardan.service.recordings.engine_tables import finite_values

        summary, measure = one.simulation.summary(), self._order.measure
        tables = tables_of(one.recording)
        if measure is not None:
            summary["measures"] = measured(measure, summary, tables)
        engine.add_reactions(summary, one.simulation)
        summary = finite_values(summary)
        full = item.record == "full"
        if full:
            self._store(one.scene, tables, summary, Path(item.folder))
        return m.Done(
            self._number,
            RunEvent.SUCCEEDED,
            one.simulation.step_count,
            summary=summary,
            stored=full,
            real_time_factor=one.simulation.time / self._share_s,
        )

    def _simulate(self, item: m.RunItem, begun: "Neighbour | None") -> m.Done:
        from cardan import engine
        from cardan.engine.runs.whole import recorded
        from cardan.service.recordings.engine_tables import finite_values
        from cardan.service.simulations.resumable import ResumableRun

        variants = self._variants_of(self._order.document)
        asked = variants.scene(item.overrides)
        scene, chosen = engine.with_options(asked), None
        if asked.simulation.accuracy is not None:
            chosen = engine.choose(asked, self._alive, self._should_stop)
            if chosen is None:
                why, stop = self._stopped()
                return m.Done(self._number, why, 0, error=stop)
            scene = chosen.scene
        self._dt = scene.simulation.dt
        simulation = self._simulation_of(variants, scene) if begun is None else begun.simulation
        folder = CheckpointFolder(Path(item.checkpoint)) if item.checkpoint else None
        measure, full = self._order.measure, item.record == "full"
        keep = full or (measure is not None and needs_recording(measure))
        recording = None if begun is None else begun.recording
        every_s = self._order.checkpoint_s
        run = ResumableRun(simulation, folder, every_s, keep=keep, recording=recording)
        if len(self._order.runs) == 1:
            started = m.Started(self._number, simulation.total_steps, run.resumed_step)
            self._channel.send(started)
        self._began, self._first_step = time.perf_counter(), run.resumed_step
        summary = run.finish(self._progress, self._should_stop)
        if measure is not None and summary["status"] == "succeeded":
            summary["measures"] = measured(measure, summary, tables_of(run.recording))
        recording = run.recording if full else None
        factor = self._factor()
        event, error = self._judge(summary)
        if event == RunEvent.RELEASED:
            run.save()
            return m.Done(self._number, event, self._step)
        if event == RunEvent.FAILED and item.record == "failed":
            # the same scene has the same bits
            simulation = variants.simulation(scene)
            recording, again = recorded(simulation, keep=True, progress=self._progress)
            summary = again if again["status"] == "failed" else summary
        if scene.simulation.verify and event == RunEvent.SUCCEEDED:
            found = engine.verify(scene, progress=self._alive, should_stop=self._should_stop)
            if found is None:
                event, error = self._stopped()
            else:
                engine.add_verification(summary, found)
        engine.add_reactions(summary, simulation)
        if chosen is not None:
            engine.add_accuracy(summary, asked, chosen.found)
        summary = finite_values(summary)
        if recording is not None:
            self._store(asked, recording.tables(), summary, Path(item.folder))
        return m.Done(
            self._number,
            event,
            int(summary["steps"]),
            summary=summary,
            error=error,
            stored=recording is not None,
            real_time_factor=factor,
        )

    def _simulation_of(self, variants: "Variants", scene: Scene) -> "Simulation":
        """Before its first step."""
        simulation = variants.simulation(scene)
        if self._order.of_batch:
            simulation.leave_scene()
        return simulation

    def _variants_of(self, document: str) -> "Variants":
        """The arrays of the base scene, made anew when it is another."""
        from cardan.engine.runs.variants import Variants

        if self._variants is None or document != self._document:
            self._variants, self._together = Variants(document, self._limits), None
            self._document = document
        return self._variants

    def _store(
        self, scene: Scene, columns: Mapping[str, Any], summary: Mapping[str, Any], folder: Path
    ) -> None:
        from cardan.service.recordings.engine_tables import recording_of
        from cardan.service.recordings.folder import write_folder

        self._channel.send(m.Storing(self._number))
        write_folder(recording_of(scene, summary["scene_hash"], columns, summary), folder)

    def _judge(self, summary: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """The outcome of a run; the summary of one that was stopped says by what."""
        if summary["status"] == "failed":
            reason = summary.get("reason")
            return RunEvent.FAILED, {
                "code": "engine_diverged",
                "message": str(reason),
                "retryable": False,
            }
        if self._reason(self._number) is not None and summary["status"] != "succeeded":
            event, error = self._stopped()
            summary["status"], summary["reason"] = event, error["message"]
            return event, error
        return RunEvent.SUCCEEDED, None

    def _stopped(self) -> tuple[str, dict[str, Any]]:
        why = str(self._reason(self._number))
        message = STOPPED.get(RunEvent(why), "Stopped.")
        return why, {"code": why, "message": message, "retryable": True}

    def _failed(self, code: str, message: str, **more: Any) -> m.Done:
        error = {"code": code, "message": message, "retryable": code == "storage_failed", **more}
        return m.Done(self._number, RunEvent.FAILED, self._step, error=error)

    def _progress(self, step: int, _total: int) -> None:
        self._step = step
        now = time.perf_counter()
        if now - self._told >= PROGRESS_SECONDS:
            self._told = now
            told = m.Progress(self._number, step, self._factor(), self._sharing)
            self._channel.send(told)

    def _alive(self, _share: float) -> None:
        """Other runs than the recorded one go on: a silent worker would count as lost."""
        self._progress(self._step, 0)

    def _should_stop(self) -> bool:
        return self._reason(self._number) is not None

    def _reason(self, number: int) -> str | None:
        """Why this run shall stop; requests are read from time to time."""
        now = time.perf_counter()
        if now - self._listened >= LISTEN_SECONDS:
            self._listened = now
            while (message := self._channel.receive(0.0)) is not None:
                if isinstance(message, m.StopRun):
                    self._stops[message.number] = message.why
                elif isinstance(message, m.Apart):
                    self._apart = True
        return self._stops.get(None) or self._stops.get(number)

    def _factor(self) -> float:
        elapsed = time.perf_counter() - self._began
        done = self._step - self._first_step
        return done * self._dt / elapsed if elapsed > 0.0 else 0.0


def tables_of(recording: "Recording | None") -> dict[str, Any]:
    """Tables of a recording; empty without one."""
    return {} if recording is None else recording.tables()


def load(document: str, overrides: Mapping[str, Any], limits: Limits) -> Scene:
    """The scene of a stored document. Raises SceneInvalid."""
    return load_changed(json.loads(document), overrides, limits)[0]


def faults_of(errors: Any) -> list[dict[str, Any]]:
    """Faults as plain values."""
    return [dict(e) if isinstance(e, Mapping) else e.model_dump() for e in errors]
