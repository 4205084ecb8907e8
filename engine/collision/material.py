"""Surface properties of the contacts."""

from __future__ import annotations

from engine.kernel import kernel
from engine.world.contacts import Contacts
from engine.world.model import Materials, Shapes


@kernel
def write_surfaces(materials: Materials, shapes: Shapes, contacts: Contacts) -> None:
    """Bodies, Coulomb mu and restitution of every contact, from its shapes and the pair tables."""
    for c in range(contacts.count[0]):
        i = contacts.shape_a[c]
        j = contacts.shape_b[c]
        contacts.body_a[c] = shapes.body[i]
        contacts.body_b[c] = shapes.body[j]
        a = shapes.material[i]
        b = shapes.material[j]
        contacts.friction[c] = materials.friction[a, b]
        contacts.restitution[c] = materials.restitution[a, b]
