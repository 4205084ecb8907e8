"""Many worlds of one model from states and controls that are arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cardan.engine.accounting.crossings import LIMITS
from cardan.engine.accounting.extremes import start_extremes
from cardan.engine.build.coordinates import Coordinate
from cardan.engine.build.drives import own_rates
from cardan.engine.build.rewrite import pairs_of
from cardan.engine.build.samples import Counts
from cardan.engine.compiler.cuda import Card
from cardan.engine.compiler.handles import handle_of
from cardan.engine.compiler.lanes import W, lanes_handle
from cardan.engine.lanes.arrays import lane_world, read_lane
from cardan.engine.lanes.fits import fits
from cardan.engine.lanes.many import run_worlds
from cardan.engine.outputs.reports import account_now, account_of
from cardan.engine.outputs.sampler import Sampler
from cardan.engine.runs.state_arrays import (
    Array,
    checked,
    count_of,
    frames_of,
    parts,
    spread,
    with_unit_quaternions,
)
from cardan.engine.runs.variants import column, unit_of, value_of
from cardan.engine.simulation import Simulation
from cardan.engine.world.lanes import LaneWorld, WorldRuns
from cardan.engine.world.model import MOTOR_NONE
from cardan.engine.world.world import Controls
from cardan.schemas import GivenScene, Limits, Scene, scene_of

# worlds of one call of a kernel: an interrupt waits for them
CHUNK = 256


@dataclass(frozen=True)
class StateRollout:
    """Results of n worlds, in their order."""

    times: Array
    """(f,) s: of the frames."""
    q: Array
    """(n, f, nq) m, rad or -: coordinates, in the order of `coordinates`; NaN after a failure."""
    qd: Array
    """(n, f, nv) m/s or rad/s."""
    metrics: dict[str, NDArray[Any]]
    """(n,) by name, as in `Rollout`."""
    units: dict[str, str]
    """Unit of each metric."""
    status: NDArray[np.str_]
    """(n,): succeeded or failed."""
    in_lanes: int
    """Worlds that were computed side by side, in lanes or on a GPU; the rest ran alone."""
    coordinates: tuple[Coordinate, ...]
    """Which motion is where in q and qd."""
    motors: tuple[tuple[str, int], ...]
    """Joint and axis of each column of the controls."""


class RunOptions(TypedDict, total=False):
    """How `rollout_states` runs worlds, and what it keeps of them."""

    n_steps: int | None
    """Steps; without it those of the scene's duration."""
    every: int | None
    """Steps between frames; without it only the start and the end are kept."""
    limits: Limits | None
    """The largest scene that is accepted."""
    device: Literal["cpu", "gpu"]
    """Where lanes are: "gpu" computes each world that lanes can compute in a thread of an NVIDIA
    card, with the same bits; metrics are then numbers of energy, momentum, contacts and solver."""


def rollout_states(
    scene: GivenScene,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    controls: ArrayLike | None = None,
    metrics: Sequence[str] = ("energy.final", "energy.max_relative_drift"),
    **options: Unpack[RunOptions],
) -> StateRollout:
    """Run n worlds of one scene from states of their own, with controls of their own.

    The scene is validated and built once. Worlds that lanes can compute (engine/lanes/) are
    computed W at a time, the others one by one. A world is `Simulation.reset(q, qd)` with the
    energy and momenta of that state as its first; in lanes it agrees with that within rounding, and
    its bits depend on no other world.

    q: (nq,) or (n, nq) coordinates at the start, in the order of `Simulation.coordinates`;
        without them those of the scene
    qd: (nv,) or (n, nv) velocities
    controls: (t, m) or (n, t, m) targets of all motors of the scene, in its order of joints and
        axes; row k holds for the k-th of t equal parts of the steps. Without them motors follow
        the scene.
    metrics: keys of the summary. Numbers of energy, momentum, contacts and solver cost nothing;
        any other key makes a summary of every world, about a millisecond each
    options: n_steps, every, limits, device, as in RunOptions

    Raises SceneInvalid, SceneError; ValueError for arrays that do not fit, for values that are not
    finite, for a metric that is no key of the summary, and on a GPU for one that needs a summary;
    NoDeviceError where there is no card, or the package that finds it is missing.
    """
    unknown = options.keys() - RunOptions.__optional_keys__
    if unknown:
        raise TypeError(f"rollout_states has no {', '.join(sorted(unknown))}")
    device = options.get("device", "cpu")
    if device not in ("cpu", "gpu"):
        raise ValueError(f"device must be 'cpu' or 'gpu', not {device!r}")
    whole = with_steps(scene_of(scene, options.get("limits")), options.get("n_steps"))
    worlds = _Worlds(whole, q, qd, controls, metrics, options.get("every"))
    worlds.run(device)
    return worlds.found()


def with_steps(scene: Scene, n_steps: int | None) -> Scene:
    """The scene with a duration of so many steps. Raises ValueError."""
    if n_steps is None:
        return scene
    if n_steps < 1:
        raise ValueError(f"n_steps must be at least 1, not {n_steps}")
    simulation = scene.simulation.model_copy(update={"duration": n_steps * scene.simulation.dt})
    return scene.model_copy(update={"simulation": simulation})


class _Worlds:
    """The worlds of one call: their starts, and what is found of them."""

    def __init__(
        self,
        scene: Scene,
        q: ArrayLike | None,
        qd: ArrayLike | None,
        controls: ArrayLike | None,
        metrics: Sequence[str],
        every: int | None,
    ):
        """Build the scene, and check the arrays. Raises SceneError, ValueError."""
        self._simulation = Simulation(scene)
        self._simulation.reset()
        # whether states are in the coordinates that steps have
        self._is_tree = all(
            np.array_equal(a, b)
            for a, b in pairs_of(self._simulation.model.tree, self._simulation.placement.tree)
        )
        self._metrics = tuple(metrics)
        self._needs_summary = not self._are_numbers()
        model, start = self._simulation.model, self._simulation.joint_state()
        self._motors = np.argwhere(model.joints.motor_kind != MOTOR_NONE)
        self.n_steps = self._simulation.total_steps
        self._frames = frames_of(self.n_steps, every)
        given = self._arrays(q, qd, controls)
        self.n = count_of(given)
        self._q = spread(given["q"], start.q, self.n, 1)
        self._qd = spread(given["qd"], start.qd, self.n, 1)
        no_controls = np.zeros((0, len(self._motors)))
        self._controls = spread(given["controls"], no_controls, self.n, 2)
        rows = self._controls.shape[1]
        held = np.array([self.n_steps // max(rows, 1)])
        self._told = Controls(np.zeros((rows, len(self._motors))), self._motors, held)
        frames = len(self._frames)
        self._kept_q = np.full((self.n, frames, len(start.q)), np.nan)
        self._kept_qd = np.full((self.n, frames, len(start.qd)), np.nan)
        self._status = np.full(self.n, "succeeded")
        self._values: dict[str, list[Any]] = {name: [None] * self.n for name in metrics}
        self._in_lanes = 0

    def _arrays(
        self, q: ArrayLike | None, qd: ArrayLike | None, controls: ArrayLike | None
    ) -> dict[str, Array | None]:
        """The given arrays, checked. Raises ValueError."""
        nq, nv = len(self._simulation.joint_state().q), len(self._simulation.joint_state().qd)
        given = {
            "q": checked(q, "q", (nq,)),
            "qd": checked(qd, "qd", (nv,)),
            "controls": checked(controls, "controls", (-1, len(self._motors))),
        }
        table = given["controls"]
        if table is not None and (table.shape[-2] == 0 or self.n_steps % table.shape[-2]):
            raise ValueError(
                f"{self.n_steps} steps cannot be shared equally by {table.shape[-2]} rows of "
                "controls"
            )
        if given["q"] is not None:
            given["q"] = with_unit_quaternions(given["q"], self._simulation.coordinates)
        return given

    # ------------------------------------------------------------------ running

    def run(self, device: str) -> None:
        """Run all worlds, side by side where that is possible."""
        one = self._simulation
        alone = np.arange(self.n)
        if self._is_tree and fits(one.scene, one.model, one.options):
            side_by_side = self._run_on_card if device == "gpu" else self._run_in_lanes
            alone = np.flatnonzero(side_by_side(*self._lanes()))
        self._in_lanes = self.n - len(alone)
        for row in alone:
            self._run_alone(int(row))

    def _lanes(self) -> tuple[LaneWorld, NDArray[np.int64]]:
        """The world in all lanes, and the generalised velocities of motors that have controls."""
        one = self._simulation
        world = lane_world(one.built)
        rates = {(j, axis): k for k, _, j, axis in own_rates(one.model.tree)}
        velocity = np.array([rates[int(j), int(axis)] for j, axis in self._motors], np.int64)
        if not self._controls.shape[1]:
            velocity = velocity[:0]
        world.model.commanded[velocity] = 1
        return world, velocity

    def _run_in_lanes(self, world: LaneWorld, velocity: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns which worlds were left (n,)."""
        one, h = self._simulation, float(self._simulation.options.time_step)
        handle = lanes_handle(world)
        left = np.zeros(self.n, np.int64)
        for part in parts(self.n, W if self._needs_summary else CHUNK):
            runs = self._rows(part, velocity, left)
            run_worlds(handle, handle_of(runs), h, self.n_steps)
            if not self._needs_summary:
                self._read_numbers(part, runs)
                continue
            for lane in range(part.stop - part.start):
                if not left[part.start + lane]:
                    read_lane(world.state, lane, one.state, h)
                    self._read_summary(part.start + lane)
        one.reset()
        return left

    def _run_on_card(self, world: LaneWorld, velocity: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns which worlds were left (n,). Raises NoDeviceError, ValueError."""
        if self._needs_summary:
            raise ValueError(
                f"on a GPU metrics must be numbers that need no summary of a world; {self._metrics}"
            )
        # modes without lanes have none of it
        from cardan.engine.lanes.gpu import Gpu

        times = float(self._simulation.options.time_step), self.n_steps
        gpu = Gpu(world, times, Card())
        left = np.zeros(self.n, np.int64)
        first = self._rows(slice(0, 1), velocity, left)
        size = min(gpu.capacity(sum(array.nbytes for array in first)), self.n)
        with closing(gpu):
            for part in parts(self.n, size):
                runs = self._rows(part, velocity, left)
                gpu.run(runs)
                self._read_numbers(part, runs)
        return left

    def _rows(self, part: slice, velocity: NDArray[np.int64], left: NDArray[np.int64]) -> WorldRuns:
        """Worlds of one call of the kernel."""
        n = part.stop - part.start
        return WorldRuns(
            q=self._q[part],
            qd=self._qd[part],
            controls=self._controls[part],
            velocity=velocity,
            extremes=self._simulation.state.extremes.copy(),
            frames=self._frames,
            kept_q=self._kept_q[part],
            kept_qd=self._kept_qd[part],
            records=np.zeros((n, LIMITS)),
            ledger=np.zeros((n, 8)),
            energy=np.zeros((n, 2)),
            left=left[part],
        )

    def _run_alone(self, row: int) -> None:
        """Run one world. Raises ValueError where its state is none of the scene."""
        one = self._simulation
        try:
            one.reset(self._q[row], self._qd[row])
        except ValueError as error:
            raise ValueError(f"world {row}: {error}") from error
        start_extremes(one.model, one.state)
        self._kept_q[row, 0], self._kept_qd[row, 0] = self._q[row], self._qd[row]
        self._kept_q[row, 1:] = self._kept_qd[row, 1:] = np.nan
        self._told.targets[:] = self._controls[row]
        one.follow(self._told)
        if self._is_tree:
            self._advance_recorded(row)
        else:
            self._advance_by_frames(row)
        if one.failure is not None:
            self._status[row] = "failed"
        self._read_summary(row)

    def _advance_recorded(self, row: int) -> None:
        """All steps of one world in coordinates of trees: they are recorded on the way."""
        one, none = self._simulation, np.zeros(0, np.int64)
        counts = Counts(0, self._q.shape[1], self._qd.shape[1])
        one.sampler = Sampler(("coordinates",), none, counts, self._frames[1:])
        one.advance(self.n_steps)
        kept, frames = one.sampler.samples, one.sampler.n_frames
        self._kept_q[row, 1 : frames + 1] = kept.tree_q[:frames]
        self._kept_qd[row, 1 : frames + 1] = kept.tree_qd[:frames]

    def _advance_by_frames(self, row: int) -> None:
        """All steps of one world; coordinates are found from its bodies."""
        one = self._simulation
        for frame, step in enumerate(self._frames[1:].tolist(), 1):
            one.advance(step - one.step_count)
            if one.failure is not None:
                return
            self._kept_q[row, frame], self._kept_qd[row, frame] = one.joint_state()

    # ------------------------------------------------------------------ metrics

    def _are_numbers(self) -> bool:
        """Whether all metrics are numbers of the account, which arrays of many worlds have."""
        found = account_now(self._simulation.model, self._simulation.state)
        try:
            return not any(isinstance(value_of(found, name), Mapping) for name in self._metrics)
        except ValueError:
            return False

    def _read_numbers(self, part: slice, runs: WorldRuns) -> None:
        """Metrics of worlds of one call of the kernel."""
        mass = float(self._simulation.model.bodies.mass.sum())
        energy = runs.energy[:, 0], runs.energy[:, 1]
        found = account_of(runs.records, runs.ledger, energy, mass, self.n_steps)
        for name in self._metrics:
            self._values[name][part] = value_of(found, name).tolist()

    def _read_summary(self, row: int) -> None:
        """Metrics of the world that the simulation is."""
        if not self._metrics:
            return
        one = self._simulation
        summary = one.summary() if self._needs_summary else account_now(one.model, one.state)
        for name in self._metrics:
            self._values[name][row] = value_of(summary, name)

    def found(self) -> StateRollout:
        """The results."""
        one = self._simulation
        return StateRollout(
            times=self._frames.astype(np.float64) * float(one.options.time_step),
            q=self._kept_q,
            qd=self._kept_qd,
            metrics={name: column(values) for name, values in self._values.items()},
            units={name: unit_of(name) for name in self._metrics},
            status=self._status,
            in_lanes=self._in_lanes,
            coordinates=one.coordinates,
            motors=tuple((one.joint_names[j], int(axis)) for j, axis in self._motors),
        )
