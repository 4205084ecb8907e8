"""What a solver leaves in each step: runs that half the step trusts, and an exact solution not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan import load_scene
from cardan.engine import Simulation
from cardan.engine.verdict import solver_errors
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
    assert solver_errors.may_depend_on_solver(rough.model, rough.state, rough.options)
    assert 0.0 < off_by(rough, done(name, method="auto")) < 5e-3
    assert quantities(rough) == []
    assert rough._unsolved is not None
    assert rough._unsolved.max() > 0.0


def on_a_rail(depth: float, method: str) -> Simulation:
    """A box on a rail that holds it so deep in a floor [m]: both can carry it."""
    box = {"type": "box", "size": [0.4, 0.2, 0.2]}
    floor = {"type": "plane", "normal": [0, 0, 1], "offset": -0.1 + depth}
    simulation = {"dt": 1e-3, "duration": 0.3, "formulation": "maximal"}
    document = {
        "gravity": [3.0, 1.0, -9.0],
        "simulation": simulation | {"solver": {"method": method}},
        "bodies": [
            {"name": "box", "mass": 1.0, "shapes": [box]},
            {"name": "floor", "type": "static", "shapes": [floor]},
        ],
        "joints": [
            {"name": "rail", "type": "slider", "parent": "world", "child": "box", "axis": [1, 0, 0]}
        ],
    }
    done = Simulation(load_scene(document))
    done.advance(done.total_steps)
    return done


@pytest.mark.parametrize(("depth", "method"), [(1e-5, "pgs"), (0.0, "jacobi")])
def test_what_contacts_and_joints_share_without_a_residual_is_compared(
    depth: float, method: str
) -> None:
    exact, shared = on_a_rail(depth, "auto"), on_a_rail(depth, method)
    assert exact.state.v_WB_W[0, 0] == pytest.approx(3.0 * 0.3, rel=1e-3)
    assert quantities(exact) == []
    assert shared.state.v_WB_W[0, 0] < 0.8 * exact.state.v_WB_W[0, 0]
    assert shared.summary()["solver"]["max_residual"] * 0.3 < solver_errors.LEFT_SHARE * 0.2
    assert quantities(shared) == ["solver_error"]


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
