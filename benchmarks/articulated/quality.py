"""What states alone tell of a run: energy, joints apart, depth; for every engine alike."""

from typing import Any

import numpy as np

from benchmarks.articulated.scenes import Floats, Scene
from benchmarks.contacts.quality import kinetic, rotations


class Quality:
    """Figures of states of one scene; a state is (bodies, 13): p, q, v, w in W."""

    def __init__(self, scene: Scene) -> None:
        """Keep masses, anchors and the first energy of a scene of scenes.py."""
        self.scene, bodies = scene, scene["bodies"]
        self.mass = np.array([b["mass"] for b in bodies])
        self.inertia = np.array([b["inertia"] for b in bodies])
        start = np.array([b["pos"] + b["quat"] + b["vel"] + b["angvel"] for b in bodies])
        self.first = self.energy(start)
        turn = rotations(start[:, 3:7])
        # anchors in the axes of both bodies, as they are at the start
        self.anchors = []
        for j in scene["joints"]:
            ends = []
            for body in (j["parent"], j["child"]):
                at = np.array(j["anchor"])
                ends.append(at if body < 0 else turn[body].T @ (at - start[body, :3]))
            self.anchors.append((j["parent"], j["child"], *ends))

    def kinetic(self, state: Floats) -> float:
        """Kinetic energy [J]."""
        return kinetic(self.mass, self.inertia, state)

    def energy(self, state: Floats) -> float:
        """Kinetic energy and that of gravity [J]."""
        return self.kinetic(state) + 9.81 * float((self.mass * state[:, 2]).sum())

    def apart(self, state: Floats) -> float:
        """How far anchors are apart at most [m]."""
        turn, largest = rotations(state[:, 3:7]), 0.0
        for parent, child, at_parent, at_child in self.anchors:
            a = at_parent if parent < 0 else state[parent, :3] + turn[parent] @ at_parent
            b = state[child, :3] + turn[child] @ at_child
            largest = max(largest, float(np.linalg.norm(a - b)))
        return largest

    def depth(self, state: Floats) -> float:
        """How deep shapes are in the ground at most [m]."""
        turn, deepest = rotations(state[:, 3:7]), 0.0
        for i, body in enumerate(self.scene["bodies"]):
            for one in body["shapes"]:
                R = turn[i] @ rotations(np.array([one["quat"]]))[0]
                z = state[i, 2] + float(turn[i, 2] @ one["pos"])
                size, up = one["size"], np.abs(R[2])
                reach = float(up @ size) if one["kind"] == "box" else size[0]
                if one["kind"] == "capsule":
                    reach += float(up[2]) * size[1]
                deepest = max(deepest, reach - z)
        return deepest

    def figures(self, states: Floats) -> dict[str, Any]:
        """All figures of a run; states (snapshots, bodies, 13), one every scene["every"] steps."""
        if not np.isfinite(states).all() or np.abs(states[..., :3]).max() > 1e4:
            return {"finite": False}
        found: dict[str, Any] = {"finite": True}
        found["apart_mm"] = 1e3 * max(self.apart(x) for x in states)
        if self.scene["plane"]:
            begin, end = (edge // self.scene["every"] for edge in self.scene["window"])
            found["depth_mm"] = 1e3 * max(self.depth(x) for x in states[begin:end])
            found["energy_left_j"] = float(np.median([self.kinetic(x) for x in states[-5:]]))
            return found
        errors = [abs(self.energy(x) - self.first) / self.scene["energy_scale"] for x in states]
        return found | {"energy_error": max(errors), "energy_end": errors[-1]}
