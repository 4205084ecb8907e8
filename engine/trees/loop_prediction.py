"""Where the second half of a step leads: velocities at its end, for equations of loops of trees.

A kick makes velocities tangent to the equations at the end of the step,

    J v+  =  -h/2 (dJ/dt v + J a)       v at the end, a of the free flight from the kick to there

Velocities and accelerations before the kick differ from these by a first order of the step: free
flight knows nothing of loops. At a distance s from a dead centre an error e of this prediction is
an error e/s of the velocities and e/(s h) of the forces. Rates are therefore predicted from those
at the start of the step, which are tangent, and from their change in the last step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import add_scaled, store3
from cardan.engine.trees.free_flight import repeat_free_flight
from cardan.engine.trees.kinematics import carried, write_velocities, write_velocity_products
from cardan.engine.trees.spatial_arrays import add6, load6, store6
from cardan.engine.world.state import BIAS_BEFORE, BIAS_CHANGE, BIAS_MEAN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.state import State
    from cardan.engine.world.tree import Tree, TreeWork
    from cardan.engine.world.workspace import Motion

# a change in the last step above this share of the rates, weighted by inertia, was an impact: no
# guess for the next one
SMOOTH = 0.25


@kernel
def note_rates(work: TreeWork, qd: NDArray) -> None:
    """work.began <- rates at the start of a step."""
    for k in range(qd.shape[0]):
        work.began[k] = qd[k]


@kernel
def note_change(work: TreeWork, qd: NDArray, h: float, mean: NDArray) -> None:
    """mean (v,) <- the mean acceleration of a step of length h that ends with rates qd."""
    for k in range(qd.shape[0]):
        mean[k] = (qd[k] - work.began[k]) / h


@kernel
def predict_rates(work: TreeWork, state: State, h: float) -> None:
    """work.mean <- rates at the end of a step of length h.

    Reads   work.began, D; state.tree_bias_acceleration
    """
    change = state.tree_bias_acceleration[BIAS_MEAN]
    moved, size = 0.0, 0.0
    for k in range(work.began.shape[0]):
        if work.D[k] > 0.0:
            moved += (h * change[k]) ** 2 / work.D[k]
            size += work.began[k] ** 2 / work.D[k]
    is_smooth = moved <= SMOOTH * SMOOTH * size
    for k in range(work.began.shape[0]):
        work.mean[k] = work.began[k] + (h * change[k] if is_smooth else 0.0)


@kernel
def stay_ahead(state: State, motion: Motion) -> None:
    """Velocities ahead are those of now, accelerations none.

    Writes  motion.velocity_ahead, acceleration_ahead
    """
    for i in range(motion.velocity_ahead.shape[0]):
        for k in range(3):
            motion.velocity_ahead[i, k] = state.w_WB_W[i, k]
            motion.velocity_ahead[i, 3 + k] = state.v_WB_W[i, k]
        for k in range(6):
            motion.acceleration_ahead[i, k] = 0.0


@kernel
def predict_flight(tree: Tree, work: TreeWork, bias: NDArray, h: float) -> None:
    """Accelerations of the free flight after the kick, whose rates at its end are work.mean.

    Reads   work.mean; bias: guesses of them; the factor
    Writes  work.qdd; bias[BIAS_CHANGE]; work.free, V, A, F, u
    """
    for k in range(bias.shape[1]):
        work.free[k] = work.mean[k] - 0.25 * h * (bias[BIAS_BEFORE, k] + bias[BIAS_CHANGE, k])
    for t in range(tree.floating.shape[0]):
        repeat_free_flight(tree, work.free, work, t)
    for k in range(bias.shape[1]):
        bias[BIAS_CHANGE, k] = work.qdd[k] - bias[BIAS_BEFORE, k]


@kernel
def write_ahead(tree: Tree, work: TreeWork, state: State, motion: Motion, h: float) -> None:
    """Velocities at the end of the step, and accelerations of the free flight to there.

    Reads   work.began; poses in the middle of the step; state.tree_bias_acceleration
    Writes  state.tree_bias_acceleration: BIAS_CHANGE; motion.velocity_ahead, acceleration_ahead of
            all bodies; work.V, velocity_product, A, mean, free, qdd
    Check   tests/laws/test_linkages.py
    """
    stay_ahead(state, motion)
    predict_rates(work, state, h)
    predict_flight(tree, work, state.tree_bias_acceleration, h)
    write_velocities(tree, work.mean, work)
    write_velocity_products(tree, work.mean, work)
    for i in range(tree.kind.shape[0]):
        w, v = add6(carried(tree, work.A, i, work), load6(work.velocity_product, i))
        for k in range(tree.v_start[i], tree.v_start[i + 1]):
            S, qdd = load6(work.S, k), work.qdd[k]
            w, v = add_scaled(w, qdd, S[0]), add_scaled(v, qdd, S[1])
        store6(work.A, i, (w, v))
        body = tree.body[i]
        if body >= 0:
            for k in range(6):
                motion.velocity_ahead[body, k] = work.V[i, k]
                motion.acceleration_ahead[body, k] = work.A[i, k]
    write_velocities(tree, state.tree_qd, work)


@kernel
def exchange_velocities(state: State, motion: Motion, body: int) -> None:
    """Exchange the velocities of a body with those at the end of the step."""
    w, v = load6(motion.velocity_ahead, body)
    for k in range(3):
        motion.velocity_ahead[body, k] = state.w_WB_W[body, k]
        motion.velocity_ahead[body, 3 + k] = state.v_WB_W[body, k]
    store3(state.w_WB_W, body, w)
    store3(state.v_WB_W, body, v)
