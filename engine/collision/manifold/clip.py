"""Clip the outlines of two convex features, projected along the contact normal.

Coordinates in the plane of contact: x along t1, y along t2, height along n, with t1 x t2 = n. A
corner of the overlap has the labels of the two edges that meet in it; the labels belong to the
shapes, so that a contact can be matched in the next step.
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, dot
from cardan.engine.world.collision import Patch

# label of edge k of side s: s * SIDE + k
SIDE = 4096
# Outlines are enlarged by this share of the size: corners on edges, as in a stack of equal boxes,
# are then inside for any rounding.
OVERLAP = 1e-5

# (n, t1, t2)
Frame = tuple[Vec3, Vec3, Vec3]


@kernel
def corner(patch: Patch, s: int, count: int, k: int, frame: Frame) -> Vec3:
    """x, y, height of corner k, counter-clockwise about n: side 1 is traversed in reverse."""
    i = count - 1 - k if s == 1 and count > 2 else k
    p = (patch.polygon[s, i, 0], patch.polygon[s, i, 1], patch.polygon[s, i, 2])
    return (dot(frame[1], p), dot(frame[2], p), dot(frame[0], p))


@kernel
def clip_line(
    patch: Patch, row: int, count: int, cut: tuple[float, float, float, float], label: int
) -> int:
    """Keep the part left of the line through (x, y) with left normal (l, m); returns the corners.

    One step of Sutherland and Hodgman's algorithm, from row `row` of flat and edge to the other.
    """
    x0, y0, l, m = cut
    out = 1 - row
    kept = 0
    before = l * (patch.flat[row, 0, 0] - x0) + m * (patch.flat[row, 0, 1] - y0)
    for k in range(count):
        j = k + 1 if k + 1 < count else 0
        after = l * (patch.flat[row, j, 0] - x0) + m * (patch.flat[row, j, 1] - y0)
        if before >= 0.0:
            for i in range(3):
                patch.flat[out, kept, i] = patch.flat[row, k, i]
            patch.edge[out, kept] = patch.edge[row, k]
            kept += 1
        if (before >= 0.0) != (after >= 0.0):
            share = before / (before - after)
            for i in range(3):
                patch.flat[out, kept, i] = patch.flat[row, k, i] + share * (
                    patch.flat[row, j, i] - patch.flat[row, k, i]
                )
            # where the outline leaves, the next edge is the cut; where it enters, the edge itself
            patch.edge[out, kept] = label if before >= 0.0 else patch.edge[row, k]
            kept += 1
        before = after
    return kept


@kernel
def outline_cut(
    patch: Patch, count: int, k: int, slack: float
) -> tuple[float, float, float, float]:
    """Edge k of the clipping outline moved outwards by slack: point and unit left normal.

    The outline of a line segment is clipped at its two ends, perpendicular to it.
    """
    j = k + 1 if k + 1 < count else 0
    x, y = patch.outline[k, 0], patch.outline[k, 1]
    dx, dy = patch.outline[j, 0] - x, patch.outline[j, 1] - y
    length = (dx * dx + dy * dy) ** 0.5
    if length <= slack:
        return (x, y, 0.0, 0.0)
    l, m = -dy / length, dx / length
    if count == 2:
        l, m = dx / length, dy / length
    return (x - slack * l, y - slack * m, l, m)


@kernel
def clip_polygon(patch: Patch, count: int, cutter: int, cutter_count: int, slack: float) -> int:
    """Clip the subject in row 0 of flat by all edges of the outline of side `cutter`.

    The result is in row cutter_count % 2. Returns the number of its corners.
    """
    for k in range(cutter_count):
        cut = outline_cut(patch, cutter_count, k, slack)
        count = clip_line(patch, k % 2, count, cut, cutter * SIDE + k)
        if count == 0:
            return 0
    return count


@kernel
def clip_segment(patch: Patch, cutter: int, cutter_count: int, slack: float) -> int:
    """Clip the segment of corners 0 and 1 of row 0 by the outline; 2, or 0 if nothing is left.

    The ends stay in row 0; edge[0, k] becomes the label of end k, or that of the edge that cut it.
    """
    low = 0.0
    high = 1.0
    label_low = patch.edge[0, 0]
    label_high = patch.edge[0, 1]
    for k in range(cutter_count):
        x0, y0, l, m = outline_cut(patch, cutter_count, k, slack)
        before = l * (patch.flat[0, 0, 0] - x0) + m * (patch.flat[0, 0, 1] - y0)
        after = l * (patch.flat[0, 1, 0] - x0) + m * (patch.flat[0, 1, 1] - y0)
        if before < 0.0 and after < 0.0:
            return 0
        if before < 0.0 or after < 0.0:
            share = before / (before - after)
            if before < 0.0 and share > low:
                low = share
                label_low = cutter * SIDE + k
            elif after < 0.0 and share < high:
                high = share
                label_high = cutter * SIDE + k
    if low > high:
        return 0
    for i in range(3):
        a = patch.flat[0, 0, i]
        b = patch.flat[0, 1, i]
        patch.flat[0, 0, i] = a + low * (b - a)
        patch.flat[0, 1, i] = a + high * (b - a)
    patch.edge[0, 0] = label_low
    patch.edge[0, 1] = label_high
    return 2
