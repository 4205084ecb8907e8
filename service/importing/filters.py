"""Convert MuJoCo's collision rules (bit masks, exclusions, pairs) into groups and masks.

In MuJoCo a and b may touch when contype(a) & conaffinity(b) or the reverse is not zero, and the
bodies are neither one, nor parent and child, nor excluded; a listed pair touches in any case. A
URDF has no such rules: its links that share a joint, or overlap at the start, do not collide.
A scene asks for both directions, so each class of geoms gets a bit of its own and lists the bits it
may touch.
"""

import itertools
from dataclasses import dataclass
from typing import Any

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.links import Link
from cardan.service.importing.notes import Notes

BITS = 32
DEEP = 1e-3
"""Overlap at the start above which a note is made [m]."""
Pair = frozenset[int]


@dataclass(frozen=True)
class Kind:
    """Geoms that may touch the same others."""

    contype: int
    conaffinity: int
    link: int
    """Root of the link, where that matters; else -1."""
    body: int
    """Body of the model, where only some of a link's bodies are excluded; else -1."""
    geom: int
    """The geom, where it is in a listed pair; else -1."""


class Filters:
    """Finds classes of geoms that may touch the same others."""

    def __init__(
        self, compiled: Compiled, links: list[Link], jointed: set[Pair], notes: Notes
    ) -> None:
        """Read the rules of the model; `jointed`: pairs of links whose joint keeps them apart."""
        model = compiled.model
        self._compiled = compiled
        self._model = model
        self._notes = notes
        self._root = {body: link.root for link in links for body in link.bodies}
        self._static = {link.root for link in links if link.kind == "static"}
        self._listed = {
            frozenset((int(a), int(b)))
            for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)
        }
        apart = self._families(links) | self._overlapping(compiled)
        if compiled.prepared.format == "urdf":
            apart |= self._held_by_base(links)
        # what a joint does already needs no bits
        self._apart = {pair for pair in apart if len(pair) == 2 and pair not in jointed}
        self._excluded = {pair for pair in self._exclusions() if self._links(pair) not in jointed}

    def fields(self) -> dict[int, dict[str, Any]]:
        """`collision_group` and `collision_mask` of each geom that needs them."""
        geoms = range(self._model.ngeom)
        if self._compiled.is_off("CONTACT"):
            return {geom: {"collision_group": 0, "collision_mask": 0} for geom in geoms}
        kinds = {geom: self._kind(geom) for geom in geoms}
        classes = self._merged(list(dict.fromkeys(kinds.values())))
        touching = [c for c in classes if any(self._meet(c, d) for d in classes)]
        if len(touching) > BITS:
            self._notes.approximated(
                "collision_classes",
                f"The rules of who may touch whom need {len(touching)} groups; a scene has {BITS}. "
                "Some excluded pairs may touch.",
            )
            self._apart, self._excluded = set(), set()
            kinds = {geom: self._kind(geom) for geom in geoms}
            classes = self._merged(list(dict.fromkeys(kinds.values())))
            touching = [c for c in classes if any(self._meet(c, d) for d in classes)]
        everything = len(touching) == 1 and len(classes) == 1
        masks = self._masks(touching)
        found: dict[int, dict[str, Any]] = {}
        for geom in geoms:
            own = next((k for k, c in enumerate(touching) if kinds[geom] in c), None)
            if own is None:
                found[geom] = {"collision_group": 0, "collision_mask": 0}
            elif everything:
                found[geom] = {}
            else:
                bit = min(own, BITS - 1)
                found[geom] = {"collision_group": 1 << bit, "collision_mask": masks[bit]}
        return found

    def _masks(self, touching: list[list[Kind]]) -> list[int]:
        """Bits that each bit touches; the classes that are left over share the last bit."""
        masks = [0] * BITS
        for (k, c), (j, d) in itertools.product(enumerate(touching), repeat=2):
            if self._meet(c, d):
                masks[min(k, BITS - 1)] |= 1 << min(j, BITS - 1)
        return masks

    def _exclusions(self) -> set[Pair]:
        """Pairs of bodies that the model excludes; other bodies of their links may touch."""
        signatures = [int(signature) for signature in self._model.exclude_signature]
        pairs = [(signature >> 16, signature & 0xFFFF) for signature in signatures]
        found = {frozenset(pair) for pair in pairs if self._root.keys() >= set(pair)}
        return {pair for pair in found if len(self._links(pair)) == 2}

    def _links(self, bodies: Pair) -> Pair:
        return frozenset(self._root[body] for body in bodies)

    def _families(self, links: list[Link]) -> set[Pair]:
        """Pairs of links (by root) that are parent and child, or fixed to each other."""
        model = self._model
        apart = set()
        family = not self._compiled.is_off("FILTERPARENT")
        for a, b in itertools.combinations(links, 2):
            one, other = int(model.body_weldid[a.root]), int(model.body_weldid[b.root])
            if one == other and one != 0:
                apart.add(frozenset((a.root, b.root)))
            elif family and one and other:
                above = int(model.body_weldid[model.body_parentid[other]])
                below = int(model.body_weldid[model.body_parentid[one]])
                if one == above or other == below:
                    apart.add(frozenset((a.root, b.root)))
        return apart

    def _held_by_base(self, links: list[Link]) -> set[Pair]:
        """Pairs of a link and the static links if it is jointed to one: the base is rigid."""
        model = self._model
        held = [
            link.root
            for link in links
            if link.root not in self._static
            and model.body_weldid[model.body_parentid[link.root]] == 0
        ]
        return {frozenset((root, base)) for root in held for base in self._static}

    def _overlapping(self, compiled: Compiled) -> set[Pair]:
        """Pairs of links that overlap at the start; of a URDF they stay apart."""
        model, overlapping = self._model, set()
        urdf = compiled.prepared.format == "urdf"
        for contact in compiled.data.contact:
            bodies = [int(model.geom_bodyid[geom]) for geom in contact.geom]
            if contact.dist > (0.0 if urdf else -DEEP):
                continue
            where = " and ".join(f"'{compiled.name('body', body)}'" for body in bodies)
            if urdf:
                overlapping.add(frozenset(self._root[body] for body in bodies))
                self._notes.guessed(
                    "overlap",
                    "Links whose shapes overlap at the start do not collide with each other.",
                    where,
                )
            else:
                self._notes.approximated(
                    "overlap",
                    "Shapes overlap at the start by more than 1 mm; contacts push them apart.",
                    where,
                )
        return overlapping

    def _kind(self, geom: int) -> Kind:
        model = self._model
        body = int(model.geom_bodyid[geom])
        root = self._root[body]
        matters = any(root in pair for pair in self._apart)
        excluded = any(body in pair for pair in self._excluded)
        listed = any(geom in pair for pair in self._listed)
        return Kind(
            int(model.geom_contype[geom]),
            int(model.geom_conaffinity[geom]),
            root if matters else -1,
            body if excluded else -1,
            geom if listed else -1,
        )

    def _touch(self, a: Kind, b: Kind) -> bool:
        if a.geom >= 0 and b.geom >= 0 and frozenset((a.geom, b.geom)) in self._listed:
            return True
        if a.link >= 0 and frozenset((a.link, b.link)) in self._apart:
            return False
        if a.body >= 0 and frozenset((a.body, b.body)) in self._excluded:
            return False
        return bool(a.contype & b.conaffinity or b.contype & a.conaffinity)

    def _meet(self, a: list[Kind], b: list[Kind]) -> bool:
        """Whether members of two classes touch; of one with itself, two different members."""
        return self._touch(a[0], b[-1])

    def _merged(self, kinds: list[Kind]) -> list[list[Kind]]:
        """Classes of kinds whose members touch the same others, and each other as themselves."""
        classes: list[list[Kind]] = []
        for kind in kinds:
            home = next((c for c in classes if self._alike(kind, c[0], kinds)), None)
            if home is None:
                classes.append([kind])
            else:
                home.append(kind)
        return classes

    def _alike(self, a: Kind, b: Kind, kinds: list[Kind]) -> bool:
        if any(self._touch(a, k) != self._touch(b, k) for k in kinds if k not in (a, b)):
            return False
        # a kind of one body never meets itself, so what it would do then is of no account
        between = self._touch(a, b)
        return all(
            max(kind.link, kind.body) >= 0 or self._touch(kind, kind) == between for kind in (a, b)
        )
