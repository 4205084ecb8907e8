"""Energies and momenta of trees."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import Spatial, sym_times
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, cross, dot, load3, scale
from cardan.engine.trees.spatial_arrays import load6, load_sym
from cardan.engine.world.tree import Tree, TreeWork


@kernel
def kinetic_energy_of_node(tree: Tree, work: TreeWork, i: int) -> float:
    """m v^2/2 + w . I w/2 [J]; reads work.V and I_W."""
    w, v = load6(work.V, i)
    return 0.5 * (tree.mass[i] * dot(v, v) + dot(w, sym_times(load_sym(work.I_W, i), w)))


@kernel
def kinetic_energy(tree: Tree, work: TreeWork, begin: int, end: int) -> float:
    """Kinetic energy of the nodes begin ... end - 1 [J].

    Check   tests/engine/trees/test_energy_momentum.py
    """
    total = 0.0
    for i in range(begin, end):
        total += kinetic_energy_of_node(tree, work, i)
    return total


@kernel
def rotor_energy(tree: Tree, qd: NDArray, begin: int, end: int) -> float:
    """armature qd^2/2 of the rates of the nodes begin ... end - 1 [J]."""
    total = 0.0
    for k in range(tree.v_start[begin], tree.v_start[end]):
        total += 0.5 * tree.armature[k] * qd[k] * qd[k]
    return total


@kernel
def gravitational_energy(tree: Tree, work: TreeWork, gravity_W: Vec3) -> float:
    """-sum of m g . p [J]: zero at the origin of W."""
    total = 0.0
    for i in range(tree.kind.shape[0]):
        total -= tree.mass[i] * dot(gravity_W, load3(work.p_WB, i))
    return total


@kernel
def momentum(tree: Tree, work: TreeWork, begin: int, end: int, origin: Vec3) -> Spatial:
    """Angular momentum about a point [N m s] and momentum [N s] of nodes, W.

    Check   tests/engine/trees/test_energy_momentum.py
    """
    L, P = ZERO3, ZERO3
    for i in range(begin, end):
        w, v = load6(work.V, i)
        p = scale(tree.mass[i], v)
        arm = load3(work.p_WB, i)
        arm = (arm[0] - origin[0], arm[1] - origin[1], arm[2] - origin[2])
        L = add(L, add(sym_times(load_sym(work.I_W, i), w), cross(arm, p)))
        P = add(P, p)
    return L, P
