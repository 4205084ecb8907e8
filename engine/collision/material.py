"""Surface properties of a pair."""

from __future__ import annotations

from engine.kernel import kernel
from engine.world.model import Materials, Shapes


@kernel
def pair_surface(materials: Materials, shapes: Shapes, i: int, j: int) -> tuple[float, float]:
    """(Coulomb mu, restitution) of shapes i and j from the pair tables."""
    a = shapes.material[i]
    b = shapes.material[j]
    return (float(materials.friction[a, b]), float(materials.restitution[a, b]))
