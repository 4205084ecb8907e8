"""A scene's choice of solver: the same motion by all of them, and the tolerance kept or said."""

import re

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene

METHODS = [
    "auto",
    "pgs",
    "sor",
    "gauss_seidel",
    "jacobi",
    "nncg",
    "pgs_sm",
    "apgd",
    "proximal",
    "small_steps",
]
MATERIALS = {"rubber": {"friction": 0.5}}
GROUND = {
    "name": "ground",
    "type": "static",
    "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "rubber"}],
}


def stack(masses, method, tolerance=1e-8, duration=0.2, **solver):
    """Boxes on each other at rest, and one beside them that slides."""
    boxes = [
        {
            "name": f"box{k}",
            "position": [0, 0, 0.1 + 0.2 * k],
            "mass": mass,
            "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "material": "rubber"}],
        }
        for k, mass in enumerate(masses)
    ]
    slider = {**boxes[0], "name": "slider", "position": [1, 0, 0.1]}
    slider["linear_velocity"] = [1.0, 0.5, 0]
    options = {"method": method, "tolerance": tolerance, **solver}
    return load_scene(
        {
            "simulation": {"dt": 0.005, "duration": duration, "solver": options},
            "materials": MATERIALS,
            "bodies": [GROUND, *boxes, slider],
        }
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_method_stacks_and_slides(method):
    simulation = Simulation(stack([1.0, 2.0, 1.0], method, max_iterations=3000))
    simulation.advance(40)
    poses = simulation.poses()[1:4]
    # soft contacts give way by g/omega^2 times what they bear over their own weight
    depth = 5e-4 if method == "small_steps" else 1e-4
    np.testing.assert_allclose(poses[:, 2], [0.1, 0.3, 0.5], atol=depth)
    np.testing.assert_allclose(poses[:, :2], 0.0, atol=1e-4)
    # friction alone: v = v0 - mu g t
    speed = np.linalg.norm(simulation.velocities()[4, :3])
    assert speed == pytest.approx(np.hypot(1.0, 0.5) - 0.5 * 9.81 * 0.2, abs=2e-3)
    assert method == "auto" or simulation.summary()["solver"]["methods"] == [method]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("most", [2, 20_000])
def test_the_tolerance_is_kept_or_said(method, most):
    simulation = Simulation(stack([1.0, 2.0, 1.0], method, max_iterations=most))
    simulation.advance(20)
    reached = simulation.summary()["solver"]["max_residual"]
    said = [text for text in simulation.warnings() if "residual" in text]
    assert (reached > 1e-8) == bool(said)
    if said:
        factor = float(re.findall(r"by a factor of ([0-9.e+]+?)\.?$", said[0])[0])
        assert factor == pytest.approx(reached / 1e-8, rel=1e-2)
    if most > 2 and method in ("auto", "nncg", "proximal", "gauss_seidel"):
        assert not said


@pytest.mark.law
@pytest.mark.parametrize("masses", [[1.0, 1e6], [1.0, 1e3, 1e6], [1e-3, 1.0, 1e3]])
def test_heavy_on_light_stands(masses):
    """Mass ratios of a million converge to the tolerance, and the stack stays where it is."""
    simulation = Simulation(stack(masses, "auto", tolerance=1e-8, duration=0.5))
    simulation.advance(100)
    heights = simulation.poses()[1 : 1 + len(masses), 2]
    np.testing.assert_allclose(heights, 0.1 + 0.2 * np.arange(len(masses)), atol=1e-6)
    # measured anew from velocities that carry rounding of impulses a million times larger
    assert simulation.summary()["solver"]["max_residual"] <= 1.05e-8
