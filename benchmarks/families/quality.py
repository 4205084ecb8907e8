"""What states alone tell of a run, for every engine alike: depth, joints, energy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contacts.quality import Solids, gaps, rotations
from benchmarks.families.heaps import reach
from benchmarks.families.solids import Scene

Floats = NDArray[np.float64]
MEASURED = ("box", "capsule", "sphere")
# states of the window whose depth is measured
SAMPLES = 5


class Quality:
    """Figures of states of one scene; a state is (moving bodies, 13): p, q, v, w in W.

    Depth is measured between spheres, boxes and capsules, and to the plane.
    """

    def __init__(self, scene: Scene) -> None:
        """Keep masses, shapes and the first state of a scene of the families."""
        self.scene, bodies = scene, scene["bodies"]
        self.free = np.array([not b["fixed"] for b in bodies])
        moving = [b for b in bodies if not b["fixed"]]
        self.mass = np.array([b["mass"] for b in moving])
        self.inertia = np.array([b["inertia"] for b in moving])
        self.start = np.array([b["pos"] + b["quat"] + b["vel"] + b["angvel"] for b in moving])
        shapes = [(i, s) for i, b in enumerate(bodies) for s in b["shapes"]]
        shapes = [(i, s) for i, s in shapes if s["kind"] in MEASURED]
        self.owner = np.array([i for i, _ in shapes], np.int64)
        self.kind = np.array([s["kind"] for _, s in shapes])
        self.size = np.array([[*s["size"], 0.0, 0.0][:3] for _, s in shapes])
        self.at = np.array([s["pos"] for _, s in shapes])
        self.turn = rotations(np.array([s["quat"] for _, s in shapes]))
        self.reach = np.array([reach(s | {"pos": [0, 0, 0]}) for _, s in shapes])
        self.pairs = self._pairs()

    def _pairs(self) -> NDArray[np.int64]:
        """Shapes that may collide: of two bodies that no joint connects, not both fixed."""
        n, world = len(self.owner), len(self.free)
        i, j = np.triu_indices(n, 1)
        a, b = self.owner[i], self.owner[j]
        linked = {tuple(sorted((k["parent"], k["child"]))) for k in self.scene["joints"]}
        keys = np.array([p * world + c for p, c in linked if p >= 0], np.int64)
        keep = (a != b) & (self.free[a] | self.free[b]) & ~np.isin(a * world + b, keys)
        return np.stack([i[keep], j[keep]], axis=1)

    def _poses(self, state: Floats) -> tuple[Floats, Floats]:
        """Places (n, 3) and turns (n, 3, 3) of all bodies."""
        p = np.array([b["pos"] for b in self.scene["bodies"]])
        q = np.array([b["quat"] for b in self.scene["bodies"]])
        p[self.free], q[self.free] = state[:, :3], state[:, 3:7]
        return p, rotations(q)

    def depth(self, state: Floats) -> float:
        """Deepest penetration [m]."""
        p, R = self._poses(state)
        at = p[self.owner] + np.einsum("nij,nj->ni", R[self.owner], self.at)
        turn = R[self.owner] @ self.turn
        deepest = 0.0
        if self.scene["plane"]:
            z = np.abs(turn[:, 2, :])
            low = np.select(
                [self.kind == "sphere", self.kind == "box", self.kind == "capsule"],
                [
                    self.size[:, 0],
                    (z * self.size).sum(1),
                    self.size[:, 0] + z[:, 2] * self.size[:, 1],
                ],
            )
            moves = self.free[self.owner]
            deepest = max(deepest, -float((at[:, 2] - low)[moves].min(initial=0.0)))
        i, j = self.pairs.T
        near = np.linalg.norm(at[i] - at[j], axis=1) < self.reach[i] + self.reach[j]
        i, j = i[near], j[near]
        swap = self.kind[i] > self.kind[j]
        i, j = np.where(swap, j, i), np.where(swap, i, j)
        for first in MEASURED:
            for second in MEASURED:
                of = (self.kind[i] == first) & (self.kind[j] == second)
                if of.any():
                    a = Solids(at[i[of]], turn[i[of]], self.size[i[of]])
                    b = Solids(at[j[of]], turn[j[of]], self.size[j[of]])
                    deepest = max(deepest, -float(gaps((first, second), a, b).min()))
        return deepest

    def apart(self, state: Floats) -> float:
        """Largest distance of the anchors of a joint [m], along directions that it forbids."""
        p, R = self._poses(state)
        p0, R0 = self._poses(self.start)
        worst = 0.0
        for one in self.scene["joints"]:
            a, b = one["parent"], one["child"]
            ends = one["anchor"], one["anchor2"]

            def carried(i: int, x: Any) -> Floats:
                place: Floats = np.array(x, float)
                return place if i < 0 else p[i] + R[i] @ R0[i].T @ (place - p0[i])

            c = carried(b, ends[1]) - carried(a, ends[0])
            axis = np.array(one["axis"])
            axis = axis if a < 0 else R[a] @ R0[a].T @ axis
            if one["kind"] in ("slider", "cylindrical"):
                c = c - (c @ axis) * axis
            elif one["kind"] == "planar":
                c = (c @ axis) * axis
            length = float(np.linalg.norm(c))
            if one["kind"] == "distance":
                length -= float(np.linalg.norm(np.subtract(*ends)))
            worst = max(worst, abs(length))
        return worst

    def energy(self, state: Floats) -> tuple[float, float]:
        """Kinetic and potential energy [J], the latter from z = 0."""
        w = np.einsum("nji,nj->ni", rotations(state[:, 3:7]), state[:, 10:13])
        kinetic = (self.mass * (state[:, 7:10] ** 2).sum(1)).sum() + (self.inertia * w * w).sum()
        height = -(self.mass * (state[:, :3] @ np.array(self.scene["gravity"]))).sum()
        return float(0.5 * kinetic), float(height)

    def figures(self, states: Floats) -> dict[str, Any]:
        """All figures of a run; states (snapshots, bodies, 13), one every scene["every"] steps."""
        if not np.isfinite(states).all() or np.abs(states[..., :3]).max() > 1e4:
            return {"finite": False}
        begin, end = (edge // self.scene["every"] for edge in self.scene["window"])
        inside = states[begin:end]
        inside = inside[:: max(1, len(inside) // SAMPLES)]
        found: dict[str, Any] = {"finite": True}
        found["depth_mm"] = 1e3 * max(self.depth(x) for x in inside)
        if self.scene["joints"]:
            found["apart_mm"] = 1e3 * max(self.apart(x) for x in inside)
        books = np.array([self.energy(x) for x in states])
        found["kinetic_j"] = float(np.median(books[-3:, 0]))
        if all(j["motor"] is None for j in self.scene["joints"]):
            at_first = sum(self.energy(self.start))
            scale = abs(at_first) + float(self.mass.sum()) * 1e-9
            found["gain"] = max(0.0, float((books.sum(1) - at_first).max())) / scale
        return found
