"""Scratch of contact detection; invalid between steps, except for the tree and its pairs.

These are a cache between steps, whose content does not affect results.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.model import Shapes

# Columns of `solids`: one posed shape per row, so that a pair is one small array.
KIND = 0  # SPHERE ... MESH
SIZE = 1  # 1:4 m, as Shapes.size
POSITION = 4  # 4:7 m, origin of S; from the world origin, in a Pair from the origin of side 0
ROTATION = 7  # 7:16, R_WS row by row
POINT_START = 16  # convex: first vertex in `points`; mesh: its number in Meshes
POINT_COUNT = 17
FACE_START = 18  # convex: first face
FACE_COUNT = 19
RADIUS = 20  # m, sphere and capsule are a core (point, segment) with this thickness; others 0
BOUND = 21  # m, radius of a sphere about the origin of S
N_FIXED = 22  # columns of a pair's pose and size; the motion of the shape follows
VELOCITY = 22  # 22:25 m/s, of the body's centre of mass
TURNING = 25  # 25:28 rad/s, of the body
CENTRE = 28  # 28:31 m, the body's centre of mass
REACH = 31  # m, largest displacement of any point of the shape in the step
N_COLUMNS = 32

# Vertices of the polygon that represents a round cap, which faces directions with this cosine.
CAP_CORNERS, CAP_FACES = 8, math.sqrt(0.5)
# The `feature` of the contact at the pair of nearest points.
NEAREST = 4095
NEAREST_FEATURE = (NEAREST << 13) | NEAREST

MAX_POLYTOPE_POINTS = 256

# Groups of contacts of similar normals with one mesh, and contacts of each before its reduction.
MAX_GROUPS = 12
CLUSTER_POINTS = 48
# Pending nodes of a tree traversal: enough for 2^60 triangles.
TREE_DEPTH = 64


@struct
class Pair(NamedTuple):
    """Two shapes as input of the narrow phase: world axes, relative to the origin of side 0."""

    solids: NDArray  # (3, N_COLUMNS)  a triangle of a mesh is side 1, the mesh itself row 2
    points: NDArray  # (k, 3) m   hull vertices of all shapes from their own origin, world axes
    cosine: NDArray  # (2, 3, 3) -  box against box: products of their axes, and their sizes


@struct
class Faces(NamedTuple):
    """Faces of the hulls, as in Shapes."""

    normal: NDArray  # (f, 3) -        in S
    loop_start: NDArray  # (f,) int64
    loop_count: NDArray  # (f,) int64
    loop: NDArray  # (l,) int64


@struct
class Polytope(NamedTuple):
    """Inner polytope of the difference A - B, expanded until its nearest face is on the surface."""

    vertex: NDArray  # (v, 9) m    a - b, a, b
    face: NDArray  # (f, 3) int64  vertex numbers, counter-clockwise from outside
    plane: NDArray  # (f, 4)       outward unit normal, offset [m]
    edge: NDArray  # (e, 2) int64  horizon of the newest vertex


@struct
class Patch(NamedTuple):
    """Overlap of two features, projected along the normal; candidates for contacts."""

    polygon: NDArray  # (2, c, 3) m    corners of each side's feature
    flat: NDArray  # (2, c, 3) m       subject while it is clipped: x, y, height along the normal
    edge: NDArray  # (2, c) int64      label of the edge that starts at the corner
    outline: NDArray  # (c, 2) m       x, y of the side that clips
    candidate: NDArray  # (c, 4) m     x, y, middle height, gap
    feature: NDArray  # (c,) int64
    chosen: NDArray  # (4,) int64      candidates that become contacts
    share: NDArray  # (2,) m^2, m      area and length of the overlap per contact


@struct
class Reduction(NamedTuple):
    """Contacts of one solid with one mesh, in groups of similar normals, or with a hollow shape."""

    stack: NDArray  # (d,) int64         pending nodes of the tree
    used: NDArray  # (1,) int64          groups
    axis: NDArray  # (g, 3) -            normal of the first contact of each
    size: NDArray  # (g,) int64          contacts in each; contact i of group g is row g p + i
    point: NDArray  # (g p, 3) m         midpoint between the surfaces, from the solid's origin, W
    normal: NDArray  # (g p, 3)          from the mesh to the solid, W
    gap: NDArray  # (g p,) m
    feature: NDArray  # (g p,) int64
    triangle: NDArray  # (g p,) int64    of a hollow shape 1: becomes a contact, -1: cannot
    order: NDArray  # (g,) int64         groups, the least deep first
    chosen: NDArray  # (4 g,) int64      rows that become contacts


@struct
class Sweep(NamedTuple):
    """Bounds of this step, and the pairs whose bounds overlap."""

    lower: NDArray  # (m, 3) m
    upper: NDArray  # (m, 3) m
    ball: NDArray  # (m, 4) m           centre, radius of the bounding sphere of the shape and its motion
    motion: NDArray  # (m, 3) m         of the body's centre of mass in the step
    pair_count: NDArray  # (2,) int64   pairs kept, pairs found
    pair_a: NDArray  # (max_pairs,) int64
    pair_b: NDArray  # (max_pairs,) int64
    fresh_a: NDArray  # (max_pairs,) int64  new pairs, before they are merged with the others
    fresh_b: NDArray  # (max_pairs,) int64
    sort_start: NDArray  # (m + 1,) int64


@struct
class Tree(NamedTuple):
    """Boxes kept from step to step, see collision/broad/aabb_tree.py; leaves are shapes, then come inner nodes."""

    box: NDArray  # (2 m, 8) m, m^2     lower corner, upper corner, half the surface, unused
    left: NDArray  # (2 m,) int64       child, -1: a leaf
    right: NDArray  # (2 m,) int64
    parent: NDArray  # (2 m,) int64     -1: the root
    moved: NDArray  # (m,) int64        1: has left its box in this step
    stack: NDArray  # (2 m + 2,) int64
    meta: NDArray  # (4,) int64         root, stamp, pairs cached, pairs beyond the capacity
    near_a: NDArray  # (max_pairs,) int64  a < b: shapes whose boxes intersect, ascending
    near_b: NDArray  # (max_pairs,) int64


@struct
class CollisionScratch(NamedTuple):
    """All arrays of contact detection."""

    solids: NDArray  # (m, N_COLUMNS) m, rad/s ...  posed shapes, by column
    points: NDArray  # (k + 3, 3) m
    pair: NDArray  # (3, N_COLUMNS) m, rad/s ...    Pair.solids
    cosine: NDArray  # (2, 3, 3) -
    simplex: NDArray  # (4, 9) m        a - b, a, b
    sweep: Sweep
    tree: Tree
    polytope: Polytope
    patch: Patch
    spare: Patch  # one group at a time, during its reduction
    reduction: Reduction


def patch_of(corners: int) -> Patch:
    """Arrays for features and candidates of `corners` corners."""
    return Patch(
        polygon=np.zeros((2, corners, 3)),
        flat=np.zeros((2, corners, 3)),
        edge=np.zeros((2, corners), np.int64),
        outline=np.zeros((corners, 2)),
        candidate=np.zeros((corners, 4)),
        feature=np.zeros(corners, np.int64),
        chosen=np.zeros(4, np.int64),
        share=np.zeros(2),
    )


def collision_scratch(shapes: Shapes, max_pairs: int, max_contacts: int) -> CollisionScratch:
    """Arrays for these shapes.

    Args:
        shapes: the shapes of the model.
        max_pairs: capacity of the broad phase, >= 1.
        max_contacts: capacity of the Contacts; a pair has up to four, so there is room for at
            least a quarter as many pairs.
    """
    m = len(shapes.kind)
    max_pairs = max(1, max_pairs, max_contacts // 4)
    longest = int(shapes.face_loop_count.max()) if len(shapes.face_loop_count) else 0
    corners = 2 * max(longest, CAP_CORNERS) + 8
    faces = 2 * MAX_POLYTOPE_POINTS + 8
    return CollisionScratch(
        solids=np.zeros((m, N_COLUMNS)),
        # the last three are the corners of the current triangle
        points=np.zeros((len(shapes.points) + 3, 3)),
        pair=np.zeros((3, N_COLUMNS)),
        cosine=np.zeros((2, 3, 3)),
        simplex=np.zeros((4, 9)),
        sweep=Sweep(
            lower=np.zeros((m, 3)),
            upper=np.zeros((m, 3)),
            ball=np.zeros((m, 4)),
            motion=np.zeros((m, 3)),
            pair_count=np.zeros(2, np.int64),
            pair_a=np.zeros(max_pairs, np.int64),
            pair_b=np.zeros(max_pairs, np.int64),
            fresh_a=np.zeros(max_pairs, np.int64),
            fresh_b=np.zeros(max_pairs, np.int64),
            sort_start=np.zeros(m + 1, np.int64),
        ),
        tree=Tree(
            box=np.zeros((2 * m, 8)),
            left=np.zeros(2 * m, np.int64),
            right=np.zeros(2 * m, np.int64),
            parent=np.zeros(2 * m, np.int64),
            moved=np.zeros(m, np.int64),
            stack=np.zeros(2 * m + 2, np.int64),
            meta=np.zeros(4, np.int64),
            near_a=np.zeros(max_pairs, np.int64),
            near_b=np.zeros(max_pairs, np.int64),
        ),
        polytope=Polytope(
            vertex=np.zeros((MAX_POLYTOPE_POINTS, 9)),
            face=np.zeros((faces, 3), np.int64),
            plane=np.zeros((faces, 4)),
            edge=np.zeros((3 * faces, 2), np.int64),
        ),
        patch=patch_of(corners),
        spare=patch_of(CLUSTER_POINTS),
        reduction=Reduction(
            stack=np.zeros(TREE_DEPTH, np.int64),
            used=np.zeros(1, np.int64),
            axis=np.zeros((MAX_GROUPS, 3)),
            size=np.zeros(MAX_GROUPS, np.int64),
            point=np.zeros((MAX_GROUPS * CLUSTER_POINTS, 3)),
            normal=np.zeros((MAX_GROUPS * CLUSTER_POINTS, 3)),
            gap=np.zeros(MAX_GROUPS * CLUSTER_POINTS),
            feature=np.zeros(MAX_GROUPS * CLUSTER_POINTS, np.int64),
            triangle=np.zeros(MAX_GROUPS * CLUSTER_POINTS, np.int64),
            order=np.zeros(MAX_GROUPS, np.int64),
            chosen=np.zeros(4 * MAX_GROUPS, np.int64),
        ),
    )
