"""Room for what a step finds: contacts, pairs and rows; how much at first, and how it grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cardan.engine.solvers.solve import AUTO, PGS, RESTING_ROWS, SMALL_STEPS, SOR
from cardan.engine.world.collision import CollisionScratch
from cardan.engine.world.model import MOTOR_POSITION, MOTOR_VELOCITY, Joints, Model
from cardan.engine.world.options import ImpactTime, RestitutionLaw, StepOptions
from cardan.engine.world.problem import FRICTION_CONE
from cardan.engine.world.report import CONTACTS_FULL, PAIRS_FULL
from cardan.engine.world.rows import N_SLOTS
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Workspace

# rows of a grabbed body
GRAB_ROWS = 3
# room up to which it doubles: to grow takes some milliseconds, steps of small scenes take less
DOUBLED = 256


def has_strikes(options: StepOptions) -> bool:
    """Whether impacts are separate from the kick and need arrays."""
    by_law = options.restitution_law != RestitutionLaw.NEWTON
    return by_law or options.impact_time == ImpactTime.EXACT


def may_start_at_once(joints: Joints) -> bool:
    """Whether any motor has a target that a drive without a bound reaches at once."""
    return bool(np.isin(joints.motor_kind, (MOTOR_VELOCITY, MOTOR_POSITION)).any())


def first_capacity(n_shapes: int) -> int:
    """Initial capacity of contacts; it grows when a scene needs more."""
    return max(32, 2 * n_shapes)


class Room(NamedTuple):
    """Capacities of what a step finds."""

    contacts: int
    pairs: int
    ahead: int  # contacts of deflected bodies (step/continuous.py)


def first_room(contacts: int) -> Room:
    """Room beside that for contacts: boxes of pairs are larger than shapes, few are deflected."""
    return Room(contacts, max(64, 4 * contacts), max(128, contacts // 16))


def room_of(work: Workspace, collision: CollisionScratch) -> Room:
    """The room there is."""
    return Room(len(work.contacts.gap), len(collision.sweep.pair_a), len(work.ahead.gap))


def with_reserve(n: int) -> int:
    """Room for n, of which a step may soon find more: growth is rare, and small room doubles."""
    return n + max(min(n, DOUBLED), n // 6)


def grown_room(state: State, work: Workspace, collision: CollisionScratch, status: int) -> Room:
    """The room after a step that found too little: `status`."""
    room, found = room_of(work, collision), work.contacts
    if status & PAIRS_FULL:
        missing = int(collision.sweep.pair_count[1] - collision.sweep.pair_count[0])
        room = room._replace(pairs=with_reserve(room.pairs + missing))
    if status & CONTACTS_FULL and work.ahead.dropped[0] > 0:
        room = room._replace(ahead=with_reserve(room.ahead + int(work.ahead.dropped[0])))
    elif status & CONTACTS_FULL:
        # contacts of sleeping bodies are kept beside those that were found
        wanted = int(found.count[0] + found.dropped[0] + state.resting.count[0])
        room = room._replace(contacts=with_reserve(max(wanted, room.contacts)))
    return room


def box_rows(model: Model, max_contacts: int) -> int:
    """Rows of joints, terms of couplings, force elements (drag has three), a grab, rolling."""
    rows = N_SLOTS * len(model.joints.kind) + 3 * len(model.forces.kind) + GRAB_ROWS
    rows += len(model.joints.term_joint)
    turning = bool(model.materials.rolling.any() or model.materials.spinning.any())
    return rows + (3 * max_contacts if turning else 0)


def max_rows(model: Model, max_contacts: int) -> int:
    """Rows of everything beside contacts, and three of each contact."""
    return box_rows(model, max_contacts) + 3 * max_contacts


def max_groups(model: Model) -> int:
    """Groups of equations: a joint may have more than six, a force element has one."""
    return 2 * len(model.joints.kind) + len(model.forces.kind) + 1


def gathered_rows(model: Model, options: StepOptions, n_rows: int) -> int:
    """Rows of the largest island of n_rows that is gathered before it is solved.

    Islands of contacts alone are swept in place unless they are small (solvers/solve.py). A grabbed
    body needs more room: `with_room_to_grab`.
    """
    is_swept = options.solver.method in (AUTO, PGS, SOR, SMALL_STEPS)
    is_swept &= options.friction_kind == FRICTION_CONE and not has_strikes(options)
    if is_swept and box_rows(model, 1) == GRAB_ROWS and len(model.tree.kind) == 0:
        return min(n_rows, RESTING_ROWS)
    return n_rows
