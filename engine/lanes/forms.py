"""Forms for lanes of kernels that branch on numbers: both ways are computed, `select` chooses.

Each has the bits of its original in every lane. What no lane can do (a limit of trust that is
exceeded, a value that is not finite) sets state.left: that world is computed alone.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from cardan.engine.accounting import crossings, energy, extremes
from cardan.engine.accounting.crossings import (
    GROWTH_SHARE,
    SMALL_GROWTH,
)
from cardan.engine.accounting.energy import spring_energy
from cardan.engine.bodies import forces, gyroscopic
from cardan.engine.bodies.forces import load_gravity
from cardan.engine.compiler.lanes import (
    any_of,
    in_all_lanes,
    lane_form_of,
    lane_of,
    lanes_in,
    select,
    with_lane,
)
from cardan.engine.spatial import quaternion, rotation
from cardan.engine.spatial.mat3 import load33, times_vector, transposed
from cardan.engine.spatial.quaternion import Quaternion, load4
from cardan.engine.spatial.rotation import (
    MANY_TURNS,
    PER_QUARTER,
    QUARTER,
    QUARTER_REST,
    Mat3,
    matrix,
    sine_cosine_of_part,
)
from cardan.engine.spatial.vec3 import (
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    lane3,
    load3,
    norm,
    scale,
)
from cardan.engine.trees import articulated_inertia, coordinates, drift, invariants
from cardan.engine.trees.coordinates import mean_velocity
from cardan.engine.trees.drift import ALIKE
from cardan.engine.trees.free_flight import repeat_free_flight
from cardan.engine.trees.invariants import SMALL as SMALL_PART
from cardan.engine.trees.invariants import TAKEN, WILD
from cardan.engine.world.lanes import LaneBodies, LaneModel, LaneState
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.state import EXTREME_KINETIC
from cardan.engine.world.tree import Tree, TreeWork

Lanes = Any  # float64 of each world
Mask = Any  # bool of each world


@lane_form_of(rotation.sine_cosine)
def sine_cosine(x: Lanes) -> tuple[Lanes, Lanes]:
    """sin x and cos x: the same polynomials; quarters of turns are counted in floats, exactly."""
    k = math.floor(x * PER_QUARTER + 0.5)
    s, c = sine_cosine_of_part((x - k * QUARTER) - k * QUARTER_REST)
    halves = math.floor(0.5 * k)
    odd = k - 2.0 * halves > 0.5
    s, c = select(odd, c, s), select(odd, -s, c)
    opposite = halves - 2.0 * math.floor(0.5 * halves) > 0.5
    s, c = select(opposite, -s, s), select(opposite, -c, c)
    far = ~(abs(x) < MANY_TURNS)
    if any_of(far):
        for lane in range(lanes_in(x)):
            one = lane_of(x, lane)
            if not abs(one) < MANY_TURNS:
                s = with_lane(s, lane, math.sin(one))
                c = with_lane(c, lane, math.cos(one))
    return s, c


@lane_form_of(quaternion.unit)
def unit(q: Quaternion) -> Quaternion:
    """q / |q|; the zero quaternion becomes the identity."""
    n = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    positive = n > 0.0
    return (
        select(positive, q[0] / n, 1.0),
        select(positive, q[1] / n, 0.0),
        select(positive, q[2] / n, 0.0),
        select(positive, q[3] / n, 0.0),
    )


@lane_form_of(coordinates.mean_velocity)
def mean_velocity_of_lanes(w: Vec3, v: Vec3, h: float) -> Vec3:
    """The series where all rotations are small, else lane by lane."""
    square = dot(w, w)
    x2 = 0.25 * h * h * square
    shrunk = 1.0 - x2 / 6.0 + x2 * x2 / 120.0
    loss = (0.25 * h * h) * (1.0 / 6.0 - x2 / 120.0)
    mean = add_scaled(scale(shrunk, v), loss * dot(w, v), w)
    if any_of(~(x2 < 1e-6)):
        for lane in range(lanes_in(x2)):
            one = mean_velocity(lane3(w, lane), lane3(v, lane), h)
            mean = (
                with_lane(mean[0], lane, one[0]),
                with_lane(mean[1], lane, one[1]),
                with_lane(mean[2], lane, one[2]),
            )
    return mean


@lane_form_of(articulated_inertia.inverse_of)
def inverse_of(D: Lanes) -> Lanes:
    """1/D, and 0 without inertia."""
    return select(D > 0.0, 1.0 / D, 0.0)


@lane_form_of(invariants.stretch)
def stretch(wanted: Lanes, found: Lanes) -> Lanes:
    """Factor of speeds that changes the energy from `found` to `wanted`."""
    factor = math.sqrt(select(wanted > 0.0, wanted, 0.0) / found)
    fits = (found > 0.0) & (factor < 1.0 + WILD)
    return select(fits, factor, 1.0)


@lane_form_of(invariants.stretch_part)
def stretch_part(kept: Lanes, others: Lanes, found: Lanes, whole: Lanes) -> Lanes:
    """`stretch` for a part `found` of the energy `whole`, limited for small parts."""
    most = (1.0 + WILD) * kept
    share = found / (SMALL_PART * select(whole < most, whole, most))
    share = select(share < 1.0, share, 1.0)
    factor = stretch(found + share * (kept - others - found), found)
    return select((found > 0.0) & (whole > 0.0) & (kept > 0.0), factor, 1.0)


@lane_form_of(invariants.forget_wild)
def forget_wild(tree: Tree, state: LaneState, t: int, brought: Lanes, energy: Lanes) -> None:
    """Predict nothing, in worlds in which a drift of tree t had brought too much."""
    tame = -brought <= TAKEN * energy
    bias = state.tree_bias_acceleration
    for k in range(tree.v_start[tree.start[t]], tree.v_start[tree.start[t + 1]]):
        for m in range(bias.shape[0]):
            bias[m, k] = select(tame, bias[m, k], 0.0)


@lane_form_of(drift.is_predicted)
def is_predicted(tree: Tree, work: TreeWork, qd: NDArray, t: int, h: float) -> Mask:
    """Worlds in which the rates of tree t at half of h are close to those of the last evaluation.

    Writes  work.mean: rates at half of h, for qdd
    """
    first, end = tree.v_start[tree.start[t]], tree.v_start[tree.start[t + 1]]
    missed, size = in_all_lanes(0.0, qd), in_all_lanes(0.0, qd)
    for k in range(first, end):
        mean = qd[k] + 0.5 * h * work.qdd[k]
        miss = mean - work.mean[k]
        work.mean[k] = mean
        if not (tree.floating[t] == 1 and 3 <= k - first < 6):
            has_inertia = work.D[k] > 0.0
            missed += select(has_inertia, miss * miss / work.D[k], 0.0)
            size += select(has_inertia, mean * mean / work.D[k], 0.0)
    return missed <= ALIKE * ALIKE * size


@lane_form_of(drift.apply_bias_acceleration)
def apply_bias_acceleration(
    tree: Tree, work: TreeWork, qd: NDArray, h: float, bias: NDArray
) -> None:
    """qd <- qd + h a; where one world needs a second evaluation, the others keep their first."""
    for t in range(tree.floating.shape[0]):
        good = is_predicted(tree, work, qd, t, h)
        if any_of(~good):
            first, end = tree.v_start[tree.start[t]], tree.v_start[tree.start[t + 1]]
            for k in range(first, end):
                work.free[k] = work.qdd[k]
            repeat_free_flight(tree, work.mean, work, t)
            for k in range(first, end):
                work.qdd[k] = select(good, work.free[k], work.qdd[k])
    for k in range(qd.shape[0]):
        bias[k] = work.qdd[k]
        qd[k] += h * work.qdd[k]


@lane_form_of(extremes.raise_to)
def raise_to(state: LaneState, which: int, value: Lanes) -> None:
    """Keep the larger of a record and a new value."""
    last = state.extremes[which]
    state.extremes[which] = select(value > last, value, last)


@lane_form_of(extremes.raise_to_norm)
def raise_to_norm(state: LaneState, which: int, x: Vec3) -> None:
    """Keep the larger of a record and |x|."""
    last = state.extremes[which]
    larger = dot(x, x) > last * last
    if any_of(larger):
        state.extremes[which] = select(larger, norm(x), last)


@lane_form_of(crossings.note_growth)
def note_growth(state: LaneState, growth: Lanes, _step: int) -> None:
    """Worlds in which energy grows are left."""
    records = state.extremes
    limit = records[SMALL_GROWTH] + GROWTH_SHARE * records[EXTREME_KINETIC]
    few = (growth <= records[SMALL_GROWTH]) | (growth <= limit)
    state.left[0] = select(few, state.left[0], 1.0)


@lane_form_of(gyroscopic.is_round)
def is_round(inertia: Mat3) -> Mask:
    """Worlds in which all principal moments are equal."""
    return (
        (inertia[0][0] == inertia[1][1])
        & (inertia[0][0] == inertia[2][2])
        & (inertia[0][1] == 0.0)
        & (inertia[0][2] == 0.0)
        & (inertia[1][2] == 0.0)
    )


@lane_form_of(energy.motion_of)
def motion_of(bodies: LaneBodies, state: LaneState, i: int) -> tuple[Lanes, Vec3, Vec3]:
    """Kinetic energy [J], momentum [N s], angular momentum about the origin of W [N m s]."""
    v, w = load3(state.v_WB_W, i), load3(state.w_WB_W, i)
    push = scale(bodies.mass[i], v)
    inertia = load33(bodies.inertia_B, i)
    R = matrix(load4(state.q_WB, i))
    spin = times_vector(R, times_vector(inertia, times_vector(transposed(R), w)))
    round_ = is_round(inertia)
    x, y, z = scale(inertia[0][0], w)
    spin = (select(round_, x, spin[0]), select(round_, y, spin[1]), select(round_, z, spin[2]))
    angular = add(cross(load3(state.p_WB, i), push), spin)
    return 0.5 * (dot(v, push) + dot(w, spin)), push, angular


@lane_form_of(forces.implicit_share)
def implicit_share(z: Lanes) -> Lanes:
    """Implicit share of a damper."""
    return select(z <= 2.0, 0.5, 1.0 - 1.0 / z)


@lane_form_of(energy.potential_energy)
def potential_energy(model: LaneModel, state: Any) -> Lanes:
    """Energy of gravity and of the springs of joints [J]; worlds in lanes store no other."""
    bodies, total = model.bodies, 0.0
    g = load_gravity(state)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            total -= bodies.mass[i] * dot(g, load3(state.p_WB, i))
    return total + spring_energy(model, state)


@lane_form_of(energy.rotor_energy)
def rotor_energy(model: LaneModel, state: LaneState) -> Lanes:
    """Kinetic energy of the rotors of joints, armature qd^2/2 [J]."""
    total = 0.0
    for k in range(state.tree_qd.shape[0]):
        rate = state.tree_qd[k]
        total += 0.5 * model.tree.armature[k] * (rate * rate)
    return total
