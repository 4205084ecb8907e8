"""Functions that kernels of a card call where those of a processor call the C library."""

from __future__ import annotations

import math

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.rotation import MANY_TURNS, sine_cosine


@kernel
def sine(x: float) -> float:
    """sin x within 2e-16; NaN for |x| of many turns: that world is then computed alone."""
    return sine_cosine(x)[0] if abs(x) < MANY_TURNS else math.nan


@kernel
def cosine(x: float) -> float:
    """cos x within 2e-16; NaN for |x| of many turns."""
    return sine_cosine(x)[1] if abs(x) < MANY_TURNS else math.nan


LIBRARY = {"sin": sine, "cos": cosine}
