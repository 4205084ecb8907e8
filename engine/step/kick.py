"""The kick: one problem from all rows, impulses that solve it, and what they did."""

from __future__ import annotations

from cardan.engine.accounting.commanded import record_commanded
from cardan.engine.accounting.drive_noise import record_drive_noise
from cardan.engine.accounting.least_reactions import write_least_reactions
from cardan.engine.accounting.work import book_momentum, book_work
from cardan.engine.accounting.yielding import book_touch
from cardan.engine.bodies.predict import predict_velocity
from cardan.engine.bodies.world_inertia import write_world_inertia
from cardan.engine.collision.manifold.persistence import settle_contacts
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.geometric_stiffness import slow_links
from cardan.engine.constraints.rolling import follow_curvature
from cardan.engine.constraints.slip_of_turns import write_slip_of_turns
from cardan.engine.constraints.write_rows import write_rows
from cardan.engine.impacts.impulse_accumulator import accumulate_last
from cardan.engine.integrators.apply_impulses import (
    apply_impulses,
    forget_impulses,
    store_warm_start,
)
from cardan.engine.problem.assemble import (
    assemble_boxes,
    complete,
    has_trees,
    write_friction_law,
)
from cardan.engine.solvers.islands import solve_problem
from cardan.engine.solvers.solve import SMALL_STEPS
from cardan.engine.solvers.substeps.solver import solve_small_steps
from cardan.engine.stabilisation.loop_energy import record_loop_work
from cardan.engine.stabilisation.tangent import are_joints_shifted, count_work, write_tangents
from cardan.engine.step.driven import (
    begin_with_drives,
    end_with_drives,
    record_drives,
    write_rows_to_show,
)
from cardan.engine.step.prescribed import prescribe_velocities
from cardan.engine.step.shared import assemble_contact_rows, write_contact_rows
from cardan.engine.step.timing import read_clock, record_phase
from cardan.engine.trees.body_sync import write_joint_coordinates
from cardan.engine.trees.impulses import (
    book_supports,
    predict_tree_velocities,
    write_bias_accelerations,
)
from cardan.engine.trees.reactions import write_reactions
from cardan.engine.world.options import Stabilisation
from cardan.engine.world.report import PHASE_APPLY, PHASE_ASSEMBLE, PHASE_ROWS, PHASE_SOLVE
from cardan.engine.world.world import World

BAUMGARTE = int(Stabilisation.BAUMGARTE)


@kernel
def predict_velocities(world: World) -> None:
    """Velocities to which forces alone would lead.

    Writes  work.motion; work.tree: rates likewise; state.joint_q of joints in trees
    """
    now = read_clock(world.report)
    write_world_inertia(world)
    predict_velocity(world)
    prescribe_velocities(world)
    write_bias_accelerations(world)
    predict_tree_velocities(world)
    write_joint_coordinates(world.model.tree, world.state)
    record_phase(world.report, PHASE_ROWS, now)


@kernel
def assemble_problem(world: World) -> None:
    """Rows of the present poses and velocities, and one problem from all of them.

    Writes  work.rows, problem, dense.path
    """
    now, options = read_clock(world.report), world.options
    write_rows(world)
    slow_links(world)
    write_contact_rows(world)
    follow_curvature(world)
    if world.model.joints.kind.shape[0] > 0:
        write_slip_of_turns(world)
    if options.stabilisation != BAUMGARTE or options.solver.method == SMALL_STEPS:
        write_tangents(world)
    now = record_phase(world.report, PHASE_ROWS, now)
    write_friction_law(world)
    assemble_boxes(world)
    if not has_trees(world):
        assemble_contact_rows(world)
    complete(world)
    record_phase(world.report, PHASE_ASSEMBLE, now)


@kernel
def solve_kick(world: World) -> None:
    """Impulses that obey the rows, and the velocities they lead to.

    Writes  work.problem.lam, w; velocities of state; report
    """
    now = read_clock(world.report)
    if world.options.solver.method == SMALL_STEPS:
        solve_small_steps(world)
    else:
        solve_problem(world)
    now = record_phase(world.report, PHASE_SOLVE, now)
    apply_impulses(world)
    record_phase(world.report, PHASE_APPLY, now)


@kernel
def kick_with_drives(world: World) -> bool:
    """The kick where drives need no rows; False: one does, nothing has changed.

    Writes  as `assemble_problem`, `solve_kick`, `end_with_drives`
    """
    begin_with_drives(world)
    assemble_problem(world)
    if world.work.tree.asked[0] == 1:
        write_rows_to_show(world)
    solve_kick(world)
    return end_with_drives(world)


@kernel
def add_start(world: World) -> None:
    """Inner joints of trees also carry what drives do that start before the drift.

    Writes  work.tree.reaction
    """
    impacts, reaction = world.work.impacts, world.work.tree.reaction
    if impacts.started[0] == 1:
        for j in range(reaction.shape[0]):
            for k in range(6):
                reaction[j, k] += impacts.started_reaction[j, k]


@kernel
def record_reactions(world: World) -> None:
    """Reactions of joints, where they are asked for.

    Writes  work.tree.reaction, least
    """
    if world.work.tree.asked[0] == 1:
        write_reactions(world, world.work.drives.shown[0])
        add_start(world)
        write_least_reactions(world)


@kernel
def record_kick(world: World) -> None:
    """Books of the kick's work and momentum; its impulses are kept for the next step.

    Writes  state: ledger, momentum_in, impulses of joints, contact cache; events
    """
    model, state, work = world.model, world.state, world.work
    now, h = read_clock(world.report), world.clock.h[0]
    forget_impulses(world)
    store_warm_start(world)
    if work.drives.without_rows[0] == 1:
        record_drives(world)
    middle = state.time[0] + 0.5 * h
    settle_contacts(model.shapes, work.contacts, state, work.motion, middle, world.events)
    book_work(world)
    book_touch(world)
    book_momentum(world)
    book_supports(world, h)
    record_commanded(world)
    record_reactions(world)
    record_loop_work(world)
    record_drive_noise(world)
    if are_joints_shifted(world):
        count_work(world)
    accumulate_last(world)
    record_phase(world.report, PHASE_APPLY, now)
