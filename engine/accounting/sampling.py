"""A frame of a run, written while the run goes on: no Python between two steps."""

from __future__ import annotations

from cardan.engine.accounting.energy import motion_of, potential_energy, rotor_energy
from cardan.engine.accounting.joint_reports import write_coordinates, write_joint_forces
from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import ZERO3, add
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.report import N_PHASES
from cardan.engine.world.samples import (
    CONTACT_GAP,
    CONTACT_LAM,
    CONTACT_MU,
    CONTACT_NORMAL,
    CONTACT_POINT,
    N_CONTACTS,
    N_FRAMES,
    N_PASSED,
    SOLVED_CONTACTS,
    SOLVED_ISLANDS,
    SOLVED_ITERATIONS,
    SOLVED_METHOD,
    SOLVED_ROWS,
    SOLVED_STATUS,
    Samples,
)
from cardan.engine.world.state import (
    LEDGER_CORRECTION,
    LEDGER_DAMPING,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
    State,
)
from cardan.engine.world.world import World


@kernel
def is_due(samples: Samples, step: int) -> bool:
    """Whether a frame is recorded after this step.

    Writes  samples.count[N_PASSED]: steps of `due` before it
    """
    due, passed = samples.due, samples.count[N_PASSED]
    while passed < due.shape[0] and due[passed] < step:
        passed += 1
    samples.count[N_PASSED] = passed
    return passed < due.shape[0] and due[passed] == step


@kernel
def has_room(world: World, samples: Samples) -> bool:
    """Whether another frame fits, with all contacts of the last step."""
    if samples.count[N_FRAMES] >= samples.time.shape[0]:
        return False
    if samples.contacts.shape[0] == 0:
        return True
    needed = samples.count[N_CONTACTS] + world.work.contacts.count[0]
    return needed <= samples.contact.shape[0]


@kernel
def sample_bodies(world: World, samples: Samples, frame: int) -> None:
    """Write poses and velocities of the recorded bodies, and whether they are there."""
    state, pose, velocity = world.state, samples.pose, samples.velocity
    for k in range(samples.bodies.shape[0]):
        i = samples.bodies[k]
        if samples.present.shape[0] > 0:
            samples.present[frame, k] = state.present[i]
        if pose.shape[0] > 0:
            for c in range(3):
                pose[frame, k, c] = state.p_WB[i, c]
            for c in range(4):
                pose[frame, k, 3 + c] = state.q_WB[i, c]
        if velocity.shape[0] > 0:
            for c in range(3):
                velocity[frame, k, c] = state.v_WB_W[i, c]
                velocity[frame, k, 3 + c] = state.w_WB_W[i, c]


@kernel
def sample_coordinates(state: State, samples: Samples, frame: int) -> None:
    """Write coordinates and velocities of trees."""
    for k in range(state.tree_q.shape[0]):
        samples.tree_q[frame, k] = state.tree_q[k]
    for k in range(state.tree_qd.shape[0]):
        samples.tree_qd[frame, k] = state.tree_qd[k]


@kernel
def sample_joints(world: World, samples: Samples, frame: int) -> None:
    """Write joint coordinates and forces of the last step."""
    joints, rows = world.model.joints, world.work.rows
    write_coordinates(joints, world.state, rows, samples.joint_motion[frame])
    write_joint_forces(world, samples.joint_reaction[frame], samples.joint_drive[frame])


@kernel
def sample_contacts(world: World, samples: Samples, frame: int) -> None:
    """Write the contacts of the last step, their impulses and coefficients of friction."""
    contacts, rows, lam = world.work.contacts, world.work.rows, world.work.problem.lam
    place = samples.count[N_CONTACTS]
    for i in range(contacts.count[0]):
        body, values = samples.contact_body[place + i], samples.contact[place + i]
        body[0], body[1] = contacts.body_a[i], contacts.body_b[i]
        values[CONTACT_GAP] = contacts.gap[i]
        values[CONTACT_MU] = contacts.friction[i]
        for k in range(3):
            values[CONTACT_POINT + k] = contacts.point_W[i, k]
            values[CONTACT_NORMAL + k] = contacts.normal_W[i, k]
            values[CONTACT_LAM + k] = lam[rows.count[1] + 3 * i + k]
    samples.contacts[frame] = contacts.count[0]
    samples.count[N_CONTACTS] = place + contacts.count[0]


@kernel
def sample_energy(world: World, samples: Samples, frame: int) -> None:
    """Write energies, work and momenta of this frame, those that are recorded.

    Bodies that sleep count as well: kinds are those of the scene.
    """
    model, state, ledger = world.model, world.state, world.state.ledger
    kinetic, linear, angular = 0.0, ZERO3, ZERO3
    for i in range(world.kind.shape[0]):
        if world.kind[i] == DYNAMIC:
            T, p, L = motion_of(model.bodies, state, i)
            kinetic += T
            linear = add(linear, p)
            angular = add(angular, L)
    if samples.momentum.shape[0] > 0:
        momentum = samples.momentum[frame]
        for k in range(3):
            momentum[k] = linear[k]
            momentum[3 + k] = angular[k]
    if samples.energy.shape[0] > 0:
        energy = samples.energy[frame]
        energy[0] = kinetic + rotor_energy(model, state)
        energy[1] = potential_energy(model, state)
        energy[2] = energy[0] + energy[1]
        energy[3] = ledger[LEDGER_WORK_IN]
        energy[4] = ledger[LEDGER_FRICTION]
        energy[5] = ledger[LEDGER_IMPACT]
        energy[6] = ledger[LEDGER_DAMPING]
        energy[7] = ledger[LEDGER_CORRECTION]


@kernel
def sample_solver(world: World, samples: Samples, frame: int) -> None:
    """Write how the last step was solved, and the time of its phases."""
    report, solved, before = world.report, samples.solved[frame], samples.phases_before
    solved[SOLVED_METHOD] = report.method[0]
    solved[SOLVED_ROWS] = world.work.rows.count[0]
    solved[SOLVED_CONTACTS] = world.work.contacts.count[0]
    solved[SOLVED_ISLANDS] = report.islands[0]
    solved[SOLVED_ITERATIONS] = report.iterations[0]
    solved[SOLVED_STATUS] = report.solver_status[0]
    samples.residual[frame, 0] = report.residual[0]
    samples.residual[frame, 1] = report.coulomb_error[0]
    for k in range(N_PHASES):
        samples.phase_ns[frame, k] = report.phase_ns[k] - before[k]
        before[k] = report.phase_ns[k]
    samples.phase_ns[frame, N_PHASES] = report.timed_steps[0] - before[N_PHASES]
    before[N_PHASES] = report.timed_steps[0]


@kernel
def write_sample(world: World, samples: Samples) -> bool:
    """Record the current state as a frame; False: room is short, and nothing was written.

    Writes  samples; rows beyond rows.count are scratch
    """
    if not has_room(world, samples):
        return False
    frame = samples.count[N_FRAMES]
    samples.time[frame] = world.state.time[0]
    samples.step[frame] = world.state.step[0]
    sample_bodies(world, samples, frame)
    if samples.tree_q.shape[0] > 0:
        sample_coordinates(world.state, samples, frame)
    if samples.joint_motion.shape[0] > 0:
        sample_joints(world, samples, frame)
    if samples.contacts.shape[0] > 0:
        sample_contacts(world, samples, frame)
    if samples.energy.shape[0] > 0 or samples.momentum.shape[0] > 0:
        sample_energy(world, samples, frame)
    if samples.solved.shape[0] > 0:
        sample_solver(world, samples, frame)
    samples.count[N_FRAMES] = frame + 1
    return True


@kernel
def write_one_sample(handle: World, samples_handle: Samples) -> bool:
    """Record the current state between two runs; see `write_sample`."""
    return write_sample(struct_of(handle), struct_of(samples_handle))
