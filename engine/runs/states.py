"""Many worlds of one model from states and controls that are arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cardan.engine.build.coordinates import Coordinate
from cardan.engine.compiler.lanes import W
from cardan.engine.interaction.threads import LARGE, threads_for
from cardan.engine.runs.state_arrays import (
    Array,
    checked,
    count_of,
    frames_of,
    parts,
    spread,
    with_unit_quaternions,
)
from cardan.engine.runs.variants import column, unit_of
from cardan.engine.runs.world_rows import Rows, Worker, are_numbers, share
from cardan.engine.simulation import Simulation
from cardan.engine.world.model import MOTOR_NONE
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
    threads: int | Literal["auto"]
    """Threads that share the worlds; without it one, `auto`: as many as there are cores. No bit
    depends on it."""
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
    options: n_steps, every, limits, threads, device, as in RunOptions

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
    worlds = _Worlds(whole, (q, qd, controls), metrics, options.get("every"))
    worlds.run(device, _threads(options.get("threads", 1)))
    return worlds.found()


def _threads(asked: int | str) -> int:
    """Number of threads. Raises ValueError."""
    if asked != "auto" and (not isinstance(asked, int) or asked < 1):
        raise ValueError(f"threads must be at least 1, or 'auto', not {asked!r}")
    return threads_for(asked, LARGE)


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
        given: Sequence[ArrayLike | None],
        metrics: Sequence[str],
        every: int | None,
    ):
        """Build the scene, and check q, qd and controls. Raises SceneError, ValueError."""
        self._one = Simulation(scene)
        model, start = self._one.model, self._one.joint_state()
        motors = np.argwhere(model.joints.motor_kind != MOTOR_NONE)
        n_steps = self._one.total_steps
        frames = frames_of(n_steps, every)
        q, qd, controls = self._checked(given, len(motors), n_steps)
        n = count_of({"q": q, "qd": qd, "controls": controls})
        shape = n, len(frames)
        self._rows = Rows(
            n_steps=n_steps,
            frames=frames,
            motors=motors,
            metrics=tuple(metrics),
            needs_summary=not are_numbers(metrics, self._one),
            q=spread(q, start.q, n, 1),
            qd=spread(qd, start.qd, n, 1),
            controls=spread(controls, np.zeros((0, len(motors))), n, 2),
            kept_q=np.full((*shape, len(start.q)), np.nan),
            kept_qd=np.full((*shape, len(start.qd)), np.nan),
            status=np.full(n, "succeeded"),
            values={name: [None] * n for name in metrics},
            left=np.ones(n, np.int64),
        )

    def _checked(
        self, given: Sequence[ArrayLike | None], n_motors: int, n_steps: int
    ) -> tuple[Array | None, Array | None, Array | None]:
        """The given arrays, checked. Raises ValueError."""
        start = self._one.joint_state()
        q = checked(given[0], "q", (len(start.q),))
        qd = checked(given[1], "qd", (len(start.qd),))
        controls = checked(given[2], "controls", (-1, n_motors))
        if controls is not None and (controls.shape[-2] == 0 or n_steps % controls.shape[-2]):
            raise ValueError(
                f"{n_steps} steps cannot be shared equally by {controls.shape[-2]} rows of controls"
            )
        return q if q is None else with_unit_quaternions(q, self._one.coordinates), qd, controls

    def run(self, device: str, threads: int) -> None:
        """Run all worlds, side by side where that is possible."""
        rows, first = self._rows, Worker(self._rows, self._one)
        if device == "gpu" and rows.needs_summary:
            raise ValueError(
                f"on a GPU metrics must be numbers that need no summary of a world; {rows.metrics}"
            )
        n, others = len(rows.q), min(threads, len(rows.q)) - 1
        workers = [first, *(Worker(rows, Simulation(self._one.scene)) for _ in range(others))]
        if first.can_be_in_lanes and device == "gpu":
            first.run_on_card()
        elif first.can_be_in_lanes:
            # equal parts of whole groups; a summary is read before lanes have other worlds
            most = W if rows.needs_summary else CHUNK
            size = min(most, W * -(-n // (W * len(workers))))
            share(workers, Worker.run_in_lanes, parts(n, size))
        share(workers, Worker.run_alone, np.flatnonzero(rows.left).tolist())

    def found(self) -> StateRollout:
        """The results."""
        one, rows = self._one, self._rows
        return StateRollout(
            times=rows.frames.astype(np.float64) * float(one.options.time_step),
            q=rows.kept_q,
            qd=rows.kept_qd,
            metrics={name: column(values) for name, values in rows.values.items()},
            units={name: unit_of(name) for name in rows.metrics},
            status=rows.status,
            in_lanes=int((rows.left == 0).sum()),
            coordinates=one.coordinates,
            motors=tuple((one.joint_names[j], int(axis)) for j, axis in rows.motors),
        )
