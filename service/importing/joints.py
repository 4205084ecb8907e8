"""Convert the joints of one body: into one joint of the scene, or into a chain.

A body of MuJoCo may have several joints. They become one joint where a scene has an equal one: two
hinges that cross at right angles a universal joint, a slider and a hinge along one line a
cylindrical one, two sliders and the hinge across them a planar one, three hinges through a point
without limits, drives or damping a ball. All others, and those that couplings name, become a chain
of light bodies, each with a small share of mass, centre and inertia of the body they carry: their
sum at the start is exact.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan.service.importing.compiled import LIGHT, Compiled
from cardan.service.importing.links import Link, Mass, Names, in_body
from cardan.service.importing.motions import Motion
from cardan.service.importing.notes import Notes

MEET = 1e-9
"""Distance below which two axes meet [m]."""
SQUARE = 1e-9
"""Cosine below which two axes are at right angles [-]."""

Joint = dict[str, Any]
PER_AXIS = ("limits", "motor")


class Mechanism:
    """Collects the joints, and the light bodies of chains."""

    def __init__(
        self,
        compiled: Compiled,
        formulation: str,
        joint_names: Names,
        body_names: Names,
        notes: Notes,
    ) -> None:
        """Start empty; other parts of the import take names from the same two collections."""
        self.joints: list[Joint] = []
        self.bodies: list[dict[str, Any]] = []
        self.names_of: dict[int, str] = {}
        """Joint of the scene by joint of the model."""
        self.jointed: set[frozenset[str]] = set()
        self._compiled = compiled
        self._share = LIGHT[formulation]
        self._formulation = formulation
        self._joint_names = joint_names
        self._body_names = body_names
        self._notes = notes

    def add(self, link: Link, parent: str, motions: list[Motion], mass: Mass) -> float:
        """Join a link to its parent by its motions; returns the share of its mass that it keeps."""
        for motion in motions:
            self._keep_armature(motion)
        whole = self._as_one(motions)
        if whole is not None:
            name = "+".join(motion.name for motion in motions)
            self._put(name, parent, link.name, whole, motions)
            return 1.0
        return self._chain(link, parent, motions, mass)

    def fix(self, name: str, parent: str, child: str) -> None:
        """Hold a link to another by a fixed joint."""
        self._put(name, parent, child, {"type": "fixed"}, [])

    def _put(
        self, name: str, parent: str, child: str, fields: Joint, motions: list[Motion]
    ) -> None:
        unique = self._joint_names.take(name)
        self.joints.append({"name": unique, "parent": parent, "child": child, **fields})
        self.jointed.add(frozenset((parent, child)))
        for motion in motions:
            self.names_of[motion.index] = unique

    def _keep_armature(self, motion: Motion) -> None:
        if motion.armature and self._formulation == "reduced":
            motion.fields["armature"] = motion.armature
        elif motion.armature:
            self._notes.dropped(
                "armature",
                "The inertia of rotors (armature) is left out: in maximal coordinates nothing has "
                "a place for it.",
                f"joint '{motion.name}'",
            )

    def _chain(self, link: Link, parent: str, motions: list[Motion], mass: Mass) -> float:
        """One light body per joint but the last, all with the pose of the link."""
        above = parent
        for k, motion in enumerate(motions[:-1]):
            name = self._body_names.take(f"{link.name}/{motion.name}")
            self._notes.approximated(
                "light_body",
                "Several joints of one body become a chain; the bodies between them have a share "
                f"of {self._share:g} of the body's mass and inertia each.",
                f"body '{link.name}'",
            )
            self.bodies.append(
                {
                    "name": name,
                    **pose_of(self._compiled, link.root, motions[k + 1 :]),
                    **in_body(self._compiled, link.root, mass, self._share),
                }
            )
            self._put(motion.name, above, name, self._single(motion), [motion])
            above = name
        self._put(motions[-1].name, above, link.name, self._single(motions[-1]), [motions[-1]])
        return 1.0 - self._share * (len(motions) - 1)

    def _as_one(self, motions: list[Motion]) -> Joint | None:
        kinds = [motion.kind for motion in motions]
        if len(motions) == 1:
            return self._single(motions[0])
        if any(motion.coupled for motion in motions):
            return None
        if kinds == ["hinge", "hinge"]:
            return self._universal(*motions)
        if sorted(kinds) == ["hinge", "slider"]:
            return self._cylindrical(motions)
        if kinds == ["slider", "slider", "hinge"]:
            return self._planar(*motions)
        if kinds == ["hinge"] * 3 and all(motion.bare for motion in motions):
            return self._ball(motions)
        return None

    def _single(self, motion: Motion) -> Joint:
        point, axis = self._compiled.vector(motion.anchor), self._compiled.vector(motion.axis)
        fields: Joint = {"type": motion.kind, "anchor": point}
        if motion.kind != "ball":
            fields["axis"] = axis
        elif "limits" in motion.fields:
            body = int(self._compiled.model.jnt_bodyid[motion.index])
            fields["axis"] = self._compiled.vector(
                self._compiled.data.xmat[body].reshape(3, 3)[:, 2]
            )
        return {**fields, **motion.fields}

    def _universal(self, first: Motion, second: Motion) -> Joint | None:
        """The first axis is fixed in the parent, the second in the child: exactly two hinges."""
        if not (meet(first, second) and square(first, second) and self._alike([first, second])):
            return None
        if "spring" in second.fields:
            return None
        return {
            "type": "universal",
            "anchor": self._compiled.vector(_meeting(first, second)),
            "axis": self._compiled.vector(first.axis),
            "axis2": self._compiled.vector(second.axis),
            **first.fields,
            **numbered(second.fields, 2),
        }

    def _cylindrical(self, motions: list[Motion]) -> Joint | None:
        """A slider and a hinge along one line commute, so their order does not matter."""
        slide, turn = sorted(motions, key=lambda motion: motion.kind, reverse=True)
        along = float(np.dot(slide.axis, turn.axis))
        if abs(along) < 1.0 - SQUARE or not self._alike(motions) or "spring" in turn.fields:
            return None
        if along < 0.0 and not self._may_reverse(turn):
            return None
        return {
            "type": "cylindrical",
            "anchor": self._compiled.vector(turn.anchor),
            "axis": self._compiled.vector(slide.axis),
            **slide.fields,
            **numbered(turn.fields, 2),
        }

    def _planar(self, first: Motion, second: Motion, turn: Motion) -> Joint | None:
        """The second displacement of a scene is axis x direction: that decides the axis' sense."""
        across = np.cross(turn.axis, first.axis)
        sign = float(np.dot(across, second.axis))
        motions = [first, second, turn]
        if abs(sign) < 1.0 - SQUARE or not square(first, turn) or not self._alike(motions):
            return None
        # the two displacements of a scene have one friction between them
        if any("spring" in motion.fields or "friction" in motion.fields for motion in motions):
            return None
        if sign < 0.0 and not self._may_reverse(turn):
            return None
        return {
            "type": "planar",
            "anchor": self._compiled.vector(turn.anchor),
            "axis": self._compiled.vector(turn.axis if sign > 0.0 else -turn.axis),
            "direction": self._compiled.vector(first.axis),
            **first.fields,
            **numbered(second.fields, 2),
            **numbered(turn.fields, 3),
        }

    def _ball(self, motions: list[Motion]) -> Joint | None:
        one, two, three = motions
        volume = abs(float(np.dot(one.axis, np.cross(two.axis, three.axis))))
        point = _meeting(one, two)
        through = np.linalg.norm(np.cross(point - three.anchor, three.axis)) < MEET
        if not (meet(one, two) and through and volume > 1e-3):
            return None
        return {"type": "ball", "anchor": self._compiled.vector(point)}

    def _may_reverse(self, turn: Motion) -> bool:
        """Whether an angle may change its sign: it has no limits and no motor. Notes it."""
        if any(key in turn.fields for key in PER_AXIS):
            return False
        self._notes.approximated(
            "reversed_angle",
            "The angle counts the other way round, as the joint it is part of wants it.",
            f"joint '{turn.name}'",
        )
        return True

    def _alike(self, motions: list[Motion]) -> bool:
        """Whether all motions have the same damping, friction and armature."""
        first = motions[0].fields
        return all(
            motion.fields.get(key) == first.get(key)
            for motion in motions
            for key in ("damping", "friction", "armature")
        )


def numbered(fields: Joint, number: int) -> Joint:
    """Limits and motor of a further axis, by number; other fields belong to the first."""
    return {f"{key}{number}": fields[key] for key in PER_AXIS if key in fields}


def square(a: Motion, b: Motion) -> bool:
    """Whether two axes are at right angles."""
    return abs(float(np.dot(a.axis, b.axis))) < SQUARE


def meet(a: Motion, b: Motion) -> bool:
    """Whether the lines of two axes that are not parallel cross."""
    normal = np.cross(a.axis, b.axis)
    return abs(float(np.dot(b.anchor - a.anchor, normal))) < MEET


def _meeting(a: Motion, b: Motion) -> Any:
    """The point of a's line nearest to b's: a + s axis, with s from the two normal equations."""
    cosine = float(np.dot(a.axis, b.axis))
    apart = b.anchor - a.anchor
    along = float(np.dot(apart, a.axis)) - cosine * float(np.dot(apart, b.axis))
    return a.anchor + along / (1.0 - cosine * cosine) * a.axis


def pose_of(compiled: Compiled, body: int, later: Sequence[Motion] = ()) -> dict[str, Any]:
    """Pose and velocity of a body of the model at the start, of its frame's origin, in W.

    Without the motions that come later in a chain: a hinge adds w = qd a and v = qd a x (p - c), a
    slider v = qd a, a ball as a hinge with w = R w_B.
    """
    import mujoco

    model, data = compiled.model, compiled.data
    fields: dict[str, Any] = {"position": compiled.vector(data.xpos[body])}
    turn = compiled.vector(data.xquat[body])
    if turn != [1.0, 0.0, 0.0, 0.0]:
        fields["orientation"] = turn
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
    angular, linear = velocity[:3], velocity[3:]
    for motion in later:
        at = int(model.jnt_dofadr[motion.index])
        if motion.kind == "slider":
            linear -= data.qvel[at] * motion.axis
            continue
        spin = data.qvel[at] * motion.axis
        if motion.kind == "ball":
            spin = data.xmat[body].reshape(3, 3) @ data.qvel[at : at + 3]
        angular -= spin
        linear -= np.cross(spin, data.xpos[body] - motion.anchor)
    if np.any(linear):
        fields["linear_velocity"] = compiled.vector(linear)
    if np.any(angular):
        fields["angular_velocity"] = compiled.vector(angular)
    return fields
