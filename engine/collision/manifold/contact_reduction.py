"""Contact reduction: few representative contacts of a solid with many triangles.

Contacts with similar normals form a group. A group keeps four contacts, as any pair of solids does:
the deepest one and the largest area. A group is dropped if the separating motion of another group
also resolves its penetration.
"""

from __future__ import annotations

import math

from cardan.engine.collision.manifold.contact_points import choose_four, frame_of
from cardan.engine.collision.mesh.triangle import bottom_of, top_of, triangle_of
from cardan.engine.collision.narrow.solid import radius_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, dot, load3, store3, sub
from cardan.engine.world.collision import (
    BOUND,
    CLUSTER_POINTS,
    MAX_GROUPS,
    Pair,
    Patch,
    Reduction,
)
from cardan.engine.world.model import Meshes

# Normals with a larger cosine are similar: 5 degrees.
ALIKE = 0.996
# Normals with a larger cosine are identical: 1e-4 rad.
SAME_NORMAL = 1.0 - 5e-9
# Contacts closer than this share of the size are identical.
SAME_POINT = 2e-5
# Share of a depth that may remain of it after the motion that resolves it.
CLEARED = 1e-3
# Gaps that differ by less than this share of the size are equal.
SAME_GAP = 1e-6
# What overlaps, or rises above what carries, by less than this share of the margin passes by.
GRAZING = 1e-2

# in place of the triangle of a contact that is dropped
DROPPED = -1

# (midpoint [m], normal from the mesh to the solid, gap [m])
Touch = tuple[Vec3, Vec3, float]


@kernel
def group_of(reduction: Reduction, n: Vec3) -> int:
    """The group whose axis is nearest to n; a new one if none is similar and there is room."""
    best = -1
    nearest = -math.inf
    used = reduction.used[0]
    for g in range(used):
        c = dot(n, load3(reduction.axis, g))
        if c > nearest:
            nearest = c
            best = g
    if nearest >= ALIKE or used == MAX_GROUPS:
        return best
    reduction.used[0] = used + 1
    reduction.size[used] = 0
    store3(reduction.axis, used, n)
    return int(used)


@kernel
def put(reduction: Reduction, row: int, touch: Touch, feature: int, triangle: int) -> None:
    """Write one contact."""
    store3(reduction.point, row, touch[0])
    store3(reduction.normal, row, touch[1])
    reduction.gap[row] = touch[2]
    reduction.feature[row] = feature
    reduction.triangle[row] = triangle


@kernel
def move(reduction: Reduction, row: int, to: int) -> None:
    """Copy one contact."""
    touch = (load3(reduction.point, row), load3(reduction.normal, row), reduction.gap[row])
    put(reduction, to, touch, reduction.feature[row], reduction.triangle[row])


@kernel
def add_touch(
    reduction: Reduction,
    touch: Touch,
    ids: tuple[int, int],
    scales: tuple[float, float],
    spare: Patch,
) -> None:
    """Add a contact to its group; of two at one place keep the deeper, then the lower feature.

    Reads   ids     feature and triangle
            scales  [m] size of the solid, largest gap required
    """
    p, n, gap = touch
    feature, triangle = ids
    size, limit = scales
    g = group_of(reduction, n)
    first = g * CLUSTER_POINTS
    for row in range(first, first + reduction.size[g]):
        d = sub(load3(reduction.point, row), p)
        if (
            dot(d, d) <= (SAME_POINT * size) ** 2
            and dot(n, load3(reduction.normal, row)) > SAME_NORMAL
        ):
            shallower = gap - reduction.gap[row]
            same = abs(shallower) <= SAME_GAP * size
            if (same and feature < reduction.feature[row]) or (not same and shallower < 0.0):
                put(reduction, row, touch, feature, triangle)
            return
    if reduction.size[g] == CLUSTER_POINTS:
        thin_out(reduction, g, size, limit, spare)
    put(reduction, first + reduction.size[g], touch, feature, triangle)
    reduction.size[g] += 1


@kernel
def outermost_of(reduction: Reduction, g: int, t1: Vec3, t2: Vec3, size: float) -> int:
    """The contact to start with: of the deepest ones, the outermost in one direction.

    A contact in the middle of a flat region would waste one of the four; it could also displace the
    end of a line.
    """
    slack = SAME_GAP * size
    first = g * CLUSTER_POINTS
    least = reduction.gap[deepest_of(reduction, g)]
    best = 0
    farthest = -math.inf
    for i in range(reduction.size[g]):
        p = load3(reduction.point, first + i)
        # a direction that is not aligned with any regular grid
        out = dot(t1, p) + 0.3819660112501051 * dot(t2, p)
        if reduction.gap[first + i] <= least + slack and out > farthest + slack:
            farthest = out
            best = i
    return best


@kernel
def thin_out(reduction: Reduction, g: int, size: float, limit: float, spare: Patch) -> None:
    """Keep four contacts of group g."""
    first = g * CLUSTER_POINTS
    count = reduction.size[g]
    _, t1, t2 = frame_of(load3(reduction.axis, g))
    # choose_four takes the first of the deepest: contact `start` is exchanged with contact 0
    start = outermost_of(reduction, g, t1, t2, size)
    for i in range(count):
        row = first + (start if i == 0 else 0 if i == start else i)
        p = load3(reduction.point, row)
        spare.candidate[i, 0] = dot(t1, p)
        spare.candidate[i, 1] = dot(t2, p)
        spare.candidate[i, 3] = reduction.gap[row]
        spare.feature[i] = reduction.feature[row]
    kept = choose_four(spare, count, size, limit)
    for k in range(kept):
        i = spare.chosen[k]
        spare.chosen[k] = start if i == 0 else 0 if i == start else i
    # move to the front in ascending order, so that no contact is overwritten before it is moved
    for k in range(kept):
        for j in range(k + 1, kept):
            if spare.chosen[j] < spare.chosen[k]:
                low = spare.chosen[j]
                spare.chosen[j] = spare.chosen[k]
                spare.chosen[k] = low
    for k in range(kept):
        move(reduction, first + spare.chosen[k], first + k)
    reduction.size[g] = kept


@kernel
def deepest_of(reduction: Reduction, g: int) -> int:
    """Row of the contact of least gap in group g, or -1 if it has none."""
    first = g * CLUSTER_POINTS
    best = -1
    for row in range(first, first + reduction.size[g]):
        if best < 0 or reduction.gap[row] < reduction.gap[best]:
            best = row
    return best


@kernel
def sort_groups(reduction: Reduction) -> None:
    """Sort groups by their least gap into reduction.order, the largest first; a stable sort."""
    for g in range(reduction.used[0]):
        gap = reduction.gap[deepest_of(reduction, g)]
        j = g
        while j > 0 and reduction.gap[deepest_of(reduction, reduction.order[j - 1])] < gap:
            reduction.order[j] = reduction.order[j - 1]
            j -= 1
        reduction.order[j] = g


@kernel
def drop_marked(reduction: Reduction, g: int) -> None:
    """Drop the contacts of group g whose triangle is DROPPED."""
    first, left = g * CLUSTER_POINTS, 0
    for row in range(first, first + reduction.size[g]):
        if reduction.triangle[row] != DROPPED:
            move(reduction, row, first + left)
            left += 1
    reduction.size[g] = left


@kernel
def drop_cleared(reduction: Reduction, pair: Pair, meshes: Meshes, by: int, b: int) -> None:
    """Drop the contacts of group b with triangles that the motion out of contact `by` resolves."""
    slack = SAME_GAP * pair.solids[0, BOUND]
    d, gap = load3(reduction.normal, by), min(reduction.gap[by], 0.0)
    bottom = bottom_of(pair, d, radius_of(pair, 0))
    first = b * CLUSTER_POINTS
    for row in range(first, first + reduction.size[b]):
        if reduction.gap[row] < gap - slack:
            corners = triangle_of(pair, meshes, reduction.triangle[row])
            left = max(slack, CLEARED * (gap - reduction.gap[row]))
            if bottom - top_of(corners, d) >= gap - left:
                reduction.triangle[row] = DROPPED
    drop_marked(reduction, b)


@kernel
def drop_resolved(reduction: Reduction, pair: Pair, meshes: Meshes) -> None:
    """Drop contacts with triangles that the motion out of a less deep group resolves as well.

    A contact of group a requires a motion of depth_a = max(-gap_a, 0) along d_a. A triangle T is
    clear after it if min_solid d_a . x - max_T d_a . x >= -depth_a. Example: a box that overhangs
    the rim of a mesh penetrates the top slightly and lies entirely behind the side face: the top is
    less deep and resolves the side. Where the box tilts over the rim only the contact with the rim
    does, which has the normal of the box.
    """
    slack, used = SAME_GAP * pair.solids[0, BOUND], reduction.used[0]
    sort_groups(reduction)
    for k in range(used):
        first = reduction.order[k] * CLUSTER_POINTS
        for by in range(first, first + reduction.size[reduction.order[k]]):
            for j in range(k + 1, used):
                b = reduction.order[j]
                deepest = deepest_of(reduction, b)
                least = min(reduction.gap[by], 0.0) - slack
                if deepest >= 0 and reduction.gap[deepest] < least:
                    drop_cleared(reduction, pair, meshes, by, b)


@kernel
def drop_below(reduction: Reduction, pair: Pair, meshes: Meshes, touching: float) -> None:
    """Drop contacts at a distance with triangles that lie below the one that the solid stands on.

    A group stands whose least gap is at most `touching` [m]. What it carries cannot reach a
    triangle below its plane: a box that slides from one mesh to the next, level one, approaches the
    side of that along the normal of now, with its bottom above it all the way.
    """
    for a in range(reduction.used[0]):
        deepest = deepest_of(reduction, a)
        if deepest < 0 or reduction.gap[deepest] > touching:
            continue
        d = load3(reduction.normal, deepest)
        level = bottom_of(pair, d, radius_of(pair, 0)) - reduction.gap[deepest]
        for b in range(reduction.used[0]):
            if b == a:
                continue
            first = b * CLUSTER_POINTS
            for row in range(first, first + reduction.size[b]):
                if reduction.gap[row] > touching:
                    corners = triangle_of(pair, meshes, reduction.triangle[row])
                    if top_of(corners, d) <= level + touching:
                        reduction.triangle[row] = DROPPED
            drop_marked(reduction, b)


@kernel
def choose_contacts(reduction: Reduction, size: float, limit: float, spare: Patch) -> int:
    """Write the rows that become contacts to reduction.chosen, by feature; returns how many."""
    total = 0
    for g in range(reduction.used[0]):
        if reduction.size[g] > 4:
            thin_out(reduction, g, size, limit, spare)
        first = g * CLUSTER_POINTS
        for row in range(first, first + reduction.size[g]):
            j = total
            feature = reduction.feature[row]
            while j > 0 and reduction.feature[reduction.chosen[j - 1]] > feature:
                reduction.chosen[j] = reduction.chosen[j - 1]
                j -= 1
            reduction.chosen[j] = row
            total += 1
    return total
