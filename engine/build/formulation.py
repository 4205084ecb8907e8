"""The choice between maximal and joint coordinates where the scene says `auto`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import Faults
from cardan.engine.build.poses import Poses
from cardan.engine.build.reduced import check_reduced, check_rotors
from cardan.engine.build.swinging import swings_fast
from cardan.engine.build.tree import build_tree
from cardan.engine.trees.arrays import no_tree
from cardan.engine.world.model import DYNAMIC, Bodies, Joints
from cardan.engine.world.tree import Tree
from cardan.schemas import Scene

# trees with more joint velocities in all, or more free bodies, share islands whose solution costs
# more than joint coordinates save: for each tree that floats, which may carry them, and for each on
# the ground, which meets some of them
MAX_RATES, FREE_ON_FLOATING, FREE_BY_GROUNDED = 64, 2, 8


def suits_reduced(scene: Scene, bodies: Bodies, joints: Joints, tree: Tree) -> bool:
    """Whether joint coordinates are supported and likely faster: few trees and few free bodies.

    Links that are light beside what hangs on them need maximal coordinates.

    Source  decisions 0291, 0731, 1050
    """
    if is_smooth(scene):
        return True  # these integrators exist in joint coordinates only
    faults = Faults()
    check_reduced(scene, faults)
    check_rotors(scene, tree, faults)
    if faults.errors or not tree.inner.any() or not tree.inner.all():
        return False
    h, gravity = scene.simulation.dt, float(np.linalg.norm(scene.gravity))
    if swings_fast(bodies, joints, tree, h, gravity):
        return False
    free = np.count_nonzero((bodies.kind == DYNAMIC) & (tree.node < 0))
    afloat = int(tree.floating.sum())
    most = FREE_ON_FLOATING * afloat + FREE_BY_GROUNDED * (len(tree.floating) - afloat)
    return len(tree.above) <= MAX_RATES and bool(free <= most)


def is_smooth(scene: Scene) -> bool:
    """Whether an integrator of smooth motion advances the scene."""
    return scene.simulation.integrator != "semi_implicit_euler"


def with_trees(
    scene: Scene, bodies: Bodies, joints: Joints, start: Poses
) -> tuple[Scene, Tree, NDArray[np.float64]]:
    """The scene with `maximal` or `reduced` in place of `auto`, its trees and their coordinates."""
    asked = scene.simulation.formulation
    if asked != "maximal":
        tree, q = build_tree(bodies, joints, start, lone=is_smooth(scene))
        if asked == "reduced" or suits_reduced(scene, bodies, joints, tree):
            return _with_formulation(scene, "reduced"), tree, q
    no_trees = no_tree(len(bodies.kind), len(joints.kind))
    return _with_formulation(scene, "maximal"), no_trees, np.zeros(0)


def _with_formulation(scene: Scene, chosen: str) -> Scene:
    if scene.simulation.formulation == chosen:
        return scene
    simulation = scene.simulation.model_copy(update={"formulation": chosen})
    return scene.model_copy(update={"simulation": simulation})
