"""Arrays for the velocities and inertia of a step."""

from __future__ import annotations

import numpy as np

from cardan.engine.world.workspace import Motion


def motion_arrays(n: int, has_trees: bool) -> Motion:
    """Arrays for n bodies, including the world."""
    n_ahead = n if has_trees else 0
    return Motion(
        velocity_old=np.zeros((n, 6)),
        velocity_free=np.zeros((n, 6)),
        jump=np.zeros((n, 6)),
        lead=np.zeros((n, 6)),
        levers=np.zeros((n, 6)),
        inverse_inertia_W=np.zeros((n, 3, 3)),
        wrench=np.zeros((n, 6)),
        booked=np.zeros((n, 6)),
        bias_acceleration=np.zeros((n, 6)),
        velocity_ahead=np.zeros((n_ahead, 6)),
        acceleration_ahead=np.zeros((n_ahead, 6)),
        scratch=np.zeros((n, 6)),
        activity=np.zeros(n, np.int64),
        jointed=np.zeros(n, np.int64),
        deflected=np.zeros(n, np.int64),
    )
