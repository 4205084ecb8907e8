"""Room for what is told of a step."""

from __future__ import annotations

import numpy as np

from cardan.engine.world.events import N_WHERE, N_WHO, Events


def event_arrays(n: int) -> Events:
    """Room for n events; 0: nobody asks for them."""
    return Events(np.zeros(1, np.int64), np.zeros((n, N_WHO), np.int64), np.zeros((n, N_WHERE)))
