"""Arrays of states, controls and frames of many worlds: what is given is checked and spread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cardan.engine.build.coordinates import Coordinate
from cardan.engine.build.faults import QUATERNION_TOLERANCE
from cardan.engine.interaction.states import of_unit_length

Array = NDArray[np.float64]


def parts(n: int, size: int) -> Iterator[slice]:
    """n worlds, so many at a time."""
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


def frames_of(n_steps: int, every: int | None) -> NDArray[np.int64]:
    """Steps after which frames are kept: 0, every so many, and the last. Raises ValueError."""
    if every is not None and every < 1:
        raise ValueError(f"`every` must be at least 1, not {every}")
    return np.union1d(np.arange(0, n_steps, every or n_steps), [n_steps]).astype(np.int64)


def checked(given: ArrayLike | None, what: str, shape: tuple[int, ...]) -> Array | None:
    """An array of finite numbers whose last axes have this shape, -1 for any length, or with one
    axis of worlds before them. Raises ValueError.
    """
    if given is None:
        return None
    array = np.ascontiguousarray(given, dtype=np.float64)
    axes = len(shape)
    fits_in = array.ndim in (axes, axes + 1) and all(
        wanted in (-1, found) for wanted, found in zip(shape, array.shape[-axes:], strict=True)
    )
    if not fits_in:
        wanted = ", ".join("t" if length == -1 else str(length) for length in shape)
        raise ValueError(
            f"{what} must have the shape ({wanted}) or (n, {wanted}), not {array.shape}"
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise ValueError(f"{what}{bad[0].tolist()} is not finite: {array[tuple(bad[0])]}")
    return array


def count_of(given: Mapping[str, Array | None]) -> int:
    """Number of worlds: of all arrays that have an axis for them. Raises ValueError."""
    axes = {"q": 1, "qd": 1, "controls": 2}
    counts = {
        name: len(array)
        for name, array in given.items()
        if array is not None and array.ndim > axes[name]
    }
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in counts.items())
        raise ValueError(f"arrays must be of the same number of worlds; found {told}")
    n = next(iter(counts.values()), 1)
    if n == 0:
        raise ValueError("a rollout needs at least one world")
    return n


def spread(given: Array | None, instead: Array, n: int, axes: int) -> Array:
    """One row for each of n worlds."""
    array = instead if given is None else given
    rows = array if array.ndim > axes else np.broadcast_to(array, (n, *array.shape))
    return np.ascontiguousarray(rows)


def with_unit_quaternions(q: Array, coordinates: Sequence[Coordinate]) -> Array:
    """Coordinates whose quaternions have length 1. Raises ValueError where they are far from it."""
    found = q.copy()
    for motion in coordinates:
        if motion.motion not in ("ball", "free"):
            continue
        part = slice(motion.q[1] - 4, motion.q[1])
        length = np.linalg.norm(found[..., part], axis=-1)
        if (np.abs(length - 1.0) > QUATERNION_TOLERANCE).any():
            raise ValueError(
                f"the quaternions q[..., {part.start}:{part.stop}] of '{motion.body}' must have "
                f"length 1 within {QUATERNION_TOLERANCE}; found {length.min():.6g} to "
                f"{length.max():.6g}"
            )
        found[..., part] = of_unit_length(found[..., part], length)
    return found
