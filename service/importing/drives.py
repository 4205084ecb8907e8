"""Convert actuators into motors: a scene has one motor per joint, the sum of its actuators.

force on the joint = sum g (gain u + b0 + b1 g q + b2 g qd)         g: gear, u: control
= F - K q - D qd:  K > 0 a position motor, else a motor of the force F and damping D of the joint

A drive towards a speed (D > 0, K = 0) whose largest force is less than what it is asked for from
rest is a velocity motor: it pulls with that force until it is there. K and D below 0 push a joint
away from where it is: no motor does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.motions import Motion
from cardan.service.importing.notes import Notes

GROUPS = 31
"""Groups of actuators that a model can switch off: those below this one."""


@dataclass
class Drive:
    """The sum of the actuators of one joint."""

    force: float = 0.0
    """F [N or N m]."""
    stiffness: float = 0.0
    """K [N/m or N m/rad]."""
    damping: float = 0.0
    """D [N s/m or N m s/rad]."""
    largest: float | None = 0.0
    """Largest force; None: unlimited [N or N m]."""
    asked: float = 0.0
    """Force at rest with the largest controls, those of the start where no range is given; without
    either that of a difference of 1 m/s or 1 rad/s counts [N or N m]."""
    actuators: int = 0
    """Actuators it is the sum of."""
    is_bounded: bool = False
    """Whether one of them has a largest force and follows the position or the speed."""

    @property
    def is_towards_speed(self) -> bool:
        """Whether the drive damps the joint, or pulls it towards a speed."""
        return self.stiffness <= 0.0 and self.damping > 0.0

    @property
    def is_saturated(self) -> bool:
        """Whether the speeds that a drive is asked for take more than its largest force."""
        return self.largest is not None and self.largest < (self.asked or self.damping)

    def give(self, motion: Motion) -> None:
        """Write the motor, and the damping of a drive towards a speed, into the joint's fields."""
        motion.fields["motor"] = self._motor(motion)
        if self.is_towards_speed and not self.is_saturated:
            motion.fields["damping"] = motion.fields.get("damping", 0.0) + self.damping

    def _motor(self, motion: Motion) -> dict[str, Any]:
        """The motor as a scene writes it; scenes measure joint coordinates from the start."""
        bound = {} if self.largest is None else {"max_force": self.largest}
        if self.stiffness > 0.0:
            target = self.force / self.stiffness - motion.start
            return {
                "type": "position",
                "target": target + 0.0,
                "stiffness": self.stiffness,
                "damping": self.damping,
                **bound,
            }
        if self.is_towards_speed and self.is_saturated:
            return {"type": "velocity", "target": self.force / self.damping + 0.0, **bound}
        return {"type": "force", "target": self.force + 0.0}


def find_drives(compiled: Compiled, notes: Notes) -> dict[int, Drive]:
    """Drives by joint; actuators that cannot be motors are dropped and noted."""
    model = compiled.model
    drives: dict[int, Drive] = {}
    if compiled.is_off("ACTUATION"):
        return drives
    for index in range(model.nactuator):
        if _is_in_group_that_is_off(model, index):
            continue
        where = f"actuator '{compiled.name('actuator', index)}'"
        reason = _no_motor(model, index)
        if reason:
            notes.dropped("actuator", reason, where)
            continue
        _note_differences(model, index, where, notes)
        joint = int(model.actuator_trnid[index, 0])
        _add(compiled, index, where, drives.setdefault(joint, Drive()), notes)
    for joint, drive in drives.items():
        where = f"joint '{compiled.name('joint', joint)}'"
        _leave_out_pushing(drive, where, notes)
        if drive.is_bounded and drive.actuators > 1:
            notes.approximated(
                "shared_bound",
                "Several actuators of one joint are one motor; its largest force is the sum of "
                "theirs, and none where one has none.",
                where,
            )
        if model.jnt_actfrclimited[joint]:
            if drive.stiffness or drive.damping:
                _note_one_sided(model.jnt_actfrcrange[joint], where, notes)
            largest = float(np.abs(model.jnt_actfrcrange[joint]).max())
            drive.largest = largest if drive.largest is None else min(drive.largest, largest)
            if not (drive.stiffness or drive.damping):
                drive.force = float(np.clip(drive.force, *model.jnt_actfrcrange[joint]))
        if drive.is_towards_speed and drive.largest is not None:
            notes.approximated(
                "velocity_drive",
                "A drive that pulls towards a speed is a motor that holds the speed with up to its "
                "largest force."
                if drive.is_saturated
                else "A drive that pulls towards a speed is damping and a force, without its "
                "largest force: the speeds it is asked for do not take that much from rest.",
                where,
            )
    return drives


def _is_in_group_that_is_off(model: Any, index: int) -> bool:
    """Whether the model switches the group of an actuator off (`actuatorgroupdisable`)."""
    group = int(model.actuator_group[index])
    # only groups that have a bit can be switched off
    return 0 <= group < GROUPS and bool(int(model.opt.disableactuator) >> group & 1)


def _leave_out_pushing(drive: Drive, where: str, notes: Notes) -> None:
    """Set a stiffness and a damping below 0 to 0, and say so."""
    if drive.stiffness < 0.0 or drive.damping < 0.0:
        drive.stiffness, drive.damping = max(drive.stiffness, 0.0), max(drive.damping, 0.0)
        notes.dropped(
            "pushing_drive",
            "Motors have no negative stiffness or damping: what pushes a joint away from where it "
            "is, or on the way it goes, is left out.",
            where,
        )


def _note_one_sided(bounds: Any, where: str, notes: Notes) -> None:
    lower, upper = (float(value) for value in bounds)
    if -lower != upper:
        notes.approximated(
            "one_sided_force",
            "The largest force of a drive is the same both ways: the larger one.",
            where,
        )


def holding_drives(compiled: Compiled, motions: dict[int, Motion], notes: Notes) -> None:
    """Give joints of a URDF rigid position motors that hold the start within their bounds."""
    for motion in motions.values():
        if motion.name not in compiled.prepared.bounds or motion.kind == "ball":
            continue
        if "motor" in motion.fields:
            continue
        effort, velocity = compiled.prepared.bounds[motion.name]
        motor: dict[str, Any] = {"type": "position", "target": 0.0}
        bounds = []
        # what is not positive or not finite bounds nothing
        if 0.0 < effort < np.inf:
            motor["max_force"] = effort
            bounds.append(f"{effort:g} {'N m' if motion.kind == 'hinge' else 'N'}")
        if 0.0 < velocity < np.inf:
            motor["max_speed"] = velocity
            bounds.append(f"{velocity:g} {'rad/s' if motion.kind == 'hinge' else 'm/s'}")
        motion.fields["motor"] = motor
        notes.guessed(
            "position_drive",
            "Position drives were asked for: a URDF has none. They hold the start, rigidly within "
            "the effort and velocity of the joint's limits; without these they are unlimited.",
            f"joint '{motion.name}'" + (f": {', '.join(bounds)}" if bounds else ": unlimited"),
        )


def _no_motor(model: Any, index: int) -> str:
    """Reason why an actuator cannot be a motor; empty if it can."""
    import mujoco

    trn, joint, bias = mujoco.mjtTrn, mujoco.mjtJoint, mujoco.mjtBias
    if trn(int(model.actuator_trntype[index])) not in (trn.mjTRN_JOINT, trn.mjTRN_JOINTINPARENT):
        return "Only actuators on joints become motors; those on tendons, sites and bodies do not."
    kind = joint(int(model.jnt_type[model.actuator_trnid[index, 0]]))
    if kind not in (joint.mjJNT_HINGE, joint.mjJNT_SLIDE):
        return "Actuators on ball and free joints do not become motors."
    if mujoco.mjtGain(int(model.actuator_gaintype[index])) != mujoco.mjtGain.mjGAIN_FIXED:
        return "Only actuators with a fixed gain become motors."
    if bias(int(model.actuator_biastype[index])) not in (bias.mjBIAS_NONE, bias.mjBIAS_AFFINE):
        return "Only actuators that are linear in position and speed become motors."
    return ""


def _note_differences(model: Any, index: int, where: str, notes: Notes) -> None:
    import mujoco

    if mujoco.mjtDyn(int(model.actuator_dyntype[index])) != mujoco.mjtDyn.mjDYN_NONE:
        notes.approximated(
            "activation", "Motors act at once; activation dynamics are left out.", where
        )
    if model.actuator_delay[index]:
        notes.dropped("delay", "Controls reach their motors at once, without delay.", where)
    damped = model.actuator_damping[index] or np.any(model.actuator_dampingpoly[index])
    if model.actuator_armature[index] or damped:
        notes.dropped(
            "actuator_armature", "Armature and damping of an actuator are left out.", where
        )


def _control(compiled: Compiled, index: int) -> tuple[float, float]:
    """Control of an actuator at the start, and the largest one in size.

    What integrates its control has in its place what it holds at the start.
    """
    import mujoco

    model, data = compiled.model, compiled.data
    at = int(model.actuator_ctrladr[index])
    control = float(data.ctrl[at])
    largest = abs(control)
    if model.actuator_ctrllimited[at] and not compiled.is_off("CLAMPCTRL"):
        control = float(np.clip(control, *model.actuator_ctrlrange[at]))
        largest = float(np.abs(model.actuator_ctrlrange[at]).max())
    if mujoco.mjtDyn(int(model.actuator_dyntype[index])) == mujoco.mjtDyn.mjDYN_INTEGRATOR:
        control = float(data.act[model.actuator_actadr[index]])
        largest = abs(control)
        if model.actuator_actlimited[index]:
            largest = float(np.abs(model.actuator_actrange[index]).max())
    return control, largest


def _add(compiled: Compiled, index: int, where: str, drive: Drive, notes: Notes) -> None:
    """Add an actuator, with its control at the start."""
    model = compiled.model
    gear = float(model.actuator_gear[model.actuator_outadr[index], 0])
    control, largest = _control(compiled, index)
    constant, position, speed = (float(value) for value in model.actuator_biasprm[index, :3])
    if not model.actuator_biastype[index]:
        constant = position = speed = 0.0
    gain = float(model.actuator_gainprm[index, 0])
    force = gain * control + constant
    if model.actuator_forcelimited[index] and not (position or speed):
        force = float(np.clip(force, *model.actuator_forcerange[index]))
    elif model.actuator_forcelimited[index]:
        drive.is_bounded = True
        _note_one_sided(model.actuator_forcerange[index], where, notes)
    drive.actuators += 1
    drive.force += gear * force
    drive.asked += abs(gear) * (abs(gain) * largest + abs(constant))
    drive.stiffness -= gear * gear * position
    drive.damping -= gear * gear * speed
    if model.actuator_forcelimited[index] and drive.largest is not None:
        drive.largest += abs(gear) * float(np.abs(model.actuator_forcerange[index]).max())
    else:
        drive.largest = None
