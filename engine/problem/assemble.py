"""Assembly of the Problem from constraint rows, masses and velocities."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.coupled import add_up
from cardan.engine.problem.given_slip import yield_friction
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.rotation import Mat3
from cardan.engine.trees.paths import diagonal_in_trees
from cardan.engine.world.world import World


@kernel
def write_friction_law(world: World) -> None:
    """The set of friction impulses that the scene asks for: problem.friction_kind."""
    kind = world.work.problem.friction_kind
    kind[0] = world.options.friction_kind
    kind[1] = world.options.directions


@kernel
def clear_row(MJ: NDArray) -> None:
    """Clear M^-1 J^T of a body of a tree; trees/operator.py computes its response."""
    for k in range(6):
        MJ[k] = 0.0


@kernel
def product(J: NDArray, x: NDArray) -> float:
    """J x of one body, for x = M^-1 J^T or its velocity."""
    total = 0.0
    for k in range(6):
        total += J[k] * x[k]
    return total


@kernel
def push_of(inertia: Mat3, mass: float, J: NDArray, MJ: NDArray) -> float:
    """Write M^-1 J^T of one body; return J M^-1 J^T.

    Reads   inertia, mass   inverses
    Writes  MJ
    """
    w = times_vector(inertia, (J[0], J[1], J[2]))
    MJ[0], MJ[1], MJ[2] = w
    MJ[3], MJ[4], MJ[5] = mass * J[3], mass * J[4], mass * J[5]
    return product(J, MJ)


@kernel
def assemble_contact(world: World, i: int) -> None:
    """Assemble the three rows of a contact between bodies without trees, as assemble_row does."""
    bodies, motion = world.model.bodies, world.work.motion
    rows, problem = world.work.rows, world.work.problem
    a, b = rows.body_a[i], rows.body_b[i]
    inertia_a, inertia_b = load33(motion.inverse_inertia_W, a), load33(motion.inverse_inertia_W, b)
    mass_a, mass_b = bodies.inverse_mass[a], bodies.inverse_mass[b]
    free_a, free_b = motion.velocity_free[a], motion.velocity_free[b]
    for r in range(i, i + 3):
        J_a, J_b = rows.J_a[r], rows.J_b[r]
        diagonal = push_of(inertia_a, mass_a, J_a, problem.MJ_a[r])
        diagonal += push_of(inertia_b, mass_b, J_b, problem.MJ_b[r])
        problem.diagonal[r] = rows.cfm[r] + diagonal
        problem.b[r] = rows.bias[r] + (product(J_a, free_a) + product(J_b, free_b))
        problem.lam[r] = rows.lam_warm[r]


@kernel
def assemble_row(world: World, i: int) -> None:
    """Assemble row i; see assemble."""
    bodies, motion = world.model.bodies, world.work.motion
    rows, problem, paths = world.work.rows, world.work.problem, world.work.dense
    a, b = rows.body_a[i], rows.body_b[i]
    tree, free = problem.mobility.tree, motion.velocity_free
    J_a, J_b = rows.J_a[i], rows.J_b[i]
    MJ_a, MJ_b = problem.MJ_a[i], problem.MJ_b[i]
    diagonal = push_of(load33(motion.inverse_inertia_W, a), bodies.inverse_mass[a], J_a, MJ_a)
    diagonal += push_of(load33(motion.inverse_inertia_W, b), bodies.inverse_mass[b], J_b, MJ_b)
    if tree.node[a] >= 0:
        clear_row(MJ_a)
    if tree.node[b] >= 0:
        clear_row(MJ_b)
    if tree.floating.shape[0] > 0 and i < paths.path.shape[0]:
        paths.path_tree[i, 0], paths.path_tree[i, 1] = -1, -1
    if tree.node[a] >= 0 or tree.node[b] >= 0:
        diagonal = product(J_a, MJ_a) + product(J_b, MJ_b)
        diagonal += diagonal_in_trees(problem, i, paths.path, paths.path_tree)
    problem.diagonal[i] = rows.cfm[i] + diagonal
    problem.b[i] = rows.bias[i] + (product(J_a, free[a]) + product(J_b, free[b]))
    # what nothing can move has no impulse
    problem.lam[i] = rows.lam_warm[i] if problem.diagonal[i] > 0.0 else 0.0


@kernel
def assemble_contacts(world: World, first: int, end: int) -> None:
    """Assemble the rows of the contacts [first, end), between bodies without trees."""
    n_box = world.work.rows.count[1]
    for c in range(first, end):
        assemble_contact(world, n_box + 3 * c)


@kernel
def has_trees(world: World) -> bool:
    """Whether any body is on a tree."""
    return bool(world.work.problem.mobility.tree.floating.shape[0] > 0)


@kernel
def assemble_boxes(world: World) -> None:
    """Assemble all rows of a world with trees, else all but those of contacts."""
    rows, problem = world.work.rows, world.work.problem
    for k in range(3):
        problem.count[k] = rows.count[k]
    for i in range(rows.count[0] if has_trees(world) else rows.count[1]):
        assemble_row(world, i)


@kernel
def complete(world: World) -> None:
    """Add up the rows of couplings; friction that moves nothing yields; count paths."""
    problem, paths, n_rows = world.work.problem, world.work.dense, world.work.rows.count[0]
    add_up(problem, problem.b)
    if has_trees(world):
        yield_friction(problem)
    problem.mobility.work.paths[0] = n_rows if n_rows <= paths.path.shape[0] else 0


@kernel
def assemble(world: World) -> None:
    """Write M^-1 J^T per body, the diagonal of A, and b = J v_free + bias.

    Bodies of trees enter the diagonal only: trees/paths.py computes their part of A.
    The problem shares J, cfm, lo, hi, normal_row and mu with the rows; only what depends on masses
    and velocities is written here.

    Reads   the factor of trees
    Writes  dense.path, path_tree: of rows on trees
            problem.MJ_a, MJ_b (rows, 6), diagonal, b, lam (guess)
    Check   tests/engine/problem/test_assemble.py
    """
    assemble_boxes(world)
    if not has_trees(world):
        assemble_contacts(world, 0, (world.work.rows.count[0] - world.work.rows.count[1]) // 3)
    complete(world)
