"""Convert tendons into ropes and springs; those of joints and through many sites into couplings.

A site is a marked point of a body in MuJoCo; a tendon runs straight from one to the next.
"""

import math

import numpy as np

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.couplings import APART, OPEN_COUPLING, Part
from cardan.service.importing.links import WORLD, Names
from cardan.service.importing.motions import LIMIT_MARGIN, Motion
from cardan.service.importing.notes import Notes

Segment = tuple[int, int, float]
"""Two sites, and how many times shorter than its way the segment counts."""


class Tendons:
    """Collects the distance joints, couplings and springs that tendons become."""

    def __init__(
        self, compiled: Compiled, link_of: dict[int, str], motions: dict[int, Motion], notes: Notes
    ) -> None:
        """`link_of`: body of the scene by body of the model; `motions`: by joint of the model."""
        self.joints: list[Part] = []
        self.forces: list[Part] = []
        self._compiled = compiled
        self._link_of = link_of
        self._motions = motions
        self._notes = notes

    def mark(self) -> None:
        """Mark the motions that tendons couple: their joints keep coordinates of their own."""
        for tendon in range(self._compiled.model.ntendon):
            for motion, _ in self._terms(tendon) if self._acts(tendon) else []:
                motion.coupled = True

    def read(self, names: Names, names_of: dict[int, str], kept: set[int]) -> None:
        """Convert all tendons; note those that have no place in a scene.

        names_of: names of the joints of the scene by joint of the model
        kept:     tendons that an equality keeps at their length
        """
        self._names = names
        for tendon in range(self._compiled.model.ntendon):
            acts = self._acts(tendon)
            if acts and self._read_one(tendon, names_of):
                self._note_left_out(tendon)
                continue
            if tendon in kept and not acts:
                self._note_left_out(tendon)
                continue
            self._notes.dropped(
                "tendon",
                "Only tendons of joints, and through sites without wrapping around geoms, that "
                "limit or pull become joints and springs.",
                f"tendon '{self._name(tendon)}'",
            )

    def _read_one(self, tendon: int, names_of: dict[int, str]) -> bool:
        """Convert a tendon that acts; whether a scene can have it."""
        segments = self._segments(tendon)
        if len(segments) == 1 and segments[0][2] == 1.0:
            return self._rope(tendon, segments[0][:2])
        if segments:
            return self._cable(tendon, segments)
        terms = self._terms(tendon)
        if not terms or not all(motion.index in names_of for motion, _ in terms):
            return False
        named = [{"joint": names_of[motion.index], "factor": factor} for motion, factor in terms]
        # coordinates of the scene count from the start
        self._couple(tendon, named, float(self._compiled.data.ten_length[tendon]))
        return True

    def _name(self, tendon: int) -> str:
        return self._compiled.name("tendon", tendon)

    def _acts(self, tendon: int) -> bool:
        """Whether a tendon limits or pulls."""
        return self._is_limited(tendon) or any(self._pull(tendon))

    def _is_limited(self, tendon: int) -> bool:
        limited = bool(self._compiled.model.tendon_limited[tendon])
        return limited and not self._compiled.is_off("LIMIT")

    def _pull(self, tendon: int) -> tuple[float, float]:
        """Stiffness [N/m or N m/rad] and damping; 0 of what the model switches off."""
        model, off = self._compiled.model, self._compiled.is_off
        stiffness = 0.0 if off("SPRING") else float(model.tendon_stiffness[tendon])
        damping = 0.0 if off("DAMPER") else float(model.tendon_damping[tendon])
        return stiffness, damping

    def _note_left_out(self, tendon: int) -> None:
        """Note what a tendon that is converted has besides its limits and its pull."""
        model, off = self._compiled.model, self._compiled.is_off
        where = f"tendon '{self._name(tendon)}'"
        if model.tendon_frictionloss[tendon] and not off("FRICTIONLOSS"):
            self._notes.dropped("tendon_friction", "Tendons run without friction.", where)
        if model.tendon_armature[tendon]:
            self._notes.dropped("tendon_armature", "Tendons have no inertia (armature).", where)
        bent = not off("SPRING") and np.any(model.tendon_stiffnesspoly[tendon])
        if bent or (not off("DAMPER") and np.any(model.tendon_dampingpoly[tendon])):
            self._notes.dropped(
                "tendon_polynomial",
                "Of the spring and the damping of a tendon only what is linear is kept.",
                where,
            )
        if model.tendon_springyield[tendon] > 0.0:
            self._notes.dropped("plasticity", "Springs do not yield.", where)
        if self._is_limited(tendon) and model.tendon_margin[tendon]:
            self._notes.dropped("limit_margin", LIMIT_MARGIN, where)

    def _members(self, tendon: int) -> range:
        start = int(self._compiled.model.tendon_adr[tendon])
        return range(start, start + int(self._compiled.model.tendon_num[tendon]))

    def _terms(self, tendon: int) -> list[tuple[Motion, float]]:
        """Motions and factors of a tendon of joints; none of another, and with ball joints."""
        import mujoco

        model, found = self._compiled.model, []
        for k in self._members(tendon):
            motion = self._motions.get(int(model.wrap_objid[k]))
            of_joint = int(model.wrap_type[k]) == int(mujoco.mjtWrap.mjWRAP_JOINT)
            if not of_joint or motion is None or motion.kind == "ball":
                return []
            if model.wrap_prm[k]:
                found.append((motion, float(model.wrap_prm[k])))
        return found

    def _segments(self, tendon: int) -> list[Segment]:
        """Straight parts of a tendon through sites and pulleys; none of another."""
        import mujoco

        model, found = self._compiled.model, []
        last, divisor = -1, 1.0
        for k in self._members(tendon):
            kind = int(model.wrap_type[k])
            if kind == int(mujoco.mjtWrap.mjWRAP_PULLEY):
                last, divisor = -1, float(model.wrap_prm[k])
            elif kind == int(mujoco.mjtWrap.mjWRAP_SITE):
                site = int(model.wrap_objid[k])
                if last >= 0:
                    found.append((last, site, divisor))
                last = site
            else:
                return []
        return found

    def _ends(self, first: int, second: int) -> Part:
        """Bodies and places of two sites; a site of the world comes first."""
        model, data = self._compiled.model, self._compiled.data
        sites = (first, second)
        bodies = [self._link_of.get(int(model.site_bodyid[site]), WORLD) for site in sites]
        points = [self._compiled.vector(data.site_xpos[site]) for site in sites]
        if bodies[1] == WORLD:
            bodies.reverse()
            points.reverse()
        return {"parent": bodies[0], "child": bodies[1], "anchor": points[0], "anchor2": points[1]}

    def _rest(self, tendon: int) -> float:
        """Length at which the spring of a tendon is free [m or rad]."""
        slack, rest = (float(v) for v in self._compiled.model.tendon_lengthspring[tendon])
        if slack != rest:
            self._notes.approximated(
                "slack_spring",
                "A spring that is slack over a range of lengths is free at its largest.",
                f"tendon '{self._name(tendon)}'",
            )
        return rest

    def _cable(self, tendon: int, segments: list[Segment]) -> bool:
        """Convert a tendon through several sites: free distance joints, and couplings of them."""
        fixed, parts = 0.0, []
        for first, second, divisor in segments:
            ends = self._ends(first, second)
            length = math.dist(ends["anchor"], ends["anchor2"])
            if ends["parent"] == ends["child"]:
                fixed += length / divisor
            elif length <= APART:
                return False
            else:
                parts.append((ends, 1.0 / divisor))
        terms = []
        for k, (ends, factor) in enumerate(parts):
            name = self._names.take(f"{self._name(tendon)} segment {k + 1}")
            terms.append({"joint": name, "factor": factor})
            self.joints.append(
                {"name": name, "type": "distance", **ends, "collide_connected": True}
            )
        if terms:
            self._couple(tendon, terms, fixed)
        return bool(terms)

    def _couple(self, tendon: int, terms: list[Part], fixed: float) -> None:
        """Add couplings for the limits and the spring of a tendon whose length is `fixed` more."""
        model = self._compiled.model
        start = float(self._compiled.data.ten_length[tendon])
        if self._is_limited(tendon):
            lower, upper = (float(value) for value in model.tendon_range[tendon])
            self._bound(tendon, terms, upper - fixed, start - fixed)
            if lower > 0.0 or not self._segments(tendon):
                opposite = [{**term, "factor": -term["factor"]} for term in terms]
                self._bound(tendon, opposite, fixed - lower, fixed - start)
        stiffness, damping = self._pull(tendon)
        if stiffness or damping:
            spring = {"offset": self._rest(tendon) - fixed, "damping": damping}
            if stiffness:
                spring["stiffness"] = stiffness
            self._add(tendon, terms, spring)

    def _bound(self, tendon: int, terms: list[Part], bound: float, start: float) -> None:
        """Add a coupling whose sum is at most a bound, or at most what it is at the start."""
        if start > bound + APART:
            where = f"tendon '{self._name(tendon)}': {start - bound:.3g}"
            self._notes.approximated("open_coupling", OPEN_COUPLING, where)
        self._add(tendon, terms, {"slack": True, "offset": max(bound, start)})

    def _add(self, tendon: int, terms: list[Part], fields: Part) -> None:
        name = self._names.take(self._name(tendon))
        self.joints.append({"name": name, "type": "coupling", "terms": terms, **fields})

    def _rope(self, tendon: int, sites: tuple[int, int]) -> bool:
        """Convert limits into a distance joint, stiffness into a spring; whether there was one."""
        model = self._compiled.model
        ends = self._ends(*sites)
        limited = self._is_limited(tendon)
        stiffness, damping = self._pull(tendon)
        if ends["parent"] == ends["child"]:
            return False
        name = self._compiled.name("tendon", tendon)
        if limited:
            lower, upper = (float(value) for value in model.tendon_range[tendon])
            if math.dist(ends["anchor"], ends["anchor2"]) <= APART or upper <= 0.0:
                return False
            limits = {"upper": upper} if lower <= 0.0 else {"lower": lower, "upper": upper}
            self.joints.append(
                {
                    "name": self._names.take(name),
                    "type": "distance",
                    **ends,
                    "limits": limits,
                    "collide_connected": True,
                }
            )
        if stiffness or damping:
            rest = self._rest(tendon)
            self.forces.append(
                {"type": "spring", **ends, "stiffness": stiffness, "damping": damping, "rest": rest}
            )
        return True
