"""A moving pair of a solid and a mesh: bounds of the region reached within the step."""

from __future__ import annotations

from cardan.engine.collision.manifold.contact_reduction import add_touch
from cardan.engine.collision.mesh.aabb_tree import Box
from cardan.engine.collision.mesh.triangle import MESH_ROW, bottom_of
from cardan.engine.collision.motion import point_velocity
from cardan.engine.collision.narrow.solid import axis_of, position_of, radius_of
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, dot, load3_from, norm, scale, sub
from cardan.engine.world.collision import (
    BOUND,
    N_COLUMNS,
    POSITION,
    TURNING,
    CollisionScratch,
    Pair,
)

# (margin [m], largest gap that may close within the step [m], time step [s])
ImpactWindow = tuple[float, float, float]


@kernel
def write_rows(scratch: CollisionScratch, solid: int, mesh: int) -> Vec3:
    """Write the solid as side 0 and the mesh as row 2 of the pair; returns their origin in W."""
    origin = load3_from(scratch.solids, solid, POSITION)
    for k in range(N_COLUMNS):
        scratch.pair[0, k] = scratch.solids[solid, k]
        scratch.pair[MESH_ROW, k] = scratch.solids[mesh, k]
    for k in range(3):
        scratch.pair[0, POSITION + k] -= origin[k]
        scratch.pair[MESH_ROW, POSITION + k] -= origin[k]
    return origin


@kernel
def relative_velocity(scratch: CollisionScratch, sides: tuple[int, int], p_W: Vec3) -> Vec3:
    """Velocity of the solid's point at p_W relative to the mesh's [m/s]."""
    solid, mesh = sides
    v = point_velocity(scratch.solids, solid, p_W)
    return sub(v, point_velocity(scratch.solids, mesh, p_W))


@kernel
def reach_box(
    scratch: CollisionScratch, pair: Pair, sides: tuple[int, int], reach: ImpactWindow
) -> Box:
    """Bounds, in the mesh's axes, of the region that the solid may reach within the step.

    Its extent along each axis of the mesh, extended by the motion of its centre relative to the
    mesh, the margin and the rotations of both bodies.
    """
    margin, _, h = reach
    solid, mesh = sides
    origin = load3_from(scratch.solids, solid, POSITION)
    r = radius_of(pair, 0)
    bound = pair.solids[0, BOUND]
    turn = norm(load3_from(scratch.solids, solid, TURNING))
    turn += norm(load3_from(scratch.solids, mesh, TURNING))
    wide = margin + min(turn * h, 2.0) * bound
    motion = scale(h, relative_velocity(scratch, sides, origin))
    low = (0.0, 0.0, 0.0)
    high = (0.0, 0.0, 0.0)
    for k in range(3):
        e = axis_of(pair, MESH_ROW, k)
        from_mesh = dot(e, position_of(pair, MESH_ROW))
        along = dot(e, motion)
        least = bottom_of(pair, e, r) - from_mesh + min(along, 0.0) - wide
        most = dot(e, support(pair, 0, e)) + r - from_mesh + max(along, 0.0) + wide
        low = (
            least if k == 0 else low[0],
            least if k == 1 else low[1],
            least if k == 2 else low[2],
        )
        high = (
            most if k == 0 else high[0],
            most if k == 1 else high[1],
            most if k == 2 else high[2],
        )
    return (low, high)


@kernel
def drift_of(
    scratch: CollisionScratch,
    sides: tuple[int, int],
    x: Vec3,
    n: Vec3,
    gap: float,
    reach: ImpactWindow,
) -> Vec3:
    """Displacement of the solid's point x along the face until it reaches the plane [m].

    Zero within the margin, so that it has no effect on resting contacts.
    """
    margin, _, h = reach
    v = relative_velocity(scratch, sides, add(load3_from(scratch.solids, sides[0], POSITION), x))
    closing = -dot(n, v)
    if gap <= margin or closing <= 0.0:
        return (0.0, 0.0, 0.0)
    return scale(min(gap / closing, h), add_scaled(v, closing, n))


@kernel
def take(
    scratch: CollisionScratch,
    sides: tuple[int, int],
    touch: tuple[Vec3, Vec3, float],
    ids: tuple[int, int],
    reach: ImpactWindow,
) -> None:
    """Keep a contact whose gap may close within the step: gap <= margin + closing speed * h."""
    p, n, gap = touch
    solid = sides[0]
    origin = load3_from(scratch.solids, solid, POSITION)
    closing = -dot(n, relative_velocity(scratch, sides, add(origin, p)))
    if gap <= reach[0] + max(0.0, closing) * reach[2]:
        scales = (scratch.solids[solid, BOUND], reach[1])
        add_touch(scratch.reduction, touch, ids, scales, scratch.spare)
