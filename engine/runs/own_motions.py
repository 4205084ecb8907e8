"""Errors of the step size in each motion of its own: of bodies, and of springs between them.

Answers that agree to a share of the whole scene may still disagree in a motion that is small beside
it: the stretch of the rope of a hoist, the rocking of a block that is carried along. So errors of
places, orientations and coordinates of springs are compared with the reach of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.limits import body_lengths, shows_turns
from cardan.engine.build.rotations import turned_apart
from cardan.engine.simulation import Simulation
from cardan.engine.verdict.doubling import SMALL_SHARE, SMALL_STRETCH, SMALL_TURN
from cardan.engine.verdict.springs import spring_ends

Array = NDArray[np.float64]


class Motions(NamedTuple):
    """States of a run at several times, to be compared with those of another run."""

    places: Array
    """(k, n, 3) m: origins of the bodies."""
    orientations: Array
    """(k, n, 4)."""
    stretches: Array
    """(k, s) m or rad: coordinates of springs."""


def lengths(probe: Simulation) -> Array:
    """(n,) m: of the bodies of a scene at its start."""
    return body_lengths(probe.model, probe.state.p_WB)[: len(probe.body_names)]


def largest_share(
    runs: Sequence[Motions], extrapolated: Callable[[Array], Array], probe: Simulation
) -> tuple[float, int, str]:
    """Largest error of a motion over its reach [-], the body, and whose motion it is: of the `body`
    itself, or of the `spring` that ends at it.

    runs: with dt, dt/2, ...; extrapolated makes an error of the first of a difference (k, ...);
    probe: the scene at its start. inf: a run failed. Reaches are half of the diagonal of the box
    about the way, the largest angle from the start, at most 1 rad, and half of the range of a
    coordinate.
    """
    last, length, pairs = runs[-1], lengths(probe), list(pairwise(runs))
    n = len(length)
    apart: tuple[tuple[list[Array], Array, Array], ...] = (
        (
            [np.linalg.norm(a.places - b.places, axis=2) for a, b in pairs],
            0.5 * np.linalg.norm(np.ptp(last.places, axis=0), axis=1),
            SMALL_SHARE * length,
        ),
        (
            [turned_apart(a.orientations, b.orientations) for a, b in pairs],
            np.minimum(turned_apart(last.orientations, last.orientations[0]).max(axis=0), 1.0),
            np.where(shows_turns(probe.model)[:n], SMALL_TURN, np.inf),
        ),
        (
            [np.abs(a.stretches - b.stretches) for a, b in pairs],
            0.5 * np.ptp(last.stretches, axis=0),
            np.full(last.stretches.shape[1], SMALL_STRETCH),
        ),
    )
    shares = []
    for differences, reach, least in apart:
        error = extrapolated(np.max(differences, axis=0)).max(axis=0, initial=0.0)
        matters = ~(error <= least)
        share = np.divide(error, np.maximum(reach, least), out=np.zeros(len(error)), where=matters)
        shares.append(np.nan_to_num(share, nan=np.inf))
    of_body = np.concatenate([np.arange(n), np.arange(n), spring_ends(probe.model)[:, 1]])
    every = np.concatenate(shares)
    worst = int(np.argmax(every))
    return float(every[worst]), int(of_body[worst]), "body" if worst < 2 * n else "spring"
