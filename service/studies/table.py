"""What a study asks of its runs, as columns of the table of its batch."""

from collections.abc import Mapping
from typing import Any

from cardan.service.compute.designs import objective_value


def quantity_names(wanted: Mapping[str, Any] | None) -> list[str]:
    """Columns of the objective and of each constrained quantity; of no study: none."""
    if wanted is None:
        return []
    return ["objective", *(f"constraints.{n}" for n in range(len(wanted["constraints"])))]


def quantities_of(
    wanted: Mapping[str, Any] | None, summary: Mapping[str, Any] | None
) -> dict[str, float | None]:
    """The values of a run in these columns; `None` where it failed or measured no number."""
    names = quantity_names(wanted)
    measures = (summary or {}).get("measures")
    if wanted is None or measures is None:
        return dict.fromkeys(names)
    numbers = measures["objective"]
    known = None not in numbers
    objective = objective_value(wanted["objective"]["type"], numbers) if known else None
    return dict(zip(names, [objective, *measures["constraints"]], strict=True))
