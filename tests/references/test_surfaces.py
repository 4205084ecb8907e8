"""Surfaces that resist rolling and spinning, give way, and run over their bodies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import document, ground, simulate

pytestmark = pytest.mark.reference

G = 9.81
H = 1e-3
R = 0.1


def ball(**more: Any) -> dict[str, Any]:
    """A solid ball of 0.1 m and 1 kg that touches the plane."""
    sphere = {"type": "sphere", "radius": R, "material": "ball"}
    return {"name": "ball", "position": [0, 0, R], "mass": 1.0, "shapes": [sphere], **more}


def on_plane(
    material: dict[str, Any],
    *bodies: dict[str, Any],
    floor: dict[str, Any] | None = None,
    **more: Any,
) -> Simulation:
    """Bodies of material `ball` on a frictionless-by-itself rigid plane that leaves it its laws.

    floor: a shape in place of the plane
    """
    pair = {"materials": ["ball", "plane"], "friction": material.get("friction", 0.5)}
    shapes = [(floor or {"type": "plane", "normal": [0, 0, 1]}) | {"material": "plane"}]
    return simulate(
        document(
            [{"name": "ground", "type": "static", "shapes": shapes}, *bodies],
            materials={"ball": material, "plane": {}},
            material_pairs=[pair],
            simulation={"dt": H},
            **more,
        )
    )


def balance(sim: Simulation) -> float:
    return float(sim.summary()["energy"]["balance_error"])


# ---------------------------------------------------------------- rolling and spinning


@pytest.mark.parametrize("cone", ["cone", "box", "polyhedral"])
@pytest.mark.parametrize("method", ["auto", "pgs", "sor", "pivoting", "gauss_seidel", "lemke"])
def test_rolling_ball_slows_down_by_its_lever_arm(cone: str, method: str) -> None:
    if (method == "pivoting" and cone != "box") or (method == "lemke" and cone == "cone"):
        pytest.skip(f"{method} does not solve the {cone}, and the scene is refused")
    arm, v0 = 2e-3, 1.0
    sim = on_plane(
        {"friction": 0.5, "rolling_friction": arm},
        ball(linear_velocity=[v0, 0, 0], angular_velocity=[0, v0 / R, 0]),
        contact={"friction_cone": cone},
        solver={"method": method, "max_iterations": 2000, "tolerance": 1e-12},
    )
    # m a = -f,  I alpha = f R - arm m g,  a = alpha R
    a = 5.0 / 7.0 * G * arm / R
    sim.advance(1000)
    assert sim.velocities()[1, 0] == pytest.approx(v0 - a, rel=1e-9)
    energy = sim.energy()
    assert energy["dissipated_friction"] == pytest.approx(0.7 * (v0**2 - (v0 - a) ** 2), rel=1e-6)
    assert balance(sim) < 1e-12
    sim.advance(math.ceil((v0 / a - 1.0) / H) + 1)
    assert np.abs(sim.velocities()[1]).max() < 1e-12
    assert sim.poses()[1, 0] == pytest.approx(0.5 * v0**2 / a, rel=2e-3)


def test_rolling_friction_has_no_favourite_direction() -> None:
    arm, speed = 2e-3, []
    for phi in (0.0, 0.3, math.pi / 4, 1.2, 2.5):
        c, s = math.cos(phi), math.sin(phi)
        sim = on_plane(
            {"friction": 0.5, "rolling_friction": arm},
            ball(linear_velocity=[c, s, 0], angular_velocity=[-s / R, c / R, 0]),
        )
        sim.advance(500)
        v = sim.velocities()[1]
        assert abs(c * v[1] - s * v[0]) < 1e-8
        speed.append(c * v[0] + s * v[1])
    assert max(speed) - min(speed) < 1e-8


@pytest.mark.parametrize(("share", "rolls"), [(0.99, False), (1.01, True)])
def test_ball_rests_on_an_incline_up_to_the_lever_arm(share: float, rolls: bool) -> None:
    arm = 5e-3
    angle = math.atan(share * arm / R)
    n = np.array([math.sin(angle), 0, math.cos(angle)])
    slope = {"type": "plane", "normal": n.tolist()}
    sim = simulate(
        document(
            [
                {"name": "slope", "type": "static", "shapes": [slope]},
                ball(position=(R * n).tolist()),
            ],
            materials={"ball": {"friction": 0.5, "rolling_friction": arm}},
            simulation={"dt": H},
        )
    )
    sim.advance(1000)
    moved = float(np.linalg.norm(sim.poses()[1, :3] - R * n))
    way = 0.5 * 5.0 / 7.0 * G * (math.sin(angle) - math.cos(angle) * arm / R)
    assert moved == pytest.approx(way, rel=1e-6) if rolls else moved < 1e-11


def test_billiard_ball_slides_rolls_and_stops() -> None:
    mu, arm, v0 = 0.2, 1e-2, 2.0
    sim = on_plane({"friction": mu, "rolling_friction": arm}, ball(linear_velocity=[v0, 0, 0]))
    # sliding: v = v0 - mu g t,  R w = 5/2 (mu - arm/R) g t
    rolls = v0 / (G * (mu + 2.5 * (mu - arm / R)))
    v_roll = v0 - mu * G * rolls
    a = 5.0 / 7.0 * G * arm / R
    sim.advance(math.ceil(rolls / H))
    assert sim.velocities()[1, 0] == pytest.approx(v_roll, abs=2 * mu * G * H)
    stops = rolls + v_roll / a
    sim.advance(math.ceil((stops - sim.time) / H) + 5)
    assert np.abs(sim.velocities()[1]).max() < 1e-10
    way = 0.5 * (v0 + v_roll) * rolls + 0.5 * v_roll**2 / a
    assert sim.poses()[1, 0] == pytest.approx(way, rel=1e-5)
    assert balance(sim) < 1e-12


def test_spinning_ball_stops_linearly() -> None:
    arm, w0 = 1e-3, 20.0
    sim = on_plane({"friction": 0.5, "spinning_friction": arm}, ball(angular_velocity=[0, 0, w0]))
    slowing = arm * G / (0.4 * R**2)
    sim.advance(1000)
    assert sim.velocities()[1, 5] == pytest.approx(w0 - slowing, rel=1e-9)
    assert sim.energy()["dissipated_friction"] == pytest.approx(
        0.2 * R**2 * (w0**2 - (w0 - slowing) ** 2), rel=1e-9
    )
    sim.advance(math.ceil((w0 / slowing - 1.0) / H) + 1)
    assert np.abs(sim.velocities()[1]).max() < 1e-12


# ---------------------------------------------------------------- compliance


def test_compliant_contact_gives_way_by_its_load() -> None:
    compliance = 1e-4
    sim = on_plane({"compliance": compliance, "damping": 100.0}, ball())
    sim.advance(2000)
    assert R - sim.poses()[1, 2] == pytest.approx(G * compliance, abs=1e-9)
    assert sim.contact_table()["normal_force"][0] == pytest.approx(G, rel=1e-9)
    assert balance(sim) < 1e-9


def test_undamped_compliant_contact_keeps_its_energy_and_frequency() -> None:
    compliance, amplitude = 1e-3, 5e-3
    rest = R - G * compliance
    sim = on_plane({"compliance": compliance}, ball(position=[0, 0, rest + amplitude]))
    w = math.sqrt(1.0 / compliance)
    steps = round(20 * 2 * math.pi / w / H)
    heights = []
    for _ in range(steps):
        sim.advance(1)
        heights.append(sim.poses()[1, 2] - rest)
    t = H * np.arange(1, steps + 1)
    # the trapezoidal rule turns tan(w h/2) into w h/2
    slower = 2.0 / H * math.atan(0.5 * w * H)
    np.testing.assert_allclose(heights, amplitude * np.cos(slower * t), atol=1e-3 * amplitude)
    energy = sim.summary()["energy"]
    assert energy["max_relative_drift"] < 1e-2
    assert energy["balance_error"] < 1e-12
    assert sim.energy()["dissipated_damping"] < 1e-12


SOLID = [
    ({"type": "cylinder", "radius": 0.08, "length": 0.15}, 5),
    ({"type": "cylinder", "radius": 0.1, "length": 0.03}, 10),
    ({"type": "cone", "radius": 0.1, "length": 0.2}, 4),
]
HOLLOW = [
    ({"type": "ring", "major_radius": 0.1, "minor_radius": 0.03}, 8),
    ({"type": "tube", "inner_radius": 0.08, "outer_radius": 0.12, "length": 0.1}, 8),
    ({"type": "bowl", "inner_radius": 0.1, "outer_radius": 0.13}, 11),
]
PLANE = {"type": "plane", "normal": [0, 0, 1]}
SLAB = {"type": "box", "size": [9, 9, 2], "position": [0, 0, -1]}
BLOCK = {
    "type": "convex",
    "points": [[x, y, z] for x in (-4, 5) for y in (-5, 4) for z in (-2, 0)],
}


@pytest.mark.parametrize(
    ("shape", "seed", "floor"),
    [
        *((*case, floor) for floor in (PLANE, SLAB, BLOCK) for case in SOLID),
        *((*case, PLANE) for case in HOLLOW),
    ],
)
def test_round_rims_on_compliant_faces_get_no_energy(
    shape: dict[str, Any], seed: int, floor: dict[str, Any]
) -> None:
    """They are thrown, tumble and roll; depths are up to a third of their size."""
    rng = np.random.default_rng(seed)
    q, spin = rng.normal(size=4), 4.0 * rng.normal(size=3)
    body: dict[str, Any] = {"name": "body", "mass": 1.0, "position": [0, 0, 0.3]}
    body |= {"orientation": (q / np.linalg.norm(q)).tolist(), "angular_velocity": spin.tolist()}
    body |= {"linear_velocity": [1, 0, -1], "shapes": [shape | {"material": "ball"}]}
    material = {"compliance": 2e-4, "damping": 2.0, "friction": 0.3}
    sim = on_plane(material, body, floor=floor)
    start = sim.energy()["total"]
    for _ in range(100):
        sim.advance(10)
        assert sim.energy()["total"] <= start * (1.0 + 1e-9)
    assert sim.summary()["contacts"]["max_penetration"] > 0.02
    assert abs(sim.energy()["correction"]) < 1e-2 * start
    assert balance(sim) < 1e-12


def test_disc_spins_on_faces_as_on_a_plane() -> None:
    """Its lowest point runs round the rim, and is the contact on all of them."""
    disc = {"type": "cylinder", "radius": 0.1, "length": 0.01, "material": "ball"}
    tilt = {"orientation": [math.cos(0.2), math.sin(0.2), 0, 0], "angular_velocity": [0, 12, 20]}
    ends = []
    for floor in (PLANE, SLAB, BLOCK):
        body = {"name": "disc", "mass": 0.1, "position": [0, 0, 0.1], "shapes": [disc], **tilt}
        sim = on_plane({"friction": 0.5}, body, floor=floor)
        sim.advance(1000)
        assert sim.summary()["contacts"]["max_penetration"] < 1e-5
        ends.append(sim.poses()[1])
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-6)


def test_bounce_on_a_compliant_plane_takes_half_a_period() -> None:
    compliance, damping, v0 = 1e-3, 5.0, 1.0
    sim = on_plane(
        {"compliance": compliance, "damping": damping},
        ball(position=[0, 0, R + 1e-9], linear_velocity=[0, 0, -v0]),
        gravity=[0, 0, 0],
    )
    # m x'' + d x' + x/compliance = 0; it parts when the force m x'' is zero again
    decay, w0 = 0.5 * damping, math.sqrt(1.0 / compliance)
    w = math.sqrt(w0**2 - decay**2)
    parts = (math.pi - math.atan2(2 * decay * w, w0**2 - 2 * decay**2)) / w
    t = np.linspace(0, parts, 3)
    speed = v0 * np.exp(-decay * t) * (np.cos(w * t) - decay / w * np.sin(w * t))
    sim.advance(math.ceil(parts / H) + 5)
    v = sim.velocities()[1, 2]
    assert v == pytest.approx(-speed[-1], rel=2e-3)
    energy = sim.energy()
    assert energy["dissipated_damping"] == pytest.approx(0.5 * (v0**2 - v**2), rel=1e-9)
    assert balance(sim) < 1e-12
    assert abs(energy["correction"]) < 1e-12


@pytest.mark.parametrize("compliance", [1e-3, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("damping", [0.0, 1e3, 1e6])
def test_compliant_contacts_never_give_energy(compliance: float, damping: float) -> None:
    box = {"type": "box", "size": [0.3, 0.2, 0.1], "material": "ball"}
    q = np.array([1.0, 0.3, 0.2, 0.1]) / np.linalg.norm([1.0, 0.3, 0.2, 0.1])
    body = {"name": "box", "position": [0, 0, 0.25], "orientation": q.tolist(), "mass": 1.0}
    sim = on_plane(
        {"compliance": compliance, "damping": damping, "friction": 0.3}, {**body, "shapes": [box]}
    )
    start = sim.energy()["total"]
    for _ in range(60):
        sim.advance(10)
        assert sim.energy()["total"] <= start * (1.0 + 1e-9)
    # without a damper what the step loses has no cause
    lost = "dissipated_damping" if damping == 0.0 else "correction"
    assert abs(sim.energy()[lost]) < 1e-3 * start
    assert sim.energy()["correction"] < 1e-3 * start
    assert balance(sim) < 1e-12
    assert sim.poses()[1, 2] > 0.049


def test_two_compliant_surfaces_act_in_series() -> None:
    for one, other in ((2e-4, 1e-4), (0.0, 3e-4)):
        sim = simulate(
            document(
                [ground(material="floor"), ball()],
                materials={
                    "ball": {"compliance": one, "damping": 50.0},
                    "floor": {"compliance": other, "damping": 50.0},
                },
                simulation={"dt": H},
            )
        )
        sim.advance(3000)
        assert R - sim.poses()[1, 2] == pytest.approx(3e-4 * G, abs=1e-9)


def test_pairs_override_every_property() -> None:
    materials = {
        "a": {"friction": 0.4, "rolling_friction": 1e-3, "compliance": 1e-4, "damping": 9.0},
        "b": {"friction": 0.9, "spinning_friction": 2e-3, "compliance": 3e-4, "damping": 4.0},
    }
    own = {
        "friction": 0.1,
        "restitution": 0.2,
        "rolling_friction": 0.3,
        "spinning_friction": 0.4,
        "compliance": 0.5,
        "damping": 0.6,
    }
    fields = ("friction", "restitution", "rolling", "spinning", "compliance", "damping")

    def table(pairs: list[dict[str, Any]]) -> list[float]:
        scene = document([ground()], materials=materials, material_pairs=pairs)
        made = simulate(scene).model.materials
        values = [float(getattr(made, field)[1, 2]) for field in fields]
        assert values == [float(getattr(made, field)[2, 1]) for field in fields]
        return values

    damping = 9.0 * 0.25**2 + 4.0 * 0.75**2
    assert table([]) == pytest.approx([0.6, 0.0, 1e-3, 2e-3, 4e-4, damping])
    assert table([{"materials": ["b", "a"], **own}]) == list(own.values())
    assert table([{"materials": ["a", "b"], "damping": 7.0}])[4:] == pytest.approx([4e-4, 7.0])


# ---------------------------------------------------------------- surfaces that run


def crate(**more: Any) -> dict[str, Any]:
    box = {"type": "box", "size": [0.4, 0.4, 0.1], "material": "crate"}
    return {"name": "crate", "position": [0, 0, 0.05], "mass": 2.0, "shapes": [box], **more}


def on_belt(belt: dict[str, Any], velocity: list[float], mu: float, *bodies: Any) -> Simulation:
    """Bodies on a belt of friction mu whose surface runs with a velocity in the belt's axes."""
    for shape in belt["shapes"]:
        shape["material"] = "belt"
    pair = {"materials": ["belt", "crate"], "friction": mu}
    return simulate(
        document(
            [belt, *bodies],
            materials={"belt": {"surface_velocity": velocity}, "crate": {}},
            material_pairs=[pair],
            simulation={"dt": H},
        )
    )


def test_belt_takes_a_crate_along() -> None:
    mu, speed = 0.3, 1.5
    # the part of the velocity along the normal must not push
    sim = on_belt(ground(), [speed, 0, 0.7], mu, crate())
    reached = speed / (mu * G)
    sim.advance(300)
    assert sim.velocities()[1, 0] == pytest.approx(mu * G * 0.3, rel=1e-3)
    sim.advance(math.ceil((reached - 0.3) / H) + 100)
    v = sim.velocities()[1]
    assert v[0] == pytest.approx(speed, rel=1e-9)
    assert np.abs(v[1:]).max() < 1e-9
    energy = sim.energy()
    # the belt gives friction times its own way; half of it warms the crate
    assert energy["work_in"] == pytest.approx(2.0 * speed**2, rel=2e-3)
    assert energy["dissipated_friction"] == pytest.approx(1.0 * speed**2, rel=2e-3)
    assert balance(sim) < 1e-12


def test_belt_turns_with_its_body() -> None:
    turn = [math.cos(0.6), 0, 0, math.sin(0.6)]
    slab = {"type": "box", "size": [20, 20, 0.2], "position": [0, 0, -0.1]}
    belt = {
        "name": "belt",
        "type": "kinematic",
        "orientation": turn,
        "linear_velocity": [0.2, -0.4, 0],
        "shapes": [slab],
    }
    sim = on_belt(belt, [1.0, 0, 0], 0.5, crate())
    sim.advance(800)
    v = sim.velocities()[1]
    np.testing.assert_allclose(v[:2], [0.2 + math.cos(1.2), -0.4 + math.sin(1.2)], atol=1e-9)
    assert balance(sim) < 1e-12


def test_free_belt_is_pushed_back() -> None:
    """A plank on ice with a running surface: momentum stays zero, the crate still gets along."""
    plank = {"type": "box", "size": [4, 1, 0.1], "material": "belt"}
    belt = {"name": "plank", "position": [0, 0, 0.05], "mass": 3.0, "shapes": [plank]}
    sim = simulate(
        document(
            [ground(material="ice"), belt, crate(position=[0, 0, 0.15])],
            materials={"belt": {"surface_velocity": [1.0, 0, 0]}, "crate": {}, "ice": {}},
            material_pairs=[
                {"materials": ["belt", "crate"], "friction": 0.4},
                {"materials": ["belt", "ice"], "friction": 0.0},
            ],
            simulation={"dt": H},
        )
    )
    sim.advance(600)
    v = sim.velocities()
    assert 3.0 * v[1, 0] + 2.0 * v[2, 0] == pytest.approx(0.0, abs=1e-9)
    assert v[2, 0] - v[1, 0] == pytest.approx(1.0, rel=1e-9)
    assert balance(sim) < 1e-12


# ---------------------------------------------------------------- what is kept


def test_snapshot_keeps_what_surfaces_remember() -> None:
    """Moments of the last step start the next solve, stored energy is part of the account."""

    def made() -> Simulation:
        return on_plane(
            {
                "friction": 0.3,
                "rolling_friction": 2e-3,
                "spinning_friction": 1e-3,
                "compliance": 1e-4,
                "damping": 3.0,
                "surface_velocity": [0.1, 0.2, 0.0],
            },
            ball(linear_velocity=[1.0, 0.3, 0], angular_velocity=[3.0, 0, 20.0]),
            solver={"method": "pgs", "max_iterations": 20},
        )

    first, second = made(), made()
    first.advance(150)
    second.restore(first.snapshot())
    for sim in (first, second):
        sim.advance(150)
    assert np.array_equal(first.poses(), second.poses())
    assert np.array_equal(first.velocities(), second.velocities())
    assert first.energy() == second.energy()
    assert balance(first) < 1e-12
