"""Targets over time: as many values as times, and times that increase."""

from collections.abc import Iterator

from cardan.schemas.checks.parts import fault
from cardan.schemas.error import Fault
from cardan.schemas.series import NumberSeries, PoseSeries, VectorSeries


def series_faults(path: list[str | int], target: object) -> Iterator[Fault]:
    """Yield what is wrong with a target, if it is given over time."""
    if not isinstance(target, (NumberSeries, VectorSeries)):
        return
    if len(target.values) != len(target.times):
        yield fault(
            [*path, "values"],
            "length_mismatch",
            f"There are {len(target.times)} times and {len(target.values)} values; each time "
            "needs one value.",
            target.values,
            None,
        )
    yield from time_faults(path, target.times, "for a jump use interpolation 'step'")


def time_faults(path: list[str | int], times: tuple[float, ...], instead: str) -> Iterator[Fault]:
    """Yield the first time that does not follow the one before it."""
    for k in range(1, len(times)):
        if times[k] <= times[k - 1]:
            yield fault(
                [*path, "times", k],
                "times_not_increasing",
                f"Times must increase: {times[k]:g} s follows {times[k - 1]:g} s.",
                times[k],
                f"Sort the samples by time; {instead}.",
            )
            return


def pose_faults(path: list[str | int], motion: PoseSeries) -> Iterator[Fault]:
    """Yield what is wrong with the poses of a body over time."""
    n = len(motion.times)
    if motion.positions is None and motion.orientations is None:
        yield fault(
            path,
            "no_motion",
            "The motion has times, but neither `positions` nor `orientations`.",
            None,
            "Give one of them, or both: one value for each time.",
        )
    for field in ("positions", "orientations"):
        values = getattr(motion, field)
        if values is not None and len(values) != n:
            yield fault(
                [*path, field],
                "length_mismatch",
                f"There are {n} times and {len(values)} {field}; each time needs one.",
                len(values),
                None,
            )
    yield from time_faults(path, motion.times, "a body cannot be at two places at once")
