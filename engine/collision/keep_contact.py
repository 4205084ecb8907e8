"""Which points of a pair become contacts."""

from __future__ import annotations

from cardan.engine.collision.motion import point_velocity
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, dot, store3, sub
from cardan.engine.world.collision import CollisionScratch
from cardan.engine.world.contacts import Contacts


@kernel
def may_close(
    scratch: CollisionScratch,
    ij: tuple[int, int],
    point: tuple[Vec3, Vec3, float],
    reach: tuple[float, float],
) -> bool:
    """Whether a gap is at most the margin, or becomes it within the step at the present speeds.

    point = (half way between the surfaces, normal from i to j, gap); reach = (margin, h)
    """
    p, n, gap = point
    margin, h = reach
    if gap <= margin:
        return True
    i, j = ij
    v_i, v_j = point_velocity(scratch.solids, i, p), point_velocity(scratch.solids, j, p)
    return bool(gap <= margin - dot(n, sub(v_j, v_i)) * h)


@kernel
def keep_point(
    scratch: CollisionScratch,
    ij: tuple[int, int],
    point: tuple[Vec3, Vec3, float, int],
    reach: tuple[float, float],
    contacts: Contacts,
) -> bool:
    """Append a contact if its gap may close within the step; beyond the capacity it is counted.

    point = (half way between the surfaces, normal from i to j, gap, feature); reach = (margin, h)
    """
    i, j = ij
    p, n, gap, feature = point
    if not may_close(scratch, ij, (p, n, gap), reach):
        return False
    c = contacts.count[0]
    if c < len(contacts.gap):
        contacts.shape_a[c] = i
        contacts.shape_b[c] = j
        contacts.gap[c] = gap
        contacts.facet[c] = -1
        contacts.struck[c] = 0
        contacts.feature[c] = feature
        store3(contacts.point_W, c, p)
        store3(contacts.normal_W, c, n)
        for k in range(2):
            contacts.patch[c, k] = scratch.patch.share[k]
        contacts.count[0] = c + 1
    else:
        contacts.dropped[0] += 1
    return True
