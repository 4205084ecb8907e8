"""Convert geoms that are only seen into visuals, and their meshes into meshes of the scene."""

from typing import Any

import numpy as np

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.links import Link, Names
from cardan.service.importing.notes import Notes
from cardan.service.importing.shapes import Shapes
from cardan.service.importing.thinning import Faces, Vertices, thinned, vertices_of_each

MAX_VERTICES = 40_000
"""Vertices of all visuals beyond which the largest meshes are thinned: everybody who looks at the
scene gets them all."""
SHOWN_GROUPS = 3
"""MuJoCo shows geoms of the groups below this one."""


class Visuals:
    """Makes the visuals of links. Geoms that show one mesh share it."""

    def __init__(self, compiled: Compiled, shapes: Shapes, notes: Notes) -> None:
        """`shapes` knows which geoms touch, where they are and what colour they have."""
        self._compiled = compiled
        self._shapes = shapes
        self._notes = notes
        self._names: dict[int, str] = {}
        self._unique = Names()

    def of_link(self, link: Link) -> list[dict[str, Any]]:
        """Visuals of a link; none where its shapes are all there is to see.

        A model in MJCF shows geoms that touch beside those that do not; of a URDF only <visual>
        is shown.
        """
        seen = [geom for geom in self._shapes.geoms_of(link) if self._is_seen(geom)]
        if not any(self._shapes.is_picture(geom) for geom in seen):
            return []
        if self._compiled.prepared.format == "urdf":
            seen = [geom for geom in seen if self._shapes.is_picture(geom)]
        return [visual for geom in seen if (visual := self._visual(geom, link)) is not None]

    def meshes(self) -> dict[str, dict[str, Any]]:
        """The meshes that visuals show, by name; the largest ones thinned if there is too much."""
        originals = {name: self._surface(mesh) for mesh, name in self._names.items()}
        room = vertices_of_each([len(v) for v, _ in originals.values()], MAX_VERTICES)
        found = {}
        for name, (vertices, faces) in originals.items():
            kept, left, moved = thinned(vertices, faces, room)
            if len(kept) < len(vertices):
                self._notes.approximated(
                    "visual_thinned",
                    f"Visuals of more than {MAX_VERTICES} vertices in all have fewer.",
                    f"mesh '{name}': {len(kept)} of {len(vertices)} vertices, moved by "
                    f"{moved:.2g} m at most",
                )
            found[name] = {
                "vertices": [[_short(x) for x in vertex] for vertex in kept.tolist()],
                "faces": left.tolist(),
            }
        return found

    def _is_seen(self, geom: int) -> bool:
        model = self._compiled.model
        group = int(model.geom_group[geom])
        shown = self._compiled.prepared.format == "urdf" or group < SHOWN_GROUPS
        return shown and self._opacity(geom) > 0.0

    def _opacity(self, geom: int) -> float:
        model = self._compiled.model
        material, own = int(model.geom_matid[geom]), float(model.geom_rgba[geom][3])
        return float(model.mat_rgba[material][3]) if material >= 0 and own == 1.0 else own

    def _visual(self, geom: int, link: Link) -> dict[str, Any] | None:
        import mujoco

        model = self._compiled.model
        made = self._shapes.primitive(geom)
        if int(model.geom_type[geom]) == int(mujoco.mjtGeom.mjGEOM_MESH):
            made = {"type": "mesh", "mesh": self._name(int(model.geom_dataid[geom]))}
        if made is None:
            return None
        look: dict[str, Any] = {"color": [round(part, 4) for part in self._shapes.color(geom)]}
        if (opacity := self._opacity(geom)) < 1.0:
            look["opacity"] = round(opacity, 4)
        return {**made, **self._shapes.place(geom, link), **look}

    def _name(self, mesh: int) -> str:
        if mesh not in self._names:
            self._names[mesh] = self._unique.take(self._compiled.name("mesh", mesh))
        return self._names[mesh]

    def _surface(self, mesh: int) -> tuple[Vertices, Faces]:
        model = self._compiled.model
        start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        first, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        return (
            model.mesh_vert[start : start + count].astype(np.float64),
            model.mesh_face[first : first + faces].astype(np.int64),
        )


def _short(value: float) -> float:
    """Six digits: the model has single precision, and nothing is computed from these numbers."""
    return float(f"{value:.6g}") + 0.0
