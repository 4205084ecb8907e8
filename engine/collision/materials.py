"""Surface properties of the contacts."""

from __future__ import annotations

from cardan.engine.bodies.point import point_velocity
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import load4, rotate
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, add_scaled, dot, load3, store3, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import Materials, Shapes
from cardan.engine.world.state import State

# sliding slower than this, surfaces still stick: above the errors of solvers, and far below what
# kinetic friction takes from the speed of a body in a step of a millisecond, mu g h [m/s]
STICTION_SPEED = 1e-4


@kernel
def surface_velocity_of(materials: Materials, state: State, body: int, material: int) -> Vec3:
    """Velocity of a body's surface relative to the body, W [m/s]."""
    surface_velocity = load3(materials.surface_velocity_B, material)
    if surface_velocity == ZERO3:
        return ZERO3
    return rotate(load4(state.q_WB, body), surface_velocity)


@kernel
def slides(state: State, contacts: Contacts, c: int) -> bool:
    """Whether the surfaces of contact c slide on each other before the kick."""
    p, n = load3(contacts.point_W, c), load3(contacts.normal_W, c)
    v_a = point_velocity(state, contacts.body_a[c], p)
    v_b = point_velocity(state, contacts.body_b[c], p)
    v = add(sub(v_b, v_a), load3(contacts.surface_velocity_W, c))
    v_t = add_scaled(v, -dot(v, n), n)
    return dot(v_t, v_t) > STICTION_SPEED * STICTION_SPEED


@kernel
def write_surfaces(
    materials: Materials,
    shapes: Shapes,
    state: State,
    contacts: Contacts,
    which: tuple[int, int],
) -> None:
    """Bodies and surface properties of contacts [first, end), by their shapes and the pair tables.

    The surface velocity is that of B's surface relative to B minus that of A's relative to A, in W.
    Friction is the static coefficient up to STICTION_SPEED, the kinetic one above it.
    Check   tests/references/test_surfaces.py
    """
    i, j, a, b, body_a, body_b = -1, -1, 0, 0, 0, 0
    surface_velocity = ZERO3
    for c in range(which[0], which[1]):
        if contacts.shape_a[c] != i or contacts.shape_b[c] != j:
            i, j = contacts.shape_a[c], contacts.shape_b[c]
            a, b = shapes.material[i], shapes.material[j]
            body_a, body_b = shapes.body[i], shapes.body[j]
            velocity_a = surface_velocity_of(materials, state, body_a, a)
            surface_velocity = sub(surface_velocity_of(materials, state, body_b, b), velocity_a)
        contacts.body_a[c] = body_a
        contacts.body_b[c] = body_b
        contacts.friction[c] = materials.friction[a, b]
        contacts.restitution[c] = materials.restitution[a, b]
        contacts.rolling[c] = materials.rolling[a, b]
        contacts.spinning[c] = materials.spinning[a, b]
        # of a foundation that of 1 m^2: compliant; constraints/foundation.py knows the area
        contacts.compliance[c] = materials.compliance[a, b] + materials.foundation[a, b]
        contacts.damping[c] = materials.damping[a, b]
        store3(contacts.surface_velocity_W, c, surface_velocity)
        if materials.static_friction[a, b] > contacts.friction[c] and not slides(
            state, contacts, c
        ):
            contacts.friction[c] = materials.static_friction[a, b]
