"""Contacts as a whole: always numbers, the same in every frame, ordered, complete."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from cardan.engine import Simulation
from cardan.engine.collision.find_contacts import FEW_PAIRS, can_any_touch
from cardan.engine.world.model import BOX, CAPSULE, CONE, CONVEX, CYLINDER, ELLIPSOID, PLANE, SPHERE
from cardan.schemas import load_scene
from tests.engine.collision.reference import rotation, separation_along
from tests.engine.collision.worlds import Solid, World, about, floor, quaternion
from tests.engine.scenes import document

KINDS = [SPHERE, BOX, CAPSULE, CYLINDER, CONE, ELLIPSOID, CONVEX]
NICE = [
    (1.0, 0.0, 0.0, 0.0),
    about((1, 0, 0), np.pi / 2),
    about((0, 1, 0), np.pi / 2),
    about((0, 0, 1), np.pi / 4),
    about((1, 1, 1), 2 * np.pi / 3),
    about((1, 0, 0), 1e-9),
    about((0, 1, 0), np.pi / 2 + 1e-7),
]


def size_of(kind, rng, thin):
    a, b, c = 10 ** rng.uniform(-1, 0.3, size=3)
    if kind in (SPHERE, CONVEX):
        return (a, 0, 0) if kind == SPHERE else (0, 0, 0)
    if kind in (BOX, ELLIPSOID):
        return (a, b, c * thin)
    return (a * thin, b, 0) if rng.random() < 0.5 else (a, b * thin, 0)


def random_solid(rng, thin=1.0, nice=False):
    kind = KINDS[rng.integers(len(KINDS))]
    q = rng.normal(size=4)
    q = NICE[rng.integers(len(NICE))] if nice else tuple(q / np.linalg.norm(q))
    points = rng.normal(size=(rng.integers(4, 20), 3)) * [1, 1, max(thin, 1e-2)]
    return Solid(kind, size_of(kind, rng, thin), q=q, points=points if kind == CONVEX else None)


@settings(max_examples=150, deadline=None)
@example(seed=626079, thin=1.0, nice=True, distance=1e-12, far=0.0)
@example(seed=626079, thin=1.0, nice=True, distance=1e-6, far=0.0)
@given(
    seed=st.integers(0, 10**6),
    thin=st.sampled_from([1.0, 1.0, 1e-3, 1e-6]),
    nice=st.booleans(),
    distance=st.sampled_from([0.0, 1e-12, 1e-6, 0.01, 0.1, 0.5, 1.0, 2.0]),
    far=st.sampled_from([0.0, 0.0, 1000.0]),
)
def test_contacts_are_numbers_and_separate_what_they_say(seed, thin, nice, distance, far):
    """Any two solids, upon each other, touching, parallel or thin as a needle."""
    rng = np.random.default_rng(seed)
    a, b = random_solid(rng, thin, nice), random_solid(rng, thin, nice)
    direction = np.eye(3)[rng.integers(3)] if nice else rng.normal(size=3)
    a.p = tuple(np.full(3, far))
    b.p = tuple(np.full(3, far) + distance * direction / np.linalg.norm(direction))
    c = World([a, b], margin=0.02).find()
    for name, values in c.items():
        assert np.isfinite(values).all(), name
    if len(c["gap"]) == 0:
        return
    assert len(c["gap"]) <= 4
    assert np.allclose(np.linalg.norm(c["normal_W"], axis=1), 1, atol=1e-12)
    assert np.ptp(c["normal_W"], axis=0).max() == 0
    # the deepest contact is no deeper than what its normal really needs to separate the two
    deepest = c["gap"].min()
    slack = 1e-5 + 1e-9 * far
    assert deepest == pytest.approx(separation_along(a, b, c["normal_W"][0]), abs=slack)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_rigid_motion_of_the_world_moves_the_contacts(seed):
    rng = np.random.default_rng(seed)
    solids = []
    for _ in range(8):
        solid = random_solid(rng)
        solid.p = tuple(rng.uniform(-1, 1, size=3))
        solids.append(solid)
    solids.append(Solid(PLANE, dynamic=False))
    here = World(solids).find()
    turn = Rotation.from_quat(rng.normal(size=4))
    shift = 10 * rng.normal(size=3)
    moved = []
    for s in solids:
        q = quaternion(turn * Rotation.from_matrix(rotation(s.q)))
        moved.append(Solid(s.kind, s.size, tuple(turn.apply(s.p) + shift), q, points=s.points,
                           dynamic=s.dynamic))  # fmt: skip
    there = World(moved).find()
    assert deepest_of_pairs(there).keys() == deepest_of_pairs(here).keys()
    for pair, (gap, _) in deepest_of_pairs(here).items():
        other, m = deepest_of_pairs(there)[pair]
        assert other == pytest.approx(gap, abs=1e-6 + 1e-4 * abs(gap))
        # where two ways out are equally short either may be taken
        a, b = solids[pair[0]], solids[pair[1]]
        if b.kind != PLANE:
            back = turn.inv().apply(m)
            assert separation_along(a, b, back) == pytest.approx(gap, abs=1e-5 + 1e-4 * abs(gap))


def deepest_of_pairs(c):
    """(shape_a, shape_b) -> (least gap, normal); gaps near the margin may fall on either side."""
    found = {}
    for k in np.argsort(c["gap"]):
        pair = (int(c["shape_a"][k]), int(c["shape_b"][k]))
        if pair not in found and c["gap"][k] < 0.0099:
            found[pair] = (c["gap"][k], c["normal_W"][k])
    return found


def crowd(seed=0, n=60):
    rng = np.random.default_rng(seed)
    solids = [floor()]
    for _ in range(n):
        s = random_solid(rng)
        s.p = tuple(rng.uniform(-2.5, 2.5, size=3) + np.array([0, 0, 2]))
        s.v, s.w = tuple(rng.normal(size=3)), tuple(rng.normal(size=3))
        s.material = int(rng.integers(0, 3))
        solids.append(s)
    friction = np.array([[0.1, 0.2, 0.3], [0.2, 0.4, 0.5], [0.3, 0.5, 0.6]])
    return World(solids, friction=friction, restitution=friction / 2)


def test_contacts_ascend_by_pair_and_feature_and_carry_their_bodies_and_surfaces():
    world = crowd()
    c = world.find()
    shapes = world.model.shapes
    assert len(c["gap"]) > 100
    keys = list(zip(c["shape_a"], c["shape_b"], c["feature"], strict=True))
    assert keys == sorted(keys)
    assert np.all(c["shape_a"] < c["shape_b"])
    assert np.array_equal(c["body_a"], shapes.body[c["shape_a"]])
    assert np.array_equal(c["body_b"], shapes.body[c["shape_b"]])
    a, b = shapes.material[c["shape_a"]], shapes.material[c["shape_b"]]
    assert np.array_equal(c["friction"], world.model.materials.friction[a, b])
    assert np.array_equal(c["restitution"], world.model.materials.restitution[a, b])


def test_contacts_depend_on_model_and_poses_only():
    """Whatever the scratch holds and whatever was found before."""
    world = crowd()
    first = world.find()
    kept = world.state.p_WB.copy()
    world.state.p_WB[...] += np.random.default_rng(1).normal(size=kept.shape)
    world.find()
    world.state.p_WB[:] = kept
    for array in arrays_of(world.scratch):
        array[...] = np.nan if array.dtype.kind == "f" else 12345
    second = world.find()
    for name in first:
        assert np.array_equal(first[name], second[name]), name


def arrays_of(struct):
    for item in struct:
        if isinstance(item, np.ndarray):
            yield item
        else:
            yield from arrays_of(item)


def test_bodies_with_several_shapes_do_not_touch_themselves():
    two = [
        Solid(SPHERE, (0.5, 0, 0), (0, 0, 0.4)),
        Solid(SPHERE, (0.5, 0, 0), body=0, offset=(0.3, 0, 0)),
        floor(),
    ]
    c = World(two).find()
    assert sorted(zip(c["shape_a"], c["shape_b"], strict=True)) == [(0, 2), (1, 2)]
    assert np.allclose(c["point_W"][:, 0], [0, 0.3])
    assert np.array_equal(c["body_a"], [0, 0])


def test_shapes_are_posed_in_their_body():
    """A box turned in its body and carried by a turned body."""
    turned = about((0, 0, 1), np.pi / 2)
    solid = Solid(BOX, (0.5, 0.2, 0.1), (1, 2, 0.6), about((1, 0, 0), np.pi / 2),
                  offset=(0, 0.1, 0), turn=turned)  # fmt: skip
    c = World([floor(), solid], margin=0.2).find()
    # the body's y points up: half edge along W z is the shape's x = 0.5, its origin 0.1 higher
    assert np.allclose(c["gap"], 0.6 + 0.1 - 0.5)
    assert np.ptp(c["point_W"][:, 0]) == pytest.approx(0.4)
    assert np.ptp(c["point_W"][:, 1]) == pytest.approx(0.2)


@pytest.mark.parametrize("n", [3, FEW_PAIRS + 3])
@pytest.mark.parametrize(
    ("first", "others", "touch"),
    [
        ((2, 2), (2, 2), True),
        ((2, 4), (4, 2), True),
        ((2, 4), (2, 4), False),
        ((1, 0), (1, 0), False),
    ],
)
def test_whether_any_shapes_may_touch_is_known_by_their_groups(n, first, others, touch):
    """Group and mask of one body and of all others; the balls lie in one place."""
    bodies = []
    for k in range(n):
        group, mask = first if k == 0 else others
        ball = {"type": "sphere", "radius": 0.1, "collision_group": group, "collision_mask": mask}
        bodies.append({"name": f"b{k}", "mass": 1.0, "shapes": [ball]})
    one = Simulation(load_scene(document(bodies)))
    assert can_any_touch(one.model.shapes, one.model.bodies.kind, one.state.excluded) is touch
    one.advance(1)
    assert (one.work.contacts.count[0] > 0) == touch
