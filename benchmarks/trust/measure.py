"""Runs of all scenes: how far each is off, and what the verdict says of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from benchmarks.trust import (
    blows,
    elastic,
    everyday,
    friction,
    further,
    lessons,
    machines,
    mechanisms,
    robots,
    shaken,
    smooth,
    strangers,
    swings,
    touching,
    unstable,
    workshop,
    yard,
)
from benchmarks.trust.case import (
    Array,
    Case,
    Document,
    ends,
    looked,
    off_by,
    reference,
    scale_of,
    stretch,
)
from benchmarks.trust.held_out import SEED, held_out
from cardan.engine import Simulation
from cardan.engine.build.limits import body_lengths

# a result is right when it is off by at most this share of its scale
RIGHT = 0.05
# sets of scenes: those by which limits were chosen, of other kinds, drawn from a seed
CHOSEN, OTHER, HELD_OUT = "", "other kinds", "held out"
# references by runs: finer by these, and no further apart than this share of the scale
COARSE, FINE, AGREED = 16, 32, 0.01

FAMILIES = (
    smooth.pendulums, smooth.oscillators, smooth.torsions, smooth.double_pendulums, smooth.tops,
    smooth.rotors, smooth.chains, smooth.orbits, smooth.drags,
    machines.servos, machines.arms, machines.gears, machines.sliders, machines.four_bars,
    machines.loops, machines.cranks,
    touching.bounces, touching.slopes, touching.stacks, touching.brakes, touching.bullets,
    touching.cradles, touching.overlaps, touching.rollers, touching.known, touching.dominoes,
    *elastic.FAMILIES, *mechanisms.FAMILIES, *shaken.FAMILIES, *swings.FAMILIES,
    *friction.FAMILIES, *blows.FAMILIES, *everyday.FAMILIES,
)  # fmt: skip
# of other kinds: added when limits were chosen
OTHERS = (
    *further.FAMILIES, *strangers.FAMILIES, *workshop.FAMILIES, *yard.FAMILIES, *lessons.FAMILIES,
    *robots.FAMILIES, *unstable.FAMILIES,
)  # fmt: skip


class Result(NamedTuple):
    """What a scene gave."""

    family: str
    name: str
    group: str
    """CHOSEN, OTHER or HELD_OUT."""
    off: float
    """Error as a share of the scale; nan: no two references agree, or the scene is refused."""
    status: str
    """Of the verdict."""
    found: tuple[str, ...]
    """Quantities of the findings."""
    named: tuple[str, float] = ("", float("nan"))
    """Of a right result that is not trusted: the body or spring that a finding names, and how far
    its own motion is off, as a share of its way; nan: none, or no two references agree."""

    @property
    def right(self) -> bool:
        """Whether the result is off by at most RIGHT."""
        return self.off <= RIGHT


def cases(families: Sequence[str] = (), seed: int | None = None) -> Iterator[tuple[str, Case]]:
    """All scenes, those that are held out last, each with its set.

    With a seed only those drawn from it.
    """
    chosen = chain.from_iterable(family() for family in FAMILIES if seed is None)
    others = () if seed is not None else OTHERS
    other = chain.from_iterable(family() for family in others)
    drawn = held_out(SEED if seed is None else seed)
    for group, some in ((CHOSEN, chosen), (OTHER, other), (HELD_OUT, drawn)):
        for case in some:
            if not families or case.family in families:
                yield group, case


def true_values(case: Case, times: Array) -> Array | None:
    """The truth at these times; None where references do not agree."""
    if case.truth is not None:
        return np.array([np.atleast_1d(case.truth(t)) for t in times], float)
    coarse, fine = reference(case, COARSE, times), reference(case, FINE, times)
    apart = np.linalg.norm(coarse - fine, axis=1).max()
    return fine if apart <= AGREED * scale_of(case, fine) else None


def of_named(simulation: Simulation, case: Case, findings: Sequence[Document]) -> tuple[str, float]:
    """The first body or spring that a finding names, and how far it is off; see Result.named."""
    named = next((one for one in findings if one["body"] is not None), None)
    if named is None:
        return "", float("nan")
    body = named["body"]
    lengths = body_lengths(simulation.model, simulation.state.p_WB)
    look = ends(body, float(lengths[simulation.body_names.index(body)]))
    if named["quantity"] == "stretch_error":
        look = stretch(named)
    own = case._replace(look=look, truth=None, scale=None)
    _, times, values = looked(case.document, own)
    true = true_values(own, times)
    error = float("nan") if true is None else off_by(own, times, values, true)
    return f"spring of {body}" if named["quantity"] == "stretch_error" else body, error


def result_of(group: str, case: Case) -> Result:
    """Run one scene."""
    simulation, times, values = looked(case.document, case)
    true = true_values(case, times)
    off = float("nan") if true is None else off_by(case, times, values, true)
    verdict = simulation.summary()["verdict"]
    found = tuple(
        f"{one['quantity']} {one['value'] / one['limit']:.2g}" if one["limit"] else one["quantity"]
        for one in verdict["findings"]
    )
    result = Result(case.family, case.name, group, off, verdict["status"], found)
    if not result.right or result.status == "trusted":
        return result
    return result._replace(named=of_named(simulation, case, verdict["findings"]))


def measure(families: Sequence[str] = (), seed: int | None = None) -> list[Result]:
    """Run all scenes, or those drawn from a seed, telling each as it is done."""
    results = []
    for group, case in cases(families, seed):
        began = time.perf_counter()
        result = result_of(group, case)
        results.append(result)
        trusted = result.status == "trusted"
        missed = "" if np.isnan(result.off) or result.right == trusted else "  <-- MISS"
        print(
            f"{result.family}: {result.name}: off {result.off:.3g}, {result.status} "
            f"{', '.join(result.found)} ({time.perf_counter() - began:.1f} s){missed}",
            flush=True,
        )
    return results
