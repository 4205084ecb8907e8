"""Suggestions for misspelt names."""

import difflib
from collections.abc import Collection

MAX_COMPARED = 2000
MAX_LISTED = 20

# names of other formats, and what this one calls the same; the first that is known counts
SYNONYMS = {
    "revolute": ("hinge",),
    "continuous": ("hinge",),
    "pin": ("hinge",),
    "prismatic": ("slider",),
    "translational": ("slider",),
    "spherical": ("ball",),
    "socket": ("ball",),
    "weld": ("fixed",),
    "rigid": ("fixed",),
    "ball": ("sphere",),
    "cube": ("box",),
    "cuboid": ("box",),
    "hull": ("convex",),
    "height": ("length", "heights", "size"),
    "width": ("size",),
    "extents": ("size",),
    "quaternion": ("orientation",),
    "rotation": ("orientation",),
    "velocity": ("linear_velocity",),
}


def did_you_mean(name: str, known: Collection[str]) -> str | None:
    """Return "Did you mean 'x'?" when a known name means the same or is close, else None."""
    for synonym in SYNONYMS.get(name[:200].lower(), ()):
        if synonym in known:
            return f"Did you mean '{synonym}'?"
    candidates = list(known)[:MAX_COMPARED]
    close = difflib.get_close_matches(name[:200], candidates, n=1, cutoff=0.6)
    return f"Did you mean '{close[0]}'?" if close else None


def listed(names: Collection[str]) -> str:
    """Join names for a message; long lists end in their number."""
    texts = [str(name) for name in names]
    if len(texts) <= MAX_LISTED:
        return ", ".join(texts)
    return ", ".join(texts[:MAX_LISTED]) + f", ... ({len(texts)} in all)"
