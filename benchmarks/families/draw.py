"""All families, and one scene of each from a seed."""

import numpy as np

from benchmarks.families import heaps, mechanisms, vehicles
from benchmarks.families.solids import Scene

MAKERS = (*heaps.FAMILIES, *mechanisms.FAMILIES, *vehicles.FAMILIES)
FAMILIES = {make.__name__: make for make in MAKERS}


def draw(name: str, seed: int) -> Scene:
    """The scene of a family and a seed: no family's draw depends on the others."""
    rng = np.random.default_rng([seed, *name.encode()])
    return {"name": name} | FAMILIES[name](rng)
