"""Differences of fourth order: at which places, and how much each counts."""

from __future__ import annotations

import numpy as np

from cardan.engine.world.model import FORCE_DRAG, Model

Stencil = tuple[tuple[float, float], ...]

# (steps from the state, weight per step)
PLAIN: Stencil = ((-2.0, 1 / 12), (-1.0, -2 / 3), (1.0, 2 / 3), (2.0, -1 / 12))
# twice that of half the step, less that of the whole one: |x| x has the derivative 0 at 0 as well
BENT: Stencil = (
    (-2.0, -1 / 12), (-1.0, 1.0), (-0.5, -8 / 3), (0.5, 8 / 3), (1.0, -1.0), (2.0, 1 / 12),
)  # fmt: skip


def stencil_of(model: Model) -> Stencil:
    """The differences for a model: those of BENT where a force has a term |x| x.

    Check   tests/engine/statics/test_linearization.py
    """
    forces, joints = model.forces, model.joints
    bent = [k[..., 1] for k in (forces.stiffness, joints.spring_k, joints.motor_stiffness)]
    bent.append(forces.coefficient[forces.kind == FORCE_DRAG, 1])
    return BENT if any(np.any(k) for k in bent) else PLAIN
