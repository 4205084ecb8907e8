"""Rays and nearest points against membership, sampling and linear programs; random poses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from cardan.engine import Simulation
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document, ground, simulate

HULL = [[0.5, 0, 0], [-0.4, 0.1, 0], [0, 0.45, 0.1], [0.1, -0.5, 0], [0, 0.1, 0.6], [0.1, 0, -0.5]]
# outward normal and minus the offset of each face
PLANES = ConvexHull(np.array(HULL)).equations
SHAPES: dict[str, Document] = {
    "sphere": {"type": "sphere", "radius": 0.4},
    "box": {"type": "box", "size": [1.0, 0.6, 0.4]},
    "capsule": {"type": "capsule", "radius": 0.2, "length": 0.8},
    "cylinder": {"type": "cylinder", "radius": 0.3, "length": 0.8},
    "cone": {"type": "cone", "radius": 0.4, "length": 0.7},
    "ellipsoid": {"type": "ellipsoid", "radii": [0.5, 0.3, 0.2]},
    "convex": {"type": "convex", "points": HULL},
}
CENTRE = np.array([0.3, -0.2, 0.7])
unit = st.floats(-1, 1, allow_nan=False)


def inside(kind: str, x: np.ndarray) -> np.ndarray:
    """How far rows x (own axes) are outside: at most 0 inside; not a distance."""
    rho = np.hypot(x[:, 0], x[:, 1])
    z = x[:, 2]
    if kind == "sphere":
        return np.linalg.norm(x, axis=1) - 0.4
    if kind == "box":
        return (np.abs(x) - [0.5, 0.3, 0.2]).max(axis=1)
    if kind == "capsule":
        return np.hypot(rho, np.maximum(np.abs(z) - 0.4, 0)) - 0.2
    if kind == "cylinder":
        return np.maximum(rho - 0.3, np.abs(z) - 0.4)
    if kind == "cone":
        return np.maximum(rho - 0.4 * (0.35 - z) / 0.7, np.abs(z) - 0.35)
    if kind == "ellipsoid":
        return np.linalg.norm(x / [0.5, 0.3, 0.2], axis=1) - 1.0
    return (x @ PLANES[:, :3].T + PLANES[:, 3]).max(axis=1)


def single(kind: str, q: list[float], name: str = "thing") -> dict[str, object]:
    shape = SHAPES[kind]
    body = {
        "name": name, "type": "static", "position": [0.0, 0.0, 0.0],
        "shapes": [{**shape, "position": list(CENTRE), "orientation": q}],
    }  # fmt: skip
    return document([body])


def first_crossing(kind: str, R: np.ndarray, o: np.ndarray, d: np.ndarray) -> float | None:
    """Distance along the ray to the solid by sampling and bisection; None: no sample is inside."""
    t = np.linspace(0.0, 8.0, 80_001)
    t = t[np.abs(t - (CENTRE - o) @ d) < 1.0]  # every solid is within 1 m
    out = inside(kind, ((o + t[:, None] * d) - CENTRE) @ R)
    hit = np.flatnonzero(out <= 0.0)
    if len(hit) == 0:
        return None
    if hit[0] == 0:
        return 0.0
    low, high = t[hit[0] - 1], t[hit[0]]
    for _ in range(60):
        middle = 0.5 * (low + high)
        if inside(kind, ((o + middle * d) - CENTRE)[None] @ R)[0] <= 0.0:
            high = middle
        else:
            low = middle
    return high


@pytest.mark.parametrize("kind", SHAPES)
def test_a_ray_meets_a_solid_where_it_first_is_inside(kind: str) -> None:
    rng = np.random.default_rng(list(SHAPES).index(kind))
    hits = 0
    for _ in range(40):
        R = Rotation.random(random_state=rng)
        x, y, z, w = R.as_quat()
        sim = simulate(single(kind, [w, x, y, z]))
        o = CENTRE + rng.normal(size=3)
        aim = CENTRE + 0.25 * rng.normal(size=3)
        d = (aim - o) / np.linalg.norm(aim - o)
        expected = first_crossing(kind, R.as_matrix(), o, d)
        found = sim.raycast(o, 3.7 * d)
        if expected is None:
            # a chord shorter than the sampling may have been overlooked
            assert len(found) == 0 or len(sim.raycast(o + 1e-3, d)) <= 1
            continue
        hits += 1
        assert len(found) == 1
        assert found["distance"][0] == pytest.approx(expected, abs=1e-9)
        point = np.array([found[k][0] for k in ("px", "py", "pz")])
        normal = np.array([found[k][0] for k in ("nx", "ny", "nz")])
        assert point == pytest.approx(o + expected * d, abs=1e-9)
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        if expected == 0.0:
            assert normal == pytest.approx(-d)
        else:
            assert normal @ d <= 1e-9
            # outwards: a little along the normal is outside, against it inside
            around = ((point + np.outer([1e-6, -1e-6], normal)) - CENTRE) @ R.as_matrix()
            out = inside(kind, around)
            assert out[0] > 0.0 > out[1]
    assert hits > 15


@pytest.mark.parametrize("kind", SHAPES)
def test_from_far_away_the_digits_are_kept(kind: str) -> None:
    sim = simulate(single(kind, [1, 0, 0, 0]))
    for d in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1], [0.6, 0.48, 0.64]):
        near = sim.raycast(CENTRE - 2 * np.array(d), d)
        far = sim.raycast(CENTRE - 1e6 * np.array(d), d)
        assert far["distance"][0] - 1e6 == pytest.approx(near["distance"][0] - 2, abs=1e-8)


@pytest.mark.parametrize("kind", SHAPES)
def test_rays_that_miss_pass_or_end_before(kind: str) -> None:
    sim = simulate(single(kind, [1, 0, 0, 0]))
    o = CENTRE + np.array([5.0, 0, 0])
    assert len(sim.raycast(o, [1, 0, 0])) == 0
    assert len(sim.raycast(o + np.array([0, 0, 3]), [-1, 0, 0])) == 0
    distance = sim.raycast(o, [-1, 0, 0])["distance"][0]
    assert len(sim.raycast(o, [-1, 0, 0], max_distance=distance * (1 - 1e-12))) == 0
    assert len(sim.raycast(o, [-1, 0, 0], max_distance=distance)) == 1


@settings(max_examples=60, deadline=None)
@given(st.tuples(unit, unit, unit), st.floats(0, 2 * np.pi))
def test_tangents_of_a_sphere_are_told_apart_to_rounding(n, angle) -> None:
    normal = np.array(n)
    if np.linalg.norm(normal) < 1e-3:
        return
    normal /= np.linalg.norm(normal)
    across = np.cross(normal, [0.1, 0.7, -0.3])
    across /= np.linalg.norm(across)
    d = np.cos(angle) * across + np.sin(angle) * np.cross(normal, across)
    sim = SPHERE_SIM
    inner = sim.raycast(CENTRE + (0.4 - 1e-9) * normal - 2 * d, d)
    assert len(inner) == 1
    assert inner["distance"][0] == pytest.approx(2.0, abs=1e-4)
    assert len(sim.raycast(CENTRE + (0.4 + 1e-9) * normal - 2 * d, d)) == 0


SPHERE_SIM = simulate(single("sphere", [1, 0, 0, 0]))


def test_edges_and_slab_sides_do_not_divide_by_zero() -> None:
    sim = simulate(single("box", [1, 0, 0, 0]))
    corner = CENTRE + np.array([0.5, 0.3, 0.2])
    for d in np.eye(3):
        # along an edge: it touches from corner to corner
        found = sim.raycast(corner - 3 * d, d)
        assert len(found) <= 1
        assert np.isfinite(found.tolist()).all()
        assert len(sim.raycast(corner + 1e-9 - 3 * d, d)) == 0


def test_the_plane_is_met_from_above_and_below() -> None:
    sim = simulate(document([ground()]))
    hit = sim.raycast([1, 2, 3], [0, 0, -2])
    assert (hit["distance"][0], hit["pz"][0], hit["nz"][0]) == (3.0, 0.0, 1.0)
    assert len(sim.raycast([1, 2, 3], [1, 0, 0])) == 0
    assert len(sim.raycast([1, 2, 3], [0, 0, 1])) == 0
    below = sim.raycast([1, 2, -1], [0, 0, 1])
    assert (below["distance"][0], below["nz"][0]) == (0.0, -1.0)


def crowd() -> Simulation:
    kinds = list(SHAPES)
    bodies = [ground()]
    for i in range(20):
        shapes = [
            {**SHAPES[kinds[i % 7]], "collision_group": 1 << (i % 3)},
            {**SHAPES[kinds[(i + 3) % 7]], "position": [0.4, 0, 0.2], "collision_group": 8},
        ]
        body = {"name": f"b{i}", "type": "static", "position": [i % 5, i // 5, 1], "shapes": shapes}
        bodies.append(body)
    return Simulation(load_scene(document(bodies)))


def test_many_rays_at_once_are_as_each_alone_and_the_nearest_is_the_first_of_all() -> None:
    sim = crowd()
    rng = np.random.default_rng(3)
    origins = rng.uniform([-1, -1, 0], [5, 4, 3], (60, 3))
    directions = rng.uniform([0, 0, 0], [4, 3, 1.5], (60, 3)) - origins
    together = sim.raycast(origins, directions, every=True)
    assert len(together) > 120
    nearest = sim.raycast(origins, directions)
    for ray in range(60):
        mine = together[together["ray"] == ray]
        alone = sim.raycast(origins[ray], directions[ray], every=True)
        assert mine["distance"].tobytes() == alone["distance"].tobytes()
        assert (np.diff(mine["distance"]) >= 0).all()
        first = nearest[nearest["ray"] == ray]
        assert len(first) == min(1, len(mine))
        if len(mine):
            assert first["distance"][0] == mine["distance"][0]
            assert first["body"][0] == mine["body"][0]


def test_the_mask_chooses_groups_and_shapes_count_within_their_body() -> None:
    sim = crowd()
    seen = sim.raycast([-3, 0, 1], [1, 0, 0], every=True)
    assert set(seen["shape"]) == {0, 1}
    second = sim.raycast([-3, 0, 1.2], [1, 0, 0], mask=8, every=True)
    assert set(second["shape"]) == {1}
    assert len(sim.raycast([-3, 0, 1], [1, 0, 0], mask=16)) == 0


def test_a_ray_follows_the_moving_bodies_and_changes_nothing() -> None:
    body = {
        "name": "ball", "position": [0, 0, 1], "linear_velocity": [1, 0, 0], "mass": 1,
        "shapes": [{"type": "sphere", "radius": 0.1}],
    }  # fmt: skip
    sim = simulate(document([body], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    before = sim.state_hash()
    assert len(sim.raycast([0, 0, 5], [0, 0, -1])) == 1
    assert sim.state_hash() == before
    sim.advance(500)
    assert len(sim.raycast([0, 0, 5], [0, 0, -1])) == 0
    assert sim.raycast([0.5, 0, 5], [0, 0, -1])["distance"][0] == pytest.approx(3.9, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 0, 0], [0, 0, 0]), "length zero"),
        (([0, 0, np.nan], [0, 0, 1]), "finite"),
        (([0, 0], [0, 0, 1]), "three"),
        (([0, 0, 0], [0, 0, 1], -1.0), "negative"),
        (([0, 0, 0], [0, 0, 1], np.nan), "negative"),
    ],
)
def test_impossible_rays_are_refused(arguments, words) -> None:
    with pytest.raises(ValueError, match=words):
        SPHERE_SIM.raycast(*arguments)


# -------------------------------------------------------------------- nearest points


def two(kind_a: str, kind_b: str, rng: np.random.Generator, apart: float) -> Simulation:
    bodies = []
    direction = rng.normal(size=3)
    direction *= apart / np.linalg.norm(direction)
    for name, kind, p in (("a", kind_a, np.zeros(3)), ("b", kind_b, direction)):
        x, y, z, w = Rotation.random(random_state=rng).as_quat()
        body = {
            "name": name, "type": "static", "position": list(p), "orientation": [w, x, y, z],
            "shapes": [SHAPES[kind]],
        }  # fmt: skip
        bodies.append(body)
    return Simulation(load_scene(document(bodies)))


@pytest.mark.parametrize("kind_b", SHAPES)
@pytest.mark.parametrize("kind_a", SHAPES)
def test_nearest_points_lie_on_both_and_nothing_is_nearer(kind_a: str, kind_b: str) -> None:
    rng = np.random.default_rng(17)
    for apart in (1.6, 30.0):
        sim = two(kind_a, kind_b, rng, apart)
        found = sim.closest_points("a", "b")
        a, b, n = found["point_a"], found["point_b"], found["normal"]
        assert found["distance"] > 0
        assert np.linalg.norm(b - a) == pytest.approx(found["distance"], abs=1e-9 * apart + 1e-8)
        assert b - a == pytest.approx(found["distance"] * n, abs=1e-7 * apart)
        # the planes across the normal through both points separate the bodies
        for name, kind, point, sign in (("a", kind_a, a, 1.0), ("b", kind_b, b, -1.0)):
            pose = sim.poses()[sim.body_names.index(name)]
            q = pose[3:]
            R = Rotation.from_quat([q[1], q[2], q[3], q[0]]).as_matrix()
            local = (point - pose[:3]) @ R
            assert inside(kind, local[None])[0] == pytest.approx(0.0, abs=2e-6)
            m = sign * n @ R
            reach = minimize(
                lambda x, m=m: -m @ x, local, jac=lambda x, m=m: -m, method="SLSQP",
                constraints={"type": "ineq", "fun": lambda x, k=kind: -inside(k, x[None])},
            )  # fmt: skip
            assert m @ local >= -reach.fun - 3e-6 or not reach.success
        back = sim.closest_points("b", "a")
        assert back["distance"] == pytest.approx(found["distance"], abs=1e-7)


def test_overlapping_bodies_have_a_negative_distance() -> None:
    balls = [
        {"name": n, "type": "static", "position": p, "shapes": [{"type": "sphere", "radius": 0.5}]}
        for n, p in (("a", [0, 0, 0]), ("b", [0.7, 0, 0]))
    ]
    found = simulate(document(balls)).closest_points("a", "b")
    assert found["distance"] == pytest.approx(-0.3)
    assert found["normal"] == pytest.approx([1, 0, 0])
    assert found["point_a"] == pytest.approx([0.5, 0, 0])
    assert found["point_b"] == pytest.approx([0.2, 0, 0])


def test_the_nearest_of_several_shapes_counts_and_planes_have_distances() -> None:
    bodies = [
        ground(),
        {
            "name": "dumbbell", "type": "static", "position": [0, 0, 2],
            "shapes": [
                {"type": "sphere", "radius": 0.2, "position": [0, 0, 1]},
                {"type": "sphere", "radius": 0.3, "position": [0, 0, -1]},
            ],
        },
        {"name": "nothing", "type": "static"},
    ]  # fmt: skip
    sim = simulate(document(bodies))
    found = sim.closest_points("dumbbell", "ground")
    assert found["distance"] == pytest.approx(0.7)
    assert (found["shape_a"], found["shape_b"]) == (1, 0)
    assert found["normal"] == pytest.approx([0, 0, -1])
    for pair, words in (
        (("dumbbell", "nothing"), "shapes"),
        (("dumbbell", "dumbbell"), "itself"),
        (("dumbbell", "nobody"), "no body"),
    ):
        with pytest.raises(ValueError, match=words):
            sim.closest_points(*pair)
