"""A convex solid that is followed along a mesh during a step: what it meets, and how deep."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.collision.mesh.aabb_tree import next_leaf, start_walk, triangle_meets
from cardan.engine.collision.mesh.edges import nearest_to_triangle
from cardan.engine.collision.mesh.swept_bounds import ImpactWindow, reach_box, write_rows
from cardan.engine.collision.mesh.triangle import (
    Triangle,
    clear_triangle,
    triangle_of,
    write_triangle,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import times_vector
from cardan.engine.spatial.rotation import exponential, matrix
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, load3_from, scale, sub
from cardan.engine.world.collision import (
    CENTRE,
    POINT_START,
    TURNING,
    VELOCITY,
    CollisionScratch,
    Pair,
)
from cardan.engine.world.model import TREE_LEAF, Meshes


@kernel
def ahead_of(solids: NDArray, i: int, p_W: Vec3, t: float) -> Vec3:
    """Where a point of the body of shape i is after a time t of its present motion."""
    c = load3_from(solids, i, CENTRE)
    turn = matrix(exponential(scale(t, load3_from(solids, i, TURNING))))
    moved = add_scaled(c, t, load3_from(solids, i, VELOCITY))
    return add(moved, times_vector(turn, sub(p_W, c)))


@kernel
def back_from(solids: NDArray, i: int, p_W: Vec3, t: float) -> Vec3:
    """The point of the body of shape i that is at p_W after a time t of its present motion."""
    c = load3_from(solids, i, CENTRE)
    turn = matrix(exponential(scale(-t, load3_from(solids, i, TURNING))))
    moved = add_scaled(c, t, load3_from(solids, i, VELOCITY))
    return add(c, times_vector(turn, sub(p_W, moved)))


@kernel
def triangle_after(
    scratch: CollisionScratch, sides: tuple[int, int], origin: Vec3, corners: Triangle, t: float
) -> Triangle:
    """A triangle of the mesh after a time t as the solid sees it, in the axes of the pair."""
    solid, mesh = sides
    a, b, c = corners
    a = ahead_of(scratch.solids, mesh, add(origin, a), t)
    b = ahead_of(scratch.solids, mesh, add(origin, b), t)
    c = ahead_of(scratch.solids, mesh, add(origin, c), t)
    return (
        sub(back_from(scratch.solids, solid, a, t), origin),
        sub(back_from(scratch.solids, solid, b, t), origin),
        sub(back_from(scratch.solids, solid, c, t), origin),
    )


@kernel
def meets_after(
    scratch: CollisionScratch,
    meshes: Meshes,
    sides: tuple[int, int],
    reach: ImpactWindow,
    depth: float,
    t: float,
) -> bool:
    """Whether the solid is deeper in any triangle of the mesh after a time t, at most reach's h.

    sides = (solid, mesh)
    """
    origin = write_rows(scratch, sides[0], sides[1])
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    clear_triangle(pair)
    m = int(scratch.solids[sides[1], POINT_START])
    box, stack = reach_box(scratch, pair, sides, reach), scratch.reduction.stack
    start_walk(stack)
    leaf = next_leaf(meshes, m, box, stack)
    while leaf >= 0:
        for k in range(leaf, leaf + TREE_LEAF):
            i = meshes.leaf[k]
            if i >= 0 and triangle_meets(meshes, i, box):
                corners = triangle_of(pair, meshes, i)
                corners = triangle_after(scratch, sides, origin, corners, t)
                write_triangle(pair, corners)
                if nearest_to_triangle(scratch, pair, corners, 0.0)[0] < -depth:
                    return True
        leaf = next_leaf(meshes, m, box, stack)
    return False
