"""Manifold of two boxes in face contact: that of contact_points.py, in the axes of one face.

Boxes mostly rest on faces. In the axes of a face its outline is a rectangle, so that clipping needs
no oblique lines; and a plane normal to the contact normal has constant height. Faces, labels and
tolerances are those of feature.py and clip.py, which handle all other cases.
"""

from __future__ import annotations

from cardan.engine.collision.manifold.clip import OVERLAP, SIDE, clip_line
from cardan.engine.collision.manifold.extent import extent_of_flat, set_share
from cardan.engine.collision.manifold.feature import NEARLY_FACE, SAME_DEPTH, SAME_FACING
from cardan.engine.collision.narrow.closest_feature import Hit
from cardan.engine.collision.narrow.solid import axis_of, position_of, scale_of, to_shape
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, dot, negate, scale, sub, tangents_of
from cardan.engine.world.collision import SIZE, Pair, Patch

# a face steeper than the other by this is the one that is clipped
STEEPER = 0.05

# (axis of the box, +1 or -1: which of its two faces, which side of the pair)
Face = tuple[int, float, int]


@kernel
def face_towards(e: Vec3, s: int) -> Face:
    """The face of side s whose normal is nearest to e (its own axes), as feature.box_face."""
    k = 0
    for i in range(1, 3):
        if abs(e[i]) > abs(e[k]) + SAME_FACING:
            k = i
    return (k, 1.0 if e[k] >= 0.0 else -1.0, s)


@kernel
def cosine_of(pair: Pair, s: int, p: int, q: int) -> float:
    """Axis p of side s . axis q of the other side."""
    return float(pair.cosine[0, p, q] if s == 0 else pair.cosine[0, q, p])


@kernel
def gap_along(pair: Pair, f: Face, t: Vec3) -> float:
    """Gap along the outward normal of a face: to the farthest point of the other box [m].

    Reads   t   from the origin of the face's side to that of the other
    """
    k, sign, s = f
    gap = sign * dot(axis_of(pair, s, k), t) - pair.solids[s, SIZE + k]
    for j in range(3):
        gap -= abs(cosine_of(pair, s, k, j)) * pair.solids[1 - s, SIZE + j]
    return float(gap)


@kernel
def resting_face(pair: Pair, hit: Hit, f0: Face, f1: Face) -> tuple[float, int, int]:
    """Gap along the face that defines the normal, its side, and the side that clips the other.

    Of two parallel faces side 0 clips, whichever defines the normal, so that labels do not change.
    Side -1: neither defines the normal.
    """
    gap, n, _ = hit
    t = sub(position_of(pair, 1), position_of(pair, 0))
    slack = SAME_DEPTH * scale_of(pair) + 1e-4 * abs(gap)
    flat_0 = f0[1] * dot(axis_of(pair, 0, f0[0]), n)
    if flat_0 > NEARLY_FACE:
        along = gap_along(pair, f0, t)
        if along >= gap - slack:
            return along, 0, 0
    flat_1 = -f1[1] * dot(axis_of(pair, 1, f1[0]), n)
    if flat_1 > NEARLY_FACE and (flat_0 < 1.0 - STEEPER or flat_0 > NEARLY_FACE):
        along = gap_along(pair, f1, negate(t))
        if along >= gap - slack:
            return along, 1, 0 if flat_0 > NEARLY_FACE else 1
    return gap, -1, -1


@kernel
def lean_of(pair: Pair, face: Face, up: float, n: Vec3) -> Vec3:
    """Slope of n in the axes of the face: x/z, y/z and z."""
    k, _, s = face
    z = up * dot(axis_of(pair, s, k), n)
    x, y = dot(axis_of(pair, s, (k + 1) % 3), n), dot(axis_of(pair, s, (k + 2) % 3), n)
    return (x / z, y / z, z)


@kernel
def write_corners(pair: Pair, patch: Patch, face: Face, cut: Face, up: float, lean: Vec3) -> None:
    """Corners of the face `cut` in the axes of `face`: x, y from its middle, and height.

    They are projected onto `face` along the contact normal.

    Reads   up   sign of n along the axis of `face`
    Writes  row 0 of patch.flat and patch.edge, in the order of clip.corner
    """
    k, _, s = face
    m, sign, other = cut
    u_axis, v_axis = (m + 1) % 3, (m + 2) % 3
    h_u, h_v = pair.solids[other, SIZE + u_axis], pair.solids[other, SIZE + v_axis]
    h = sign * pair.solids[other, SIZE + m]
    d = sub(position_of(pair, other), position_of(pair, s))
    for back in range(3):
        c = 2 - back
        axis = (k + 1 + c) % 3
        by = up if c == 2 else 1.0
        centre = by * (dot(axis_of(pair, s, axis), d) + h * cosine_of(pair, s, axis, m))
        u = by * sign * h_u * cosine_of(pair, s, axis, u_axis)
        v = by * h_v * cosine_of(pair, s, axis, v_axis)
        # counter-clockwise about n: side 1 is traversed in reverse
        v = v if other == 0 else -v
        patch.flat[0, 0, c] = centre + u + v
        patch.flat[0, 1, c] = centre - u + v
        patch.flat[0, 2, c] = centre - u - v
        patch.flat[0, 3, c] = centre + u - v
    height = pair.solids[s, SIZE + k]
    for i in range(4):
        patch.edge[0, i] = other * SIDE + i
        above = patch.flat[0, i, 2] - (height if s == 0 else -height)
        patch.flat[0, i, 0] -= above * lean[0]
        patch.flat[0, i, 1] -= above * lean[1]


@kernel
def cut_off(
    patch: Patch, row: int, count: int, line: tuple[int, float, float], label: int
) -> tuple[int, int]:
    """Keep the part sign * (coordinate c) <= limit, line = (c, sign, limit): its row, corners.

    Corners are copied only if any is cut off.
    """
    c, sign, limit = line
    most = sign * patch.flat[row, 0, c]
    for k in range(1, count):
        most = max(most, sign * patch.flat[row, k, c])
    if most <= limit:
        return row, count
    at, inwards = sign * limit, -sign
    cut = (at, 0.0, inwards, 0.0) if c == 0 else (0.0, at, 0.0, inwards)
    return 1 - row, clip_line(patch, row, count, cut, label)


@kernel
def side_of(face: Face, k: int) -> tuple[int, float]:
    """The line of edge k of a face's outline: its coordinate, and +1 or -1."""
    _, sign, s = face
    if k % 2 == 1:
        return (0, -sign if k == 1 else sign)
    return (1, 1.0 if (k == 0) == (s == 0) else -1.0)


@kernel
def put_faces(
    pair: Pair,
    patch: Patch,
    faces: tuple[Face, Face],
    normal: tuple[Vec3, Vec3],
    cut: tuple[int, int],
    gaps: Vec3,
) -> int:
    """Contact candidates from the clipped polygon, cut = (row, corners); returns how many.

    Reads   faces   (clipping, clipped)
            normal  n and its slope
            gaps    of the pair, largest required, height of the face over its middle [m]
    For a corner (x, y, z) on one face the point on the other one is (x, y, h) + (z - h)/cos n,
    relative to its middle, with cos the cosine between n and its own normal.
    """
    face, other = faces
    n, lean = normal
    k, sign, s = face
    row, count = cut
    t1, t2 = tangents_of(n)
    at, x_axis, y_axis = (
        position_of(pair, s),
        axis_of(pair, s, (k + 1) % 3),
        axis_of(pair, s, (k + 2) % 3),
    )
    x0, y0, z0 = dot(t1, at), dot(t2, at), dot(n, at)
    xx, xy, yx, yy = dot(t1, x_axis), dot(t2, x_axis), dot(t1, y_axis), dot(t2, y_axis)
    first, second = (face, other) if s == 0 else (other, face)
    number_0 = 2 * first[0] + (1 if first[1] < 0.0 else 0)
    number_1 = 2 * second[0] + (1 if second[1] < 0.0 else 0)
    longer = 1.0 / lean[2]
    kept = 0
    for i in range(count):
        x, y, z = patch.flat[row, i, 0], patch.flat[row, i, 1], patch.flat[row, i, 2]
        label_in, label_out = patch.edge[row, i - 1 if i > 0 else count - 1], patch.edge[row, i]
        if label_in // SIDE == s and label_out // SIDE == s:
            # an exact corner of the face, not of its outline moved outwards
            edge = label_out % SIDE
            right = edge == 0 or edge == 3
            x = (sign if right else -sign) * pair.solids[s, SIZE + (k + 1) % 3]
            y = side_of(face, 0)[1] if edge < 2 else -side_of(face, 0)[1]
            y *= pair.solids[s, SIZE + (k + 2) % 3]
        gap = z - gaps[2] if s == 0 else gaps[2] - z
        gap *= longer
        # n . (x, y, h) and half of the gap; without a slope (z + h)/2
        middle = z0 + 0.5 * (z + gaps[2]) + lean[2] * (x * lean[0] + y * lean[1])
        middle += (lean[2] - 1.0) * gaps[2] + 0.5 * (z - gaps[2]) * (longer - 1.0)
        x -= gaps[2] * lean[0]
        y -= gaps[2] * lean[1]
        # slightly overlapping outlines must not increase the depth of the contact
        gap = max(gap, gaps[0])
        if gap <= gaps[1]:
            patch.candidate[kept, 0] = x0 + x * xx + y * yx
            patch.candidate[kept, 1] = y0 + x * xy + y * yy
            patch.candidate[kept, 2] = middle
            patch.candidate[kept, 3] = gap
            pair_of_faces = (number_0 << 16) | number_1
            patch.feature[kept] = (pair_of_faces << 26) | (label_in << 13) | label_out
            kept += 1
    return kept


@kernel
def box_faces(pair: Pair, hit: Hit, limit: float, patch: Patch) -> tuple[Hit, int]:
    """Candidates of two boxes in face contact, and the hit with its normal; -1: another case.

    Reads   pair.cosine
    Check   tests/engine/collision/manifold/test_box_faces.py
    """
    n = hit[1]
    f0 = face_towards(to_shape(pair, 0, n), 0)
    f1 = face_towards(to_shape(pair, 1, negate(n)), 1)
    gap, giver, s = resting_face(pair, hit, f0, f1)
    if s < 0:
        return hit, -1
    face, other = (f0, f1) if s == 0 else (f1, f0)
    up = face[1] if s == 0 else -face[1]
    n = scale(up, axis_of(pair, s, face[0]))
    lean = (0.0, 0.0, 1.0)
    if giver != s:
        n = scale(-other[1], axis_of(pair, giver, other[0]))
        lean = lean_of(pair, face, up, n)
    write_corners(pair, patch, face, other, up, lean)
    slack = OVERLAP * scale_of(pair)
    row, count = 0, 4
    for k in range(4):
        c, sign = side_of(face, k)
        half = pair.solids[s, SIZE + (face[0] + 1 + c) % 3] + slack
        row, count = cut_off(patch, row, count, (c, sign, half), s * SIDE + k)
        if count == 0:
            break
    height = pair.solids[s, SIZE + face[0]]
    set_share(patch, count, extent_of_flat(patch, row, count) if count > 2 else 0.0)
    gaps = (gap, limit, height if s == 0 else -height)
    found = put_faces(pair, patch, (face, other), (n, lean), (row, count), gaps)
    return (gap, n, hit[2]), found
