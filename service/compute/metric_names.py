"""Names of metrics in a request: keys of the summary, checked before anything is queued."""

import re
from collections.abc import Iterable

from cardan.schemas import Fault
from cardan.schemas.error import printable, shown
from cardan.schemas.spelling import did_you_mean, listed
from cardan.schemas.summary import stray_key

METRIC_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def faults_of_metrics(places: Iterable[tuple[str, str]]) -> list[Fault]:
    """Return a fault for each metric that no summary has; `places` are pairs (pointer, name)."""
    return [_fault(pointer, name) for pointer, name in places if _is_wrong(name)]


def _is_wrong(name: str) -> bool:
    return stray_key(name) is not None or not METRIC_NAME.fullmatch(name)


def _fault(pointer: str, name: str) -> Fault:
    message = "A metric is a key of the summary, as energy.max_relative_drift"
    hint = None
    stray = stray_key(name)
    if stray is not None:
        key, allowed = stray
        message += f"; found '{shown(key)}' where there are {listed(allowed)}"
        hint = did_you_mean(printable(key), allowed)
    return Fault(
        pointer=pointer,
        code="not_a_metric",
        message=f"{message}.",
        got=shown(name),
        hint=hint or "For example energy.final or state_hash.",
    )
