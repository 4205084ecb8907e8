"""Arrays for contacts that SIMD sweeps process in lanes."""

from __future__ import annotations

import numpy as np

from cardan.engine.build.threads import crew_arrays
from cardan.engine.solvers.sweeps.simd.anderson import N_INVARIANTS, N_KEPT_ALONE, N_KEPT_BOX
from cardan.engine.solvers.sweeps.simd.layout import COLOURS, KINDS, LAYER, POINTS, SHARED, W
from cardan.engine.world.equations import NODE_ROWS
from cardan.engine.world.problem import Lanes


def simd_arrays(n_bodies: int, max_contacts: int, max_boxes: int) -> Lanes:
    """Arrays for max_contacts contacts in lanes, and max_boxes box rows swept with them.

    Every colour may leave one group partly filled, and one layer per number of points.
    """
    groups = min(max_contacts, max_contacts // W + COLOURS)
    layers = min(max_contacts, max_contacts // W + COLOURS * POINTS)
    return Lanes(
        count=np.zeros(3, np.int64),
        data=np.zeros(groups * SHARED + layers * LAYER),
        begin=np.zeros(groups + 1, np.int64),
        layer=np.zeros(groups, np.int64),
        width=np.zeros(groups, np.int64),
        used=np.zeros(groups * POINTS, np.int64),
        body_a=np.zeros(groups * W, np.int64),
        body_b=np.zeros(groups * W, np.int64),
        listed=np.zeros(max_contacts, np.int64),
        first=np.zeros(max_contacts + 1, np.int64),
        key=np.zeros(max_contacts, np.int64),
        row=np.zeros(groups * W * POINTS, np.int64),
        start=np.zeros(COLOURS * KINDS, np.int64),
        taken=np.zeros(n_bodies, np.int64),
        rest=np.zeros(max_contacts, np.int64),
        kept=np.zeros(layers * N_INVARIANTS + max_contacts * N_KEPT_ALONE),
        kept_boxes=np.zeros((max_boxes, N_KEPT_BOX)),
        together=np.zeros(max_boxes, np.int64),
        inverse=np.zeros((max_boxes, NODE_ROWS)),
        joint_w=np.zeros(NODE_ROWS),
        moving=np.zeros(n_bodies, np.int64),
        speeds=np.zeros((n_bodies, 6)),
        colour=np.zeros(COLOURS + 1, np.int64),
        layers=np.zeros(groups + 1, np.int64),
        place=np.zeros(max_contacts, np.int64),
        odd=np.zeros(1, np.int64),
        sums=np.zeros((layers, 2)),
        crew=crew_arrays(1),
    )
