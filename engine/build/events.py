"""Arrays for the events of a step."""

from __future__ import annotations

import numpy as np

from cardan.engine.world.events import N_WHERE, N_WHO, Events


def event_arrays(n: int) -> Events:
    """Arrays for n events; 0: events are not recorded."""
    return Events(np.zeros(1, np.int64), np.zeros((n, N_WHO), np.int64), np.zeros((n, N_WHERE)))
