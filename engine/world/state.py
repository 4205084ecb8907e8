"""The saved state: a restored State reproduces all later steps bit for bit."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct


@struct
class ContactCache(NamedTuple):
    """Contacts of the last step, kept to start the next solve; ordered by (key, feature order)."""

    count: NDArray  # (1,) int64
    key: NDArray  # (max,) int64          shape_a * n_shapes + shape_b
    feature: NDArray  # (max,) int64      features of the contact
    impulse_W: NDArray  # (max, 3) N s    on body B
    moment_W: NDArray  # (max, 3) N m s   on body B, of spinning and rolling friction
    touching: NDArray  # (max,) int64     1: no gap, or a normal impulse
    point_W: NDArray  # (max, 3) m        contact point
    normal_W: NDArray  # (max, 3) -       from A to B


# state.excluded: replaces the key of a pair whose joint broke; no pair has it
FREED = 2**62

# state.velocities_changed: nothing was set since the last step; velocities were; targets of motors
# that drive at once were; bodies may pass through others before the next kick
VELOCITIES_KEPT, VELOCITIES_SET, DRIVES_SET, MAY_PASS = 0, 1, 2, 3

# rows of state.tree_bias_acceleration: predicted before the next kick; change by a kick; after and
# before the last kick; mean of the last step, with all forces
BIAS_AHEAD, BIAS_CHANGE, BIAS_BEHIND, BIAS_BEFORE, BIAS_MEAN, N_BIAS = 0, 1, 2, 3, 4, 5

# state.ledger
(LEDGER_WORK_IN, LEDGER_FRICTION, LEDGER_IMPACT, LEDGER_DAMPING, LEDGER_CORRECTION, N_LEDGER) = (
    range(6)
)

# state.extremes
(
    EXTREME_KINETIC,
    EXTREME_DRIFT,
    EXTREME_BALANCE,
    EXTREME_LINEAR,
    EXTREME_ANGULAR,
    EXTREME_JOINT_POSITION,
    EXTREME_JOINT_ANGLE,
    EXTREME_PENETRATION,
    EXTREME_RESIDUAL,
    EXTREME_COULOMB,
    EXTREME_CONTACTS,
    SUM_ITERATIONS,
    FIRST_ENERGY,
    FIRST_MOMENTUM,
) = range(14)
# after the six first momenta: energy that scaling velocities added [J], see accounting/returned.py
RETURNED_SUM, RETURNED_NET, RETURNED_LARGEST, RETURNED_TIME, FLIGHT_SUM = range(19, 24)


@struct
class State(NamedTuple):
    """Everything that evolves; arrays over bodies end with the world."""

    time: NDArray  # (1,) s
    step: NDArray  # (1,) int64           steps done
    gravity_W: NDArray  # (3,) m/s^2
    velocities_changed: NDArray  # (1,) int64  since the last step: VELOCITIES_...
    p_WB: NDArray  # (n, 3) m             centre of mass
    q_WB: NDArray  # (n, 4) -             body axes -> W
    v_WB_W: NDArray  # (n, 3) m/s         of the centre of mass
    w_WB_W: NDArray  # (n, 3) rad/s
    L_conserved: NDArray  # (n, 3) N m s      angular momentum about the centre of mass, conserved by the last drift
    w_drifted: NDArray  # (n, 3) rad/s      angular velocity at the end of that drift; if w_WB_W differs, a kick followed
    link_inertia: (
        NDArray  # (n, 6) kg m^2  added to taut links in the last kick, W: xx, yy, zz, xy, xz, yz
    )
    joint_q: (
        NDArray  # (j, 3) m or rad   joint coordinates, continuous angles; ball: swing and twist
    )
    joint_lam: NDArray  # (j, 22) N s or N m s  impulses of the joint's row slots in the last step
    broken: NDArray  # (j, 2) s, N        time and force (gear: N m) of breaking; nan: not broken
    twist: NDArray  # (f,) rad            of torsion springs, continuous angles
    excluded: NDArray  # (e,) int64       ascending keys a * n_bodies + b, a < b: bodies that must not touch, once for each joint that says so
    motor_target: NDArray  # (j, 3)       m, rad or per s  commanded target; nan: that of the scene
    motor_max_force: NDArray  # (j, 3)    N or N m  commanded force bound; nan: that of the scene
    applied: NDArray  # (n, 7)            commanded wrench: force N, torque N m about the centre of mass, until time s
    grab_body: NDArray  # (1,) int64      -1: no body is grabbed
    grab_point_B: NDArray  # (3,) m       from the centre of mass, body axes
    grab_target_W: NDArray  # (3,) m
    ledger: NDArray  # (5,) J             cumulative work by account, LEDGER_...
    momentum_in: (
        NDArray  # (6,) N s, N m s  cumulative external impulse, linear then about the origin
    )
    elastic: NDArray  # (1,) J            stored in compliant contacts at the end of the last step
    extremes: NDArray  # (72 + 25 j + 9 f + 97 n,)  J, N s, m, rad, m/s  largest values so far, EXTREME_...; limits and where they were exceeded: accounting/crossings.py
    still_steps: (
        NDArray  # (n,) int64 -     successive steps in which the body was slow and undisturbed
    )
    asleep_with: (
        NDArray  # (n,) int64 -     first body of the island that fell asleep together, -1: awake
    )
    woken: NDArray  # (1,) int64 -           1: `resting` still holds contacts of woken bodies
    present: NDArray  # (n,) int64           1; 0: absent, where it appears next, without velocity
    presence_changed: (
        NDArray  # (1,) int64 -           1: bodies appeared or vanished since the last step
    )
    tree_q: NDArray  # (c,) m, rad or -   coordinates of trees (world/tree.py)
    tree_qd: NDArray  # (v,) m/s or rad/s generalised velocities
    tree_bias_acceleration: NDArray  # (5, v) m/s^2, rad/s^2  accelerations of free flight: BIAS_..., guesses for the next step
    triggers: NDArray  # (t, 5) -, -, s, m or rad  side of the value, times fired, last time, farthest: FIRED_...
    contacts: ContactCache
    resting: ContactCache  # of sleeping bodies, moved to `contacts` when they wake; no room without sleeping
