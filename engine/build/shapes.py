"""Shapes and materials to arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.bodies import mass_properties as mass
from cardan.engine.build.hull import Hull, convex_hull
from cardan.engine.build.memoised import memoised
from cardan.engine.build.mesh import Mesh, build_mesh
from cardan.engine.build.rotations import product, rotation_matrix, turn, unit, z_to
from cardan.engine.world.model import (
    BOWL,
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    MESH,
    PLANE,
    RING,
    SPHERE,
    TUBE,
    Materials,
    Shapes,
)
from cardan.schemas import Scene
from cardan.schemas.checks.surface import surface_of_heightfield, surface_of_mesh
from cardan.schemas.material import Material, MaterialPair, static_friction

KINDS = {
    "sphere": SPHERE,
    "box": BOX,
    "capsule": CAPSULE,
    "cylinder": CYLINDER,
    "cone": CONE,
    "ellipsoid": ELLIPSOID,
    "convex": CONVEX,
    "tube": TUBE,
    "ring": RING,
    "bowl": BOWL,
    "plane": PLANE,
    "mesh": MESH,
    "heightfield": MESH,
}

Vector = NDArray[np.float64]
NOT_TURNED = (1.0, 0.0, 0.0, 0.0)
# body, and index of the shape on that body in the scene
Owner = tuple[int, int]


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
    if shape.type == "tube":
        return (shape.outer_radius, 0.5 * shape.length, shape.inner_radius)
    if shape.type == "ring":
        return (shape.major_radius, shape.minor_radius, 0.0)
    if shape.type == "bowl":
        return (shape.outer_radius, shape.angle, shape.inner_radius)
    return (0.0, 0.0, 0.0)


def bounding_radius(shape: Any, hull: Hull | None = None) -> float:
    """Radius of the bounding sphere about the shape's origin [m]."""
    x, y, z = size_of(shape)
    if shape.type in ("sphere", "bowl"):
        return x
    if shape.type in ("capsule", "ring"):
        return x + y
    if shape.type in ("cylinder", "cone", "tube"):
        return math.hypot(x, y)
    if shape.type == "ellipsoid":
        return max(x, y, z)
    if shape.type == "box":
        return math.hypot(x, y, z)
    if hull is not None:
        return float(np.linalg.norm(hull.points, axis=1).max())
    return math.inf


HOLLOW_MASS: dict[str, Callable[[Any, float], mass.MassProperties]] = {
    "tube": lambda s, rho: mass.tube(rho, s.inner_radius, s.outer_radius, s.length),
    "ring": lambda s, rho: mass.ring(rho, s.major_radius, s.minor_radius),
    "bowl": lambda s, rho: mass.bowl(rho, s.inner_radius, s.outer_radius, s.angle),
}


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
    elif shape.type in HOLLOW_MASS:
        part = HOLLOW_MASS[shape.type](shape, density)
    elif shape.type == "convex":
        hull = convex_hull(np.array(shape.points))
        part = mass.polyhedron(density, hull.points, hull.triangles)
    elif shape.type == "mesh":
        surface = surface_of_mesh(shape)
        part = mass.polyhedron(density, surface.vertices, surface.faces)
    else:
        return None
    offset = np.array(shape.position)
    if tuple(shape.orientation) == NOT_TURNED:
        return part._replace(center=part.center + offset)
    return mass.moved(part, rotation_matrix(np.array(shape.orientation)), offset)


def in_series(compliance: Vector, damping: Vector) -> Vector:
    """Dampers in series (k, k), when each surface deforms by its share of the compliance."""
    soft, share = np.add.outer(compliance, compliance), damping * compliance**2
    return np.add.outer(share, share) / np.where(soft > 0.0, soft, 1.0) ** 2


def build_materials(scene: Scene) -> tuple[Materials, dict[str | None, int]]:
    """Pair tables and the index of every material; index 0 is for shapes without one."""
    index: dict[str | None, int] = {None: 0}
    index |= {name: i + 1 for i, name in enumerate(scene.materials)}
    found = pair_tables(tuple(scene.materials.values()), scene.material_pairs, index)
    return Materials(*(table.copy() for table in found)), index


@memoised
def pair_tables(
    given: tuple[Material, ...], pairs: tuple[MaterialPair, ...], index: dict[str | None, int]
) -> Materials:
    """Tables of the materials of a scene, after those of shapes without one."""
    materials = [Material(), *given]

    def column(field: str) -> NDArray[np.float64]:
        return np.array([getattr(material, field) for material in materials], float)

    friction, compliance = column("friction"), column("compliance")
    static = np.array([static_friction(material) for material in materials])
    stiffness = [material.stiffness_per_area for material in materials]
    foundation = np.array([1.0 / k if k is not None else 0.0 for k in stiffness])
    tables = {
        "friction": np.sqrt(np.outer(friction, friction)),
        "static_friction": np.sqrt(np.outer(static, static)),
        "restitution": np.maximum.outer(column("restitution"), column("restitution")),
        "rolling_friction": np.maximum.outer(
            column("rolling_friction"), column("rolling_friction")
        ),
        "spinning_friction": np.maximum.outer(
            column("spinning_friction"), column("spinning_friction")
        ),
        "compliance": np.add.outer(compliance, compliance),
        "damping": in_series(compliance, column("damping")),
        "foundation": np.add.outer(foundation, foundation),
        "damping_per_area": in_series(foundation, column("damping_per_area")),
    }
    for pair in pairs:
        i, j = (index[name] for name in pair.materials)
        if pair.friction is not None:
            tables["static_friction"][i, j] = tables["static_friction"][j, i] = pair.friction
        if pair.stiffness_per_area is not None:
            tables["foundation"][i, j] = tables["foundation"][j, i] = 1.0 / pair.stiffness_per_area
        for field, table in tables.items():
            if getattr(pair, field, None) is not None:
                table[i, j] = table[j, i] = getattr(pair, field)
    surface_velocity = column("surface_velocity").reshape(-1, 3)
    return Materials(
        tables["friction"],
        tables["static_friction"],
        tables["restitution"],
        tables["rolling_friction"],
        tables["spinning_friction"],
        tables["compliance"],
        tables["damping"],
        tables["foundation"],
        tables["damping_per_area"],
        surface_velocity,
    )


class ShapeTable:
    """Collects shapes, body by body."""

    def __init__(self) -> None:
        """Start without shapes."""
        self.kind: list[int] = []
        self.body: list[int] = []
        self.number: list[int] = []
        self.p_BS: list[NDArray[np.float64]] = []
        self.q_BS: list[NDArray[np.float64]] = []
        self.size: list[tuple[float, float, float]] = []
        self.radius: list[float] = []
        self.material: list[int] = []
        self.bits: list[tuple[int, int]] = []
        self.hulls: list[Hull | None] = []
        self.mesh: list[int] = []
        self.meshes: list[Mesh] = []

    def add(self, shape: Any, owner: Owner, center: Vector, material: int) -> None:
        """Add a shape of a body whose centre of mass is at `center` (3,) in the body frame."""
        place = np.array(shape.position) - center
        q = np.array(shape.orientation)
        if shape.type == "plane":
            # the frame of a plane has its origin on the surface and z along the normal
            n = unit(np.array(shape.normal))
            self.append(shape, owner, material, place + turn(q, n * shape.offset))
            self.q_BS[-1] = product(q, z_to(n))
        elif shape.type == "convex":
            self.append(shape, owner, material, place, hull=convex_hull(np.array(shape.points)))
        elif shape.type in ("mesh", "heightfield"):
            is_field = shape.type == "heightfield"
            mesh = build_mesh(
                surface_of_heightfield(shape) if is_field else surface_of_mesh(shape), is_field
            )
            self.append(shape, owner, material, place + turn(q, mesh.middle), mesh=mesh)
        else:
            self.append(shape, owner, material, place)

    def add_pieces(
        self, shape: Any, owner: Owner, center: Vector, material: int, pieces: list[Hull]
    ) -> None:
        """Add the convex pieces of a mesh: one shape each, with its material and filter."""
        place = np.array(shape.position) - center
        for hull in pieces:
            self.append(shape, owner, material, place, hull=hull)
            self.kind[-1] = CONVEX

    def append(
        self,
        shape: Any,
        owner: Owner,
        material: int,
        p_BS: Vector,
        hull: Hull | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        """Add one row, in the orientation of the shape."""
        self.kind.append(KINDS[shape.type])
        self.body.append(owner[0])
        self.number.append(owner[1])
        self.p_BS.append(p_BS)
        self.q_BS.append(np.array(shape.orientation))
        self.size.append(size_of(shape) if mesh is None else tuple(mesh.half))
        radius = bounding_radius(shape, hull) if mesh is None else np.linalg.norm(mesh.half)
        self.radius.append(float(radius))
        self.material.append(material)
        self.bits.append((shape.collision_group, shape.collision_mask))
        self.hulls.append(hull)
        self.mesh.append(-1 if mesh is None else len(self.meshes))
        if mesh is not None:
            self.meshes.append(mesh)

    def arrays(self) -> Shapes:
        """All shapes as arrays; hulls are concatenated."""
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
            number=np.array(self.number, np.int64),
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
            mesh=np.array(self.mesh, np.int64),
        )
