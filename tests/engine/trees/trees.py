"""Random trees of bodies, and a dense description of them that shares no code with the engine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan.engine.build.poses import Poses
from cardan.engine.build.scene import build
from cardan.engine.build.tree import build_tree
from cardan.engine.trees.arrays import tree_work
from cardan.engine.world.model import Model
from cardan.engine.world.tree import NODE_BALL, NODE_FREE, Tree, TreeWork
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document

KINDS = (
    "fixed",
    "hinge",
    "slider",
    "universal",
    "hinge2",
    "ball",
    "cylindrical",
    "planar",
    "screw",
)
GRAVITY = (0.3, -0.2, -9.81)


class Case(NamedTuple):
    """A tree in some state of motion."""

    model: Model
    tree: Tree
    work: TreeWork
    q: np.ndarray
    qd: np.ndarray


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


def random_body(rng: np.random.Generator, name: str, position: np.ndarray) -> Document:
    """A body with a tilted tensor and a centre of mass off its origin."""
    factor = rng.uniform(-0.3, 0.3, (3, 3)) + np.diag(rng.uniform(0.3, 0.6, 3))
    second = factor @ factor.T  # integral of x x^T over the mass: any such gives a real body
    inertia = np.trace(second) * np.eye(3) - second
    return {
        "name": name,
        "position": position.tolist(),
        "orientation": unit(rng.normal(size=4)).tolist(),
        "mass": float(rng.uniform(0.5, 3.0)),
        "center_of_mass": rng.uniform(-0.1, 0.1, 3).tolist(),
        "inertia": [
            float(inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        ],
    }


def random_joint(
    rng: np.random.Generator, kind: str, ends: tuple[str, str], anchor: Any
) -> Document:
    """A joint of a kind with random axes."""
    joint: Document = {"type": kind, "name": f"j{ends[1]}", "parent": ends[0], "child": ends[1]}
    joint["anchor"] = anchor.tolist()
    s = unit(rng.normal(size=3))
    if kind not in ("fixed", "ball"):
        joint["axis"] = s.tolist()
    if kind in ("universal", "hinge2"):
        across = unit(np.cross(s, rng.normal(size=3)))
        tilt = 0.0 if kind == "universal" else 0.3
        joint["axis2"] = unit(across + tilt * s).tolist()
    if kind == "screw":
        joint["pitch"] = 0.4
    return joint


def random_scene(
    rng: np.random.Generator, n: int, kinds: tuple[str, ...] = KINDS, floating: bool = False
) -> Document:
    """A tree of n bodies; every third joint names its ends the other way round."""
    places = [np.zeros(3)]
    bodies, joints = [], []
    for i in range(n):
        up = int(rng.integers(max(0, i - 4), i + 1))
        places.append(places[up] + rng.uniform(-0.4, 0.4, 3))
        bodies.append(random_body(rng, f"b{i}", places[-1]))
        if floating and i == 0:
            continue
        up = max(up, 1) if floating else up
        parent = "world" if up == 0 else f"b{up - 1}"
        ends = (f"b{i}", parent) if i % 3 == 2 and up > 0 else (parent, f"b{i}")
        joint = random_joint(
            rng, str(rng.choice(kinds)), ends, places[-1] + rng.uniform(-0.2, 0.2, 3)
        )
        joints.append(joint | {"name": f"j{i}"})
    return document(bodies, joints)


def tree_of(scene: Document, seed: int = 0, dense: bool = True) -> Case:
    """The tree of a scene, in a random state of motion."""
    built = build(load_scene(scene))
    p, orientation = built.state.p_WB, built.state.q_WB
    tree, q = build_tree(built.model.bodies, built.model.joints, Poses(p, orientation), lone=True)
    rng = np.random.default_rng(seed)
    for i, kind in enumerate(tree.kind):
        k, end = tree.q_start[i], tree.q_start[i + 1]
        q[k:end] += rng.uniform(-1.0, 1.0, end - k)
        if kind in (NODE_BALL, NODE_FREE):
            q[end - 4 : end] = unit(rng.normal(size=4))
    qd = rng.uniform(-1.0, 1.0, int(tree.v_start[-1]))
    return Case(built.model, tree, tree_work(tree, dense), q, qd)


def random_tree(seed: int, n: int, **more: Any) -> Case:
    """A random tree of n bodies in a random state."""
    return tree_of(random_scene(np.random.default_rng(seed), n, **more), seed)
