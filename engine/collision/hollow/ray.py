"""Rays against hollow shapes, by marching along the signed distance."""

from __future__ import annotations

import math

from cardan.engine.collision.hollow.distance import hollow_distance
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add_scaled, dot

# steps at most, and the distance that counts as hit, as a share of the bounding radius
STEPS, NEAR = 1024, 1e-12


@kernel
def ray_hollow(kind: int, size: Vec3, bound: float, o: Vec3, d: Vec3) -> tuple[float, Vec3]:
    """Distance from o along the unit vector d, and the normal there; inf: missed.

    No surface is nearer than the distance of a point: that far the ray may go at once.

    Source  Hart 1996, sphere tracing
    Check   tests/engine/collision/hollow/test_distance.py
    """
    closest = -dot(o, d)
    p = add_scaled(o, closest, d)
    room = bound * bound - dot(p, p)
    if room < 0.0:
        return (math.inf, d)
    t, last = max(0.0, closest - math.sqrt(room)), closest + math.sqrt(room)
    for _ in range(STEPS):
        if t > last:
            return (math.inf, d)
        gap, n, _edge = hollow_distance(kind, size, add_scaled(o, t, d))
        if gap <= NEAR * bound:
            return (t, n)
        t += gap
    return (math.inf, d)
