"""What a solver leaves in each step: runs that half the step trusts, and an exact solution not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan import load_scene
from cardan.engine import Simulation
from cardan.engine.verdict import doubling
from cardan.schemas.examples import example_document


def done(name: str, **solver: Any) -> Simulation:
    """An example after a second, in maximal coordinates, with a solver."""
    document = example_document(name)
    document["simulation"] |= {"duration": 1.0, "formulation": "maximal", "solver": solver}
    simulation = Simulation(load_scene(document))
    simulation.advance(simulation.total_steps)
    return simulation


def off_by(one: Simulation, other: Simulation) -> float:
    """The largest distance between the bodies of two runs [m]."""
    return float(np.linalg.norm(one.state.p_WB - other.state.p_WB, axis=1).max())


def quantities(simulation: Simulation) -> list[str]:
    return [one["quantity"] for one in simulation.findings()]


def test_a_solver_that_stops_too_soon_is_no_longer_trusted() -> None:
    rough, exact = (
        done("bouncing-balls", method="jacobi", max_iterations=4),
        done("bouncing-balls", method="auto"),
    )
    assert off_by(rough, exact) > 0.1
    assert quantities(exact) == []
    (found,) = rough.findings()
    assert found["quantity"] == "solver_error"
    assert found["value"] > found["limit"]
    assert found["body"].startswith("ball")
    summary = rough.summary()
    assert summary["verdict"]["status"] == "suspect"
    assert any("exact solution" in one for one in summary["warnings"])


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("slider-crank", {"method": "pgs", "max_iterations": 4}),
        ("wheeled-cart", {"method": "nncg", "max_iterations": 4}),
        ("double-pendulum", {"method": "jacobi", "max_iterations": 4}),
    ],
)
def test_residuals_that_do_no_harm_leave_a_run_trusted(name: str, solver: dict[str, Any]) -> None:
    rough = done(name, **solver)
    assert doubling.may_depend_on_solver(rough.model, rough.state)
    assert 0.0 < off_by(rough, done(name, method="auto")) < 5e-3
    assert quantities(rough) == []
    assert rough._unsolved is not None
    assert rough._unsolved.max() > 0.0


def test_an_exact_run_is_not_done_again() -> None:
    exact = done("slider-crank", method="auto")
    assert exact.findings() == []
    assert exact._unsolved is None


def test_a_run_that_was_moved_otherwise_is_not_compared() -> None:
    document = example_document("bouncing-balls")
    document["simulation"] |= {"duration": 1.0, "solver": {"method": "jacobi", "max_iterations": 4}}
    moved = Simulation(load_scene(document))
    moved.set_velocity("ball-1", [0.5, 0.0, 0.0], [0.0, 0.0, 0.0])
    moved.advance(moved.total_steps)
    assert "solver_error" not in quantities(moved)
    assert moved._unsolved is None


def test_a_run_that_goes_on_from_a_snapshot_finds_the_same() -> None:
    whole = done("bouncing-balls", method="jacobi", max_iterations=4)
    document = example_document("bouncing-balls")
    document["simulation"] |= {"duration": 1.0, "formulation": "maximal"}
    document["simulation"]["solver"] = {"method": "jacobi", "max_iterations": 4}
    half, rest = (Simulation(load_scene(document)) for _ in range(2))
    half.advance(half.total_steps // 2)
    rest.restore(half.snapshot())
    rest.advance(rest.total_steps - rest.step_count)
    assert rest.state_hash() == whole.state_hash()
    assert rest.findings() == whole.findings() != []
