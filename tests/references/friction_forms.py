"""Classic checks of contact and friction with an answer in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cardan.engine import Simulation
from tests.engine.scenes import document, ground, simulate
from tests.references.closed_forms import CHECKS, checks
from tests.references.rows import Case, Row, at_least, at_most, near

G = 9.81


def on_slope(body: dict[str, Any], degrees: float, friction: float, **more: Any) -> Simulation:
    """A body on the plane z = 0, gravity tilted instead of the plane: down the slope is +x."""
    angle = math.radians(degrees)
    for shape in body["shapes"]:
        shape["material"] = "stuff"
    return simulate(
        document(
            [ground(material="stuff"), body],
            gravity=[G * math.sin(angle), 0.0, -G * math.cos(angle)],
            materials={"stuff": {"friction": friction}},
            **more,
        )
    )


def ball(radius: float, mass: float = 1.0, **more: Any) -> dict[str, Any]:
    """A solid ball that touches the plane."""
    sphere = {"type": "sphere", "radius": radius}
    return {"name": "ball", "position": [0, 0, radius], "mass": mass, "shapes": [sphere], **more}


def block(size: list[float]) -> dict[str, Any]:
    """A block that lies on the plane."""
    box = {"type": "box", "size": size}
    return {"name": "block", "position": [0, 0, 0.5 * size[2]], "mass": 1.0, "shapes": [box]}


def thrown(spin: float, entry: str) -> tuple[float, float, Simulation]:
    """Time [s] from which a ball thrown at v0 with a spin rolls, its speed then, and the run."""
    params = checks()[entry]["params"]
    start: dict[str, Any] = {
        "linear_velocity": [params["v0"], 0, 0],
        "angular_velocity": [0, spin, 0],
    }
    sim = on_slope(ball(params["R"], **start), 0.0, params["mu"], simulation={"dt": 1e-3})
    while sim.time < 2.0:
        sim.advance(1)
        v = sim.velocities()[1]
        if abs(v[0] - params["R"] * v[4]) < 1e-7:
            return sim.time, float(v[0]), sim
    return math.nan, math.nan, sim


def slide_to_roll() -> list[Row]:
    """A ball thrown without spin slides, then rolls."""
    expect = checks()["sphere_slide_to_roll"]["expect"]
    time, speed, sim = thrown(0.0, "sphere_slide_to_roll")
    spin, way = float(sim.velocities()[1, 4]), float(sim.poses()[1, 0])
    # the last of the way was rolled already
    slid = way - speed * (time - expect["t_roll"])
    lost = sim.energy()["dissipated_friction"] / 4.5
    return [
        near("rolls from", time, expect["t_roll"], 1.5e-3, "s"),
        near("speed", speed, expect["v_roll"], 1e-6 * expect["v_roll"], "m/s"),
        near("spin", spin, expect["omega_roll"], 1e-5, "rad/s"),
        near("way that it slides", slid, expect["slide_distance"], 1e-5, "m"),
        near("share of the energy lost", lost, expect["energy_lost_fraction"], 1e-3 * 2 / 7, ""),
    ]


def backspin() -> list[Row]:
    """A ball with backspin slows down, turns its spin, rolls."""
    expect = checks()["sphere_backspin"]["expect"]
    spin = checks()["sphere_backspin"]["params"]["omega0"]
    time, speed, _ = thrown(spin, "sphere_backspin")
    return [
        near("rolls from", time, expect["t_roll"], 1.5e-3, "s"),
        near("speed", speed, expect["v_final"], 1e-6, "m/s"),
    ]


def incline() -> list[Row]:
    """A block below and above the angle of friction."""
    check = checks()["block_on_incline"]
    mu = check["params"]["mu"]
    sticks = on_slope(block([0.4, 0.4, 0.1]), 26.0, mu, simulation={"dt": 1e-3})
    sticks.advance(10_000)
    slides = on_slope(block([0.4, 0.4, 0.1]), 30.0, mu, simulation={"dt": 1e-3})
    slides.advance(1000)
    way = check["expect"]["x_at_1s_theta30"]
    return [
        at_most("creep in 10 s at 26 degrees", abs(float(sticks.poses()[1, 0])), 1e-9, "m"),
        near("way in 1 s at 30 degrees", float(slides.poses()[1, 0]), way, 1e-6, "m"),
    ]


def pushed(degrees: float, times: float, cone: str) -> np.ndarray:
    """Velocity (2,) after 0.3 s of a block pushed at ground level with `times` mu m g."""
    mu, phi = checks()["block_incline_pyramid_test"]["params"]["mu"], math.radians(degrees)
    force = times * mu * G
    push = {"type": "wrench", "body": "block", "point": [0, 0, 0]}
    push["force"] = [force * math.cos(phi), force * math.sin(phi), 0.0]
    contact = {"friction_cone": cone}
    sim = on_slope(block([0.4, 0.4, 0.1]), 0.0, mu, forces=[push], contact=contact)
    sim.advance(300)
    return sim.velocities()[1, :2]


def pyramid() -> list[Row]:
    """A block pushed in any direction: the cone has no favourite one, the box has."""
    off, slowest = 0.0, math.inf
    for degrees in (0.0, 20.0, 45.0, 70.0):
        v = pushed(degrees, 1.05, "cone")
        off = max(off, abs(math.atan2(v[1], v[0]) - math.radians(degrees)))
        slowest = min(slowest, float(np.linalg.norm(v)))
    stuck = float(np.linalg.norm(pushed(45.0, 1.40, "box")))
    loose = float(np.linalg.norm(pushed(45.0, 1.43, "box")))
    return [
        at_most("cone: direction off the push of 1.05 mu m g", off, 1e-6, "rad"),
        at_least("cone: speed after 0.3 s", slowest, 0.9 * 0.05 * 0.4 * G * 0.3, "m/s"),
        at_most("box at 45 degrees: speed at 1.40 mu m g", stuck, 1e-6, "m/s"),
        at_least("box at 45 degrees: speed at 1.43 mu m g", loose, 1e-3, "m/s"),
    ]


def rolls_down() -> list[Row]:
    """A ball rolls down a slope."""
    check = checks()["sphere_rolls_incline"]
    params, expect = check["params"], check["expect"]
    body = ball(params["R"], params["m"])
    sim = on_slope(body, params["theta_deg"], params["mu_s"], simulation={"dt": 1e-3})
    sim.advance(1000)
    friction = float(sim.contact_table()["friction_force"][0])
    relative = 1e-9
    return [
        near("speed after 1 s", float(sim.velocities()[1, 0]), expect["v"], 2 * relative, "m/s"),
        near("way after 1 s", float(sim.poses()[1, 0]), expect["x"], 1e-6, "m"),
        near("friction", friction, expect["friction_force"], 1e-8, "N"),
    ]


def topple() -> list[Row]:
    """A slender brick on a slope: stands or falls."""
    check = checks()["brick_topple_incline"]
    b, h = check["params"]["b"], check["params"]["h"]
    critical, tilts = check["expect"]["tilt_crit_deg"], []
    for degrees in (critical - 0.05, critical + 0.05):
        sim = on_slope(block([b, b, h]), degrees, 1.0, simulation={"dt": 1e-3})
        sim.advance(3000)
        tilts.append(2.0 * math.acos(min(1.0, abs(float(sim.poses()[1, 3])))))
    return [
        at_most("tilt after 3 s, 0.05 degrees below", tilts[0], 1e-6, "rad"),
        at_least("tilt after 3 s, 0.05 degrees above", tilts[1], 0.5, "rad"),
    ]


def ladder() -> list[Row]:
    """A ladder without friction leaves the wall at two thirds of its height."""
    length, radius, start = 2.0, 0.02, math.radians(20.0)
    rod = {"type": "capsule", "radius": radius, "length": length, "material": "ice"}
    inertia = length**2 / 12.0
    body = {"name": "ladder", "mass": 1.0, "inertia": [inertia, inertia, 1e-3], "shapes": [rod]}
    half = 0.5 * length
    body["position"] = [radius + half * math.sin(start), 0, radius + half * math.cos(start)]
    body["orientation"] = [math.cos(start / 2), 0, -math.sin(start / 2), 0]
    wall = {"type": "plane", "normal": [1, 0, 0], "material": "ice"}
    planes = [ground(material="ice"), {"name": "wall", "type": "static", "shapes": [wall]}]
    ice = {"ice": {"friction": 0.0}}
    sim = simulate(document([*planes, body], materials=ice, simulation={"dt": 1e-4}))
    height = math.nan
    while sim.time < 3.0:
        sim.advance(1)
        contacts = sim.contact_table()
        walls = (contacts["body_a"] == 1) | (contacts["body_b"] == 1)
        if contacts["normal_force"][walls].sum() <= 0.0 and sim.time > 0.01:
            top = float(sim.poses()[2, 2]) - radius
            height = 2.0 * top / (length * math.cos(start))
            break
    return [near("height of the top, of the first", height, 2.0 / 3.0, 1e-3, "")]


def stack(between: float, floor: float) -> float:
    """How far [m] the top one of three cylinders sinks in 1 s with these frictions."""
    radius, names = 0.1, ("left", "right", "top")
    places = [[-radius, 0, radius], [radius, 0, radius], [0, 0, radius * (1 + math.sqrt(3))]]
    lying = [math.sqrt(0.5), math.sqrt(0.5), 0, 0]
    bodies: list[dict[str, Any]] = [ground(material="floor")]
    for name, place in zip(names, places, strict=True):
        rod = {"type": "capsule", "radius": radius, "length": 0.6, "material": "log"}
        inertia = [0.05, 0.05, 0.5 * radius**2]
        body = {"name": name, "mass": 1.0, "inertia": inertia, "shapes": [rod]}
        bodies.append({**body, "position": place, "orientation": lying})
    pairs = [
        {"materials": ["log", "log"], "friction": between},
        {"materials": ["log", "floor"], "friction": floor},
    ]
    scene = document(bodies, materials={"log": {}, "floor": {}}, material_pairs=pairs)
    sim = simulate({**scene, "simulation": {"dt": 1e-3}})
    sim.advance(1000)
    return places[2][2] - float(sim.poses()[3, 2])


def three_cylinders() -> list[Row]:
    """One cylinder on two: stands or parts them, one percent about either friction."""
    expect = checks()["three_cylinder_stack"]["expect"]
    between, floor = expect["mu_cyl_cyl_min"], expect["mu_floor_min"]
    return [
        at_most(
            "sinks in 1 s, both one percent above", stack(1.01 * between, 1.01 * floor), 1e-6, "m"
        ),
        at_least(
            "sinks, between one percent below", stack(0.99 * between, 1.01 * floor), 1e-3, "m"
        ),
        at_least("sinks, floor one percent below", stack(1.01 * between, 0.99 * floor), 1e-3, "m"),
    ]


MEASURES = {
    "sphere_slide_to_roll": slide_to_roll,
    "sphere_backspin": backspin,
    "block_on_incline": incline,
    "block_incline_pyramid_test": pyramid,
    "sphere_rolls_incline": rolls_down,
    "brick_topple_incline": topple,
    "ladder_leaves_wall": ladder,
    "three_cylinder_stack": three_cylinders,
}
CASES = {name: Case(CHECKS, measure) for name, measure in MEASURES.items()}
