"""Slip that a step makes of the turn of two bodies, in rows of friction."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import dot, load3, norm, sub
from cardan.engine.world.world import World

# multiple of the slip that a step makes, beyond which slip is one
SAFE = 8.0


@kernel
def write_slip_of_turns(world: World) -> None:
    """Write how much slip of each contact may be none, but what a step makes of turns.

    Surfaces that stand on each other while their bodies turn have in the middle of the step the
    slip h/2 sum w^2 r, or where the row follows the path of the contact (rolling.py) h w/2 of that.

    Writes  rows.error of rows of friction [m/s, rad/s]
    Check   tests/laws/test_given_slip.py
    """
    rows, contacts, state, h = world.work.rows, world.work.contacts, world.state, world.clock.h[0]
    for c in range(contacts.count[0]):
        row, p = rows.count[1] + 3 * c, load3(contacts.point_W, c)
        turn, made = 0.0, 0.0
        for body in (contacts.body_a[c], contacts.body_b[c]):
            w = load3(state.w_WB_W, body)
            turn += norm(w)
            made += dot(w, w) * norm(sub(p, load3(state.p_WB, body)))
        made *= SAFE * h * (min(h * turn, 1.0) if rows.smooth[row] == 1 else 1.0)
        rows.error[row + 1], rows.error[row + 2] = made, made
    # spinning and rolling friction: the last box rows
    row = rows.count[1] - 1
    while row >= 0 and rows.normal_row[row] >= 0:
        w_a, w_b = load3(state.w_WB_W, rows.body_a[row]), load3(state.w_WB_W, rows.body_b[row])
        rows.error[row] = SAFE * h * (dot(w_a, w_a) + dot(w_b, w_b))
        row -= 1
