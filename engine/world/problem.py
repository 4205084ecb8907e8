"""The constraint problem: the only interface between physics and solvers."""

from __future__ import annotations

import math
from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.crew import Crew
from cardan.engine.world.equations import Factor, Graph, KeptFactors
from cardan.engine.world.tree import Mobility

FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON = 0, 1, 2
# problem.sweep_bias_delta of swept contacts: it has been added to b
BIAS_APPLIED = math.inf


# problems whose sweeps the threads of a crew share: that of the kick, and one island of it
KICK, ISLAND = 1, 2


@struct
class Problem(NamedTuple):
    """Find lam with  w = A lam + b,  lam in its set,  w complementary to it.

    A = J M^-1 J^T + diag(cfm); row i reads [J_a w_a v_a J_b w_b v_b] (angular part first).
    Rows 0 .. n_box are boxes lo <= lam <= hi (lo = -inf, hi = inf: an equation; lo = hi: prescribed).
    The last of them may be dependent rows, three rows each, whose bounds follow a contact's normal impulse
    lam_n: spin about its normal, |lam| <= mu lam_n, and roll about both tangents, within mu lam_n.
    Rows n_box .. n_rows are contacts, three rows each: normal, tangent 1, tangent 2, with
    lam_n >= 0 and (lam_t1, lam_t2) within mu lam_n.
    Two rows are within r when they lie in the disk of radius r (FRICTION_CONE), in the square
    |lam_t1|, |lam_t2| <= r (FRICTION_BOX), or in the regular polygon inscribed in the disk with a
    vertex on the first axis (FRICTION_POLYGON).
    normal_row of a tangent or dependent row is its normal's row, -1 for every other row.
    Rows 0 .. n_coupled are those of couplings, a relation of several joints: one row for each term, one after
    the other, with the same `joint`. They are one constraint: their impulses are equal, and the sum of
    their w counts (problem/coupled.py). b, cfm and w of the sum are those of the first of them.
    w is in m/s or rad/s, positive when the bodies separate; lam in N s or N m s.
    Complementary: lam on lo -> w >= 0; strictly inside -> w = 0; on hi -> w <= 0; friction opposes
    the tangential w (true Coulomb law).
    """

    number: NDArray  # (1,) int64            KICK or ISLAND: the threads of a crew know it; 0: they do not
    count: NDArray  # (3,) int64             n_rows, n_box, n_coupled
    body_a: NDArray  # (max,) int64          bodies of the row; the world is the last body
    body_b: NDArray  # (max,) int64
    J_a: NDArray  # (max, 6) m, -            angular, linear; W, about each centre of mass
    J_b: NDArray  # (max, 6) m, -
    MJ_a: NDArray  # (max, 6)                1/kg, 1/(kg m)  M^-1 J^T of body a
    MJ_b: NDArray  # (max, 6)                1/kg, 1/(kg m)  M^-1 J^T of body b
    diagonal: NDArray  # (max,)              A_ii = J M^-1 J^T + cfm of the row
    inverse_mass: NDArray  # (n_bodies + 1,) 1/kg  0 for bodies that impulses do not move
    inverse_inertia: NDArray  # (n_bodies + 1, 3, 3) 1/(kg m^2)  W, about each centre of mass
    velocity_old: NDArray  # (n_bodies + 1, 6) rad/s, m/s  before the kick; angular first, W
    velocity_free: (
        NDArray  # (n_bodies + 1, 6) rad/s, m/s  after the kick of forces, without constraints
    )
    cfm: NDArray  # (max,)                   1/kg or 1/(kg m^2)  diagonal compliance
    b: NDArray  # (max,) m/s or rad/s        J v_free + bias
    error: NDArray  # (max,) m or rad        of an equation: C where it was written; of friction m/s or rad/s: slip that a step makes of a turn
    joint: NDArray  # (max,) int64           the row's joint, -1: none
    sweep_bias_delta: NDArray  # (max,) m/s              sweeps may add it to b, see constraints/contacts.py; out: BIAS_APPLIED if they did
    lo: NDArray  # (max,) N s or N m s       of tangent and dependent rows: scratch of solvers
    hi: NDArray  # (max,) N s or N m s
    normal_row: NDArray  # (max,) int64
    mu: NDArray  # (max,) - or m             of tangent and dependent rows
    friction_kind: NDArray  # (2,) int64     FRICTION_BOX ...; vertices of the polygon
    lam: NDArray  # (max,)                   N s or N m s  in: warm start; out: solution
    w: NDArray  # (max,)                     m/s or rad/s  out, written by problem/residual.py: A lam + b
    mobility: Mobility  # M^-1 of bodies of trees, which share generalised velocities


@struct
class Lanes(NamedTuple):
    """Contacts of a Problem in groups of sixteen pairs that share no body, see solvers/sweeps/simd/packing.py."""

    count: NDArray  # (3,) int64         groups, contacts without a colour, box rows swept with them
    data: NDArray  # (384 groups + 256 layers,)  numbers of the contacts of each group, unit of the rows, see solvers/sweeps/simd/layout.py
    begin: NDArray  # (groups + 1,) int64  first index of each group in data, then the end
    layer: NDArray  # (groups,) int64    first layer of the group
    width: NDArray  # (groups,) int64    number of lanes in use, 8 or 16
    used: NDArray  # (4 groups,) int64   lanes of each layer that are swept, a multiple of 4
    body_a: NDArray  # (lanes,) int64    bodies of the pair of a lane; the world: unused lane
    body_b: NDArray  # (lanes,) int64
    listed: NDArray  # (contacts,) int64 normal rows of the contacts that are swept
    first: NDArray  # (contacts + 1,) int64  index in listed of the first contact of each pair, then the end
    key: NDArray  # (contacts,) int64    colour and number of points of each pair
    row: NDArray  # (4 lanes,) int64     normal rows of the points of a lane, then -1
    start: NDArray  # (496,) int64       first free lane of each key
    taken: NDArray  # (n,) int64         bits of the colours at each body
    rest: NDArray  # (contacts,) int64   normal rows of the contacts without a colour
    kept: NDArray  # (80 layers + 5 contacts,) N s  impulses of the previous sweep, see solvers/sweeps/simd/anderson.py
    kept_boxes: NDArray  # (rows, 3) N s, N m s  as kept, of the box rows
    together: NDArray  # (rows,) int64   of the first box row of a joint: its rows, solved together; 1: a row alone
    inverse: NDArray  # (rows, 6) kg, kg m^2  K^-1 of the joint of a box row, see solvers/sweeps/joints.py
    joint_w: NDArray  # (6,) m/s, rad/s  scratch of one joint
    moving: NDArray  # (n,) int64        bodies of the rows that are swept
    speeds: NDArray  # (n, 6) rad/s, m/s  their velocities after the previous sweep
    colour: NDArray  # (63,) int64       first group of each colour, then the end
    layers: NDArray  # (groups + 1,) int64  layers of all groups before each
    place: NDArray  # (contacts,) int64  lane of each pair, -1: none
    odd: NDArray  # (1,) int64           1: a contact is not a point contact
    sums: NDArray  # (layers, 2) any unit  what sums over all layers are made of
    crew: Crew  # threads that share the work of a sweep


@struct
class Dense(NamedTuple):
    """Scratch of the solvers; arrays that need A itself hold up to `cap` rows (cap may be below max)."""

    factor: NDArray  # (cap, cap) -  of a pivot block
    S: NDArray  # (cap, cap) 1/kg ...  A with the equations eliminated; without any, A itself
    vectors: NDArray  # (20, cap) -  scratch of any unit
    indices: NDArray  # (9, cap) int64
    tableau: NDArray  # (t, t + 2) unit of the rows  of Lemke's method; t = 0 if it is not used
    basis: NDArray  # (4, t + 1) int64
    path: NDArray  # (cap, 2, v) unit of the row  its effect on the generalised velocities of its two trees
    path_tree: NDArray  # (cap, 2) int64  which trees, -1: none
    owner: (
        NDArray  # (t + n,) int64  last row so far on each tree and body, as 2 row + side; -1: none
    )
    iterates: NDArray  # (8, max) any unit   of iterations on bodies; (8, 0) if there are none
    lanes: Lanes
    graph: Graph  # of the equations, whose number is not limited by cap
    equations: Factor
    kept: KeptFactors
