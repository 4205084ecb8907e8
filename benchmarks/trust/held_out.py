"""Scenes that limits were not chosen by: parameters of the same families, drawn from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.trust import (
    blows,
    elastic,
    everyday,
    friction,
    machines,
    mechanisms,
    shaken,
    smooth,
    swings,
    touching,
)
from benchmarks.trust.case import Case, Family

SEED = 2026
EACH = 4

Draw = Callable[[np.random.Generator], tuple[Any, ...]]


def spread(rng: np.random.Generator, least: float, most: float) -> float:
    """A number whose logarithm is uniform, to two digits."""
    x = math.exp(rng.uniform(math.log(least), math.log(most)))
    return float(f"{x:.2g}")


def pick(rng: np.random.Generator, *values: Any) -> Any:
    """One of the values."""
    return values[int(rng.integers(len(values)))]


# in the order of the parameters of each family
DRAWS: tuple[tuple[Family, Draw], ...] = (
    (
        smooth.pendulums,
        lambda r: (spread(r, 0.1, 3), spread(r, 0.1, 3), spread(r, 5e-4, 0.05), spread(r, 2, 20)),
    ),
    (
        smooth.oscillators,
        lambda r: (spread(r, 0.01, 3), pick(r, 0.0, 0.0, 0.1, 0.6), spread(r, 10, 200)),
    ),
    (smooth.torsions, lambda r: (spread(r, 0.01, 1), spread(r, 10, 200))),
    (
        smooth.double_pendulums,
        lambda r: (
            (spread(r, 0.1, 3), spread(r, 0.1, 3)),
            spread(r, 5e-4, 0.02),
            spread(r, 2, 20),
        ),
    ),
    (smooth.tops, lambda r: (spread(r, 10, 300), spread(r, 5e-4, 0.02), spread(r, 1, 4))),
    (smooth.rotors, lambda r: (spread(r, 20, 2000), spread(r, 5e-4, 0.01), 1.0)),
    (
        smooth.chains,
        lambda r: (
            int(r.integers(3, 10)),
            spread(r, 1e-3, 0.3),
            spread(r, 0.5, 1000),
            spread(r, 5e-4, 5e-3),
            1.5,
        ),
    ),
    (smooth.orbits, lambda r: (spread(r, 0.3, 1.2), spread(r, 1e-3, 0.05), spread(r, 5, 40))),
    (smooth.drags, lambda r: (spread(r, 0.2, 1000), spread(r, 1e-3, 0.05))),
    (
        machines.servos,
        lambda r: (spread(r, 5, 500), spread(r, 0.1, 1.5), spread(r, 5e-4, 0.02), 1.0),
    ),
    (machines.arms, lambda r: (spread(r, 50, 5000), spread(r, 1e-3, 0.01))),
    (machines.gears, lambda r: (spread(r, 0.1, 8), spread(r, 0.2, 10), spread(r, 1e-3, 0.02))),
    (machines.sliders, lambda r: (spread(r, 2, 100), spread(r, 5e-4, 0.01), spread(r, 0.5, 3))),
    (machines.four_bars, lambda r: (spread(r, 1e-3, 0.05), spread(r, 2, 8), spread(r, 0.2, 2))),
    (
        touching.bounces,
        lambda r: (
            spread(r, 0.2, 4),
            float(r.uniform(0.0, 1.0)),
            spread(r, 3e-4, 0.02),
            spread(r, 1, 5),
            pick(r, "step", "step", "exact"),
        ),
    ),
    (
        touching.slopes,
        lambda r: (
            pick(r, "box", "ball"),
            float(r.uniform(0.1, 0.9)),
            float(r.uniform(0.0, 0.8)),
            spread(r, 1e-3, 0.02),
        ),
    ),
    (
        touching.stacks,
        lambda r: (int(r.integers(2, 12)), spread(r, 1, 1e4), spread(r, 1e-3, 0.01), 2.0),
    ),
    (
        touching.brakes,
        lambda r: (spread(r, 1, 15), float(r.uniform(0.2, 0.9)), spread(r, 1e-3, 0.01)),
    ),
    (
        touching.bullets,
        lambda r: (spread(r, 2, 500), spread(r, 5e-4, 0.01), spread(r, 0.01, 0.2)),
    ),
    (
        touching.cradles,
        lambda r: (
            int(r.integers(2, 6)),
            pick(r, "newton", "propagating", "poisson"),
            pick(r, 0.0, 0.01),
            spread(r, 5e-4, 5e-3),
        ),
    ),
    (elastic.trains, lambda r: (spread(r, 20, 1e6), spread(r, 5e-4, 0.02), spread(r, 1, 10))),
    (
        elastic.soft_grounds,
        lambda r: (spread(r, 20, 500), spread(r, 5e-4, 5e-3), spread(r, 5, 30)),
    ),
    (
        elastic.throws,
        lambda r: (spread(r, 1e-3, 0.05), spread(r, 0.5, 30)),
    ),
    (elastic.racks, lambda r: (spread(r, 0.02, 0.3), spread(r, 0.5, 10), spread(r, 1e-3, 0.02))),
    (elastic.walkers, lambda r: (spread(r, 500, 1e4), spread(r, 1e-3, 0.01))),
    (elastic.drops, lambda r: (spread(r, 0.1, 5), spread(r, 1e-3, 0.02), spread(r, 0.1, 10))),
    (
        elastic.stops,
        lambda r: (spread(r, 20, 3000), pick(r, 0.0, 0.1, 0.4, 0.8), spread(r, 3e-4, 0.01)),
    ),
    (mechanisms.yokes, lambda r: (spread(r, 2, 60), spread(r, 5e-4, 0.01))),
    (mechanisms.quick_returns, lambda r: (spread(r, 2, 40), spread(r, 5e-4, 0.01))),
    (
        mechanisms.governors,
        lambda r: (spread(r, 5, 25), spread(r, 0.1, 1.2), spread(r, 5e-4, 0.01)),
    ),
    (mechanisms.yoyos, lambda r: (spread(r, 0.01, 0.05), spread(r, 0.2, 2), spread(r, 1e-3, 0.02))),
    (
        mechanisms.cranes,
        lambda r: (spread(r, 0.1, 100), spread(r, 1, 1000), spread(r, 5e-4, 0.01)),
    ),
    (
        shaken.kapitzas,
        lambda r: (spread(r, 0.01, 0.05), spread(r, 30, 300), spread(r, 2e-4, 5e-3)),
    ),
    (
        shaken.dampers,
        lambda r: (
            spread(r, 10, 100),
            spread(r, 0.02, 0.2),
            spread(r, 0.02, 0.3),
            spread(r, 5e-4, 0.02),
        ),
    ),
    (
        shaken.closers,
        lambda r: (spread(r, 5, 500), spread(r, 3, 1000), spread(r, 1e-3, 0.02)),
    ),
    (
        swings.duffings,
        lambda r: (spread(r, 1, 100), spread(r, 50, 5000), spread(r, 5e-4, 0.02)),
    ),
    (swings.sphericals, lambda r: (spread(r, 1e-3, 0.05),)),
    (
        friction.bowls,
        lambda r: (
            spread(r, 1, 10),
            float(r.uniform(-50, 50)),
            float(r.uniform(0.1, 0.8)),
            spread(r, 1e-3, 0.02),
        ),
    ),
    (
        friction.coulombs,
        lambda r: (spread(r, 10, 1000), float(r.uniform(0.05, 0.6)), spread(r, 5e-4, 0.02)),
    ),
    (friction.clutches, lambda r: (spread(r, 0.5, 20), spread(r, 1e-3, 0.02))),
    (
        blows.superballs,
        lambda r: (spread(r, 1, 8), float(r.uniform(0, 1)), spread(r, 5e-4, 0.02)),
    ),
    (blows.towers, lambda r: (spread(r, 0.02, 1), spread(r, 5e-4, 0.02))),
    (
        blows.nails,
        lambda r: (spread(r, 2, 20), spread(r, 50, 5000), spread(r, 2e-4, 5e-3)),
    ),
    (
        blows.trampolines,
        lambda r: (spread(r, 100, 1e5), spread(r, 0.1, 1), spread(r, 3e-4, 0.01)),
    ),
    (
        blows.stopped,
        lambda r: (spread(r, 0.3, 2), float(r.uniform(0, 1)), spread(r, 5e-4, 0.02)),
    ),
    (blows.snaps, lambda r: (float(r.uniform(0.2, 0.9)), spread(r, 1e-3, 0.02))),
    (everyday.off_centres, lambda r: (float(r.uniform(0.01, 0.09)), spread(r, 5e-4, 0.02))),
    (
        everyday.discs,
        lambda r: (spread(r, 3, 50), float(r.uniform(0.1, 0.8)), spread(r, 1e-3, 0.02)),
    ),
    (everyday.troughs, lambda r: (spread(r, 1e-3, 5e-3), int(r.integers(50, 2000)))),
)


def held_out(seed: int = SEED) -> Iterator[Case]:
    """EACH scenes of every family whose parameters are numbers."""
    rng = np.random.default_rng(seed)
    for family, draw in DRAWS:
        yield from family([draw(rng) for _ in range(EACH)])
