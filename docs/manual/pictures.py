"""Pictures of scenes: where bodies start (pale), where they end, and the ways of their origins."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

import cardan
from cardan.service.recordings.triangles import triangles

Array = NDArray[np.float64]

COLOURS = ("#4f7cac", "#d08a3e", "#5b9a68", "#b0566a", "#7d6aa8", "#8a8d3c")
STILL = "#9aa3ab"
HOLLOW = ("tube", "ring", "bowl")
LINE = "#5a6570"
# where the eye is, seen from the scene
EYE = np.array([0.45, -1.0, 0.42]) / np.linalg.norm([0.45, -1.0, 0.42])
RIGHT = np.cross([0.0, 0.0, 1.0], EYE) / np.linalg.norm(np.cross([0.0, 0.0, 1.0], EYE))
UP = np.cross(EYE, RIGHT)
LIGHT = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
SIDES = 28
# figures without a time and with the same names every time
STABLE: dict[Any, Any] = {"svg.hashsalt": "cardan", "svg.fonttype": "none"}


def picture(document: dict[str, Any]) -> str:
    """Run a scene and draw it: SVG. The same scene gives the same text."""
    scene = cardan.load_scene({**document, "record": {"channels": ["pose"]}})
    recording, _ = cardan.run(scene)
    poses = recording.poses()
    with matplotlib.rc_context(STABLE):
        figure = Figure(figsize=(5.2, 3.2))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_aspect("equal", "datalim")
        drawn = [_draw_bodies(axes, scene, poses[0], 0.28), _draw_bodies(axes, scene, poses[-1], 1)]
        _draw_planes(axes, scene, poses[0], np.concatenate(drawn))
        _draw_ways(axes, scene, poses)
        _draw_joints(axes, scene, poses[-1])
        axes.margins(0.06)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()


def flat(points: Array) -> Array:
    """(n, 2): points (n, 3) of W as the eye sees them."""
    return np.stack([points @ RIGHT, points @ UP], axis=1)


def outline(points: Array) -> Array:
    """The corners of the outline of points (n, 3), as the eye sees them."""
    seen = flat(points)
    try:
        corners: Array = seen[ConvexHull(seen).vertices]
    except QhullError:  # seen from the edge
        return seen
    return corners


def to_world(pose: Array, points: Any) -> Array:
    """Points of a body in W: origin and quaternion w x y z."""
    turned: Array = Rotation.from_quat(pose[3:], scalar_first=True).apply(np.atleast_2d(points))
    return turned + pose[:3]


def circle(radius: float, z: float) -> Array:
    """Points of a circle about z."""
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return np.stack([x, y, np.full(SIDES, z)], axis=1)


def ball(radius: float) -> Array:
    """Points of a sphere."""
    heights = np.cos(np.linspace(0.0, np.pi, SIDES // 2))
    return np.concatenate([circle(radius * np.sqrt(1.0 - z * z), radius * z) for z in heights])


def shown(body: Any) -> Iterator[Any]:
    """What a body looks like: its visuals where it has some, else its shapes."""
    yield from (s for s in body.shapes if not body.visuals or s.type in ("plane", "heightfield"))
    yield from body.visuals


def pieces(shape: Any, meshes: Any) -> Iterator[tuple[Array, bool]]:
    """As `facets`, of a hollow shape its triangles."""
    if shape.type not in HOLLOW:
        yield from facets(shape, meshes)
        return
    vertices, faces = triangles(shape.model_dump(exclude={"position", "orientation"}))
    for face in faces:
        yield vertices[face], True


def facets(shape: Any, meshes: Any) -> Iterator[tuple[Array, bool]]:
    """Convex pieces of a shape or visual in its own frame, and whether they are flat."""
    half = 0.5 * getattr(shape, "length", 0.0)
    if shape.type == "box":
        corners = np.array(np.meshgrid(*[[-0.5, 0.5]] * 3, indexing="ij")).reshape(3, -1).T
        for k in range(3):
            for side in (-0.5, 0.5):
                yield corners[corners[:, k] == side] * shape.size, True
    elif shape.type in ("sphere", "ellipsoid"):
        yield ball(1.0) * getattr(shape, "radii", getattr(shape, "radius", 1.0)), False
    elif shape.type == "capsule":
        ends = [ball(shape.radius) + np.array([0.0, 0.0, z]) for z in (-half, half)]
        yield np.concatenate(ends), False
    elif shape.type in ("cylinder", "cone"):
        base = circle(shape.radius, -half)
        top = circle(shape.radius, half) if shape.type == "cylinder" else np.array([[0, 0, half]])
        yield np.concatenate([base, top]), False
        yield base, True
        if shape.type == "cylinder":
            yield top, True
    elif shape.type == "convex":
        yield np.array(shape.points), False
    elif shape.type == "mesh":
        surface = meshes[shape.mesh] if hasattr(shape, "mesh") else shape
        yield from ((np.array(surface.vertices)[list(face)], True) for face in surface.faces)
    elif shape.type == "heightfield":
        yield from _cells(shape)


def _cells(shape: Any) -> Iterator[tuple[Array, bool]]:
    heights = np.array(shape.heights)
    rows, columns = heights.shape
    x = np.linspace(-0.5, 0.5, columns) * shape.size[0]
    y = np.linspace(-0.5, 0.5, rows) * shape.size[1]
    for j in range(rows - 1):
        for i in range(columns - 1):
            cell = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            yield np.array([[x[a], y[b], heights[b, a]] for a, b in cell]), True


def _draw_bodies(axes: Any, scene: Any, poses: Array, alpha: float) -> Array:
    """Draw all shapes but planes, the farthest first; what was drawn, (n, 2)."""
    drawings = []
    for i, body in enumerate(scene.bodies):
        colour = STILL if body.type == "static" else COLOURS[i % len(COLOURS)]
        if body.type == "static" and alpha < 1.0:
            continue
        if not body.shapes and not body.visuals:
            drawings.append((float(poses[i, :3] @ EYE), poses[i : i + 1, :3], False, colour))
        for shape in shown(body):
            place = np.concatenate([shape.position, shape.orientation])
            for points, is_flat in pieces(shape, scene.meshes):
                world = to_world(poses[i], to_world(place, points))
                centre = to_world(poses[i], [place[:3]])[0]
                nearer = 1e-3 if is_flat else 0.0
                wide = shape.type in ("heightfield", *HOLLOW)
                depth = float((world.mean(axis=0) if wide else centre) @ EYE)
                drawings.append((depth + nearer, world, is_flat, colour))
    drawn = [np.zeros((0, 2))]
    faces: list[tuple[Array, tuple[float, ...]]] = []
    for _, points, is_flat, colour in sorted(drawings, key=lambda piece: piece[0]):
        if len(points) < 3:
            axes.plot(*flat(points).T, "o", color=colour, alpha=alpha, markersize=7)
            drawn.append(flat(points))
            continue
        normal = _normal(points) if is_flat else EYE
        if is_flat and abs(normal @ EYE) < 1e-9:
            continue
        corners = outline(points)
        bright = 0.72 + 0.28 * abs(float(normal @ LIGHT)) if is_flat else 0.95
        faces.append((corners, _shaded(colour, bright)))
        drawn.append(corners)
    if faces:
        # one collection: a patch of its own for each of a thousand faces takes a second
        outlines, colours = zip(*faces, strict=True)
        collection = PolyCollection(outlines, facecolors=colours, edgecolors=LINE, linewidths=0.6)
        collection.set_alpha(alpha)
        axes.add_collection(collection)
    return np.concatenate(drawn)


def _normal(points: Array) -> Array:
    normal = np.cross(points[1] - points[0], points[2] - points[0])
    return normal / max(float(np.linalg.norm(normal)), 1e-12)


def _shaded(colour: str, bright: float) -> tuple[float, ...]:
    return tuple(bright * channel for channel in matplotlib.colors.to_rgb(colour))


def _draw_planes(axes: Any, scene: Any, poses: Array, drawn: Array) -> None:
    """Draw planes as wide as what is on them."""
    moving = [p[:3] for p, body in zip(poses, scene.bodies, strict=True) if body.type != "static"]
    middle = np.mean(moving, axis=0) if moving else np.zeros(3)
    reach = 0.6 * float(np.ptp(drawn, axis=0).max()) if len(drawn) else 1.0
    for pose, body in zip(poses, scene.bodies, strict=True):
        for shape in body.shapes:
            if shape.type != "plane":
                continue
            place = np.concatenate([shape.position, shape.orientation])
            normal = np.array(shape.normal) / np.linalg.norm(shape.normal)
            across = np.linalg.svd(normal[None, :])[2][1:]
            square = reach * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ across
            corners = to_world(pose, to_world(place, square + shape.offset * normal))
            out = _normal(corners)
            corners += (middle - corners.mean(axis=0)) @ (np.eye(3) - np.outer(out, out))
            axes.fill(*flat(corners).T, color=STILL, alpha=0.25, linewidth=0, zorder=0)


def _draw_ways(axes: Any, scene: Any, poses: Array) -> None:
    """Draw the ways of all origins."""
    for i, body in enumerate(scene.bodies):
        if body.type != "static" and np.ptp(poses[:, i, :3], axis=0).max() > 1e-3:
            way = flat(poses[:, i, :3])
            axes.plot(*way.T, color=COLOURS[i % len(COLOURS)], linewidth=0.8, linestyle=":")


def _draw_joints(axes: Any, scene: Any, poses: Array) -> None:
    """Draw anchors as points, and springs and distances as lines."""
    for part in (*scene.joints, *scene.forces):
        ends = [_anchor(scene, poses, part, name) for name in ("anchor", "anchor2")]
        found = [end for end in ends if end is not None]
        if len(found) == 2:
            axes.plot(*flat(np.array(found)).T, color="#c0392b", linewidth=1.2)
        for end in found:
            axes.plot(*flat(end[None, :]).T, "o", color="#c0392b", markersize=3.5)


def _anchor(scene: Any, poses: Array, part: Any, name: str) -> Array | None:
    """Where an anchor is now: it goes with its body, from the poses of the scene."""
    anchor = getattr(part, name, None)
    if anchor is None:
        return None
    names: Sequence[str] = [body.name for body in scene.bodies]
    if getattr(part, "frame", "world") == "parent" and part.parent in names:
        parent = scene.bodies[names.index(part.parent)]
        anchor = to_world(np.array([*parent.position, *parent.orientation]), anchor)[0]
    owner = part.child if name == "anchor2" else part.parent
    if owner not in names:
        return np.array(anchor)
    i = names.index(owner)
    body = scene.bodies[i]
    turn = Rotation.from_quat(body.orientation, scalar_first=True)
    place: Array = to_world(poses[i], turn.inv().apply(np.array(anchor) - body.position))[0]
    return place
