"""Convert equality constraints and gravity compensation."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cardan.service.importing.compiled import Compiled
from cardan.service.importing.links import WORLD, Names
from cardan.service.importing.motions import Motion
from cardan.service.importing.notes import Notes
from cardan.service.importing.rotations import conjugate, product, rotation_vector

Part = dict[str, Any]
APART = 1e-6
"""Gap of a loop at the start above which a note says that the loop is open [m]."""

ONE_WAY = {"hinge": 2.0 * np.pi, "slider": 1.0}
"""How far the curve of a joint without limits reaches to either side [rad or m]."""
TORQUE_SCALE = 10
"""Place in the data of a weld of how much its torque counts beside its force."""

OPEN_COUPLING = "A coupling that does not hold at the start keeps the sum that is there."


def _objects(model: Any) -> tuple[Any, Any]:
    """First and second object of each equality constraint."""
    return model.eq_obj1id, model.eq_obj2id


class Couplings:
    """Collects loop joints, gears, racks, couplings, and forces that take off weight."""

    def __init__(
        self,
        compiled: Compiled,
        link_of: dict[int, str],
        motions: dict[int, Motion],
        names: Names,
        notes: Notes,
    ) -> None:
        """`link_of`: body of the scene by body of the model; `motions`: by joint of the model."""
        self.joints: list[Part] = []
        self.forces: list[Part] = []
        self.widest_gap = 0.0
        self.kept_tendons: set[int] = set()  # tendons that an equality keeps at their length
        self._terms: list[tuple[str, list[tuple[Motion, float]]]] = []
        self._curves: dict[tuple[str, int], Part] = {}  # by coupling and joint of the model
        self._compiled = compiled
        self._link_of = link_of
        self._motions = motions
        self._names = names
        self._notes = notes

    def read_equalities(self) -> None:
        """Convert equality constraints into joints; note those that have no joint."""
        import mujoco

        model = self._compiled.model
        kinds = {
            mujoco.mjtEq.mjEQ_CONNECT: self._connect,
            mujoco.mjtEq.mjEQ_WELD: self._weld,
            mujoco.mjtEq.mjEQ_JOINT: self._couple,
            mujoco.mjtEq.mjEQ_TENDON: self._couple_by_tendon,
        }
        off = self._compiled.is_off("EQUALITY")
        for index in range(0 if off else model.neq):
            where = self._where(index)
            kind = kinds.get(mujoco.mjtEq(int(model.eq_type[index])))
            if not model.eq_active0[index]:
                self._notes.dropped("inactive_equality", "Constraints that are off.", where)
            elif kind is None:
                self._notes.dropped(
                    "equality",
                    "Of constraints only connect, weld, joint and tendon become joints.",
                    where,
                )
            else:
                kind(index)

    def read_gravity_compensation(self) -> None:
        """Convert gravity compensation into a constant force: its share of the weight, upwards."""
        model = self._compiled.model
        weightless = self._compiled.is_off("GRAVITY")
        for body in range(0 if weightless else model.nbody):
            share = float(model.body_gravcomp[body])
            name = self._link_of.get(body, WORLD)
            if not share or name == WORLD:
                continue
            up = -share * float(model.body_mass[body]) * np.array(model.opt.gravity)
            self.forces.append(
                {
                    "type": "wrench",
                    "body": name,
                    "force": self._compiled.vector(up),
                    "point": self._compiled.vector(self._compiled.data.xipos[body]),
                }
            )

    def _where(self, index: int) -> str:
        return f"equality '{self._compiled.name('equality', index)}'"

    def _ends(self, index: int) -> Iterator[tuple[int, Any, bool]]:
        """Yield of both ends: body, point in its frame, whether a site gives the point."""
        import mujoco

        model = self._compiled.model
        sites = mujoco.mjtObj(int(model.eq_objtype[index])) == mujoco.mjtObj.mjOBJ_SITE
        for which, objects in enumerate(_objects(model)):
            number = int(objects[index])
            if sites:
                yield int(model.site_bodyid[number]), model.site_pos[number], True
            else:
                yield number, model.eq_data[index, 3 * which : 3 * which + 3], False

    def _in_world(self, body: int, point: Any) -> Any:
        data = self._compiled.data
        return data.xpos[body] + data.xmat[body].reshape(3, 3) @ point

    def _loop(self, index: int, kind: str, ends: list[tuple[int, Any]]) -> None:
        """Add a loop joint between two bodies, at the middle of their two points."""
        where = self._where(index)
        (a, point_a), (b, point_b) = ends
        parent, child = self._link_of.get(a, WORLD), self._link_of.get(b, WORLD)
        if child == WORLD:
            parent, child = child, parent
        if parent == child:
            self._notes.dropped("equality_within", "Both ends are on one body.", where)
            return
        gap = float(np.linalg.norm(point_b - point_a))
        if gap > APART:
            self._notes.approximated(
                "open_loop",
                "The ends of a loop do not meet at the start; the joint begins in their middle.",
                f"{where}: {gap:.3g} m apart",
            )
            self.widest_gap = max(self.widest_gap, gap)
        self.joints.append(
            {
                "name": self._names.take(self._compiled.name("equality", index)),
                "type": kind,
                "parent": parent,
                "child": child,
                "anchor": self._compiled.vector(0.5 * (point_a + point_b)),
                # constraints of MuJoCo say nothing about contacts
                "collide_connected": True,
            }
        )

    def _connect(self, index: int) -> None:
        ends = [(body, self._in_world(body, point)) for body, point, _ in self._ends(index)]
        self._loop(index, "ball", ends)

    def _weld(self, index: int) -> None:
        (a, place, sites), (b, anchor, _) = self._ends(index)
        model, data = self._compiled.model, self._compiled.data
        if not sites:
            # eq_data of a weld: anchor in the second body, then its place in the first
            anchor, place = model.eq_data[index, 0:3], model.eq_data[index, 3:6]
        ends = [(a, self._in_world(a, place)), (b, self._in_world(b, anchor))]
        if not model.eq_data[index, TORQUE_SCALE]:
            # no torque holds the turn
            self._loop(index, "ball", ends)
            return
        if sites:
            one, other = (data.site_xquat[objects[index]] for objects in _objects(model))
        else:
            one, other = product(data.xquat[a], model.eq_data[index, 6:10]), data.xquat[b]
        angle = float(np.linalg.norm(rotation_vector(product(conjugate(one), other))))
        if angle > APART:
            self._notes.approximated(
                "turned_weld",
                "A weld whose ends are turned against each other at the start keeps that turn; "
                "MuJoCo's removes it.",
                f"{self._where(index)}: {angle:.3g} rad",
            )
        self._loop(index, "fixed", ends)

    def _couple(self, index: int) -> None:
        """Convert q1 = c0 + c1 q2 + ...: a lock of one joint, or a relation of two."""
        model, where = self._compiled.model, self._where(index)
        first = self._motions.get(int(model.eq_obj1id[index]))
        second = self._motions.get(int(model.eq_obj2id[index]))
        offset, ratio, *curved = (float(value) for value in model.eq_data[index, :5])
        if first is None or (second is None and int(model.eq_obj2id[index]) >= 0):
            self._notes.dropped("coupling", "Couplings of ball joints are not in a scene.", where)
        elif second is None:
            reference = self._reference(first)
            value = reference + offset - first.start
            if abs(value) > APART:
                self._notes.approximated(
                    "open_lock",
                    "A lock that does not hold at the start pushes its joint there.",
                    f"{where}: {value:.3g}",
                )
            first.fields["limits"] = {"lower": value, "upper": value}
        elif any(curved) or not ratio:
            self._follow(index, first, second)
        else:
            left = first.start - self._reference(first) - offset
            left -= ratio * (second.start - self._reference(second))
            if abs(left) > APART:
                self._notes.approximated("open_coupling", OPEN_COUPLING, f"{where}: {left:.3g}")
            self._relate(index, [(first, 1.0), (second, -ratio)])

    def _follow(self, index: int, first: Motion, second: Motion) -> None:
        """Convert q1 = c0 + c1 q2 + c2 q2^2 + ...: a coupling with a curve of the second joint."""
        model, where = self._compiled.model, self._where(index)
        if "ball" in (first.kind, second.kind):
            why = "Couplings of ball joints are not in a scene."
            self._notes.dropped("coupling", why, where)
            return
        law = np.polynomial.Polynomial(model.eq_data[index, :5])
        away = second.start - self._reference(second)
        left = first.start - self._reference(first) - law(away)
        if abs(left) > APART:
            self._notes.approximated("open_coupling", OPEN_COUPLING, f"{where}: {left:.3g}")
        low, high = second.start - ONE_WAY[second.kind], second.start + ONE_WAY[second.kind]
        if model.jnt_limited[second.index]:
            low, high = (float(value) for value in model.jnt_range[second.index])
        # four points say what a cubic is
        at = np.linspace(low, high, 4 if not model.eq_data[index, 4] else 65) - second.start
        values = law(at + away) - law(away)
        points = [[float(x), float(y)] for x, y in zip(at, values, strict=True)]
        name = self._names.take(self._compiled.name("equality", index))
        first.coupled = second.coupled = True
        self._terms.append((name, [(first, 1.0), (second, -1.0)]))
        self._curves[name, second.index] = {"points": points}
        if not model.jnt_limited[second.index]:
            self._notes.approximated(
                "curve_ends",
                "Beyond a turn either way (1 m of a slider) a polynomial goes on straight.",
                where,
            )

    def _reference(self, motion: Motion) -> float:
        """The coordinate of the model where it was written [m or rad]."""
        return float(self._compiled.model.qpos0[self._compiled.model.jnt_qposadr[motion.index]])

    def _couple_by_tendon(self, index: int) -> None:
        """Convert a fixed tendon that keeps its length: c1 q1 + c2 q2 + ... = constant."""
        import mujoco

        model, where = self._compiled.model, self._where(index)
        tendon, second = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
        start, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
        members = range(start, start + count)
        fixed = all(int(model.wrap_type[k]) == int(mujoco.mjtWrap.mjWRAP_JOINT) for k in members)
        motions = [self._motions.get(int(model.wrap_objid[k])) for k in members]
        factors = [float(model.wrap_prm[k]) for k in members]
        terms = [(m, c) for m, c in zip(motions, factors, strict=True) if m is not None and c]
        if not fixed or second >= 0 or None in motions or not terms:
            self._notes.dropped(
                "tendon_coupling",
                "Of constraints of tendons only those of one fixed tendon are in a scene.",
                where,
            )
            return
        if self._relate(index, terms):
            self.kept_tendons.add(tendon)
            wanted = float(model.tendon_length0[tendon] + model.eq_data[index, 0])
            left = float(self._compiled.data.ten_length[tendon]) - wanted
            if abs(left) > APART:
                self._notes.approximated("open_coupling", OPEN_COUPLING, f"{where}: {left:.3g}")

    def _relate(self, index: int, terms: list[tuple[Motion, float]]) -> bool:
        """Keep a sum of factors times coordinates; whether a scene can."""
        if any(motion.kind == "ball" for motion, _ in terms):
            why = "Couplings of ball joints are not in a scene."
            self._notes.dropped("coupling", why, self._where(index))
            return False
        on_ground = len(terms) == 2 and all(self._on_ground(motion) for motion, _ in terms)
        if on_ground and any(motion.kind == "hinge" for motion, _ in terms):
            (first, c1), (second, c2) = terms
            self._gear(index, first, second, -c2 / c1)
            return True
        name = self._names.take(self._compiled.name("equality", index))
        for motion, _ in terms:
            motion.coupled = True
        self._terms.append((name, terms))
        return True

    def name_terms(self, names_of: dict[int, str]) -> None:
        """Add the couplings, when their joints have names; `names_of`: by joint of the model."""
        for name, terms in self._terms:
            if not all(motion.index in names_of for motion, _ in terms):
                why = "A joint of the coupling is not in the scene."
                self._notes.dropped("coupling", why, f"equality '{name}'")
                continue
            named: list[Part] = []
            for motion, factor in terms:
                named.append({"joint": names_of[motion.index], "factor": factor})
                if (name, motion.index) in self._curves:
                    named[-1]["curve"] = self._curves[name, motion.index]
            self.joints.append({"name": name, "type": "coupling", "terms": named})

    def _on_ground(self, motion: Motion) -> bool:
        """Whether a joint is the only joint between its body and the world."""
        model = self._compiled.model
        body = int(model.jnt_bodyid[motion.index])
        fixed = model.body_weldid[model.body_parentid[body]] == 0
        return bool(fixed and model.body_jntnum[body] == 1)

    def _gear(self, index: int, first: Motion, second: Motion, ratio: float) -> None:
        """Add a gear or a rack: the first coordinate moves `ratio` times as far as the second."""
        if (first.kind, second.kind) == ("slider", "hinge"):
            kind, driver, driven = "rack", second, first
        elif (first.kind, second.kind) == ("hinge", "slider"):
            kind, driver, driven, ratio = "rack", first, second, 1.0 / ratio
        else:
            kind, driver, driven = "gear", second, first
        bodies = [
            self._link_of[int(self._compiled.model.jnt_bodyid[m.index])] for m in (driver, driven)
        ]
        self.joints.append(
            {
                "name": self._names.take(self._compiled.name("equality", index)),
                "type": kind,
                "parent": bodies[0],
                "child": bodies[1],
                "axis": self._compiled.vector(driver.axis),
                "axis2": self._compiled.vector(driven.axis),
                "ratio": ratio,
                "collide_connected": True,
            }
        )
