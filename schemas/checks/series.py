"""Targets over time: as many values as times, and times that increase."""

from collections.abc import Iterator

from cardan.schemas.checks.parts import fault
from cardan.schemas.error import Fault
from cardan.schemas.series import NumberSeries, VectorSeries


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
    for k in range(1, len(target.times)):
        if target.times[k] <= target.times[k - 1]:
            yield fault(
                [*path, "times", k],
                "times_not_increasing",
                f"Times must increase: {target.times[k]:g} s follows {target.times[k - 1]:g} s.",
                target.times[k],
                "Sort the samples by time; for a jump use interpolation 'step'.",
            )
            return
