"""The model, constant after the build: bodies, shapes, materials, joints, external forces."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.drives import Drives
from cardan.engine.world.tree import Tree
from cardan.engine.world.triggers import Triggers

STATIC, KINEMATIC, DYNAMIC = 0, 1, 2
# a sleeping dynamic body, and any that is absent; only in Motion.activity
ASLEEP, ABSENT = 3, 5

SPHERE, BOX, CAPSULE, CYLINDER, CONE, ELLIPSOID, CONVEX = 0, 1, 2, 3, 4, 5, 6
# hollow shapes, which are not convex
TUBE, RING, BOWL = 7, 8, 9
PLANE, MESH = 10, 11

# meshes.inside: no volume, the volume enclosed by the faces, or the region below them (-z)
INSIDE_NONE, INSIDE_CLOSED, INSIDE_BELOW = 0, 1, 2
# meshes.edge_kind: flat or concave edge, convex edge, border of the surface
EDGE_INNER, EDGE_CONVEX, EDGE_BORDER = 0, 1, 2

# triangles in a leaf of a mesh's tree
TREE_LEAF = 4

(BALL, HINGE, SLIDER, HINGE2, UNIVERSAL, FIXED, CYLINDRICAL, PLANAR, DISTANCE) = range(9)
SCREW, GEAR, RACK, COUPLING = 9, 10, 11, 12
# Joints.loop of joints that are in no set
NO_LOOP, LARGE = -1, -2

MOTOR_NONE, MOTOR_VELOCITY, MOTOR_POSITION, MOTOR_FORCE = 0, 1, 2, 3

FORCE_SPRING, FORCE_TORSION, FORCE_WRENCH, FORCE_DRAG, FORCE_POINT_GRAVITY = 0, 1, 2, 3, 4


@struct
class Bodies(NamedTuple):
    """Mass properties; the last element is the world."""

    kind: NDArray  # (n,) int64                 STATIC, KINEMATIC or DYNAMIC
    mass: NDArray  # (n,) kg                    0 unless dynamic
    inverse_mass: NDArray  # (n,) 1/kg          0 unless dynamic
    attracting_mass: (
        NDArray  # (n,) kg         by which point gravity acts; also of static and kinematic bodies
    )
    inertia_B: (
        NDArray  # (n, 3, 3) kg m^2      about the centre of mass, body axes; 0 unless dynamic
    )
    inverse_inertia_B: NDArray  # (n, 3, 3) 1/(kg m^2)  0 unless dynamic
    com_B: NDArray  # (n, 3) m                  centre of mass from the body origin, body axes
    span: NDArray  # (n,) m                     extent of the mechanism that it is part of, at most 1; 0 unless dynamic
    node: NDArray  # (n,) int64                 its node in Tree, -1: not part of a tree
    mechanism: (
        NDArray  # (n,) int64            number of the set of dynamic bodies that joints connect
    )
    mass_in_all: NDArray  # (n,) kg             of its mechanism; inf unless dynamic, or if a joint holds that to others


@struct
class Shapes(NamedTuple):
    """Collision geometry. A shape's own frame is S; planes fill z <= 0 of S."""

    kind: NDArray  # (m,) int64        SPHERE ... MESH
    body: NDArray  # (m,) int64        body it belongs to
    number: (
        NDArray  # (m,) int64      which shape of its body in the scene; pieces of a mesh share one
    )
    p_BS: NDArray  # (m, 3) m          origin of S from the body's centre of mass, body axes
    q_BS: NDArray  # (m, 4) -          S -> body axes
    size: NDArray  # (m, 3) m          sphere (r,0,0); box half edges; capsule, cylinder, cone (r, half length, 0); ellipsoid radii; tube (outer r, half length, inner r); ring (major r, minor r, 0); bowl (outer r, angle [rad], inner r); mesh half edges of its bounds
    bounding_radius: NDArray  # (m,) m  of a sphere about the origin of S; inf for planes
    material: NDArray  # (m,) int64    index into the tables of Materials
    group: NDArray  # (m,) int64       bits of the groups of this shape
    mask: NDArray  # (m,) int64        bits of the groups it may touch; a pair needs both masks
    point_start: NDArray  # (m,) int64   convex: first hull vertex in `points`
    point_count: NDArray  # (m,) int64   convex: number of hull vertices, 0 for others
    face_start: NDArray  # (m,) int64    convex: first face
    face_count: NDArray  # (m,) int64    convex: number of (merged, planar) faces
    points: NDArray  # (k, 3) m          hull vertices in S
    face_normal: NDArray  # (f, 3) -     outward unit normals in S
    face_offset: NDArray  # (f,) m       normal . x = offset on the face
    face_loop_start: NDArray  # (f,) int64  first entry in `face_loop`
    face_loop_count: NDArray  # (f,) int64  vertices of the face
    face_loop: NDArray  # (l,) int64     vertex numbers (from point_start), counter-clockwise seen from outside
    mesh: NDArray  # (m,) int64          index in Meshes, -1 for other kinds


@struct
class Meshes(NamedTuple):
    """Triangle surfaces on static or kinematic bodies, each with a tree of bounds.

    The tree of mesh k is complete: nodes node_start[k] + 0 (the root), children of node i are
    2 i + 1 and 2 i + 2; the nodes from first_leaf[k] on are leaves of TREE_LEAF triangles each.
    """

    inside: NDArray  # (k,) int64        INSIDE_...
    node_start: NDArray  # (k,) int64
    first_leaf: NDArray  # (k,) int64    number of nodes above the leaves
    leaf_start: NDArray  # (k,) int64    first entry in `leaf`
    node: NDArray  # (n, 6) m            least and largest x, y, z of a node, in S; empty: inf, -inf
    leaf: NDArray  # (l,) int64          triangles of the leaves, -1: none
    vertex: NDArray  # (v, 3) m          in S
    vertex_normal: NDArray  # (v, 3) -   sum of the normals around, weighted by angle; not unit
    ring_start: NDArray  # (v + 1,) int64  first neighbour of each vertex in `ring`
    ring: NDArray  # (r,) int64          vertices that share an edge
    corner: NDArray  # (t, 3) int64      vertices of each triangle, counter-clockwise from outside
    normal: NDArray  # (t, 3) -          outward unit normals in S
    neighbour: NDArray  # (t, 3) int64   triangle beyond the edge from corner k to k + 1, -1: none
    edge_kind: NDArray  # (t, 3) int64   EDGE_... of that edge
    region: NDArray  # (t,) int64        number of the flat region, from 0 in each mesh
    curvature: (
        NDArray  # (t, 6) 1/m          curvature of a smooth hollow surface, xx yy zz xy xz yz in S
    )
    curvature_middle: NDArray  # (t, 3) m     where it touches the triangle, in S
    curvature_rise: NDArray  # (t,) m         its largest distance from the triangle; 0: none


@struct
class Materials(NamedTuple):
    """Pair tables, symmetric, and the motion of each surface."""

    friction: NDArray  # (k, k) -       Coulomb mu
    static_friction: NDArray  # (k, k) -  mu while surfaces stick; not below `friction`
    restitution: NDArray  # (k, k) -    0 to 1
    rolling: NDArray  # (k, k) m        lever arm of rolling friction
    spinning: NDArray  # (k, k) m       lever arm of friction about the normal
    compliance: NDArray  # (k, k) m per N   0: rigid
    damping: NDArray  # (k, k) N s/m    of a compliant contact
    foundation: NDArray  # (k, k) m^3 per N  depth per pressure; 0: rigid
    foundation_damping: NDArray  # (k, k) N s/m^3  pressure per speed of a foundation
    surface_velocity_B: (
        NDArray  # (k, 3) m/s      velocity of the surface relative to its body, body axes
    )


@struct
class Joints(NamedTuple):
    """Joints from parent A to child B; arrays (j, 3) have one column per coordinate."""

    kind: NDArray  # (j,) int64         BALL ... COUPLING
    body_a: NDArray  # (j,) int64       parent
    body_b: NDArray  # (j,) int64       child
    anchor_A: NDArray  # (j, 3) m       from A's centre of mass, A's axes
    anchor_B: NDArray  # (j, 3) m       from B's centre of mass, B's axes
    axis_A: NDArray  # (j, 3) -         first axis s_i, A's axes; ball: of the cone; distance: the line at the start
    tangent1_A: NDArray  # (j, 3) -     t1, t2, s_i: right-handed, A's axes; ball: the scene's x and y; distance: t1 the axis of A's wheel, t2 from its middle to the cable
    tangent2_A: NDArray  # (j, 3) -
    axis_B: NDArray  # (j, 3) -         the first axis in B; hinge2, universal, gear: the second axis s_j in B; rack: in W; distance: the axis of B's wheel
    q_AB0: NDArray  # (j, 4) -          orientation of B in A where the coordinates are zero
    q_WA0: NDArray  # (j, 4) -          gear, rack: orientation of A where its rotation is zero
    q_WB0: NDArray  # (j, 4) -          gear: orientation of B where its rotation is zero
    angle0: NDArray  # (j,) rad         hinge2: angle between the axes to keep; distance: length [m]; rack: travel of B at the start [m]; coupling: offset
    wheel: NDArray  # (j, 2) m          distance: radius of the wheel at the anchor of A, of B; 0: a point
    ratio: (
        NDArray  # (j,) -            gear: rotation of B per rotation of A; rack, screw: m per rad
    )
    zero2_A: NDArray  # (j, 3) -        hinge2, universal: s_j at zero coordinate, A's axes (measures the first angle)
    zero1_B: NDArray  # (j, 3) -        hinge2, universal: s_i at zero coordinate, B's axes (measures the second angle); distance: from the middle of B's wheel to the cable
    loop: NDArray  # (j,) int64         first joint of the set of loop joints it is part of; NO_LOOP; LARGE: in a loop without a set
    strung: NDArray  # (j,) int64       1: bodies pull at the joint and turn about it, as in chains, ropes and nets
    reaction_length: (
        NDArray  # (j,) m  a torque of so many N m counts as 1 N where least reactions are sought
    )
    excluded: (
        NDArray  # (j,) int64     key of its pair of bodies in State.excluded; -1: they may touch
    )
    erp: NDArray  # (j,) -              share of the position error removed per step
    cfm: NDArray  # (j,) 1/kg or 1/(kg m^2)  compliance on the diagonal of equality rows
    inverse_mass: NDArray  # (j, 2) 1/kg, 1/(kg m^2)  upper bounds of J M^-1 J^T for a displacement of the anchor, for a rotation
    limit_on: NDArray  # (j, 3) int64   1 if limited; ball: swing, twist
    limit_lower: NDArray  # (j, 3) m or rad
    limit_upper: NDArray  # (j, 3) m or rad
    limit_restitution: NDArray  # (j, 3) -
    limit_stiffness: NDArray  # (j, 3, 3) N/m ... or N m/rad ...: k1 k2 k3 of each stop
    limit_damping: NDArray  # (j, 3) N s/m or N m s/rad  no stiffness and no damping: hard
    motor_kind: NDArray  # (j, 3) int64  MOTOR_NONE ... MOTOR_FORCE
    motor_table: NDArray  # (j, 3) int64 which target of Targets
    motor_max_force: NDArray  # (j, 3) N or N m
    motor_max_speed: NDArray  # (j, 3) m/s or rad/s  of a position motor without stiffness
    motor_stiffness: (
        NDArray  # (j, 3, 3) N/m ... or N m/rad ...: k1 k2 k3; 0: removes erp of the error per step
    )
    motor_damping: NDArray  # (j, 3) N s/m or N m s/rad
    motor_inverse_mass: NDArray  # (j, 3) 1/kg or 1/(kg m^2)  of a drive to a position: J M^-1 J^T at the start, all other joints locked
    friction: NDArray  # (j,) N or N m  friction bound of each free motion
    damping: NDArray  # (j,) N s/m or N m s/rad
    armature: NDArray  # (j,) kg or kg m^2  of rotors, each free motion
    spring_on: NDArray  # (j,) int64
    spring_k: NDArray  # (j, 3) N/m ... or N m/rad ...: force = k1 x + k2 |x| x + k3 x^3
    spring_damping: NDArray  # (j,) N s/m or N m s/rad
    spring_rest: NDArray  # (j,) m or rad
    term_start: NDArray  # (j + 1,) int64  first term of each coupling, then the end; no terms for other joints
    term_joint: NDArray  # (t,) int64   joint whose coordinate a term multiplies
    term_axis: NDArray  # (t,) int64    which of its coordinates
    term_factor: NDArray  # (t,)        unit of the offset per m or rad
    term_piece: NDArray  # (t + 1,) int64  first piece of the curve of each, then the end; none: the coordinate itself
    term_period: NDArray  # (t,) m or rad  of a curve that repeats; 0: it does not
    piece: NDArray  # (k, 5) m or rad, unit of the curve ...  where a piece begins, and its cubic from there: constant first
    breaking_force: (
        NDArray  # (j,) N   reaction beyond which the joint breaks (gear: N m); inf: never
    )


@struct
class Targets(NamedTuple):
    """Time-dependent quantities: table i is the points start[i] ... start[i] + count[i] - 1."""

    start: NDArray  # (t,) int64
    count: NDArray  # (t,) int64        1: constant
    is_step: NDArray  # (t,) int64      1: holds the last value; 0: linear in between
    times: NDArray  # (p,) s
    values: NDArray  # (p,)             unit of the user


@struct
class PrescribedMotion(NamedTuple):
    """Poses of kinematic bodies over time, in pieces; the last piece of each body is at rest.

    In a piece, with s the time since its start:
    p_WB = p0 + p1 s + p2 s^2 + p3 s^3,  q_WB = q0 exp(d1 s + d2 s^2 + d3 s^3)
    """

    body: NDArray  # (m,) int64             bodies that move so
    start: NDArray  # (m + 1,) int64        first piece of each, then the end
    time: NDArray  # (k,) s                 start of each piece
    position: NDArray  # (k, 4, 3) m, m/s ...   p0 ... p3, W
    orientation: NDArray  # (k, 4) -        q0
    turning: NDArray  # (k, 3, 3) rad/s ...     d1, d2, d3, axes of q0


@struct
class Forces(NamedTuple):
    """External force elements."""

    kind: NDArray  # (f,) int64         FORCE_SPRING ...
    body_a: NDArray  # (f,) int64       parent, or the body it acts on
    body_b: NDArray  # (f,) int64       child
    anchor_A: NDArray  # (f, 3) m       from the centre of mass, body axes; torsion: axis in A
    anchor_B: NDArray  # (f, 3) m
    stiffness: NDArray  # (f, 3) N/m ... or N m/rad ...: k1 k2 k3
    damping: NDArray  # (f,) N s/m or N m s/rad
    rest: NDArray  # (f,) m or rad
    inverse_mass: NDArray  # (f,) 1/kg or 1/(kg m^2)  springs: upper bound of J M^-1 J^T in any pose
    q_AB0: NDArray  # (f, 4) -          torsion: orientation of B in A at angle zero
    table: NDArray  # (f, 6) int64      wrench: targets of force xyz and torque xyz
    body_axes: NDArray  # (f,) int64    wrench: 1 if force and torque are given in body axes
    coefficient: NDArray  # (f, 2)      drag: N s/m linear, N s^2/m^2 quadratic; point gravity: constant m^3/(kg s^2), softening m


@struct
class Model(NamedTuple):
    """All constant data."""

    bodies: Bodies
    shapes: Shapes
    materials: Materials
    joints: Joints
    targets: Targets
    forces: Forces
    meshes: Meshes
    tree: Tree
    prescribed: PrescribedMotion
    triggers: Triggers
    drives: Drives
