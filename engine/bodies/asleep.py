"""Whether one of two bodies sleeps or is absent; constraints between them are then skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.model import ABSENT, ASLEEP

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def is_asleep(kind: NDArray, a: int, b: int) -> bool:
    """Whether a or b sleeps or is absent: no rows are needed.

    With one that sleeps the other body sleeps or is at rest too.

    Reads   kind (n,) int64   activity of the bodies, see sleeping/activity.py
    """
    return bool(kind[a] in (ASLEEP, ABSENT) or kind[b] in (ASLEEP, ABSENT))
