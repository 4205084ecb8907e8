"""Shapes and materials to arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.bodies import mass_properties as mass
from engine.build.hull import Hull, convex_hull
from engine.build.rotations import product, rotation_matrix, turn, unit, z_to
from engine.world.model import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    PLANE,
    SPHERE,
    Materials,
    Shapes,
)
from schemas import Scene
from schemas.material import Material

KINDS = {
    "sphere": SPHERE,
    "box": BOX,
    "capsule": CAPSULE,
    "cylinder": CYLINDER,
    "cone": CONE,
    "ellipsoid": ELLIPSOID,
    "convex": CONVEX,
    "plane": PLANE,
}
AVAILABLE = ", ".join(KINDS)


def size_of(shape: Any) -> tuple[float, float, float]:
    """The three numbers of `Shapes.size`."""
    if shape.type == "sphere":
        return (shape.radius, 0.0, 0.0)
    if shape.type == "box":
        return tuple(0.5 * edge for edge in shape.size)
    if shape.type in ("capsule", "cylinder", "cone"):
        return (shape.radius, 0.5 * shape.length, 0.0)
    if shape.type == "ellipsoid":
        return tuple(shape.radii)
    return (0.0, 0.0, 0.0)


def bounding_radius(shape: Any, hull: Hull | None) -> float:
    """Radius of a ball about the shape's origin that holds it [m]."""
    x, y, z = size_of(shape)
    if shape.type == "sphere":
        return x
    if shape.type == "capsule":
        return x + y
    if shape.type in ("cylinder", "cone"):
        return math.hypot(x, y)
    if shape.type == "ellipsoid":
        return max(x, y, z)
    if shape.type == "box":
        return math.hypot(x, y, z)
    if hull is not None:
        return float(np.linalg.norm(hull.points, axis=1).max())
    return math.inf


def mass_of_shape(shape: Any, density: float) -> mass.MassProperties | None:
    """Mass properties of a solid shape in the body frame; None when it has no volume."""
    if shape.type == "sphere":
        part = mass.sphere(density, shape.radius)
    elif shape.type == "box":
        part = mass.box(density, np.array(shape.size))
    elif shape.type == "capsule":
        part = mass.capsule(density, shape.radius, shape.length)
    elif shape.type == "cylinder":
        part = mass.cylinder(density, shape.radius, shape.length)
    elif shape.type == "cone":
        part = mass.cone(density, shape.radius, shape.length)
    elif shape.type == "ellipsoid":
        part = mass.ellipsoid(density, np.array(shape.radii))
    elif shape.type == "convex":
        hull = convex_hull(np.array(shape.points))
        part = mass.polyhedron(density, hull.points, hull.triangles)
    else:
        return None
    rotation = rotation_matrix(np.array(shape.orientation))
    return mass.moved(part, rotation, np.array(shape.position))


def build_materials(scene: Scene) -> tuple[Materials, dict[str | None, int]]:
    """Pair tables and the index of every material; index 0 is that of shapes without one."""
    index: dict[str | None, int] = {None: 0}
    index |= {name: i + 1 for i, name in enumerate(scene.materials)}
    materials = [Material(), *scene.materials.values()]

    def column(field: str) -> NDArray[np.float64]:
        return np.array([getattr(material, field) for material in materials], float)

    friction, compliance = column("friction"), column("compliance")
    soft = np.add.outer(compliance, compliance)
    damping = column("damping") * compliance**2
    tables = {
        "friction": np.sqrt(np.outer(friction, friction)),
        "restitution": np.maximum.outer(column("restitution"), column("restitution")),
        "rolling_friction": np.maximum.outer(
            column("rolling_friction"), column("rolling_friction")
        ),
        "spinning_friction": np.maximum.outer(
            column("spinning_friction"), column("spinning_friction")
        ),
        "compliance": soft,
        # what two dampers take when each surface yields by its share of the compliance
        "damping": np.add.outer(damping, damping) / np.where(soft > 0.0, soft, 1.0) ** 2,
    }
    for pair in scene.material_pairs:
        i, j = (index[name] for name in pair.materials)
        for field, table in tables.items():
            if getattr(pair, field) is not None:
                table[i, j] = table[j, i] = getattr(pair, field)
    belt = column("surface_velocity").reshape(-1, 3)
    made = Materials(
        tables["friction"],
        tables["restitution"],
        tables["rolling_friction"],
        tables["spinning_friction"],
        tables["compliance"],
        tables["damping"],
        belt,
    )
    return made, index


class ShapeTable:
    """Collects shapes, body by body."""

    def __init__(self) -> None:
        """Start empty."""
        self.kind: list[int] = []
        self.body: list[int] = []
        self.p_BS: list[NDArray[np.float64]] = []
        self.q_BS: list[NDArray[np.float64]] = []
        self.size: list[tuple[float, float, float]] = []
        self.radius: list[float] = []
        self.material: list[int] = []
        self.bits: list[tuple[int, int]] = []
        self.hulls: list[Hull | None] = []

    def add(self, shape: Any, body: int, center: NDArray[np.float64], material: int) -> None:
        """Add a shape of a body whose centre of mass is at `center` (3,) in the body frame."""
        position, q = np.array(shape.position), np.array(shape.orientation)
        hull = None
        if shape.type == "plane":
            # the frame of a plane has its origin on the surface and z along the normal
            n = unit(np.array(shape.normal))
            position = position + turn(q, n * shape.offset)
            q = product(q, z_to(n))
        elif shape.type == "convex":
            hull = convex_hull(np.array(shape.points))
        self.kind.append(KINDS[shape.type])
        self.body.append(body)
        self.p_BS.append(position - center)
        self.q_BS.append(q)
        self.size.append(size_of(shape))
        self.radius.append(bounding_radius(shape, hull))
        self.material.append(material)
        self.bits.append((shape.collision_group, shape.collision_mask))
        self.hulls.append(hull)

    def arrays(self) -> Shapes:
        """All shapes as arrays; hulls one behind the other."""
        m = len(self.kind)
        point_start, point_count = np.zeros(m, np.int64), np.zeros(m, np.int64)
        face_start, face_count = np.zeros(m, np.int64), np.zeros(m, np.int64)
        points, normals, offsets = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros(0)]
        loops: list[NDArray[np.int64]] = []
        n_points = 0
        for i, hull in enumerate(self.hulls):
            if hull is not None:
                point_start[i], point_count[i] = n_points, len(hull.points)
                face_start[i], face_count[i] = len(loops), len(hull.loops)
                n_points += len(hull.points)
                points.append(hull.points)
                normals.append(hull.normals)
                offsets.append(hull.offsets)
                loops.extend(hull.loops)
        counts = np.array([len(loop) for loop in loops], np.int64)
        bits = np.array(self.bits, np.int64).reshape(m, 2)
        return Shapes(
            kind=np.array(self.kind, np.int64),
            body=np.array(self.body, np.int64),
            p_BS=np.array(self.p_BS, float).reshape(m, 3),
            q_BS=np.array(self.q_BS, float).reshape(m, 4),
            size=np.array(self.size, float).reshape(m, 3),
            bounding_radius=np.array(self.radius, float),
            material=np.array(self.material, np.int64),
            group=bits[:, 0].copy(),
            mask=bits[:, 1].copy(),
            point_start=point_start,
            point_count=point_count,
            face_start=face_start,
            face_count=face_count,
            points=np.concatenate(points),
            face_normal=np.concatenate(normals),
            face_offset=np.concatenate(offsets),
            face_loop_start=(np.cumsum(counts) - counts).astype(np.int64),
            face_loop_count=counts,
            face_loop=np.concatenate([np.zeros(0, np.int64), *loops]),
        )
