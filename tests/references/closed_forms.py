"""Classic checks with an answer in closed form, or known to many digits."""

from __future__ import annotations

import functools
import json
import math
from typing import Any

import numpy as np

from cardan.engine import Simulation
from tests.engine.scenes import Document, document, simulate
from tests.published import data
from tests.references.exact_rods import Array, inverse, matrices, product, size
from tests.references.rows import Case, Row, at_least, at_most, near

G = 9.81
CHECKS = "closed form or quadrature, reference data `closed_form`"


@functools.cache
def checks() -> dict[str, Any]:
    """The published parameters and answers."""
    found: dict[str, Any] = json.loads(data("closed_form", "checks.json").read_text("utf-8"))
    return found


def ball(name: str, position: Array | list[float], **more: Any) -> dict[str, Any]:
    """A body of 1 kg that is a point to whatever holds its centre."""
    at = [float(x) for x in position]
    return {"name": name, "mass": 1.0, "inertia": [1.0, 1.0, 1.0], "position": at, **more}


def tether(parent: str, child: str, start: Array, end: Array) -> dict[str, Any]:
    """Keeps two points at their distance."""
    anchors = {"anchor": np.asarray(start).tolist(), "anchor2": np.asarray(end).tolist()}
    return {"name": f"{parent}-{child}", "type": "distance", "parent": parent, "child": child} | (
        anchors
    )


# ---------------------------------------------------------------------- double pendulum


def double_pendulum(th1: float, th2: float, dt: float) -> Simulation:
    """Two masses of 1 kg on two tethers of 1 m, angles from the vertical, at rest."""
    first = np.array([math.sin(th1), 0.0, -math.cos(th1)])
    second = first + np.array([math.sin(th2), 0.0, -math.cos(th2)])
    bodies = [ball("first", first), ball("second", second)]
    joints = [
        tether("world", "first", np.zeros(3), first),
        tether("first", "second", first, second),
    ]
    return simulate(document(bodies, joints, simulation={"dt": dt}))


def angles(sim: Simulation) -> Array:
    """(4,) th1, th2 [rad] and their rates [rad/s]."""
    p, v = sim.poses()[:, :3], sim.velocities()[:, :3]
    rods, rates = np.array([p[0], p[1] - p[0]]), np.array([v[0], v[1] - v[0]])
    th = np.arctan2(rods[:, 0], -rods[:, 2])
    return np.array([*th, *(rates[:, 0] * np.cos(th) + rates[:, 2] * np.sin(th))])


def set_angles(sim: Simulation, state: Array) -> None:
    """Put a double pendulum where its angles and rates say."""
    th, rate = state[:2], state[2:]
    zero = np.zeros(2)
    rods = np.stack([np.sin(th), zero, -np.cos(th)], 1)
    speeds = rate[:, None] * np.stack([np.cos(th), zero, np.sin(th)], 1)
    sim.state.p_WB[:2] = np.cumsum(rods, axis=0)
    sim.state.v_WB_W[:2] = np.cumsum(speeds, axis=0)


def growth(seconds: float) -> float:
    """Largest Lyapunov exponent [1/s] from two runs kept 1e-8 apart (Benettin)."""
    runs = [double_pendulum(math.pi / 2, math.pi / 2, 1e-3) for _ in range(2)]
    apart, total = 1e-8, 0.0
    set_angles(runs[1], angles(runs[0]) + np.array([apart, 0.0, 0.0, 0.0]))
    for _ in range(round(seconds / 0.5)):
        for sim in runs:
            # what the joints are off by must not count as distance
            set_angles(sim, angles(sim))
            sim.advance(500)
        one, other = (angles(sim) for sim in runs)
        difference = other - one
        difference[:2] = (difference[:2] + math.pi) % (2 * math.pi) - math.pi
        distance = float(np.linalg.norm(difference))
        total += math.log(distance / apart)
        set_angles(runs[1], one + apart / distance * difference)
    return total / seconds


def lyapunov() -> list[Row]:
    """Where the double pendulum is after 5 s and 10 s, and how fast it forgets."""
    expect = checks()["double_pendulum_lyapunov"]["expect"]
    sim = double_pendulum(math.pi / 2, math.pi / 2, 2e-5)
    rows = []
    for until, bound in ((5, 1e-6), (10, 1e-4)):
        sim.advance(250_000)
        error = np.abs(angles(sim)[:2] - expect[f"th1_th2_at_{until}s"]).max()
        rows.append(at_most(f"angles after {until} s, steps of 2e-5 s", error, bound, "rad"))
    exponent = expect["lambda_max_90_90"]
    rows.append(near("Lyapunov exponent over 600 s", growth(600.0), exponent, 0.15, "1/s"))
    return rows


# ---------------------------------------------------------------------- pendulum and frames


def foucault() -> list[Row]:
    """A pendulum on a turning frame, let go at rest in that frame: its plane turns back."""
    turn, reach, seconds = 0.05, 0.02, 60.0
    bob = np.array([reach, 0.0, -math.sqrt(1.0 - reach**2)])
    frame = {"name": "frame", "type": "kinematic", "angular_velocity": [0, 0, turn]}
    bodies = [frame, ball("bob", bob, linear_velocity=[0, turn * reach, 0])]
    joints = [tether("frame", "bob", np.zeros(3), bob)]
    sim = simulate(document(bodies, joints, simulation={"dt": 1e-3, "duration": seconds}))
    poses = []
    for _ in range(round(seconds / 0.01)):
        sim.advance(10)
        poses.append(sim.poses())
    frames, bobs = np.array(poses).swapaxes(0, 1)
    path = np.einsum("nji,nj->ni", matrices(frames[:, 3:]), bobs[:, :3])[:, :2]
    # the plane of the swing: long axis of the path's second moments over whole swings
    period = 2 * math.pi / math.sqrt(G)
    chunk = round(10 * period / 0.01)
    planes = []
    for start in range(0, len(path) - chunk, 50):
        part = path[start : start + chunk]
        (a, b), (_, c) = part.T @ part
        planes.append(0.5 * math.atan2(2 * b, a - c))
    unwrapped = np.unwrap(2 * np.array(planes)) / 2
    slope = float(np.polyfit(0.5 * np.arange(len(planes)), unwrapped, 1)[0])
    return [near("the plane turns in the frame", slope, -turn, 1e-3 * turn, "rad/s")]


def limit() -> list[Row]:
    """A pendulum falls from 60 degrees on a stop at the vertical and stays there."""
    expect, start, dt = checks()["joint_limit_inelastic"]["expect"], math.pi / 3, 1e-4
    bob = {"name": "bob", "mass": 1.0, "inertia": [1e-9, 1e-9, 1e-9]}
    bob["position"] = [-math.sin(start), 0.0, -math.cos(start)]
    hinge: Document = {"name": "pivot", "type": "hinge", "parent": "world", "child": "bob"}
    hinge |= {"anchor": [0, 0, 0], "axis": [0, 1, 0], "limits": {"lower": -start}}
    sim = simulate(document([bob], [hinge], simulation={"dt": dt}))
    before, impulse, depth = 0.0, 0.0, 0.0
    sim.advance(5000)
    for _ in range(1000):
        sim.advance(1)
        row = sim.joint_table()[0]
        before = max(before, -float(row["qd"]))
        impulse += dt * float(row["limit_force"])
        depth = max(depth, -start - float(row["q"]))
    after = abs(float(sim.joint_table()["qd"][0]))
    speed = expect["omega_before"]
    return [
        near("speed before the stop", before, speed, 1e-6, "rad/s"),
        at_most("speed after it", after, 1e-6, "rad/s"),
        near("impulse m L^2 w", impulse, speed, 1e-6, "N m s"),
        at_most("past the stop", depth, 1e-6, "rad"),
    ]


# ---------------------------------------------------------------------- motors


def flywheel(inertia: float, **joint: Any) -> Simulation:
    """A disc on a hinge without gravity, steps of 1 ms."""
    disc = {"name": "disc", "mass": 1.0, "inertia": [inertia] * 3}
    axle = {"name": "axle", "type": "hinge", "parent": "world", "child": "disc", **joint}
    axle |= {"anchor": [0, 0, 0], "axis": [0, 0, 1]}
    return simulate(document([disc], [axle], gravity=[0, 0, 0], simulation={"dt": 1e-3}))


def torque_motor() -> list[Row]:
    """A constant torque against viscous damping."""
    check = checks()["torque_motor_flywheel"]
    motor = {"type": "force", "target": check["params"]["tau"]}
    sim = flywheel(check["params"]["J"], damping=check["params"]["b"], motor=motor)
    sim.advance(5000)
    speed = float(sim.joint_table()["qd"][0])
    return [near("speed after 5 s", speed, check["expect"]["omega_5s"], 1e-6, "rad/s")]


def saturated_motor() -> list[Row]:
    """A velocity motor at its largest torque until it has its speed."""
    params = checks()["velocity_motor_saturated"]["params"]
    motor = {"type": "velocity", "target": params["wstar"], "max_force": params["T"]}
    sim = flywheel(params["J"], motor=motor)
    reached = math.nan
    sim.advance(5990)
    while sim.step_count < 6010:
        sim.advance(1)
        if math.isnan(reached) and abs(sim.joint_table()["qd"][0] - params["wstar"]) < 1e-9:
            reached = sim.time
    row = sim.joint_table()[0]
    expected = checks()["velocity_motor_saturated"]["expect"]["time_to_target"]
    return [
        near("time to the target", reached, expected, 1e-3, "s"),
        at_most("torque afterwards", abs(float(row["motor_force"])), 1e-9, "N m"),
        near("speed afterwards", float(row["qd"]), params["wstar"], 1e-12, "rad/s"),
    ]


# ---------------------------------------------------------------------- free and spinning bodies


def symmetric_body() -> list[Row]:
    """A free symmetric body: q(t) = q(p t about H) q(s t about its axis)."""
    params = checks()["symmetric_free_body"]["params"]
    across, along = params["I"], params["J"]
    w = np.array([2.0, 0.0, 3.0])
    momentum = np.array([across, across, along]) * w
    p = float(np.linalg.norm(momentum)) / across
    s = (across - along) / across * w[2]
    body = {"name": "body", "mass": 1.0, "inertia": [across, across, along]}
    scene = document([{**body, "angular_velocity": w.tolist()}], gravity=[0, 0, 0])
    errors = []
    # finer steps err by rounding only
    for dt in (8e-2, 4e-2, 1e-3):
        sim = simulate({**scene, "simulation": {"dt": dt}})
        sim.advance(round(20.0 / dt))
        t = sim.time
        h = momentum / np.linalg.norm(momentum)
        lead = np.array([math.cos(p * t / 2), *(math.sin(p * t / 2) * h)])
        spin = np.array([math.cos(s * t / 2), 0, 0, math.sin(s * t / 2)])
        off = product(inverse(product(lead, spin)), sim.poses()[:1, 3:])
        errors.append(2.0 * float(size(off[:, 1:])[0]))
    order = math.log2(errors[0] / errors[1])
    return [
        at_most("orientation after 20 s, steps of 1 ms", errors[2], 1e-9, "rad"),
        at_least("order of convergence", order, 4.9, ""),
    ]


@functools.cache
def dzhanibekov_curves() -> tuple[Array, Array, Array]:
    """Times, published and computed (n, 7): quaternion and body rates, steps of 0.01 s, 60 s."""
    table = np.loadtxt(data("closed_form", "dzhanibekov_I123.csv"), delimiter=",", skiprows=1)
    body = {"name": "body", "mass": 1.0, "inertia": [1.0, 2.0, 3.0]}
    body["angular_velocity"] = [0.01, 1.0, 0.01]
    sim = simulate(document([body], gravity=[0, 0, 0], simulation={"dt": 0.01, "duration": 60.0}))
    q, w = np.zeros((len(table), 4)), np.zeros((len(table), 3))
    for k in range(len(table)):
        q[k], w[k] = sim.poses()[0, 3:], sim.velocities()[0, 3:]
        sim.advance(1)
    rates = np.einsum("nji,nj->ni", matrices(q), w)
    q *= np.sign((q * table[:, 1:5]).sum(1))[:, None]
    return table[:, 0], table[:, 1:], np.hstack([q, rates])


def dzhanibekov() -> list[Row]:
    """A minute of tumbling about the middle axis."""
    expect = json.loads(data("closed_form", "reference_rigid.json").read_text("utf-8"))
    expect = expect["dzhanibekov_I123_w0.01_1_0.01"]
    t, published, ours = dzhanibekov_curves()
    error = np.abs(ours - published).max(0)
    w2 = ours[:, 5]
    k = np.flatnonzero(w2[:-1] * w2[1:] < 0)
    crossings = t[k] + 0.01 * w2[k] / (w2[k] - w2[k + 1])
    late = float(np.abs(crossings - expect["w2_zero_crossings_s"]).max())
    return [
        at_most("quaternion over 60 s, steps of 0.01 s", float(error[:4].max()), 1e-7, ""),
        at_most("body rates over 60 s", float(error[4:].max()), 1e-7, "rad/s"),
        at_most("times of turning over", late, 1e-5, "s"),
    ]


@functools.cache
def heavy_top_curves(dt: float) -> tuple[Array, Array, Array]:
    """Times, published and computed centre of mass (n, 3) of a top at 150 rad/s, 2 s."""
    table = np.loadtxt(data("closed_form", "heavy_top.csv"), delimiter=",", skiprows=1)
    w = table[0, 5:8]
    top = {"name": "top", "mass": 15.0, "inertia": [0.234375, 0.46875, 0.234375]}
    top |= {"position": [0, 1, 0], "angular_velocity": w.tolist()}
    top["linear_velocity"] = np.cross(w, [0, 1, 0]).tolist()
    tip = {"name": "tip", "type": "ball", "parent": "world", "child": "top", "anchor": [0, 0, 0]}
    sim = simulate(document([top], [tip], simulation={"dt": dt, "duration": 2.0}))
    ours = np.zeros((len(table), 3))
    for k in range(len(table)):
        ours[k] = sim.poses()[0, :3]
        sim.advance(round(1e-3 / dt))
    return table[:, 0], table[:, 8:], ours


def heavy_top() -> list[Row]:
    """The centre of mass over 2 s at two steps."""
    errors = []
    for dt in (1e-4, 5e-5):
        _, published, ours = heavy_top_curves(dt)
        errors.append(float(size(ours - published).max()))
    order = math.log2(errors[0] / errors[1])
    return [
        at_most("centre of mass over 2 s, steps of 1e-4 s", errors[0], 1e-3, "m"),
        at_least("order of convergence", order, 1.9, ""),
    ]


# ---------------------------------------------------------------------- isolated systems


def collision() -> list[Row]:
    """Spinning boxes collide and rub without gravity: nothing from outside, nothing changes."""
    box = {"type": "box", "size": [0.3, 0.2, 0.1], "material": "rough"}
    bodies = []
    for k, (at, v, w) in enumerate(
        [
            ([0, 0, 0], [1.0, 0.1, 0.0], [1.0, -2.0, 3.0]),
            ([0.6, 0.05, 0.02], [-1.0, 0.0, 0.05], [0.0, 4.0, -1.0]),
            ([0.3, 0.5, 0.0], [0.0, -1.5, 0.0], [2.0, 0.0, 1.0]),
        ]
    ):
        one = {"name": f"box-{k}", "mass": 1.0 + k, "position": at, "shapes": [box]}
        bodies.append({**one, "linear_velocity": v, "angular_velocity": w})
    rough = {"rough": {"friction": 0.6, "restitution": 0.4}}
    sim = simulate(document(bodies, materials=rough, gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    start, contacts, worst = sim.momentum(), 0, np.zeros(2)
    scale = np.array([3.0, 3.0])
    for _ in range(1000):
        sim.advance(1)
        contacts += len(sim.contact_table())
        drift = np.abs(sim.momentum() - start)
        worst = np.maximum(worst, [drift[:3].max(), drift[3:].max()])
    return [
        Row("contacts over 1 s", "> 0", str(contacts), contacts > 0),
        at_most("linear momentum, relative", float(worst[0] / scale[0]), 1e-13, ""),
        at_most("angular momentum, relative", float(worst[1] / scale[1]), 1e-12, ""),
    ]


MEASURES = {
    "double_pendulum_lyapunov": lyapunov,
    "foucault_pendulum": foucault,
    "symmetric_free_body": symmetric_body,
    "joint_limit_inelastic": limit,
    "torque_motor_flywheel": torque_motor,
    "velocity_motor_saturated": saturated_motor,
    "two_body_gravity_free_collision": collision,
    "dzhanibekov": dzhanibekov,
    "heavy_top": heavy_top,
}
CASES = {name: Case(CHECKS, measure) for name, measure in MEASURES.items()}
