"""States of a robot from the SRDF beside its URDF: `<group_state>`, by the names of joints."""

from pathlib import Path
from typing import Any

import numpy as np

from cardan.service.importing.files import Folder
from cardan.service.importing.notes import Notes
from cardan.service.importing.refusal import ImportRefusedError
from cardan.service.importing.xml_text import Element, parse_xml

States = dict[str, dict[str, list[float]]]
"""Values of joints by the name of the state and of the joint [m, rad; of a free root m and -]."""
FREE_ROOT = 7
"""Values of a root that floats: position, and quaternion [x, y, z, w]."""


def read_states(folder: Folder, path: Path, robot: str | None) -> States:
    """States of the SRDF of a URDF: the one of its file name, else of its robot's name.

    It is beside the model, or in a folder `srdf` beside the model's. Raises ImportRefusedError.
    """
    places = [path.parent, path.parent / "srdf", path.parent.parent / "srdf"]
    found = [file for place in places for file in sorted(place.glob("*.srdf"))]
    readable = [file for file in found if folder.inside(file) is not None]
    roots = [(file, parse_xml(folder.text(file), folder.shown(file))) for file in readable]
    same = [root for file, root in roots if file.stem == path.stem]
    same += [root for _, root in roots if robot is not None and root.get("name") == robot]
    return _states_of(same[0]) if same else {}


def _states_of(root: Element) -> States:
    """States in the order of the file; several groups may share the name of a state."""
    states: States = {}
    for state in root.iter("group_state"):
        values = states.setdefault(state.get("name", ""), {})
        for joint in state.findall("joint"):
            values[joint.get("name", "")] = _numbers(joint)
    return states


def _numbers(joint: Element) -> list[float]:
    words = joint.get("value", "").split()
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if not values or not np.isfinite(values).all():
        raise ImportRefusedError(
            "not_a_number",
            f"The SRDF gives joint '{joint.get('name')}' the value '{' '.join(words)[:80]}'; "
            "finite numbers are needed.",
        )
    return values


def place_state(model: Any, data: Any, state: dict[str, list[float]], notes: Notes) -> None:
    """Write a state into the data of a compiled URDF."""
    import mujoco

    kinds = {model.joint(j).name: j for j in range(model.njnt)}
    free = int(mujoco.mjtJoint.mjJNT_FREE)
    roots = [j for j in range(model.njnt) if int(model.jnt_type[j]) == free]
    for name, values in state.items():
        if name in kinds and len(values) == 1 and kinds[name] not in roots:
            data.qpos[model.jnt_qposadr[kinds[name]]] = values[0]
        elif len(values) == FREE_ROOT and len(roots) == 1 and name not in kinds:
            at = int(model.jnt_qposadr[roots[0]])
            x, y, z, w = values[3:]
            data.qpos[at : at + FREE_ROOT] = [*values[:3], w, x, y, z]
        else:
            notes.dropped(
                "state_joint",
                "A value of the state belongs to no joint of the scene.",
                f"joint '{name}'",
            )


def mimicking_joints(model: Any) -> set[int]:
    """Joints of a compiled URDF that mimic others."""
    return {int(model.eq_obj1id[equality]) for equality in _mimics(model)}


def place_mimicking_joints(model: Any, data: Any) -> None:
    """Place the joints of a compiled URDF that mimic others where these want them."""
    mimics = _mimics(model)
    # a joint may mimic one that mimics another, in any order
    for _ in mimics:
        for equality in mimics:
            _follow(model, data, equality)


def _mimics(model: Any) -> list[int]:
    import mujoco

    joint = int(mujoco.mjtEq.mjEQ_JOINT)
    return [k for k in range(model.neq) if int(model.eq_type[k]) == joint]


def _follow(model: Any, data: Any, equality: int) -> None:
    """Put the first joint of a coupling where the second wants it: q1 = c0 + c1 q2 + ..."""
    first, second = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
    if second < 0:
        return
    moved = data.qpos[model.jnt_qposadr[second]] - model.qpos0[model.jnt_qposadr[second]]
    reach = sum(float(c) * moved**k for k, c in enumerate(model.eq_data[equality, :5]))
    data.qpos[model.jnt_qposadr[first]] = model.qpos0[model.jnt_qposadr[first]] + reach
