"""Whether two bodies sleep; what joins them is then passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.model import ASLEEP

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def is_asleep(kind: NDArray, a: int, b: int) -> bool:
    """Whether a or b sleeps. The other one then sleeps too or stands still: no rows are needed.

    Reads   kind (n,) int64   what bodies do in this step, see sleeping/activity.py
    """
    return bool(kind[a] == ASLEEP or kind[b] == ASLEEP)
