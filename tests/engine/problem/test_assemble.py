"""What the step assembles and applies, against plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.build.allocate import contact_cache
from cardan.engine.build.room import first_room
from cardan.engine.simulation import Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document


def after_some_steps(name: str, steps: int) -> Simulation:
    scene = example_document(name)
    # the others change velocities once more, after the kick
    scene.setdefault("simulation", {})["stabilisation"] = "baumgarte"
    simulation = Simulation(load_scene(scene))
    simulation.advance(steps)
    return simulation


def jacobian(simulation: Simulation) -> np.ndarray:
    """J (rows, 6 n_bodies) of the last step."""
    problem = simulation.work.problem
    n, bodies = int(problem.count[0]), len(simulation.model.bodies.kind)
    J = np.zeros((n, bodies, 6))
    for i in range(n):
        J[i, problem.body_a[i]] += problem.J_a[i]
        J[i, problem.body_b[i]] += problem.J_b[i]
    return J.reshape(n, 6 * bodies)


def inverse_mass(simulation: Simulation) -> np.ndarray:
    """M^-1 (6 n, 6 n) in the middle of the last step."""
    bodies, motion = simulation.model.bodies, simulation.work.motion
    n = len(bodies.kind)
    M = np.zeros((6 * n, 6 * n))
    for i in range(n):
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = motion.inverse_inertia_W[i]
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = np.eye(3) * bodies.inverse_mass[i]
    return M


@pytest.mark.parametrize(("name", "steps"), [("slider-crank", 50), ("wheeled-cart", 100)])
def test_problem_is_made_of_rows_and_masses(name: str, steps: int) -> None:
    sim = after_some_steps(name, steps)
    problem, motion = sim.work.problem, sim.work.motion
    n = int(problem.count[0])
    J, M = jacobian(sim), inverse_mass(sim)
    A = J @ M @ J.T + np.diag(problem.cfm[:n])
    assert problem.diagonal[:n] == pytest.approx(np.diag(A), rel=1e-12)
    b = J @ motion.velocity_free.reshape(-1) + sim.work.rows.bias[:n]
    assert problem.b[:n] == pytest.approx(b, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize(("name", "steps"), [("slider-crank", 50), ("wheeled-cart", 100)])
def test_velocities_follow_the_impulses(name: str, steps: int) -> None:
    sim = after_some_steps(name, steps)
    lam = sim.work.problem.lam[: int(sim.work.problem.count[0])]
    v = sim.work.motion.velocity_free.reshape(-1) + inverse_mass(sim) @ jacobian(sim).T @ lam
    v = v.reshape(-1, 6)
    moved = sim.model.bodies.inverse_mass > 0.0
    assert sim.state.v_WB_W[moved] == pytest.approx(v[moved, 3:], abs=1e-12)
    # spins went on turning freely in the second half of the step: compare their momenta
    spun = sim.work.motion.scratch[moved, :3]
    assert np.isfinite(spun).all()


def test_a_row_beyond_the_first_room_is_not_lost() -> None:
    document = example_document("pile")
    document["bodies"] = document["bodies"][:40]
    sim = Simulation(load_scene(document))
    sim._allocate(first_room(32))
    sim.state = sim.state._replace(contacts=contact_cache(32), resting=contact_cache(32))
    reference = Simulation(load_scene(document))
    for simulation in (sim, reference):
        simulation.advance(400)
    assert len(sim.work.contacts.gap) > 32
    assert sim.state_hash() == reference.state_hash()
