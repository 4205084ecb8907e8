"""Bodies without contact or joint do not influence each other, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import cube, document, ground, rod, simulate

pytestmark = pytest.mark.law


def stack(name: str, x: float, n: int, **more: Any) -> list[dict[str, Any]]:
    """n cubes on each other, each a little off, falling a millimetre."""
    return [
        cube(f"{name}-{k}", [x + 0.01 * (-1) ** k, 0.0, 0.101 + 0.201 * k], **more)
        for k in range(n)
    ]


def pendulum(name: str, y: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two rods on hinges."""
    bodies = [rod(f"{name}-{k}", [0.2 * k, y, 2.0], 0.2) for k in range(2)]
    joints = [
        {
            "name": f"{name}-joint-{k}",
            "type": "hinge",
            "parent": f"{name}-{k - 1}" if k else "world",
            "child": f"{name}-{k}",
            "anchor": [0.2 * k, y, 2.0],
            "axis": [0, 1, 0],
        }
        for k in range(2)
    ]
    return bodies, joints


def motion(bodies: list[Any], joints: list[Any], names: list[str], **more: Any) -> bytes:
    """Poses and velocities of some bodies through half a second, bit by bit."""
    options = {"dt": 0.002, "contact": {"margin": 1e-3}, **more}
    sim = simulate(document([ground(), *bodies], joints, simulation=options))
    chosen = [sim.body_names.index(name) for name in names]
    kept = []
    for _ in range(25):
        sim.advance(10)
        kept.append(np.hstack([sim.poses()[chosen], sim.velocities()[chosen]]))
    return np.array(kept).tobytes()


@pytest.mark.parametrize("method", ["auto", "pgs"])
def test_a_far_away_stranger_does_not_change_a_bit(method: str) -> None:
    tower = stack("tower", 0.0, 5)
    arm, hinges = pendulum("arm", 0.0)
    for body in arm:
        body["position"][0] += 20.0
    for hinge in hinges:
        hinge["anchor"][0] += 20.0
    tower_names = [body["name"] for body in tower]
    arm_names = [body["name"] for body in arm]
    solver = {"solver": {"method": method}}
    tower_alone = motion(tower, [], tower_names, **solver)
    arm_alone = motion(arm, hinges, arm_names, **solver)

    strangers = stack("high", 10.0, 18, linear_velocity=[0.1, 0.0, 0.0])
    other, pins = pendulum("other", 50.0)
    first = [*other, *strangers, *tower, *arm]
    mixed = [*arm[:1], *strangers[:9], *tower[:2], *other, *tower[2:], *strangers[9:], *arm[1:]]
    for bodies, joints in ((first, [*pins, *hinges]), (mixed, [hinges[0], *pins, hinges[1]])):
        assert motion(bodies, joints, tower_names, **solver) == tower_alone
        assert motion(bodies, joints, arm_names, **solver) == arm_alone


def test_many_towers_are_solved_as_exactly_as_one() -> None:
    bodies = [body for k in range(12) for body in stack(f"t{k}", 3.0 * k, 5)]
    sim = simulate(document([ground(), *bodies], simulation={"dt": 0.002}))
    sim.advance(200)
    report = sim.solver_report()
    assert report["islands"] == 12
    assert report["rows"] > 384, "too many for one exact solve"
    summary = sim.summary()
    assert summary["solver"]["methods"] == ["elimination"]
    assert summary["solver"]["max_residual"] <= 1e-8


def test_every_method_of_a_run_is_named_however_it_is_cut() -> None:
    def methods(*pieces: int) -> list[str]:
        # the high one is swept once it stands on itself; the low one never is
        bodies = [*stack("low", 0.0, 2), *stack("high", 5.0, 18)]
        sim = simulate(document([ground(), *bodies], simulation={"dt": 0.002}))
        for n in pieces:
            sim.advance(n)
        found: list[str] = sim.summary()["solver"]["methods"]
        return found

    assert methods(40) == methods(*[1] * 40) == ["elimination", "pgs"]
