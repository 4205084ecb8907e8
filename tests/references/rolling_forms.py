"""What rolls and walks: a bicycle by itself, a ball on a turntable, a wheel of spokes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from cardan.engine import Simulation
from tests.engine.scenes import document, ground, simulate
from tests.references.rows import Case, Row, at_most, near

G = 9.81
GRIPPING = {"rubber": {"friction": 3.0, "restitution": 0.0}}

# Meijaard et al. 2007, table 1 and equation (5.3) with the matrices of the benchmark bicycle:
# M q'' + v C1 q' + (g K0 + v^2 K2) q = 0 of q = (lean to the right, steer to the right)
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
TILT, TRAIL, BASE = math.pi / 10.0, 0.08, 1.02
REAR, FRONT = 0.3, 0.35
# a wheel of the benchmark is a knife edge
RIM = 1e-6


def bicycle_flow(speed: float) -> NDArray[np.float64]:
    """A of x' = A x with x = (lean, steer, their rates), as published; 4 x 4."""
    lower = np.linalg.solve(M, np.hstack([-(G * K0 + speed**2 * K2), -speed * C1]))
    return np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), lower])


def wheel(
    name: str, mass: float, place: list[float], across: float, along: float
) -> dict[str, Any]:
    """A thin disk with its axle along y."""
    upright = [math.sqrt(0.5), math.sqrt(0.5), 0, 0]
    disk = {"type": "cylinder", "radius": place[2], "length": RIM, "orientation": upright}
    return {
        "name": name, "mass": mass, "position": place, "inertia": [across, along, across],
        "shapes": [{**disk, "material": "rubber"}],
    }  # fmt: skip


def bicycle(speed: float, formulation: str) -> Simulation:
    """The benchmark bicycle upright at a speed, x forward, z up, 2 ms a step."""
    frame = {
        "name": "frame", "mass": 85, "position": [0.3, 0, 0.9], "shapes": [],
        "inertia": [9.2, 11, 2.8, 0, -2.4, 0],
    }  # fmt: skip
    fork = {
        "name": "fork", "mass": 4, "position": [0.9, 0, 0.7], "shapes": [],
        "inertia": [0.05892, 0.06, 0.00708, 0, 0.00756, 0],
    }  # fmt: skip
    rear = wheel("rear", 2, [0, 0, REAR], 0.0603, 0.12)
    front = wheel("front", 3, [BASE, 0, FRONT], 0.1405, 0.28)
    bodies = [rear, frame, fork, front]
    for body in bodies:
        body["linear_velocity"] = [speed, 0, 0]
    rear["angular_velocity"] = [0, speed / REAR, 0]
    front["angular_velocity"] = [0, speed / FRONT, 0]
    hinge: dict[str, Any] = {"type": "hinge", "axis": [0, 1, 0]}
    steer = {"axis": [-math.sin(TILT), 0, math.cos(TILT)], "anchor": [BASE + TRAIL, 0, 0]}
    joints = [
        {**hinge, "name": "rear axle", "parent": "frame", "child": "rear", "anchor": [0, 0, REAR]},
        {**hinge, **steer, "name": "steer", "parent": "frame", "child": "fork"},
        {**hinge, "name": "axle", "parent": "fork", "child": "front", "anchor": [BASE, 0, FRONT]},
    ]
    return simulate(
        document(
            [ground(material="rubber"), *bodies],
            joints=joints,
            materials=GRIPPING,
            simulation={"dt": 2e-3, "formulation": formulation},
        )
    )


def lean_and_steer(sim: Simulation) -> NDArray[np.float64]:
    """(lean, steer) of the bicycle, both to the right [rad]."""
    w, x, y, z = sim.poses()[2][3:]
    lean = math.asin(2.0 * (w * x + y * z))
    return np.array([lean, -float(sim.joint_table()["q"][1])])


def bicycle_rides() -> list[Row]:
    """A push of 2 N s from the side, then 2 s beside the published linear equations.

    The rates at which the comparison begins are central differences, exact to (h w)^2 / 6.
    """
    rows = []
    for speed in (4.0, 5.0, 7.0):
        flow = bicycle_flow(speed)
        for formulation in ("maximal", "reduced"):
            sim = bicycle(speed, formulation)
            sim.apply_impulse("frame", [0, 2.0, 0])
            sim.advance(100)
            h = sim.time_step
            path = []
            for _ in range(1002):
                path.append(lean_and_steer(sim))
                sim.advance(1)
            found = np.array(path)
            x = np.concatenate([found[1], (found[2] - found[0]) / (2.0 * h)])
            step = expm(h * flow)
            off = 0.0
            for here in found[1:]:
                off = max(off, float(np.abs(here - x[:2]).max()))
                x = step @ x
            what = f"{formulation}, {speed:g} m/s: lean and steer off, over the largest"
            rows.append(at_most(what, off / float(np.abs(found).max()), 0.01, ""))
    return rows


def turntable() -> list[Row]:
    """A ball that rolls on a table that turns at W goes round circles at 2 W / 7."""
    turn, start, slower = 2.0, 1.0, 0.3
    disk = {"type": "cylinder", "radius": 20, "length": 0.1, "material": "rubber"}
    table = {
        "name": "table", "type": "kinematic", "position": [0, 0, -0.05],
        "angular_velocity": [0, 0, turn], "shapes": [disk],
    }  # fmt: skip
    speed = turn * start + slower
    ball = {
        "name": "ball", "mass": 1, "position": [start, 0, 0.1],
        "linear_velocity": [0, speed, 0], "angular_velocity": [-slower / 0.1, 0, 0],
        "shapes": [{"type": "sphere", "radius": 0.1, "material": "rubber"}],
    }  # fmt: skip
    sim = simulate(document([table, ball], materials=GRIPPING, simulation={"dt": 2e-3}))
    path = []
    for _ in range(4000):
        sim.advance(1)
        path.append(sim.poses()[1][:2])
    rate = 2.0 * turn / 7.0
    # round the middle, at the speed of the start
    from_middle = np.array(path) - [start - speed / rate, 0.0]
    angle = np.unwrap(np.arctan2(from_middle[:, 1], from_middle[:, 0]))
    radius = np.hypot(*from_middle.T)
    return [
        near("rate", float(angle[-1] / sim.time), rate, 1e-4 * rate, "rad/s"),
        at_most("off the circle", float(np.abs(radius - speed / rate).max()), 1e-3, "m"),
    ]


def rimless_wheel() -> list[Row]:
    """Eight spokes walk down a slope; each impact keeps a share of the spin (Coleman 1998).

    It keeps r = (I + m l^2 cos 2a) / (I + m l^2) with 2a between spokes, and from spoke to spoke
    gravity gives 2 m g l sin(a) sin(slope): the spin tends to a limit cycle, in which it is fastest
    before an impact and slowest where the hub is above its foot.
    """
    a, slope, length, foot, mass, inertia = math.pi / 8.0, 0.12, 1.0, 1e-3, 1.0, 0.3
    down = [G * math.sin(slope), 0.0, -G * math.cos(slope)]
    out = length - foot
    shapes = [
        {
            "type": "sphere", "radius": foot, "material": "rubber",
            "position": [out * math.sin(a * k), 0, -out * math.cos(a * k)],
        }
        for k in range(1, 16, 2)
    ]  # fmt: skip
    height = out * math.cos(a) + foot
    hub = {
        "name": "wheel", "mass": mass, "inertia": [inertia] * 3, "position": [0, 0, height],
        "linear_velocity": [1.2 * height, 0, 1.2 * length * math.sin(a)],
        "angular_velocity": [0, 1.2, 0], "shapes": shapes,
    }  # fmt: skip
    plane = {"name": "upright", "type": "planar", "parent": "world", "child": "wheel"}
    sim = simulate(
        document(
            [ground(material="rubber"), hub],
            joints=[{**plane, "anchor": [0, 0, height], "axis": [0, 1, 0]}],
            gravity=down,
            materials=GRIPPING,
            simulation={"dt": 2e-4},
        )
    )
    moment = inertia + mass * length**2
    kept = (inertia + mass * length**2 * math.cos(2.0 * a)) / moment
    given = 4.0 * mass * G * length * math.sin(a) * math.sin(slope) / moment
    after = kept * math.sqrt(given / (1.0 - kept**2))
    climb = 2.0 * mass * G * length * (1.0 - math.cos(a - slope)) / moment
    slowest = math.sqrt(after**2 - climb)
    spins = []
    while sim.time < 8.0:
        sim.advance(1)
        if sim.time > 6.0:
            spins.append(float(sim.velocities()[1][4]))
    energy = sim.summary()["energy"]
    drift = abs(energy["correction"]) / energy["dissipated_impact"]
    return [
        near("slowest spin", min(spins), slowest, 2e-3 * slowest, "rad/s"),
        near("fastest spin", max(spins), after / kept, 2e-3 * after, "rad/s"),
        at_most("correction, over what impacts took", drift, 1e-4, ""),
        at_most("findings of the verdict", len(sim.summary()["verdict"]["findings"]), 0, ""),
    ]


CASES = {
    "bicycle": Case("Meijaard et al. 2007", bicycle_rides),
    "turntable": Case("Burns 1981", turntable),
    "rimless-wheel": Case("Coleman 1998", rimless_wheel),
}
