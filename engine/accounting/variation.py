"""How unevenly kicks change velocities: what the error of the step size is estimated from.

Drift, kick, drift is exact where every kick is the same: free fall, constant forces. Of a motion
with frequency w it misses (w h)^2/24 of the phase, which is h/24 times the sum of the changes from
one kick to the next, and an impact is late by up to a step. engine/verdict.py compares

    error  ~  h sum |dv_k - dv_(k-1)|        with        scale  =  |v|max^2 T / sum |dv_k|

(the amplitude of an oscillation, the height of a fall), and alike for angular momentum. A body that
turns with its velocity (a rotor out of balance) is uniform in its own axes: of dv_k and
dv_k - h w x v_k that counts which changes less. Free rotation is exact: of bodies with constraint
rows the angular momentum of the drift is taken, which kicks alone change; of trees the angular
velocity.

    extremes[LIMITS + j + n + VARIED i :]    body i, as below; s: of the last step
"""

from __future__ import annotations

from math import sqrt

from cardan.engine.accounting.crossings import DEPTH, GATE_DEPTH, LIMITS, note
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add_scaled, cross, dot, load3, norm, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# of body i: v(s), L(s) or w(s); dv(s), the same in turning axes, dL(s); largest |v|^2, |L|^2; sums
# of |dv|, |dL|, |change of dv|, |change of dL|; where and with whom it last had an impact; largest
# number of bodies with which it had one in one step
LAST_V, LAST_L, KICK_V, KICK_R, KICK_L = 0, 3, 6, 9, 12
LARGEST_V, LARGEST_L, SUM_V, SUM_L, VARIED_V, VARIED_L = range(15, 21)
IMPACT_STEP, IMPACT_WITH, IMPACTS = 21, 22, 23
# set at the start: 1: the drift keeps L; how deep others may be in it [m]
KEEPS_L, DEPTH_LIMIT = 24, 25
VARIED = 26


@kernel
def exchange(state: State, at: int, new: Vec3) -> Vec3:
    """Store three numbers of extremes; returns what was there."""
    old = (state.extremes[at], state.extremes[at + 1], state.extremes[at + 2])
    for k in range(3):
        state.extremes[at + k] = new[k]
    return old


@kernel
def first_of(world: World) -> int:
    """Where the numbers of body 0 are in extremes."""
    model = world.model
    return LIMITS + model.joints.kind.shape[0] + model.bodies.kind.shape[0]


@kernel
def spin_of(world: World, i: int) -> Vec3:
    """Angular momentum of the last drift of body i; where none is kept its angular velocity."""
    if world.state.extremes[first_of(world) + VARIED * i + KEEPS_L] == 1.0:
        return load3(world.state.L_conserved, i)
    return load3(world.state.w_WB_W, i)


@kernel
def record_variation(world: World) -> None:
    """Add up how the last kick differs from the one before, of every body that moves.

    The first kick of a run has none before it.

    Writes  state.extremes from LIMITS + j + n on
    Check   tests/engine/test_verdict.py
    """
    state, h = world.state, world.options.time_step
    extremes, first, step = state.extremes, first_of(world), state.step[0]
    for i in range(world.kind.shape[0]):
        if world.kind[i] != DYNAMIC:
            continue
        at = first + VARIED * i
        v, w, L = load3(state.v_WB_W, i), load3(state.w_WB_W, i), spin_of(world, i)
        kick = sub(v, exchange(state, at + LAST_V, v))
        spun = sub(L, exchange(state, at + LAST_L, L))
        turned = add_scaled(kick, -h, cross(w, v))
        varied = norm(sub(kick, exchange(state, at + KICK_V, kick)))
        varied = min(varied, norm(sub(turned, exchange(state, at + KICK_R, turned))))
        varied_L = norm(sub(spun, exchange(state, at + KICK_L, spun)))
        extremes[at + LARGEST_V] = max(extremes[at + LARGEST_V], dot(v, v))
        extremes[at + LARGEST_L] = max(extremes[at + LARGEST_L], dot(L, L))
        if step > 1:
            extremes[at + SUM_V] += sqrt(dot(kick, kick))
            extremes[at + SUM_L] += sqrt(dot(spun, spun))
        if step > 2:
            extremes[at + VARIED_V] += varied
            extremes[at + VARIED_L] += varied_L


@kernel
def note_impact(world: World, i: int, other: int) -> None:
    """Count with how many bodies body i has an impact in this step."""
    state = world.state
    if world.kind[i] != DYNAMIC:
        return
    at, step = first_of(world) + VARIED * i, float(state.step[0])
    if state.extremes[at + IMPACT_STEP] != step:
        state.extremes[at + IMPACT_STEP] = step
        state.extremes[at + IMPACT_WITH] = float(other)
        state.extremes[at + IMPACTS] = max(state.extremes[at + IMPACTS], 1.0)
    elif state.extremes[at + IMPACT_WITH] != float(other):
        state.extremes[at + IMPACTS] = 2.0


@kernel
def record_depths(world: World, contacts: Contacts) -> None:
    """Note rigid contacts that are deeper than either body may be penetrated.

    Writes  state.extremes
    """
    state, first = world.state, first_of(world)
    for c in range(contacts.count[0]):
        depth = -contacts.gap[c]
        if depth <= state.extremes[GATE_DEPTH] or contacts.compliance[c] > 0.0:
            continue
        a, b = contacts.body_a[c], contacts.body_b[c]
        in_a = state.extremes[first + VARIED * a + DEPTH_LIMIT]
        in_b = state.extremes[first + VARIED * b + DEPTH_LIMIT]
        if depth > min(in_a, in_b):
            note(state, DEPTH, depth, min(in_a, in_b), a if in_a <= in_b else b)


@kernel
def record_impacts(world: World, contacts: Contacts) -> None:
    """Note bodies that bounce off two others in one step: laws of restitution then differ.

    An impact is a contact with restitution whose impulse changes the speed of the lighter body by
    more than the threshold of restitution.

    Writes  state.extremes from LIMITS + j + n on
    """
    bodies, least = world.model.bodies, world.options.restitution_threshold
    for c in range(contacts.count[0]):
        if contacts.restitution[c] == 0.0:
            continue
        a, b = contacts.body_a[c], contacts.body_b[c]
        push = norm(load3(contacts.impulse_W, c))
        if push * max(bodies.inverse_mass[a], bodies.inverse_mass[b]) > least:
            note_impact(world, a, b)
            note_impact(world, b, a)
