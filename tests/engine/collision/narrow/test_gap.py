"""Gap, normal and points of every pair of kinds against a search over directions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cardan.engine.world.model import BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, PLANE, SPHERE
from tests.engine.collision.reference import (
    DIRECTIONS,
    gap_by_search,
    gap_to_plane,
    reach,
    rotation,
    separation_along,
)
from tests.engine.collision.worlds import Solid, World

NAMES = {
    SPHERE: "sphere", BOX: "box", CAPSULE: "capsule", CYLINDER: "cylinder", CONE: "cone",
    ELLIPSOID: "ellipsoid", CONVEX: "hull", PLANE: "plane",
}  # fmt: skip
SIZES = {
    SPHERE: (0.4, 0, 0), BOX: (0.5, 0.3, 0.2), CAPSULE: (0.2, 0.4, 0), CYLINDER: (0.3, 0.4, 0),
    CONE: (0.4, 0.35, 0), ELLIPSOID: (0.5, 0.3, 0.2), CONVEX: (0, 0, 0), PLANE: (0, 0, 0),
}  # fmt: skip
BOUNDED = [SPHERE, BOX, CAPSULE, CYLINDER, CONE, ELLIPSOID, CONVEX]
PAIRS = list(itertools.combinations_with_replacement(BOUNDED, 2))
MARGIN = 0.3


def names(pair):
    return "-".join(NAMES[k] for k in pair)


def hull_points(seed):
    points = np.random.default_rng(seed).normal(size=(14, 3))
    return 0.5 * points / np.linalg.norm(points, axis=1)[:, None] * [1.0, 0.8, 0.6]


def solid(kind, seed=0):
    points = hull_points(seed) if kind == CONVEX else None
    return Solid(kind, SIZES[kind], points=points)


def random_quaternion(rng):
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


def pose(world, number, p, q):
    world.solids[number].p = tuple(p)
    world.solids[number].q = tuple(q)
    world.state.p_WB[number] = p
    world.state.q_WB[number] = q


def poses(rng, a, b, count):
    """Random poses: apart within the margin, touching, shallow and deep."""
    for k in range(count):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        qa, qb = random_quaternion(rng), random_quaternion(rng)
        a.p, a.q, b.p, b.q = (0, 0, 0), qa, (0, 0, 0), qb
        touching = float(reach(a, direction[None])[0] + reach(b, -direction[None])[0])
        share = [1.05, 1.0, 0.97, 0.8, 0.4, 0.0][k % 6]
        origin = rng.normal(size=3)
        yield origin, qa, origin + share * touching * direction, qb


@pytest.mark.parametrize("pair", PAIRS, ids=names)
def test_gap_is_the_largest_separation_over_all_directions(pair):
    rng = np.random.default_rng(BOUNDED.index(pair[0]) * 10 + BOUNDED.index(pair[1]))
    world = World([solid(pair[0], 1), solid(pair[1], 2)], margin=MARGIN)
    a, b = world.solids
    found = 0
    for pa, qa, pb, qb in poses(rng, a, b, 24):
        pose(world, 0, pa, qa)
        pose(world, 1, pb, qb)
        contacts = world.find()
        expected, _ = gap_by_search(a, b, rng)
        if len(contacts["gap"]) == 0:
            assert expected > MARGIN - 1e-5
            continue
        found += 1
        gap, n = contacts["gap"].min(), contacts["normal_W"][0]
        assert np.linalg.norm(n) == pytest.approx(1, abs=1e-12)
        # faces are preferred to edges by up to 1e-4 of the depth
        assert gap >= expected - 2e-6 - 1.1e-4 * abs(expected)
        assert gap == pytest.approx(separation_along(a, b, n), abs=2e-6)
    assert found >= 18


@pytest.mark.parametrize("pair", PAIRS, ids=names)
def test_bodies_that_hardly_touch_have_hardly_a_gap(pair):
    """Two bodies moved together along the line of their nearest points: the gap is what is left.

    The nearest points of bodies apart stay the nearest while they approach along their line.
    """
    rng = np.random.default_rng(23)
    world = World([solid(pair[0], 1), solid(pair[1], 2)], margin=MARGIN)
    a, b = world.solids
    for number, (pa, qa, pb, qb) in enumerate(poses(rng, a, b, 60)):
        if number % 6:
            continue
        away = pa + 1.3 * (pb - pa)
        pose(world, 0, pa, qa)
        pose(world, 1, away, qb)
        gap, n = gap_by_search(a, b, rng)
        assert gap > 0
        for left in (1e-2, 1e-3, 1e-4, 1e-6, 0.0, -1e-5):
            pose(world, 1, away + (left - gap) * n, qb)
            contacts = world.find()
            found, along = contacts["gap"].min(), contacts["normal_W"][0]
            # the search may miss the line a little; overlapping corners have shorter ways out
            assert left - 3e-6 <= found <= max(left, 0.0) + 1e-4
            assert found == pytest.approx(separation_along(a, b, along), abs=2e-6)


@pytest.mark.parametrize("kind", BOUNDED, ids=NAMES.get)
def test_gap_to_a_plane_is_the_height_of_the_lowest_point(kind):
    rng = np.random.default_rng(kind)
    world = World([solid(kind), Solid(PLANE, dynamic=False)], margin=MARGIN)
    for k in range(40):
        pose(world, 1, rng.normal(size=3), random_quaternion(rng))
        up = rotation(world.solids[1].q)[:, 2]
        pose(world, 0, world.solids[1].p, random_quaternion(rng))
        depth = -gap_to_plane(*world.solids)
        height = [0.2, 0.0, -0.01, -0.5][k % 4]
        pose(world, 0, np.array(world.solids[1].p) + (depth + height) * up, world.solids[0].q)
        contacts = world.find()
        assert contacts["gap"].min() == pytest.approx(height, abs=1e-12)
        assert np.allclose(contacts["normal_W"], -up, atol=1e-12)


@pytest.mark.parametrize("pair", [*PAIRS, *((k, PLANE) for k in BOUNDED)], ids=names)
def test_order_of_shapes_only_flips_the_normal(pair):
    rng = np.random.default_rng(5)
    a, b = solid(pair[0], 1), solid(pair[1], 2)
    b.dynamic = pair[1] != PLANE
    one, two = World([a, b], margin=MARGIN), World([b, a], margin=MARGIN)
    size = solid(BOX) if pair[1] == PLANE else b
    for pa, qa, pb, qb in poses(rng, solid(pair[0], 1), size, 12):
        for world, i in ((one, 0), (two, 1)):
            world.state.p_WB[i], world.state.q_WB[i] = pa, qa
            world.state.p_WB[1 - i], world.state.q_WB[1 - i] = pb, qb
        first, second = one.find(), two.find()
        if len(first["gap"]) == 0:
            assert len(second["gap"]) == 0
            continue
        if np.allclose(pa, pb):
            # solids upon each other may be pushed apart either way
            continue
        deep = 1e-6 + 1e-4 * abs(first["gap"].min())
        assert first["gap"].min() == pytest.approx(second["gap"].min(), abs=deep)
        if pair[0] != pair[1] or pair[0] in (SPHERE, CAPSULE):
            assert np.allclose(first["normal_W"], -second["normal_W"], atol=1e-9)
            assert np.allclose(first["point_W"], second["point_W"], atol=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=names)
def test_points_lie_half_way_between_the_surfaces(pair):
    """Point + gap/2 n lies in B's support slab, point - gap/2 n in A's, for the deepest contact."""
    # lines within 0.03 rad count as parallel: a point on one is beside the other
    slack = 0.03 * 0.8 if all(k in (CAPSULE, CYLINDER, CONE) for k in pair) else 2e-4
    rng = np.random.default_rng(17)
    world = World([solid(pair[0], 1), solid(pair[1], 2)], margin=MARGIN)
    a, b = world.solids
    for pa, qa, pb, qb in poses(rng, a, b, 18):
        pose(world, 0, pa, qa)
        pose(world, 1, pb, qb)
        contacts = world.find()
        for k in range(len(contacts["gap"])):
            n, p, gap = (contacts[x][k] for x in ("normal_W", "point_W", "gap"))
            on_a, on_b = p - 0.5 * gap * n, p + 0.5 * gap * n
            assert overhang(a, on_a) <= slack
            assert overhang(b, on_b) <= slack
        if len(contacts["gap"]):
            k = contacts["gap"].argmin()
            n, p, gap = (contacts[x][k] for x in ("normal_W", "point_W", "gap"))
            top = reach(a, n[None])[0]
            assert n @ (p - 0.5 * gap * n) == pytest.approx(top, abs=1e-5)


def overhang(solid, p):
    """How far p is outside of the solid, seen along the best of many directions [m]."""
    return float((DIRECTIONS @ p - reach(solid, DIRECTIONS)).max())


@pytest.mark.parametrize("offset", [0.0, 0.03])
@pytest.mark.parametrize("length", [1.0, 17.0])
@pytest.mark.parametrize("kind", [BOX, CAPSULE, CYLINDER, CONE, ELLIPSOID, CONVEX])
def test_a_small_body_deep_in_a_barrel_leaves_by_the_shortest_way(kind, length, offset):
    """The barrel's surface is about equally near all around; right to 1e-6 of the small body."""
    rng = np.random.default_rng(4)
    for size in (0.01, 0.1):
        a, b = solid(kind), Solid(CYLINDER, (1.0, length, 0.0))
        a.size = tuple(size * np.array(SIZES[kind]) / 0.5)
        if kind == CONVEX:
            a.points = size * hull_points(1)
        a.q, b.q = random_quaternion(rng), random_quaternion(rng)
        a.p = tuple(offset * rng.normal(size=3))
        contacts = World([a, b], margin=0.0).find()
        gap, n = contacts["gap"].min(), contacts["normal_W"][0]
        assert gap == pytest.approx(separation_along(a, b, n), abs=1e-9)
        best, _ = gap_by_search(a, b, rng, starts=6, rounds=110, samples=80)
        assert gap >= best - 1e-6 * size
