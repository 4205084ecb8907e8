"""Worlds that are rows of arrays: each thread computes some, in lanes or one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.accounting.extremes import start_extremes
from cardan.engine.build.drives import own_rates
from cardan.engine.build.rewrite import pairs_of
from cardan.engine.build.samples import Counts
from cardan.engine.compiler.cuda import Card
from cardan.engine.compiler.handles import handle_of
from cardan.engine.compiler.lanes import lanes_handle
from cardan.engine.lanes.arrays import lane_world, read_lane
from cardan.engine.lanes.fits import fits
from cardan.engine.lanes.many import run_worlds
from cardan.engine.outputs.reports import account_now, account_of
from cardan.engine.outputs.sampler import Sampler
from cardan.engine.runs.state_arrays import Array, parts
from cardan.engine.runs.variants import value_of
from cardan.engine.simulation import Simulation
from cardan.engine.world.lanes import LaneWorld, WorldRuns
from cardan.engine.world.state import N_LEDGER
from cardan.engine.world.world import Controls

Job = TypeVar("Job")


class Rows(NamedTuple):
    """n worlds of one scene, a row each; f frames, t times of controls, u motors."""

    n_steps: int
    frames: NDArray[np.int64]  # (f,)   steps after which a frame is kept, ascending; first 0
    motors: NDArray[np.int64]  # (u, 2) joint and axis
    metrics: tuple[str, ...]
    needs_summary: bool  # whether a metric needs the summary of a world
    q: Array  # (n, nq) m, rad or -           at the start
    qd: Array  # (n, nv) m/s or rad/s
    controls: Array  # (n, t, u) m, rad, N ... targets
    kept_q: Array  # (n, f, nq)                frames
    kept_qd: Array  # (n, f, nv)
    status: NDArray[np.str_]  # (n,)
    values: dict[str, list[Any]]  # metrics by name, one of each world
    left: NDArray[np.int64]  # (n,)            1: not computed in lanes


def are_numbers(metrics: Sequence[str], simulation: Simulation) -> bool:
    """Whether all metrics are numbers of the account, which arrays of many worlds have."""
    found = account_now(simulation.model, simulation.state)
    try:
        return not any(isinstance(value_of(found, name), Mapping) for name in metrics)
    except ValueError:
        return False


class Worker:
    """What one thread computes rows with."""

    def __init__(self, rows: Rows, simulation: Simulation) -> None:
        """Use a simulation of the scene, which nothing else uses meanwhile."""
        self._rows, self._one = rows, simulation
        simulation.reset()
        # whether states are in the coordinates that steps have
        self._is_tree = all(
            np.array_equal(a, b)
            for a, b in pairs_of(simulation.model.tree, simulation.placement.tree)
        )
        t, u = rows.controls.shape[1:]
        held = np.array([rows.n_steps // max(t, 1)])
        self._controls = Controls(np.zeros((t, u)), rows.motors, held)
        self._extremes = simulation.state.extremes.copy()

    @property
    def can_be_in_lanes(self) -> bool:
        """Whether lanes can compute worlds of this scene."""
        one = self._one
        return self._is_tree and fits(one.scene, one.model, one.options)

    # ------------------------------------------------------------------ side by side

    @cached_property
    def _lanes(self) -> tuple[LaneWorld, Any, NDArray[np.int64]]:
        """The world in all lanes, its handle, and the generalised velocities of driven motors."""
        world = lane_world(self._one.built)
        rates = {(j, axis): k for k, _, j, axis in own_rates(self._one.model.tree)}
        motors = self._rows.motors if self._rows.controls.shape[1] else self._rows.motors[:0]
        velocity = np.array([rates[int(j), int(axis)] for j, axis in motors], np.int64)
        world.model.commanded[velocity] = 1
        return world, lanes_handle(world), velocity

    def run_in_lanes(self, part: slice) -> None:
        """Run these worlds; those that need what lanes cannot do are marked as left."""
        rows, one, h = self._rows, self._one, float(self._one.options.time_step)
        world, handle, _ = self._lanes
        runs = self._runs(part)
        run_worlds(handle, handle_of(runs), h, rows.n_steps)
        if not rows.needs_summary:
            self._read_numbers(part, runs)
            return
        for lane in range(part.stop - part.start):
            if not rows.left[part.start + lane]:
                read_lane(world.state, lane, one.state, h)
                self._read_account(part.start + lane)
        one.reset()

    def run_on_card(self) -> None:
        """Run all worlds on a GPU, as `run_in_lanes` does. Raises NoDeviceError."""
        # modes without lanes have none of it
        from cardan.engine.lanes.gpu import Gpu

        rows = self._rows
        gpu = Gpu(self._lanes[0], (float(self._one.options.time_step), rows.n_steps), Card())
        size = gpu.capacity(sum(array.nbytes for array in self._runs(slice(0, 1))))
        with closing(gpu):
            for part in parts(len(rows.q), min(size, len(rows.q))):
                runs = self._runs(part)
                gpu.run(runs)
                self._read_numbers(part, runs)

    def _runs(self, part: slice) -> WorldRuns:
        """Worlds of one call of the kernel."""
        rows, n = self._rows, part.stop - part.start
        return WorldRuns(
            q=rows.q[part],
            qd=rows.qd[part],
            controls=rows.controls[part],
            velocity=self._lanes[2],
            extremes=self._extremes,
            frames=rows.frames,
            kept_q=rows.kept_q[part],
            kept_qd=rows.kept_qd[part],
            records=np.zeros((n, LIMITS)),
            ledger=np.zeros((n, N_LEDGER)),
            energy=np.zeros((n, 2)),
            left=rows.left[part],
        )

    # ------------------------------------------------------------------ one after another

    def run_alone(self, row: int) -> None:
        """Run one world. Raises ValueError where its state is none of the scene."""
        rows, one = self._rows, self._one
        try:
            one.reset(rows.q[row], rows.qd[row])
        except ValueError as error:
            raise ValueError(f"world {row}: {error}") from error
        start_extremes(one.model, one.state)
        rows.kept_q[row, 0], rows.kept_qd[row, 0] = rows.q[row], rows.qd[row]
        rows.kept_q[row, 1:] = rows.kept_qd[row, 1:] = np.nan
        self._controls.targets[:] = rows.controls[row]
        one.follow(self._controls)
        if self._is_tree:
            self._advance_recorded(row)
        else:
            self._advance_by_frames(row)
        if one.failure is not None:
            rows.status[row] = "failed"
        self._read_account(row)

    def _advance_recorded(self, row: int) -> None:
        """All steps of one world in coordinates of trees: they are recorded on the way."""
        rows, one = self._rows, self._one
        counts = Counts(0, rows.q.shape[1], rows.qd.shape[1])
        one.sampler = Sampler(("coordinates",), np.zeros(0, np.int64), counts, rows.frames[1:])
        one.advance(rows.n_steps)
        kept, frames = one.sampler.samples, one.sampler.n_frames
        rows.kept_q[row, 1 : frames + 1] = kept.tree_q[:frames]
        rows.kept_qd[row, 1 : frames + 1] = kept.tree_qd[:frames]

    def _advance_by_frames(self, row: int) -> None:
        """All steps of one world; coordinates are found from its bodies."""
        rows, one = self._rows, self._one
        for frame, step in enumerate(rows.frames[1:].tolist(), 1):
            one.advance(step - one.step_count)
            if one.failure is not None:
                return
            rows.kept_q[row, frame], rows.kept_qd[row, frame] = one.joint_state()

    # ------------------------------------------------------------------ metrics

    def _read_numbers(self, part: slice, runs: WorldRuns) -> None:
        """Metrics of worlds of one call of the kernel."""
        mass = float(self._one.model.bodies.mass.sum())
        energy = runs.energy[:, 0], runs.energy[:, 1]
        found = account_of(runs.records, runs.ledger, energy, mass, self._rows.n_steps)
        for name, values in self._rows.values.items():
            values[part] = value_of(found, name).tolist()

    def _read_account(self, row: int) -> None:
        """Metrics of the world that the simulation is."""
        rows, one = self._rows, self._one
        if not rows.metrics:
            return
        found = one.summary() if rows.needs_summary else account_now(one.model, one.state)
        for name, values in rows.values.items():
            values[row] = value_of(found, name)


def taken(jobs: deque[Job]) -> Iterator[Job]:
    """Jobs from the left, until none is left; other threads may take some meanwhile."""
    while True:
        try:
            job = jobs.popleft()
        except IndexError:
            return
        yield job


def share(
    workers: Sequence[Worker], work: Callable[[Worker, Job], None], jobs: Iterable[Job]
) -> None:
    """Do all jobs, each by the first worker that is free, a thread for each worker.

    A job that raises ends the others after those they are at; the first one's error is raised.
    """
    waiting = deque(jobs)

    def do_jobs(worker: Worker) -> None:
        try:
            for job in taken(waiting):
                work(worker, job)
        except BaseException:
            waiting.clear()
            raise

    if len(workers) == 1:
        do_jobs(workers[0])
        return
    with ThreadPoolExecutor(len(workers), "rollout") as pool:
        ended = [pool.submit(do_jobs, worker) for worker in workers]
        try:
            for one in ended:
                one.result()
        finally:
            waiting.clear()
