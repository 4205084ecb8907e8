"""Problems to solve: random rows between bodies, stacks of boxes, blocks on planes, chains."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.allocate import dense_arrays
from cardan.engine.build.equations import graph_arrays
from cardan.engine.build.simd import simd_arrays
from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.elimination_order import write_graph
from cardan.engine.solvers.direct.schur_complement import reduce_problem
from cardan.engine.solvers.gradient.solve import Iteration, iterate
from cardan.engine.solvers.sweeps.matrix import Matrix
from cardan.engine.solvers.sweeps.system import N_VECTORS, System
from cardan.engine.trees.arrays import no_mobility
from cardan.engine.world.equations import DROP
from cardan.engine.world.options import SolverMethod, SolverOptions
from cardan.engine.world.problem import FRICTION_CONE, Problem
from cardan.engine.world.report import Report

H = 1.0 / 240.0
# vertices of friction polygons
DIRECTIONS = 6
GRAVITY = 9.81


class Body(NamedTuple):
    """What a row needs to know of a body."""

    inverse_mass: float
    inverse_inertia: NDArray  # (3, 3) W
    position: NDArray  # (3,) W


def empty_problem(n_rows, n_box, friction_kind=FRICTION_CONE, capacity=None):
    """Problem whose unused rows and outputs are NaN."""
    cap = capacity or n_rows
    nan = np.nan
    return Problem(
        number=np.zeros(1, np.int64),
        count=np.array([n_rows, n_box, 0]),
        body_a=np.full(cap, -7),
        body_b=np.full(cap, -7),
        J_a=np.full((cap, 6), nan),
        J_b=np.full((cap, 6), nan),
        MJ_a=np.full((cap, 6), nan),
        MJ_b=np.full((cap, 6), nan),
        diagonal=np.full(cap, nan),
        inverse_mass=np.zeros(cap + 2),
        inverse_inertia=np.zeros((cap + 2, 3, 3)),
        velocity_old=np.zeros((cap + 2, 6)),
        velocity_free=np.zeros((cap + 2, 6)),
        cfm=np.zeros(cap),
        b=np.full(cap, nan),
        error=np.zeros(cap),
        joint=np.full(cap, -1),
        sweep_bias_delta=np.zeros(cap),
        lo=np.full(cap, nan),
        hi=np.full(cap, nan),
        normal_row=np.full(cap, -1),
        mu=np.zeros(cap),
        friction_kind=np.array([friction_kind, DIRECTIONS]),
        lam=np.zeros(cap),
        w=np.full(cap, nan),
        mobility=no_mobility(),
    )


def put_row(problem, i, bodies, pair, J_a, J_b):
    """Row i between bodies pair[0], pair[1]; its masses and diagonal."""
    problem.body_a[i], problem.body_b[i] = pair
    problem.J_a[i], problem.J_b[i] = J_a, J_b
    for body, J, MJ in ((pair[0], J_a, problem.MJ_a), (pair[1], J_b, problem.MJ_b)):
        MJ[i, :3] = bodies[body].inverse_inertia @ J[:3]
        MJ[i, 3:] = bodies[body].inverse_mass * J[3:]
        problem.inverse_mass[body] = bodies[body].inverse_mass
        problem.inverse_inertia[body] = bodies[body].inverse_inertia
    problem.diagonal[i] = (
        problem.J_a[i] @ problem.MJ_a[i] + problem.J_b[i] @ problem.MJ_b[i] + problem.cfm[i]
    )


def direction_rows(bodies, pair, point, direction):
    """J_a, J_b of the velocity of b against a at a point along a direction."""
    arm_a, arm_b = point - bodies[pair[0]].position, point - bodies[pair[1]].position
    J_a = -np.concatenate([np.cross(arm_a, direction), direction])
    J_b = np.concatenate([np.cross(arm_b, direction), direction])
    return J_a, J_b


def put_contact(problem, i, bodies, pair, contact, mu):
    """Rows i .. i + 2: contact = (point, normal from a to b, bias of the normal)."""
    point, normal, bias = contact
    helper = np.array([1.0, 0, 0]) if abs(normal[0]) < 0.9 else np.array([0, 1.0, 0])
    t1 = np.cross(normal, helper)
    t1 /= np.linalg.norm(t1)
    t2 = np.cross(normal, t1)
    for k, direction in enumerate((normal, t1, t2)):
        put_row(problem, i + k, bodies, pair, *direction_rows(bodies, pair, point, direction))
        problem.lo[i + k] = 0.0 if k == 0 else np.nan
        problem.hi[i + k] = np.inf if k == 0 else np.nan
    problem.normal_row[i + 1 : i + 3] = i
    problem.mu[i + 1 : i + 3] = mu
    problem.b[i : i + 3] = bias, 0.0, 0.0


def add_free_velocity(problem, v_free):
    """b += J v_free of bodies that were at rest."""
    problem.velocity_free[: len(v_free)] = v_free
    for i in range(problem.count[0]):
        problem.b[i] += problem.J_a[i] @ v_free[problem.body_a[i]]
        problem.b[i] += problem.J_b[i] @ v_free[problem.body_b[i]]


def box_body(mass, size, position):
    """Homogeneous box, axes of W."""
    x, y, z = np.square(size)
    inertia = mass / 12.0 * np.array([y + z, x + z, x + y])
    return Body(1.0 / mass, np.diag(1.0 / inertia), np.asarray(position, float))


WORLD = Body(0.0, np.zeros((3, 3)), np.zeros(3))


def tower(n, mu=0.5, friction_kind=FRICTION_CONE, push=0.0, seed=0):
    """n unit cubes on each other on the ground, four contacts at each face; pushed sideways."""
    rng = np.random.default_rng(seed)
    bodies = [box_body(1.0, (1, 1, 1), (0, 0, 0.5 + k)) for k in range(n)] + [WORLD]
    problem = empty_problem(12 * n, 0, friction_kind, capacity=12 * n + 5)
    row = 0
    up = np.array([0.0, 0, 1])
    for k in range(n):
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
            pair = (n if k == 0 else k - 1, k)
            put_contact(problem, row, bodies, pair, (np.array([x, y, float(k)]), up, 0.0), mu)
            row += 3
    v_free = np.zeros((n + 1, 6))
    v_free[:n, 5] = -GRAVITY * H
    v_free[:n, 3] = push * rng.uniform(0.5, 1.0, n)
    v_free[:n, :3] = 0.1 * push * rng.normal(size=(n, 3))
    add_free_velocity(problem, v_free)
    return problem


def put_turning(problem, i, bodies, pair, normal, arms):
    """Rows i .. i + 2 that resist spinning and rolling, arms = (spinning, rolling) [m]."""
    helper = np.array([1.0, 0, 0]) if abs(normal[0]) < 0.9 else np.array([0, 1.0, 0])
    t1 = np.cross(normal, helper)
    t1 /= np.linalg.norm(t1)
    for k, axis in enumerate((normal, t1, np.cross(normal, t1))):
        J_b = np.concatenate([axis, np.zeros(3)])
        put_row(problem, i + k, bodies, pair, -J_b, J_b)
    problem.normal_row[i : i + 3] = problem.count[1] + i
    problem.mu[i : i + 3] = arms[0], arms[1], arms[1]
    problem.b[i : i + 3] = 0.0


CUBES = ((1, 1, 1),)


def pile(n, contacts, seed=1, mu=0.5, friction_kind=FRICTION_CONE, arms=None, sizes=CUBES):
    """n boxes, of these sizes in turn, in a layered heap with random contacts to bodies below."""
    rng = np.random.default_rng(seed)
    side = max(2, round((n / 4) ** (1 / 3) * 1.6))
    cells = [(i % side, (i // side) % side, i // side**2) for i in range(n)]
    positions = np.array(cells, float) + rng.uniform(-0.1, 0.1, (n, 3)) + [0, 0, 0.5]
    bodies = [
        box_body(rng.uniform(0.5, 2), sizes[i % len(sizes)], p) for i, p in enumerate(positions)
    ]
    bodies.append(WORLD)
    pairs = []
    for i in range(n):
        if positions[i, 2] < 1.0:
            pairs.append((n, i))
        near = np.flatnonzero(np.linalg.norm(positions[:i] - positions[i], axis=1) < 1.3)
        pairs.extend((int(j), i) for j in near)
    n_box = 3 * contacts if arms else 0
    problem = empty_problem(n_box + 3 * contacts, n_box, friction_kind)
    for c in range(contacts):
        a, b = pairs[c % len(pairs)]
        if a == n:
            normal, point = np.array([0.0, 0, 1]), positions[b] - [0, 0, 0.5]
        else:
            normal = positions[b] - positions[a]
            normal /= np.linalg.norm(normal)
            point = 0.5 * (positions[a] + positions[b])
        point = point + 0.3 * np.cross(normal, rng.normal(size=3))
        put_contact(problem, n_box + 3 * c, bodies, (a, b), (point, normal, 0.0), mu)
        if arms:
            put_turning(problem, 3 * c, bodies, (a, b), normal, arms)
    v_free = np.zeros((n + 1, 6))
    v_free[:n, 5] = -GRAVITY * H
    v_free[:n] += 0.02 * rng.normal(size=(n, 6))
    add_free_velocity(problem, v_free)
    return problem


def chain(n, contacts=0, mu=0.5, friction_kind=FRICTION_CONE, redundant=False, seed=2):
    """n bars joined by balls from the world, falling; limits on every bar, contacts at the end."""
    rng = np.random.default_rng(seed)
    bodies = [box_body(1.0, (1, 0.1, 0.1), (k + 0.5, 0, 0)) for k in range(n)] + [WORLD]
    n_equations = 3 * n * (2 if redundant else 1)
    problem = empty_problem(n_equations + n + 3 * contacts, n_equations + n, friction_kind)
    row = 0
    for k in range(n):
        pair = (n if k == 0 else k - 1, k)
        for _ in range(2 if redundant else 1):
            for axis in np.eye(3):
                rows = direction_rows(bodies, pair, np.array([float(k), 0, 0]), axis)
                put_row(problem, row, bodies, pair, *rows)
                problem.lo[row], problem.hi[row] = -np.inf, np.inf
                problem.b[row] = 0.0
                row += 1
        # a limit on the turn about y between the two: one-sided or a motor with a largest moment
        J = np.zeros(6)
        J[1] = 1.0
        put_row(problem, row, bodies, pair, -J, J)
        problem.lo[row], problem.hi[row] = (0.0, np.inf) if k % 2 else (-0.01, 0.01)
        problem.b[row] = rng.uniform(-0.2, 0.2)
        row += 1
    # boxes may come in any order: equations and limits are mixed here on purpose
    for c in range(contacts):
        k = n - 1 - c % n
        point = np.array([k + 0.2 + 0.6 * rng.random(), 0.05 * (-1) ** c, -0.05])
        put_contact(problem, row, bodies, (n, k), (point, np.array([0.0, 0, 1]), -0.001 * c), mu)
        row += 3
    v_free = np.zeros((n + 1, 6))
    v_free[:n, 5] = -GRAVITY * H
    v_free[:n] += 0.1 * rng.normal(size=(n, 6))
    add_free_velocity(problem, v_free)
    return problem


def dense_scratch(cap, lemke=0):
    """Scratch full of NaN and nonsense: for `cap` rows beside up to as many equations."""
    lanes = simd_arrays(cap + 2, cap, 2 * cap)
    graph, tree = graph_arrays(cap + 2, cap), no_mobility().tree
    dense = dense_arrays(cap, lemke, graph, lanes, iterated=cap, tree=tree)
    for field in (*dense[:-4], *dense.lanes[:-1], *dense.graph, *dense.equations, *dense.kept):
        field[...] = -(2**40) if field.dtype.kind == "i" else np.nan
    dense.kept.count[1] = DROP
    return dense


def equations_of(problem):
    """Which rows are equations."""
    n, n_box, _ = problem.count
    free = np.isinf(problem.lo[:n]) & np.isinf(problem.hi[:n])
    return np.flatnonzero(free & (np.arange(n) < n_box))


@kernel
def eliminate(problem, dense):
    """What reduce_problem leaves in dense; what it returns is for kernels only."""
    reduce_problem(problem, dense, True)


def reduced(problem):
    """Scratch that holds what the problem is without its equations, and how many those are."""
    n = int(problem.count[0])
    dense = dense_scratch(n)
    assert write_graph(problem, dense.graph)
    eliminate(problem, dense)
    return dense, len(equations_of(problem))


def velocity_scratch(problem):
    """Scratch for the velocities of all bodies."""
    return np.full((len(problem.inverse_mass), 6), np.nan)


def on_bodies(problem, v=None, history=0):
    """The system of a problem of bodies."""
    none = np.zeros(0, np.int64)
    matrix = Matrix(np.zeros(1, np.int64), none, np.zeros(0))
    x = np.full((N_VECTORS, problem.count[0]), np.nan)
    v = velocity_scratch(problem) if v is None else v
    return System(problem, matrix, v, x, np.full(history, np.nan))


def pgs(problem, v, rules, relaxation):
    """Sweeps without lanes; STOPPED_..., sweeps."""
    iteration = Iteration(int(SolverMethod.SOR), relaxation, 1, 1)
    return iterate(on_bodies(problem, v), rules, iteration)


def new_report():
    """Report nobody has written to."""
    return Report(
        status=np.zeros(1, np.int64),
        bad_body=np.full(1, -1),
        islands=np.full(1, -1),
        method=np.full(1, -1),
        methods=np.zeros(1, np.int64),
        solver_status=np.full(1, -1),
        iterations=np.full(1, -1),
        residual=np.full(1, np.nan),
        coulomb_error=np.full(1, np.nan),
        phase_ns=np.zeros(8, np.int64),
        timed_steps=np.zeros(1, np.int64),
        watched=np.zeros(1, np.int64),
        steps_asked=np.zeros(1, np.int64),
        steps_begun=np.zeros(1, np.int64),
    )


def solver_options(method=SolverMethod.AUTO, **changes):
    """Options with a tight tolerance."""
    values = {"max_iterations": 0, "tolerance": 1e-12, "relaxation": 1.0, "warm_start": 1}
    values |= {"substeps": 4, "frequency": 0.0, "damping_ratio": 10.0}
    return SolverOptions(method=int(method), **(values | changes))


def copy_problem(problem):
    """Independent copy."""
    copies = (field.copy() if isinstance(field, np.ndarray) else field for field in problem)
    return Problem._make(copies)
