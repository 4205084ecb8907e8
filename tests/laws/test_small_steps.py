"""Substeps obey the laws that every step obeys: books close, free bodies fly, what stands stays."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene

pytestmark = pytest.mark.law

SMALL = {"method": "small_steps"}
PLANE = {"type": "plane", "normal": [0, 0, 1]}


def simulate(bodies, joints=(), solver=SMALL, dt=0.005, duration=1.0, **more):
    simulation = {"dt": dt, "duration": duration, "solver": solver}
    document = {"simulation": simulation, "bodies": list(bodies), "joints": list(joints), **more}
    return Simulation(load_scene(document))


def tower(n):
    box = {"density": 1000.0, "shapes": [{"type": "box", "size": [0.5] * 3}]}
    boxes = [{"name": f"b{k}", "position": [0, 0, 0.25 + 0.5 * k], **box} for k in range(n)]
    return [{"name": "ground", "type": "static", "shapes": [PLANE]}, *boxes]


def books(simulation):
    """Relative errors of the energy balance, of linear and of angular momentum."""
    summary = simulation.summary()
    momentum = summary["momentum"]
    drifts = momentum["max_linear_drift"], momentum["max_angular_drift"]
    return summary["energy"]["balance_error"], *drifts


def test_a_tower_stands_and_the_books_close():
    simulation = simulate(tower(10), dt=1 / 240, duration=2.0)
    start = simulation.poses()[:, :3]
    simulation.advance(simulation.total_steps)
    assert np.linalg.norm(simulation.poses()[:, :3] - start, axis=1).max() < 3e-3
    assert simulation.solver_report()["max_penetration"] < 4e-4
    scale = simulation.summary()["energy"]
    # energies of 1e5 J, and almost nothing moves
    error = scale["balance_error"] * scale["max_kinetic"] / scale["initial"]
    assert error < 1e-12
    assert max(books(simulation)[1:]) < 1e-12


def test_more_substeps_hold_a_tower_better():
    depths = []
    for n in (2, 8):
        simulation = simulate(tower(10), solver={**SMALL, "substeps": n}, dt=1 / 240)
        simulation.advance(simulation.total_steps)
        depths.append(simulation.solver_report()["max_penetration"])
        assert simulation.solver_report()["method"] == "small_steps"
    assert depths[1] < 0.25 * depths[0]


def test_a_free_body_does_not_know_of_substeps():
    bodies = [
        {"name": "a", "position": [0, 0, 5], "mass": 2.0, "inertia": [0.1, 0.2, 0.25]},
        {"name": "b", "position": [3, 0, 0.1], "mass": 1.0, "linear_velocity": [1, 0, 0]},
    ]
    bodies[0] |= {"angular_velocity": [1, 5, 0.1], "linear_velocity": [0, 1, 3]}
    bodies[1] |= {"shapes": [{"type": "sphere", "radius": 0.1}]}
    ground = {"name": "ground", "type": "static", "shapes": [PLANE]}
    ends = []
    for method in ("auto", "small_steps"):
        simulation = simulate([ground, *bodies], solver={"method": method})
        simulation.advance(100)
        ends.append(simulation.poses()[1])
    assert (ends[0] == ends[1]).all()


def incline(mu, angle):
    n = [math.sin(angle), 0, math.cos(angle)]
    plane = {"type": "plane", "normal": n, "material": "m"}
    box = {"type": "box", "size": [0.2] * 3, "material": "m"}
    turned = [math.cos(angle / 2), 0, math.sin(angle / 2), 0]
    body = {"name": "b", "position": [0.1 * n[0], 0, 0.1 * n[2]], "orientation": turned}
    ground = {"name": "ground", "type": "static", "shapes": [plane]}
    bodies = [ground, {**body, "mass": 1.0, "shapes": [box]}]
    return simulate(bodies, materials={"m": {"friction": mu}})


def test_an_incline_holds_or_lets_slide():
    held, slides = incline(0.6, 0.5), incline(0.3, 0.5)
    for simulation in (held, slides):
        start = simulation.poses()[1, :3]
        simulation.advance(simulation.total_steps)
        simulation.way = np.linalg.norm(simulation.poses()[1, :3] - start)
    assert held.way < 1e-4
    assert np.abs(held.velocities()).max() < 1e-5
    expected = 0.5 * 9.81 * (math.sin(0.5) - 0.3 * math.cos(0.5))
    assert slides.way == pytest.approx(expected, rel=1e-3)


def chain(n, solver, dt):
    bodies = []
    joints = []
    for k in range(n):
        body = {"name": f"b{k}", "position": [0.1 + 0.2 * k, 0, 0], "mass": 1.0}
        bodies.append({**body, "inertia": [1e-3, 4e-3, 4e-3]})
        joint = {"name": f"j{k}", "type": "hinge", "parent": f"b{k - 1}" if k else "world"}
        joints.append({**joint, "child": f"b{k}", "anchor": [0.2 * k, 0, 0], "axis": [0, 1, 0]})
    return simulate(bodies, joints, solver=solver, dt=dt, duration=0.4)


def test_chains_come_closer_to_the_exact_solver_with_more_substeps():
    ends, errors = [], []
    for n in (0, 1, 2, 4, 8):
        solver = {**SMALL, "substeps": n} if n else {"method": "auto"}
        simulation = chain(3, solver, 0.005)
        simulation.advance(simulation.total_steps)
        ends.append(simulation.poses()[-1, :3])
        errors.append(simulation.solver_report()["joint_position_error"])
        assert books(simulation)[0] < 1e-12
    off = [np.linalg.norm(end - ends[0]) for end in ends[1:]]
    assert off[1] < 0.5 * off[0]
    assert off[2] < 0.5 * off[1]
    assert off[3] < 1e-3
    assert errors[2] < 0.5 * errors[1]
    assert errors[4] < 0.5 * errors[3]


def test_what_bounces_comes_back_with_its_restitution():
    ball = {"name": "b", "position": [0, 0, 0.5], "mass": 1.0}
    ball["shapes"] = [{"type": "sphere", "radius": 0.1, "material": "m"}]
    ground = {"name": "ground", "type": "static", "shapes": [{**PLANE, "material": "m"}]}
    simulation = simulate([ground, ball], materials={"m": {"restitution": 0.8}}, dt=0.001)
    heights = []
    for _ in range(simulation.total_steps):
        simulation.advance(1)
        heights.append(simulation.poses()[1, 2])
    first = int(np.argmin(heights))
    assert max(heights[first:]) == pytest.approx(0.1 + 0.4 * 0.8**2, abs=4e-3)
    assert books(simulation)[0] < 1e-12


def floating():
    """A pair on a ball joint that a third body hits, and falls with."""
    box = {"shapes": [{"type": "box", "size": [0.3, 0.2, 0.1]}]}
    bodies = [
        {"name": "a", "position": [0, 0, 0], "mass": 1.0, "angular_velocity": [1, 2, 3], **box},
        {"name": "b", "position": [0.4, 0, 0], "mass": 2.0, **box},
        {"name": "c", "position": [0.2, 1.0, 0.05], "mass": 2.0, "linear_velocity": [0, -3, 0]},
    ]
    bodies[2]["shapes"] = [{"type": "sphere", "radius": 0.2}]
    joint = {"name": "j", "type": "ball", "parent": "a", "child": "b", "anchor": [0.2, 0, 0]}
    return simulate(bodies, [joint])


def test_momenta_of_what_floats_are_kept():
    simulation = floating()
    simulation.advance(120)
    assert simulation.summary()["energy"]["dissipated_impact"] > 0.1
    assert max(books(simulation)) < 1e-12


def test_a_run_goes_on_from_a_snapshot_to_the_same_bits():
    whole, parts = simulate(tower(4)), simulate(tower(4))
    whole.advance(60)
    parts.advance(25)
    saved = parts.snapshot()
    other = simulate(tower(4))
    other.restore(saved)
    for array in (*other.work.substeps[1:],):
        array[:] = -1 if array.dtype == np.int64 else np.nan
    other.advance(35)
    assert other.state_hash() == whole.state_hash()
