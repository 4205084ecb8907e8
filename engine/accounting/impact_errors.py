"""Impacts: with whom, how early, and what that costs; releases of static friction.

An impact is resolved in the middle of its step, up to half a step before or after its moment.
accounting/early_impacts.py adds up what `mark_early` marks.
"""

from __future__ import annotations

from math import inf

from cardan.engine.accounting.body_records import (
    AIM_JUMP,
    AIM_KICK,
    AIM_P,
    AIM_V,
    BRAKED,
    BRAKED_NOW,
    EARLY_TIME,
    EXACT,
    RELEASE_STEP,
    RELEASES,
    RUBBED,
    STRUCK_STEP,
    VARIED,
    aim_of,
    first_of,
)
from cardan.engine.accounting.crossings import GATE_EARLY, GATE_STATIC, GATE_STRUCK
from cardan.engine.accounting.early_impacts import mark_early, note_early
from cardan.engine.accounting.simultaneous_impacts import note_rebound
from cardan.engine.accounting.supports import (
    approach_velocity,
    lose_supports,
    mark_closing,
    mark_support,
)
from cardan.engine.collision.materials import STICTION_SPEED
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.contact_curvature import SMOOTH
from cardan.engine.constraints.limits import bounce_speed
from cardan.engine.constraints.row import row_speed, row_speed_before
from cardan.engine.constraints.soft_stops import is_soft_stop
from cardan.engine.constraints.surface_curvature import shape_operator
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.quaternion import load4, rotate_back
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add_scaled,
    cross,
    dot,
    load3,
    negate,
    norm,
    scale,
    sub,
)
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import RestitutionLaw
from cardan.engine.world.rows import ROW_FRICTION
from cardan.engine.world.world import World

# share of the largest friction up to which it stops the sliding in an impact
STICKS = 0.999
# mean share of a step that is left after a blow
RUBBED_STEP = 0.4
POISSON, PROPAGATING = int(RestitutionLaw.POISSON), int(RestitutionLaw.PROPAGATING)


@kernel
def mark_stop(world: World, i: int) -> None:
    """Record the impact of the stop of row i: how early it comes.

    Reads   rows.rebound, lam of the last kick
    Writes  state.extremes from LIMITS + j + n on
    """
    rows, j = world.work.rows, world.work.rows.joint[i]
    if not world.work.problem.lam[i] > 0.0:
        return
    a, b, gap = rows.body_a[i], rows.body_b[i], max(rows.error[i], 0.0)
    if rows.rebound[i] > 0.0:
        speed = rows.rebound[i] / world.model.joints.limit_restitution[j, rows.axis[i]]
        mark_early(world, (a, b), gap / speed)
        mark_braked(world, (a, b), speed)
    else:
        speed = -row_speed_before(rows, i, world.work.motion)
    bounces = speed > bounce_speed(world.options)
    if bounces and not is_soft_stop(world.model.joints, rows, i):
        mark_support(world, a, gap / speed, b, ZERO3)
        mark_support(world, b, gap / speed, a, ZERO3)


@kernel
def mark_braked(world: World, ends: tuple[int, int], speed: float) -> None:
    """Mark the way that an impact at `speed` [m/s] loses to friction F of the two bodies' joints.

    A blow takes no time, so friction takes nothing from it. In a step both are one problem: the
    bodies have lost an impulse P <= F h of the blow when they go on with v, and so a way
    P/F (v + P/(2 m)), unless the blow came before the friction. Bodies that press on each other
    and are braked do not meet: the way is at most h times the speed.

    Reads   BRAKED, RUBBED of both bodies; velocities after the kick
    Writes  state.extremes: BRAKED_NOW of both bodies
    Check   tests/engine/test_verdict_damped.py
    """
    extremes, bodies, first = world.state.extremes, world.model.bodies, first_of(world)
    rubbed, braked, mass, momentum = 0.0, 0.0, 0.0, ZERO3
    for i in ends:
        if world.kind[i] == DYNAMIC:
            rubbed = max(rubbed, extremes[first + VARIED * i + RUBBED])
            braked = max(braked, extremes[first + VARIED * i + BRAKED])
            mass += bodies.mass[i]
            momentum = add_scaled(momentum, bodies.mass[i], load3(world.state.v_WB_W, i))
    if mass == 0.0:
        return
    h = world.clock.h[0]
    lost = RUBBED_STEP * h * rubbed * norm(momentum) / mass + braked / mass
    for i in ends:
        at = first + VARIED * i + BRAKED_NOW
        if world.kind[i] == DYNAMIC:
            extremes[at] = max(extremes[at], min(lost, h * speed))


@kernel
def note_braking(world: World, body: int, impulse: float, most: float) -> None:
    """Note what an impulse of at most `most` along a way takes from a body in this step [N s].

    Writes  state.extremes: BRAKED [kg m], for an impact in the same step
    """
    if world.kind[body] == DYNAMIC:
        braked = 0.5 * impulse * impulse * world.clock.h[0] / most if most > 0.0 else 0.0
        world.state.extremes[first_of(world) + VARIED * body + BRAKED] = braked


@kernel
def record_braking(world: World, i: int) -> None:
    """Note what the bounded row i along a way takes in this step.

    Writes  state.extremes: BRAKED of both bodies, RUBBED
    """
    rows, extremes = world.work.rows, world.state.extremes
    impulse, most = world.work.problem.lam[i], rows.hi[i]
    if not most < inf:
        return
    for body in (rows.body_a[i], rows.body_b[i]):
        note_braking(world, body, impulse, most)
        if world.kind[body] == DYNAMIC and rows.kind[i] == ROW_FRICTION and most > 0.0:
            extremes[first_of(world) + VARIED * body + RUBBED] = abs(impulse) / most


@kernel
def normal_curvature(world: World, c: int, tangent: Vec3) -> float:
    """How far the normal of contact c turns per way of one body along a unit tangent [1/m].

        k_a k_b/(k_a + k_b)   of the curvatures along the tangent; 0 where a surface is plane or
                              sharp: the normal is then that of one of the bodies

    Reads   collision.solids at the poses of the contacts
    """
    contacts = world.work.contacts
    n = load3(contacts.normal_W, c)
    basis = (tangent, cross(n, tangent))
    k_a = shape_operator(world, contacts.shape_a[c], c, n, basis)[0]
    k_b = shape_operator(world, contacts.shape_b[c], c, negate(n), basis)[0]
    if k_a * k_b <= 0.0 or max(k_a, k_b) >= SMOOTH:
        return 0.0
    return k_a * k_b / (k_a + k_b)


@kernel
def mark_errors(world: World, c: int, time: float) -> None:
    """Mark the errors with which bodies leave an impact that is early by `time` [s].

    With errors e of the position and u of the velocity of B relative to A, and its velocity v, the
    impact is late by t, the normal turns on curved surfaces, and the impulse j n changes with them:

        t = (e . n)/|v . n|                     dn = k (e - v time) along the tangents
        dj/j = (v . dn + u . n)/(v . n)         k as in `normal_curvature`

    which each body leaves with the errors (dj n + j dn)/m and -t j n/m: so errors of billiards
    grow.

    Writes  state.extremes: AIM_KICK, AIM_JUMP of both bodies
    """
    contacts, extremes, bodies = world.work.contacts, world.state.extremes, world.model.bodies
    a, b = contacts.body_a[c], contacts.body_b[c]
    v, n = approach_velocity(world, contacts, c), load3(contacts.normal_W, c)
    along, impulse = dot(v, n), norm(load3(contacts.impulse_W, c))
    if abs(along) < world.options.restitution_threshold:
        return
    e = sub(aim_of(world, b, AIM_P), aim_of(world, a, AIM_P))
    u = sub(aim_of(world, b, AIM_V), aim_of(world, a, AIM_V))
    late = min(dot(e, n) / abs(along), world.options.time_step)
    e = add_scaled(e, -time, v)
    e = add_scaled(e, -dot(e, n), n)
    way, turned = norm(e), (0.0, 0.0, 0.0)
    if way > 0.0:
        curvature = normal_curvature(world, c, scale(1.0 / way, e))
        turned = scale(min(curvature, 1.0 / way), e)
    change = add_scaled(turned, (dot(v, turned) + dot(u, n)) / along, n)
    for end in range(2):
        body = b if end == 1 else a
        at = first_of(world) + VARIED * body
        jump = (1.0 if end == 1 else -1.0) * impulse * bodies.inverse_mass[body]
        for k in range(3):
            extremes[at + AIM_KICK + k] += jump * change[k]
            extremes[at + AIM_JUMP + k] -= jump * late * n[k]


@kernel
def mark_levers(world: World, c: int) -> None:
    """Friction of an impact that comes while a gap g is open has the wrong lever arms.

    The point of the contact lies in the middle of the gap, g/2 off the surface of each body. Where
    friction stops the sliding, its impulse is u/(1/m + r^2/I), r the arm along the normal:

        dP/P = g r/(I/m + r^2)        an error of velocity of P/m from this step on

    Where it slides on, the impulse is that of Coulomb's law, whatever its arm.

    Writes  state.extremes: AIM_KICK of both bodies
    Check   tests/engine/test_verdict_damped.py
    """
    contacts, bodies, state = world.work.contacts, world.model.bodies, world.state
    n, P = load3(contacts.normal_W, c), load3(contacts.impulse_W, c)
    pressed = dot(n, P)
    rubbed = add_scaled(P, -pressed, n)
    size = norm(rubbed)
    if size == 0.0 or size > STICKS * contacts.friction[c] * abs(pressed):
        return
    axis = scale(1.0 / size, cross(n, rubbed))
    for i in (contacts.body_a[c], contacts.body_b[c]):
        if world.kind[i] != DYNAMIC:
            continue
        axis_B = rotate_back(load4(state.q_WB, i), axis)
        own = dot(axis_B, times_vector(load33(bodies.inertia_B, i), axis_B))
        # the kick was half a drift ago
        p = add_scaled(load3(state.p_WB, i), -0.5 * world.clock.h[0], load3(state.v_WB_W, i))
        arm = abs(dot(n, sub(load3(contacts.point_W, c), p)))
        share = contacts.gap[c] * arm / (own * bodies.inverse_mass[i] + arm * arm)
        for k in range(3):
            change = min(share, 1.0) * bodies.inverse_mass[i] * rubbed[k]
            state.extremes[first_of(world) + VARIED * i + AIM_KICK + k] += change


@kernel
def mark_moment(world: World, c: int) -> None:
    """Mark how early the impact of contact c is, and the errors it leaves.

    Without restitution a body that strikes one that is fixed comes to rest in time; two that move
    exchange velocities early all the same.
    """
    options, kind, contacts = world.options, world.kind, world.work.contacts
    a, b = contacts.body_a[c], contacts.body_b[c]
    both_move, rebounds = kind[a] == DYNAMIC and kind[b] == DYNAMIC, contacts.restitution[c] > 0.0
    if options.impact_time == EXACT or not (rebounds or both_move):
        return
    speed = abs(dot(load3(contacts.normal_W, c), approach_velocity(world, contacts, c)))
    mark_braked(world, (a, b), speed)
    if speed > 0.0 and contacts.gap[c] > 0.0:
        time = min(contacts.gap[c] / speed, options.time_step)
        mark_early(world, (a, b), time)
        mark_errors(world, c, time)
        mark_levers(world, c)


@kernel
def is_impact(world: World, c: int) -> bool:
    """Whether contact c is rigid and its impulse that of an impact: more than the threshold of
    restitution for the lighter body; Poisson's law marks its own."""
    contacts, options = world.work.contacts, world.options
    if contacts.compliance[c] > 0.0:
        return False
    inverse_mass = world.model.bodies.inverse_mass
    lighter = max(inverse_mass[contacts.body_a[c]], inverse_mass[contacts.body_b[c]])
    jump = norm(load3(contacts.impulse_W, c)) * lighter
    struck = options.restitution_law == POISSON and contacts.struck[c] == 1
    return struck or jump > options.restitution_threshold


@kernel
def note_replaced_impacts(world: World) -> None:
    """Note how early the impacts of the last solve are, before the next of the same step replaces
    its contacts and velocities.

    Writes  state.extremes from LIMITS + j + n on
    Check   tests/engine/test_verdict_damped.py
    """
    extremes, first = world.state.extremes, first_of(world)
    for c in range(world.work.contacts.count[0]):
        if is_impact(world, c):
            mark_moment(world, c)
    for i in range(world.kind.shape[0]):
        if extremes[first + VARIED * i + EARLY_TIME] > 0.0:
            note_early(world, i)
            # the step that ends next
            extremes[first + VARIED * i + STRUCK_STEP] = float(world.state.step[0]) + 1.0
    extremes[GATE_EARLY] = 0.0


@kernel
def record_impact(world: World, contacts: Contacts, c: int) -> None:
    """Record the impact of contact c: with whom, and how early."""
    options, a, b = world.options, contacts.body_a[c], contacts.body_b[c]
    if options.restitution_law != PROPAGATING and contacts.restitution[c] > 0.0:
        # Poisson's rebound is no impulse of this kick
        rebound = contacts.restitution[c] * norm(load3(contacts.impulse_W, c))
        rebound = inf if options.restitution_law == POISSON else rebound
        note_rebound(world, (a, b), rebound, float(world.state.step[0]))
    mark_moment(world, c)


@kernel
def record_impacts(world: World, contacts: Contacts) -> None:
    """Note bodies that bounce off two others in one step: laws of restitution then differ; and how
    early impacts come.

    Propagating impacts meet one by one.

    Writes  state.extremes from LIMITS + j + n on
    Check   tests/engine/test_verdict.py
    """
    rows = world.work.rows
    for c in range(contacts.count[0]):
        if contacts.compliance[c] > 0.0:
            continue
        jump = norm(load3(contacts.impulse_W, c))
        if jump > 0.0 and rows.lam_warm[rows.count[1] + 3 * c] == 0.0:
            mark_closing(world, c)
        if is_impact(world, c):
            record_impact(world, contacts, c)
    if world.state.extremes[GATE_STRUCK] == 1.0:
        lose_supports(world, contacts)


@kernel
def slides_after_kick(world: World, c: int) -> bool:
    """Whether the surfaces of contact c slide on each other after the kick, where they met then."""
    rows, slip = world.work.rows, 0.0
    first = rows.count[1] + 3 * c
    for row in range(first + 1, first + 3):
        speed = row_speed(rows, row, world.state) + rows.bias[row]
        slip += speed * speed
    return slip > STICTION_SPEED * STICTION_SPEED


@kernel
def record_releases(world: World) -> None:
    """Count the steps in which contacts with static friction begin to slide.

    They begin up to a step late, where friction falls from its static to its kinetic value; what
    sticks and slips is later by that with each release.

    Writes  state.extremes from LIMITS + j + n on
    """
    state, contacts, model = world.state, world.work.contacts, world.model
    if state.extremes[GATE_STATIC] == 0.0:
        return
    material, friction = model.shapes.material, model.materials.friction
    for c in range(contacts.count[0]):
        kinetic = friction[material[contacts.shape_a[c]], material[contacts.shape_b[c]]]
        if contacts.friction[c] > kinetic and slides_after_kick(world, c):
            for body in (contacts.body_a[c], contacts.body_b[c]):
                at = first_of(world) + VARIED * body
                if state.extremes[at + RELEASE_STEP] != float(state.step[0]):
                    state.extremes[at + RELEASE_STEP] = float(state.step[0])
                    state.extremes[at + RELEASES] += 1.0
