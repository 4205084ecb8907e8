"""Which worlds can be computed side by side, and which of them with each other (not compiled)."""

from __future__ import annotations

import numpy as np

from cardan.engine.build.presence import passing_bodies
from cardan.engine.build.rewrite import same_options, same_structure
from cardan.engine.build.scene import Built
from cardan.engine.compiler.lanes import HAS_LANES
from cardan.engine.lanes.boxes import touching_pairs
from cardan.engine.world.model import Model
from cardan.engine.world.options import Integrator, SolverMethod, StepOptions
from cardan.schemas import Scene


def fits(scene: Scene, model: Model, options: StepOptions) -> bool:
    """Whether lanes can compute a scene: trees in joint coordinates, as long as nothing touches.

    Rotors, motors with a force or with stiffness, dampers and springs of joints, and wrenches
    included; stops as long as they are out of reach. Sensors are read in the steps of frames, which
    are done beside the lanes (runs/lane_group.py).
    """
    return (
        HAS_LANES
        and options.integrator == Integrator.SEMI_IMPLICIT_EULER
        and model.drives.alone[0] == 1
        and (model.drives.count[0] == 0 or options.solver.method == SolverMethod.AUTO)
        and touching_pairs(model) is not None
        and not (scene.triggers or passing_bodies(scene))
    )


def fit_together(one: Built, other: Built) -> bool:
    """Whether two worlds can be neighbours: one structure, step and times of targets."""
    return (
        same_options(one.options, other.options)
        and one.options.time_step == other.options.time_step
        and same_structure(one, other)
        and np.array_equal(one.model.targets.times, other.model.targets.times)
    )
