"""Static and kinetic friction: what holds, what slides, and stick and slip in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.build import reduced
from cardan.engine.build.options import LIMITED, METHODS
from cardan.engine.collision.materials import STICTION_SPEED
from cardan.schemas import SceneInvalid, load_scene
from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.reference

G, H = 9.81, 1e-3
STATIC, KINETIC = 0.5, 0.3


def block_on_slope(angle: float, **more: Any) -> Simulation:
    """A block on a slope [rad] that falls towards +x."""
    n = [math.sin(angle), 0.0, math.cos(angle)]
    half = 0.5 * angle
    slope = {"type": "plane", "normal": n, "material": "wood"}
    shape = {"type": "box", "size": [0.4, 0.4, 0.2], "material": "wood"}
    block: Document = {"name": "block", "mass": 1.0, "shapes": [shape]}
    block |= {"position": [0.1 * x for x in n]}
    block |= {"orientation": [math.cos(half), 0, math.sin(half), 0]}
    simulation = {"dt": H, "formulation": more.pop("formulation", "maximal")}
    return simulate(
        document(
            [{"name": "slope", "type": "static", "shapes": [slope]}, block],
            materials={"wood": {"friction": KINETIC, "static_friction": STATIC}},
            simulation=simulation,
            **more,
        )
    )


def speed_after(angle: float, steps: int) -> float:
    """By steps of the law: static up to the speed of stiction, kinetic above it."""
    v = 0.0
    for _ in range(steps):
        mu = STATIC if v <= STICTION_SPEED else KINETIC
        v = max(0.0, v + H * G * (math.sin(angle) - mu * math.cos(angle)))
    return v


@pytest.mark.parametrize(
    ("formulation", "method"),
    [("maximal", method) for method in METHODS] + [("reduced", name) for name in reduced.METHODS],
)
def test_holds_up_to_the_static_angle_then_slides_by_the_kinetic_one(
    formulation: str, method: str
) -> None:
    cone = LIMITED.get(method, ("cone",))[0]
    more: dict[str, Any] = {"contact": {"friction_cone": cone}, "formulation": formulation}
    more["solver"] = {"method": method, "max_iterations": 2000, "tolerance": 1e-12}
    # the block slides along the axes of the friction box: its law is Coulomb's
    near = math.atan(STATIC)
    held = block_on_slope(near - 0.01, **more)
    held.advance(100)
    assert np.abs(held.velocities()[1]).max() < 1e-4
    # without static friction it would be at 100 h g (sin - KINETIC cos) = 0.17 m/s
    free = block_on_slope(near + 0.01, **more)
    free.advance(100)
    loose = {"small_steps": 0.03}.get(method, 1e-6)
    found = float(np.linalg.norm(free.velocities()[1, :3]))
    assert found == pytest.approx(speed_after(near + 0.01, 100), rel=loose)


def stick_slip(formulation: str) -> Simulation:
    """A block on a belt that runs at V, held by a spring: k = 25 N/m, 1 kg."""
    belt = {"type": "plane", "normal": [0, 0, 1], "material": "belt"}
    shape = {"type": "box", "size": [0.4, 0.4, 0.1], "material": "rubber"}
    block = {"name": "block", "position": [0, 0, 0.05], "mass": 1.0, "shapes": [shape]}
    return simulate(
        document(
            [{"name": "belt", "type": "static", "shapes": [belt]}, block],
            materials={
                "belt": {"surface_velocity": [V, 0, 0]},
                "rubber": {},
            },
            material_pairs=[
                {"materials": ["belt", "rubber"], "friction": 0.2, "static_friction": 0.4}
            ],
            forces=[
                {
                    "type": "spring",
                    "parent": "world",
                    "child": "block",
                    "anchor": [-1, 0, 0.05],
                    "anchor2": [0, 0, 0.05],
                    "stiffness": 25.0,
                }
            ],
            simulation={"dt": H, "formulation": formulation},
        )
    )


V = 0.1


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_stick_and_slip_of_a_block_on_a_belt(formulation: str) -> None:
    """It sticks up to x0 = mu_s m g / k; slips about xk = mu_k m g / k; sticks at 2 xk - x0.

    While it slips x = xk + (x0 - xk) cos(w t) + (V / w) sin(w t), and it sticks again where its
    velocity is V: where the phase has passed twice the angle of (x0 - xk, V / w).
    """
    sim = stick_slip(formulation)
    x = np.array([sim.advance(1) and float(sim.poses()[1, 0]) for _ in range(6000)])
    w, x0, xk = 5.0, 0.4 * G / 25.0, 0.2 * G / 25.0
    # from there on the force left over grows by k V t; the speed of stiction is k V t^2 / (2 m)
    x0 += V * math.sqrt(2.0 * STICTION_SPEED / (25.0 * V))
    amplitude = math.hypot(x0 - xk, V / w)
    # the first slip begins after x0 / V; the second stick ends one period later
    assert x.max() == pytest.approx(xk + amplitude, rel=2e-3)
    assert x[2000:].min() == pytest.approx(xk - amplitude, abs=2e-3 * amplitude)
    turn = math.atan2(V / w, x0 - xk)
    period = 2.0 * (x0 - xk) / V + (math.pi + 2.0 * turn) / w
    rising = np.flatnonzero((x[1:] >= xk) & (x[:-1] < xk)) * H
    assert np.diff(rising)[0] == pytest.approx(period, rel=5e-3)
    assert sim.summary()["verdict"]["status"] == "trusted"


def test_of_pairs_as_of_materials() -> None:
    def pair(**material: Any) -> tuple[float, float]:
        scene = document(
            [{"name": "a", "mass": 1.0, "inertia": [1, 1, 1]}],
            materials={"a": {"friction": 0.2, "static_friction": 0.8}, "b": {"friction": 0.5}},
            material_pairs=[{"materials": ["a", "b"], **material}] if material else [],
        )
        tables = simulate(scene).model.materials
        return float(tables.friction[1, 2]), float(tables.static_friction[1, 2])

    assert pair() == pytest.approx((math.sqrt(0.1), math.sqrt(0.4)))
    assert pair(friction=0.3) == pytest.approx((0.3, 0.3))
    assert pair(static_friction=0.7) == pytest.approx((math.sqrt(0.1), 0.7))
    assert pair(friction=0.3, static_friction=0.4) == pytest.approx((0.3, 0.4))


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"materials": {"a": {"friction": 0.4, "static_friction": 0.3}}}, "/materials/a"),
        (
            {
                "materials": {"a": {"friction": 0.4}},
                "material_pairs": [{"materials": ["a", "a"], "static_friction": 0.3}],
            },
            "/material_pairs/0",
        ),
    ],
)
def test_below_the_kinetic_coefficient_is_refused(more: Document, pointer: str) -> None:
    with pytest.raises(SceneInvalid) as refused:
        load_scene(document([{"name": "a", "mass": 1.0, "inertia": [1, 1, 1]}], **more))
    (fault,) = refused.value.errors
    assert (fault.pointer, fault.code) == (f"{pointer}/static_friction", "out_of_range")
