"""Kinematic trees: the generalised coordinates of a scene and the scratch of their dynamics."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct

# tree.kind: motion of a node relative to its parent
NODE_FIXED, NODE_HINGE, NODE_SLIDER, NODE_SCREW, NODE_BALL, NODE_FREE = range(6)
# coordinates and generalised velocities of each kind
NODE_COORDINATES = (0, 1, 1, 1, 4, 7)
NODE_VELOCITIES = (0, 1, 1, 1, 3, 6)

# columns of TreeWork.invariants, of a tree before free flight: kinetic energy; momentum; angular momentum
# about the centre of mass of a floating tree, about the origin of W of one on the ground; mass and
# centre of mass
(
    INVARIANT_ENERGY,
    INVARIANT_LINEAR,
    INVARIANT_ANGULAR,
    INVARIANT_MASS,
    INVARIANT_CENTRE,
    N_INVARIANTS,
) = 0, 1, 4, 7, 8, 11

# tree.bond of trees that are tied: to themselves, afloat; to others, afloat together; to the ground
ALONE, AFLOAT, HELD = range(3)


@struct
class Tree(NamedTuple):
    """Elementary motions from parent to child; a joint with several of them has massless nodes.

    Nodes are ordered tree by tree, parents before children. A node's axes are those of its body, its
    origin is the body's centre of mass; a massless node has the axes of the body it leads to and
    its origin at the joint's anchor. Coordinates q: angle or displacement; of a ball joint a
    quaternion from the node's axes at zero; of a free root its position in W and its quaternion.
    Generalised velocities qd: of a ball joint the angular velocity relative to the parent in the
    node's own axes; of a free root its angular velocity and that of its origin, in its own axes.
    """

    kind: NDArray  # (k,) int64          NODE_...
    parent: NDArray  # (k,) int64        node, -1: the ground
    body: NDArray  # (k,) int64          -1: massless
    node: NDArray  # (n,) int64          Bodies.node
    joint: NDArray  # (k,) int64         joint of the scene, -1: none (free root)
    axis: NDArray  # (k,) int64          coordinate of that joint, -1: none of its own
    tree: NDArray  # (k,) int64          number of its tree
    inner: NDArray  # (j,) int64         1: this joint is in a tree and has no equations
    silent: NDArray  # (j,) int64        1: and has no other rows: no stop, motor, friction, spring
    stopped: NDArray  # (j,) int64       its node, if its only rows are stops of one coordinate; -1: others
    tied: NDArray  # (t,) int64          first of the trees tied to it by equations, if none is tied to a moving body; -1: none
    bond: NDArray  # (t,) int64          ALONE ...: what the trees tied to each other are; of others HELD
    start: NDArray  # (t + 1,) int64     first node of each tree
    floating: NDArray  # (t,) int64      1: its root is free; 0: it is fixed to the ground
    q_start: NDArray  # (k + 1,) int64   first coordinate of each node
    v_start: NDArray  # (k + 1,) int64   first generalised velocity of each node
    above: NDArray  # (v,) int64         next generalised velocity towards the root, -1: none
    run: NDArray  # (v,) int64           first generalised velocity of the consecutive chain that ends here
    q_PB0: NDArray  # (k, 4) -           node axes -> parent axes where the coordinate is zero
    anchor_P: NDArray  # (k, 3) m        from the parent's origin, parent axes
    anchor_B: NDArray  # (k, 3) m        from the node's origin, node axes
    axis_B: NDArray  # (k, 3) -          of hinge, slider, screw: node axes and parent axes at zero
    lead: NDArray  # (k,) m               of a screw, per rad
    armature: NDArray  # (v,) kg or kg m^2  rotor inertia of a generalised velocity
    mass: NDArray  # (k,) kg
    inertia_B: NDArray  # (k, 6) kg m^2  xx, yy, zz, xy, xz, yz about the origin, node axes


@struct
class TreeWork(NamedTuple):
    """Positions, velocities, forces and inertia of the nodes; invalid between steps."""

    q_WB: NDArray  # (k, 4) -            node axes -> W
    R: NDArray  # (k, 9) -               the same as a matrix, by rows
    p_WB: NDArray  # (k, 3) m            origin
    arm: NDArray  # (k, 3) m             from the parent's origin to the node's, W
    S: NDArray  # (v, 6) -, m            motion subspace of a generalised velocity: angular, linear at the node's origin, W
    V: NDArray  # (k, 6) rad/s, m/s      angular, linear at the origin, W
    A: NDArray  # (k, 6) rad/s^2, m/s^2  likewise; in responses to impulses changes of V
    velocity_product: NDArray  # (k, 6) rad/s^2, m/s^2  acceleration relative to the parent for constant generalised velocities
    F: NDArray  # (k, 6) N m, N          torque and force at the origin, W
    I_W: NDArray  # (k, 6) kg m^2        xx, yy, zz, xy, xz, yz about the origin, W
    IA: NDArray  # (k, 21) kg m^2, kg m, kg   articulated inertia: ang-ang 6, ang-lin 9, lin-lin 6
    U: NDArray  # (v, 6) kg m^2, kg     articulated inertia times S
    D: NDArray  # (v,) 1/(kg m^2), 1/kg  1/(S . U); 0: no inertia
    u: NDArray  # (v,) N or N m          generalised force minus S . bias force
    qdd: NDArray  # (v,) 1/s^2           generalised accelerations, unit of each velocity per s
    mean: NDArray  # (v,) 1/s            generalised velocities in the middle of a part of a drift
    began: NDArray  # (v,) 1/s           generalised velocities at the start of the step
    free: NDArray  # (v,) 1/s            generalised velocities after the kick of forces, without constraints
    fall: NDArray  # (v,) 1/s^2          generalised accelerations by gravity, unit of each coordinate per s^2
    drop: NDArray  # (k, 6) rad/s^2, m/s^2  accelerations of nodes by gravity, relative to free fall
    touched: NDArray  # (t,) int64       1: forces on this tree have not been applied yet; else 0
    paths: NDArray  # (1,) int64         number of rows whose paths are in Dense.path, in order, see trees/paths.py
    reaction: (
        NDArray  # (j, 6) N m, N   torque and force of inner joints on their child, at the anchor, W
    )
    invariants: NDArray  # (t, 11) J, kg m/s ...  invariants of free flight: INVARIANT_...
    found: NDArray  # (t, 11) J, kg m/s ...  the same at the end of free flight
    asked: NDArray  # (1,) int64        1: reactions of this step are required, it is the last one of a call
    loop_work: (
        NDArray  # (t,) J         work of loop equations in the kick, at the first of tied trees
    )
    lost: NDArray  # (t, 3) N m s        angular momentum about the origin that closing loops took from floating trees
    H: NDArray  # (v, v) kg m^2, kg      joint-space inertia, then its factor L; empty in a step
    S_root: NDArray  # (v, 6) -, m       S at the origin of the tree's first node; empty in a step


@struct
class Mobility(NamedTuple):
    """Inverse inertia M^-1 of bodies coupled by trees."""

    tree: Tree
    work: TreeWork
