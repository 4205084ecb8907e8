"""Supporting features of shapes: the face, line or point that faces a direction."""

from __future__ import annotations

import math

from cardan.engine.collision.narrow.solid import kind_of, position_of, size_of, to_shape, to_world
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import (
    Vec3,
    add,
    add_scaled,
    cross,
    load3,
    norm,
    scale,
    store3,
    sub,
)
from cardan.engine.world.collision import (
    CAP_CORNERS,
    CAP_FACES,
    FACE_COUNT,
    FACE_START,
    POINT_START,
    Faces,
    Pair,
    Patch,
)
from cardan.engine.world.model import BOWL, BOX, CAPSULE, CONE, CONVEX, CYLINDER, RING, TUBE

# (corners: 1 a point, 2 a line, more a face; number of the face; its outward unit normal)
Feature = tuple[int, int, Vec3]

# With a larger cosine of axis and normal a capsule touches with one end only.
CAPSULE_UPRIGHT = 0.9
# Faces whose cosines to the direction differ by less are equal: the first is taken.
SAME_FACING = 1e-6
# A normal this close (cosine) to a face's is replaced by it when the gap stays the same.
NEARLY_FACE = 0.999
# Gaps this close, as a share of the size, are the same.
SAME_DEPTH = 1e-6


@kernel
def put_corner(pair: Pair, s: int, patch: Patch, k: int, x: Vec3) -> None:
    """Corner k of side s, given in the shape's axes."""
    p = add(position_of(pair, s), to_world(pair, s, x))
    for i in range(3):
        patch.polygon[s, k, i] = p[i]


@kernel
def box_face(pair: Pair, s: int, e: Vec3, patch: Patch) -> Feature:
    """The face whose normal is nearest to e (shape axes)."""
    h = size_of(pair, s)
    k = 0
    for i in range(1, 3):
        if abs(e[i]) > abs(e[k]) + SAME_FACING:
            k = i
    sign = 1.0 if e[k] >= 0.0 else -1.0
    for i in range(4):
        # counter-clockwise about +k; about -k mirrored in the first of the other two axes
        u = sign if i == 0 or i == 3 else -sign
        v = 1.0 if i < 2 else -1.0
        if k == 0:
            x = (sign * h[0], u * h[1], v * h[2])
        elif k == 1:
            x = (v * h[0], sign * h[1], u * h[2])
        else:
            x = (u * h[0], v * h[1], sign * h[2])
        put_corner(pair, s, patch, i, x)
    n = (
        sign if k == 0 else 0.0,
        sign if k == 1 else 0.0,
        sign if k == 2 else 0.0,
    )
    return (4, 2 * k + (1 if sign < 0.0 else 0), to_world(pair, s, n))


@kernel
def octagon(k: int, r: float) -> tuple[float, float]:
    """Corner k of the octagon in a circle of radius r, counter-clockwise from (r, 0)."""
    d = r * CAP_FACES
    x = 0.0 if k % 4 == 2 else (r if k % 4 == 0 else d)
    y = 0.0 if k % 4 == 0 else (r if k % 4 == 2 else d)
    return (-x if 2 < k < 6 else x, -y if k > 4 else y)


@kernel
def round_cap(pair: Pair, s: int, cap: tuple[float, float, float], patch: Patch) -> Feature:
    """A cap as an octagon fixed in the shape; cap = (radius, height z, side: 1 up, -1 down)."""
    r, z, sign = cap
    for k in range(CAP_CORNERS):
        # mirrored in y for the lower cap
        x, y = octagon(k, r)
        put_corner(pair, s, patch, k, (x, sign * y, z))
    return (CAP_CORNERS, 0 if sign > 0.0 else 1, to_world(pair, s, (0.0, 0.0, sign)))


@kernel
def is_cap(pair: Pair, s: int, count: int) -> bool:
    """Whether a feature of `count` corners of side s is a round cap."""
    return count == CAP_CORNERS and kind_of(pair, s) in (CYLINDER, TUBE, CONE, RING, BOWL)


@kernel
def is_tilted(pair: Pair, s: int, f: Feature, n: Vec3) -> bool:
    """Whether a feature of side s is a round cap that is not level with the contact."""
    return is_cap(pair, s, f[0]) and norm(cross(f[2], n)) > SAME_FACING


@kernel
def turn_cap(pair: Pair, s: int, n: Vec3, f: Feature, patch: Patch) -> None:
    """Turn the octagon of a tilted cap until its first corner is the farthest along n: the nearest
    point, which runs round the rim.

    Corners fixed in the cap would come and go as it tilts, rolls and turns. The depths of those
    that follow the tilt do not jump, so that contacts with compliance get no energy. A level cap
    keeps its corners.

    n       unit vector from side s to the other side
    Writes  patch.polygon[s]
    """
    if not is_tilted(pair, s, f, n):
        return
    m = f[2]
    across = cross(m, n)
    level = scale(1.0 / norm(across), across)
    first = cross(level, m)
    a, b = load3(patch.polygon[s], 0), load3(patch.polygon[s], CAP_CORNERS // 2)
    centre, r = scale(0.5, add(a, b)), 0.5 * norm(sub(a, b))
    for k in range(CAP_CORNERS):
        # side 1 is traversed in reverse
        x, y = octagon((k + s) % CAP_CORNERS, r)
        store3(patch.polygon[s], k, add_scaled(add_scaled(centre, x, first), y, level))


@kernel
def cylinder_part(pair: Pair, s: int, e: Vec3, patch: Patch) -> Feature:
    """A cap, or the line of the side that faces e."""
    r, h, _ = size_of(pair, s)
    if abs(e[2]) >= CAP_FACES:
        sign = 1.0 if e[2] >= 0.0 else -1.0
        return round_cap(pair, s, (r, sign * h, sign), patch)
    rho = math.sqrt(e[0] * e[0] + e[1] * e[1])
    x, y = r * e[0] / rho, r * e[1] / rho
    put_corner(pair, s, patch, 0, (x, y, -h))
    put_corner(pair, s, patch, 1, (x, y, h))
    return (2, 2, to_world(pair, s, (e[0] / rho, e[1] / rho, 0.0)))


@kernel
def cone_part(pair: Pair, s: int, e: Vec3, patch: Patch) -> Feature:
    """The base, or the line from rim to apex that faces e, whichever normal is nearer.

    Outward normal of the side in the half plane of e: (2 h, r) / sqrt(4 h^2 + r^2).
    """
    r, h, _ = size_of(pair, s)
    rho = math.sqrt(e[0] * e[0] + e[1] * e[1])
    slant = math.sqrt(4.0 * h * h + r * r)
    if -e[2] >= (2.0 * h * rho + r * e[2]) / slant:
        return round_cap(pair, s, (r, -h, -1.0), patch)
    if rho < 1e-9:
        return (1, 3, to_world(pair, s, e))
    x, y = e[0] / rho, e[1] / rho
    put_corner(pair, s, patch, 0, (r * x, r * y, -h))
    put_corner(pair, s, patch, 1, (0.0, 0.0, h))
    n = (2.0 * h * x / slant, 2.0 * h * y / slant, r / slant)
    return (2, 2, to_world(pair, s, n))


@kernel
def hull_face(pair: Pair, s: int, e: Vec3, faces: Faces, patch: Patch) -> Feature:
    """The face whose normal is nearest to e (shape axes)."""
    start = int(pair.solids[s, FACE_START])
    best = start
    facing = -math.inf
    for f in range(start, start + int(pair.solids[s, FACE_COUNT])):
        c = faces.normal[f, 0] * e[0] + faces.normal[f, 1] * e[1] + faces.normal[f, 2] * e[2]
        if c > facing + SAME_FACING:
            facing = c
            best = f
    p = position_of(pair, s)
    first = int(pair.solids[s, POINT_START])
    for k in range(faces.loop_count[best]):
        v = first + faces.loop[faces.loop_start[best] + k]
        for i in range(3):
            patch.polygon[s, k, i] = p[i] + pair.points[v, i]
    n = (faces.normal[best, 0], faces.normal[best, 1], faces.normal[best, 2])
    return (int(faces.loop_count[best]), best - start, to_world(pair, s, n))


@kernel
def write_feature(pair: Pair, s: int, d: Vec3, faces: Faces, patch: Patch) -> Feature:
    """Corners of the part of side s that faces the unit vector d, counter-clockwise from outside.

    Writes  patch.polygon[s]
    """
    kind = kind_of(pair, s)
    e = to_shape(pair, s, d)
    if kind == BOX:
        return box_face(pair, s, e, patch)
    if kind in (CYLINDER, TUBE):
        return cylinder_part(pair, s, e, patch)
    if kind == CONE:
        return cone_part(pair, s, e, patch)
    if kind == CONVEX:
        return hull_face(pair, s, e, faces, patch)
    size = size_of(pair, s)
    if kind == RING and abs(e[2]) >= CAP_FACES:
        return round_cap(pair, s, (size[0], 0.0, 1.0 if e[2] >= 0.0 else -1.0), patch)
    if kind == BOWL and e[2] >= CAP_FACES:
        rim = size[0] * math.sin(size[1])
        return round_cap(pair, s, (rim, -size[0] * math.cos(size[1]), 1.0), patch)
    if kind == CAPSULE and abs(e[2]) < CAPSULE_UPRIGHT:
        h = size_of(pair, s)[1]
        p = position_of(pair, s)
        axis = to_world(pair, s, (0.0, 0.0, 1.0))
        for k in range(2):
            x = add_scaled(p, h if k == 1 else -h, axis)
            for i in range(3):
                patch.polygon[s, k, i] = x[i]
        return (2, 0, d)
    return (1, 0, d)
