"""Which worlds can be computed side by side, and which of them with each other (not compiled)."""

from __future__ import annotations

import numpy as np

from cardan.engine.build.presence import passing_bodies
from cardan.engine.build.rewrite import same_options, same_structure
from cardan.engine.build.scene import Built
from cardan.engine.compiler.lanes import HAS_LANES
from cardan.engine.lanes.arrays import lane_drives, own_rates
from cardan.engine.lanes.boxes import touching_pairs
from cardan.engine.world.model import (
    DYNAMIC,
    KINEMATIC,
    MOTOR_FORCE,
    MOTOR_NONE,
    MOTOR_POSITION,
    Model,
)
from cardan.engine.world.options import Integrator, StepOptions
from cardan.schemas import Scene


def fits(scene: Scene, model: Model, options: StepOptions) -> bool:
    """Whether lanes can compute a scene: trees in joint coordinates, as long as nothing touches.

    Rotors, motors with a force or with stiffness, dampers and springs of joints included; stops as
    long as they are out of reach.
    """
    return (
        HAS_LANES
        and options.integrator == Integrator.SEMI_IMPLICIT_EULER
        and are_trees(model)
        and are_plain(model)
        and touching_pairs(model) is not None
        and not (scene.triggers or scene.sensors or passing_bodies(scene))
    )


def has_same_bits(model: Model) -> bool:
    """Whether a model that fits has the bits in lanes that it has alone: no joint is driven."""
    return int(lane_drives(model).count[0]) == 0


def are_trees(model: Model) -> bool:
    """Whether trees are all that moves, and no joint is outside of them."""
    kind, tree = model.bodies.kind, model.tree
    moving = np.flatnonzero(kind == DYNAMIC)
    return bool(
        len(moving) > 0
        and (tree.node[moving] >= 0).all()
        and (kind != KINEMATIC).all()
        and (tree.inner == 1).all()
        and len(model.forces.kind) == 0
        and len(model.prescribed.body) == 0
    )


def are_plain(model: Model) -> bool:
    """Whether joints have only drives that lanes compute, on coordinates of their own."""
    joints, tree = model.joints, model.tree
    own = np.zeros(joints.motor_kind.shape, bool)
    for _, _, j, axis in own_rates(tree):
        own[j, axis] = True
    motors, limited = joints.motor_kind != MOTOR_NONE, joints.limit_on != 0
    soft = (joints.motor_stiffness != 0.0).any(axis=2)
    allowed = (joints.motor_kind == MOTOR_FORCE) | ((joints.motor_kind == MOTOR_POSITION) & soft)
    locked = limited & (joints.limit_lower == joints.limit_upper)
    passive = (joints.damping > 0.0) | (joints.spring_on == 1)
    return bool(
        (allowed | ~motors).all()
        and not ((motors | limited) & ~own).any()
        and not locked.any()
        and not (passive & ~_drives_all(model, own)).any()
        and (joints.friction == 0.0).all()
    )


def _drives_all(model: Model, own: np.typing.NDArray[np.bool_]) -> np.typing.NDArray[np.bool_]:
    """Joints all of whose motions are coordinates of their own."""
    rates = np.zeros(len(own), np.int64)
    tree = model.tree
    for i in range(len(tree.kind)):
        if tree.joint[i] >= 0:
            rates[tree.joint[i]] += tree.v_start[i + 1] - tree.v_start[i]
    found: np.typing.NDArray[np.bool_] = own.sum(axis=1) == rates
    return found


def fit_together(one: Built, other: Built) -> bool:
    """Whether two worlds can be neighbours: one structure, step and times of targets."""
    return (
        same_options(one.options, other.options)
        and one.options.time_step == other.options.time_step
        and same_structure(one, other)
        and np.array_equal(one.model.targets.times, other.model.targets.times)
    )
