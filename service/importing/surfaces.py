"""Convert friction into materials: MuJoCo takes the larger of two, a scene lists such pairs."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.notes import Notes

MAX_PAIRED = 24
"""Materials beyond which pairs are left to the scene's own rule: their number grows by squares."""
STANDARD = (0.02, 1.0)
"""MuJoCo's solref of a contact: time constant [s], damping ratio [-]."""


@dataclass(frozen=True)
class Surface:
    """Contact parameters of a geom."""

    priority: int
    condim: int
    sliding: float
    spinning: float
    rolling: float
    restitution: float

    def material(self) -> dict[str, float]:
        """The material of two such surfaces: `condim` says which frictions there are."""
        return {
            "friction": self.sliding if self.condim > 1 else 0.0,
            "spinning_friction": self.spinning if self.condim > 3 else 0.0,
            "rolling_friction": self.rolling if self.condim > 4 else 0.0,
            "restitution": self.restitution,
        }

    def with_other(self, other: "Surface") -> "Surface":
        """The surface of a pair: of the higher priority, else the larger of each."""
        if self.priority != other.priority:
            return max(self, other, key=lambda surface: surface.priority)
        pairs = zip(self._values(), other._values(), strict=True)
        dim, *values = (max(a, b) for a, b in pairs)
        return Surface(self.priority, int(dim), *values)

    def _values(self) -> tuple[float, ...]:
        return (self.condim, self.sliding, self.spinning, self.rolling, self.restitution)


def find_surfaces(
    compiled: Compiled, notes: Notes
) -> tuple[dict[int, str], dict[str, Any], list[dict[str, Any]]]:
    """Material by geom, the materials, and the pairs that do not combine by the scene's rule."""
    model = compiled.model
    by_geom = {geom: _surface(compiled, geom, notes) for geom in range(model.ngeom)}
    distinct = list(dict.fromkeys(by_geom.values()))
    names = {surface: _name(surface, k, distinct) for k, surface in enumerate(distinct)}
    materials = {name: surface.material() for surface, name in names.items()}
    if len(distinct) > MAX_PAIRED:
        notes.approximated(
            "friction_pairs",
            f"The model has {len(distinct)} kinds of surfaces; pairs of them have the geometric "
            "mean of their frictions instead of the larger one.",
        )
        return {geom: names[surface] for geom, surface in by_geom.items()}, materials, []
    pairs = []
    for a, b in itertools.combinations(distinct, 2):
        wanted, usual = a.with_other(b).material(), _combined(a.material(), b.material())
        changed = {
            key: value
            for key, value in wanted.items()
            if not math.isclose(value, usual[key], rel_tol=1e-12, abs_tol=1e-15)
        }
        if changed:
            pairs.append({"materials": [names[a], names[b]], **changed})
    return {geom: names[surface] for geom, surface in by_geom.items()}, materials, pairs


def _combined(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    """How a scene combines two materials by itself."""
    usual = {key: max(a[key], b[key]) for key in a}
    usual["friction"] = math.sqrt(a["friction"] * b["friction"])
    return usual


def _surface(compiled: Compiled, geom: int, notes: Notes) -> Surface:
    model = compiled.model
    where = f"geom '{compiled.name('geom', geom)}'"
    touchable = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
    stiffness, ratio = (float(value) for value in model.geom_solref[geom])
    restitution = 0.0
    if touchable and stiffness <= 0.0:
        notes.approximated(
            "direct_solref",
            "A contact given by stiffness and damping (negative solref) is rigid here.",
            where,
        )
    elif touchable and ratio < 1.0:
        # a free oscillator leaves a contact after half a period: exp(-pi z / sqrt(1 - z^2))
        restitution = math.exp(-math.pi * ratio / math.sqrt(1.0 - ratio * ratio))
        notes.approximated(
            "bouncing_solref",
            "A damping ratio below 1 (solref) becomes the restitution of such an oscillator.",
            where,
        )
    elif touchable and (stiffness, ratio) != STANDARD:
        notes.approximated(
            "soft_contacts",
            "Soft contacts (solref, solimp) are rigid here.",
            where,
        )
    if touchable and (model.geom_margin[geom] or model.geom_gap[geom]):
        notes.dropped("margin", "Contact margins and gaps: contacts act when shapes touch.", where)
    sliding, spinning, rolling = (float(value) for value in model.geom_friction[geom])
    return Surface(
        priority=int(model.geom_priority[geom]),
        condim=int(model.geom_condim[geom]),
        sliding=sliding,
        spinning=spinning,
        rolling=rolling,
        restitution=restitution,
    )


def _name(surface: Surface, index: int, distinct: list[Surface]) -> str:
    same = [s for s in distinct if s.material()["friction"] == surface.material()["friction"]]
    name = f"friction {surface.material()['friction']:g}"
    return name if len(same) == 1 else f"{name} ({index + 1})"
