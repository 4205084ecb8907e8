"""Mechanisms of the IFToMM library with steps of 1 ms: within 1e-3 of the largest value."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, simulate
from tests.references.mechanism_scenes import four_bars, governor, pendulum, table

pytestmark = pytest.mark.reference


def follow(scene: Document, times: np.ndarray, body: str) -> tuple[np.ndarray, Simulation]:
    """Positions of a body's origin at some times, multiples of the step."""
    sim = simulate(scene)
    index = sim.body_names.index(body)
    found = []
    for t in times:
        sim.advance(round(t / sim.time_step) - sim.step_count)
        found.append(sim.poses()[index, :3])
    assert sim.failure is None
    return np.array(found), sim


def test_a01_pendulum() -> None:
    known = table("A01_pendulum_exact_0-10s.csv")
    found, _ = follow(pendulum(), known["t"], "point")
    assert np.abs(found[:, 0] - known["x"]).max() < 1e-3
    assert np.abs(found[:, 2] - known["y"]).max() < 1e-3


@pytest.mark.parametrize(
    ("n", "formulation", "seconds"),
    [(2, "maximal", 10.0), (2, "reduced", 10.0), (40, "maximal", 20.0), (40, "reduced", 1.5)],
)
def test_a02_four_bars_pass_their_singular_places(n: int, formulation: str, seconds: float) -> None:
    known = table(f"A02_N{n}_exact.csv")
    known = known[known["t"] <= seconds + 1e-9]
    found, sim = follow(four_bars(n, formulation=formulation), known["t"], "up0")
    # the middle of the bar is half way to B0
    assert np.abs(2.0 * found[:, 0] - known["B0x"]).max() < 2e-4
    assert np.abs(2.0 * found[:, 2] - known["B0y"]).max() < 2e-4
    # all bars stay parallel: the branch of the parallelogram
    q = sim.poses()[: n + 1, 3:]
    assert np.abs(np.abs(q @ q[0]) - 1.0).max() < 1e-6
    assert sim.summary()["energy"]["max_relative_drift"] < 1e-5


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize(("omega", "name"), [(2.0 * np.pi, "2pi"), (0.32 * np.pi, "0p16x2pi")])
def test_a05_flyball_governor(omega: float, name: str, formulation: str) -> None:
    known = table(f"A05_flyball_omega{name}.csv")
    found, _ = follow(governor(omega, formulation=formulation), known["t"], "slider")
    # far below the 1e-3 that is asked: stiff dampers are of second order
    assert np.abs(found[:, 2] - known["s_m"]).max() < 2e-4 * known["s_m"].max()
