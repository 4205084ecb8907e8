"""What each example scene is expected to show, and how it is measured.

Each function runs a scene as it stands, with default settings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from cardan.engine import Simulation
from cardan.engine.build.rotations import turn
from cardan.schemas import apply_overrides, load_scene
from cardan.schemas.examples import example_document
from cardan.schemas.joint import Ball
from tests.references import gallery_scenes, newer_scenes
from tests.references.example_runs import Run
from tests.references.rows import Case, Row, at_most, near

# what joints may get back, over the largest kinetic energy
RETURNED = 0.1


def energy_rows(what: str, energy: dict[str, Any], bound: float) -> list[Row]:
    """How far the energy drifts, and beside it how much of it joints got back.

    Without the return the drift were at most about the sum of both.
    """
    share = energy["returned"]["share"]
    return [
        at_most(what, energy["max_relative_drift"], bound, ""),
        at_most("energy returned by joints, share", share, RETURNED, ""),
    ]


def double_pendulum() -> list[Row]:
    """Energy and joints of a chaotic but conservative motion."""
    summary = Run("double-pendulum").summary
    return [
        *energy_rows("energy drift over 10 s", summary["energy"], 1e-2),
        at_most("joint error", summary["joints"]["max_position_error"], 1e-5, "m"),
    ]


def slider_crank() -> list[Row]:
    """The piston where the crank's angle puts it, and the motor at its speed."""
    result = Run("slider-crank")
    angle, r, rod = result.joint("main", "q"), 0.1, 0.4
    exact = r * np.cos(angle) + np.sqrt(rod**2 - (r * np.sin(angle)) ** 2)
    error = np.abs(result.body("piston", "px")[:, 0] - exact).max()
    speed = result.joint("main", "qd")[len(angle) // 10 :]
    return [
        at_most("piston off x = r cos a + sqrt(l^2 - r^2 sin^2 a)", error, 1e-4, "m"),
        at_most("motor off 4 pi rad/s", np.abs(speed / (4 * math.pi) - 1).max(), 1e-3, ""),
        at_most("solver residual", result.summary["solver"]["max_residual"], 1e-8, "m/s"),
    ]


def box_tower() -> list[Row]:
    """Ten boxes that stay where they are."""
    result = Run("box-tower")
    moved = 0.0
    for k in range(10):
        p = result.body(f"box-{k}", "px", "py", "pz")
        moved = max(moved, float(np.linalg.norm(p - p[0], axis=1).max()))
    kinetic = float(result.tables["energy"]["kinetic"][-1])
    return [
        at_most("largest move of a box in 5 s", moved, 1e-3, "m"),
        at_most("kinetic energy at the end", kinetic, 1e-6, "J"),
    ]


def incline() -> list[Row]:
    """One block sticks, one slides with g (sin 30 - 0.45 cos 30)."""
    result = Run("incline")
    way = {}
    for name in ("sticks", "slides"):
        p = result.body(name, "px", "py", "pz")
        way[name] = float(np.linalg.norm(p[-1] - p[0]))
    return [
        at_most("the sticking block moves", way["sticks"], 1e-6, "m"),
        near("the sliding block moves", way["slides"], 2.16386, 1e-3, "m"),
    ]


def newtons_cradle() -> list[Row]:
    """Energy through the first impact, with restitution 1.

    From the last moment before the last ball moves until 5 ms later, over the largest kinetic
    energy; the slow error of the swing before it is not the impact's.
    """
    simulation = Simulation(load_scene(example_document("newtons-cradle")))
    before = simulation.energy()["total"]
    while simulation.velocities()[4, 0] <= 0.1:
        before = simulation.energy()["total"]
        simulation.advance(1)
        if simulation.time > 1.0:
            raise AssertionError("the balls never met")
    last = float(simulation.velocities()[4, 0])
    others = float(np.abs(simulation.velocities()[:4, 0]).max())
    simulation.advance(10)
    summary = simulation.summary()["energy"]
    lost = abs(simulation.energy()["total"] - before) / summary["max_kinetic"]
    speed = math.sqrt(2 * 9.81 * 0.5 * (1 - math.cos(math.radians(40))))
    return [
        at_most("energy lost through the first impact", lost, 1e-6, ""),
        *energy_rows("energy error from release to after it", summary, 1e-5),
        near("last ball leaves with the speed of the first", last, speed, 0.01 * speed, "m/s"),
        at_most("speed that stays with the others", others, 0.01 * speed, "m/s"),
    ]


def first_impact_speeds(law: str) -> np.ndarray:
    """Speeds along x of the cradle's five balls just after the first impact."""
    document = example_document("newtons-cradle")
    overrides = {"/simulation/contact/restitution_law": law}
    simulation = Simulation(load_scene(apply_overrides(document, overrides)))
    while simulation.velocities()[4, 0] <= 0.1:
        simulation.advance(1)
        if simulation.time > 1.0:
            raise AssertionError("the balls never met")
    return simulation.velocities()[:, 0]


def exact_top(time: float) -> tuple[float, float]:
    """Azimuth [rad] and largest tilt [rad] of the heavy top, from its conserved quantities.

    Released with pure spin: L_z = I3 w3 cos(theta0), so
    phi' = I3 w3 (cos theta0 - cos theta)/(I1 sin^2 theta), with I1 about the tip.
    """
    m, g, length, i1, i3, w3 = 1.0, 9.81, 0.2, 0.0133 + 0.2**2, 0.01, 120.0
    start = math.radians(20)

    def motion(_: float, y: np.ndarray) -> list[float]:
        theta, rate, _phi = y
        sine, cosine = math.sin(theta), math.cos(theta)
        turn = i3 * w3 * (math.cos(start) - cosine) / (i1 * sine**2)
        acceleration = turn**2 * sine * cosine - i3 * w3 * turn * sine / i1
        return [rate, acceleration + m * g * length * sine / i1, turn]

    solution = solve_ivp(motion, (0.0, time), [start, 0.0, 0.0], rtol=1e-11, atol=1e-12)
    return float(solution.y[2, -1]), float(solution.y[0].max())


def heavy_top() -> list[Row]:
    """Precession and nutation of a fast top."""
    result = Run("heavy-top")
    p = result.body("top", "px", "py", "pz") - [0, 0, 1]
    azimuth = np.unwrap(np.arctan2(p[:, 1], p[:, 0]))
    mean = float((azimuth[-1] - azimuth[0]) / 5.0)
    exact, tilt = exact_top(5.0)
    reached = float(np.arccos(p[:, 2] / np.linalg.norm(p, axis=1)).max())
    return [
        near("mean precession (exact for this start)", mean, exact / 5, 2e-2 * exact / 5, "rad/s"),
        near("largest tilt (exact)", reached, tilt, 1e-3, "rad"),
        *energy_rows("energy drift", result.summary["energy"], 1e-2),
    ]


def wheeled_cart() -> list[Row]:
    """Straight on for two seconds, then to the left."""
    result = Run("wheeled-cart")
    p, v = result.body("chassis", "px", "py"), result.body("chassis", "vx", "vy")
    early = result.time <= 2.0
    heading = math.atan2(v[-1, 1], v[-1, 0])
    # how far each update lets axles drift shows where nothing puts them in place
    apart = {"/simulation/stabilisation": "baumgarte"}
    plain = Run("wheeled-cart", apart)
    other = Run("wheeled-cart", {**apart, "/simulation/orientation_update": "infinitesimal"})
    finite = float(plain.summary["joints"]["max_angle_error"])
    infinitesimal = float(other.summary["joints"]["max_angle_error"])
    both = f"{finite:.2g} and {infinitesimal:.2g} rad: {infinitesimal / finite:.3g} times"
    return [
        at_most("sideways in the first 2 s", float(np.abs(p[early, 1]).max()), 1e-2, "m"),
        near("speed after 2 s", float(v[early][-1, 0]), 1.8, 0.02, "m/s"),
        Row("then turns left", "y > 0.5 m", f"y = {p[-1, 1]:.3g} m", bool(p[-1, 1] > 0.5)),
        Row("heading at the end", "> 0.5 rad", f"{heading:.3g} rad", bool(heading > 0.5)),
        Row(
            "axle error, finite and infinitesimal update",
            "finite smaller",
            both,
            bool(finite < infinitesimal),
        ),
    ]


def pile() -> list[Row]:
    """Two hundred solids in a bin come to rest."""
    result = Run("pile")
    p = np.stack([result.tables["bodies"][k].reshape(-1, 205) for k in ("px", "py", "pz")], -1)
    last = p[-1, 5:]
    inside = (np.abs(last[:, :2]) < 0.85).all() and (last[:, 2] > 0.0).all()
    contacts = result.tables["contacts"]
    gap = contacts["gap"][contacts["step"] == contacts["step"].max()]
    kinetic = float(result.tables["energy"]["kinetic"][-1])
    return [
        Row("bodies outside the bin", "0", "0" if inside else "some", bool(inside)),
        at_most("penetration at the end", float(max(0.0, -gap.min())), 5e-3, "m"),
        at_most("kinetic energy at the end", kinetic, 0.5, "J"),
    ]


def height_over(field: dict[str, Any], p: np.ndarray) -> np.ndarray:
    """Height (n,) of a heightfield's triangles at the points p (n, 2) of its rectangle."""
    heights = np.array(field["heights"])
    rows, columns = heights.shape
    u = (p[:, 0] / field["size"][0] + 0.5) * (columns - 1)
    v = (p[:, 1] / field["size"][1] + 0.5) * (rows - 1)
    i = np.clip(u.astype(int), 0, columns - 2)
    j = np.clip(v.astype(int), 0, rows - 2)
    u, v = u - i, v - j
    low, right, up, far = heights[j, i], heights[j, i + 1], heights[j + 1, i], heights[j + 1, i + 1]
    near = low + u * (right - low) + v * (up - low)
    beyond = far + (1 - u) * (up - far) + (1 - v) * (right - far)
    return np.where(u + v <= 1, near, beyond)


def terrain() -> list[Row]:
    """Solids, a convex mesh and a compound on a heightfield and a ramp of triangles."""
    document = example_document("terrain")
    result = Run("terrain")
    names = [body["name"] for body in document["bodies"] if body.get("type") != "static"]
    field = document["bodies"][0]["shapes"][0]
    clearance, out = math.inf, 0.0
    for name in names:
        p = result.body(name, "px", "py", "pz")
        out = max(out, float(np.abs(p[:, :2]).max()))
        clearance = min(clearance, float((p[:, 2] - height_over(field, p[:, :2])).min()))
    gap = result.tables["contacts"]["gap"]
    kinetic = result.tables["energy"]["kinetic"]
    return [
        at_most("farthest from the middle of 4 m of land", out, 1.9, "m"),
        Row("middles above the ground, always", ">= 0.05 m", f"{clearance:.3g} m",
            bool(clearance >= 0.05)),
        at_most("penetration", float(max(0.0, -gap.min())), 5e-3, "m"),
        at_most("kinetic energy at the end", float(kinetic[-1]), 1e-2, "J"),
    ]  # fmt: skip


def gear_train() -> list[Row]:
    """What gear, rack and screw couple stays coupled, and the motor's work is accounted for."""
    result = Run("gear-train")
    pinion = result.joint("pinion-axle", "q")
    wheel, way = result.joint("wheel-axle", "q"), result.joint("rail", "q")
    rise = result.body("spindle", "pz")[:, 0] - 0.6
    lifted = 0.04 * result.joint("thread", "q") / (2 * math.pi)
    return [
        near("turn of the pinion", float(pinion.max()), 6.0, 1e-6, "rad"),
        at_most(
            "wheel off -1/2 of the pinion", float(np.abs(wheel + pinion / 2).max()), 1e-8, "rad"
        ),
        at_most("rack off -0.1 m per radian", float(np.abs(way + 0.1 * pinion).max()), 1e-8, "m"),
        at_most("spindle off 4 cm per turn", float(np.abs(rise - lifted).max()), 1e-8, "m"),
        *energy_rows("energy drift", result.summary["energy"], 1e-5),
    ]


def ragdoll() -> list[Row]:
    """A figure falls, its joints hold within their stops, and it comes to rest."""
    simulation = Simulation(load_scene(example_document("ragdoll")))
    joints = simulation.model.joints
    balls = [(j, one) for j, one in enumerate(simulation.scene.joints) if isinstance(one, Ball)]
    cones = {j: one.limits.swing or math.inf for j, one in balls if one.limits is not None}
    limited = list(cones)
    beyond = 0.0
    while simulation.step_count < simulation.total_steps:
        simulation.advance(10)
        for j in limited:
            a, b = int(joints.body_a[j]), int(joints.body_b[j])
            s_a = turn(simulation.state.q_WB[a], joints.axis_A[j])
            s_b = turn(simulation.state.q_WB[b], joints.axis_B[j])
            swing = math.acos(float(np.clip(s_a @ s_b, -1.0, 1.0)))
            beyond = max(beyond, swing - cones[j])
    summary = simulation.summary()
    lowest = float(simulation.poses()[2:, 2].min())
    return [
        at_most("joints apart", summary["joints"]["max_position_error"], 1e-3, "m"),
        at_most("beyond the cones of the balls", beyond, 2e-2, "rad"),
        *energy_rows("energy drift", summary["energy"], 1e-2),
        at_most("kinetic energy at the end", simulation.energy()["kinetic"], 1e-2, "J"),
        Row("lies on the ground", "> 0 m", f"{lowest:.3g} m", lowest > 0.0),
    ]


MEASURES: dict[str, Callable[[], list[Row]]] = {
    "double-pendulum": double_pendulum,
    "slider-crank": slider_crank,
    "box-tower": box_tower,
    "incline": incline,
    "newtons-cradle": newtons_cradle,
    "heavy-top": heavy_top,
    "wheeled-cart": wheeled_cart,
    "pile": pile,
    "terrain": terrain,
    "gear-train": gear_train,
    "ragdoll": ragdoll,
    "throwing-arm": newer_scenes.throwing_arm,
    "stick-slip": newer_scenes.stick_slip,
    "robot-arm": newer_scenes.robot_arm,
    "planetary-gear": newer_scenes.planetary_gear,
    "pendulum-wave": gallery_scenes.pendulum_wave,
    "rolling-race": gallery_scenes.rolling_race,
    "bowling-ball": gallery_scenes.bowling_ball,
    "bouncing-balls": gallery_scenes.bouncing_balls,
    "spinning-handle": gallery_scenes.spinning_handle,
    "cardan-joint": gallery_scenes.cardan_joint,
    "bicycle": gallery_scenes.bicycle,
    "tippe-top": gallery_scenes.tippe_top,
    "dominoes": gallery_scenes.dominoes,
    "kapitza-pendulum": gallery_scenes.kapitza_pendulum,
}


CASES = {name: Case("the example as it stands", measure) for name, measure in MEASURES.items()}
