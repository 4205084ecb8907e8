"""Convert friction into materials: MuJoCo takes the larger of two, a scene lists such pairs."""

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.notes import Notes

MAX_PAIRED = 24
"""Materials beyond which pairs are left to the scene's own rule: their number grows by squares."""
STANDARD = (0.02, 1.0)
"""MuJoCo's solref of a contact: time constant [s], damping ratio [-]."""
MARGIN = "Contact margins and gaps: contacts act when shapes touch."
ADHESION = "Contacts do not stick: they only push."


@dataclass(frozen=True)
class Surface:
    """Contact parameters of a geom."""

    priority: int
    condim: int
    sliding: float
    spinning: float
    rolling: float
    restitution: float
    geom: int = -1
    """The geom, where it is in a listed pair with contact parameters of its own; else -1."""

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
        return Surface(
            priority=self.priority,
            condim=max(self.condim, other.condim),
            sliding=max(self.sliding, other.sliding),
            spinning=max(self.spinning, other.spinning),
            rolling=max(self.rolling, other.rolling),
            restitution=max(self.restitution, other.restitution),
        )


def find_surfaces(
    compiled: Compiled, notes: Notes
) -> tuple[dict[int, str], dict[str, Any], list[dict[str, Any]]]:
    """Material by geom, the materials, and the pairs that do not combine by the scene's rule."""
    model = compiled.model
    by_geom = {geom: _surface(compiled, geom, notes) for geom in range(model.ngeom)}
    listed = _listed(compiled, by_geom, notes)
    alone = {geom: replace(by_geom[geom], geom=geom) for pair in listed for geom in pair}
    if listed and len(set((by_geom | alone).values())) > MAX_PAIRED:
        notes.approximated(
            "listed_friction",
            "Listed pairs (<pair>) have the friction of their geoms instead of their own: the "
            f"model has more than {MAX_PAIRED} kinds of surfaces.",
        )
        listed, alone = {}, {}
    by_geom |= alone
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
        pair = listed.get(frozenset((a.geom, b.geom)), a.with_other(b))
        wanted, usual = pair.material(), _combined(a.material(), b.material())
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


def _listed(
    compiled: Compiled, by_geom: dict[int, Surface], notes: Notes
) -> dict[frozenset[int], Surface]:
    """Surfaces of the listed pairs that differ from what their two geoms make."""
    model, found = compiled.model, {}
    for index in range(model.npair):
        where = f"pair '{compiled.name('pair', index)}'"
        geoms = int(model.pair_geom1[index]), int(model.pair_geom2[index])
        one, other, spinning, roll, roll_other = (float(v) for v in model.pair_friction[index])
        if one != other or roll != roll_other:
            notes.approximated(
                "one_way_friction",
                "Friction that differs between two directions is the mean of both.",
                where,
            )
        if model.pair_margin[index] or model.pair_gap[index]:
            notes.dropped("margin", MARGIN, where)
        if model.pair_adhesion[index]:
            notes.dropped("adhesion", ADHESION, where)
        pair = Surface(
            priority=0,
            condim=int(model.pair_dim[index]),
            sliding=0.5 * (one + other),
            spinning=spinning,
            rolling=0.5 * (roll + roll_other),
            restitution=_restitution(model.pair_solref[index], where, notes),
        )
        if pair.material() != by_geom[geoms[0]].with_other(by_geom[geoms[1]]).material():
            found[frozenset(geoms)] = pair
    return found


def _surface(compiled: Compiled, geom: int, notes: Notes) -> Surface:
    model = compiled.model
    where = f"geom '{compiled.name('geom', geom)}'"
    touchable = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
    restitution = _restitution(model.geom_solref[geom], where, notes) if touchable else 0.0
    if touchable and (model.geom_margin[geom] or model.geom_gap[geom]):
        notes.dropped("margin", MARGIN, where)
    if touchable and np.any(model.geom_surfacevel[geom]):
        notes.dropped("surface_velocity", "Surfaces that move over their bodies rest.", where)
    if touchable and model.geom_adhesion[geom]:
        notes.dropped("adhesion", ADHESION, where)
    sliding, spinning, rolling = (float(value) for value in model.geom_friction[geom])
    return Surface(
        priority=int(model.geom_priority[geom]),
        condim=int(model.geom_condim[geom]),
        sliding=sliding,
        spinning=spinning,
        rolling=rolling,
        restitution=restitution,
    )


def _restitution(solref: Any, where: str, notes: Notes) -> float:
    """Restitution of a spring and damper; notes what is rigid here."""
    stiffness, ratio = (float(value) for value in solref)
    if stiffness <= 0.0:
        notes.approximated(
            "direct_solref",
            "A contact given by stiffness and damping (negative solref) is rigid here.",
            where,
        )
    elif ratio < 1.0:
        notes.approximated(
            "bouncing_solref",
            "A damping ratio below 1 (solref) becomes the restitution of such an oscillator.",
            where,
        )
        # a free oscillator leaves a contact after half a period: exp(-pi z / sqrt(1 - z^2))
        return math.exp(-math.pi * ratio / math.sqrt(1.0 - ratio * ratio))
    elif (stiffness, ratio) != STANDARD:
        notes.approximated(
            "soft_contacts",
            "Soft contacts (solref, solimp) are rigid here.",
            where,
        )
    return 0.0


def _name(surface: Surface, index: int, distinct: list[Surface]) -> str:
    same = [s for s in distinct if s.material()["friction"] == surface.material()["friction"]]
    name = f"friction {surface.material()['friction']:g}"
    return name if len(same) == 1 else f"{name} ({index + 1})"
