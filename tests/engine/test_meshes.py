"""Meshes and heightfields in motion: the ground they stand for, whatever they are cut into."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.build.faults import SceneError
from cardan.engine.build.pieces import MAX_CORNERS
from cardan.engine.world.model import CONVEX, PLANE
from cardan.schemas import load_scene
from tests.engine.collision.worlds import cuboid, grid, icosphere
from tests.engine.scenes import document, ground, simulate
from tests.laws.test_determinism import poison

Document = dict[str, Any]
LYING = [2**-0.5, 2**-0.5, 0, 0]
ROUND = {"type": "sphere", "radius": 0.1}
BRICK = {"type": "box", "size": [0.4, 0.3, 0.2]}
ROD = {"type": "capsule", "radius": 0.1, "length": 0.3}


def mesh(vertices: np.ndarray, faces: np.ndarray, **more: Any) -> Document:
    """A mesh as a document."""
    faces = np.asarray(faces).tolist()
    return {"type": "mesh", "vertices": np.asarray(vertices).tolist(), "faces": faces, **more}


def uneven_floor(seed: int = 0, half: float = 4.0, cells: int = 40) -> Document:
    """A flat floor cut into triangles of every shape, with both diagonals."""
    rng = np.random.default_rng(seed)
    vertices, faces = grid(lambda x, y: 0.0, half=half, cells=cells)
    inner = np.abs(vertices[:, :2]).max(axis=1) < half - 1e-9
    vertices[inner, :2] += rng.uniform(-0.2, 0.2, size=(inner.sum(), 2)) * 2 * half / cells
    lower, upper = faces[: cells**2].copy(), faces[cells**2 :].copy()
    other = rng.random(cells**2) < 0.5
    a, b, c = lower.T.copy()
    d = upper[:, 1].copy()
    lower[other] = np.stack([a, b, d], 1)[other]
    upper[other] = np.stack([a, d, c], 1)[other]
    return mesh(vertices, np.concatenate([lower, upper]))


def fixed(*shapes: Document, **more: Any) -> Document:
    """A static body of these shapes."""
    return {"name": "ground", "type": "static", "shapes": list(shapes), **more}


def on(base: Document, *bodies: Document, **more: Any) -> Simulation:
    """A scene of a base and bodies, 240 steps a second."""
    more.setdefault("simulation", {"dt": 1 / 240})
    return simulate(document([base, *bodies], **more))


def body(shape: Document, z: float, **more: Any) -> Document:
    """A body of one kilogram."""
    more.setdefault("position", [0.0, 0.0, z])
    return {"name": "body", "mass": 1.0, "shapes": [shape], **more}


SLIDERS: dict[str, tuple[Document, float, list[float] | None]] = {
    "ball": (ROUND, 0.1, None),
    "box": (BRICK, 0.1, None),
    "capsule": (ROD, 0.1, LYING),
    "cylinder": ({"type": "cylinder", "radius": 0.1, "length": 0.3}, 0.15, None),
    "cone": ({"type": "cone", "radius": 0.1, "length": 0.3}, 0.15, None),
    "ellipsoid": ({"type": "ellipsoid", "radii": [0.1, 0.1, 0.1]}, 0.1, None),
    "hull": (mesh(*cuboid(np.array([0.2, 0.15, 0.1]))), 0.1, None),
}


@pytest.mark.parametrize("name", SLIDERS)
def test_nothing_bumps_on_the_edges_of_a_flat_floor(name: str) -> None:
    """At 5 m/s over a hundred edges: no vertical speed, no turn, no change of way."""
    shape, z, q = SLIDERS[name]
    v = [5 * np.cos(0.1), 5 * np.sin(0.1), 0.0]
    more: Document = {"position": [-3, 0.123, z], "linear_velocity": v}
    if q is not None:
        more["orientation"] = q
    ice: Document = {"materials": {"ice": {"friction": 0}}}
    floor = {**uneven_floor(), "material": "ice"}
    sim = on(fixed(floor), body({**shape, "material": "ice"}, z, **more), **ice)
    for _ in range(240):
        sim.advance(1)
        assert sim.work.contacts.count[0] >= 1
        assert np.abs(sim.velocities()[1] - [*v, 0, 0, 0]).max() <= 1e-9


GROUNDS: dict[str, Document] = {
    "floor": uneven_floor(),
    "block": mesh(*cuboid(np.array([2.0, 2.0, 0.5]), cells=9), position=[0, 0, -0.5]),
    "field": {"type": "heightfield", "size": [4, 4], "heights": [[0.0] * 21] * 17},
}


@pytest.mark.parametrize("base", GROUNDS)
@pytest.mark.parametrize("name", ["ball", "box", "capsule", "cylinder"])
def test_a_body_comes_to_rest_as_on_a_plane(name: str, base: str) -> None:
    shape, z, q = SLIDERS[name]
    more = {} if q is None else {"orientation": q}
    ends = []
    plane: Document = {"type": "plane", "normal": [0, 0, 1]}
    for surface in (plane, GROUNDS[base]):
        sim = on(fixed(surface), body(shape, 0, position=[0.11, 0.07, z + 0.02], **more))
        sim.advance(240)
        ends.append(sim.poses()[1])
        assert np.abs(sim.velocities()[1]).max() <= 1e-6
        assert sim.summary()["energy"]["balance_error"] <= 1e-12
    assert np.abs(ends[0] - ends[1]).max() <= 1e-9


def test_a_ball_rolls_down_a_heightfield_as_down_a_plane() -> None:
    slope = 0.2
    x = np.linspace(-4, 4, 33)
    field = {"type": "heightfield", "size": [8, 8], "heights": [(-slope * x).tolist()] * 33}
    plane = {"type": "plane", "normal": [slope, 0, 1]}
    z = 0.1 * np.hypot(1, slope) + 3 * slope
    ends = []
    for surface in (plane, field):
        sim = on(fixed(surface), body(ROUND, 0, position=[-3, 0.03, z]))
        sim.advance(360)
        ends.append(np.concatenate([sim.poses()[1], sim.velocities()[1]]))
    assert ends[0][0] > -1.5
    assert np.abs(ends[0] - ends[1]).max() <= 1e-9


def test_a_ball_rolls_off_the_border_of_a_heightfield() -> None:
    field = {"type": "heightfield", "size": [2, 2], "heights": [[0.0] * 5] * 5}
    sim = on(fixed(field), body(ROUND, 0, position=[0.8, 0.1, 0.1], linear_velocity=[1, 0, 0]))
    sim.advance(48)
    assert sim.poses()[1][2] == pytest.approx(0.1, abs=1e-9)
    sim.advance(192)
    assert sim.poses()[1][0] > 1.2
    assert sim.poses()[1][2] < -0.3
    assert sim.summary()["energy"]["balance_error"] <= 1e-12


def test_bodies_on_rough_ground_stay_above_it() -> None:
    def height(x: float, y: float) -> float:
        return 0.15 * np.sin(2.5 * x) * np.cos(2 * y)

    x = np.linspace(-2, 2, 25)
    heights = [[height(a, b) for a in x] for b in x]
    rng = np.random.default_rng(4)
    bodies = []
    for k, (shape, _, _) in enumerate([*SLIDERS.values()] * 2):
        p = [-1.2 + 0.8 * (k % 4), -1.2 + 0.8 * (k // 4), 0.6]
        q = rng.normal(size=4)
        q = (q / np.linalg.norm(q)).tolist()
        bodies.append({"name": f"b{k}", "mass": 1, "position": p, "orientation": q,
                       "shapes": [shape]})  # fmt: skip
    field = {"type": "heightfield", "size": [4, 4], "heights": heights}
    sim = on(fixed(field), *bodies)
    sim.advance(480)
    places = sim.poses()[1:, :3]
    inside = np.abs(places[:, :2]).max(axis=1) < 1.9
    assert inside.sum() >= 8
    assert all(z > height(a, b) + 0.03 for a, b, z in places[inside])
    assert sim.solver_report()["max_penetration"] < 5e-3
    summary = sim.summary()["energy"]
    assert summary["balance_error"] <= 1e-10
    assert np.abs(sim.velocities()[1:, :3][inside]).max() < 3.0


def test_a_ball_is_pushed_out_of_a_block_and_from_under_a_field() -> None:
    block = mesh(*cuboid(np.array([1.0, 1.0, 1.0]), cells=4))
    # error correction is fast unless it is told not to be
    slow = {"contact": {"max_correction_speed": 1.0}}
    sim = on(fixed(block), body(ROUND, 0, position=[0.1, 0.2, 0.5]), gravity=[0, 0, 0], **slow)
    sim.advance(240)
    assert sim.poses()[1][2] >= 1.1 - 1e-3
    assert sim.poses()[1][:2] == pytest.approx([0.1, 0.2], abs=1e-9)
    field = {"type": "heightfield", "size": [4, 4], "heights": [[0.0] * 9] * 9}
    # where a single corner is found at a time, only velocities lift fast
    options = {"dt": 1 / 240, "stabilisation": "baumgarte"}
    sim = on(fixed(field), body(BRICK, -1.0), simulation=options, **slow)
    sim.advance(600)
    assert sim.poses()[1][2] == pytest.approx(0.1, abs=1e-3)


def test_a_rising_mesh_carries_what_lies_on_it() -> None:
    plate = mesh(*cuboid(np.array([1.0, 1.0, 0.1]), cells=6))
    lift = {
        "name": "lift",
        "type": "kinematic",
        "shapes": [plate],
        "linear_velocity": [0.2, 0, 0.5],
    }
    sim = on(lift, body(BRICK, 0.2), contact={"restitution_threshold": 10.0})
    sim.advance(240)
    assert sim.velocities()[1][:3] == pytest.approx([0.2, 0, 0.5], abs=1e-6)
    assert sim.poses()[1][2] - sim.poses()[0][2] == pytest.approx(0.2, abs=1e-4)


def test_a_static_body_of_a_mesh_and_a_box_is_both() -> None:
    step = {"type": "box", "size": [1, 4, 0.2], "position": [1.5, 0, 0.1]}
    bodies = [body(BRICK, 0.15), {**body(ROUND, 0), "name": "ball", "position": [1.5, 0.1, 0.35]}]
    sim = on(fixed(uneven_floor(), step), *bodies)
    sim.advance(240)
    z = sim.poses()[1:, 2]
    assert z == pytest.approx([0.1, 0.3], abs=1e-6)


def test_a_mesh_of_a_box_moves_as_the_box_does() -> None:
    half = np.array([0.2, 0.15, 0.1])
    rolling, ends, inertias = [], [], []
    hull = {"type": "convex", "points": cuboid(half)[0].tolist()}
    for shape in (hull, mesh(*cuboid(half, cells=3)), mesh(*cuboid(half))):
        more = {"angular_velocity": [1, 2, 0.5], "density": 300.0}
        moving = {"name": "body", "position": [0, 0, 0.6], "shapes": [shape], **more}
        sim = on(ground(), moving)
        sim.advance(98)
        rolling.append(sim.poses()[1])
        sim.advance(102)
        ends.append(sim.poses()[1])
        inertias.append(sim.model.bodies.inertia_B[1])
        assert list(sim.model.shapes.kind) == [PLANE, CONVEX]
    assert np.abs(inertias[0] - inertias[1]).max() <= 1e-12
    exact = 300 * 8 * half.prod() / 3 * (half @ half - half**2)
    assert np.abs(inertias[1] - np.diag(exact)).max() <= 1e-12
    assert np.abs(np.ptp(rolling, axis=0)).max() <= 1e-12
    # two impacts on four points are solved to 6e-8 m/s, where rounding decides
    assert np.abs(np.ptp(ends, axis=0)).max() <= 1e-7


def test_mass_of_an_icosphere_nears_that_of_the_ball() -> None:
    """An icosahedron exactly; finer ones like the square of the edge."""
    errors = []
    for times in range(4):
        vertices, faces = icosphere(times, 0.5)
        shape = mesh(vertices + np.array([0.1, 0.2, 0.3]), faces)
        sim = simulate(document([{"name": "a", "density": 1000.0, "shapes": [shape]}]))
        bodies = sim.model.bodies
        assert bodies.com_B[0] == pytest.approx([0.1, 0.2, 0.3], abs=1e-12)
        ball = 1000 * 4 / 3 * np.pi * 0.125
        errors.append((1 - bodies.mass[0] / ball, 1 - bodies.inertia_B[0, 0, 0] / (0.1 * ball)))
        if times == 0:
            edge = 0.5 / np.sin(2 * np.pi / 5)
            mass = 1000 * 5 * (3 + 5**0.5) / 12 * edge**3
            assert bodies.mass[0] == pytest.approx(mass, rel=1e-12)
            inertia = mass * edge**2 * (3 + 5**0.5) / 20
            assert np.abs(bodies.inertia_B[0] - inertia * np.eye(3)).max() <= 1e-11
    ratios = np.array(errors[1:-1]) / np.array(errors[2:])
    assert np.all((ratios > 3.5) & (ratios < 4.5))
    assert int(sim.model.shapes.point_count[0]) <= MAX_CORNERS


def angle_iron() -> Document:
    """An L of three unit cubes' profile: not convex."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    flat = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    vertices = [[0.1 * x, 0.1 * y, z] for z in (-0.05, 0.05) for x, y in outline]
    faces = [(a, c, b) for a, b, c in flat] + [(a + 6, b + 6, c + 6) for a, b, c in flat]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    return mesh(np.array(vertices), np.array(faces))


def test_a_mesh_that_is_not_convex_moves_as_pieces() -> None:
    pytest.importorskip("vhacdx", reason="the extra `meshes` is not installed")
    iron = {**angle_iron(), "material": "steel", "collision_group": 2, "collision_mask": 5}
    steel = {"materials": {"steel": {"friction": 0.3}}}
    more = {"name": "iron", "position": [0, 0, 0.051], "density": 1000.0}
    base = ground(collision_group=4)
    sim = on(base, {**more, "shapes": [iron]}, **steel)
    shapes, bodies = sim.model.shapes, sim.model.bodies
    pieces = shapes.body == 1
    assert pieces.sum() >= 2
    assert set(shapes.kind[pieces]) == {CONVEX}
    assert set(shapes.group[pieces]) == {2}
    assert set(shapes.mask[pieces]) == {5}
    assert len(set(shapes.material[pieces])) == 1
    # mass, centre and inertia are those of the surface, exactly: three cubes of 0.1 m
    assert bodies.mass[1] == pytest.approx(3.0, rel=1e-12)
    assert bodies.com_B[1] == pytest.approx([0.5 / 6, 0.5 / 6, 0], abs=1e-12)
    arms = np.array([[0.05, 0.05], [0.15, 0.05], [0.05, 0.15]]) - 0.5 / 6
    assert bodies.inertia_B[1, 2, 2] == pytest.approx(3 * 0.01 / 6 + (arms**2).sum(), rel=1e-12)
    sim.advance(240)
    assert sim.poses()[1][2] == pytest.approx(0.05, abs=2e-3)
    assert np.abs(sim.velocities()[1]).max() <= 1e-4
    assert {row["body_b"] for row in sim.contact_table()} <= {1}
    # the hollow is open: a ball lies in it, at the corner between the arms
    again = simulate(document([{**more, "shapes": [angle_iron()]},
                               {**body(ROUND, 0), "position": [0.205, 0.205, 0.051]}],
                              gravity=[0, 0, 0]))  # fmt: skip
    again.advance(1)
    assert again.work.contacts.count[0] == 0 or again.work.contacts.gap[0] > -5e-3


def test_without_the_extra_the_shape_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vhacdx", None)
    scene = load_scene(document([{"name": "iron", "density": 1000.0, "shapes": [angle_iron()]}]))
    with pytest.raises(SceneError, match="not convex") as caught:
        Simulation(scene)
    fault = caught.value.errors[0]
    assert (fault.pointer, fault.code) == ("/bodies/0/shapes/0/type", "extra_missing")
    assert "cardan[meshes]" in str(fault.hint)


def test_a_mesh_that_moves_is_no_sheet() -> None:
    sheet = mesh(*cuboid([0.5, 0.5, 2e-7]))
    plate = {"name": "plate", "mass": 1.0, "inertia": [1, 1, 2], "shapes": [sheet]}
    with pytest.raises(SceneError, match="lie in one plane") as caught:
        Simulation(load_scene(document([plate])))
    fault = caught.value.errors[0]
    assert (fault.pointer, fault.code) == ("/bodies/0/shapes/0/vertices", "flat_hull")


def test_colliding_meshes_keep_their_momenta() -> None:
    half = np.array([0.2, 0.15, 0.1])
    pair = [
        {"name": "a", "density": 300.0, "shapes": [mesh(*cuboid(half, cells=2))],
         "linear_velocity": [2, 0.1, 0], "angular_velocity": [1, 2, 3]},
        {"name": "b", "density": 500.0, "shapes": [mesh(*icosphere(1, 0.2))],
         "position": [0.8, 0.05, 0.1], "angular_velocity": [-2, 1, 0]},
    ]  # fmt: skip
    sim = simulate(document(pair, gravity=[0, 0, 0]))
    start = sim.momentum()
    sim.advance(240)
    assert sim.velocities()[1][0] > 0.1
    assert np.abs(sim.momentum() - start).max() <= 1e-12 * np.abs(start).max()


def test_pieces_of_a_run_on_meshes_give_the_same_bits() -> None:
    bumps = grid(lambda x, y: 0.1 * np.sin(3 * x) * np.cos(2 * y), cells=16)
    bodies = [
        body(ROUND, 0.6),
        {**body(BRICK, 0), "name": "box", "position": [0.7, 0.4, 0.5]},
        {**body(mesh(*icosphere(1, 0.2)), 0), "name": "ico", "position": [-0.7, 0.4, 0.5]},
    ]
    quick: Document = {"simulation": {"dt": 1 / 240}}
    scene = load_scene(document([fixed(mesh(*bumps)), *bodies], **quick))
    whole = Simulation(scene)
    whole.advance(200)
    first = Simulation(scene)
    first.advance(77)
    rest = Simulation(scene)
    rest.restore(first.snapshot())
    poison(rest)
    for array in (*rest.collision.reduction, *rest.collision.spare):
        array[...] = np.nan if array.dtype.kind == "f" else 7
    rest.advance(123)
    assert rest.state_hash() == whole.state_hash()


def test_a_large_mesh_costs_a_little_more_than_a_small_one() -> None:
    """Not a time: a hundred thousand triangles are built, and a ball rests on them."""
    vertices, faces = grid(lambda x, y: 0.0, half=5.0, cells=223)
    sim = on(fixed(mesh(vertices, faces)), body(ROUND, 0.1))
    assert len(sim.model.meshes.normal) == 2 * 223**2
    sim.advance(20)
    assert sim.poses()[1][2] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_size_does_not_matter(scale: float) -> None:
    """Lengths times s, times times sqrt(s): the same motion under the same gravity."""
    ends = []
    for s in (1.0, scale):
        vertices, faces = grid(lambda x, y: 0.1 * np.sin(2 * x), half=2.0, cells=12)
        ball = body({"type": "sphere", "radius": 0.1 * s}, 0, position=[0.3 * s, 0, 0.3 * s])
        step = {"dt": float(np.sqrt(s) / 240)}
        contact = {"margin": 2e-3 * s, "restitution_threshold": 0.5 * float(np.sqrt(s)),
                   "max_correction_speed": 3 * float(np.sqrt(s))}  # fmt: skip
        sim = on(fixed(mesh(vertices * s, faces)), ball, simulation=step, contact=contact)
        sim.advance(150)
        ends.append(sim.poses()[1][:3] / s)
    assert np.abs(ends[0] - ends[1]).max() <= 1e-6
