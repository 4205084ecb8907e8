"""A step of bodies that nothing holds, nothing pushes but gravity, and nothing can touch.

Such a step has no rows, and its kick turns nobody: one flight of the whole step takes the place of
two halves (decision 0120). Whether a step is one is read off the model, the options and the state
alone, so pauses and snapshots change nothing.
"""

from __future__ import annotations

from engine.bodies.finite import first_bad_body
from engine.bodies.forces import load_gravity
from engine.collision.find_contacts import are_strangers
from engine.diagnostics.extremes import record_motion
from engine.diagnostics.ledger import add_impulse
from engine.integration.advance_poses import IMPLICIT, INFINITESIMAL, advance_orientation
from engine.kernel import kernel
from engine.spatial.vec3 import ZERO3, add_scaled, load3, scale, store3
from engine.status import NOT_FINITE
from engine.stopwatch import lap, look_at_clock
from engine.world.model import DYNAMIC, STATIC, Bodies, Model
from engine.world.options import ImpactTime, RestitutionLaw, SolverMethod, StepOptions
from engine.world.report import PHASE_APPLY, PHASE_MOVE, STOPPED_EXACT, Report
from engine.world.state import State
from engine.world.workspace import Workspace

NEWTON, STEP, AUTO = int(RestitutionLaw.NEWTON), int(ImpactTime.STEP), int(SolverMethod.AUTO)


@kernel
def fly_straight(options: StepOptions) -> bool:
    """Whether flights are what they are unless asked otherwise, and nobody is watched for sleep."""
    plain = options.gyroscopic == IMPLICIT and options.orientation_update != INFINITESIMAL
    struck = options.restitution_law != NEWTON or options.impact_time != STEP
    return plain and not struck and options.sleep.enabled == 0


@kernel
def stay_alone(model: Model, state: State, options: StepOptions) -> bool:
    """Whether all steps from here are steps of bodies alone, once the last wrench has ended.

    No joints, no force elements, no hand, no trees, no pair of shapes that may touch.
    """
    if len(model.joints.kind) + len(model.forces.kind) + len(model.tree.kind) > 0:
        return False
    if state.grab_body[0] >= 0 or state.contacts.count[0] > 0 or state.elastic[0] != 0.0:
        return False
    if first_bad_body(model.bodies, state) >= 0 or not fly_straight(options):
        return False
    return are_strangers(model.shapes, model.bodies, state.excluded)


@kernel
def pushed_until(state: State) -> float:
    """When the last commanded wrench ends [s]."""
    time = 0.0
    for i in range(state.applied.shape[0]):
        time = max(time, state.applied[i, 6])
    return time


@kernel
def throw(bodies: Bodies, state: State, h: float) -> None:
    """Half a flight, the kick of gravity, half a flight: of centres of mass.

    Writes  p, v; state.momentum_in
    """
    g = load_gravity(state)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == STATIC:
            continue
        v = load3(state.v_WB_W, i)
        p = add_scaled(load3(state.p_WB, i), 0.5 * h, v)
        if bodies.kind[i] == DYNAMIC:
            add_impulse(state.momentum_in, p, scale(h * bodies.mass[i], g), ZERO3)
            v = add_scaled(v, h, g)
            store3(state.v_WB_W, i, v)
        store3(state.p_WB, i, add_scaled(p, 0.5 * h, v))


@kernel
def say_nothing(work: Workspace, report: Report) -> None:
    """No contacts, no rows, nothing to solve."""
    work.contacts.count[0] = 0
    work.rows.count[0], work.rows.count[1] = 0, 0
    work.problem.count[0], work.problem.count[1] = 0, 0
    report.islands[0] = 0
    report.method[0] = AUTO
    report.solver_status[0] = STOPPED_EXACT
    report.iterations[0] = 0
    report.residual[0] = 0.0
    report.coulomb_error[0] = 0.0


@kernel
def fly_alone(
    model: Model, state: State, work: Workspace, options: StepOptions, report: Report
) -> None:
    """One step of bodies that are alone: as step.step, where there are no rows.

    The same but for the rotation, which is one flight instead of two, and for rounding.

    Writes  state, report; counts of work
    Check   tests/laws/test_free_body.py
    """
    now, h = look_at_clock(report), options.time_step
    bodies = model.bodies
    throw(bodies, state, h)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] != STATIC:
            advance_orientation(bodies, state, i, h, options)
    now = lap(report, PHASE_MOVE, now)
    state.unguarded[0] = 0
    state.step[0] += 1
    state.time[0] = state.step[0] * h
    say_nothing(work, report)
    record_motion(model, state)
    report.bad_body[0] = first_bad_body(bodies, state)
    if report.bad_body[0] >= 0:
        report.status[0] |= NOT_FINITE
    lap(report, PHASE_APPLY, now)
