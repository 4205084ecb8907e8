"""A run of a scene from its start to its end, recorded or not."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from cardan.engine.build.options import with_options
from cardan.engine.runs.accuracy import add_accuracy, choose
from cardan.engine.runs.overview import add_reactions
from cardan.engine.runs.recording import Recording
from cardan.engine.runs.verification import add_verification, verify
from cardan.engine.simulation import Simulation
from cardan.engine.world.options import Integrator
from cardan.schemas import GivenScene, scene_of

# time between two calls of `should_stop` and `progress` [s]
CHUNK_S = 0.1
# steps times bodies between them, at most
MOST_BODY_STEPS = 50_000
STOPPED = "The run was stopped on request."


def run(
    scene: GivenScene,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Recording, dict[str, Any]]:
    """Simulate a scene to its end, or until it fails or `should_stop` returns True.

    progress(step, total) and should_stop() are called about ten times per second of work.
    With `simulation.accuracy` trial runs come first, during which the step is 0; with
    `simulation.verify` runs with smaller steps follow, whose share that is done it tells once more.
    Returns the recording and the summary. Raises SceneInvalid, SceneError.
    """
    scene = scene_of(scene)
    chosen = None
    if scene.simulation.accuracy is not None:
        chosen = choose(scene, (lambda _: progress(0, 1)) if progress else None, should_stop)
    simulation = Simulation(with_options(scene) if chosen is None else chosen.scene)
    recording, summary = recorded(simulation, keep=True, progress=progress, should_stop=should_stop)
    assert recording is not None
    if scene.simulation.verify and summary["status"] == "succeeded":
        _verify(simulation, summary, progress, should_stop)
    add_reactions(summary, simulation)
    if chosen is not None:
        add_accuracy(summary, scene, chosen.found)
    return recording, summary


def _verify(
    simulation: Simulation,
    summary: dict[str, Any],
    progress: Callable[[int, int], None] | None,
    should_stop: Callable[[], bool] | None,
) -> None:
    """Put a verification of a run that came to its end into its summary."""
    total = simulation.total_steps
    found = verify(
        simulation.scene,
        progress=(lambda done: progress(round(done * total), total)) if progress else None,
        should_stop=should_stop or (lambda: False),
    )
    if found is None:
        summary["status"], summary["reason"] = "cancelled", STOPPED
    else:
        add_verification(summary, found)


def recorded(
    simulation: Simulation,
    *,
    keep: bool,
    channels: Collection[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Recording | None, dict[str, Any]]:
    """Run a simulation from its first step to its end; without `keep` nothing is recorded.

    channels: as of a recording
    """
    recording = Recording.of_run(simulation, channels) if keep else None
    if recording is not None:
        recording.observe()
    stopped = advance_to_end(simulation, progress, should_stop)
    summary = simulation.summary()
    if stopped and summary["status"] == "running":
        summary["status"], summary["reason"] = "cancelled", STOPPED
    return recording, summary


def advance_to_end(
    simulation: Simulation,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> bool:
    """Advance to the end of the scene, or until it fails; whether `should_stop` ended it before.

    progress(step, total) and should_stop() are called about ten times per second of work.
    """
    total, chunk, stopped = simulation.total_steps, 1, False
    while simulation.step_count < total and simulation.failure is None and not stopped:
        asked, began = min(chunk, total - simulation.step_count), time.perf_counter()
        done = simulation.advance(asked, should_stop)
        if progress is not None:
            progress(simulation.step_count, total)
        stopped = should_stop is not None and should_stop()
        stopped |= done < asked and simulation.failure is None
        if done == chunk:
            chunk = steps_per_chunk(simulation, (time.perf_counter() - began) / done)
    return stopped


def steps_per_chunk(simulation: Simulation, step_s: float) -> int:
    """Steps that take about CHUNK_S, from the phases of the last call; of many bodies fewer, as
    a heap may form in the next one, whose steps take longer than those of bodies that fall.

    Integrators of smooth motion have no phases: there it is the time of a step in that call.
    """
    step_us = sum(simulation.solver_report()["phases"].values())
    if simulation.options.integrator != Integrator.SEMI_IMPLICIT_EULER:
        step_us = 1e6 * step_s
    bodies = len(simulation.model.bodies.kind)
    return max(1, min(int(1e6 * CHUNK_S / max(step_us, 0.1)), MOST_BODY_STEPS // bodies))
