"""Energies that do not matter, and all that there was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.body_records import LARGEST_V
from cardan.engine.build.limits import LENGTH_SHARE, REST_SPEED, body_lengths
from cardan.engine.verdict.estimates import settles, variations
from cardan.engine.world.model import DYNAMIC, Model
from cardan.engine.world.options import StepOptions
from cardan.engine.world.state import EXTREME_KINETIC, LEDGER_IMPACT, State

Array = NDArray[np.float64]

# an unexplained energy that matters lifts every body by this share of its length
SMALL_LIFT = 1e-5
# share of impacts that `small_steps` books as correction: what falls within a step (decision 0110)
SETTLED_IMPACT = 0.25
# the same of bodies that settled under it
SETTLED_LIFT = 1e-3


def small_energy(model: Model, state: State, options: StepOptions) -> float:
    """Energy that does not matter [J]: of moving every body by SMALL_LIFT of its length against its
    weight and the contacts that press it at the end, and of moving at REST_SPEED, or as fast as
    each did, if that is less; with substeps more."""
    lift, booked = SMALL_LIFT, 0.0
    if settles(state, options):
        lift, booked = SETTLED_LIFT, SETTLED_IMPACT * float(state.ledger[LEDGER_IMPACT])
    square = variations(model, state)[:, LARGEST_V].clip(REST_SPEED**4, REST_SPEED**2)
    moving = 0.5 * float(model.bodies.mass @ square) + max(booked, 0.0)
    pressed = pressing(model, state, float(options.time_step), SMALL_LIFT)
    return lifting(model, state, lift) + pressed + moving


def pressing(model: Model, state: State, h: float, share: float) -> float:
    """Energy of moving bodies by this share of their length against the contacts of the last step
    [J]."""
    cache, n = state.contacts, int(state.contacts.count[0])
    load = np.linalg.norm(cache.impulse_W[:n], axis=1) / h
    shapes, count = model.shapes.body, len(model.shapes.kind)
    length = np.where(model.bodies.kind == DYNAMIC, body_lengths(model, state.p_WB), 0.0)
    both = length[shapes[cache.key[:n] // count]], length[shapes[cache.key[:n] % count]]
    return share * float(load @ np.maximum(*both))


def lifting(model: Model, state: State, share: float) -> float:
    """Energy of lifting every body by this share of its length [J]."""
    return share * energy_of_lifting(model, state, body_lengths(model, state.p_WB))


def energy_of_lifting(model: Model, state: State, ways: Array) -> float:
    """Energy of lifting every body by its way (n,) [m], in J."""
    return float(np.linalg.norm(state.gravity_W)) * float(model.bodies.mass @ ways)


# numbers of runs that fail are beyond all energies
@np.errstate(over="ignore", invalid="ignore")
def all_energy(model: Model, state: State) -> float:
    """Energy of a run [J]: its largest kinetic energy, and that of lifting every body by an amount
    that would be an overlap at the start."""
    return float(state.extremes[EXTREME_KINETIC]) + lifting(model, state, LENGTH_SHARE)
