"""Put islands of bodies to sleep that have been slow for a given number of steps."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.accounting.work import book_halt
from cardan.engine.bodies.union_find import find_root, make_sets, union
from cardan.engine.collision.manifold.persistence import move_cached
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import is_broken
from cardan.engine.sleeping.wake import moves
from cardan.engine.spatial.vec3 import dot, load3, store3
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.islands import Islands
from cardan.engine.world.model import (
    ASLEEP,
    DYNAMIC,
    FORCE_POINT_GRAVITY,
    FORCE_SPRING,
    FORCE_TORSION,
    KINEMATIC,
    Bodies,
    Joints,
    Model,
)
from cardan.engine.world.options import SleepOptions
from cardan.engine.world.state import State
from cardan.engine.world.world import World


@kernel
def _join_pair(bodies: Bodies, state: State, islands: Islands, a: int, b: int) -> None:
    """Unite the sets of two interacting bodies; a kinematic one prevents the other from resting.

    Writes  islands.parent; islands.boxes: 1 where a body interacts with one that does not move;
            state.still_steps: 0 of a body that interacts with a kinematic one
    """
    kind_a, kind_b = bodies.kind[a], bodies.kind[b]
    if kind_a == DYNAMIC and kind_b == DYNAMIC:
        union(islands.parent, a, b)
    elif kind_a == KINEMATIC and kind_b == DYNAMIC:
        state.still_steps[b] = 0
    elif kind_b == KINEMATIC and kind_a == DYNAMIC:
        state.still_steps[a] = 0
    elif kind_a == DYNAMIC:
        islands.boxes[a] = 1
    elif kind_b == DYNAMIC:
        islands.boxes[b] = 1


@kernel
def _is_carried(contacts: Contacts, c: int) -> bool:
    """Whether a surface of a contact moves on its body, as that of a belt does."""
    along = load3(contacts.surface_velocity_W, c)
    return bool(dot(along, along) > 0.0)


@kernel
def _join_all(bodies: Bodies, parent: NDArray) -> None:
    """Unite all bodies: with forces between every two of them, they all sleep or none does."""
    last = -1
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            if last >= 0:
                union(parent, last, i)
            last = i


@kernel
def count_still(bodies: Bodies, state: State, sleep: SleepOptions) -> bool:
    """Count the successive slow steps of each awake body; True if any count reaches sleep.steps."""
    someone = False
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] != DYNAMIC:
            continue
        v, w = load3(state.v_WB_W, i), load3(state.w_WB_W, i)
        slow = dot(v, v) <= sleep.linear_speed**2 and dot(w, w) <= sleep.angular_speed**2
        if slow and i != state.grab_body[0]:
            state.still_steps[i] += 1
        else:
            state.still_steps[i] = 0
        someone = someone or state.still_steps[i] >= sleep.steps
    return someone


@kernel
def _join_terms(bodies: Bodies, joints: Joints, state: State, islands: Islands, j: int) -> None:
    """Join the bodies of a coupling: all of them fall asleep, or none."""
    last = -1
    for t in range(joints.term_start[j], joints.term_start[j + 1]):
        k = joints.term_joint[t]
        a, b = joints.body_a[k], joints.body_b[k]
        body = b if bodies.kind[b] == DYNAMIC else a
        if last >= 0:
            _join_pair(bodies, state, islands, last, body)
        last = body


@kernel
def find_resting_islands(model: Model, state: State, contacts: Contacts, islands: Islands) -> None:
    """Sets of awake bodies that interact by contacts, joints or force elements.

    Writes  islands.parent; islands.boxes: as _join_pair; state.still_steps = 0 of bodies in contact
            with or joined to a moving kinematic body, or on a surface that carries them
    """
    bodies, joints, forces = model.bodies, model.joints, model.forces
    make_sets(islands.parent)
    for i in range(bodies.kind.shape[0]):
        islands.boxes[i] = 0
    for c in range(contacts.count[0]):
        a, b = contacts.body_a[c], contacts.body_b[c]
        _join_pair(bodies, state, islands, a, b)
        if _is_carried(contacts, c):
            state.still_steps[a] = 0
            state.still_steps[b] = 0
    for j in range(joints.kind.shape[0]):
        if is_broken(state, j):
            continue
        _join_pair(bodies, state, islands, joints.body_a[j], joints.body_b[j])
        _join_terms(bodies, joints, state, islands, j)
    for f in range(forces.kind.shape[0]):
        if forces.kind[f] in (FORCE_SPRING, FORCE_TORSION):
            _join_pair(bodies, state, islands, forces.body_a[f], forces.body_b[f])
        elif forces.kind[f] == FORCE_POINT_GRAVITY:
            _join_all(bodies, islands.parent)


@kernel
def write_still_steps(bodies: Bodies, state: State, islands: Islands, enough: int) -> None:
    """How long all bodies of an island have been slow, at most `enough`; 0: one moves in flight.

    What moves, and touches or is joined to nothing that stands still, is in flight, however slow.

    Reads   islands.parent, boxes: as find_resting_islands
    Writes  islands.number of the first body of each set; boxes
    """
    parent, least, held = islands.parent, islands.number, islands.boxes
    n = bodies.kind.shape[0]
    for i in range(n):
        least[i] = enough
    for i in range(n):
        if bodies.kind[i] == DYNAMIC:
            first = find_root(parent, i)
            least[first] = min(least[first], state.still_steps[i])
            held[first] = max(held[first], held[i])
    for i in range(n):
        if bodies.kind[i] == DYNAMIC and held[find_root(parent, i)] == 0 and moves(state, i):
            least[find_root(parent, i)] = 0


@kernel
def update_sleep(world: World) -> None:
    """Put islands to sleep whose bodies have all been slow for sleep.steps steps in a row.

    Their velocities are set to zero. The kinetic energy lost is booked as damping, the momentum
    lost as external. Their contacts are moved to state.resting.

    Reads   model.bodies.kind: activity of bodies; contacts of this step
    Writes  state: velocities, asleep_with, still_steps, contacts, resting, ledger, momentum_in;
            model.bodies.kind; work.islands.parent, number, boxes
    Source  decision 0041
    Check   tests/laws/test_sleeping.py
    """
    model, state, sleep = world.model, world.state, world.options.sleep
    bodies, islands = model.bodies, world.work.islands
    if sleep.enabled == 0 or not count_still(bodies, state, sleep):
        return
    find_resting_islands(model, state, world.work.contacts, islands)
    write_still_steps(bodies, state, islands, sleep.steps)
    parent, least = islands.parent, islands.number
    fell, n = False, bodies.kind.shape[0]
    for i in range(n):
        if bodies.kind[i] == DYNAMIC:
            first = find_root(parent, i)
            if least[first] == sleep.steps:
                book_halt(bodies, state, i)
                store3(state.v_WB_W, i, (0.0, 0.0, 0.0))
                store3(state.w_WB_W, i, (0.0, 0.0, 0.0))
                state.asleep_with[i] = first
                fell = True
    if fell:
        for i in range(n):
            if state.asleep_with[i] >= 0:
                bodies.kind[i] = ASLEEP
        move_cached(state.contacts, model.shapes, state.asleep_with, True, state.resting)
