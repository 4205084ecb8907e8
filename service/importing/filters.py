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

import numpy as np
import numpy.typing as npt

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.links import Link
from cardan.service.importing.notes import Notes

BITS = 32
DEEP = 1e-3
"""Overlap at the start above which a note is made [m]."""
Pair = frozenset[int]
Flags = npt.NDArray[np.bool_]


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
        classes = self._classes()
        if len(classes.touching) > BITS:
            self._notes.approximated(
                "collision_classes",
                f"The rules of who may touch whom need {len(classes.touching)} groups; a scene has "
                f"{BITS}. Some excluded pairs may touch.",
            )
            self._apart, self._excluded = set(), set()
            classes = self._classes()
        everything = len(classes.touching) == classes.number == 1
        masks = classes.masks()
        bits = {number: min(k, BITS - 1) for k, number in enumerate(classes.touching)}
        found: dict[int, dict[str, Any]] = {}
        for geom in geoms:
            bit = bits.get(classes.of_geom[geom])
            if bit is None:
                found[geom] = {"collision_group": 0, "collision_mask": 0}
            elif everything:
                found[geom] = {}
            else:
                found[geom] = {"collision_group": 1 << bit, "collision_mask": masks[bit]}
        return found

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
        fixed: dict[int, list[int]] = {}
        for link in links:
            fixed.setdefault(int(model.body_weldid[link.root]), []).append(link.root)
        for weld, roots in fixed.items():
            if weld == 0:
                continue
            apart |= {frozenset(pair) for pair in itertools.combinations(roots, 2)}
            above = int(model.body_weldid[model.body_parentid[weld]])
            if family and above:
                parents = fixed.get(above, [])
                apart |= {frozenset(pair) for pair in itertools.product(roots, parents)}
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

    def _classes(self) -> "Classes":
        model = self._model
        apart, excluded, listed = (
            {number for pair in pairs for number in pair}
            for pairs in (self._apart, self._excluded, self._listed)
        )
        kind_of = []
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            root = self._root[body]
            kind_of.append(
                Kind(
                    int(model.geom_contype[geom]),
                    int(model.geom_conaffinity[geom]),
                    root if root in apart else -1,
                    body if body in excluded else -1,
                    geom if geom in listed else -1,
                )
            )
        kinds = list(dict.fromkeys(kind_of))
        number = {kind: k for k, kind in enumerate(kinds)}
        merged = Classes(kinds, self._touch(kinds))
        merged.of_geom = [merged.of_kind[number[kind]] for kind in kind_of]
        return merged

    def _touch(self, kinds: list[Kind]) -> Flags:
        """Whether two kinds may touch, (n, n)."""
        contype = np.array([kind.contype for kind in kinds], np.int64)
        conaffinity = np.array([kind.conaffinity for kind in kinds], np.int64)
        asks = (contype[:, None] & conaffinity) != 0
        touch: Flags = asks | asks.T
        rules = (("link", self._apart, False), ("body", self._excluded, False),
                 ("geom", self._listed, True))  # fmt: skip
        for what, pairs, value in rules:
            where: dict[int, list[int]] = {}
            for k, kind in enumerate(kinds):
                where.setdefault(getattr(kind, what), []).append(k)
            for pair in pairs:
                if len(pair) == 2 and pair <= where.keys():
                    a, b = (where[number] for number in pair)
                    touch[np.ix_(a, b)] = value
                    touch[np.ix_(b, a)] = value
        return touch


class Classes:
    """Kinds whose members touch the same others, and each other as themselves, as one class."""

    def __init__(self, kinds: list[Kind], touch: Flags) -> None:
        """Merge kinds into classes; `touch`: whether two kinds may."""
        self.of_kind: list[int] = []
        self.of_geom: list[int] = []
        # of a class with itself two different members meet: its first and its last
        self._first: list[int] = []
        self._last: list[int] = []
        # a kind of one body never meets itself, so what it would do then is of no account
        alone = np.array([max(kind.link, kind.body) >= 0 for kind in kinds], np.bool_)
        for k in range(len(kinds)):
            first = np.array(self._first, np.int64)
            differ = touch[first] != touch[k]
            differ[:, k] = False
            differ[np.arange(len(first)), first] = False
            between = touch[first, k]
            same = ~differ.any(axis=1) & (alone[k] | (touch[k, k] == between))
            same &= alone[first] | (touch[first, first] == between)
            if same.any():
                self.of_kind.append(int(np.argmax(same)))
                self._last[self.of_kind[-1]] = k
            else:
                self.of_kind.append(len(self._first))
                self._first.append(k)
                self._last.append(k)
        self._meet = touch[np.ix_(self._first, self._last)]
        self.number = len(self._first)
        self.touching = [int(c) for c in np.nonzero(self._meet.any(axis=1))[0]]

    def masks(self) -> list[int]:
        """Bits that each bit touches; the classes that are left over share the last bit."""
        masks = [0] * BITS
        for k, c in enumerate(self.touching):
            for j, d in enumerate(self.touching):
                if self._meet[c, d]:
                    masks[min(k, BITS - 1)] |= 1 << min(j, BITS - 1)
        return masks
