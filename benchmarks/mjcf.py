"""A scene as the XML of MuJoCo: what the comparison needs and no more.

Bodies hang in MuJoCo's tree by their hinges; the others are free. Both engines use the same mass,
inertia, friction and step; restitution and the tuning of contacts have no counterpart.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.articulated.scenes import rotation
from cardan.schemas.body import Body
from cardan.schemas.joint import Hinge
from cardan.schemas.scene import Scene
from cardan.schemas.shape import Box, Capsule, Plane, Shape, Sphere

Floats = NDArray[np.float64]


def to_mjcf(scene: Scene) -> str:
    """The scene as a document. Raises ValueError for what this small translation lacks."""
    step = scene.simulation
    hinges: dict[str, Hinge] = {}
    for joint in scene.joints:
        if not isinstance(joint, Hinge) or joint.motor is not None:
            raise ValueError(f"{joint.name}: only hinges without motors are translated")
        hinges[joint.child] = joint
    bodies = {body.name: body for body in scene.bodies}
    children: dict[str, list[str]] = {}
    for name, hinge in hinges.items():
        children.setdefault(hinge.parent, []).append(name)
    roots = [body for body in scene.bodies if body.name not in hinges]
    parts = [
        _static(scene, body) if body.type == "static" else _free(scene, body) for body in roots
    ]
    origin = Body(name="origin")
    for name in children.get("world", []):
        parts.append(_hinged(scene, bodies[name], origin, hinges, children))
    return (
        f'<mujoco><compiler angle="radian"/>'
        f'<option timestep="{step.dt!r}" gravity="{_text(scene.gravity)}"/>'
        f"<worldbody>{''.join(parts)}</worldbody></mujoco>"
    )


def _static(scene: Scene, body: Body) -> str:
    return "".join(_geom(scene, body, shape) for shape in body.shapes)


def _free(scene: Scene, body: Body) -> str:
    geoms = _static(scene, body)
    pose = f'pos="{_text(body.position)}" quat="{_text(body.orientation)}"'
    return f'<body name="{body.name}" {pose}><freejoint/>{geoms}</body>'


def _hinged(
    scene: Scene, body: Body, parent: Body, hinges: dict[str, Hinge], children: dict[str, list[str]]
) -> str:
    """A body in the frame of its parent, and what hangs on it."""
    bodies = {one.name: one for one in scene.bodies}
    hinge = hinges[body.name]
    to_parent, own = rotation(parent.orientation).T, rotation(body.orientation).T
    position = to_parent @ (np.array(body.position) - np.array(parent.position))
    quaternion = _relative(parent.orientation, body.orientation)
    anchor = own @ (np.array(hinge.anchor) - np.array(body.position))
    axis = own @ np.array(hinge.axis)
    below = "".join(
        _hinged(scene, bodies[name], body, hinges, children) for name in children.get(body.name, [])
    )
    return (
        f'<body name="{body.name}" pos="{_text(position)}" quat="{_text(quaternion)}">'
        f'<joint type="hinge" pos="{_text(anchor)}" axis="{_text(axis)}"/>'
        f"{_static(scene, body)}{below}</body>"
    )


def _geom(scene: Scene, body: Body, shape: Shape) -> str:
    material = scene.materials.get(shape.material) if shape.material is not None else None
    friction = 0.5 if material is None else material.friction
    if isinstance(shape, Plane):
        normal = np.array(shape.normal) / np.linalg.norm(shape.normal)
        where = _text(normal * shape.offset)
        form = f'type="plane" size="0 0 1" pos="{where}" zaxis="{_text(normal)}"'
    else:
        if shape.position != (0.0, 0.0, 0.0) or len(body.shapes) != 1:
            raise ValueError(f"{body.name}: only single shapes at the origin are translated")
        form = _solid(shape)
        if body.type == "dynamic":
            known = body.mass is not None
            form += f' mass="{body.mass!r}"' if known else f' density="{body.density!r}"'
    return f'<geom {form} friction="{friction!r} 0 0" condim="3"/>'


def _solid(shape: Shape) -> str:
    match shape:
        case Sphere():
            return f'type="sphere" size="{shape.radius!r}"'
        case Box():
            return f'type="box" size="{_text([0.5 * edge for edge in shape.size])}"'
        case Capsule():
            return f'type="capsule" size="{shape.radius!r} {0.5 * shape.length!r}"'
        case _:
            raise ValueError(f"a {shape.type} is not translated")


def _relative(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """conj(a) b of unit quaternions: axes of b in a."""
    w, x, y, z = a[0], -a[1], -a[2], -a[3]
    p, q, r, s = b
    product = [
        w * p - x * q - y * r - z * s,
        w * q + x * p + y * s - z * r,
        w * r - x * s + y * p + z * q,
        w * s + x * r - y * q + z * p,
    ]
    length = math.sqrt(sum(value * value for value in product))
    return [value / length for value in product]


def _text(values: Sequence[float] | Floats) -> str:
    return " ".join(repr(float(value)) for value in values)
