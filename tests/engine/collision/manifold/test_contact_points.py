"""Contacts of bodies at rest: where they are, how many, and that they are known again."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.world.model import BOX, CAPSULE, CONE, CONVEX, CYLINDER, SPHERE
from tests.engine.collision.worlds import Solid, World, about, floor

CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def slab(size=(2.0, 2.0, 0.5)):
    """A fixed box with its top at z = 0."""
    return Solid(BOX, size, (0, 0, -size[2]), dynamic=False)


def block():
    """The slab as a hull."""
    return Solid(CONVEX, points=CUBE * [2.0, 2.0, 0.5], p=(0, 0, -0.5), dynamic=False)


GROUNDS = {"plane": floor, "box": slab, "hull": block}


@pytest.fixture(params=GROUNDS, ids=list(GROUNDS))
def ground(request):
    return GROUNDS[request.param]()


def points(contacts):
    """Contact points, sorted, rounded."""
    return sorted(tuple(p) for p in np.round(contacts["point_W"], 6) + 0.0)


@pytest.mark.parametrize("depth", [0.0, 1e-9, 1e-3, -5e-3])
@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4])
def test_a_resting_box_touches_with_its_four_corners(ground, depth, angle):
    q = about((0, 0, 1), angle)
    box = Solid(BOX, (0.5, 0.3, 0.2), (0.1, -0.2, 0.2 - depth), q)
    c = World([ground, box]).find()
    assert len(c["gap"]) == 4
    assert np.allclose(c["gap"], -depth, atol=1e-12)
    assert np.allclose(c["normal_W"], [0, 0, 1], atol=1e-12)
    assert len(set(c["feature"])) == 4
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = [turn @ [x, y] + [0.1, -0.2] for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    expected = sorted((*np.round(xy, 6), np.round(-depth / 2, 6) + 0.0) for xy in corners)
    assert np.allclose(points(c), expected, atol=2e-6)


@pytest.mark.parametrize("shift", [(0, 0), (1e-7, 0), (0.3, 0.2), (-0.9, 0)])
def test_boxes_stacked_touch_over_their_overlap(shift):
    lower = Solid(BOX, (0.5, 0.5, 0.5), (0, 0, 0.5), dynamic=False)
    upper = Solid(BOX, (0.5, 0.5, 0.5), (*shift, 1.499))
    c = World([lower, upper]).find()
    assert len(c["gap"]) == 4
    assert np.allclose(c["gap"], -1e-3, atol=1e-9)
    x = sorted(set(np.round(c["point_W"][:, 0], 3)))
    assert x == pytest.approx([max(-0.5, shift[0] - 0.5), min(0.5, shift[0] + 0.5)], abs=1e-3)


def test_a_standing_cylinder_touches_on_its_rim(ground):
    cylinder = Solid(CYLINDER, (0.3, 0.4, 0), (0, 0, 0.399))
    c = World([ground, cylinder]).find()
    assert len(c["gap"]) == 4
    assert np.allclose(c["gap"], -1e-3)
    xy = c["point_W"][:, :2]
    assert np.allclose(np.linalg.norm(xy, axis=1), 0.3, atol=1e-9)
    # the centre lies well inside of the four
    assert np.allclose(xy.mean(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("turn", np.linspace(0, 6, 13))
def test_a_rolling_cylinder_touches_exactly_under_its_axis(ground, turn):
    lying = about((1, 0, 0), np.pi / 2)
    spin = about((0, 1, 0), turn)
    w, v = spin[0], np.array(spin[1:])
    w2, v2 = lying[0], np.array(lying[1:])
    q = (w * w2 - v @ v2, *(w * v2 + w2 * v + np.cross(v, v2)))
    cylinder = Solid(CYLINDER, (0.3, 0.4, 0), (0.7, 0.1, 0.299), q)
    c = World([ground, cylinder]).find()
    assert len(c["gap"]) == 2
    assert np.allclose(c["gap"], -1e-3, atol=1e-12)
    assert np.allclose(c["point_W"][:, 0], 0.7, atol=1e-9)
    assert sorted(c["point_W"][:, 1]) == pytest.approx([-0.3, 0.5], abs=1e-9)


@pytest.mark.parametrize("kind", [CYLINDER, CAPSULE])
def test_tilted_round_bodies_touch_with_the_lower_end_first(ground, kind):
    tilt = 0.05
    q = about((1, 0, 0), np.pi / 2 + tilt)
    body = Solid(kind, (0.3, 0.4, 0), (0, 0, 0.3 + 0.4 * np.sin(tilt)), q)
    c = World([ground, body], margin=0.05).find()
    gaps = np.sort(c["gap"])
    lowest = 0.0 if kind == CAPSULE else 0.3 - 0.3 * np.cos(tilt)
    expected = 0.3 + 0.4 * np.sin(tilt) - 0.4 * np.sin(tilt) - 0.3 * np.cos(tilt)
    assert gaps[0] == pytest.approx(expected if kind == CYLINDER else lowest, abs=1e-9)
    assert gaps[1] - gaps[0] == pytest.approx(0.8 * np.sin(tilt), abs=1e-9)


def test_a_coin_on_its_rim_touches_at_the_lowest_point_of_the_rim():
    tilt = 0.5
    q = about((1, 0.3, 0), tilt)
    height = 0.5 * np.sin(tilt) + 0.05 * np.cos(tilt)
    coin = Solid(CYLINDER, (0.5, 0.05, 0), (0, 0, height - 1e-4), q)
    for ground in (floor(), slab(), block()):
        c = World([ground, coin], margin=1e-3).find()
        assert c["gap"].min() == pytest.approx(-1e-4, abs=1e-7)


def test_a_hull_rests_on_four_corners(ground):
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    prism = np.concatenate([np.c_[0.4 * ring, np.full(12, z)] for z in (-0.3, 0.3)])
    c = World([ground, Solid(CONVEX, points=prism, p=(0, 0, 0.2995))]).find()
    assert len(c["gap"]) == 4
    assert np.allclose(c["gap"], -5e-4, atol=1e-9)
    x, y = c["point_W"][:, 0], c["point_W"][:, 1]
    order = np.argsort(np.arctan2(y, x))
    x, y = x[order], y[order]
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    assert area > 0.85 * 2 * 0.4**2


def test_a_cone_stands_on_its_base_and_lies_on_its_side(ground):
    c = World([ground, Solid(CONE, (0.3, 0.4, 0), (0, 0, 0.3999))]).find()
    assert len(c["gap"]) == 4
    assert np.allclose(c["gap"], -1e-4)
    slope = np.arctan2(0.3, 0.8)
    q = about((0, 1, 0), np.pi / 2 + slope)
    distance = 0.4 * np.sin(slope)
    c = World([ground, Solid(CONE, (0.3, 0.4, 0), (0, 0, distance - 1e-4), q)]).find()
    assert len(c["gap"]) == 2
    assert np.allclose(c["gap"], -1e-4, atol=1e-9)


@pytest.mark.parametrize(
    "other",
    [
        Solid(CAPSULE, (0.2, 0.5, 0)),
        Solid(CYLINDER, (0.2, 0.5, 0)),
    ],
)
def test_parallel_round_bodies_touch_at_both_ends_of_their_overlap(other):
    lying = about((0, 1, 0), np.pi / 2)
    lower = Solid(CAPSULE, (0.2, 0.4, 0), (0, 0, 0), lying, dynamic=False)
    other.p, other.q = (0.3, 0, 0.399), lying
    c = World([lower, other]).find()
    assert len(c["gap"]) == 2
    assert np.allclose(c["gap"], -1e-3, atol=1e-9)
    assert sorted(c["point_W"][:, 0]) == pytest.approx([-0.2, 0.4], abs=1e-4)


def scenes_at_rest():
    lying = about((1, 0, 0), np.pi / 2)
    hull = CUBE * [0.4, 0.3, 0.2]
    yield "box on plane", [floor(), Solid(BOX, (0.5, 0.3, 0.2), (0, 0, 0.2))]
    yield "box on box", [slab(), Solid(BOX, (0.5, 0.3, 0.2), (0, 0, 0.2))]
    equal = Solid(BOX, (0.5, 0.5, 0.5), (0, 0, -0.5), dynamic=False)
    yield "equal boxes", [equal, Solid(BOX, (0.5, 0.5, 0.5), (0, 0, 0.5))]
    yield "cylinder on plane", [floor(), Solid(CYLINDER, (0.3, 0.4, 0), (0, 0, 0.4))]
    yield "cylinder on box", [slab(), Solid(CYLINDER, (0.3, 0.4, 0), (0, 0, 0.4))]
    yield "lying cylinder", [slab(), Solid(CYLINDER, (0.3, 0.4, 0), (0, 0, 0.3), lying)]
    yield "capsule on hull", [block(), Solid(CAPSULE, (0.3, 0.4, 0), (0, 0, 0.3), lying)]
    yield "hull on hull", [block(), Solid(CONVEX, points=hull, p=(0, 0, 0.2))]
    yield "sphere on box", [slab(), Solid(SPHERE, (0.3, 0, 0), (0, 0, 0.3))]


@pytest.mark.parametrize("scene", list(scenes_at_rest()), ids=lambda s: s[0])
def test_contacts_are_known_again_while_a_resting_body_shivers(scene):
    """Impulses given to the contacts come back in the next step, for the same points."""
    rng = np.random.default_rng(3)
    world = World(scene[1])
    p0, q0 = world.state.p_WB[1].copy(), world.state.q_WB[1].copy()
    before = world.find()
    for _ in range(30):
        world.store(np.arange(1.0, 1 + 3 * len(before["gap"])).reshape(-1, 3))
        world.state.p_WB[1] = p0 + 1e-7 * rng.normal(size=3)
        q = q0 + 1e-7 * rng.normal(size=4)
        world.state.q_WB[1] = q / np.linalg.norm(q)
        after = world.find()
        assert np.array_equal(after["feature"], before["feature"])
        assert np.array_equal(
            after["impulse_W"], np.arange(1.0, 1 + after["impulse_W"].size).reshape(-1, 3)
        )
        assert np.allclose(after["point_W"], before["point_W"], atol=1e-5)
        before = after


def test_a_rolling_cylinder_keeps_its_contacts():
    world = World([slab(), Solid(CYLINDER, (0.3, 0.4, 0), (0, 0, 0.3))])
    features = set()
    for k in range(50):
        roll = about((0, 1, 0), 0.05 * k)
        w, v = roll[0], np.array(roll[1:])
        lying = about((1, 0, 0), np.pi / 2)
        w2, v2 = lying[0], np.array(lying[1:])
        world.state.q_WB[1] = (w * w2 - v @ v2, *(w * v2 + w2 * v + np.cross(v, v2)))
        world.state.p_WB[1, 0] = 0.3 * 0.05 * k
        features.add(tuple(world.find()["feature"]))
    assert len(features) == 1


def test_a_contact_that_has_gone_leaves_no_impulse():
    world = World([floor(), Solid(BOX, (0.5, 0.3, 0.2), (0, 0, 0.2))])
    count = len(world.find()["gap"])
    world.store(np.ones((count, 3)))
    world.state.p_WB[1, 2] = 5.0
    assert len(world.find()["gap"]) == 0
    world.store()
    world.state.p_WB[1, 2] = 0.2
    assert not world.find()["impulse_W"].any()
