"""Projected Gauss-Seidel as it is done in a step: eight contacts at a time where they allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.kernel import kernel
from engine.solvers.coloured import sweep_lanes
from engine.solvers.lanes import load_lanes, store_lanes
from engine.solvers.operator import body_velocities, first_follower
from engine.solvers.pgs import pgs, project_impulses, sweep_boxes, sweep_cone, write_steps
from engine.world.problem import FRICTION_CONE
from engine.world.report import STOPPED_MAX_ITERATIONS, STOPPED_TOLERANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.world.problem import Lanes, Problem

# Share of its last impulse that a standing contact starts from: what swings dies out.
KEPT = 0.997


@kernel
def is_cold(problem: Problem) -> bool:
    """Whether no contact knows an impulse to start from."""
    for i in range(problem.count[1], problem.count[0], 3):
        if problem.lam[i] != 0.0:
            return False
    return True


@kernel
def ease_contacts(problem: Problem) -> None:
    """Milder corrections and guesses for the contacts that stand.

    Writes  problem.b, problem.lam
    Source  decision 0065
    """
    for i in range(problem.count[1], problem.count[0], 3):
        if problem.ease[i] != 0.0:
            problem.b[i] += problem.ease[i]
            for k in range(3):
                problem.lam[i + k] *= KEPT


@kernel
def sweep_all(
    problem: Problem,
    lanes: Lanes,
    v: NDArray,
    max_iterations: int,
    tolerance: float,
    relaxation: float,
) -> tuple[int, int]:
    """As pgs, contacts in the order of their colours; STOPPED_..., sweeps.

    Squares, polygons and contacts that resist turning are left to pgs.

    Writes  problem.lam; lanes; scratch as pgs
    Check   tests/engine/solvers/test_lanes.py
    """
    n_box = problem.count[1]
    if problem.friction_kind[0] != FRICTION_CONE or first_follower(problem) < n_box:
        return pgs(problem, v, max_iterations, tolerance, relaxation)
    project_impulses(problem)
    write_steps(problem)
    if not load_lanes(problem, lanes):
        return pgs(problem, v, max_iterations, tolerance, relaxation)
    body_velocities(problem, v)
    # a lane without a contact lies at the world, where nothing moves
    world = problem.inverse_mass.shape[0] - 1
    for k in range(6):
        v[world, k] = 0.0
    status, done = STOPPED_MAX_ITERATIONS, max_iterations
    for k in range(max_iterations):
        change = sweep_boxes(problem, v, relaxation)
        change = max(change, sweep_lanes(lanes, v, relaxation))
        for r in range(lanes.count[1]):
            change = max(change, sweep_cone(problem, v, lanes.rest[r], relaxation))
        if change <= tolerance:
            status, done = STOPPED_TOLERANCE, k + 1
            break
    store_lanes(problem, lanes)
    return status, done
