"""Energy of bodies that are pushed out of small overlaps at the start: it has a cause."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.body_records import LEAST_P, MOST_P, START_P
from cardan.engine.build.limits import LENGTH_SHARE, body_lengths, shorter_length
from cardan.engine.build.mobility import joined_bodies
from cardan.engine.verdict.estimates import variations
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC, Model
from cardan.engine.world.state import State

Array = NDArray[np.float64]

# contacts whose normal has less than this share along gravity push aside, and lift nothing
LEAST_SLOPE = 0.5
# what is pushed up may settle while others rise, and is pushed up again
RISES = 2.0


class Parting(NamedTuple):
    """How bodies lie in one another at the start."""

    lift: Array
    """(n,) m: how far overlaps push each body up, against gravity, until none is left."""
    p_WB: Array
    """(n, 3) m: centres of mass."""


def upwards(state: State) -> Array:
    """(3,): against gravity, of length one; 0 without gravity."""
    size = float(np.linalg.norm(state.gravity_W))
    up: Array = -state.gravity_W / size if size > 0.0 else np.zeros(3)
    return up


def parting(model: Model, state: State, contacts: Contacts) -> Parting:
    """How far overlaps that are no finding push bodies up, from the lowest contact to the highest.

        lift of the upper body  >=  lift of the lower one + depth / (n . up)

    Joints carry what they hold along. Overlaps beyond LENGTH_SHARE of the shorter body, and those
    of compliant contacts, explain nothing.

    Reads   contacts at the current poses, those of start
    """
    lift, n, up = np.zeros(len(model.bodies.kind)), int(contacts.count[0]), upwards(state)
    depth = -contacts.gap[:n]
    if not (depth > 0.0).any():
        return Parting(lift, state.p_WB.copy())
    a, b, slope = contacts.body_a[:n], contacts.body_b[:n], contacts.normal_W[:n] @ up
    lower, upper = np.where(slope > 0.0, (a, b), (b, a))
    slope = np.abs(slope)
    small = depth <= LENGTH_SHARE * shorter_length(model, body_lengths(model, state.p_WB), a, b)
    lifts = small & (contacts.compliance[:n] == 0.0) & (slope >= LEAST_SLOPE)
    lifts &= model.bodies.kind[upper] == DYNAMIC
    order = np.argsort(contacts.point_W[:n] @ up, kind="stable")
    order, part = order[lifts[order]], joined_bodies(model)
    ways = depth[order] / slope[order]
    for one, other, way in zip(part[lower[order]], part[upper[order]], ways, strict=True):
        below = lift[one] if one != other else 0.0
        lift[other] = max(lift[other], below + way)
    return Parting(lift[part], state.p_WB.copy())


def parted_ways(model: Model, state: State, start: Parting) -> Array:
    """(n,) m: how far overlaps at the start pushed each body up: at most RISES times as far as it
    rose."""
    if not start.lift.any() or state.step[0] == 0:
        return np.zeros(len(start.lift))
    kept, up = variations(model, state), upwards(state)
    least, most = kept[:, LEAST_P : LEAST_P + 3] * up, kept[:, MOST_P : MOST_P + 3] * up
    first = kept[:, START_P : START_P + 3] - start.p_WB
    rise = first @ up + np.maximum(least, most).sum(axis=1)
    ways: Array = np.clip(RISES * np.nan_to_num(rise), 0.0, start.lift)
    return ways
