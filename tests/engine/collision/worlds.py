"""Tiny worlds from NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from cardan.engine.build.allocate import empty_state
from cardan.engine.build.drives import no_drives
from cardan.engine.build.forces import empty_forces
from cardan.engine.build.joints import empty_joints
from cardan.engine.build.mesh import build_mesh, mesh_arrays
from cardan.engine.build.options import build_options
from cardan.engine.build.prescribed import joined
from cardan.engine.build.report import empty_report
from cardan.engine.build.targets import TargetTable
from cardan.engine.build.threads import contact_arrays
from cardan.engine.build.triggers import build_triggers
from cardan.engine.collision.find_contacts import broad_phase, narrow_phase, shortage
from cardan.engine.collision.manifold.persistence import store_contacts
from cardan.engine.trees.arrays import no_tree
from cardan.engine.world.collision import Faces, collision_scratch
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import (
    BOWL,
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    DYNAMIC,
    ELLIPSOID,
    MESH,
    PLANE,
    RING,
    SPHERE,
    STATIC,
    TUBE,
    Bodies,
    Materials,
    Model,
    Shapes,
)
from cardan.schemas import load_scene
from cardan.schemas.checks.surface import Surface, surface_of

IDENTITY = (1.0, 0.0, 0.0, 0.0)
NOTHING = load_scene({"bodies": [{"name": "nothing", "type": "static"}]})
OPTIONS = build_options(NOTHING, np.inf)


@dataclass
class Solid:
    """A shape on a body of its own (centre of mass at the origin of S unless offset)."""

    kind: int
    size: tuple = (0.0, 0.0, 0.0)
    p: tuple = (0.0, 0.0, 0.0)
    q: tuple = IDENTITY
    v: tuple = (0.0, 0.0, 0.0)
    w: tuple = (0.0, 0.0, 0.0)
    points: np.ndarray | None = None
    surface: Surface | None = None
    is_field: bool = False
    dynamic: bool = True
    group: int = 1
    mask: int = -1
    offset: tuple = (0.0, 0.0, 0.0)
    turn: tuple = IDENTITY
    material: int = 0
    body: int | None = None


def hull_faces(points):
    """Vertices of the hull; its faces, coplanar triangles merged: normals, offsets, loops."""
    hull = ConvexHull(points)
    used = np.sort(hull.vertices)
    renumber = {int(v): k for k, v in enumerate(used)}
    vertices = points[used]
    groups: list[tuple[np.ndarray, set[int]]] = []
    for triangle, equation in zip(hull.simplices, hull.equations, strict=True):
        for group in groups:
            if np.allclose(group[0], equation, atol=1e-9):
                group[1].update(renumber[int(v)] for v in triangle)
                break
        else:
            groups.append((equation, {renumber[int(v)] for v in triangle}))
    normals, offsets, loops = [], [], []
    for equation, members in groups:
        n = equation[:3]
        ids = np.array(sorted(members))
        centre = vertices[ids].mean(axis=0)
        u = np.cross(n, [1, 0, 0] if abs(n[0]) < 0.9 else [0, 1, 0])
        v = np.cross(n, u)
        angle = np.arctan2((vertices[ids] - centre) @ v, (vertices[ids] - centre) @ u)
        loop = ids[np.argsort(angle)]
        a, b, c = vertices[loop[:3]]
        if np.dot(np.cross(b - a, c - a), n) < 0:
            loop = loop[::-1]
        normals.append(n)
        offsets.append(-equation[3])
        loops.append(loop)
    return vertices, np.array(normals), np.array(offsets), loops


def bounding_radius(solid, vertices):
    a, b, c = solid.size
    return (
        {
            SPHERE: a,
            BOX: np.sqrt(a * a + b * b + c * c),
            CAPSULE: a + b,
            CYLINDER: np.hypot(a, b),
            CONE: np.hypot(a, b),
            ELLIPSOID: max(a, b, c),
            TUBE: np.hypot(a, b),
            RING: a + b,
            BOWL: a,
            PLANE: np.inf,
            MESH: np.sqrt(a * a + b * b + c * c),
        }.get(solid.kind)
        if solid.kind != CONVEX
        else np.linalg.norm(vertices, axis=1).max()
    )


def build_shapes(solids):
    rows: dict[str, list] = {name: [] for name in Shapes._fields}
    points: list[np.ndarray] = []
    normals: list[np.ndarray] = []
    offsets: list[float] = []
    loop_start: list[int] = []
    loop_count: list[int] = []
    loop: list[int] = []
    meshes: list = []
    for number, solid in enumerate(solids):
        vertices = None
        rows["mesh"].append(-1)
        rows["point_start"].append(len(points))
        rows["face_start"].append(len(normals))
        if solid.kind == CONVEX:
            vertices, n, d, loops = hull_faces(np.asarray(solid.points, float))
            points.extend(vertices)
            normals.extend(n)
            offsets.extend(d)
            for one in loops:
                loop_start.append(len(loop))
                loop_count.append(len(one))
                loop.extend(one)
        if solid.kind == MESH:
            mesh = build_mesh(solid.surface, solid.is_field)
            rows["mesh"][-1] = len(meshes)
            meshes.append(mesh)
            turn = Rotation.from_quat([*solid.turn[1:], solid.turn[0]])
            solid = replace(
                solid,
                size=tuple(mesh.half),
                offset=tuple(np.array(solid.offset) + turn.apply(mesh.middle.copy())),
            )
        rows["point_count"].append(len(points) - rows["point_start"][-1])
        rows["face_count"].append(len(normals) - rows["face_start"][-1])
        rows["kind"].append(solid.kind)
        rows["number"].append(0)
        rows["body"].append(number if solid.body is None else solid.body)
        rows["p_BS"].append(solid.offset)
        rows["q_BS"].append(solid.turn)
        rows["size"].append(solid.size)
        rows["bounding_radius"].append(bounding_radius(solid, vertices))
        rows["material"].append(solid.material)
        rows["group"].append(solid.group)
        rows["mask"].append(solid.mask)

    def ints(values):
        return np.array(values, np.int64).reshape(-1)

    def floats(values, width):
        array = np.array(values, np.float64)
        return array.reshape(-1, width) if width else array.reshape(-1)

    whole = {"kind", "body", "material", "group", "mask", "point_start", "point_count"}
    whole |= {"face_start", "face_count", "mesh", "number"}
    wide = {"p_BS": 3, "q_BS": 4, "size": 3, "bounding_radius": 0}
    arrays = {k: ints(rows[k]) for k in whole} | {k: floats(rows[k], w) for k, w in wide.items()}
    shapes = Shapes(
        **arrays,
        points=floats(points, 3),
        face_normal=floats(normals, 3),
        face_offset=floats(offsets, 0),
        face_loop_start=ints(loop_start),
        face_loop_count=ints(loop_count),
        face_loop=ints(loop),
    )
    return shapes, mesh_arrays(meshes)


@dataclass
class World:
    """One posed world and everything find_contacts needs."""

    solids: list
    margin: float = 0.01
    h: float = 1.0 / 240.0
    excluded: list = field(default_factory=list)
    max_pairs: int = 4000
    max_contacts: int = 16000
    friction: ArrayLike = ((0.5,),)
    restitution: ArrayLike = ((0.0,),)

    def __post_init__(self):
        n = len(self.solids)
        kind = np.array([DYNAMIC if s.dynamic else STATIC for s in self.solids] + [STATIC])
        zeros, tensor = np.zeros(n + 1), np.zeros((n + 1, 3, 3))
        inverse_mass = np.where(kind == DYNAMIC, 1.0, 0.0)
        places, node = np.zeros((n + 1, 3)), np.full(n + 1, -1)
        bodies = Bodies(
            kind,
            zeros,
            inverse_mass,
            zeros,
            tensor,
            tensor,
            places,
            zeros,
            node,
            np.arange(n + 1),
            zeros,
        )
        shapes, meshes = build_shapes(self.solids)
        friction, restitution = np.array(self.friction), np.array(self.restitution)
        none, at_rest = np.zeros_like(friction), np.zeros((len(friction), 3))
        self.model = Model(
            bodies,
            shapes,
            Materials(friction, friction, restitution, none, none, none, none, none, none, at_rest),
            empty_joints(0),
            TargetTable().arrays(),
            empty_forces(0, n),
            meshes,
            no_tree(n + 1, 0),
            joined([], []),
            build_triggers(NOTHING, {}),
            no_drives(no_tree(n + 1, 0)),
        )
        cap = self.max_contacts
        excluded = np.array(sorted(self.excluded), np.int64)
        self.state = empty_state(n + 1, 0, 0, cap)._replace(excluded=excluded)
        for i, solid in enumerate(self.solids):
            self.state.p_WB[i], self.state.q_WB[i] = solid.p, solid.q
            self.state.v_WB_W[i], self.state.w_WB_W[i] = solid.v, solid.w
        self.scratch = collision_scratch(self.model.shapes, self.max_pairs, cap)
        self.contacts = contact_arrays(cap)
        self.options = OPTIONS._replace(time_step=self.h, margin=self.margin)
        self.report = empty_report()

    def faces(self):
        """Faces of all hulls, as `faces_of` says them to kernels."""
        s = self.model.shapes
        return Faces(s.face_normal, s.face_loop_start, s.face_loop_count, s.face_loop)

    def find(self):
        """Contacts as a dict of arrays of the right length."""
        reach = (self.margin, self.h)
        self.contacts.count[0], self.contacts.dropped[0] = 0, 0
        broad_phase(self.model, self.state, self.scratch, reach)
        narrow_phase(self.model, self.state, self.scratch, reach, self.contacts)
        self.report.status[0] = shortage(self.scratch, self.contacts)
        n = int(self.contacts.count[0])
        return {
            name: getattr(self.contacts, name)[:n].copy()
            for name in Contacts._fields
            if name not in ("count", "dropped")
        }

    def store(self, impulse=None):
        """What the step does after the solve."""
        if impulse is not None:
            self.contacts.impulse_W[: len(impulse)] = impulse
        store_contacts(self.contacts, len(self.model.shapes.kind), self.state.contacts)


def quaternion(rotation: Rotation):
    """[w, x, y, z]."""
    x, y, z, w = rotation.as_quat()
    return (w, x, y, z)


def about(axis, angle):
    """Quaternion of a turn."""
    axis = np.asarray(axis, float)
    return quaternion(Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)))


def mesh(vertices, faces, **more):
    """A fixed mesh of triangles."""
    more.setdefault("dynamic", False)
    return Solid(MESH, surface=surface_of(vertices, faces), **more)


def grid(height, half=2.0, cells=10):
    """Vertices and faces of the graph height(x, y) over a square, outside up."""
    x = np.linspace(-half, half, cells + 1)
    vertices = np.array([[a, b, height(a, b)] for b in x for a in x])
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).reshape(-1)
    right, up = corner + 1, corner + cells + 1
    faces = np.concatenate([np.stack([corner, right, up], 1), np.stack([right, up + 1, up], 1)])
    return vertices, faces


def icosphere(times, radius=1.0):
    """Vertices and faces of an icosahedron, each face cut in four `times` over, on a sphere."""
    g = 0.5 * (1 + 5**0.5)
    v = np.array([[-1, g, 0], [1, g, 0], [-1, -g, 0], [1, -g, 0], [0, -1, g], [0, 1, g],
                  [0, -1, -g], [0, 1, -g], [g, 0, -1], [g, 0, 1], [-g, 0, -1],
                  [-g, 0, 1]])  # fmt: skip
    f = np.array([[0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11], [1, 5, 9],
                  [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8], [3, 9, 4], [3, 4, 2],
                  [3, 2, 6], [3, 6, 8], [3, 8, 9], [4, 9, 5], [2, 4, 11], [6, 2, 10],
                  [8, 6, 7], [9, 8, 1]])  # fmt: skip
    for _ in range(times):
        a, b, c = (v[f[:, k]] for k in range(3))
        v = np.concatenate([v, a + b, b + c, c + a])
        v = v / np.linalg.norm(v, axis=1)[:, None]
        n, k = len(f), len(v) - 3 * len(f)
        ab, bc, ca = (k + i * n + np.arange(n) for i in range(3))
        f = np.concatenate([np.stack(t, 1) for t in (
            (f[:, 0], ab, ca), (f[:, 1], bc, ab), (f[:, 2], ca, bc), (ab, bc, ca))])  # fmt: skip
        v, number = np.unique(np.round(v, 12), axis=0, return_inverse=True)
        f = np.asarray(number).reshape(-1)[f]
    return radius * v / np.linalg.norm(v, axis=1)[:, None], f


def cuboid(half, cells=1):
    """Vertices and faces of a box, each side cut into cells x cells squares."""
    vertices: list[np.ndarray] = []
    faces: list[tuple[int, ...]] = []
    x = np.linspace(-1, 1, cells + 1)
    for axis in range(3):
        for side in (-1, 1):
            first = len(vertices)
            for b in x:
                for a in x:
                    p = np.zeros(3)
                    p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3] = side, a, b
                    vertices.append(p * half)
            for j in range(cells):
                for i in range(cells):
                    c = first + j * (cells + 1) + i
                    quad = (c, c + 1, c + cells + 2, c + cells + 1)
                    quad = quad if side > 0 else quad[::-1]
                    faces += [quad[:3], (quad[0], quad[2], quad[3])]
    return np.array(vertices), np.array(faces)


def floor():
    """The half space z <= 0."""
    return Solid(PLANE, dynamic=False)
