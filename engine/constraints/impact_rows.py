"""Rows of an instantaneous impact: equations of joints and contacts, without finite forces."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.contacts import write_contacts
from cardan.engine.constraints.joints.equations import write_equations
from cardan.engine.constraints.joints.frames import has_rows, joint_frame
from cardan.engine.world.world import World


@kernel
def write_impact_rows(world: World) -> None:
    """Equations of all joints outside trees as J v+ = 0, then the contacts as in every step.

    Motors, springs, joint friction and soft stops are left out: in an instant they transmit no
    impulse. A hard stop that a joint reaches because of an impact acts in the next kick.

    Writes  work.rows
    """
    model, state, rows, bias_acceleration = (
        world.model,
        world.state,
        world.work.rows,
        world.work.motion.bias_acceleration,
    )
    kind, h = model.bodies.kind, world.clock.h[0]
    rows.count[0] = 0
    for j in range(model.joints.kind.shape[0]):
        if not has_rows(model.joints, kind, state, j):
            continue
        if model.tree.inner[j] == 1:
            continue
        frame = joint_frame(model.joints, state, j)
        write_equations(rows, state, model.joints, j, frame, h, bias_acceleration)
    for row in range(rows.count[0]):
        rows.bias[row] = 0.0
    write_contacts(world)
    for row in range(rows.count[0]):
        rows.lam_warm[row] = 0.0
        rows.sweep_bias_delta[row] = 0.0
