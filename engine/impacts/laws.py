"""Laws of restitution.

In all laws w = A lam + speed is the row velocity after the impact: equations require w = 0,
contacts w_n >= 0 with Coulomb friction.

newton       w_n = -e speed_n of approaching contacts
poisson      compression lam_c (e = 0), then restitution: lam_n >= e lam_c_n
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import jacobian_product
from cardan.engine.impacts.gather import copy_row
from cardan.engine.impacts.solve_record import record_solve
from cardan.engine.problem.coupled import add_up
from cardan.engine.problem.operator import body_velocities
from cardan.engine.solvers.islands import solve_islands
from cardan.engine.world.equations import DROP
from cardan.engine.world.impacts import ROLE_STRUCK
from cardan.engine.world.options import (
    ImpactTime,
    RestitutionLaw,
    SolverMethod,
    SolverOptions,
    StepOptions,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.impacts import Impacts
    from cardan.engine.world.problem import Problem
    from cardan.engine.world.workspace import Workspace
    from cardan.engine.world.world import World

AUTO = int(SolverMethod.AUTO)
NEWTON, EXACT = int(RestitutionLaw.NEWTON), int(ImpactTime.EXACT)
# later steps cannot correct an impact: it is solved to rounding if the method allows
TOLERANCE = 1e-11
SWEEPS = 1000
# energy gain above rounding, as a share of |lam| |speed|
GAIN = 1e-13


@kernel
def has_impact_law(options: StepOptions) -> bool:
    """Whether impacts are separate from the kick: a law other than Newton's, or exact times."""
    return options.restitution_law != NEWTON or options.impact_time == EXACT


@kernel
def solve_impact(world: World) -> None:
    """Solve impacts.problem without a warm start; record the largest residuals.

    Writes  impacts.problem.lam, w; impacts.record
    """
    work, options = world.work, world.options.solver
    precise = SolverOptions(
        method=AUTO,
        max_iterations=max(options.max_iterations, SWEEPS),
        tolerance=min(options.tolerance, TOLERANCE),
        relaxation=1.0,
        warm_start=0,
        substeps=options.substeps,
        frequency=options.frequency,
        damping_ratio=options.damping_ratio,
    )
    problem, islands, v = work.impacts.problem, work.islands, work.motion.scratch
    inverse_mass = world.model.bodies.inverse_mass
    work.dense.kept.count[1] = DROP
    solve_islands(problem, inverse_mass, islands, work.dense, v, precise, world.report)
    record_solve(work.impacts, world.report)


@kernel
def contact_of(work: Workspace, k: int) -> int:
    """The contact whose normal is row k of the impact."""
    return (work.impacts.source[k] - work.rows.count[1]) // 3


@kernel
def write_speeds(work: Workspace) -> None:
    """Write impacts.speed: with half of the kick for struck contacts, without it for others.

    The kick itself balances the forces on a resting contact. Surface velocities are included.
    """
    impacts = work.impacts
    problem = impacts.problem
    for k in range(problem.count[1], problem.count[0], 3):
        struck = impacts.role[contact_of(work, k)] == ROLE_STRUCK
        for i in range(k, k + 3):
            moving = impacts.velocity if struck else impacts.seen
            impacts.speed[i] = jacobian_product(problem, i, moving)
            if i > k:
                impacts.speed[i] += work.rows.bias[impacts.source[i]]


@kernel
def allowed_approach(work: Workspace, k: int, horizon: float) -> float:
    """Approach speed allowed to a contact that is not struck: gap/horizon [m/s]."""
    c = contact_of(work, k)
    if work.impacts.role[c] == ROLE_STRUCK or horizon <= 0.0:
        return 0.0
    return max(work.contacts.gap[c], 0.0) / horizon


@kernel
def write_targets(work: Workspace, share: float, horizon: float) -> None:
    """Write b of the problem: struck contacts shall separate at share * e * their approach speed.

    Writes  impacts.problem.b
    """
    impacts = work.impacts
    problem, speed = impacts.problem, impacts.speed
    for k in range(problem.count[0]):
        problem.b[k] = speed[k]
    for k in range(problem.count[1], problem.count[0], 3):
        c = contact_of(work, k)
        if impacts.role[c] == ROLE_STRUCK:
            problem.b[k] += share * work.contacts.restitution[c] * min(speed[k], 0.0)
        else:
            problem.b[k] += allowed_approach(work, k, horizon)
    add_up(problem, problem.b)


@kernel
def gain_of(impacts: Impacts, v: NDArray) -> tuple[float, float]:
    """Energy gained by the impulses problem.lam, and the size of its terms [J].

        lam . (speed + 1/2 J M^-1 J^T lam)

    Writes  v (n, 6) scratch
    """
    problem = impacts.problem
    body_velocities(problem, v)
    gain, size = 0.0, 0.0
    for k in range(problem.count[0]):
        gain += problem.lam[k] * (impacts.speed[k] + 0.5 * jacobian_product(problem, k, v))
        size += abs(problem.lam[k] * impacts.speed[k])
    return gain, size


@kernel
def gain_at(impacts: Impacts, share: float, v: NDArray) -> float:
    """Energy gained by first + share (lam - first) [J].

    Writes  impacts.problem.lam; v (n, 6) scratch
    """
    problem = impacts.problem
    for k in range(problem.count[0]):
        problem.lam[k] = impacts.first[k] + share * (impacts.lam[k] - impacts.first[k])
    return gain_of(impacts, v)[0]


@kernel
def gains(impacts: Impacts, v: NDArray) -> bool:
    """Whether impacts.lam would create energy.

    Writes  impacts.problem.lam; v (n, 6) scratch
    """
    problem = impacts.problem
    for k in range(problem.count[0]):
        problem.lam[k] = impacts.lam[k]
    gain, size = gain_of(impacts, v)
    return gain > GAIN * size


@kernel
def keep_energy(impacts: Impacts, v: NDArray) -> None:
    """Move impacts.lam towards `first`, which creates no energy, until it creates none either.

    The gain is a quadratic function of the share; contacts that separate in both solutions separate
    in between.
    """
    at_0, at_half = gain_at(impacts, 0.0, v), gain_at(impacts, 0.5, v)
    at_1 = gain_at(impacts, 1.0, v)
    a = 2.0 * (at_0 + at_1 - 2.0 * at_half)
    b = at_1 - at_0 - a
    share = 0.0
    if at_0 < 0.0:
        root = sqrt(max(b * b - 4.0 * a * at_0, 0.0))
        share = -2.0 * at_0 / (b + root) if b >= 0.0 else (root - b) / (2.0 * a)
    share = min(max(share, 0.0), 1.0)
    for k in range(impacts.problem.count[0]):
        impacts.lam[k] = impacts.first[k] + share * (impacts.lam[k] - impacts.first[k])


@kernel
def keep_answer(problem: Problem, lam: NDArray) -> None:
    """Copy problem.lam to lam."""
    for k in range(problem.count[0]):
        lam[k] = problem.lam[k]


@kernel
def newton_impact(world: World, horizon: float, bounded: bool) -> None:
    """Newton's law: approaching contacts separate at e times their approach speed, all at once.

    With friction this can create energy (Kane's paradox); if `bounded`, e is then reduced for all
    contacts of the problem so that no energy is created.

    Writes  impacts.lam
    Check   tests/references/test_impacts.py
    """
    work, impacts = world.work, world.work.impacts
    write_targets(work, 1.0, horizon)
    solve_impact(world)
    keep_answer(impacts.problem, impacts.lam)
    if bounded and gains(impacts, work.motion.scratch):
        write_targets(work, 0.0, horizon)
        solve_impact(world)
        keep_answer(impacts.problem, impacts.first)
        keep_energy(impacts, work.motion.scratch)


@kernel
def append_given(problem: Problem, k: int, x: int, given: float) -> None:
    """Rows x .. x + 2: friction of the contact with normal row k under a normal impulse `given`.

    The normal row has a zero Jacobian and the solution lam = given; the effect of the given impulse
    is in b.
    """
    for i in range(3):
        copy_row(problem, k + i, problem, x + i)
        problem.b[x + i] = problem.b[k + i]
    for c in range(6):
        problem.J_a[x, c] = 0.0
        problem.J_b[x, c] = 0.0
        problem.MJ_a[x, c] = 0.0
        problem.MJ_b[x, c] = 0.0
    problem.cfm[x] = problem.diagonal[x]
    problem.b[x] = -problem.diagonal[x] * given
    problem.normal_row[x + 1] = x
    problem.normal_row[x + 2] = x


@kernel
def write_restitution(work: Workspace, horizon: float) -> None:
    """The problem of the restitution phase: e lam_c is given, further impulses prevent penetration.

    Writes  impacts.problem: b; friction rows of the given impulses are appended, count[0] = all
    """
    impacts, v = work.impacts, work.motion.scratch
    problem, first = impacts.problem, impacts.first
    n, n_box = problem.count[0], problem.count[1]
    for k in range(n):
        problem.lam[k] = first[k]
    for k in range(n_box, n, 3):
        problem.lam[k] += work.contacts.restitution[contact_of(work, k)] * first[k]
    body_velocities(problem, v)
    for k in range(n):
        problem.b[k] = impacts.speed[k] + jacobian_product(problem, k, v)
    add_up(problem, problem.b)
    x = n
    for k in range(n_box, n, 3):
        problem.b[k] += allowed_approach(work, k, horizon)
        given = work.contacts.restitution[contact_of(work, k)] * first[k]
        if given > 0.0:
            append_given(problem, k, x, given)
            x += 3
    problem.count[0] = x


@kernel
def poisson_impact(world: World, horizon: float) -> None:
    """Poisson's law: a compression phase, then a restitution phase with e times its impulses.

        1  w = A lam_c + speed,            lam_c_n >= 0 _|_ w_n >= 0
        2  w = A (lam_c + lam_r) + speed,  lam_r_n >= e lam_c_n _|_ w_n >= 0

    each with Coulomb's law for its own impulses. Never creates energy: phase 1 is dissipative, and
    lam_r = e lam_c would return e^2 of the energy its impulses took; if several contacts with
    friction and different e would gain energy, phase 2 is reduced until they gain none.

    Writes  impacts.first lam_c, impacts.lam lam_c + lam_r
    Source  Glocker 1995; Anitescu and Potra 1997, with friction bound by all of lam_r_n
    Check   tests/references/test_impacts.py
    """
    work, impacts = world.work, world.work.impacts
    problem, first, lam = impacts.problem, impacts.first, impacts.lam
    write_targets(work, 0.0, horizon)
    solve_impact(world)
    keep_answer(problem, first)
    n, n_box = problem.count[0], problem.count[1]
    write_restitution(work, horizon)
    solve_impact(world)
    x = n
    for k in range(n):
        lam[k] = first[k] + problem.lam[k]
    for k in range(n_box, n, 3):
        given = work.contacts.restitution[contact_of(work, k)] * first[k]
        if given > 0.0:
            lam[k] += given
            lam[k + 1] += problem.lam[x + 1]
            lam[k + 2] += problem.lam[x + 2]
            x += 3
    problem.count[0] = n
    if gains(impacts, work.motion.scratch):
        keep_energy(impacts, work.motion.scratch)
