"""Small overlaps at the start, as drawings have them, explain energy: that of pushing apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, document, ground, simulate

LYING = [0.7071067811865476, 0.0, 0.7071067811865475, 0.0]
SHAPES: dict[str, Document] = {
    "box": {"type": "box", "size": [0.2, 0.2, 0.2]},
    "sphere": {"type": "sphere", "radius": 0.1},
    "capsule": {"type": "capsule", "radius": 0.1, "length": 0.2, "orientation": LYING},
}


def stacked(count: int, depth: float, shape: str = "box", **options: Any) -> list[Document]:
    """Bodies of 20 cm on one another, each this deep in the one below."""
    pitch = 0.2 - depth
    return [
        {"name": f"b{k}", "position": [0, 0, 0.1 - depth + k * pitch], "mass": 1.0,
         "shapes": [SHAPES[shape]], **options}
        for k in range(count)
    ]  # fmt: skip


def ran(*bodies: Document, joints: Any = (), **options: Any) -> Simulation:
    """Bodies on the ground after one second."""
    options = {"duration": 1.0, "formulation": "maximal", **options}
    scene = document([ground(), *bodies], list(joints), gravity=[0, 0, -9.81], simulation=options)
    simulation = simulate(scene)
    simulation.advance(simulation.total_steps)
    return simulation


def status(simulation: Simulation) -> str:
    """The verdict in one word."""
    found: str = simulation.summary()["verdict"]["status"]
    return found


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize(("count", "depth"), [(2, 1e-5), (5, 1e-4), (2, 1e-3), (10, 1e-5)])
@pytest.mark.parametrize("dt", [0.002, 0.01])
def test_stacks_that_overlap_a_little_are_trusted(
    shape: str, count: int, depth: float, dt: float
) -> None:
    assert status(ran(*stacked(count, depth, shape), dt=dt)) == "trusted"


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_what_joints_hold_is_lifted_with_them(formulation: str) -> None:
    legs: list[Document] = [
        {"name": name, "position": [x, 0, 0.2999], "mass": 2.0,
         "shapes": [{"type": "box", "size": [0.1, 0.4, 0.6]}]}
        for name, x in (("left", -0.4), ("right", 0.4))
    ]  # fmt: skip
    plate: Document = {"name": "plate", "position": [0, 0, 0.65], "mass": 100.0}
    plate["shapes"] = [{"type": "box", "size": [1, 0.4, 0.09]}]
    joints = [
        {"name": leg["name"], "type": "fixed", "parent": "plate", "child": leg["name"]}
        for leg in legs
    ]
    table = ran(plate, *legs, joints=joints, dt=0.004, formulation=formulation)
    assert table.formulation == formulation
    assert status(table) == "trusted"


def test_ways_add_up_from_the_ground() -> None:
    simulation = ran(*stacked(4, 1e-4), dt=0.002)
    ways = simulation._parted_ways()
    assert ways[1:5] == pytest.approx(1e-4 * np.arange(1, 5), rel=1e-6)
    assert ways[0] == 0.0


def test_without_a_step_or_where_nothing_rises_overlaps_explain_nothing() -> None:
    (crate,) = stacked(1, 1e-4)
    weld = {"name": "weld", "type": "fixed", "parent": "world", "child": "b0"}
    held = ran(crate, joints=[weld], dt=0.002, formulation="reduced")
    assert held._parting.lift[1] == pytest.approx(1e-4)
    assert held._parted_ways().max() <= 1e-9
    begun = simulate(document([ground(), crate], gravity=[0, 0, -9.81]))
    assert not begun._parted_ways().any()


def test_overlaps_to_the_side_lift_nothing() -> None:
    left, right = stacked(1, 0.0)[0], stacked(1, 0.0)[0]
    right |= {"name": "right", "position": [0.1999, 0, 0.1]}
    assert not ran(left, right, dt=0.002)._parting.lift[2] > 1e-6


def test_energy_that_no_overlap_explains_is_found_beside_one() -> None:
    """Two boxes that overlap by more than is small, beside a heavy one that does so a little."""
    deep = stacked(2, 0.03)
    heavy = {"name": "heavy", "position": [3, 0, 0.49999], "mass": 1000.0}
    heavy["shapes"] = [{"type": "box", "size": [1, 1, 1]}]
    found = [one["quantity"] for one in ran(*deep, heavy, dt=0.001).findings()]
    assert "initial_overlap" in found
    assert "energy_drift" in found


def test_findings_outlive_snapshots() -> None:
    whole = ran(*stacked(3, 1e-4), dt=0.002)
    later = Simulation(whole.scene)
    later.restore(whole.snapshot())
    assert np.array_equal(later._parted_ways(), whole._parted_ways())
    assert status(later) == status(whole) == "trusted"
