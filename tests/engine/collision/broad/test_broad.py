"""The tree finds what the loop over all pairs finds, whatever it has gone through."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardan.engine.collision.broad.aabb_tree import find_pairs_tree
from cardan.engine.collision.broad.all_pairs import find_pairs_all
from cardan.engine.collision.find_contacts import pose_all
from cardan.engine.world.model import BOX, SPHERE
from cardan.engine.world.report import CONTACTS_FULL, PAIRS_FULL
from tests.engine.collision.worlds import Solid, World, floor


def pairs_of(world, method):
    sweep, model = world.scratch.sweep, world.model
    sweep.pair_count[:] = 0
    pose_all(model.shapes, world.state, world.scratch, 0.5 * world.margin, world.h)
    if method is find_pairs_tree:
        method(model.shapes, model.bodies, world.state.excluded, sweep, world.scratch.tree)
    else:
        method(model.shapes, model.bodies.kind, world.state.excluded, sweep)
    n = sweep.pair_count[0]
    return np.stack([sweep.pair_a[:n], sweep.pair_b[:n]], axis=1)


def random_world(seed, n, flat, largest, order_of_magnitude):
    rng = np.random.default_rng(seed)
    solids = [floor()] if seed % 2 else []
    for k in range(n):
        size = 10 ** rng.uniform(-1, largest, size=3)
        p = rng.uniform(-1, 1, size=3) * flat * order_of_magnitude
        solids.append(
            Solid(
                BOX if k % 2 else SPHERE,
                tuple(size),
                tuple(p),
                dynamic=bool(rng.random() < 0.8),
                group=int(rng.integers(1, 4)),
                mask=int(rng.integers(0, 4)),
                v=tuple(rng.normal(size=3)),
                body=int(rng.integers(0, k + 1)) if rng.random() < 0.1 else None,
            )
        )
    bodies = len(solids)
    excluded = {
        int(min(a, b) * bodies + max(a, b)) for a, b in rng.integers(0, bodies, size=(n, 2))
    }
    return World(solids, excluded=list(excluded), max_pairs=20000)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(0, 120),
    flat=st.sampled_from([(1, 1, 1), (1, 1, 0.01), (1, 0.01, 0.01), (0, 0, 0), (0.01, 1, 1)]),
    largest=st.sampled_from([-0.9, 0.0, 1.0]),
    order_of_magnitude=st.sampled_from([0.5, 5.0, 500.0]),
)
def test_the_tree_finds_what_all_pairs_find(seed, n, flat, largest, order_of_magnitude):
    world = random_world(seed, n, np.array(flat), largest, order_of_magnitude)
    expected = pairs_of(world, find_pairs_all)
    found = pairs_of(world, find_pairs_tree)
    assert np.array_equal(found, expected)
    assert np.all(expected[:, 0] < expected[:, 1])
    order = expected[:, 0] * 1000 + expected[:, 1]
    assert np.all(np.diff(order) > 0)


def test_bounds_are_those_of_the_definition():
    """All pairs against a plain loop in Python."""
    world = random_world(4, 100, np.ones(3), 0.3, 4.0)
    found = {tuple(p) for p in pairs_of(world, find_pairs_all)}
    sweep, shapes = world.scratch.sweep, world.model.shapes
    kind = world.model.bodies.kind
    excluded, n = set(world.excluded), len(kind) - 1
    expected = set()
    for i in range(len(shapes.kind)):
        for j in range(i + 1, len(shapes.kind)):
            a, b = sorted((shapes.body[i], shapes.body[j]))
            if np.any(sweep.lower[i] > sweep.upper[j]) or np.any(sweep.lower[j] > sweep.upper[i]):
                continue
            apart = np.linalg.norm(sweep.ball[i, :3] - sweep.ball[j, :3])
            if apart > sweep.ball[i, 3] + sweep.ball[j, 3]:
                continue
            if a == b or (kind[a] != 2 and kind[b] != 2) or int(a * n + b) in excluded:
                continue
            if shapes.group[i] & shapes.mask[j] and shapes.group[j] & shapes.mask[i]:
                expected.add((i, j))
    assert found == expected
    assert len(found) > 10


def contacts_without(world, left_out):
    """Pair and gap of every contact that touches none of these bodies."""
    found = world.find()
    rows = zip(found["body_a"], found["body_b"], found["gap"], strict=True)
    return sorted((int(a), int(b), float(gap)) for a, b, gap in rows if not {a, b} & left_out)


def test_positions_that_are_not_numbers_do_no_harm():
    """Contacts of all other bodies are true ones; a tree with such a body may miss some.

    A step stops before it looks for contacts of a body that is nowhere.
    """
    broken = {5, 9, 12, 14}
    sound = contacts_without(random_world(3, 60, np.ones(3), 0.0, 5.0), broken)
    world = random_world(3, 60, np.ones(3), 0.0, 5.0)
    world.state.p_WB[5] = np.nan
    world.state.p_WB[9] = np.inf
    world.state.q_WB[12] = np.nan
    world.state.v_WB_W[14] = 1e300
    found = contacts_without(world, broken)
    assert len(found) > 10
    assert set(found) <= set(sound)


def test_what_does_not_fit_is_counted_and_reported():
    solids = [floor()] + [Solid(SPHERE, (0.5, 0, 0), (x, 0, 0.5)) for x in range(10)]
    full = World(solids)
    count = len(full.find()["gap"])
    assert count == 19
    assert full.report.status[0] == 0
    few = World(solids, max_contacts=8)
    few.find()
    assert few.contacts.count[0] == 8
    assert few.contacts.dropped[0] == count - 8
    assert few.report.status[0] & CONTACTS_FULL
    narrow = World(solids, max_pairs=5, max_contacts=8)
    narrow.find()
    assert narrow.report.status[0] & PAIRS_FULL
    assert narrow.scratch.sweep.pair_count[1] > narrow.scratch.sweep.pair_count[0] == 5


@pytest.mark.parametrize("gap", [0.005, 0.5, 1.9])
def test_fast_bodies_meet_before_they_arrive(gap):
    """A gap that closes within the step is a contact; one that opens is not."""
    h = 0.01
    for speed, expected in ((-200.0, 1), (200.0, 1 if gap < 0.01 else 0)):
        ball = Solid(SPHERE, (0.5, 0, 0), (0, 0, 0.5 + gap), v=(0, 0, speed))
        assert len(World([floor(), ball], h=h).find()["gap"]) == expected
        wall = Solid(BOX, (5, 5, 0.1), (0, 0, -0.1), dynamic=False)
        assert len(World([wall, ball], h=h).find()["gap"]) == expected


def test_a_turning_rod_meets_what_its_end_will_reach():
    rod = Solid(BOX, (1.0, 0.02, 0.02), (0, 0, 0.5), w=(0, 30.0, 0))
    ball = Solid(SPHERE, (0.1, 0, 0), (0.95, 0, 0.30))
    c = World([rod, ball], h=0.01, margin=0.001).find()
    assert len(c["gap"]) >= 1
    assert c["gap"].min() == pytest.approx(0.08, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 150),
    flat=st.sampled_from([(1, 1, 1), (1, 1, 0.01), (1, 0.01, 0.01)]),
    pace=st.sampled_from([1e-3, 0.1, 3.0]),
)
def test_the_tree_of_the_last_steps_finds_what_all_pairs_find(seed, n, flat, pace):
    """Whoever moves, however far; a tree of another time or garbage makes no difference."""
    world = random_world(seed, n, np.array(flat), 0.0, 5.0)
    rng = np.random.default_rng(seed)
    tree = world.scratch.tree
    count = len(world.solids)
    for step in range(25):
        moving = rng.random(n) < rng.choice([0.0, 0.1, 0.9])
        world.state.p_WB[count - n : count][moving] += pace * rng.normal(size=(moving.sum(), 3))
        world.state.v_WB_W[rng.integers(count)] = 10.0 ** rng.uniform(-2, 3) * rng.normal(size=3)
        if step % 8 == 5:
            for array in tree:
                array[...] = np.nan if array.dtype.kind == "f" else rng.integers(-9, 9, array.shape)
        if step % 8 == 2:
            kept = [array.copy() for array in tree]
        if step % 8 == 7:
            for array, old in zip(tree, kept, strict=True):
                array[...] = old
        found = pairs_of(world, find_pairs_tree)
        assert np.array_equal(found, pairs_of(world, find_pairs_all))


def test_a_cache_of_pairs_without_room_asks_for_more():
    solids = [Solid(SPHERE, (0.5, 0, 0), (0.01 * x, 0, 0.5)) for x in range(40)]
    world = World(solids, max_pairs=100, max_contacts=16)
    for _ in range(2):
        world.find()
        assert world.report.status[0] & PAIRS_FULL
