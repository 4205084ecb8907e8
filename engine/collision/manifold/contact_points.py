"""At most four contact points for a given normal: the deepest one and the largest area."""

from __future__ import annotations

import math

from cardan.engine.collision.manifold.box_faces import box_faces
from cardan.engine.collision.manifold.clip import (
    OVERLAP,
    SIDE,
    Frame,
    clip_polygon,
    clip_segment,
    corner,
)
from cardan.engine.collision.manifold.extent import (
    extent_of_feature,
    set_share,
    set_share_of_flat,
    whole_cap,
)
from cardan.engine.collision.manifold.feature import (
    NEARLY_FACE,
    SAME_DEPTH,
    Feature,
    is_cap,
    is_tilted,
    turn_cap,
    write_feature,
)
from cardan.engine.collision.narrow.closest_feature import Hit
from cardan.engine.collision.narrow.solid import (
    kind_of,
    position_of,
    radius_of,
    scale_of,
    size_of,
)
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, dot, negate, sub, tangents_of
from cardan.engine.world.collision import NEAREST_FEATURE, Faces, Pair, Patch
from cardan.engine.world.model import BOX, PLANE

# A face with a smaller cosine to the normal is edge-on and has no contact area.
EDGE_ON = 0.02
# Lines whose angle has a larger sine touch in one point.
PARALLEL = 0.03


@kernel
def frame_of(n: Vec3) -> Frame:
    """(n, t1, t2), right-handed with t1 x t2 = n."""
    t1, t2 = tangents_of(n)
    return (n, t1, t2)


@kernel
def snap_to_face(pair: Pair, hit: Hit, f0: Feature, f1: Feature) -> Hit:
    """Use the normal of a face if the gap along it is the same: no noise in resting contacts.

    gap(n) = n . (support_1(-n) - support_0(n)) - r0 - r1
    """
    gap, n, point = hit
    slack = SAME_DEPTH * scale_of(pair) + 1e-4 * abs(gap)
    for s in range(2):
        f = f0 if s == 0 else f1
        m = f[2] if s == 0 else negate(f[2])
        if f[0] > 2 and dot(m, n) > NEARLY_FACE:
            apart = sub(support(pair, 1, negate(m)), support(pair, 0, m))
            along = dot(m, apart) - radius_of(pair, 0) - radius_of(pair, 1)
            if along >= gap - slack:
                return (along, m, point)
    return hit


@kernel
def put_candidate(
    patch: Patch, k: int, x: float, y: float, heights: tuple[float, float], feature: int
) -> None:
    """Candidate k: the surfaces are at heights[0] (side 0) and heights[1] above (x, y)."""
    patch.candidate[k, 0] = x
    patch.candidate[k, 1] = y
    patch.candidate[k, 2] = 0.5 * (heights[0] + heights[1])
    patch.candidate[k, 3] = heights[1] - heights[0]
    patch.feature[k] = feature


@kernel
def feature_number(face_0: int, face_1: int, label_in: int, label_out: int) -> int:
    """One number for (face, face, edge, edge): 16 + 16 + 13 + 13 bits."""
    return (((face_0 << 16) | face_1) << 26) | (label_in << 13) | label_out


@kernel
def plane_candidates(pair: Pair, patch: Patch, frame: Frame, f: Feature, limit: float) -> int:
    """Corners of the solid's feature that are within `limit` of the plane."""
    height_1 = dot(frame[0], position_of(pair, 1))
    count = 0
    step, tilted = 2 if is_cap(pair, 0, f[0]) else 1, is_tilted(pair, 0, f, frame[0])
    set_share(patch, f[0], extent_of_feature(pair, patch, 0, f, frame))
    if f[0] >= 2:
        for k in range(0, f[0], step):
            x, y, z = corner(patch, 0, f[0], k, frame)
            z += radius_of(pair, 0)
            if height_1 - z <= limit:
                feature = feature_number(f[1], 0, k, 0)
                if tilted and k == 0:
                    feature = NEAREST_FEATURE
                put_candidate(patch, count, x, y, (z, height_1), feature)
                count += 1
    return count


@kernel
def is_parallel(patch: Patch, frame: Frame) -> bool:
    """True if both lines are parallel, projected along the normal."""
    a = corner(patch, 0, 2, 0, frame)
    b = corner(patch, 0, 2, 1, frame)
    c = corner(patch, 1, 2, 0, frame)
    d = corner(patch, 1, 2, 1, frame)
    ux, uy = b[0] - a[0], b[1] - a[1]
    vx, vy = d[0] - c[0], d[1] - c[1]
    lengths = math.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy))
    return abs(ux * vy - uy * vx) < PARALLEL * lengths


@kernel
def height_on(
    pair: Pair, patch: Patch, side: int, f: Feature, frame: Frame, x: float, y: float
) -> float:
    """Height of side's feature above (x, y).

    Face:  m . (x t1 + y t2 + z n) = m . corner, solved for z.
    Line:  linear between its ends; at a lateral offset e from the line of round sides z changes
           by e^2 / (2 (r0 + r1)), of second order.
    """
    c = corner(patch, side, f[0], 0, frame)
    if f[0] > 2:
        m = f[2]
        fall = (x - c[0]) * dot(m, frame[1]) + (y - c[1]) * dot(m, frame[2])
        return c[2] - fall / dot(m, frame[0])
    d = corner(patch, side, 2, 1, frame)
    dx, dy = d[0] - c[0], d[1] - c[1]
    length2 = dx * dx + dy * dy
    along = ((x - c[0]) * dx + (y - c[1]) * dy) / length2
    across2 = ((x - c[0]) * dy - (y - c[1]) * dx) ** 2 / length2
    radii = size_of(pair, 0)[0] + size_of(pair, 1)[0]
    fall = across2 / (2.0 * radii) if radii > 0.0 else 0.0
    return c[2] + along * (d[2] - c[2]) + (fall if side == 1 else -fall)


@kernel
def write_outlines(patch: Patch, subject: int, f0: Feature, f1: Feature, frame: Frame) -> None:
    """Write the subject with its edge labels to row 0 of flat, the other side to the outline."""
    count = f0[0] if subject == 0 else f1[0]
    for k in range(count):
        x, y, z = corner(patch, subject, count, k, frame)
        patch.flat[0, k, 0] = x
        patch.flat[0, k, 1] = y
        patch.flat[0, k, 2] = z
        patch.edge[0, k] = subject * SIDE + k
    other = 1 - subject
    count = f1[0] if subject == 0 else f0[0]
    for k in range(count):
        x, y, z = corner(patch, other, count, k, frame)
        patch.outline[k, 0] = x
        patch.outline[k, 1] = y


@kernel
def is_first(label_in: int, label_out: int, tilted: tuple[bool, bool]) -> bool:
    """Whether a corner is the first of a tilted cap: the nearest point, and labelled as that."""
    s = label_out // SIDE
    return label_out % SIDE == 0 and label_in // SIDE == s and tilted[s]


@kernel
def face_candidates(
    pair: Pair, patch: Patch, frame: Frame, f0: Feature, f1: Feature, limits: tuple[float, float]
) -> int:
    """Corners of the overlap of two features with gaps of limits[0] (the pair's) to limits[1].

    The side that is steeper to the normal (or a line) is clipped and keeps its own heights; the
    height of the other side is computed from its plane, which is then well conditioned.
    """
    flat_0 = abs(dot(f0[2], frame[0]))
    flat_1 = abs(dot(f1[2], frame[0]))
    if f0[0] < 2 or f1[0] < 2:
        return 0
    if f0[0] == 2 and f1[0] == 2 and not is_parallel(patch, frame):
        return 0
    subject = 0 if f1[0] > 2 and (f0[0] == 2 or flat_0 < flat_1 - 0.05) else 1
    if f1[0] == 2:
        subject = 1
    other = 1 - subject
    f_other = f0 if subject == 1 else f1
    if f_other[0] > 2 and (flat_0 if subject == 1 else flat_1) < EDGE_ON:
        return 0
    write_outlines(patch, subject, f0, f1, frame)
    slack = OVERLAP * scale_of(pair)
    count = f0[0] if subject == 0 else f1[0]
    row = 0
    if count == 2:
        count = clip_segment(patch, other, f_other[0], slack)
    else:
        count = clip_polygon(patch, count, other, f_other[0], slack)
        row = f_other[0] % 2
    cap = whole_cap(pair, patch, row, count)
    set_share_of_flat(pair, patch, cap, row, count)
    radii = (radius_of(pair, 0), radius_of(pair, 1))
    tilted = (is_tilted(pair, 0, f0, frame[0]), is_tilted(pair, 1, f1, frame[0]))
    kept = 0
    for k in range(count):
        x, y, z = patch.flat[row, k, 0], patch.flat[row, k, 1], patch.flat[row, k, 2]
        label_in = patch.edge[row, k - 1 if k > 0 else count - 1]
        label_out = patch.edge[row, k]
        if cap >= 0 and label_out % 2 == 1:
            continue
        if count > 2 and label_in // SIDE == other and label_out // SIDE == other:
            # an exact corner of the other side, not of its outline moved outwards
            x, y = patch.outline[label_out % SIDE, 0], patch.outline[label_out % SIDE, 1]
        w = height_on(pair, patch, other, f_other, frame, x, y)
        low = (z if subject == 0 else w) + radii[0]
        high = (w if subject == 0 else z) - radii[1]
        # slightly overlapping outlines must not increase the depth of the contact
        excess = max(0.0, limits[0] - (high - low))
        low -= 0.5 * excess
        high += 0.5 * excess
        if high - low <= limits[1]:
            feature = feature_number(f0[1], f1[1], k if count == 2 else label_in, label_out)
            if count > 2 and is_first(label_in, label_out, tilted):
                feature = NEAREST_FEATURE
            put_candidate(patch, kept, x, y, (low, high), feature)
            kept += 1
    return kept


@kernel
def least_gap(patch: Patch, count: int) -> float:
    """Gap of the deepest candidate; inf if there is none."""
    least = math.inf
    for k in range(count):
        least = min(least, patch.candidate[k, 3])
    return least


@kernel
def area_score(patch: Patch, a: int, b: int, k: int, softness: float) -> float:
    """Signed area of (a, b, k), or squared distance from a if a is b, less for shallow k.

    A point that is `softness` shallower than the deepest counts half.
    """
    x = patch.candidate[k, 0] - patch.candidate[a, 0]
    y = patch.candidate[k, 1] - patch.candidate[a, 1]
    size = x * x + y * y
    if a != b:
        dx = patch.candidate[b, 0] - patch.candidate[a, 0]
        dy = patch.candidate[b, 1] - patch.candidate[a, 1]
        size = dx * y - dy * x
    shallower = max(0.0, patch.candidate[k, 3] - patch.candidate[a, 3])
    return size * softness / (softness + shallower)


@kernel
def choose_four(patch: Patch, count: int, scale: float, limit: float) -> int:
    """The deepest candidate, the farthest from it, and the one of largest area to either side.

    Writes  patch.chosen, ascending by feature. Returns how many (count, if at most four).
    """
    chosen = patch.chosen
    if count <= 4:
        for k in range(count):
            chosen[k] = k
    else:
        slack = SAME_DEPTH * scale
        softness = max(0.25 * limit, slack)
        least = least_gap(patch, count)
        chosen[0] = 0
        for k in range(count - 1, -1, -1):
            if patch.candidate[k, 3] <= least + slack:
                chosen[0] = k
        # the first of those that are equal within rounding
        best = -1.0
        for k in range(count):
            score = area_score(patch, chosen[0], chosen[0], k, softness)
            if score > best * (1.0 + 1e-6):
                best = score
                chosen[1] = k
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            best = 0.0
            chosen[2 + side] = chosen[0]
            for k in range(count):
                score = sign * area_score(patch, chosen[0], chosen[1], k, softness)
                if score > best * (1.0 + 1e-6):
                    best = score
                    chosen[2 + side] = k
        count = drop_repeated(patch)
    sort_by_feature(patch, count)
    return count


@kernel
def drop_repeated(patch: Patch) -> int:
    """Remove duplicates from the four chosen; returns how many remain."""
    kept = 0
    for k in range(4):
        c = patch.chosen[k]
        repeated = False
        for j in range(kept):
            repeated = repeated or patch.chosen[j] == c
        if not repeated:
            patch.chosen[kept] = c
            kept += 1
    return kept


@kernel
def sort_by_feature(patch: Patch, count: int) -> None:
    """Insertion sort of the chosen candidates; equal features stay in order."""
    for k in range(1, count):
        c = patch.chosen[k]
        j = k
        while j > 0 and patch.feature[patch.chosen[j - 1]] > patch.feature[c]:
            patch.chosen[j] = patch.chosen[j - 1]
            j -= 1
        patch.chosen[j] = c


@kernel
def write_candidates(
    pair: Pair, faces: Faces, hit: Hit, limit: float, patch: Patch
) -> tuple[Hit, int]:
    """Candidates of this hit, without the nearest points; the hit with its final normal."""
    if kind_of(pair, 0) == BOX and kind_of(pair, 1) == BOX:
        found, count = box_faces(pair, hit, limit, patch)
        if count >= 0:
            return (found, count)
    n = hit[1]
    f0 = write_feature(pair, 0, n, faces, patch)
    if kind_of(pair, 1) == PLANE:
        turn_cap(pair, 0, n, f0, patch)
        return (hit, plane_candidates(pair, patch, frame_of(n), f0, limit))
    f1 = write_feature(pair, 1, negate(n), faces, patch)
    hit = snap_to_face(pair, hit, f0, f1)
    turn_cap(pair, 0, hit[1], f0, patch)
    turn_cap(pair, 1, negate(hit[1]), f1, patch)
    return (hit, face_candidates(pair, patch, frame_of(hit[1]), f0, f1, (hit[0], limit)))


@kernel
def add_nearest(pair: Pair, hit: Hit, count: int, patch: Patch) -> int:
    """Append the nearest points unless a candidate is as deep; returns the new count."""
    gap, n, point = hit
    slack = SAME_DEPTH * scale_of(pair)
    if least_gap(patch, count) > gap + slack:
        _, t1, t2 = frame_of(n)
        z = dot(n, point)
        heights = (z - 0.5 * gap, z + 0.5 * gap)
        put_candidate(patch, count, dot(t1, point), dot(t2, point), heights, NEAREST_FEATURE)
        count += 1
    return count
