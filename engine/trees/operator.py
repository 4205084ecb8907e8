"""Product with A = J H^-1 J^T for rows on trees, without H: entries from paths (paths.py).

Source  Featherstone 2014, "Rigid Body Dynamics Algorithms", 6.5, for L^-T J^T
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import Spatial
from cardan.engine.spatial.vec3 import add, add_scaled, cross, dot, load3, norm
from cardan.engine.trees.articulated_inertia import respond_part
from cardan.engine.trees.paths import dot_paths, tree_of, velocities_of, write_path
from cardan.engine.trees.spatial_arrays import dot6, load6, store6
from cardan.engine.world.problem import Dense, Problem
from cardan.engine.world.tree import Tree, TreeWork


@kernel
def is_on_tree(problem: Problem, i: int) -> bool:
    """Whether row i pushes a body of a tree."""
    node = problem.mobility.tree.node
    return bool(node[problem.body_a[i]] >= 0 or node[problem.body_b[i]] >= 0)


@kernel
def has_trees(problem: Problem) -> bool:
    """Whether any row pushes a body of a tree."""
    if problem.mobility.tree.kind.shape[0] == 0:
        return False
    i = 0
    while i < problem.count[0] and not is_on_tree(problem, i):
        i += 1
    return bool(i < problem.count[0])


@kernel
def reach_up(tree: Tree, work: TreeWork, node: int, push: Spatial) -> tuple[float, float]:
    """Bound of the term that `walk_up` adds to A_ii: the force acts along every rate, unsigned.

        sum of D (|S_w| |n| + |S_v| |f|)^2,   and of D (|S_w| |f|)^2 for an arm longer by a metre

    The size of A_ii of an equation whose rates all miss it, as of the points of a spherical
    linkage: A_ii itself is then rounding.
    """
    n, f = push
    i, size, per_square = node, 0.0, 0.0
    while i >= 0:
        for k in range(tree.v_start[i + 1] - 1, tree.v_start[i] - 1, -1):
            S, U = load6(work.S, k), load6(work.U, k)
            u = dot(S[0], n) + dot(S[1], f)
            D, w, v = work.D[k], norm(S[0]), norm(S[1])
            size += D * (w * norm(n) + v * norm(f)) ** 2
            per_square += D * (w * norm(f)) ** 2
            n, f = add_scaled(n, -D * u, U[0]), add_scaled(f, -D * u, U[1])
        n = add(n, cross(load3(work.arm, i), f))
        i = tree.parent[i]
    return size, per_square


@kernel
def is_carried(tree: Tree, a: int, b: int) -> bool:
    """Whether body b hangs on body a, or on the ground, by a joint of a tree."""
    node = tree.node[b]
    return bool(node >= 0 and tree.parent[node] == tree.node[a])


@kernel
def reach_of(problem: Problem, i: int) -> tuple[float, float]:
    """The size of A_ii of an equation, and what errors of closure leave of it if it is redundant.

    An error C [m or rad] of row i changes its J by C per radius, or by C. The rates of its own
    joint feel a drive that yields: its size is A_ii, and nothing of it is redundant.

    Returns size, remains [unit of A_ii]
    """
    tree, work = problem.mobility.tree, problem.mobility.work
    if problem.cfm[i] > 0.0 and is_carried(tree, problem.body_a[i], problem.body_b[i]):
        return problem.diagonal[i], 0.0
    total, slack, C = problem.cfm[i], 0.0, problem.error[i]
    for side in range(2):
        body = problem.body_a[i] if side == 0 else problem.body_b[i]
        J = problem.J_a if side == 0 else problem.J_b
        MJ = problem.MJ_a if side == 0 else problem.MJ_b
        if tree.node[body] >= 0:
            size, per_square = reach_up(tree, work, tree.node[body], load6(J, i))
            total += size
            slack += per_square
        elif problem.inverse_mass[body] > 0.0:
            total += dot6(J, i, MJ, i)
    is_angle = slack == 0.0
    return total, C * C * (total if is_angle else slack)


@kernel
def owner_of(problem: Problem, body: int) -> int:
    """Index of what couples rows on a body: its tree, or the body, after the trees; -1: none."""
    tree = problem.mobility.tree
    if tree.node[body] >= 0:
        return int(tree.tree[tree.node[body]])
    if problem.inverse_mass[body] > 0.0:
        return int(tree.floating.shape[0] + body)
    return -1


@kernel
def side_product(problem: Problem, i: int, x: int, j: int, y: int) -> float:
    """J_i M^-1 J_j^T of the body that is side x of row i and side y of row j, which is free."""
    J = problem.J_a if x == 0 else problem.J_b
    MJ = problem.MJ_a if y == 0 else problem.MJ_b
    return dot6(J, i, MJ, j)


@kernel
def couple(problem: Problem, order: NDArray, p: int, x: int, owner: int, dense: Dense) -> None:
    """Add the coupling of row order[p] with earlier rows through the owner on its side x.

    Writes  dense.S
    """
    tree, S, path = problem.mobility.tree, dense.S, dense.path
    before, place = dense.indices[1:3], dense.indices[3]
    n_trees = tree.floating.shape[0]
    n = velocities_of(tree, owner) if owner < n_trees else 0
    code = dense.owner[owner]
    while code >= 0:
        r, y = code // 2, code % 2
        if owner < n_trees:
            value = dot_paths(path[place[p], x], path[place[r], y], n)
        else:
            value = side_product(problem, order[p], x, order[r], y)
        S[p, r] += value
        S[r, p] += value
        code = before[y, r]


@kernel
def write_tree_matrix(problem: Problem, order: NDArray, n: int, dense: Dense) -> None:
    """A over the rows order[0:n] of a problem with trees.

    Rows are coupled if they share a tree or a free body. Each of these has a list of its rows so
    far, so that the cost is proportional to the non-zeros. Paths of the same rows stored by
    `diagonal_in_trees` are reused.

    Writes  dense.S (>= n, >= n); dense.path, path_tree where they were not kept; dense.owner,
            indices 1 to 3 are scratch
    Check   tests/engine/solvers/direct/test_tree_elimination.py
    """
    S, path, which = dense.S, dense.path, dense.path_tree
    before, place, last = dense.indices[1:3], dense.indices[3], dense.owner
    kept = problem.mobility.work.paths[0] == problem.count[0]
    last[:] = -1
    for p in range(n):
        i = order[p]
        S[p, :n] = 0.0
        place[p] = i if kept else p
        if not kept:
            write_path(problem, i, path[p], which[p])
    for p in range(n):
        i = order[p]
        a, b = owner_of(problem, problem.body_a[i]), owner_of(problem, problem.body_b[i])
        # both bodies in one tree: one path, on the first side
        if a == b:
            b = -1
        if a >= 0:
            couple(problem, order, p, 0, a, dense)
        if b >= 0:
            couple(problem, order, p, 1, b, dense)
        if a >= 0:
            before[0, p], last[a] = last[a], 2 * p
        if b >= 0:
            before[1, p], last[b] = last[b], 2 * p + 1
        S[p, p] = problem.diagonal[i]


@kernel
def touch(tree: Tree, work: TreeWork, body: int) -> bool:
    """Prepare a body's tree for forces; return False for a body without tree."""
    t = tree_of(tree, body)
    if t < 0:
        return False
    if work.touched[t] == 0:
        work.touched[t] = 1
        begin, end = tree.start[t], tree.start[t + 1]
        for i in range(begin, end):
            for k in range(6):
                work.F[i, k] = 0.0
        for k in range(tree.v_start[begin], tree.v_start[end]):
            work.u[k] = 0.0
    return True


@kernel
def push_node(tree: Tree, work: TreeWork, body: int, J: NDArray, i: int, lam: float) -> None:
    """Add J_i^T lam to the force on a body of a prepared tree."""
    node = tree.node[body]
    for k in range(6):
        work.F[node, k] += lam * J[i, k]


@kernel
def push_trees(problem: Problem, i: int, x: float) -> None:
    """Add J_i^T x to the pending forces on the trees of row i, which need not be prepared."""
    tree, work = problem.mobility.tree, problem.mobility.work
    a, b = problem.body_a[i], problem.body_b[i]
    if touch(tree, work, a):
        push_node(tree, work, a, problem.J_a, i, x)
    if touch(tree, work, b):
        push_node(tree, work, b, problem.J_b, i, x)


@kernel
def push_row(tree: Tree, work: TreeWork, problem: Problem, i: int) -> None:
    """Add J^T lam of row i to the forces on those of its bodies that belong to trees."""
    a, b = problem.body_a[i], problem.body_b[i]
    if tree.node[a] >= 0:
        push_node(tree, work, a, problem.J_a, i, problem.lam[i])
    if tree.node[b] >= 0:
        push_node(tree, work, b, problem.J_b, i, problem.lam[i])


@kernel
def answer(tree: Tree, work: TreeWork, body: int, qdd: NDArray) -> None:
    """Compute the response to pending forces on a body's tree.

    Writes  qdd of the tree's rates, work.A of its nodes
    """
    t = tree_of(tree, body)
    if t >= 0 and work.touched[t] == 1:
        work.touched[t] = 0
        respond_part(tree, work, tree.start[t], tree.start[t + 1], qdd)


@kernel
def tree_velocities(problem: Problem, x: NDArray, v: NDArray) -> None:
    """Velocity changes of bodies of trees by impulses x of all rows: v = T H^-1 T^T J^T x.

    Writes  v (n_bodies + 1, 6) of bodies of trees that rows push; work.qdd of their rates
    Check   tests/engine/solvers/direct/test_tree_elimination.py
    """
    tree, work = problem.mobility.tree, problem.mobility.work
    if tree.kind.shape[0] == 0:
        return
    for i in range(problem.count[0]):
        push_trees(problem, i, x[i])
    for i in range(problem.count[0]):
        for body in (problem.body_a[i], problem.body_b[i]):
            answer(tree, work, body, work.qdd)
            node = tree.node[body]
            if node >= 0:
                store6(v, body, load6(work.A, node))
