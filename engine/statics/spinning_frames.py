"""The axes in which linear models see orientations that turn at their state.

Eigenvalues say something only of equations that do not change on the way. A rotation vector from
where a body is now has other equations a moment later; one from the orientation that turns on as it
does now, q = q0(t) exp(z) with the angular velocity w0, keeps them in axes of the body:

    dz/dt = E(z) w - E(-z) w0,   E: engine/trees/charts.py

What spins about its axis of revolution is seen from axes that do not spin, as its angle about it is
in no equation: the modes of a top are those of its axis. With u = dz/dt of the others,

    dz/dt = u + w0 x z,   dw/dt = u' + w0 x w
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.kinds import is_one_of
from cardan.engine.build.revolution import spin_axes
from cardan.engine.build.rotations import turn
from cardan.engine.statics.smooth import Sample, SmoothModel
from cardan.engine.trees.charts import chart_derivative
from cardan.engine.world.tree import NODE_BALL, NODE_FREE

Array = NDArray[np.float64]

# share of an angular velocity across an axis that is none
ALONG = 1e-9


class Turning(NamedTuple):
    """A ball or a free body that turns at the state."""

    v: slice
    """Its three angular velocities among all."""
    w: Array
    """(3,) rad/s: angular velocity at the state, body axes."""
    spins: bool
    """Whether it is a body of revolution that turns about its axis."""


def turning_at(smooth: SmoothModel, q: Array, qd: Array) -> list[Turning]:
    """Orientations that turn at coordinates q with velocities qd."""
    tree, axes = smooth.tree, spin_axes(smooth.model)
    found = []
    for i in np.flatnonzero(is_one_of(tree.kind, (NODE_BALL, NODE_FREE))):
        first, body = int(tree.v_start[i]), int(tree.body[i])
        v = slice(first, first + 3)
        w = qd[v].copy()
        if w.any():
            in_world = smooth.jacobian(q, body)[:3, v] @ w
            axis = turn(smooth.simulation.state.q_WB[body], axes[body])
            across = np.linalg.norm(np.cross(in_world, axis))
            spins = axis.any() and across <= ALONG * np.linalg.norm(w)
            found.append(Turning(v, w, bool(spins)))
    return found


def rates_seen(turning: list[Turning], z: Array, found: Sample, qdd: Array) -> tuple[Array, Array]:
    """(nv,) dz/dt and accelerations of a sample at the point z of a chart, as the axes see them."""
    rate, acceleration = found.chart_rate.copy(), qdd.copy()
    for v, w, spins in turning:
        rate[v] -= chart_derivative(tuple(-z[v]), tuple(w))
        if spins:
            rate[v] += np.cross(w, z[v])
            acceleration[v] += np.cross(w, found.qd[v])
    return rate, acceleration
