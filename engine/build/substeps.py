"""Arrays for substeps of the kick."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.engine.solvers.sweeps.simd.layout import LAYER, SHARED, W
from cardan.engine.solvers.sweeps.simd.soft import BLOCK
from cardan.engine.world.options import SolverMethod, StepOptions
from cardan.engine.world.problem import Lanes, Problem
from cardan.engine.world.substeps import Substeps


def substep_arrays(problem: Problem, options: StepOptions, lanes: Lanes) -> Substeps:
    """Arrays for the rows of a problem in substeps; empty with other methods."""
    asked = options.solver.method == SolverMethod.SMALL_STEPS
    n_bodies, n = (len(problem.inverse_mass), len(problem.b)) if asked else (0, 0)
    groups = len(lanes.body_a) // W
    layers = (len(lanes.data) - groups * SHARED) // LAYER if asked else 0
    own: dict[str, Any] = {k: np.zeros(n) for k in ("cfm", "b", "lo", "hi", "lam", "w")}
    own["number"] = np.zeros(1, np.int64)
    return Substeps(
        part=problem._replace(**own),
        law=np.zeros(n, np.int64),
        total=np.zeros(n),
        aim=np.zeros(n),
        speed=np.zeros(n),
        gain=np.zeros(n),
        lanes=np.zeros(BLOCK * layers),
        v=np.zeros((n_bodies, 6)),
        moved=np.zeros((n_bodies, 6)),
        shift=np.zeros((n_bodies, 6)),
    )
