"""Data of worlds side by side: arrays of lanes, one world a lane (compiler/lanes.py).

Names, shapes and units are those of Model, State and Workspace; where those have a float, these
have one of each world. Whole numbers are the structure of the model and the same in all worlds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.drives import Drives, DriveWork
from cardan.engine.world.model import Targets
from cardan.engine.world.tree import Tree, TreeWork


@struct
class LaneBodies(NamedTuple):
    """The part of Bodies that trees without contacts need; n bodies end with the world."""

    kind: NDArray  # (n,) int64
    mass: NDArray  # (n,) kg
    inertia_B: NDArray  # (n, 3, 3) kg m^2


@struct
class LaneJoints(NamedTuple):
    """The part of Joints that drives and stops of trees need."""

    kind: NDArray  # (j,) int64         HINGE ...
    inverse_mass: NDArray  # (j, 2) 1/kg, 1/(kg m^2)
    limit_lower: NDArray  # (j, 3) m or rad
    limit_upper: NDArray  # (j, 3) m or rad
    motor_kind: NDArray  # (j, 3) int64  MOTOR_NONE, MOTOR_POSITION with stiffness or MOTOR_FORCE
    motor_table: NDArray  # (j, 3) int64 which target of Targets
    motor_max_force: NDArray  # (j, 3) N or N m
    motor_stiffness: NDArray  # (j, 3, 3) N/m ... or N m/rad ...
    motor_damping: NDArray  # (j, 3) N s/m or N m s/rad
    motor_inverse_mass: NDArray  # (j, 3) 1/kg or 1/(kg m^2)
    damping: NDArray  # (j,) N s/m or N m s/rad
    spring_k: NDArray  # (j, 3) N/m ... or N m/rad ...
    spring_damping: NDArray  # (j,) N s/m or N m s/rad
    spring_rest: NDArray  # (j,) m or rad


@struct
class LaneForces(NamedTuple):
    """The part of Forces that wrenches need; there are no others."""

    body_a: NDArray  # (f,) int64         the body it acts on
    anchor_A: NDArray  # (f, 3) m         from the centre of mass, body axes
    table: NDArray  # (f, 6) int64        targets of force xyz and torque xyz
    body_axes: NDArray  # (f,) int64      1 if force and torque are given in body axes


@struct
class LaneBoxes(NamedTuple):
    """Boxes around m shapes; the frame of box i is A, its faces are across the axes of A."""

    body: NDArray  # (m,) int64            body it belongs to
    is_plane: NDArray  # (m,) int64        1: all that is below z = 0 of A
    centre_B: NDArray  # (m, 3) m          from the body's centre of mass, body axes; of a plane: a point of it
    R_BA: NDArray  # (m, 3, 3) -           A -> body axes
    half: NDArray  # (m, 3) m              half its edges; of a plane 0
    reach: NDArray  # (m,) m               largest distance of a point of the shape from the centre of mass
    pairs: NDArray  # (p, 2) int64         shapes that may touch; a plane is the first
    margin: NDArray  # (1,) m              gap up to which shapes are in contact


@struct
class LaneModel(NamedTuple):
    """The part of Model that trees without contacts need."""

    bodies: LaneBodies
    tree: Tree
    drives: Drives
    joints: LaneJoints
    forces: LaneForces
    targets: Targets  # times are the same in all worlds
    commanded: (
        NDArray  # (v,) int64       1: the motor of this rate follows `command`, not its target
    )
    command: NDArray  # (v,) m, rad, N or N m
    boxes: LaneBoxes


@struct
class LaneState(NamedTuple):
    """The part of State that trees without contacts change."""

    step: NDArray  # (1,) int64           steps done
    gravity_W: NDArray  # (3,) m/s^2
    p_WB: NDArray  # (n, 3) m
    q_WB: NDArray  # (n, 4) -
    v_WB_W: NDArray  # (n, 3) m/s
    w_WB_W: NDArray  # (n, 3) rad/s
    joint_q: NDArray  # (j, 3) m or rad
    joint_lam: NDArray  # (j, 22) N s or N m s  impulses of drives in the last step of a call
    ledger: NDArray  # (5,) J
    momentum_in: NDArray  # (6,) N s, N m s
    extremes: NDArray  # (m,) J, N s, m, m/s  as State.extremes
    tree_q: NDArray  # (c,) m, rad or -
    tree_qd: NDArray  # (v,) m/s or rad/s
    tree_bias_acceleration: NDArray  # (5, v) m/s^2, rad/s^2
    left: NDArray  # (1,) -               1: this world needs what lanes cannot do; else 0


@struct
class LanePlaces(NamedTuple):
    """Where boxes are: scratch."""

    centre_W: NDArray  # (m, 3) m
    R_AW: NDArray  # (m, 3, 3) -           W -> A: its rows are the axes of A
    carried: NDArray  # (m,) m             how far a point of the shape may move in a step


@struct
class LaneWork(NamedTuple):
    """The part of Workspace that trees without contacts need, and where boxes are."""

    tree: TreeWork
    drives: DriveWork
    velocity_old: NDArray  # (n, 6) rad/s, m/s  velocities of bodies before the kick
    booked: NDArray  # (n, 6) N m, N      wrenches of the scene on bodies, as Motion.booked
    places: LanePlaces


@struct
class LaneWorld(NamedTuple):
    """Everything that a step of W worlds reads and writes."""

    model: Any  # LaneModel, which kernels take in place of Model
    state: Any  # LaneState, which kernels take in place of State
    work: Any  # LaneWork, which kernels take in place of Workspace
    first: NDArray  # (1,) int64          where the numbers of body 0 are in extremes


@struct
class WorldRuns(NamedTuple):
    """Runs of n worlds of one model: plain floats, a row a world. f frames, u motors."""

    q: NDArray  # (n, c) m, rad or -         coordinates at the start
    qd: NDArray  # (n, v) m/s or rad/s
    controls: NDArray  # (n, t, u) m, rad, N or N m  targets of motors, each for the same time
    velocity: NDArray  # (u,) int64          generalised velocity of each motor
    extremes: NDArray  # (m,) J, N s, m, m/s State.extremes at the start, the same in all worlds
    frames: NDArray  # (f,) int64            steps after which a frame is kept, ascending; first 0
    kept_q: NDArray  # (n, f, c) m, rad or -  frames
    kept_qd: NDArray  # (n, f, v) m/s or rad/s
    records: NDArray  # (n, m) J, N s, m, m/s  State.extremes at the end, up to LIMITS
    ledger: NDArray  # (n, 5) J              at the end
    energy: NDArray  # (n, 2) J              kinetic and potential at the end
    left: NDArray  # (n,) int64              1: the world needs what lanes cannot do


@struct
class WorldBlock(NamedTuple):
    """All numbers of a world where each thread has a world of its own (compiler/world_arrays.py)."""

    all: NDArray  # (m,) kg, m, s, rad ...   of which the arrays of LaneWorld are parts
    start: NDArray  # (m,) kg, m, s, rad ... their values at the start, the same in all worlds
