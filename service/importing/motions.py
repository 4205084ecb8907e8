"""Read one joint of the model; in a scene its coordinate is zero at the start."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.notes import Notes
from cardan.service.importing.rotations import conjugate, product, rotation_vector
from cardan.service.importing.urdf_repairs import EQUAL

Floats = npt.NDArray[np.float64]
STANDARD = (0.02, 1.0)
"""MuJoCo's solref of a limit: time constant [s], damping ratio [-]."""
LIMIT_MARGIN = "Stops act at the limit, not a margin before it."


@dataclass
class Motion:
    """A free motion of a body relative to its parent; axis and anchor at the start, in W."""

    index: int
    name: str
    kind: str
    """`hinge`, `slider` or `ball`."""
    axis: Floats
    anchor: Floats
    start: float
    """Coordinate of the model at the start; 0 of a ball [m or rad]."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Fields of the joint in the scene: `damping`, `friction`, `limits`, `spring`, `motor`."""
    armature: float = 0.0
    coupled: bool = False
    """Whether a coupling of the scene names the joint: it stays a joint of its own."""

    @property
    def bare(self) -> bool:
        """Whether the joint has no limits, drive, damping, friction or armature."""
        return not self.fields and not self.armature


def read_motion(compiled: Compiled, joint: int, notes: Notes) -> Motion:
    """Read a hinge, slider or ball of the model; note what a scene cannot express."""
    import mujoco

    model, data = compiled.model, compiled.data
    kinds = {
        mujoco.mjtJoint.mjJNT_HINGE: "hinge",
        mujoco.mjtJoint.mjJNT_SLIDE: "slider",
        mujoco.mjtJoint.mjJNT_BALL: "ball",
    }
    kind = kinds[mujoco.mjtJoint(int(model.jnt_type[joint]))]
    at, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    motion = Motion(
        index=joint,
        name=compiled.name("joint", joint),
        kind=kind,
        axis=np.array(data.xaxis[joint]),
        anchor=np.array(data.xanchor[joint]),
        start=0.0 if kind == "ball" else float(data.qpos[at]),
        armature=float(model.dof_armature[dof]),
    )
    where = f"joint '{motion.name}'"
    if model.dof_damping[dof] and not compiled.is_off("DAMPER"):
        motion.fields["damping"] = float(model.dof_damping[dof])
    if np.any(model.dof_dampingpoly[dof]):
        notes.dropped("damping_polynomial", "Damping is linear in the speed.", where)
    if model.dof_frictionloss[dof] and not compiled.is_off("FRICTIONLOSS"):
        motion.fields["friction"] = float(model.dof_frictionloss[dof])
        if kind == "ball":
            notes.approximated(
                "ball_friction",
                "The three rotations of a ball joint have one friction between them, not one each.",
                where,
            )
    if model.jnt_limited[joint] and not compiled.is_off("LIMIT"):
        motion.fields["limits"] = _limits(compiled, motion, notes)
    if not compiled.is_off("SPRING"):
        motion.fields |= _spring(compiled, motion, at, notes)
    return motion


def note_free_joint(compiled: Compiled, joint: int, notes: Notes) -> None:
    """Note forces of a free joint that are dropped: in a scene a free body has no joint."""
    model, at = compiled.model, int(compiled.model.jnt_dofadr[joint])
    dofs = slice(at, at + 6)
    held = {
        "stiffness": not compiled.is_off("SPRING")
        and (model.jnt_stiffness[joint] or np.any(model.jnt_stiffnesspoly[joint])),
        "damping": not compiled.is_off("DAMPER")
        and (np.any(model.dof_damping[dofs]) or np.any(model.dof_dampingpoly[dofs])),
        "friction loss": not compiled.is_off("FRICTIONLOSS")
        and np.any(model.dof_frictionloss[dofs]),
        "armature": np.any(model.dof_armature[dofs]),
    }
    if any(held.values()):
        notes.dropped(
            "free_joint",
            "A free body has no joint: stiffness, damping, friction loss and armature of a free "
            "joint are left out.",
            f"joint '{compiled.name('joint', joint)}': "
            + ", ".join(name for name, value in held.items() if value),
        )


def _limits(compiled: Compiled, motion: Motion, notes: Notes) -> dict[str, float]:
    model, where = compiled.model, f"joint '{motion.name}'"
    lower, upper = (float(value) for value in model.jnt_range[motion.index])
    if upper - lower < 2.0 * EQUAL:
        lower = upper = min(max(motion.start, lower), upper)
    time, ratio = (float(value) for value in model.jnt_solref[motion.index])
    if (time, ratio) != STANDARD:
        notes.approximated("soft_limits", "Soft stops (solreflimit) are hard here.", where)
    if model.jnt_margin[motion.index]:
        notes.dropped("limit_margin", LIMIT_MARGIN, where)
    if motion.kind == "ball":
        notes.approximated(
            "ball_limits",
            "The limit of a ball joint is one of its whole turn; here swing and twist about the "
            "body's z are limited to it, each by itself.",
            where,
        )
        largest = min(upper, float(np.pi))
        return {"swing": largest, "twist": largest}
    if not lower <= motion.start <= upper:
        notes.approximated(
            "starts_beyond_limit",
            "The joint starts beyond its limits and is pushed back.",
            where,
        )
    return {"lower": lower - motion.start, "upper": upper - motion.start}


def _spring(compiled: Compiled, motion: Motion, at: int, notes: Notes) -> dict[str, Any]:
    """A spring on the coordinate; of a ball a drive with the spring's stiffness."""
    model, data = compiled.model, compiled.data
    linear = float(model.jnt_stiffness[motion.index])
    square, cube = (float(value) for value in model.jnt_stiffnesspoly[motion.index])
    where = f"joint '{motion.name}'"
    if square:
        notes.approximated(
            "spring_polynomial",
            "The quadratic part of a spring is symmetric here: k2 |x| x instead of k2 x^2.",
            where,
        )
    if not (linear or square or cube):
        return {}
    stiffness = linear if not (square or cube) else [linear, square, cube]
    if model.jnt_springyield[motion.index] > 0.0:
        notes.dropped("plasticity", "Springs do not yield.", where)
    if motion.kind == "ball":
        turn = product(conjugate(data.qpos[at : at + 4]), model.qpos_spring[at : at + 4])
        target = data.xmat[int(model.jnt_bodyid[motion.index])].reshape(3, 3) @ rotation_vector(
            turn
        )
        return {
            "motor": {
                "type": "position",
                "target": compiled.vector(target),
                "stiffness": stiffness,
            }
        }
    return {
        "spring": {
            "stiffness": stiffness,
            "rest": float(model.qpos_spring[at]) - motion.start,
        }
    }
