"""Trees that overlap: depth leaves their coordinates, and no velocity comes of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan.engine import Simulation
from tests.engine.scenes import Document, document, ground, simulate

pytestmark = pytest.mark.law

G, LONG, THICK = 9.81, 0.3, 0.06
TURNED = [0.7071067811865476, 0.0, 0.7071067811865476, 0.0]
LINKS: list[Document] = [
    {"type": "capsule", "radius": 0.5 * THICK, "length": LONG - THICK, "orientation": TURNED},
    {"type": "box", "size": [LONG - 0.02, THICK, THICK]},
]
ROUGH: Document = {"m": {"friction": 0.5}}


def chain(name: str, at: list[float], shape: Document, mass: float, n: int) -> list[Document]:
    """Links along x, from a point."""
    x, y, z = at
    return [
        {"name": f"{name}{k}", "position": [x + LONG * (k + 0.5), y, z], "mass": mass,
         "shapes": [shape | {"material": "m"}]}
        for k in range(n)
    ]  # fmt: skip


def hinges(name: str, at: list[float], n: int, first: int) -> list[Document]:
    """Those of a chain, across it; the first fixes it to the ground."""
    x, y, z = at
    return [
        {"name": f"{name}-{k}", "type": "hinge", "axis": [0, 1, 0], "child": f"{name}{k}",
         "parent": f"{name}{k - 1}" if k else "world", "anchor": [x + LONG * k, y, z]}
        for k in range(first, n)
    ]  # fmt: skip


def arm_in_arm(seed: int, formulation: str) -> Document:
    """Two arms side by side along their length, 1 mm to 90 % in each other; both fall."""
    dice = np.random.default_rng(seed)
    shape, n = LINKS[seed % 2], 2 + seed // 2 % 2
    deep = float(dice.choice([0.001, 0.002, 0.036, 0.054]))
    low, high = [0.0, 0.0, 1.0], [0.0, 0.0, 1.0 + THICK - deep]
    bodies = chain("a", low, shape, float(dice.uniform(0.2, 2.0)), n)
    bodies += chain("b", high, shape, float(dice.uniform(0.2, 2.0)), n)
    options = {"dt": float(dice.choice([0.001, 0.002, 0.005])), "formulation": formulation}
    materials = {"m": {"friction": float(dice.choice([0.0, 0.5]))}}
    joints = hinges("a", low, n, 0) + hinges("b", high, n, 0)
    scene = document(bodies, joints, simulation=options | {"duration": 2.0})
    return scene | {"materials": materials, "gravity": [0, 0, -G]}


def chain_in_ground(deep: float, dt: float, n: int) -> Document:
    """A chain of boxes that lies this deep in the ground, in joint coordinates."""
    bodies = chain("a", [0.0, 0.0, 0.5 * THICK - deep], LINKS[1], 1.0, n)
    options = {"dt": dt, "formulation": "reduced", "duration": 1.0}
    scene = document([ground(), *bodies], hinges("a", [0.0] * 3, n, 1), simulation=options)
    return scene | {"gravity": [0, 0, -G], "materials": ROUGH}


def run(scene: Document) -> tuple[Simulation, float, float]:
    """A scene after its duration, the energy it had more than at the start [J], largest speed."""
    simulation = simulate(scene)
    start, most, fastest = simulation.energy()["total"], 0.0, 0.0
    for _ in range(200):
        simulation.advance(simulation.total_steps // 200)
        most = max(most, float(simulation.energy()["total"] - start))
        fastest = max(fastest, float(np.abs(simulation.velocities()[:, :3]).max()))
    return simulation, most, fastest


@pytest.mark.parametrize("seed", range(12))
def test_arms_within_each_other_part_as_in_maximal_coordinates(seed: int) -> None:
    """The pivots stay too near for ever: a contact beside one has hardly a lever."""
    _, most, fastest = run(arm_in_arm(seed, "maximal"))
    tree, brought, speed = run(arm_in_arm(seed, "reduced"))
    assert brought <= 1.3 * most + 0.01
    assert speed <= 1.2 * fastest
    assert tree.summary()["energy"]["balance_error"] < 1e-9


@pytest.mark.parametrize("dt", [0.001, 0.002, 0.005])
@pytest.mark.parametrize("n", [2, 3])
def test_a_chain_a_millimetre_in_the_ground_does_not_hop(n: int, dt: float) -> None:
    simulation, brought, speed = run(chain_in_ground(0.001, dt, n))
    assert speed < 1e-3
    assert brought <= n * G * 0.001 * (1.0 + 1e-3)
    assert simulation.poses()[:, 2].max() == pytest.approx(0.5 * THICK, abs=1e-4)
    assert simulation.summary()["verdict"]["status"] == "trusted"


def momenta(simulation: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Momentum, and angular momentum about the origin, of boxes with edges along their axes."""
    m, poses, v = simulation.model.bodies.mass, simulation.poses(), simulation.velocities()
    P, L = np.zeros(3), np.zeros(3)
    for i in range(len(poses)):
        R = Rotation.from_quat(poses[i, [4, 5, 6, 3]]).as_matrix()
        spin = R @ simulation.model.bodies.inertia_B[i] @ R.T @ v[i, 3:]
        P += m[i] * v[i, :3]
        L += spin + np.cross(poses[i, :3], m[i] * v[i, :3])
    return P, L


def test_chains_afloat_in_each_other_keep_their_momenta() -> None:
    bodies = chain("a", [0, 0, 0], LINKS[1], 1.0, 3)
    bodies += chain("b", [0.1, 0.02, THICK - 0.002], LINKS[1], 0.5, 3)
    for k, body in enumerate(bodies):
        body["linear_velocity"] = [0.3, 0.0, 0.2] if k < 3 else [-0.2, 0.1, -0.4]
    joints = hinges("a", [0, 0, 0], 3, 1) + hinges("b", [0.1, 0.02, THICK - 0.002], 3, 1)
    scene = document(bodies, joints, simulation={"formulation": "reduced", "duration": 1.0})
    simulation = simulate(scene | {"gravity": [0, 0, 0], "materials": ROUGH})
    P, L = momenta(simulation)
    for _ in range(20):
        simulation.advance(50)
        P_now, L_now = momenta(simulation)
        assert np.abs(P_now - P).max() < 1e-12
        assert np.abs(L_now - L).max() < 1e-12
    assert simulation.summary()["contacts"]["max_count"] > 0
