"""Room for contacts that are swept eight at a time."""

from __future__ import annotations

import numpy as np

from engine.solvers.lanes import COLOURS, GROUP, W
from engine.world.problem import Lanes


def lane_arrays(n_bodies: int, max_contacts: int) -> Lanes:
    """Room for that many contacts side by side; every colour may leave a group unfilled."""
    groups = max_contacts // W + COLOURS + 1 if max_contacts > 0 else 0
    return Lanes(
        count=np.zeros(3, np.int64),
        data=np.zeros(groups * GROUP),
        body_a=np.zeros(groups * W, np.int64),
        body_b=np.zeros(groups * W, np.int64),
        listed=np.zeros(max_contacts, np.int64),
        row=np.zeros(groups * W, np.int64),
        colour=np.zeros(max_contacts, np.int64),
        start=np.zeros(COLOURS + 1, np.int64),
        taken=np.zeros(n_bodies, np.int64),
        rest=np.zeros(max_contacts, np.int64),
        sides=np.zeros(12 * W),
        worst=np.zeros(W),
    )
