"""All families, and one scene of each from a seed."""

import numpy as np

from benchmarks.families import heaps, mechanisms
from benchmarks.families.solids import Scene

FAMILIES = {make.__name__: make for make in (*heaps.FAMILIES, *mechanisms.FAMILIES)}


def draw(name: str, seed: int) -> Scene:
    """The scene of a family and a seed: no family's draw depends on the others."""
    rng = np.random.default_rng([seed, *name.encode()])
    return {"name": name} | FAMILIES[name](rng)
