"""Whether one of two bodies sleeps; constraints between them are then skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.model import ASLEEP

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def is_asleep(kind: NDArray, a: int, b: int) -> bool:
    """Whether a or b sleeps. The other body then sleeps or is at rest too: no rows are needed.

    Reads   kind (n,) int64   activity of the bodies, see sleeping/activity.py
    """
    return bool(kind[a] == ASLEEP or kind[b] == ASLEEP)
