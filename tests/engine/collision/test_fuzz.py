"""The narrow phase on shapes and poses that nobody would choose: needles, slivers, same centres.

What must hold for any two convex solids: the normal found separates them by the gap found (no
direction can say more than the true gap, so the gap is not too large), no other direction
separates them by more (so it is not too small), swapping them turns the normal round, moving both
moves everything along.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from cardan.engine.collision.queries.between_steps import closest_shapes
from cardan.engine.world.model import BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, PLANE, SPHERE
from tests.engine.collision.reference import (
    gap_by_search,
    gap_to_plane,
    reach,
    separation_along,
)
from tests.engine.collision.worlds import Solid, World, quaternion
from tests.engine.scenes import Document, document, ground, simulate

# CARDAN_FUZZ=100 looks a hundred times as long
EFFORT = int(os.environ.get("CARDAN_FUZZ", "1"))
SHARE = 1e-6
BOUNDED = [SPHERE, BOX, CAPSULE, CYLINDER, CONE, ELLIPSOID, CONVEX]


def fuzz(examples: int):
    return settings(
        max_examples=examples * EFFORT, deadline=None, derandomize=EFFORT == 1,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


lengths = st.floats(-2, 1).map(lambda x: 10.0**x)
ratios = st.one_of(st.just(1.0), st.floats(-4, 0).map(lambda x: 10.0**x))
seeds = st.integers(0, 2**32 - 1)


@st.composite
def hulls(draw):
    """Hulls of few points: round, needles, slivers, doubled points, bricks cut askew."""
    rng = np.random.default_rng(draw(seeds))
    points = rng.normal(size=(draw(st.integers(4, 14)), 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    squeeze = np.array([1.0, draw(ratios.filter(lambda r: r > 2e-3)), draw(st.just(1.0) | ratios)])
    squeeze[2] = max(squeeze[2], 1e-3)
    points = points * squeeze
    if draw(st.booleans()):
        # nearly the same points once more
        points = np.concatenate([points, points[:4] * (1 + draw(st.sampled_from([0, 1e-9, 1e-6])))])
    try:
        hull = ConvexHull(points)
    except QhullError:
        assume(False)
    assume(hull.volume > 1e-9)
    return draw(lengths) * points


@st.composite
def solids(draw, kinds=BOUNDED):
    kind = draw(st.sampled_from(kinds))
    a = draw(lengths)
    size = (a, a * draw(ratios), a * draw(ratios))
    if kind in (CAPSULE, CYLINDER, CONE):
        size = (a, a * 10.0 ** draw(st.floats(-2, 2)), 0.0)
    if kind == ELLIPSOID:
        # rounder than a needle: the search over directions must find its way
        size = (a, a * max(size[1] / a, 0.02), a * max(size[2] / a, 0.02))
    points = draw(hulls()) if kind == CONVEX else None
    turn = draw(st.sampled_from(["none", "right", "any"]))
    q = (1.0, 0.0, 0.0, 0.0)
    if turn == "right":
        q = quaternion(Rotation.from_rotvec(np.eye(3)[draw(st.integers(0, 2))] * np.pi / 2))
    if turn == "any":
        q = quaternion(Rotation.random(random_state=np.random.default_rng(draw(seeds))))
    return Solid(kind, size, q=q, points=points)


directions = st.one_of(
    st.sampled_from([tuple(s * np.eye(3)[k]) for k in range(3) for s in (1.0, -1.0)]),
    seeds.map(lambda seed: tuple(np.random.default_rng(seed).normal(size=3))),
)
# of the way at which they just touch along a direction: the same place, deep, shallow, apart
shares = st.sampled_from([0.0, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-6, 1.0, 1 + 1e-6, 1.01, 1.5, 20.0])


@st.composite
def pairs(draw):
    a, b = draw(solids()), draw(solids())
    d = np.array(draw(directions))
    d /= np.linalg.norm(d)
    touching = float(reach(a, d[None])[0] + reach(b, -d[None])[0])
    b.p = tuple(draw(shares) * touching * d)
    return a, b


def extent(solid):
    """Radius of a sphere about its origin that holds it."""
    if solid.kind == PLANE:
        return 0.0
    d = np.concatenate([np.eye(3), -np.eye(3)])
    return float(reach(Solid(solid.kind, solid.size, points=solid.points), d).max())


def size_of(a, b):
    """What tolerances refer to: the smaller solid, but not below 1e-4 of the larger."""
    small, large = sorted([extent(a), extent(b)])
    return max(small, 1e-4 * large)


def nearest(a, b):
    """Gap, normal, points on both."""
    world = World([a, b], margin=0.0)
    who, where = np.zeros(2, np.int64), np.zeros((3, 3))
    told = (world.scratch, world.contacts, (0, 1), who, where)
    assert closest_shapes(world.model, world.state, *told)
    point_a, point_b, n = where
    return float((point_b - point_a) @ n), n, point_a, point_b


def rounding(a, b):
    """What the place of both in the world costs [m]."""
    far = max(np.abs(np.array(s.p)).max() + extent(s) for s in (a, b))
    return 1e-13 * far


@fuzz(120)
@given(pairs())
def test_the_normal_separates_by_the_gap_and_no_other_by_more(pair) -> None:
    a, b = pair
    gap, n, point_a, point_b = nearest(a, b)
    slack = SHARE * size_of(a, b) + rounding(a, b)
    assert np.isfinite([gap, *n, *point_a, *point_b]).all()
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    assert gap == pytest.approx(separation_along(a, b, n), abs=slack + 1e-9 * abs(gap))
    best, _ = gap_by_search(a, b, np.random.default_rng(0), starts=3, rounds=60, samples=40)
    # faces are preferred to edges by up to 1e-4 of the depth
    assert gap >= best - slack - 1.1e-4 * abs(best)
    # both points lie on the planes across the normal that touch the solids
    assert n @ point_a == pytest.approx(float(reach(a, n[None])[0]), abs=2 * slack)
    assert -n @ point_b == pytest.approx(float(reach(b, -n[None])[0]), abs=2 * slack)


@fuzz(60)
@given(pairs())
def test_swapping_the_shapes_turns_the_normal_round(pair) -> None:
    a, b = pair
    gap, n, _, _ = nearest(a, b)
    other, m, _, _ = nearest(b, a)
    slack = SHARE * size_of(a, b) + rounding(a, b)
    assert other == pytest.approx(gap, abs=2 * slack + 1.1e-4 * max(-gap, 0.0))
    if gap > 1e-3 * size_of(a, b):
        # apart there is one shortest way
        assert -m == pytest.approx(n, abs=2e-4)


@fuzz(60)
@given(pairs(), seeds)
def test_moving_both_moves_everything_along(pair, seed) -> None:
    a, b = pair
    rng = np.random.default_rng(seed)
    turn, shift = Rotation.random(random_state=rng), rng.normal(size=3)
    moved = [
        Solid(
            s.kind, s.size, p=tuple(turn.apply(s.p) + shift), points=s.points,
            q=quaternion(turn * Rotation.from_quat([*s.q[1:], s.q[0]])),
        )
        for s in (a, b)
    ]  # fmt: skip
    gap, n, _, _ = nearest(a, b)
    there, m, _, _ = nearest(*moved)
    slack = SHARE * size_of(a, b) + rounding(*moved)
    assert there == pytest.approx(gap, abs=2 * slack + 1.1e-4 * max(-gap, 0.0))
    if gap > 1e-3 * size_of(a, b):
        assert m == pytest.approx(turn.apply(n), abs=2e-4)


@fuzz(40)
@given(pairs(), st.floats(0.0, 0.5))
def test_contacts_are_finite_and_none_is_deeper_than_the_pair(pair, margin) -> None:
    a, b = pair
    margin *= size_of(a, b)
    world = World([a, b], margin=margin)
    contacts = world.find()
    gap, _, _, _ = nearest(a, b)
    slack = SHARE * size_of(a, b) + rounding(a, b)
    for name in ("gap", "normal_W", "point_W"):
        assert np.isfinite(contacts[name]).all()
    n = len(contacts["gap"])
    assert n <= 4
    if gap < margin - slack:
        assert n > 0
    if gap > margin + slack:
        assert n == 0
    if n:
        least = contacts["gap"].min()
        assert least >= gap - 2 * slack - 1.1e-4 * abs(gap)
        assert least <= max(gap, -gap * 1e-3) + 2 * slack + 1.1e-4 * abs(gap)


@fuzz(40)
@given(solids(), seeds, st.sampled_from([-1.0, -0.1, 0.0, 1e-6, 0.3]))
def test_a_plane_sees_the_lowest_point(a, seed, share) -> None:
    rng = np.random.default_rng(seed)
    plane = Solid(PLANE, q=quaternion(Rotation.random(random_state=rng)), dynamic=False)
    a.p = tuple(rng.normal(size=3) + share)
    gap, n, _, _ = nearest(a, plane)
    assert gap == pytest.approx(gap_to_plane(a, plane), abs=1e-9 * extent(a) + rounding(a, plane))
    assert np.isfinite(n).all()


# -------------------------------------------------------------------- in motion


def body(name: str, shape: Document, p, mass: float = 1.0, **more: object):
    return {"name": name, "mass": mass, "position": list(p), "shapes": [shape], **more}


SHAPES = [
    {"type": "sphere", "radius": 0.1},
    {"type": "box", "size": [0.2, 0.1, 0.3]},
    {"type": "capsule", "radius": 0.05, "length": 0.2},
    {"type": "cylinder", "radius": 0.1, "length": 0.1},
    {"type": "cone", "radius": 0.1, "length": 0.2},
    {"type": "ellipsoid", "radii": [0.1, 0.15, 0.05]},
    {"type": "convex", "points": [[0.1, 0, 0], [-0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]},
    {"type": "box", "size": [1e-4, 1.0, 1e-4]},
]


@fuzz(12)
@given(st.lists(st.integers(0, len(SHAPES) - 1), min_size=2, max_size=5), seeds)
def test_what_begins_inside_each_other_is_pushed_apart_gently(chosen, seed) -> None:
    """All centres in a fist's room: the push-out is bounded by erp, and then they are apart."""
    rng = np.random.default_rng(seed)
    bodies = [body(f"b{i}", SHAPES[k], 0.02 * rng.normal(size=3)) for i, k in enumerate(chosen)]
    contact = {"max_correction_speed": 1.0}
    sim = simulate(document(bodies, gravity=[0, 0, 0], simulation={"dt": 2e-3}, contact=contact))
    sim.advance(400)
    assert sim.failure is None
    # nobody is thrown faster than the correction may push
    kinetic = sim.energy()["kinetic"]
    assert kinetic <= 0.5 * len(bodies) * (2.0 * len(bodies)) ** 2
    assert np.abs(sim.momentum()).max() < 1e-9
    depth = -min(
        (sim.closest_points(p["name"], q["name"])["distance"]
         for i, p in enumerate(bodies) for q in bodies[:i]),
        default=0.0,
    )  # fmt: skip
    assert depth < 5e-3


@pytest.mark.parametrize("place", [[0, 0, 0], [0, 0, 1e-9]])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape["type"])
def test_twins_in_the_same_place_come_apart(shape, place) -> None:
    bodies = [body("a", shape, [0, 0, 0]), body("b", shape, place)]
    contact = {"max_correction_speed": 1.0}
    sim = simulate(document(bodies, gravity=[0, 0, 0], simulation={"dt": 2e-3}, contact=contact))
    sim.advance(500)
    assert sim.closest_points("a", "b")["distance"] > -2e-3
    # they part with 1 m/s, each takes half of it
    assert sim.energy()["kinetic"] <= 0.25 * (1 + 1e-6)
    assert np.abs(sim.momentum()).max() < 1e-9


@pytest.mark.parametrize("ratio", [1e-6, 1e6])
def test_a_stack_of_very_different_masses_stands(ratio: float) -> None:
    shape = {"type": "box", "size": [0.2, 0.2, 0.2]}
    bodies = [
        ground(),
        body("low", shape, [0, 0, 0.1], 1.0),
        body("high", shape, [0, 0, 0.3], ratio),
    ]
    sim = simulate(document(bodies, simulation={"dt": 2e-3}))
    sim.advance(1000)
    assert sim.poses()[:, 2] == pytest.approx([0, 0.1, 0.3], abs=1e-4)
    assert np.abs(sim.velocities()).max() < 1e-6


def test_a_needle_lies_on_the_floor() -> None:
    """1 : 10 000; it falls flat and stays."""
    needle = body(
        "needle", {"type": "box", "size": [1.0, 1e-4, 1e-4]}, [0, 0, 0.02],
        orientation=[0.9998, 0, 0.0199987, 0],
    )  # fmt: skip
    sim = simulate(document([ground(), needle], simulation={"dt": 1e-3}))
    sim.advance(1500)
    assert sim.failure is None
    assert sim.poses()[1, 2] == pytest.approx(5e-5, abs=2e-5)
    assert np.abs(sim.velocities()[1, :3]).max() < 1e-3
