"""Warnings about scenes that are valid, but probably not intended."""

import math
from collections.abc import Iterator
from typing import Any

from cardan.schemas.action import AppearAction
from cardan.schemas.angle_warnings import angle_warnings
from cardan.schemas.checks.surface import surface_of_mesh
from cardan.schemas.colors import COLOR_NAMES, rgb
from cardan.schemas.drive import JointSpring, Limits, PositionDrive, VelocityMotor
from cardan.schemas.error import Fault, shown
from cardan.schemas.joint import Joint
from cardan.schemas.pointer import to_pointer
from cardan.schemas.scene import Scene
from cardan.schemas.shape import Mesh
from cardan.schemas.spelling import did_you_mean
from cardan.schemas.visual import VisualMesh

LARGE_STEP = 1.0 / 50.0
WHOLE_STEPS = 1e-6
Path = list[str | int]


def scene_warnings(scene: Scene) -> list[Fault]:
    """Return the warnings about a valid scene, in the form of faults."""
    return [
        *_time_warnings(scene),
        *_material_warnings(scene),
        *_centre_warnings(scene),
        *_joint_warnings(scene),
        *angle_warnings(scene),
        *_stillness_warnings(scene),
        *_mesh_warnings(scene),
        *_presence_warnings(scene),
        *_color_warnings(scene),
    ]


def _warning(path: Path, code: str, message: str, got: Any, hint: str) -> Fault:
    return Fault(pointer=to_pointer(path), code=code, message=message, got=shown(got), hint=hint)


def _time_warnings(scene: Scene) -> Iterator[Fault]:
    dt, duration = scene.simulation.dt, scene.simulation.duration
    if dt > LARGE_STEP and scene.simulation.formulation != "reduced":
        yield _warning(
            ["simulation", "dt"],
            "large_step",
            f"The time step {dt:g} s is large; impacts and joints lose accuracy above "
            f"{LARGE_STEP:g} s.",
            dt,
            "1/240 s is usual for piles, 1/1000 s for mechanisms.",
        )
    steps = duration / dt
    if abs(steps - round(steps)) > WHOLE_STEPS * steps:
        yield _warning(
            ["simulation", "duration"],
            "not_whole_steps",
            f"The duration is {steps:g} time steps; the run ends at {round(steps) * dt:g} s.",
            duration,
            "Make the duration a multiple of the time step.",
        )
    rate = scene.record.rate
    if rate is not None and rate * dt > 1.0 + WHOLE_STEPS:
        yield _warning(
            ["record", "rate"],
            "rate_above_steps",
            f"The rate {rate:g} Hz asks for more than the {1.0 / dt:g} steps per second there are.",
            rate,
            "Every step will be recorded.",
        )


def _color_warnings(scene: Scene) -> Iterator[Fault]:
    """Words that name no colour: the body is then drawn as one without a colour."""
    for i, body in enumerate(scene.bodies):
        for field in ("shapes", "visuals"):
            for k, part in enumerate(getattr(body, field)):
                if part.color is not None and rgb(part.color) is None:
                    yield _warning(
                        ["bodies", i, field, k, "color"],
                        "unknown_color",
                        f"No colour is called '{part.color}'; the default colour is drawn.",
                        part.color,
                        did_you_mean(part.color, COLOR_NAMES)
                        or "Use '#rrggbb', [r, g, b], or a name of CSS.",
                    )


def _presence_warnings(scene: Scene) -> Iterator[Fault]:
    """Bodies that do not appear in the run, and times after its end."""
    duration = scene.simulation.duration
    asked = {
        action.body
        for trigger in scene.triggers
        for action in trigger.do
        if isinstance(action, AppearAction)
    }
    for i, body in enumerate(scene.bodies):
        if not body.present and body.appears is None and body.name not in asked:
            yield _warning(
                ["bodies", i, "present"],
                "never_appears",
                f"Body '{body.name}' is absent at the start, and nothing lets it appear.",
                body.present,
                "Give it `appears`, or a trigger that lets it appear; a live command can, too.",
            )
        for field in ("appears", "vanishes"):
            time = getattr(body, field)
            if time is not None and time > duration:
                yield _warning(
                    ["bodies", i, field],
                    "after_the_end",
                    f"Body '{body.name}' {field} at {time:g} s, after the run ends, at "
                    f"{duration:g} s.",
                    time,
                    "Make the run longer, or the time shorter.",
                )


def _material_warnings(scene: Scene) -> Iterator[Fault]:
    used = {shape.material for body in scene.bodies for shape in body.shapes}
    for name, material in scene.materials.items():
        if material.damping > 0.0 and material.compliance == 0.0:
            yield _warning(
                ["materials", name, "damping"],
                "idle_damping",
                f"The material '{name}' is rigid (compliance 0): its damping does nothing.",
                material.damping,
                "Add `compliance`, or use `restitution`.",
            )
        if material.damping_per_area > 0.0 and material.stiffness_per_area is None:
            yield _warning(
                ["materials", name, "damping_per_area"],
                "idle_damping",
                f"The material '{name}' has no stiffness per area: its damping per area does "
                "nothing.",
                material.damping_per_area,
                "Add `stiffness_per_area`.",
            )
        soft = material.compliance > 0.0 or material.stiffness_per_area is not None
        if material.restitution > 0.0 and soft:
            yield _warning(
                ["materials", name, "restitution"],
                "idle_restitution",
                f"The material '{name}' is compliant: its damping says how it bounces, its "
                "restitution does nothing.",
                material.restitution,
                "Remove `restitution`, or what makes it compliant.",
            )
        if name not in used:
            yield _warning(
                ["materials", name],
                "unused_material",
                f"No shape has the material '{name}'.",
                name,
                "Shapes without a material have friction 0.5 and restitution 0.",
            )


def _centre_warnings(scene: Scene) -> Iterator[Fault]:
    """Warn of bodies with an `inertia` whose centre of mass is beside their shapes' middle."""
    for i, body in enumerate(scene.bodies):
        if body.inertia is None or body.center_of_mass is not None:
            continue
        places = [s.position for s in body.shapes if s.collision_group and s.collision_mask]
        if any(abs(math.fsum(along)) > 0.0 for along in zip(*places, strict=True)):
            yield _warning(
                ["bodies", i, "center_of_mass"],
                "centre_at_origin",
                f"Body '{body.name}' has an `inertia` and no `center_of_mass`: its centre of mass "
                "is its origin, not the middle of its shapes.",
                None,
                "Give `center_of_mass`.",
            )


def start_of(joint: Joint) -> tuple[float, float, float]:
    """Coordinates at the start, as many as a joint can have; those of a ball are a rotation."""
    initial = getattr(joint, "initial", None)
    position = 0.0 if initial is None else initial.position
    values = position if isinstance(position, tuple) else (position,)
    first, second, third = (*values, 0.0, 0.0)[:3]
    return first, second, third


def _joint_warnings(scene: Scene) -> Iterator[Fault]:
    """Joints that start beyond their limits, and parts of joints that do nothing."""
    for i, joint in enumerate(scene.joints):
        yield from _idle_warnings(["joints", i], joint)
        if joint.type == "distance":
            continue
        starts = start_of(joint)
        for k, field in enumerate(("limits", "limits2", "limits3")):
            limits = getattr(joint, field, None)
            if not isinstance(limits, Limits):
                continue
            start = starts[k]
            low = limits.lower is not None and limits.lower > start
            high = limits.upper is not None and limits.upper < start
            if low or high:
                yield _warning(
                    ["joints", i, field],
                    "starts_beyond_limit",
                    f"Joint '{joint.name}' starts at {start:g}, outside its limits "
                    f"{limits.lower} to {limits.upper}; it will be pushed back.",
                    None,
                    "Limits count from the poses of the scene; `initial` says where a joint "
                    "starts.",
                )
        spring = getattr(joint, "spring", None)
        if isinstance(spring, JointSpring) and spring.stiffness == 0.0 and spring.damping == 0.0:
            yield _warning(
                ["joints", i, "spring"],
                "idle_spring",
                f"The spring of joint '{joint.name}' has neither stiffness nor damping.",
                0.0,
                "Remove it.",
            )


def _idle_warnings(path: Path, joint: Joint) -> Iterator[Fault]:
    """Friction and damping that nothing can move against, damping of a rigid drive."""
    rigid = joint.type == "distance" and not (joint.limits or joint.spring or joint.motor)
    if joint.type in ("fixed", "gear", "rack") or rigid:
        for field in ("friction", "damping"):
            value = getattr(joint, field)
            if value != 0.0:
                yield _warning(
                    [*path, field],
                    f"idle_{field}",
                    f"Joint '{joint.name}' has no free motion of its own: its {field} does "
                    "nothing.",
                    value,
                    "Give it to the joints that hold the bodies."
                    if joint.type in ("gear", "rack")
                    else "Remove it.",
                )
    for field, limited in (("motor", "limits"), ("motor2", "limits2"), ("motor3", "limits3")):
        motor, limits = getattr(joint, field, None), getattr(joint, limited, None)
        endless = isinstance(motor, VelocityMotor) and motor.max_force is None
        if endless and isinstance(limits, Limits) and not (limits.stiffness or limits.damping):
            yield _warning(
                [*path, field, "max_force"],
                "motor_over_limit",
                f"The motor of joint '{joint.name}' has no `max_force`: it drives on beyond hard "
                "limits, which cannot hold it.",
                None,
                "Give it a largest force.",
            )
        if isinstance(motor, PositionDrive) and motor.damping and motor.stiffness is None:
            yield _warning(
                [*path, field, "damping"],
                "idle_damping",
                f"The drive of joint '{joint.name}' has no stiffness: it is rigid, and its damping "
                "does nothing.",
                motor.damping,
                "Add `stiffness`, or limit the drive by `max_force` and `max_speed`.",
            )


def _stillness_warnings(scene: Scene) -> Iterator[Fault]:
    if all(body.type == "static" for body in scene.bodies):
        yield _warning(
            ["bodies"],
            "nothing_moves",
            "All bodies are static; nothing will move.",
            len(scene.bodies),
            'Give a body a mass and the type "dynamic".',
        )


def _mesh_warnings(scene: Scene) -> Iterator[Fault]:
    shown = {v.mesh for body in scene.bodies for v in body.visuals if isinstance(v, VisualMesh)}
    for name in scene.meshes:
        if name not in shown:
            yield _warning(
                ["meshes", name],
                "unused_mesh",
                f"No visual shows the mesh '{name}'.",
                name,
                "Shapes that collide have vertices of their own.",
            )
    for i, body in enumerate(scene.bodies):
        for k, shape in enumerate(body.shapes):
            if isinstance(shape, Mesh) and (dropped := surface_of_mesh(shape).dropped):
                yield _warning(
                    ["bodies", i, "shapes", k, "faces"],
                    "faces_without_area",
                    f"{dropped} of {len(shape.faces)} faces have no area (a vertex twice, or three "
                    "on one line); they are left out.",
                    dropped,
                    "Remove them; edges beside them may be open.",
                )
