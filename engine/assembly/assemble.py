"""Rows and masses -> Problem."""

from __future__ import annotations

from engine.kernel import kernel
from engine.world.model import Bodies
from engine.world.problem import Problem
from engine.world.rows import Rows
from engine.world.workspace import Motion


@kernel
def assemble(bodies: Bodies, rows: Rows, motion: Motion, problem: Problem) -> None:
    """M^-1 J^T per body, the diagonal of A, and b = J v_free + bias.

    The problem shares J, cfm, lo, hi, normal_row and mu with the rows; only what depends on masses
    and velocities is written here.

    Writes  problem.MJ_a, MJ_b (rows, 6), diagonal, b, lam (guess)
    Check   tests/engine/test_assembly.py
    """
    n_rows = rows.count[0]
    problem.count[0] = n_rows
    problem.count[1] = rows.count[1]
    free = motion.velocity_free
    for i in range(n_rows):
        a, b = rows.body_a[i], rows.body_b[i]
        J_a, J_b = rows.J_a[i], rows.J_b[i]
        MJ_a, MJ_b = problem.MJ_a[i], problem.MJ_b[i]
        inertia_a, inertia_b = motion.inverse_inertia_W[a], motion.inverse_inertia_W[b]
        mass_a, mass_b = bodies.inverse_mass[a], bodies.inverse_mass[b]
        diagonal = rows.cfm[i]
        speed = rows.bias[i]
        for k in range(3):
            MJ_a[k] = inertia_a[k, 0] * J_a[0] + inertia_a[k, 1] * J_a[1] + inertia_a[k, 2] * J_a[2]
            MJ_b[k] = inertia_b[k, 0] * J_b[0] + inertia_b[k, 1] * J_b[1] + inertia_b[k, 2] * J_b[2]
            MJ_a[3 + k] = mass_a * J_a[3 + k]
            MJ_b[3 + k] = mass_b * J_b[3 + k]
            diagonal += J_a[k] * MJ_a[k] + J_b[k] * MJ_b[k]
            diagonal += J_a[3 + k] * MJ_a[3 + k] + J_b[3 + k] * MJ_b[3 + k]
            speed += J_a[k] * free[a, k] + J_b[k] * free[b, k]
            speed += J_a[3 + k] * free[a, 3 + k] + J_b[3 + k] * free[b, 3 + k]
        problem.diagonal[i] = diagonal
        problem.b[i] = speed
        problem.lam[i] = rows.lam_warm[i]
