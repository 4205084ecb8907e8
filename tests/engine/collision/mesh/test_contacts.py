"""Gap, normal and points of every kind of solid against meshes of triangles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan.engine.world.model import BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, SPHERE
from tests.engine.collision.reference import (
    gap_by_search,
    gap_to_plane,
    reach,
    rotation,
    separation_along,
)
from tests.engine.collision.worlds import (
    Solid,
    World,
    about,
    cuboid,
    floor,
    grid,
    icosphere,
    mesh,
    quaternion,
)

KINDS = {
    "sphere": (SPHERE, (0.4, 0, 0)),
    "box": (BOX, (0.5, 0.3, 0.2)),
    "capsule": (CAPSULE, (0.2, 0.4, 0)),
    "cylinder": (CYLINDER, (0.3, 0.4, 0)),
    "cone": (CONE, (0.4, 0.35, 0)),
    "ellipsoid": (ELLIPSOID, (0.5, 0.3, 0.2)),
    "hull": (CONVEX, (0, 0, 0)),
}
MARGIN = 0.3


def solid(name, seed=1):
    points = np.random.default_rng(seed).normal(size=(14, 3))
    points = 0.5 * points / np.linalg.norm(points, axis=1)[:, None] * [1.0, 0.8, 0.6]
    kind, size = KINDS[name]
    return Solid(kind, size, points=points if kind == CONVEX else None)


def random_quaternion(rng):
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


def pose(world, i, p, q):
    world.solids[i].p, world.solids[i].q = tuple(p), tuple(q)
    world.state.p_WB[i], world.state.q_WB[i] = p, q


def near_poses(rng, fixed, moving, count, shares):
    """Poses of a solid that touches the hull of the other at a share of the distance."""
    for k in range(count):
        q = random_quaternion(rng)
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        moving.p, moving.q = (0, 0, 0), q
        touching = float(reach(fixed, d[None])[0] + reach(moving, -d[None])[0])
        yield shares[k % len(shares)] * touching * d, q


def deepest(contacts):
    k = int(contacts["gap"].argmin())
    return contacts["gap"][k], contacts["normal_W"][k], contacts["point_W"][k]


@pytest.mark.parametrize("name", KINDS)
def test_gap_before_a_triangle_is_the_distance(name):
    """A single open triangle: its face, its edges and its corners, on the outer side."""
    rng = np.random.default_rng(7)
    corners = np.array([[0.5, -0.3, 0.0], [0.1, 0.6, 0.0], [-0.6, -0.2, 0.0]])
    twin = Solid(CONVEX, points=corners, dynamic=False)
    world = World([mesh(corners, [[0, 1, 2]]), solid(name)], margin=MARGIN)
    found = 0
    for p, q in near_poses(rng, twin, world.solids[1], 24, [1.0, 1.01, 1.1]):
        pose(world, 1, p if p[2] > 0 else -p, q)
        expected, n = gap_by_search(twin, world.solids[1], rng)
        if expected < 1e-4 or n[2] < 1e-3:
            continue
        contacts = world.find()
        if expected > MARGIN:
            assert len(contacts["gap"]) == 0
            continue
        found += 1
        gap, along, _ = deepest(contacts)
        # what a normal separates is at most the distance, which the search finds from below
        assert gap >= expected - 2e-6
        assert separation_along(twin, world.solids[1], along) == pytest.approx(gap, abs=2e-6)
    assert found >= 8


SURFACES = {
    "cube": lambda: cuboid(np.array([0.6, 0.5, 0.4])),
    "fine cube": lambda: cuboid(np.array([0.6, 0.5, 0.4]), cells=4),
    "ball": lambda: icosphere(1, 0.6),
}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", KINDS)
def test_a_convex_mesh_is_as_far_as_the_hull_of_its_corners(name, surface):
    """However the surface is cut: gaps of the closed mesh are those of the solid it encloses."""
    rng = np.random.default_rng(11)
    vertices, faces = SURFACES[surface]()
    twin = Solid(CONVEX, points=vertices, dynamic=False)
    world = World([mesh(vertices, faces), solid(name)], margin=MARGIN)
    found = 0
    for p, q in near_poses(rng, twin, world.solids[1], 12, [1.05, 1.0, 0.99, 0.97]):
        pose(world, 1, p, q)
        expected, _ = gap_by_search(twin, world.solids[1], rng)
        contacts = world.find()
        if expected > MARGIN - 1e-6:
            continue
        found += 1
        gap, along, _ = deepest(contacts)
        # a way out that is nearly the shortest is as good
        assert gap >= expected - 1e-5 - 0.02 * abs(min(expected, 0.0))
        assert gap == pytest.approx(separation_along(twin, world.solids[1], along), abs=1e-4)
    assert found >= 9


@pytest.mark.parametrize("cells", [1, 7, 16])
@pytest.mark.parametrize("name", KINDS)
def test_a_flat_floor_of_triangles_is_a_plane(name, cells):
    """Same deepest point and the plane's own normal, wherever the edges run."""
    rng = np.random.default_rng(cells)
    ground = mesh(*grid(lambda x, y: 0.0, cells=cells))
    world = World([ground, solid(name)], margin=0.05)
    plane = floor()
    for k in range(12):
        q = random_quaternion(rng) if k % 3 else about((1, 0, 0), np.pi / 2)
        pose(world, 1, (0, 0, 0), q)
        depth = -gap_to_plane(world.solids[1], plane)
        height = [0.03, 0.0, -1e-4, -0.02, -0.1][k % 5]
        pose(world, 1, (*rng.uniform(-1, 1, size=2), depth + height), q)
        contacts = world.find()
        gap, _, point = deepest(contacts)
        assert gap == pytest.approx(height, abs=1e-9)
        assert np.abs(contacts["normal_W"] - [0, 0, 1]).max() < 1e-12
        assert len(contacts["gap"]) <= 4
        assert point[2] == pytest.approx(height / 2, abs=1e-9)


@pytest.mark.parametrize("cells", [1, 5, 40])
def test_a_box_over_the_rim_is_carried_by_the_top_alone(cells):
    """All of the box lies behind the planes of the sides; it must not be pushed along them."""
    block = mesh(*cuboid(np.array([1.0, 1.0, 1.0]), cells=cells))
    for depth in (-1e-3, -1e-6, 0.0, 1e-6, 1e-3, 0.02):
        box = Solid(BOX, (0.5, 0.3, 0.2), (0.9, 0.2, 1.2 - depth))
        contacts = World([block, box]).find()
        assert len(contacts["gap"]) == 4
        assert np.allclose(contacts["normal_W"], [0, 0, 1], atol=1e-12)
        assert np.allclose(contacts["gap"], -depth, atol=1e-9)
        x = contacts["point_W"][:, 0]
        assert x.max() == pytest.approx(1.0, abs=1e-4)
        assert x.min() == pytest.approx(0.4, abs=1e-4)


def test_a_box_on_a_ridge_touches_along_it():
    ridge = mesh(*grid(lambda x, y: -abs(x), half=2.0, cells=8))
    for depth in (-1e-4, 0.0, 1e-3):
        box = Solid(BOX, (0.5, 0.3, 0.2), (0.05, 0.1, 0.2 - depth))
        contacts = World([ridge, box]).find()
        assert np.allclose(contacts["normal_W"], [0, 0, 1], atol=1e-9)
        assert np.allclose(contacts["gap"], -depth, atol=1e-9)
        assert np.allclose(contacts["point_W"][:, 0], 0, atol=1e-9)
        y = contacts["point_W"][:, 1]
        assert (y.min(), y.max()) == (pytest.approx(-0.2, abs=1e-4), pytest.approx(0.4, abs=1e-4))


def test_a_ball_in_a_valley_touches_both_sides_and_no_edge():
    valley = mesh(*grid(lambda x, y: abs(x), half=2.0, cells=8))
    ball = Solid(SPHERE, (0.3, 0, 0), (0, 0.11, 0.3 * 2**0.5 - 1e-3))
    contacts = World([valley, ball]).find()
    assert len(contacts["gap"]) == 2
    assert np.allclose(np.abs(contacts["normal_W"]), [0.5**0.5, 0, 0.5**0.5], atol=1e-12)
    assert np.allclose(contacts["gap"], -1e-3 * 0.5**0.5, atol=1e-12)


def test_a_box_in_a_corner_touches_floor_and_wall():
    floor_part = grid(lambda x, y: 0.0, half=2.0, cells=9)
    vertices = np.concatenate(
        [floor_part[0] + [2, 0, 0], (floor_part[0] + [-2, 0, 0])[:, [2, 1, 0]]]
    )
    vertices[len(floor_part[0]) :, 2] *= -1
    faces = np.concatenate([floor_part[1], floor_part[1] + len(floor_part[0])])
    room = mesh(vertices, faces)
    normals = np.cross(*(vertices[faces][:, k] - vertices[faces][:, 0] for k in (1, 2)))
    assert set(map(tuple, np.round(normals / np.linalg.norm(normals, axis=1)[:, None]))) == {
        (0, 0, 1), (1, 0, 0)}  # fmt: skip
    box = Solid(BOX, (0.5, 0.3, 0.2), (0.5 - 2e-3, 0.1, 0.2 - 1e-3))
    contacts = World([room, box]).find()
    up = contacts["normal_W"][:, 2] > 0.5
    assert (up.sum(), (~up).sum()) == (4, 4)
    assert np.allclose(contacts["gap"][up], -1e-3, atol=1e-9)
    assert np.allclose(contacts["gap"][~up], -2e-3, atol=1e-9)


@pytest.mark.parametrize("name", KINDS)
def test_a_solid_inside_of_a_closed_mesh_is_sent_to_the_nearest_face(name):
    block = mesh(*cuboid(np.array([3.0, 3.0, 3.0]), cells=4))
    world = World([block, solid(name)], margin=0.01)
    rng = np.random.default_rng(5)
    for k in range(6):
        q = random_quaternion(rng)
        out = np.roll([0, 0, 1.0 if k % 2 else -1.0], k % 3)
        pose(world, 1, 1.9 * out + 0.3 * rng.uniform(size=3), q)
        contacts = world.find()
        assert len(contacts["gap"]) == 1
        assert np.allclose(contacts["normal_W"][0], out, atol=1e-12)
        low = float(-reach(world.solids[1], -out[None])[0])
        assert contacts["gap"][0] == pytest.approx(low - 3.0, abs=1e-9)


def test_what_is_behind_an_open_mesh_is_left_alone():
    sheet = mesh(*grid(lambda x, y: 0.0))
    ball = Solid(SPHERE, (0.3, 0, 0), (0, 0, -0.5))
    assert len(World([sheet, ball]).find()["gap"]) == 0


@pytest.mark.parametrize("depth", [0.1, 0.9, 2.5])
def test_what_is_below_a_heightfield_is_sent_up_through_the_face_above(depth):
    hill = grid(lambda x, y: 0.2 * x, cells=9)
    world = World(
        [mesh(*hill, is_field=True), Solid(SPHERE, (0.3, 0, 0), (0.1, 0.2, 0.02 - depth))]
    )
    contacts = world.find()
    n = np.array([-0.2, 0, 1]) / np.hypot(0.2, 1)
    assert np.allclose(contacts["normal_W"], n, atol=1e-12)
    assert np.allclose(contacts["gap"], -depth * n[2] - 0.3, atol=1e-12)
    beside = World([mesh(*hill, is_field=True), Solid(SPHERE, (0.3, 0, 0), (2.4, 0.2, -1.0))])
    assert len(beside.find()["gap"]) == 0


@pytest.mark.parametrize("name", KINDS)
def test_mesh_contacts_move_with_the_world_and_flip_with_the_order(name):
    rng = np.random.default_rng(3)
    vertices, faces = icosphere(1, 0.6)
    a, b = mesh(vertices, faces), solid(name)
    b.p, b.q = (0.1, 0.5, 0.75), random_quaternion(rng)
    here = World([a, b], margin=MARGIN).find()
    assert len(here["gap"])
    flipped = World([b, a], margin=MARGIN).find()
    assert np.allclose(flipped["gap"], here["gap"], atol=1e-12)
    assert np.allclose(flipped["normal_W"], -here["normal_W"], atol=1e-12)
    turn, shift = Rotation.from_quat(rng.normal(size=4)), 10 * rng.normal(size=3)
    moved = []
    for s in (a, b):
        q = quaternion(turn * Rotation.from_matrix(rotation(s.q)))
        moved.append(Solid(s.kind, s.size, tuple(turn.apply(s.p) + shift), q, points=s.points,
                           surface=s.surface, dynamic=s.dynamic))  # fmt: skip
    there = World(moved, margin=MARGIN).find()
    gap, n, _ = deepest(here)
    gap_there, n_there, _ = deepest(there)
    assert gap_there == pytest.approx(gap, abs=1e-6)
    assert np.allclose(turn.apply(n), n_there, atol=1e-4)


def test_contacts_ascend_by_feature_and_are_known_again():
    rng = np.random.default_rng(1)
    scenes = {
        "box": (Solid(BOX, (0.5, 0.3, 0.2), (0.1, -0.2, 0.2)), 4),
        "capsule": (Solid(CAPSULE, (0.2, 0.4, 0), (0.1, 0.2, 0.2), about((1, 0, 0), np.pi / 2)), 2),
        "ball": (Solid(SPHERE, (0.3, 0, 0), (0.1, 0.2, 0.3)), 1),
    }
    for body, count in scenes.values():
        world = World([mesh(*grid(lambda x, y: 0.0, cells=13)), body])
        p0 = world.state.p_WB[1].copy()
        before = world.find()
        assert len(before["gap"]) == count
        for _ in range(10):
            given = np.arange(1.0, 1 + 3 * count).reshape(-1, 3)
            world.store(given)
            # sliding over many edges: corners of the solid are known by the flat piece below
            p0[:2] += 0.05 * rng.normal(size=2)
            world.state.p_WB[1] = p0 + 1e-7 * rng.normal(size=3)
            after = world.find()
            assert np.all(np.diff(after["feature"]) >= 0)
            assert np.array_equal(after["feature"], before["feature"])
            assert np.array_equal(after["impulse_W"], given)


def test_contacts_with_a_mesh_depend_on_poses_only():
    from tests.engine.collision.test_find_contacts import arrays_of

    rng = np.random.default_rng(9)
    bumpy = mesh(*grid(lambda x, y: 0.2 * np.sin(3 * x) * np.cos(2 * y), cells=12))
    solids = [bumpy]
    for name in KINDS:
        one = solid(name)
        one.p, one.q = (*rng.uniform(-1.5, 1.5, size=2), 0.3), random_quaternion(rng)
        one.v = tuple(rng.normal(size=3))
        solids.append(one)
    world = World(solids)
    first = world.find()
    assert len(first["gap"]) >= len(KINDS)
    for array in arrays_of(world.scratch):
        array[...] = np.nan if array.dtype.kind == "f" else 12345
    second = world.find()
    keys = list(zip(first["shape_a"], first["shape_b"], first["feature"], strict=True))
    assert keys == sorted(keys)
    for field in first:
        assert np.array_equal(first[field], second[field]), field


def test_fast_solids_meet_the_triangle_they_fly_to():
    """The step carries a ball over many cells: the face where it lands is a contact already."""
    ground = mesh(*grid(lambda x, y: 0.0, half=8.0, cells=40))
    for speed in ((300.0, 0, -300.0), (0, 300.0, -100.0)):
        ball = Solid(SPHERE, (0.05, 0, 0), (-2.0, -2.0, 1.0), v=speed)
        contacts = World([ground, ball], h=1 / 60, margin=1e-3).find()
        assert contacts["gap"].min() == pytest.approx(0.95, abs=1e-9)
        assert np.allclose(contacts["normal_W"], [0, 0, 1])
    away = Solid(SPHERE, (0.05, 0, 0), (-2.0, -2.0, 1.0), v=(300.0, 0, 1.0))
    assert len(World([ground, away], h=1 / 60, margin=1e-3).find()["gap"]) == 0
