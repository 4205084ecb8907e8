"""Choice of the formulation where the scene leaves it to the engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import Faults
from cardan.engine.build.reduced import check_reduced, check_rotors
from cardan.engine.build.swinging import swings_fast
from cardan.engine.build.tree import Start, build_tree
from cardan.engine.trees.arrays import no_tree
from cardan.engine.world.model import DYNAMIC, Bodies, Joints
from cardan.engine.world.tree import Tree
from cardan.schemas import Scene

# trees of more coordinates together, or beside more loose bodies each, meet in islands that cost
# more in joint coordinates than their equations do
MOST_RATES, MOST_LOOSE = 64, 2


def suits_reduced(scene: Scene, bodies: Bodies, joints: Joints, tree: Tree) -> bool:
    """Whether joint coordinates are supported and likely faster: few trees, little else that moves.

    Links that are light beside what hangs on them need maximal coordinates.

    Source  decisions 0291, 0731
    """
    if is_smooth(scene):
        return True  # of maximal coordinates there is none
    faults = Faults()
    check_reduced(scene, faults)
    check_rotors(scene, tree, faults)
    if faults.errors or not tree.inner.any() or not tree.inner.all():
        return False
    h, gravity = scene.simulation.dt, float(np.linalg.norm(scene.gravity))
    if swings_fast(bodies, joints, tree, h, gravity):
        return False
    loose = np.count_nonzero((bodies.kind == DYNAMIC) & (tree.node < 0))
    return len(tree.above) <= MOST_RATES and bool(loose <= MOST_LOOSE * len(tree.floating))


def is_smooth(scene: Scene) -> bool:
    """Whether an integrator of smooth motion advances the scene."""
    return scene.simulation.integrator != "semi_implicit_euler"


def with_trees(
    scene: Scene, bodies: Bodies, joints: Joints, start: Start
) -> tuple[Scene, Tree, NDArray[np.float64]]:
    """The scene with `maximal` or `reduced` for `auto`, its trees and their coordinates."""
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
