"""Shapes whose parts fit together and that their body may have."""

from collections.abc import Iterator

from cardan.schemas.body import Body
from cardan.schemas.checks.geometry import is_flat
from cardan.schemas.checks.parts import Parts, fault
from cardan.schemas.checks.surface import Closure, closure_of, surface_of_mesh
from cardan.schemas.error import Fault
from cardan.schemas.shape import Bowl, Convex, Heightfield, Mesh, Plane, Ring, Tube
from cardan.schemas.visual import TriangleMesh

Path = list[str | int]


def shape_faults(parts: Parts) -> Iterator[Fault]:
    """Yield what is wrong with each shape."""
    for i, body in parts.bodies.items():
        for j, shape in enumerate(body.shapes):
            path: Path = ["bodies", i, "shapes", j]
            match shape:
                case Plane():
                    yield from _static_only(path, body, shape.type)
                case Heightfield():
                    yield from _static_only(path, body, shape.type)
                    yield from _heightfield_faults(path, shape)
                case Tube() | Bowl():
                    yield from _wall_faults(
                        path, shape, ("inner_radius", "outer_radius"), "bore without a wall"
                    )
                case Ring():
                    yield from _wall_faults(
                        path, shape, ("minor_radius", "major_radius"), "ring without a hole"
                    )
                case Convex():
                    yield from _convex_faults(path, shape)
                case Mesh():
                    yield from _mesh_faults(path, shape, body)


def mesh_faults(parts: Parts) -> Iterator[Fault]:
    """Yield faces of meshes for visuals that name vertices which do not exist."""
    for name, mesh in parts.meshes.items():
        yield from _index_faults(["meshes", name], mesh)


def _static_only(path: Path, body: Body, kind: str) -> Iterator[Fault]:
    if body.type != "static":
        yield fault(
            [*path, "type"],
            "not_static",
            f"A {kind} belongs to static bodies only; body '{body.name}' is {body.type}.",
            kind,
            'Add "type": "static" to the body, or use a box.',
        )


def _heightfield_faults(path: Path, shape: Heightfield) -> Iterator[Fault]:
    columns = len(shape.heights[0])
    if columns < 2:
        yield fault(
            [*path, "heights", 0],
            "wrong_length",
            f"A row of heights needs at least 2 values; found {columns}.",
            shape.heights[0],
            None,
        )
    for k, row in enumerate(shape.heights):
        if len(row) != columns:
            yield fault(
                [*path, "heights", k],
                "length_mismatch",
                f"All rows of heights have the same length: row 0 has {columns}, row {k} has "
                f"{len(row)}.",
                row,
                None,
            )


def _wall_faults(
    path: Path, shape: Tube | Ring | Bowl, fields: tuple[str, str], what: str
) -> Iterator[Fault]:
    small, large = (getattr(shape, field) for field in fields)
    if small >= large:
        yield fault(
            [*path, fields[0]],
            "no_wall",
            f"{fields[0]} {small:g} m is not less than {fields[1]} {large:g} m: a {what}.",
            small,
            f"Give less than {large:g}.",
        )


def _convex_faults(path: Path, shape: Convex) -> Iterator[Fault]:
    if is_flat(shape.points):
        yield fault(
            [*path, "points"],
            "flat_hull",
            f"The {len(shape.points)} points lie in one plane; a convex hull needs volume.",
            shape.points,
            "Add points outside the plane, or use a thin box.",
        )


def _index_faults(path: Path, mesh: Mesh | TriangleMesh) -> Iterator[Fault]:
    count = len(mesh.vertices)
    for k, face in enumerate(mesh.faces):
        if max(face) >= count:
            yield fault(
                [*path, "faces", k, face.index(max(face))],
                "index_out_of_range",
                f"Face {k} names vertex {max(face)}; the mesh has vertices 0 to {count - 1}.",
                max(face),
                "Indices count from 0.",
            )


def _mesh_faults(path: Path, shape: Mesh, body: Body) -> Iterator[Fault]:
    wrong = list(_index_faults(path, shape))
    yield from wrong
    if wrong:
        return
    surface = surface_of_mesh(shape)
    if len(surface.faces) == 0:
        yield fault(
            [*path, "faces"],
            "no_area",
            f"No face of the mesh has an area; {surface.dropped} are lines or points.",
            shape.faces,
            "A triangle needs three vertices that do not lie on one line.",
        )
    elif body.type == "dynamic":
        yield from _closure_faults(path, shape, closure_of(surface))


def _closure_faults(path: Path, shape: Mesh, closure: Closure) -> Iterator[Fault]:
    """A mesh that moves needs an inside: mass and collision pieces come from it."""
    found = [
        f"{number} {what}"
        for number, what in (
            (closure.open_edges, "edges belong to one face only"),
            (closure.crowded_edges, "edges belong to more than two faces"),
            (closure.flipped_edges, "edges join faces of opposite sense"),
        )
        if number
    ]
    if found:
        yield fault(
            [*path, "faces"],
            "mesh_not_closed",
            f"A mesh on a dynamic body needs a closed surface of one sense; {', '.join(found)}.",
            shape.faces,
            "Close the holes and turn all faces counter-clockwise seen from outside, or make the "
            "body static.",
        )
    elif closure.volume <= 0.0:
        what = "inside out" if closure.volume < 0.0 else "flat"
        yield fault(
            [*path, "faces"],
            "mesh_inside_out" if closure.volume < 0.0 else "mesh_without_volume",
            f"The mesh is {what}: the volume inside its faces is {closure.volume:g} m^3.",
            shape.faces,
            "Turn every face: counter-clockwise seen from outside."
            if closure.volume < 0.0
            else "Give it a thickness, or make the body static.",
        )
