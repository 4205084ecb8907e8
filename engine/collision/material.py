"""Surface properties of the contacts."""

from __future__ import annotations

from engine.kernel import kernel
from engine.spatial.quaternion import load4, rotate
from engine.spatial.vec3 import load3, store3, sub
from engine.world.contacts import Contacts
from engine.world.model import Materials, Shapes
from engine.world.state import State


@kernel
def write_surfaces(materials: Materials, shapes: Shapes, state: State, contacts: Contacts) -> None:
    """Bodies and surface properties of every contact, from its shapes and the pair tables.

    The belt velocity is how fast B's surface runs over its body less the same of A, turned into W.
    Check   tests/references/test_surfaces.py
    """
    for c in range(contacts.count[0]):
        i = contacts.shape_a[c]
        j = contacts.shape_b[c]
        contacts.body_a[c] = shapes.body[i]
        contacts.body_b[c] = shapes.body[j]
        a = shapes.material[i]
        b = shapes.material[j]
        contacts.friction[c] = materials.friction[a, b]
        contacts.restitution[c] = materials.restitution[a, b]
        contacts.rolling[c] = materials.rolling[a, b]
        contacts.spinning[c] = materials.spinning[a, b]
        contacts.compliance[c] = materials.compliance[a, b]
        contacts.damping[c] = materials.damping[a, b]
        belt_a = rotate(load4(state.q_WB, shapes.body[i]), load3(materials.belt_B, a))
        belt_b = rotate(load4(state.q_WB, shapes.body[j]), load3(materials.belt_B, b))
        store3(contacts.belt_W, c, sub(belt_b, belt_a))
