"""Truth of linkages of hinges: angles by closing their loops, torques by the balance of power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
Document = dict[str, Any]

# steps of differences [rad], and of the way from the start
NEAR, WAY = 1e-3, 0.02


class Screw(NamedTuple):
    """A displacement from the start in W: x -> R x + p."""

    R: Array
    p: Array


def turned(axis: Sequence[float], anchor: Sequence[float], angle: float) -> Screw:
    """The turn about an axis through an anchor."""
    unit = np.array(axis) / np.linalg.norm(axis)
    R = Rotation.from_rotvec(angle * unit).as_matrix()
    return Screw(R, np.array(anchor) - R @ np.array(anchor))


def times(a: Screw, b: Screw) -> Screw:
    """First b, then a."""
    return Screw(a.R @ b.R, a.R @ b.p + a.p)


class Linkage:
    """Hinges between bodies; the first joint is the input, all other angles follow from it."""

    def __init__(self, scene: Document) -> None:
        """Read a scene whose joints are hinges, the first one between the world and a body."""
        self.bodies = {body["name"]: body for body in scene["bodies"]}
        self.gravity = np.array(scene.get("gravity", [0, 0, -9.81]))
        self.tree: list[Document] = []
        self.closing: list[Document] = []
        known = {"world"}
        rest = list(scene["joints"])
        while rest:
            ready = [j for j in rest if j["parent"] in known or j["child"] in known]
            joint = ready[0]
            rest.remove(joint)
            both = joint["parent"] in known and joint["child"] in known
            (self.closing if both else self.tree).append(joint)
            known |= {joint["parent"], joint["child"]}
        self.start = np.zeros(len(self.tree) - 1)

    def screws(self, angles: Array) -> dict[str, Screw]:
        """How each body is displaced by the angles of the tree."""
        found = {"world": Screw(np.eye(3), np.zeros(3))}
        for joint, angle in zip(self.tree, angles, strict=True):
            parent, child, sign = joint["parent"], joint["child"], 1.0
            if parent not in found:
                parent, child, sign = child, parent, -1.0
            found[child] = times(
                found[parent], turned(joint["axis"], joint["anchor"], sign * angle)
            )
        return found

    def gaps(self, angles: Array) -> Array:
        """By how much anchors and axes of the closing hinges are apart."""
        found = self.screws(angles)
        parts = []
        for joint in self.closing:
            a, b = found[joint["parent"]], found[joint["child"]]
            anchor, axis = np.array(joint["anchor"]), np.array(joint["axis"])
            parts += [a.R @ anchor + a.p - b.R @ anchor - b.p, (a.R - b.R) @ axis]
        return np.concatenate(parts)

    def closed(self, angle: float, guess: Array) -> Array:
        """All angles for an input near that of the guess, by Newton's method."""
        rest = guess.copy()
        for _ in range(30):
            gap = self.gaps(np.concatenate([[angle], rest]))
            if np.abs(gap).max() < 1e-14:
                break
            J = np.empty((len(gap), len(rest)))
            for k in range(len(rest)):
                e = np.zeros(len(rest))
                e[k] = 1e-6
                up = self.gaps(np.concatenate([[angle], rest + e]))
                down = self.gaps(np.concatenate([[angle], rest - e]))
                J[:, k] = (up - down) / 2e-6
            change = np.linalg.lstsq(J, gap, rcond=1e-9)[0]
            rest = rest - change
            if np.abs(change).max() < 1e-15:
                break
        return np.concatenate([[angle], rest])

    def angles(self, inputs: Array) -> Array:
        """(k, n): all angles along inputs that ascend from 0 in short steps."""
        found, last, at = [], self.start, 0.0
        for angle in inputs:
            for between in np.linspace(at, angle, max(2, round(abs(angle - at) / WAY) + 1))[1:]:
                last = self.closed(float(between), last)[1:]
            at = angle
            found.append(np.concatenate([[angle], last]))
        return np.array(found)

    def place(self, body: str, angles: Array) -> Array:
        """The origin of a body [m]."""
        one = self.screws(angles)[body]
        return one.R @ np.array(self.bodies[body]["position"]) + one.p

    def inertia_and_height(self, angles: Array) -> tuple[float, float]:
        """M of the kinetic energy M w^2/2 of the input's rate w [kg m^2], and the potential [J].

        Bodies have `mass` and diagonal `inertia` about their origin, which is the centre of mass.
        """
        rest = angles[1:]
        sides = [
            self.screws(self.closed(angles[0] + k * NEAR, rest)) for k in (-2.0, -1.0, 1.0, 2.0)
        ]
        here = self.screws(angles)
        M, V = 0.0, 0.0
        for name, body in self.bodies.items():
            m, inertia = body["mass"], np.diag(body["inertia"])
            p0 = np.array(body["position"])
            q = np.roll(body.get("orientation", [1.0, 0, 0, 0]), -1)
            R0 = Rotation.from_quat(q).as_matrix()
            p = [one[name].R @ p0 + one[name].p for one in sides]
            R = [one[name].R @ R0 for one in sides]
            v = (p[0] - 8.0 * p[1] + 8.0 * p[2] - p[3]) / (12.0 * NEAR)
            now = here[name].R @ R0
            S = (R[0] - 8.0 * R[1] + 8.0 * R[2] - R[3]) / (12.0 * NEAR) @ now.T
            w = np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2.0
            M += m * v @ v + w @ (now @ inertia @ now.T) @ w
            V -= m * self.gravity @ (here[name].R @ p0 + here[name].p)
        return M, V

    def torque(self, angles: Array, speed: float) -> float:
        """Torque on the input that keeps its speed [N m]: d(M w^2/2 + V)/d angle."""
        total = []
        for k in (-2.0, -1.0, 1.0, 2.0):
            M, V = self.inertia_and_height(self.closed(angles[0] + k * 10.0 * NEAR, angles[1:]))
            total.append(0.5 * M * speed * speed + V)
        a, b, c, d = total
        return (a - 8.0 * b + 8.0 * c - d) / (120.0 * NEAR)
