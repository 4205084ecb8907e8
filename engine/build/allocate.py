"""Allocate workspace and state arrays for a scene."""

from __future__ import annotations

import numpy as np

from cardan.engine.build.array_alignment import spread_over_cache_sets
from cardan.engine.build.drives import drive_work
from cardan.engine.build.equations import factor_arrays, graph_arrays, kept_factors
from cardan.engine.build.limits import room_of_extremes
from cardan.engine.build.loops import UNITS, least_arrays
from cardan.engine.build.motion import motion_arrays
from cardan.engine.build.report import empty_report
from cardan.engine.build.room import (
    Room,
    box_rows,
    gathered_rows,
    has_strikes,
    max_groups,
    max_rows,
    may_start_at_once,
)
from cardan.engine.build.simd import simd_arrays
from cardan.engine.build.substeps import substep_arrays
from cardan.engine.build.threads import contact_arrays, crew_arrays, found_arrays
from cardan.engine.trees.arrays import largest_tree, most_equations, tree_work
from cardan.engine.world.equations import Graph
from cardan.engine.world.impacts import N_RECORD, Impacts
from cardan.engine.world.islands import Islands
from cardan.engine.world.model import Bodies, Model
from cardan.engine.world.options import SolverMethod, Stabilisation, StepOptions
from cardan.engine.world.positions import Positions
from cardan.engine.world.problem import FRICTION_POLYGON, ISLAND, KICK, Dense, Lanes, Problem
from cardan.engine.world.rows import N_SLOTS, Rows
from cardan.engine.world.state import N_BIAS, N_LEDGER, ContactCache, State
from cardan.engine.world.tree import Mobility, Tree
from cardan.engine.world.triggers import N_FIRED
from cardan.engine.world.workspace import Motion, Workspace

# rows of the dense solvers: 2 matrices of 384^2 float64 are 2.4 MB
DENSE_ROWS = 384
DENSE_ROWS_ON_REQUEST = 1024
# vectors of iterations (solvers/sweeps/system.py)
N_VECTORS = 8
# of Lemke's method: a table of 512 x 514 float64 is 2.1 MB, and n pivots cost n^3
LEMKE_ROWS = 512


def row_arrays(n: int, n_joints: int) -> Rows:
    """Arrays for n rows."""
    return Rows(
        count=np.zeros(3, np.int64),
        share=np.ones(1),
        kind=np.zeros(n, np.int64),
        joint=np.zeros(n, np.int64),
        slot=np.zeros(n, np.int64),
        axis=np.zeros(n, np.int64),
        body_a=np.zeros(n, np.int64),
        body_b=np.zeros(n, np.int64),
        J_a=np.zeros((n, 6)),
        J_b=np.zeros((n, 6)),
        bias=np.zeros(n),
        sweep_bias_delta=np.zeros(n),
        rebound=np.zeros(n),
        smooth=np.zeros(n, np.int64),
        cfm=np.zeros(n),
        lo=np.zeros(n),
        hi=np.zeros(n),
        error=np.zeros(n),
        normal_row=np.zeros(n, np.int64),
        mu=np.zeros(n),
        lam_warm=np.zeros(n),
        joint_arm=np.zeros((n_joints, 3)),
    )


def problem_of(
    rows: Rows, friction: tuple[int, int], bodies: Bodies, motion: Motion, mobility: Mobility
) -> Problem:
    """A problem that shares the arrays of rows, bodies and motion."""
    n = len(rows.bias)
    return Problem(
        number=np.zeros(1, np.int64),
        count=np.zeros(3, np.int64),
        body_a=rows.body_a,
        body_b=rows.body_b,
        J_a=rows.J_a,
        J_b=rows.J_b,
        MJ_a=np.zeros((n, 6)),
        MJ_b=np.zeros((n, 6)),
        diagonal=np.zeros(n),
        inverse_mass=bodies.inverse_mass,
        inverse_inertia=motion.inverse_inertia_W,
        velocity_old=motion.velocity_old,
        velocity_free=motion.velocity_free,
        cfm=rows.cfm,
        b=np.zeros(n),
        error=rows.error,
        joint=rows.joint,
        sweep_bias_delta=rows.sweep_bias_delta,
        lo=rows.lo,
        hi=rows.hi,
        normal_row=rows.normal_row,
        mu=rows.mu,
        friction_kind=np.array(friction, np.int64),
        lam=np.zeros(n),
        w=np.zeros(n),
        mobility=mobility,
    )


def island_arrays(part: Problem, n_rows: int) -> Islands:
    """Arrays for as many islands of n_rows as bodies; `part` holds the rows of one of them."""
    n_bodies = len(part.inverse_mass)
    return Islands(
        count=np.zeros(1, np.int64),
        parent=np.zeros(n_bodies, np.int64),
        number=np.zeros(n_bodies, np.int64),
        start=np.zeros(n_bodies + 1, np.int64),
        boxes=np.zeros(n_bodies, np.int64),
        order=np.zeros(n_rows, np.int64),
        place=np.zeros(n_rows, np.int64),
        part=part,
    )


def position_arrays(
    model: Model, options: StepOptions, problem: Problem, part: Problem, n_rows: int
) -> Positions:
    """Arrays of the position correction (empty for Baumgarte stabilisation).

    problem: room for the rows that are corrected
    part: scratch of the islands of the step, shared: they are solved before positions are corrected
    n_rows: of the step
    """
    n, n_joints = len(model.bodies.kind), len(model.joints.kind)
    if options.stabilisation == Stabilisation.BAUMGARTE:
        # substeps move bodies as well
        n *= options.solver.method == SolverMethod.SMALL_STEPS
        n_joints, part, n_rows = 0, problem, 0
    elif options.stabilisation == Stabilisation.ONE_SIDED:
        n_joints = 0
    part = part._replace(number=problem.number, friction_kind=problem.friction_kind)
    return Positions(
        rows=row_arrays(N_SLOTS * n_joints, 0),
        error=np.zeros((n_joints, N_SLOTS)),
        place=np.zeros((n_joints, N_SLOTS), np.int64),
        wanted=np.zeros(n_rows),
        problem=problem,
        islands=island_arrays(part, len(problem.b)),
        report=empty_report(),
        parent=np.zeros(n, np.int64),
        held=np.zeros(n, np.int64),
        passes=np.zeros((n, 8)),
        gained=np.zeros(n),
        jolted=np.zeros(n),
        lost=np.zeros((n, 3)),
        sums=np.zeros((n, 29)),
    )


def impact_arrays(
    n_bodies: int, n_joints: int, n_rows: int, max_contacts: int, problem: Problem
) -> Impacts:
    """Arrays for an impact of all rows simultaneously, each contact twice (see impacts/laws.py)."""
    n = len(problem.b)
    return Impacts(
        problem=problem,
        source=np.zeros(n, np.int64),
        kept=np.zeros(n_rows),
        speed=np.zeros(n),
        first=np.zeros(n),
        lam=np.zeros(n),
        role=np.zeros(max_contacts, np.int64),
        reached=np.zeros(n_bodies, np.int64),
        velocity=np.zeros((n_bodies, 6)),
        seen=np.zeros((n_bodies, 6)),
        contact_lam=np.zeros((max_contacts, 3)),
        joint_lam=np.zeros((n_joints, N_SLOTS)),
        accumulator=contact_cache(max_contacts),
        record=np.zeros(N_RECORD),
        started=np.zeros(1, np.int64),
        started_reaction=np.zeros((n_joints, 6)),
    )


def lemke_rows(n_rows: int, options: StepOptions) -> int:
    """Size of the linear complementarity problem; 0 if it is never solved.

    A box row has two variables at most, a contact a normal, its directions and the auxiliary one.
    """
    polygon = options.friction_kind == FRICTION_POLYGON
    if not polygon and options.solver.method != SolverMethod.LEMKE:
        return 0
    # three rows of spinning and rolling friction have directions + 4 variables, a box contact 7
    per_row = (options.directions + 6) // 3 if polygon else 3
    return min(LEMKE_ROWS, per_row * n_rows)


def dense_arrays(
    cap: int, lemke: int, graph: Graph, lanes: Lanes, iterated: int, tree: Tree
) -> Dense:
    """Scratch for `cap` rows, `lemke` of complementarity, `iterated` with vectors of their own."""
    rates = largest_tree(tree)
    # a tree may have no generalised velocities; the paths of its rows are then empty
    paths, owners = (cap, len(tree.floating) + len(tree.node)) if len(tree.kind) > 0 else (0, 0)
    return Dense(
        factor=np.zeros((cap, cap)),
        S=np.zeros((cap, cap)),
        vectors=np.zeros((20, cap)),
        indices=np.zeros((9, cap), np.int64),
        tableau=np.zeros((lemke, lemke + 2)),
        basis=np.zeros((4, lemke + 1), np.int64),
        path=np.zeros((paths, 2, rates)),
        path_tree=np.zeros((paths, 2), np.int64),
        owner=np.zeros(owners, np.int64),
        iterates=np.zeros((N_VECTORS, iterated)),
        lanes=lanes,
        graph=graph,
        equations=factor_arrays(graph),
        kept=kept_factors(graph),
    )


def workspace(model: Model, options: StepOptions, room: Room, threads: int = 1) -> Workspace:
    """The workspace of a step that `threads` share."""
    n, max_contacts = len(model.bodies.kind), room.contacts
    dense_ways = (
        SolverMethod.PIVOTING,
        SolverMethod.GAUSS_SEIDEL,
        SolverMethod.LEMKE,
        SolverMethod.PROXIMAL,
    )
    asked = options.solver.method in dense_ways
    iterated = SolverMethod.JACOBI <= options.solver.method <= SolverMethod.APGD
    rows = row_arrays(max_rows(model, max_contacts), len(model.joints.kind))
    friction = (options.friction_kind, options.directions)
    n_rows = len(rows.bias)
    apart = has_strikes(options)
    # an impact may need each contact twice
    at_once = n_rows + 3 * max_contacts if apart else n_rows
    lemke, boxes = lemke_rows(at_once, options), box_rows(model, max_contacts)
    lanes = simd_arrays(n, (at_once - boxes) // 3, boxes)
    asked |= len(model.tree.kind) > 0
    cap = min(DENSE_ROWS_ON_REQUEST if asked else DENSE_ROWS, at_once)
    motion = motion_arrays(n, len(model.tree.kind) > 0)
    mobility = Mobility(model.tree, tree_work(model.tree))
    # of a contact only the normal can be violated
    shifted = max_rows(model, 0) + max_contacts
    if options.stabilisation == Stabilisation.BAUMGARTE:
        shifted = 0
    gathered = row_arrays(max(shifted, gathered_rows(model, options, at_once)), 0)
    part = problem_of(gathered, friction, model.bodies, motion, mobility)
    struck = n_rows + 3 * max_contacts if apart else 0
    impact = problem_of(row_arrays(struck, 0), friction, model.bodies, motion, mobility)
    graph = graph_arrays(n, max_groups(model))
    loop_rows = row_arrays(max(most_equations(model.tree), UNITS), 0)
    problem = problem_of(rows, friction, model.bodies, motion, mobility)
    problem.number[0], part.number[0] = KICK, ISLAND
    corrected = problem_of(row_arrays(shifted, 0), (0, 3), model.bodies, motion, mobility)
    work = Workspace(
        contacts=contact_arrays(max_contacts),
        ahead=contact_arrays(room.ahead),
        found=found_arrays(1, 0),
        rows=rows,
        problem=problem,
        substeps=substep_arrays(problem, options, lanes),
        islands=island_arrays(part, at_once),
        dense=dense_arrays(cap, lemke, graph, lanes, at_once * iterated, model.tree),
        impacts=impact_arrays(n, len(model.joints.kind), n_rows, max_contacts, impact)
        if apart or may_start_at_once(model.joints)
        else impact_arrays(0, 0, 0, 0, impact),
        positions=position_arrays(model, options, corrected, part, n_rows),
        motion=motion,
        tree=mobility.work,
        drives=drive_work(mobility.work, np.zeros),
        loop_rows=loop_rows,
        least=least_arrays(model),
        loops=problem_of(loop_rows, friction, model.bodies, motion, mobility),
    )
    spread = spread_over_cache_sets(work, model)
    # after that, as what belongs to the first thread is a part of what belongs to all
    lanes = spread.dense.lanes._replace(crew=crew_arrays(threads))
    found = found_arrays(threads, max_contacts)
    return spread._replace(dense=spread.dense._replace(lanes=lanes), found=found)


def with_room_to_grab(model: Model, state: State, work: Workspace) -> Workspace:
    """The workspace; with room to gather the island of a grabbed body, however large it is."""
    part, n_rows = work.islands.part, len(work.islands.order)
    if state.grab_body[0] < 0 or len(part.b) >= n_rows:
        return work
    friction, motion = part.friction_kind, work.motion
    kind = int(friction[0]), int(friction[1])
    larger = problem_of(row_arrays(n_rows, 0), kind, model.bodies, motion, part.mobility)
    larger.number[0] = ISLAND
    placed = spread_over_cache_sets(larger, (model, motion, part.mobility))
    return work._replace(islands=work.islands._replace(part=placed))


def contact_cache(max_contacts: int) -> ContactCache:
    """An empty cache."""
    return ContactCache(
        count=np.zeros(1, np.int64),
        key=np.zeros(max_contacts, np.int64),
        feature=np.zeros(max_contacts, np.int64),
        impulse_W=np.zeros((max_contacts, 3)),
        moment_W=np.zeros((max_contacts, 3)),
        touching=np.zeros(max_contacts, np.int64),
        point_W=np.zeros((max_contacts, 3)),
        normal_W=np.zeros((max_contacts, 3)),
    )


def grown_cache(cache: ContactCache, max_contacts: int) -> ContactCache:
    """The same contacts with a larger capacity."""
    larger = contact_cache(max_contacts)
    for new, old in zip(larger, cache, strict=True):
        new[: len(old)] = old
    return larger


def with_caches(state: State, max_contacts: int) -> State:
    """The same state with room for so many contacts; for sleeping ones where there was any."""
    resting = state.resting
    if len(resting.key) > 0:
        resting = grown_cache(resting, max_contacts)
    return state._replace(contacts=grown_cache(state.contacts, max_contacts), resting=resting)


def empty_state(n_bodies: int, n_joints: int, n_forces: int, max_contacts: int) -> State:
    """A state of bodies (world included) at rest at the origin."""
    n = n_bodies
    q = np.zeros((n, 4))
    q[:, 0] = 1.0
    return State(
        time=np.zeros(1),
        step=np.zeros(1, np.int64),
        gravity_W=np.zeros(3),
        velocities_changed=np.ones(1, np.int64),
        p_WB=np.zeros((n, 3)),
        q_WB=q,
        v_WB_W=np.zeros((n, 3)),
        w_WB_W=np.zeros((n, 3)),
        L_conserved=np.zeros((n, 3)),
        w_drifted=np.zeros((n, 3)),
        link_inertia=np.zeros((n, 6)),
        joint_q=np.zeros((n_joints, 3)),
        joint_lam=np.zeros((n_joints, N_SLOTS)),
        broken=np.full((n_joints, 2), np.nan),
        twist=np.zeros(n_forces),
        excluded=np.zeros(0, np.int64),
        motor_target=np.full((n_joints, 3), np.nan),
        motor_max_force=np.full((n_joints, 3), np.nan),
        applied=np.zeros((n, 7)),
        grab_body=np.full(1, -1, np.int64),
        grab_point_B=np.zeros(3),
        grab_target_W=np.zeros(3),
        ledger=np.zeros(N_LEDGER),
        momentum_in=np.zeros(6),
        elastic=np.zeros(1),
        extremes=np.zeros(room_of_extremes(n, n_joints, n_forces)),
        still_steps=np.zeros(n, np.int64),
        asleep_with=np.full(n, -1, np.int64),
        woken=np.zeros(1, np.int64),
        present=np.ones(n, np.int64),
        presence_changed=np.zeros(1, np.int64),
        tree_q=np.zeros(0),
        tree_qd=np.zeros(0),
        tree_bias_acceleration=np.zeros((N_BIAS, 0)),
        triggers=np.zeros((0, N_FIRED)),
        contacts=contact_cache(max_contacts),
        resting=contact_cache(0),
    )
