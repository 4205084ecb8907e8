"""Rows and masses -> Problem."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.articulated.rows import diagonal_in_trees
from engine.articulated.vectors import load6
from engine.kernel import kernel
from engine.spatial.mat3 import load33, times_vector
from engine.spatial.plucker import Spatial
from engine.spatial.rotation import Mat3
from engine.spatial.vec3 import dot
from engine.world.model import Bodies
from engine.world.problem import Dense, Problem
from engine.world.rows import Rows
from engine.world.workspace import Motion


@kernel
def clear_row(MJ: NDArray) -> None:
    """M^-1 J^T of a body of a tree, which does not move by itself: see articulated/rows.py."""
    for k in range(6):
        MJ[k] = 0.0


@kernel
def product(J: NDArray, MJ: NDArray) -> float:
    """J M^-1 J^T of one body."""
    total = 0.0
    for k in range(6):
        total += J[k] * MJ[k]
    return total


@kernel
def push_of(
    J: NDArray, MJ: NDArray, inertia: Mat3, mass: float, velocity: Spatial
) -> tuple[float, float]:
    """M^-1 J^T of one body that moves by itself; J M^-1 J^T and J v of it.

    inertia: I^-1 in W; mass: 1/m; velocity: angular, linear.

    Writes  MJ (6,)
    """
    turn, move = (J[0], J[1], J[2]), (J[3], J[4], J[5])
    spin = times_vector(inertia, turn)
    for k in range(3):
        MJ[k] = spin[k]
        MJ[3 + k] = mass * move[k]
    w, v = velocity
    return dot(turn, spin) + mass * dot(move, move), dot(turn, w) + dot(move, v)


@kernel
def assemble_contacts(bodies: Bodies, rows: Rows, motion: Motion, problem: Problem) -> None:
    """As `assemble`, of contacts between bodies that move by themselves: three rows at once."""
    free = motion.velocity_free
    for first in range(rows.count[1], rows.count[0], 3):
        a, b = rows.body_a[first], rows.body_b[first]
        inertia_a = load33(motion.inverse_inertia_W, a)
        inertia_b = load33(motion.inverse_inertia_W, b)
        mass_a, mass_b = bodies.inverse_mass[a], bodies.inverse_mass[b]
        free_a, free_b = load6(free, a), load6(free, b)
        for i in range(first, first + 3):
            d_a, s_a = push_of(rows.J_a[i], problem.MJ_a[i], inertia_a, mass_a, free_a)
            d_b, s_b = push_of(rows.J_b[i], problem.MJ_b[i], inertia_b, mass_b, free_b)
            problem.diagonal[i] = rows.cfm[i] + (d_a + d_b)
            problem.b[i] = rows.bias[i] + (s_a + s_b)
            problem.lam[i] = rows.lam_warm[i]


@kernel
def assemble(bodies: Bodies, rows: Rows, motion: Motion, problem: Problem, paths: Dense) -> None:
    """M^-1 J^T per body, the diagonal of A, and b = J v_free + bias.

    Bodies of trees are in the diagonal only: their part of A is made of paths, articulated/rows.py.
    The problem shares J, cfm, lo, hi, normal_row and mu with the rows; only what depends on masses
    and velocities is written here.

    Reads   the factor of trees
    Writes  paths.path, path_tree: of rows on trees
            problem.MJ_a, MJ_b (rows, 6), diagonal, b, lam (guess)
    Check   tests/engine/test_assembly.py
    """
    n_rows = rows.count[0]
    tree = problem.mobility.tree
    problem.count[0] = n_rows
    problem.count[1] = rows.count[1]
    free, n_trees = motion.velocity_free, tree.floating.shape[0]
    if n_trees == 0:
        assemble_contacts(bodies, rows, motion, problem)
    for i in range(rows.count[1] if n_trees == 0 else n_rows):
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
        if tree.node[a] >= 0:
            clear_row(MJ_a)
        if tree.node[b] >= 0:
            clear_row(MJ_b)
        if n_trees > 0 and i < paths.path.shape[0]:
            paths.path_tree[i, 0], paths.path_tree[i, 1] = -1, -1
        if tree.node[a] >= 0 or tree.node[b] >= 0:
            diagonal = rows.cfm[i] + product(J_a, MJ_a) + product(J_b, MJ_b)
            diagonal += diagonal_in_trees(problem, i, paths.path, paths.path_tree)
        problem.diagonal[i] = diagonal
        problem.b[i] = speed
        problem.lam[i] = rows.lam_warm[i]
    problem.mobility.work.paths[0] = n_rows if n_rows <= paths.path.shape[0] else 0
