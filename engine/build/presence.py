"""Bodies that are not always there: when they appear and vanish, and what cannot be absent."""

from __future__ import annotations

from typing import NamedTuple

from cardan.engine.build.faults import Faults
from cardan.schemas import Scene
from cardan.schemas.action import Action, AppearAction, ApplyForceAction, VanishAction
from cardan.schemas.body import Body
from cardan.schemas.trigger import TimeCondition, When


class Response(NamedTuple):
    """Actions that follow a condition: a trigger without a name."""

    when: When
    do: tuple[Action, ...]
    repeat: bool


def is_absent(body: Body) -> bool:
    """Whether a body is absent at the start."""
    return not body.present or body.appears is not None


def responses(scene: Scene) -> list[Response]:
    """The triggers of a scene, and after them what `appears` and `vanishes` of its bodies ask."""
    found = [Response(one.when, one.do, one.repeat) for one in scene.triggers]
    for body in scene.bodies:
        if body.appears is not None:
            when = TimeCondition(type="time", at=body.appears)
            found.append(Response(when, (AppearAction(op="appear", body=body.name),), False))
        if body.vanishes is not None:
            when = TimeCondition(type="time", at=body.vanishes)
            found.append(Response(when, (VanishAction(op="vanish", body=body.name),), False))
    return found


def tells_by_steps(scene: Scene) -> bool:
    """Whether what triggers do hangs on the step itself: forces for one step, and bodies that come
    and go where something happens, which are elsewhere as soon as that is a step later."""
    for trigger in scene.triggers:
        for action in trigger.do:
            if isinstance(action, ApplyForceAction) and action.duration == 0.0:
                return True
            passes = isinstance(action, AppearAction | VanishAction)
            if passes and not isinstance(trigger.when, TimeCondition):
                return True
    return False


def passing_bodies(scene: Scene) -> dict[str, str]:
    """Names of the bodies that are not always present, with the JSON Pointer of the reason."""
    found: dict[str, str] = {}
    for i, body in enumerate(scene.bodies):
        said = {"present": not body.present}
        said |= {name: getattr(body, name) is not None for name in ("appears", "vanishes")}
        for field, is_said in said.items():
            if is_said:
                found.setdefault(body.name, f"/bodies/{i}/{field}")
    for i, trigger in enumerate(scene.triggers):
        for k, action in enumerate(trigger.do):
            if isinstance(action, AppearAction | VanishAction):
                found.setdefault(action.body, f"/triggers/{i}/do/{k}/body")
    return found


def held_bodies(scene: Scene) -> dict[str, str]:
    """Names of the bodies that joints and springs hold, and what holds them."""
    found: dict[str, str] = {}
    for kind, items in (("joint", scene.joints), ("force", scene.forces)):
        for item in items:
            for end in ("parent", "child"):
                name = getattr(item, end, None)
                if name is not None:
                    found.setdefault(name, f"{kind} '{item.name}'")
    return found


def check_presence(scene: Scene, faults: Faults) -> None:
    """Add faults for bodies that come and go where nothing can: smooth motion, placed trees."""
    held, integrator = held_bodies(scene), scene.simulation.integrator
    placed = next(
        (joint.name for joint in scene.joints if getattr(joint, "initial", None) is not None), None
    )
    for name, pointer in passing_bodies(scene).items():
        if integrator != "semi_implicit_euler":
            what = f"a body that is not always there with the integrator '{integrator}'"
            faults.missing(pointer, what, "semi_implicit_euler")
        elif name in held and placed is not None:
            what = f"a body that is not always there ('{name}', held by {held[name]}) beside "
            what += f"`initial` of joint '{placed}'"
            faults.missing(pointer, what, "poses of the bodies instead of `initial`")


def check_held(scene: Scene, faults: Faults) -> None:
    """Add faults for bodies that come and go though joint coordinates hold them."""
    held = held_bodies(scene)
    for name, pointer in passing_bodies(scene).items():
        if name in held:
            what = f"a body that is not always there ('{name}') and is held by {held[name]}, with "
            what += "the formulation 'reduced'"
            faults.missing(pointer, what, "the formulation 'maximal', or bodies that nothing holds")


def check_all_there(scene: Scene, what: str) -> None:
    """Refuse an analysis of the initial scene where a body is absent at the start.

    Raises SceneError.
    """
    faults = Faults()
    for i, body in enumerate(scene.bodies):
        if is_absent(body):
            field = "present" if not body.present else "appears"
            asked = f"{what} of a scene with a body that is absent at the start"
            faults.missing(f"/bodies/{i}/{field}", asked, "scenes whose bodies are all there")
    faults.raise_if_any()
