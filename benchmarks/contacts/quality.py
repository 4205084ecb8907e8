"""What states alone tell of a run: depth, energy, how far bodies went; for every engine alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from benchmarks.contacts.scenes import Scene

Floats = NDArray[np.float64]

# nearer than this counts as touching [m]
NEAR = 1e-3


def rotations(q: Floats) -> Floats:
    """(n, 3, 3) of (n, 4) unit quaternions w, x, y, z."""
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def kinetic(mass: Floats, inertia: Floats, state: Floats) -> float:
    """Kinetic energy [J]; inertia (n, 3): principal moments, state (n, 13): p, q, v, w in W."""
    w = np.einsum("nji,nj->ni", rotations(state[:, 3:7]), state[:, 10:13])
    linear = (mass * (state[:, 7:10] ** 2).sum(1)).sum()
    return float(0.5 * (linear + (inertia * w * w).sum()))


class Solids:
    """Some shapes of one kind, posed: at (n, 3), turn (n, 3, 3), size (n, 3)."""

    def __init__(self, at: Floats, turn: Floats, size: Floats) -> None:
        """Keep what is given."""
        self.at, self.turn, self.size = at, turn, size

    def axis(self) -> Floats:
        """Half the core of capsules, in W."""
        return self.turn[:, :, 2] * self.size[:, 1:2]


def segments(p: Floats, u: Floats, q: Floats, v: Floats) -> Floats:
    """Distance of the segments p +- u and q +- v; u = 0 is a point."""
    d, a, e = p - q, (u * u).sum(1), (v * v).sum(1)
    b, c, f = (u * v).sum(1), (u * d).sum(1), (v * d).sum(1)
    denominator = a * e - b * b
    apart = denominator > 1e-12 * np.maximum(a * e, 1e-30)
    s = np.where(apart, np.clip((b * f - c * e) / np.where(apart, denominator, 1), -1, 1), 0.0)
    for _ in range(4):
        t = np.clip(np.where(e > 0, (b * s + f) / np.where(e > 0, e, 1), 0.0), -1, 1)
        s = np.clip(np.where(a > 0, (b * t - c) / np.where(a > 0, a, 1), 0.0), -1, 1)
    distance: Floats = np.linalg.norm(d + s[:, None] * u - t[:, None] * v, axis=1)
    return distance


def from_box(x: Floats, half: Floats) -> Floats:
    """Signed distance of points in box axes from boxes."""
    d = np.abs(x) - half
    outside = np.linalg.norm(np.maximum(d, 0.0), axis=1)
    distance: Floats = np.where(d.max(1) > 0.0, outside, d.max(1))
    return distance


def along_box(box: Solids, p: Floats, u: Floats) -> Floats:
    """Least signed distance of the points p + t u, |t| <= 1, from boxes (convex in t)."""
    x = np.einsum("nji,nj->ni", box.turn, p - box.at)
    y = np.einsum("nji,nj->ni", box.turn, u)
    low, high = -np.ones(len(p)), np.ones(len(p))
    for _ in range(40):
        third = (high - low) / 3.0
        left = from_box(x + (low + third)[:, None] * y, box.size)
        right = from_box(x + (high - third)[:, None] * y, box.size)
        low, high = (
            np.where(left < right, low, low + third),
            np.where(left < right, high - third, high),
        )
    return from_box(x + (0.5 * (low + high))[:, None] * y, box.size)


def boxes(a: Solids, b: Solids) -> Floats:
    """Separation by the fifteen axes; negative: depth."""
    between = b.at - a.at
    axes = [a.turn[:, :, i] for i in range(3)] + [b.turn[:, :, i] for i in range(3)]
    axes += [np.cross(axes[i], axes[3 + j]) for i in range(3) for j in range(3)]
    best = np.full(len(between), -np.inf)
    for axis in axes:
        length = np.linalg.norm(axis, axis=1)
        n = axis / np.maximum(length, 1e-30)[:, None]
        reach = sum(
            (np.abs(np.einsum("nji,nj->ni", side.turn, n)) * side.size).sum(1) for side in (a, b)
        )
        gap = np.abs((n * between).sum(1)) - reach
        best = np.maximum(best, np.where(length > 1e-4, gap, -np.inf))
    return best


def gaps(kinds: tuple[str, str], a: Solids, b: Solids) -> Floats:
    """Signed gaps of pairs of two kinds, kinds in alphabetic order: box, capsule, sphere."""
    if kinds == ("box", "box"):
        return boxes(a, b)
    radius = b.size[:, 0]
    core_b = b.axis() if kinds[1] == "capsule" else np.zeros_like(b.at)
    if kinds[0] == "box":
        return along_box(a, b.at, core_b) - radius
    core_a = a.axis() if kinds[0] == "capsule" else np.zeros_like(a.at)
    return segments(a.at, core_a, b.at, core_b) - a.size[:, 0] - radius


class Quality:
    """Figures of states of one scene; a state is (moving bodies, 13): p, q, v, w in W."""

    def __init__(self, scene: Scene) -> None:
        """Keep masses, shapes and the first state of a scene of scenes.py."""
        self.scene, self.bodies = scene, scene["bodies"]
        self.moving = [b for b in self.bodies if not b["fixed"]]
        self.mass = np.array([b["mass"] for b in self.moving])
        self.inertia = np.array([b["inertia"] for b in self.moving])
        self.kind = np.array([b["kind"] for b in self.bodies])
        self.free = np.array([not b["fixed"] for b in self.bodies])
        self.size = np.array([[*b["size"], 0.0, 0.0][:3] for b in self.bodies])
        self.start = np.array([b["pos"] + b["quat"] + b["vel"] + b["angvel"] for b in self.moving])
        self.reach = np.where(
            self.kind == "box",
            np.linalg.norm(self.size, axis=1),
            self.size[:, 0] + np.where(self.kind == "capsule", self.size[:, 1], 0.0),
        )

    def pairs(self, at: Floats) -> NDArray[np.int64]:
        """Shapes that may touch: moving ones by their reach, fixed ones against all."""
        moving = np.flatnonzero(self.free)
        found = cKDTree(at[moving]).query_pairs(2.0 * self.reach[moving].max() + NEAR)
        near = moving[np.array(sorted(found), dtype=np.int64).reshape(-1, 2)]
        fixed = [(i, j) for i in np.flatnonzero(~self.free) for j in moving]
        return np.concatenate([near, np.array(fixed, dtype=np.int64).reshape(-1, 2)])

    def depth(self, state: Floats) -> tuple[float, int]:
        """Deepest penetration [m], and how many pairs touch."""
        at = np.array([b["pos"] for b in self.bodies], float)
        q = np.array([b["quat"] for b in self.bodies], float)
        at[self.free], q[self.free] = state[:, :3], state[:, 3:7]
        turn = rotations(q)
        found = [self.from_plane(at, turn)] if self.scene["plane"] else []
        pairs = self.pairs(at)
        swap = self.kind[pairs[:, 0]] > self.kind[pairs[:, 1]]
        pairs[swap] = pairs[swap][:, ::-1]
        for first in ("box", "capsule", "sphere"):
            for second in ("box", "capsule", "sphere"):
                i, j = pairs[
                    (self.kind[pairs[:, 0]] == first) & (self.kind[pairs[:, 1]] == second)
                ].T
                if len(i):
                    a = Solids(at[i], turn[i], self.size[i])
                    b = Solids(at[j], turn[j], self.size[j])
                    found.append(gaps((first, second), a, b))
        every = np.concatenate(found) if found else np.array([np.inf])
        return float(max(0.0, -every.min())), int((every < NEAR).sum())

    def from_plane(self, at: Floats, turn: Floats) -> Floats:
        """Gaps of moving shapes from z = 0."""
        z = np.abs(turn[:, 2, :])
        low = {
            "sphere": self.size[:, 0],
            "box": (z * self.size).sum(1),
            "capsule": self.size[:, 0] + z[:, 2] * self.size[:, 1],
        }
        reach = np.select([self.kind == name for name in low], list(low.values()))
        return np.asarray((at[:, 2] - reach)[self.free])

    def kinetic(self, state: Floats) -> float:
        """Kinetic energy [J]."""
        return kinetic(self.mass, self.inertia, state)

    def spin(self, state: Floats) -> Floats:
        """Angular momentum about the centres of mass, summed [N m s]."""
        turn = rotations(state[:, 3:7])
        w = np.einsum("nji,nj->ni", turn, state[:, 10:13])
        return np.asarray(np.einsum("nij,nj->i", turn, self.inertia * w))

    def figures(self, states: Floats) -> dict[str, Any]:
        """All figures of a run; states (snapshots, bodies, 13), one every scene["every"] steps."""
        every, (begin, end) = self.scene["every"], self.scene["window"]
        if not np.isfinite(states).all() or np.abs(states[..., :3]).max() > 1e4:
            return {"finite": False}
        found: dict[str, Any] = {"finite": True}
        if not self.scene["plane"]:
            energy = self.kinetic(self.start)
            found["energy_error"] = max(abs(self.kinetic(x) / energy - 1.0) for x in states)
            spin = self.spin(self.start)
            errors = [np.linalg.norm(self.spin(x) - spin) for x in states]
            return found | {"spin_error": float(max(errors) / np.linalg.norm(spin))}
        inside = states[begin // every : end // every]
        depths = [self.depth(x) for x in inside[:: max(1, len(inside) // 5)]]
        found["depth_mm"] = 1e3 * max(depth for depth, _ in depths)
        found["touching"] = float(np.mean([n for _, n in depths]))
        found["energy_left_j"] = float(np.median([self.kinetic(x) for x in states[-5:]]))
        moved = np.linalg.norm(states[-1, :, :3] - self.start[:, :3], axis=1)
        found["moved_mm"] = 1e3 * float(moved.max() if self.scene.get("stack") else moved.mean())
        return found
