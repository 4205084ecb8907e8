"""A convex solid that is followed along a mesh during a step: what it meets, and how deep."""

from __future__ import annotations

from cardan.engine.collision.mesh.aabb_tree import next_leaf, start_walk, triangle_meets
from cardan.engine.collision.mesh.edges import nearest_to_triangle
from cardan.engine.collision.mesh.swept_bounds import ImpactWindow, reach_box, write_rows
from cardan.engine.collision.mesh.triangle import (
    MESH_ROW,
    clear_triangle,
    triangle_of,
    write_triangle,
)
from cardan.engine.collision.narrow.conservative_advancement import move_side, put_back
from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.collision import POINT_START, CollisionScratch, Pair
from cardan.engine.world.model import TREE_LEAF, Model


@kernel
def meets_after(
    model: Model,
    scratch: CollisionScratch,
    sides: tuple[int, int],
    reach: ImpactWindow,
    depth: float,
    t: float,
) -> bool:
    """Whether the solid is deeper in any triangle of the mesh after a time t, at most reach's h.

    sides = (solid, mesh)
    """
    meshes, (solid, mesh) = model.meshes, sides
    origin = write_rows(scratch, solid, mesh)
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    clear_triangle(pair)
    m = int(scratch.solids[mesh, POINT_START])
    # of all the step, in the axes of the mesh
    box, stack = reach_box(scratch, pair, sides, reach), scratch.reduction.stack
    move_side(model.shapes, scratch, 0, solid, t, origin)
    move_side(model.shapes, scratch, MESH_ROW, mesh, t, origin)
    meets = False
    start_walk(stack)
    leaf = next_leaf(meshes, m, box, stack)
    while leaf >= 0 and not meets:
        for k in range(leaf, leaf + TREE_LEAF):
            i = meshes.leaf[k]
            if i >= 0 and triangle_meets(meshes, i, box):
                corners = triangle_of(pair, meshes, i)
                write_triangle(pair, corners)
                if nearest_to_triangle(scratch, pair, corners, 0.0)[0] < -depth:
                    meets = True
                    break
        leaf = next_leaf(meshes, m, box, stack)
    put_back(model.shapes, scratch, sides)
    return meets
