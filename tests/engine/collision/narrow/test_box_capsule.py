"""The point of a capsule's core that is nearest to a box, and what both find together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardan.engine.collision.find_contacts import pose_all
from cardan.engine.collision.narrow.box_capsule import nearest_on_core
from cardan.engine.collision.narrow.convex import convex_convex
from cardan.engine.collision.narrow.dispatch import nearest
from cardan.engine.collision.narrow.posed_pair import write_pair
from cardan.engine.spatial.vec3 import load3_from
from cardan.engine.world.collision import POSITION, Pair
from cardan.engine.world.model import BOX, CAPSULE
from tests.engine.collision.worlds import Solid, World


def distance(h, x):
    return np.linalg.norm(np.maximum(np.abs(x) - h, 0.0), axis=-1)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6), flat=st.sampled_from([0.0, 1e-9, 1.0]))
def test_no_point_of_the_core_is_nearer(seed, flat):
    rng = np.random.default_rng(seed)
    h, c = rng.uniform(0.1, 2.0, 3), rng.uniform(-3.0, 3.0, 3)
    u = rng.normal(size=3) * np.array([1.0, flat, flat])
    u /= np.linalg.norm(u)
    half = rng.uniform(0.0, 3.0)
    s = nearest_on_core(tuple(h), tuple(c), tuple(u), half)
    others = distance(h, c + np.linspace(-half, half, 2001)[:, None] * u)
    assert abs(s) <= half
    assert distance(h, c + s * u) <= others.min() + 1e-12


@pytest.mark.parametrize(("x", "expected"), [(0.0, 0.0), (0.9, -0.2), (-0.9, 0.2), (5.0, -0.5)])
def test_of_equally_near_points_the_middle(x, expected):
    """Along a face of half width 1: the middle of what is above the face, or the nearer end."""
    s = nearest_on_core((1.0, 1.0, 1.0), (x, 0.0, 1.5), (1.0, 0.0, 0.0), 0.5)
    assert s == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_the_general_way_finds_the_same(seed):
    """Gap, normal and point as by support functions, apart and one in the other."""
    rng = np.random.default_rng(seed)
    turns = rng.normal(size=(2, 4))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    solids = [
        Solid(BOX, tuple(rng.uniform(0.1, 1.0, 3)), q=tuple(turns[0])),
        Solid(CAPSULE, (rng.uniform(0.1, 0.5), rng.uniform(0.1, 1.0), 0.0), q=tuple(turns[1])),
    ]
    world = World(solids)
    scratch = world.scratch
    for _ in range(20):
        world.state.p_WB[1] = rng.uniform(-2.0, 2.0, 3)
        pose_all(world.model.shapes, world.state, scratch, 0.0, 0.0)
        write_pair(scratch, 0, 1, 0, load3_from(scratch.solids, 0, POSITION))
        pair = Pair(scratch.pair, scratch.points, scratch.cosine)
        found = nearest(pair, world.faces(), 1e300, scratch)
        expected = convex_convex(pair, 1e300, scratch.simplex, scratch.polytope)
        assert found[0] == pytest.approx(expected[0], abs=1e-10)
        assert np.allclose(found[1], expected[1], atol=1e-6)
        assert np.allclose(found[2], expected[2], atol=1e-6)
