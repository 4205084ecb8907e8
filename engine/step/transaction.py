"""A step is a transaction: it completes, or the state is unchanged and the room has to grow.

Room runs out in one place only, where contacts are found (find_contacts.py). Until then a step has
changed little; what is large, contact caches and impulses of joints, is overwritten by the kick and
copied only where contacts may be looked for again behind it.
"""

from __future__ import annotations

from cardan.engine.accounting.body_records import ON_FACETS, TURNED_ON_FACES, VARIED, first_of
from cardan.engine.accounting.crossings import CROSSINGS
from cardan.engine.collision.find_contacts import can_any_touch
from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.state import ContactCache, State
from cardan.engine.world.world import World


@kernel
def copy_motion(source: State, target: State) -> None:
    """Copy what any step may have changed before its kick is final, but for impulses."""
    target.time[0] = source.time[0]
    target.velocities_changed[0] = source.velocities_changed[0]
    target.elastic[0] = source.elastic[0]
    target.woken[0] = source.woken[0]
    target.presence_changed[0] = source.presence_changed[0]
    for i in range(source.p_WB.shape[0]):
        for k in range(3):
            target.p_WB[i, k] = source.p_WB[i, k]
            target.q_WB[i, k] = source.q_WB[i, k]
            target.v_WB_W[i, k] = source.v_WB_W[i, k]
            target.w_WB_W[i, k] = source.w_WB_W[i, k]
            target.L_conserved[i, k] = source.L_conserved[i, k]
            target.w_drifted[i, k] = source.w_drifted[i, k]
        target.q_WB[i, 3] = source.q_WB[i, 3]
        target.still_steps[i] = source.still_steps[i]
        target.asleep_with[i] = source.asleep_with[i]
    for k in range(source.ledger.shape[0]):
        target.ledger[k] = source.ledger[k]
    for k in range(source.momentum_in.shape[0]):
        target.momentum_in[k] = source.momentum_in[k]
    # limits, and what the end of a step alone writes, need no copy
    for k in range(CROSSINGS):
        target.extremes[k] = source.extremes[k]
    for f in range(source.twist.shape[0]):
        target.twist[f] = source.twist[f]
    for j in range(source.joint_q.shape[0]):
        for k in range(3):
            target.joint_q[j, k] = source.joint_q[j, k]
    for k in range(source.tree_q.shape[0]):
        target.tree_q[k] = source.tree_q[k]
    for k in range(source.tree_qd.shape[0]):
        target.tree_qd[k] = source.tree_qd[k]
        for row in range(source.tree_bias_acceleration.shape[0]):
            target.tree_bias_acceleration[row, k] = source.tree_bias_acceleration[row, k]


@kernel
def copy_links(source: State, target: State) -> None:
    """Copy what joints add to the inertia of links: rows are written before the kick is known."""
    if source.joint_q.shape[0] == 0:
        return
    for i in range(source.link_inertia.shape[0]):
        for k in range(6):
            target.link_inertia[i, k] = source.link_inertia[i, k]


@kernel
def copy_patches(source: State, target: State, first: int) -> None:
    """Copy what each kick adds to the sums of bodies (accounting/patches.py), from `first` on."""
    for i in range(source.p_WB.shape[0]):
        at = first + VARIED * i
        target.extremes[at + TURNED_ON_FACES] = source.extremes[at + TURNED_ON_FACES]
        target.extremes[at + ON_FACETS] = source.extremes[at + ON_FACETS]


@kernel
def copy_records(source: State, target: State, first: int) -> None:
    """Copy the records of bodies from `first` on: impacts behind a kick write them."""
    for k in range(first, first + VARIED * source.p_WB.shape[0]):
        target.extremes[k] = source.extremes[k]


@kernel
def copy_cache(source: ContactCache, target: ContactCache) -> None:
    """Copy the contacts that are in use."""
    n = source.count[0]
    target.count[0] = n
    for i in range(n):
        target.key[i] = source.key[i]
        target.feature[i] = source.feature[i]
        target.touching[i] = source.touching[i]
        for k in range(3):
            target.impulse_W[i, k] = source.impulse_W[i, k]
            target.moment_W[i, k] = source.moment_W[i, k]
            target.point_W[i, k] = source.point_W[i, k]
            target.normal_W[i, k] = source.normal_W[i, k]


@kernel
def copy_impulses(source: State, target: State) -> None:
    """Copy contact caches and impulses of joints."""
    copy_cache(source.contacts, target.contacts)
    copy_cache(source.resting, target.resting)
    for j in range(source.joint_lam.shape[0]):
        for k in range(source.joint_lam.shape[1]):
            target.joint_lam[j, k] = source.joint_lam[j, k]


@kernel
def begin_transaction(world: World) -> None:
    """Keep what the step changes first, unless no room can run out.

    Writes  world.spare
    Check   tests/laws/test_capacity.py
    """
    spare, watched = world.spare, len(world.events.who) > 0
    spare.has_motion[0], spare.has_impulses[0] = 0, 0
    if watched or can_any_touch(world.model.shapes, world.kind, world.state.excluded):
        copy_motion(world.state, spare.state)
        copy_links(world.state, spare.state)
        copy_patches(world.state, spare.state, first_of(world))
        spare.events[0] = world.events.count[0]
        spare.has_motion[0] = 1


@kernel
def keep_impulses(world: World) -> None:
    """Keep contact caches and impulses of joints, before their first change in a step.

    Needed where contacts are looked for after that change.
    """
    spare = world.spare
    if spare.has_motion[0] == 1 and spare.has_impulses[0] == 0:
        copy_impulses(world.state, spare.state)
        copy_records(world.state, spare.state, first_of(world))
        spare.has_impulses[0] = 1


@kernel
def roll_back(world: World) -> None:
    """The state, and the number of events, become what they were before the step."""
    spare = world.spare
    copy_motion(spare.state, world.state)
    copy_links(spare.state, world.state)
    copy_patches(spare.state, world.state, first_of(world))
    world.events.count[0] = spare.events[0]
    if spare.has_impulses[0] == 1:
        copy_impulses(spare.state, world.state)
        copy_records(spare.state, world.state, first_of(world))
