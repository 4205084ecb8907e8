"""The same scene gives the same bits, however it is cut into pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cardan.engine import Recording, Simulation, run
from cardan.engine.world.collision import Tree
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document
from tests.engine.scenes import Document, document, ground, simulate
from tests.laws.test_energy import chain

pytestmark = pytest.mark.law


# what is kept from step to step and may be thrown away: the tree of bounds with its pairs
CACHES = (Tree,)
# an index and a count that no scene has
WILD = 2**40 + 7


def arrays_of(part: Any) -> Iterator[NDArray[Any]]:
    """All arrays of nested structs that are no cache."""
    if isinstance(part, np.ndarray):
        yield part
    elif isinstance(part, tuple) and not isinstance(part, CACHES):
        for one in part:
            yield from arrays_of(one)


def place(array: NDArray[Any]) -> tuple[int, int]:
    """Where an array lies: structs share some of theirs."""
    return array.ctypes.data, array.nbytes


def poison(sim: Simulation) -> None:
    """Fill all that is garbage between steps with NaN and wild integers.

    That is the whole world but the model, the state, events that wait to be read, and caches.
    """
    world = sim.world
    constant = world.model._replace(bodies=world.model.bodies._replace(kind=world.kind))
    kept = {place(array) for array in arrays_of((constant, world.kind, world.state, world.events))}
    for part in (world.spare, world.work, world.collision, world.clock, world.report):
        for array in arrays_of(part):
            if array.size > 0 and place(array) not in kept:
                array[...] = np.nan if array.dtype.kind == "f" else WILD


def test_poison_leaves_out_what_is_kept_and_nothing_else() -> None:
    sim = Simulation(load_scene(example_document("wheeled-cart")))
    sim.advance(20)
    before, work = sim.state_hash(), sim.work
    poison(sim)
    assert sim.state_hash() == before
    assert np.isfinite(sim.model.bodies.inverse_mass).all()
    assert np.isfinite(sim.collision.tree.box).all()
    assert np.isnan(sim.collision.solids).all()
    for array in (work.problem.b, work.islands.part.b, work.positions.sums, work.dense.lanes.data):
        assert array.size > 0
        assert np.isnan(array).all()
    for array in (work.contacts.count, work.problem.friction_kind, sim.report.iterations):
        assert (array == WILD).all()


SHAPES: tuple[Document, ...] = (
    {"type": "sphere", "radius": 0.1},
    {"type": "box", "size": [0.2, 0.15, 0.1]},
    {"type": "capsule", "radius": 0.05, "length": 0.1},
    {"type": "cylinder", "radius": 0.08, "length": 0.15},
    {
        "type": "convex",
        "points": [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0.15, 0.15, 0.15]],
    },
)


def heap(**simulation: Any) -> Document:
    """Nine bodies of all convex shapes that fall on each other, rebound and resist rolling."""
    bodies = [ground(material="grippy")]
    for n in range(9):
        shape = SHAPES[n % len(SHAPES)] | {"material": "grippy"}
        position = [0.12 * (n // 3), 0.13 * (n % 3), 0.12 + 0.11 * n]
        bodies.append({"name": f"b{n}", "density": 800, "position": position, "shapes": [shape]})
    rough = {"friction": 0.5, "restitution": 0.3, "rolling_friction": 0.01}
    materials = {"grippy": rough | {"spinning_friction": 0.005}}
    return document(bodies, materials=materials, simulation={"dt": 0.004, **simulation})


def hills(**simulation: Any) -> Document:
    """A box, a ball and a tetrahedron on a sheet of triangles."""
    n = 6
    vertices = [
        [0.3 * (i - n / 2), 0.3 * (j - n / 2), 0.05 * ((i * 7 + j * 3) % 3)]
        for i in range(n)
        for j in range(n)
    ]
    corners = [i * n + j for i in range(n - 1) for j in range(n - 1)]
    faces = [[a, a + n, a + 1] for a in corners] + [[a + 1, a + n, a + n + 1] for a in corners]
    sheet = {"type": "mesh", "vertices": vertices, "faces": faces}
    wedge = {"type": "mesh", "vertices": [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]}
    wedge["faces"] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    bodies: list[Document] = [{"name": "hills", "type": "static", "shapes": [sheet]}]
    for name, position, shape in (
        ("box", [0, 0, 0.25], SHAPES[1]),
        ("ball", [0.4, 0.1, 0.3], SHAPES[0]),
        ("wedge", [-0.5, -0.3, 0.3], wedge),
    ):
        bodies.append({"name": name, "density": 500, "position": position, "shapes": [shape]})
    return document(bodies, simulation={"dt": 0.004, **simulation})


def tower(**simulation: Any) -> Document:
    """Four cubes that stand on each other; slow enough to fall asleep."""
    cube = {"type": "box", "size": [0.2, 0.2, 0.2]}
    bodies = [
        {"name": f"t{k}", "mass": 1, "position": [0, 0, 0.1 + 0.2 * k], "shapes": [cube]}
        for k in range(4)
    ]
    return document([ground(), *bodies], simulation={"dt": 0.004, **simulation})


def smooth(integrator: str) -> Document:
    """Two rods on ball joints, in joint coordinates; more rods could touch, which is refused."""
    scene = chain(2, "ball")
    return scene | {"simulation": {"formulation": "reduced", "integrator": integrator}}


def cart(**simulation: Any) -> Document:
    scene = example_document("wheeled-cart")
    return scene | {"simulation": scene["simulation"] | simulation}


def impacts(law: str, time: str) -> Document:
    return heap(contact={"restitution_law": law, "impact_time": time})


LAWS, TIMES = ("newton", "poisson", "propagating"), ("step", "exact")
METHODS = ("pgs", "gauss_seidel", "jacobi", "nncg", "pgs_sm", "apgd", "proximal")
SQUARES = {"contact": {"friction_cone": "box"}}
SCENES: dict[str, tuple[Document, int]] = {
    "heap": (heap(), 70),
    "hills": (hills(), 50),
    "heap in small steps": (heap(solver={"method": "small_steps"}), 70),
    "hills in small steps": (hills(solver={"method": "small_steps"}), 50),
    "tower asleep": (tower(sleeping={"enabled": True, "time": 0.04}), 40),
    "cart in trees": (cart(formulation="reduced"), 60),
    "cart by velocities": (cart(stabilisation="baumgarte"), 60),
    "cart by split impulses": (cart(stabilisation="split_impulse"), 60),
    "loop in trees": (
        example_document("slider-crank") | {"simulation": {"formulation": "reduced"}},
        20,
    ),
    "squares by pivoting": (tower(solver={"method": "pivoting"}, **SQUARES), 10),
    "squares by Lemke": (tower(solver={"method": "lemke"}, **SQUARES), 10),
    "polygons": (tower(contact={"friction_cone": "polyhedral"}), 10),
    **{f"impacts {law} {time}": (impacts(law, time), 60) for law in LAWS for time in TIMES},
    **{f"tower by {method}": (tower(solver={"method": method}), 10) for method in METHODS},
    **{f"smooth {name}": (smooth(name), 10) for name in ("implicit_midpoint", "rk4", "dop853")},
}


def outcome(sim: Simulation) -> tuple[str, dict[str, Any]]:
    """All bits of the state, and what the last step says of its solve."""
    report = sim.solver_report()
    report.pop("phases")
    return sim.state_hash(), report


@pytest.mark.parametrize("name", SCENES)
def test_nothing_but_the_state_and_caches_outlives_a_step(name: str) -> None:
    scene, first = SCENES[name]
    sim = Simulation(load_scene(scene))
    sim.advance(first)
    saved = sim.snapshot()
    sim.advance(8)
    expected = outcome(sim)
    assert sim.failure is None
    assert sim.asleep().any() == (name == "tower asleep")
    sim.restore(saved)
    for _ in range(8):
        poison(sim)
        sim.advance(1)
    assert outcome(sim) == expected


@pytest.mark.parametrize("name", ["double-pendulum", "wheeled-cart", "box-tower"])
def test_pieces_snapshots_and_poison_change_nothing(name: str) -> None:
    scene = load_scene(example_document(name))
    whole = Simulation(scene)
    whole.advance(240)
    pieces = Simulation(scene)
    for n in (1, 7, 32, 60):
        pieces.advance(n)
    saved = pieces.snapshot()
    pieces.advance(140)
    resumed = Simulation(scene)
    resumed.restore(saved)
    poison(resumed)
    resumed.advance(140)
    assert pieces.state_hash() == whole.state_hash()
    assert resumed.state_hash() == whole.state_hash()
    assert resumed.snapshot() == whole.snapshot()


def test_snapshot_of_another_scene_is_refused() -> None:
    with pytest.raises(ValueError, match="belongs to"):
        simulate(chain(1, "ball")).restore(simulate(chain(2, "ball")).snapshot())
    with pytest.raises(ValueError, match="not a snapshot"):
        simulate(chain(1, "ball")).restore(b"something else")


def test_two_runs_record_the_same_bits() -> None:
    scene = load_scene(example_document("double-pendulum"))
    tables = [run(scene)[0].tables() for _ in range(2)]
    for name in ("bodies", "joints", "energy"):
        for column, values in tables[0][name].items():
            assert np.array_equal(values, tables[1][name][column]), (name, column)


def test_recording_keeps_first_every_and_last_step() -> None:
    document = example_document("double-pendulum")
    document["simulation"]["duration"] = 0.0255
    document["record"] = {"every": 10}
    scene = load_scene(document)
    recording, summary = run(scene)
    assert isinstance(recording, Recording)
    steps = recording.tables()["energy"]["step"]
    assert steps.tolist() == [0, 10, 20, summary["steps"]]
