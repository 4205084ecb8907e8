"""Faults of scenes that reduced coordinates or smooth integrators do not support."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cardan.engine.build.faults import Faults
from cardan.engine.build.presence import check_held
from cardan.engine.world.model import (
    COUPLING,
    DYNAMIC,
    KINEMATIC,
    MOTOR_NONE,
    MOTOR_POSITION,
    MOTOR_VELOCITY,
    Joints,
    Model,
)
from cardan.engine.world.tree import Tree
from cardan.schemas import Scene

# solvers that support kinematic trees
METHODS = (
    "auto",
    "pgs",
    "sor",
    "gauss_seidel",
    "pivoting",
    "nncg",
    "pgs_sm",
    "apgd",
    "proximal",
    "lemke",
)


def check_reduced(scene: Scene, faults: Faults) -> None:
    """Add a fault for every option that requires maximal coordinates."""
    simulation, contact = scene.simulation, scene.simulation.contact
    asked: list[tuple[str, str, tuple[str, ...]]] = [
        ("/simulation/gyroscopic", simulation.gyroscopic, ("implicit",)),
        ("/simulation/orientation_update", simulation.orientation_update, ("finite",)),
        ("/simulation/contact/restitution_law", contact.restitution_law, ("newton",)),
        ("/simulation/contact/impact_time", contact.impact_time, ("step",)),
        ("/simulation/solver/method", simulation.solver.method, METHODS),
    ]
    if simulation.stabilisation is not None:
        asked.append(("/simulation/stabilisation", simulation.stabilisation, ("baumgarte",)))
    for pointer, value, available in asked:
        if value not in available:
            name = pointer.rsplit("/", 1)[1]
            what = f"`{name}` '{value}' with the formulation 'reduced'"
            faults.missing(pointer, what, ", ".join(available))
    if simulation.sleeping.enabled:
        what = "sleeping with the formulation 'reduced'"
        faults.missing("/simulation/sleeping/enabled", what, "false")
    if simulation.integrator == "semi_implicit_euler":
        check_held(scene, faults)


def check_rotors(scene: Scene, tree: Tree, faults: Faults) -> None:
    """Add faults for rotors of joints outside trees, which have no generalised velocities."""
    for j, joint in enumerate(scene.joints):
        if joint.armature > 0.0 and tree.inner[j] == 0:
            instead = "the formulation 'reduced', for joints that are part of a tree"
            faults.missing(f"/joints/{j}/armature", "`armature` of an equation", instead)


def pairs_that_may_touch(model: Model) -> Iterator[tuple[int, int]]:
    """Pairs of shapes, ascending, that no mask, joint or body keeps from colliding."""
    shapes, kind = model.shapes, model.bodies.kind
    body, n_bodies = shapes.body, len(kind) - 1
    excluded = set(model.joints.excluded.tolist())
    for i in range(len(body)):
        others = np.arange(i + 1, len(body))
        meets = (shapes.group[i] & shapes.mask[others] != 0) & (
            shapes.group[others] & shapes.mask[i] != 0
        )
        moves = (kind[body[i]] == DYNAMIC) | (kind[body[others]] == DYNAMIC)
        for k in others[meets & moves & (body[others] != body[i])].tolist():
            a, b = sorted((int(body[i]), int(body[k])))
            if a * n_bodies + b not in excluded:
                yield i, k


def may_touch(model: Model) -> tuple[int, int] | None:
    """The first two bodies that may collide, or none."""
    pair = next(pairs_that_may_touch(model), None)
    if pair is None:
        return None
    a, b = sorted(int(model.shapes.body[i]) for i in pair)
    return a, b


def has_stops(joints: Joints, j: int) -> bool:
    """Whether a coordinate of joint j is bounded."""
    bounded = np.isfinite(joints.limit_lower[j]) | np.isfinite(joints.limit_upper[j])
    return bool((bounded & (joints.limit_on[j] != 0)).any())


def check_smooth(scene: Scene, model: Model, faults: Faults) -> None:
    """Add faults for everything discontinuous, which smooth integrators do not support."""
    name = scene.simulation.integrator
    instead = "semi_implicit_euler for scenes with it"
    joints = model.joints
    servo = (joints.motor_kind == MOTOR_POSITION) & ~joints.motor_stiffness.any(axis=2)
    servo &= joints.motor_damping == 0.0
    for j in range(len(joints.kind)):
        drives = joints.motor_kind[j] == MOTOR_VELOCITY
        jumps = {
            "limits": has_stops(joints, j),
            "slack": bool(joints.kind[j] == COUPLING and joints.limit_on[j, 0]),
            "motor": bool((drives | servo[j]).any()) and joints.motor_kind[j].max() > MOTOR_NONE,
            "friction": joints.friction[j] > 0.0,
            "cfm": joints.cfm[j] > 0.0,
            "breaking_force": bool(np.isfinite(joints.breaking_force[j])),
        }
        for field, found in jumps.items():
            if found:
                what = f"`{field}` of this kind with the integrator '{name}'"
                faults.missing(f"/joints/{j}/{field}", what, instead)
    for i in np.flatnonzero(model.bodies.kind == KINEMATIC):
        faults.missing(f"/bodies/{i}/type", f"a kinematic body with '{name}'", instead)
    pair = may_touch(model)
    if pair is not None:
        names = [scene.bodies[k].name for k in pair]
        what = f"contact (of '{names[0]}' and '{names[1]}') with the integrator '{name}'"
        faults.missing("/simulation/integrator", what, instead)
    if "constraints" in scene.record.channels:
        what = f"the channel `constraints` with the integrator '{name}', which solves no problem"
        faults.missing("/record/channels", what, instead)
