"""Convert geoms that touch into shapes: primitives as they are, meshes as convex hulls."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.links import Link
from cardan.service.importing.notes import Notes
from cardan.service.importing.prepared import GREY
from cardan.service.importing.rotations import conjugate, product, rotate

Floats = npt.NDArray[np.float64]
Shape = dict[str, Any]

MAX_HULL_POINTS = 100
"""Corners of a hull beyond which only the outermost are kept: contacts cost by the corner."""
AT_ONCE = 8
"""Corners added between two looks at the hull."""
FLAT = 1e-6
"""Thickness over extent below which a mesh is a sheet [-]."""
QUARTER_TURN = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
"""About z: the cells of MuJoCo's height fields are split along the other diagonal."""


class Shapes:
    """Makes the shapes of links."""

    def __init__(self, compiled: Compiled, surfaces: dict[int, Shape], notes: Notes) -> None:
        """`surfaces`: fields of material and collision filter, by geom."""
        self._compiled = compiled
        self._surfaces = surfaces
        self._notes = notes

    def of_link(self, link: Link) -> list[Shape]:
        """Shapes of a link."""
        found = []
        for geom in self.geoms_of(link):
            if self.is_picture(geom):
                continue
            made = self._made(geom, link)
            if made is not None:
                found.append({**made, **self.place(geom, link), **self._surface(geom)})
        return found

    def geoms_of(self, link: Link) -> list[int]:
        """Geoms of a link, in the order of the model."""
        start, count = self._compiled.model.body_geomadr, self._compiled.model.body_geomnum
        return sorted(int(start[body]) + k for body in link.bodies for k in range(int(count[body])))

    def is_picture(self, geom: int) -> bool:
        """Whether a geom is only seen: it asks for no contacts, and no listed pair names it."""
        model = self._compiled.model
        asks = model.geom_contype[geom] or model.geom_conaffinity[geom]
        return not asks and self._surfaces[geom].get("collision_mask", 1) == 0

    def primitive(self, geom: int) -> Shape | None:
        """Type and size of a sphere, capsule, cylinder, box or ellipsoid; None of other geoms."""
        maker = self._primitives().get(int(self._compiled.model.geom_type[geom]))
        return None if maker is None else maker(geom)

    def _primitives(self) -> dict[int, Callable[[int], Shape]]:
        import mujoco

        return {
            int(mujoco.mjtGeom.mjGEOM_SPHERE): self._sphere,
            int(mujoco.mjtGeom.mjGEOM_CAPSULE): self._capsule,
            int(mujoco.mjtGeom.mjGEOM_CYLINDER): self._cylinder,
            int(mujoco.mjtGeom.mjGEOM_BOX): self._box,
            int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): self._ellipsoid,
        }

    def _made(self, geom: int, link: Link) -> Shape | None:
        import mujoco

        kind = mujoco.mjtGeom(int(self._compiled.model.geom_type[geom]))
        makers: dict[int, Callable[[int], Shape | None]] = {
            **self._primitives(),
            int(mujoco.mjtGeom.mjGEOM_MESH): self._hull,
            int(mujoco.mjtGeom.mjGEOM_PLANE): self._plane,
            int(mujoco.mjtGeom.mjGEOM_HFIELD): self._heightfield,
        }
        if int(kind) not in makers:
            name = kind.name.removeprefix("mjGEOM_").lower()
            self._notes.dropped("shape_kind", f"There is no shape '{name}'.", self._where(geom))
            return None
        made = makers[int(kind)](geom)
        if made is not None and made["type"] in ("plane", "heightfield") and link.kind != "static":
            self._notes.dropped(
                "moving_plane",
                "Planes and heightfields belong to static bodies only.",
                self._where(geom),
            )
            return None
        return made

    def _where(self, geom: int) -> str:
        return f"geom '{self._compiled.name('geom', geom)}'"

    def _size(self, geom: int) -> list[float]:
        return self._compiled.vector(self._compiled.model.geom_size[geom])

    def _sphere(self, geom: int) -> Shape:
        return {"type": "sphere", "radius": self._size(geom)[0]}

    def _capsule(self, geom: int) -> Shape:
        radius, half, _ = self._size(geom)
        return {"type": "capsule", "radius": radius, "length": 2.0 * half}

    def _cylinder(self, geom: int) -> Shape:
        radius, half, _ = self._size(geom)
        return {"type": "cylinder", "radius": radius, "length": 2.0 * half}

    def _box(self, geom: int) -> Shape:
        return {"type": "box", "size": [2.0 * half for half in self._size(geom)]}

    def _ellipsoid(self, geom: int) -> Shape:
        return {"type": "ellipsoid", "radii": self._size(geom)}

    def _plane(self, geom: int) -> Shape:
        # a plane of MuJoCo is endless for contacts; its size is that of the picture
        return {"type": "plane", "normal": [0.0, 0.0, 1.0]}

    def _heightfield(self, geom: int) -> Shape:
        """A field whose x is MuJoCo's y and whose y is MuJoCo's -x: see `QUARTER_TURN`.

        Rows are along y, as in MuJoCo; elevations are shares of the largest one.
        """
        model = self._compiled.model
        field = int(model.geom_dataid[geom])
        rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
        start = int(model.hfield_adr[field])
        x, y, top, _base = (float(value) for value in model.hfield_size[field])
        heights = top * model.hfield_data[start : start + rows * columns].astype(np.float64)
        return {
            "type": "heightfield",
            "size": [2.0 * y, 2.0 * x],
            "heights": [
                self._compiled.vector(row) for row in heights.reshape(rows, columns)[:, ::-1].T
            ],
        }

    def _hull(self, geom: int) -> Shape | None:
        model = self._compiled.model
        mesh = int(model.geom_dataid[geom])
        start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        vertices = model.mesh_vert[start : start + count].astype(np.float64)
        extent = float(np.ptp(vertices, axis=0).max()) if count else 0.0
        corners = hull_corners(vertices, FLAT * extent)
        if corners is None:
            self._notes.dropped(
                "flat_mesh",
                "A mesh without volume has no convex hull to collide with.",
                self._where(geom),
            )
            return None
        if len(corners) > MAX_HULL_POINTS:
            kept, lost = outermost(corners, MAX_HULL_POINTS)
            self._notes.approximated(
                "hull_reduced",
                f"Convex hulls of more than {MAX_HULL_POINTS} corners keep the outermost ones.",
                f"{self._where(geom)}: {len(corners)} corners, at most {lost:.2g} m inside",
            )
            corners = kept
        self._notes.approximated(
            "hull", "Meshes collide by their convex hulls, as in MuJoCo.", self._where(geom)
        )
        return {"type": "convex", "points": [self._compiled.vector(point) for point in corners]}

    def place(self, geom: int, link: Link) -> Shape:
        """Pose in the frame of the link's root, without rounding where the geom is in it."""
        import mujoco

        model, data = self._compiled.model, self._compiled.data
        position, turn = model.geom_pos[geom], model.geom_quat[geom]
        if model.geom_bodyid[geom] != link.root:
            back = conjugate(data.xquat[link.root])
            position = rotate(back, data.geom_xpos[geom] - data.xpos[link.root])
            turn = product(back, data.geom_xquat[geom])
        if int(model.geom_type[geom]) == int(mujoco.mjtGeom.mjGEOM_HFIELD):
            turn = product(turn, QUARTER_TURN)
        fields: Shape = {}
        if np.any(position):
            fields["position"] = self._compiled.vector(position)
        if not np.array_equal(turn, [1.0, 0.0, 0.0, 0.0]):
            fields["orientation"] = self._compiled.vector(turn)
        return fields

    def _surface(self, geom: int) -> Shape:
        return {**self._surfaces[geom], "color": list(self.color(geom))}

    def color(self, geom: int) -> tuple[float, ...]:
        """Red, green and blue of a geom, 0 to 1.

        The compiler gives shapes that touch in a URDF the colour of any picture: they have that of
        the pictures of their link.
        """
        model = self._compiled.model
        if self._compiled.prepared.format == "urdf" and not self.is_picture(geom):
            body = self._compiled.name("body", int(model.geom_bodyid[geom]))
            return self._compiled.prepared.colors.get(body, GREY)
        rgb = tuple(min(max(float(value), 0.0), 1.0) for value in model.geom_rgba[geom][:3])
        material = int(model.geom_matid[geom])
        if rgb == GREY and material >= 0:
            return tuple(min(max(float(v), 0.0), 1.0) for v in model.mat_rgba[material][:3])
        return rgb


def hull_corners(points: Floats, thinnest: float) -> Floats | None:
    """The corners of the convex hull (n, 3); None where it has no volume."""
    if len(points) < 4:
        return None
    centred = points - points.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False)
    if spread[-1] <= thinnest:
        return None
    # half a second to import, for which a model without hulls does not wait
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).vertices], dtype=np.float64)
    except QhullError:
        return None


def outermost(corners: Floats, count: int) -> tuple[Floats, float]:
    """At most `count` corners that leave little outside, and how far others lie beyond [m].

    First the farthest in evenly spread directions k of a Fibonacci lattice (z = 1 - (2 k + 1) / n,
    turned by the golden angle), then, some at a time, those farthest outside of the hull so far.
    """
    from scipy.spatial import ConvexHull

    k = np.arange(count // 2)
    z = 1.0 - (2.0 * k + 1.0) / len(k)
    turn = np.pi * (3.0 - np.sqrt(5.0)) * k
    flat = np.sqrt(1.0 - z * z)
    directions = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)
    kept = np.unique(np.argmax(corners @ directions.T, axis=0))
    while True:
        planes = ConvexHull(corners[kept]).equations
        beyond = (corners @ planes[:, :3].T + planes[:, 3]).max(axis=1)
        room = count - len(kept)
        if room == 0:
            return corners[kept], float(max(beyond.max(), 0.0))
        farthest = np.argsort(-beyond)[: min(room, AT_ONCE)]
        kept = np.union1d(kept, farthest)
