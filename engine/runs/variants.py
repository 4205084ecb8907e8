"""Many variants of one scene: side by side in lanes, or one after another in the same arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cardan.engine.compiler.lanes import W
from cardan.engine.runs.recording import Recording
from cardan.engine.runs.side_by_side import SideBySide, are_neighbours, may_be_side_by_side
from cardan.engine.runs.whole import advance_to_end, recorded
from cardan.engine.simulation import Simulation
from cardan.schemas import GivenScene, Limits, Scene, load_changed

Overrides = Mapping[str, Any]
Variations = Sequence[Overrides] | Mapping[str, ArrayLike]

METRICS = (
    "energy.final",
    "energy.max_relative_drift",
    "joints.max_position_error",
    "contacts.max_penetration",
    "solver.max_residual",
    "state_hash",
)


# channels of trajectories
POSES = ("pose",)


class Variants:
    """Simulations of one scene with other values at JSON Pointers.

    Arrays, workspace and handles are made once: a variant that differs in numbers only is written
    into them. One of another structure (more bodies, another solver) gets a simulation of its own,
    and `builds` counts it. Either way its bits are those of the variant alone.
    """

    def __init__(self, scene: GivenScene, limits: Limits | None = None):
        """The base scene: its document, as an object or JSON text, or a scene that was loaded."""
        if isinstance(scene, Scene):
            self._document: Any = scene.model_dump(mode="json", exclude_unset=True)
        else:
            self._document = json.loads(scene) if isinstance(scene, str | bytes) else scene
        self._limits = limits
        self._simulation: Simulation | None = None
        self.builds = 0

    def scene(self, overrides: Overrides) -> Scene:
        """The scene of a variant. Raises SceneInvalid."""
        return load_changed(self._document, overrides, self._limits)[0]

    def simulation(self, scene: Scene) -> Simulation:
        """A simulation of a variant before its first step; it is valid until the next call.

        Raises SceneError.
        """
        if self._simulation is None or not self._simulation.restart(scene):
            # large arrays twice may be more than there is room for
            self._simulation = None
            self._simulation = Simulation(scene)
            self.builds += 1
        return self._simulation


@dataclass(frozen=True)
class Rollout:
    """Results of n runs, in their order."""

    metrics: dict[str, NDArray[Any]]
    """(n,) by name: numbers; NaN where a run has none. Texts and truth values keep their kind."""
    units: dict[str, str]
    """Unit of each metric."""
    status: NDArray[np.str_]
    """(n,): succeeded or failed."""
    builds: int
    """Variants that needed arrays of their own, the first one included."""
    in_lanes: int
    """Runs all of whose steps but the first were computed side by side with those of others."""
    bodies: tuple[str, ...]
    """Names of the bodies of `trajectories`."""
    times: NDArray[np.float64] | None = None
    """(n, frames) s; NaN after the end of a run."""
    trajectories: NDArray[np.float64] | None = None
    """(n, frames, bodies, 7): origins px py pz [m] and orientations qw qx qy qz; NaN after it."""


def rollout(
    scene: GivenScene,
    variations: Variations,
    metrics: Sequence[str] = METRICS,
    *,
    trajectories: bool = False,
    limits: Limits | None = None,
) -> Rollout:
    """Run variants of a scene to their ends, each as if it ran alone.

    Trees in joint coordinates are computed side by side (engine/lanes/) if nothing touches, all
    other runs one after another. Bits are those of the run alone.

    variations: one mapping of JSON Pointers to values per run; or one mapping of pointers to
        arrays (n, ...), whose k-th elements make run k
    metrics: keys of the summary, as "energy.max_relative_drift"
    trajectories: keep poses at the frames that the scene's `record` names

    Raises SceneInvalid or SceneError for the first variant that is no scene, ValueError for arrays
    of unequal length and for a metric that is no key of the summary.
    """
    runs = _Runs(scene, limits, trajectories)
    for overrides in listed(variations):
        runs.add(overrides)
    runs.finish()
    found, tracks = runs.summaries, runs.tracks
    whole = _joined(tracks) if trajectories else (None, None)
    return Rollout(
        metrics={name: column([value_of(one, name) for one in found]) for name in metrics},
        units={name: unit_of(name) for name in metrics},
        status=np.array([summary["status"] for summary in found]),
        builds=sum(one.builds for one in runs.pool),
        in_lanes=runs.in_lanes,
        bodies=tracks[0].bodies if tracks else (),
        times=whole[0],
        trajectories=whole[1],
    )


class Track(NamedTuple):
    """Poses over time of one run."""

    times: NDArray[np.float64]  # (frames,) s
    poses: NDArray[np.float64]  # (frames, bodies, 7)
    bodies: tuple[str, ...]


class _Runs:
    """Runs in their order; neighbours wait for each other until there are W of them."""

    def __init__(self, scene: GivenScene, limits: Limits | None, keep: bool):
        """Arrays for as many worlds as there are lanes; `keep`: with trajectories."""
        self.pool = [Variants(scene, limits) for _ in range(W)]
        self.summaries: list[dict[str, Any]] = []
        self.tracks: list[Track] = []
        self.in_lanes = 0
        self._keep = keep
        self._waiting: list[Simulation] = []
        self._lanes = SideBySide()

    def add(self, overrides: Overrides) -> None:
        """Run a variant, or have it wait for neighbours. Raises SceneInvalid, SceneError."""
        scene = self.pool[0].scene(overrides)
        simulation = self.pool[len(self._waiting)].simulation(scene)
        if not may_be_side_by_side(simulation):
            self.finish()
            self._run_alone(simulation)
            return
        if self._waiting and not are_neighbours(self._waiting[0], simulation):
            self.finish()
            simulation = self.pool[0].simulation(scene)
        self._waiting.append(simulation)
        if len(self._waiting) == W:
            self.finish()

    def finish(self) -> None:
        """Run all that wait."""
        waiting, self._waiting = self._waiting, []
        if len(waiting) == 1:
            self._run_alone(waiting[0])
        elif waiting:
            self._run_together(waiting)

    def _run_alone(self, simulation: Simulation) -> None:
        # judged as its neighbours in lanes are, by estimates
        simulation.leave_scene()
        self._end(*recorded(simulation, keep=self._keep, channels=POSES))

    def _run_together(self, simulations: list[Simulation]) -> None:
        kept = simulations if self._keep else []
        recordings = [Recording.of_run(one, POSES) for one in kept]
        steps = self._lanes.advance(simulations, recordings)
        for k, one in enumerate(simulations):
            self.in_lanes += steps[k] == one.total_steps - 1
            advance_to_end(one)
            self._end(recordings[k] if recordings else None, one.summary())

    def _end(self, recording: Recording | None, summary: dict[str, Any]) -> None:
        """Keep what a run came to."""
        self.summaries.append(summary)
        if recording is not None:
            self.tracks.append(Track(recording.times(), recording.poses(), recording.body_names))


def listed(variations: Variations) -> list[Overrides]:
    """One mapping of pointers to values per run. Raises ValueError for unequal lengths."""
    if not isinstance(variations, Mapping):
        return list(variations)
    columns = {pointer: np.asarray(values) for pointer, values in variations.items()}
    lengths = {pointer: len(np.atleast_1d(values)) for pointer, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{pointer}: {n}" for pointer, n in lengths.items())
        raise ValueError(f"the arrays of a rollout must be equally long; found {told}")
    rows = {pointer: np.atleast_1d(values).tolist() for pointer, values in columns.items()}
    return [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]


def value_of(summary: Mapping[str, Any], name: str) -> Any:
    """The value of a dotted key. Raises ValueError when the summary has no such key."""
    value: Any = summary
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            known = ", ".join(sorted(value)) if isinstance(value, Mapping) else "a plain value"
            raise ValueError(f"there is no metric '{name}'; where '{part}' is looked for: {known}")
        value = value[part]
    return value


UNITS = {
    "energy": "J",
    "energy.max_relative_drift": "1",
    "energy.balance_error": "1",
    "energy.returned.largest_time": "s",
    "energy.returned.share": "1",
    "momentum.max_linear_drift": "kg m/s",
    "momentum.max_angular_drift": "kg m^2/s",
    "joints.max_position_error": "m",
    "joints.max_angle_error": "rad",
    "contacts.max_penetration": "m",
    "solver.max_residual": "m/s",
    "solver.max_coulomb_error": "m/s",
    "timing": "s",
    "timing.per_step_us": "us",
    "timing.real_time_factor": "1",
    "timing.phases": "us",
    "time": "s",
}


def unit_of(name: str) -> str:
    """Unit of a metric: its own, or that of the part it belongs to; "1" for what has none."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        unit = UNITS.get(".".join(parts[:n]))
        if unit is not None:
            return unit
    return "1"


def column(values: Sequence[Any]) -> NDArray[Any]:
    """Values of a metric as an array; NaN for None."""
    if all(value is None or isinstance(value, int | float) for value in values):
        return np.array([np.nan if value is None else value for value in values])
    if all(isinstance(value, str) for value in values):
        return np.array(values)
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _joined(tracks: Sequence[Track]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times (n, frames) and poses (n, frames, bodies, 7), NaN after the end of a run."""
    frames = max((len(track.times) for track in tracks), default=0)
    shape = tracks[0].poses.shape[1:] if tracks else (0, 7)
    if any(track.poses.shape[1:] != shape for track in tracks):
        raise ValueError("trajectories need the same bodies in every variant")
    times = np.full((len(tracks), frames), np.nan)
    poses = np.full((len(tracks), frames, *shape), np.nan)
    for run, track in enumerate(tracks):
        times[run, : len(track.times)] = track.times
        poses[run, : len(track.poses)] = track.poses
    return times, poses
