"""Contacts of a solid with many triangles, reduced to a few good ones.

Contacts whose normals are alike form a group. A group keeps four of its contacts as any pair of
solids does: the deepest one and the area. Groups whose depth another group's way out already
removes are dropped.
"""

from __future__ import annotations

import math

from engine.collision.manifold import choose_four, frame_of
from engine.collision.solid import radius_of
from engine.collision.triangle import bottom_of, top_of, triangle_of
from engine.kernel import kernel
from engine.spatial.vec3 import Vec3, dot, load3, store3, sub
from engine.world.collision import CLUSTER_POINTS, MAX_CLUSTERS, Clusters, Pair, Patch
from engine.world.model import Meshes

# Normals nearer (cosine) than this are alike: 5 degrees.
ALIKE = 0.996
# Contacts nearer than this share of the size are one.
SAME_POINT = 2e-5
# Gaps nearer than this share of the size are equal.
SAME_GAP = 1e-6

# (half way point [m], normal from the mesh to the solid, gap [m])
Touch = tuple[Vec3, Vec3, float]


@kernel
def group_of(clusters: Clusters, n: Vec3) -> int:
    """The group whose axis is nearest to n; a new one if none is alike and there is room."""
    best = -1
    nearest = -math.inf
    used = clusters.used[0]
    for g in range(used):
        c = dot(n, load3(clusters.axis, g))
        if c > nearest:
            nearest = c
            best = g
    if nearest >= ALIKE or used == MAX_CLUSTERS:
        return best
    clusters.used[0] = used + 1
    clusters.size[used] = 0
    store3(clusters.axis, used, n)
    return int(used)


@kernel
def put(clusters: Clusters, row: int, touch: Touch, feature: int, triangle: int) -> None:
    """Write one contact."""
    store3(clusters.point, row, touch[0])
    store3(clusters.normal, row, touch[1])
    clusters.gap[row] = touch[2]
    clusters.feature[row] = feature
    clusters.triangle[row] = triangle


@kernel
def move(clusters: Clusters, row: int, to: int) -> None:
    """Copy one contact."""
    touch = (load3(clusters.point, row), load3(clusters.normal, row), clusters.gap[row])
    put(clusters, to, touch, clusters.feature[row], clusters.triangle[row])


@kernel
def add_touch(
    clusters: Clusters,
    touch: Touch,
    ids: tuple[int, int],
    scales: tuple[float, float],
    spare: Patch,
) -> None:
    """Put a contact into its group, once; of two at one place the deeper, then the lower feature.

    Reads   ids     feature and triangle
            scales  [m] size of the solid, largest gap asked for
    """
    p, n, gap = touch
    feature, triangle = ids
    size, limit = scales
    g = group_of(clusters, n)
    first = g * CLUSTER_POINTS
    for row in range(first, first + clusters.size[g]):
        d = sub(load3(clusters.point, row), p)
        if dot(d, d) <= (SAME_POINT * size) ** 2 and dot(n, load3(clusters.normal, row)) > ALIKE:
            shallower = gap - clusters.gap[row]
            same = abs(shallower) <= SAME_GAP * size
            if (same and feature < clusters.feature[row]) or (not same and shallower < 0.0):
                put(clusters, row, touch, feature, triangle)
            return
    if clusters.size[g] == CLUSTER_POINTS:
        thin_out(clusters, g, size, limit, spare)
    put(clusters, first + clusters.size[g], touch, feature, triangle)
    clusters.size[g] += 1


@kernel
def outermost_of(clusters: Clusters, g: int, t1: Vec3, t2: Vec3, size: float) -> int:
    """Number of the contact to start with: of the deepest ones that which lies out on one side.

    One in the middle of a flat piece would waste a place; it could also hide the end of a line.
    """
    slack = SAME_GAP * size
    first = g * CLUSTER_POINTS
    least = clusters.gap[deepest_of(clusters, g)]
    best = 0
    farthest = -math.inf
    for i in range(clusters.size[g]):
        p = load3(clusters.point, first + i)
        # a side that no grid runs along
        out = dot(t1, p) + 0.3819660112501051 * dot(t2, p)
        if clusters.gap[first + i] <= least + slack and out > farthest + slack:
            farthest = out
            best = i
    return best


@kernel
def thin_out(clusters: Clusters, g: int, size: float, limit: float, spare: Patch) -> None:
    """Keep four contacts of group g."""
    first = g * CLUSTER_POINTS
    count = clusters.size[g]
    _, t1, t2 = frame_of(load3(clusters.axis, g))
    # choose_four takes the first of the deepest: contact `start` stands at 0, and 0 in its place
    start = outermost_of(clusters, g, t1, t2, size)
    for i in range(count):
        row = first + (start if i == 0 else 0 if i == start else i)
        p = load3(clusters.point, row)
        spare.candidate[i, 0] = dot(t1, p)
        spare.candidate[i, 1] = dot(t2, p)
        spare.candidate[i, 3] = clusters.gap[row]
        spare.feature[i] = clusters.feature[row]
    kept = choose_four(spare, count, size, limit)
    for k in range(kept):
        i = spare.chosen[k]
        spare.chosen[k] = start if i == 0 else 0 if i == start else i
    # to the front: by number first, so that no place is overwritten before it has moved
    for k in range(kept):
        for j in range(k + 1, kept):
            if spare.chosen[j] < spare.chosen[k]:
                low = spare.chosen[j]
                spare.chosen[j] = spare.chosen[k]
                spare.chosen[k] = low
    for k in range(kept):
        move(clusters, first + spare.chosen[k], first + k)
    clusters.size[g] = kept


@kernel
def deepest_of(clusters: Clusters, g: int) -> int:
    """Row of the contact of least gap of group g, or -1 if it has none."""
    first = g * CLUSTER_POINTS
    best = -1
    for row in range(first, first + clusters.size[g]):
        if best < 0 or clusters.gap[row] < clusters.gap[best]:
            best = row
    return best


@kernel
def sort_groups(clusters: Clusters) -> None:
    """clusters.order: groups by their least gap, the largest first; equal ones as they came."""
    for g in range(clusters.used[0]):
        gap = clusters.gap[deepest_of(clusters, g)]
        j = g
        while j > 0 and clusters.gap[deepest_of(clusters, clusters.order[j - 1])] < gap:
            clusters.order[j] = clusters.order[j - 1]
            j -= 1
        clusters.order[j] = g


@kernel
def drop_resolved(clusters: Clusters, pair: Pair, meshes: Meshes, size: float) -> None:
    """Drop contacts with triangles that the way out of a less deep group frees as well.

    Group a asks for a move of depth_a = max(-gap_a, 0) along d_a. A triangle T is free after it if
    min_solid d_a . x - max_T d_a . x >= -depth_a. Where a box hangs over the rim of a mesh it
    touches the top by a hair, and all of it lies behind the side: the top comes first and frees
    the side.
    """
    slack = SAME_GAP * size
    sort_groups(clusters)
    for k in range(clusters.used[0]):
        a = clusters.order[k]
        deepest = deepest_of(clusters, a)
        if deepest < 0:
            continue
        d = load3(clusters.normal, deepest)
        gap = min(clusters.gap[deepest], 0.0)
        bottom = bottom_of(pair, d, radius_of(pair, 0))
        for j in range(k + 1, clusters.used[0]):
            b = clusters.order[j]
            first = b * CLUSTER_POINTS
            kept = 0
            for row in range(first, first + clusters.size[b]):
                free = False
                if clusters.gap[row] < gap - slack:
                    corners = triangle_of(pair, meshes, clusters.triangle[row])
                    free = bottom - top_of(corners, d) >= gap - slack
                if not free:
                    move(clusters, row, first + kept)
                    kept += 1
            clusters.size[b] = kept


@kernel
def choose_contacts(clusters: Clusters, size: float, limit: float, spare: Patch) -> int:
    """Rows that become contacts into clusters.chosen, ascending by feature; returns how many."""
    total = 0
    for g in range(clusters.used[0]):
        if clusters.size[g] > 4:
            thin_out(clusters, g, size, limit, spare)
        first = g * CLUSTER_POINTS
        for row in range(first, first + clusters.size[g]):
            j = total
            feature = clusters.feature[row]
            while j > 0 and clusters.feature[clusters.chosen[j - 1]] > feature:
                clusters.chosen[j] = clusters.chosen[j - 1]
                j -= 1
            clusters.chosen[j] = row
            total += 1
    return total
