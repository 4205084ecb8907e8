"""Laws of mechanics that hold for any scene, measured: rows for the tests and the report."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.engine import Simulation
from tests.engine.scenes import document, simulate
from tests.laws.machines import SCENES, adrift
from tests.laws.transforms import FLIP, TURN_FLIP, in_units, mirrored, moved, shuffled
from tests.references.exact_rods import inverse, matrices, product, size
from tests.references.rows import Case, Row, at_least, at_most

LAW = "mechanics"
STEPS = {"machine": 1000, "heap": 800}
# rounding, 1e-16, grows by what the scene does with it: a machine swings, a heap collides
BOUND = {"machine": 1e-9, "heap": 1e-8}

Motion = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def motion(sim: Simulation) -> Motion:
    """p, q, v, w of all bodies by name."""
    order = np.argsort(np.array(sim.body_names))
    poses, velocities = sim.poses()[order], sim.velocities()[order]
    return poses[:, :3], poses[:, 3:], velocities[:, :3], velocities[:, 3:]


def after(scene: dict[str, Any], steps: int) -> Motion:
    """The motion of a scene after some steps."""
    sim = simulate(scene)
    sim.advance(steps)
    return motion(sim)


@functools.cache
def plain(name: str) -> Motion:
    """The scene as it stands."""
    return after(SCENES[name](), STEPS[name])


def apart(a: Motion, b: Motion) -> float:
    """Largest difference of positions [m], orientations [rad] and velocities [m/s, rad/s]."""
    turned = 2.0 * size(product(inverse(a[1]), b[1])[:, 1:])
    rest = [float(np.abs(x - y).max()) for x, y in zip(a, b, strict=True)]
    return max(rest[0], float(turned.max()), rest[2], rest[3])


def rows(what: str, difference: dict[str, float]) -> list[Row]:
    """One row for each scene."""
    return [at_most(f"{name}, {what}", one, BOUND[name], "") for name, one in difference.items()]


def order_of_bodies() -> list[Row]:
    """In which order bodies, joints and forces stand in the document does not matter."""
    found = {}
    for name, scene in SCENES.items():
        others = [after(shuffled(scene(), seed), STEPS[name]) for seed in (1, 2)]
        found[name] = max(apart(plain(name), other) for other in others)
    return rows("shuffled", found)


def change_of_frame() -> list[Row]:
    """Turned, moved and flying by, everything happens as before."""
    q = np.array([0.5, 0.1, -0.7, 0.5])
    q = q / np.linalg.norm(q)
    shift, boost = np.array([3.0, -2.0, 1.0]), np.array([0.7, -0.4, 0.9])
    R = matrices(q[None, :])[0]
    found = {}
    for name, scene in SCENES.items():
        p, orientation, v, w = plain(name)
        time = STEPS[name] * 1e-3
        expected = (
            p @ R.T + shift + boost * time,
            product(q, orientation),
            v @ R.T + boost,
            w @ R.T,
        )
        other = moved(scene(), q.tolist(), shift.tolist(), boost.tolist())
        found[name] = apart(expected, after(other, STEPS[name]))
    return rows("turned, moved and flying by", found)


def mirror_image() -> list[Row]:
    """The mirror image of a motion is the motion of the mirror image."""
    found = {}
    for name, scene in SCENES.items():
        p, q, v, w = plain(name)
        expected = (FLIP * p, np.array([1.0, 1, -1, -1]) * q, FLIP * v, TURN_FLIP * w)
        found[name] = apart(expected, after(mirrored(scene()), STEPS[name]))
    return rows("mirrored", found)


def units() -> list[Row]:
    """Numbers follow their units: nothing in the engine is a metre, a second or a kilogram."""
    length, time, mass = 0.25, 0.5, 8.0
    found = {}
    for name, scene in SCENES.items():
        p, q, v, w = after(in_units(scene(), length, time, mass), STEPS[name])
        found[name] = apart(plain(name), (p / length, q, v * time / length, w * time))
    return rows("in other units", found)


def momentum_drift(seed: int, steps: int = 300) -> tuple[float, float, int, float]:
    """Drift of both momenta of a random isolated scene, relative to what its bodies exchange.

    Returns the drifts [-], the number of contacts that there were, and the smallest joint limit
    force [N or N m] that acted: neither may be idle in all scenes.
    """
    sim = simulate(adrift(seed))
    start, contacts, limits, scale = sim.momentum(), 0, 0.0, 1.0
    drift = np.zeros(2)
    for _ in range(steps // 10):
        sim.advance(10)
        contacts += len(sim.contact_table())
        limits = max(limits, float(np.abs(sim.joint_table()["limit_force"]).max(initial=0.0)))
        bodies = np.array([np.linalg.norm(v[:3]) + np.linalg.norm(v[3:]) for v in sim.velocities()])
        scale = max(scale, float(bodies.sum()))
        now = np.abs(sim.momentum() - start)
        drift = np.maximum(drift, [now[:3].max(), now[3:].max()])
    return float(drift[0] / scale), float(drift[1] / scale), contacts, limits


def isolated() -> list[Row]:
    """Thirty random scenes: bodies on joints with stops, motors and springs collide in space."""
    found = [momentum_drift(seed) for seed in range(30)]
    linear, angular, contacts, limits = (np.array(column) for column in zip(*found, strict=True))
    busy = f"{int((contacts > 0).sum())} and {int((limits > 0).sum())}"
    return [
        at_most("linear momentum, relative", float(linear.max()), 1e-12, ""),
        at_most("angular momentum, relative", float(angular.max()), 1e-12, ""),
        Row(
            "scenes with contacts, with stops reached",
            "several",
            busy,
            bool((contacts > 0).sum() > 3 and (limits > 0).sum() > 3),
        ),
    ]


def chain(n: int, kind: str) -> dict[str, Any]:
    """n rods of 0.2 m in a row along x on balls or hinges, which do not collide."""
    rod = {"mass": 1.0, "inertia": [5e-5, 0.2**2 / 12, 0.2**2 / 12]}
    bodies = [{"name": f"rod-{k}", "position": [0.2 * k + 0.1, 0, 0], **rod} for k in range(n)]
    axis = {"axis": [0, 1, 0]} if kind == "hinge" else {}
    joints = [
        {"name": f"joint-{k}", "type": kind, "child": f"rod-{k}", "anchor": [0.2 * k, 0, 0]}
        | {"parent": f"rod-{k - 1}" if k else "world", **axis}
        for k in range(n)
    ]
    return document(bodies, joints)


@functools.cache
def chain_energy(kind: str, n: int, dt: float) -> tuple[np.ndarray, dict[str, Any]]:
    """Energy error of a chain released from the horizontal, relative to its largest kinetic energy.

    Every 0.05 s for 10 s; then the summary of the run.
    """
    scene = chain(n, kind)
    scene["simulation"] = {"dt": dt, "duration": 10.0}
    sim = simulate(scene)
    first, curve = sim.energy()["total"], [0.0]
    for _ in range(200):
        sim.advance(round(0.05 / dt))
        curve.append(sim.energy()["total"] - first)
    summary = sim.summary()
    scale = summary["energy"]["max_kinetic"]
    return np.array(curve) / scale, summary


# with the default stabilisation, which is of second order and gives back what joints took
SHORT = (("ball", 2, 1e-3), ("hinge", 2, 1e-3), ("ball", 3, 1e-3), ("hinge", 3, 1e-3))
LONG = (("ball", 10, 1e-3), ("hinge", 10, 1e-3))


def chains(which: tuple[tuple[str, int, float], ...], returned: float) -> list[Row]:
    """Rods of 0.2 m on joints, released from the horizontal: nothing takes energy.

    `returned`: the largest share of their energy that joints may get back, for it is an error too.
    """
    found = []
    for kind, n, dt in which:
        _, summary = chain_energy(kind, n, dt)
        energy, error = summary["energy"], summary["joints"]["max_position_error"]
        name = f"{n} rods on {kind}s, steps of {1e3 * dt:g} ms"
        drift, share = energy["max_relative_drift"], energy["returned"]["share"]
        found.append(at_most(f"energy over 10 s, {name}", drift, 1e-3, ""))
        found.append(at_most(f"energy returned by joints, share, {name}", share, returned, ""))
        found.append(at_most(f"joint error, {name}", error, 1e-8, "m"))
    return found


def return_error(dt: float) -> float:
    """How far a double pendulum misses its start when its velocities are turned round."""
    sim = simulate(pendulums(dt))
    start = motion(sim)[0]
    sim.advance(round(1.0 / dt))
    sim.state.v_WB_W[...] *= -1.0
    sim.state.w_WB_W[...] *= -1.0
    sim.advance(round(1.0 / dt))
    return float(np.abs(motion(sim)[0] - start).max())


def pendulums(dt: float) -> dict[str, Any]:
    """Two rods on balls, swinging in all directions."""
    rod = {"mass": 1.0, "inertia": [0.002, 0.03, 0.03]}
    bodies = [
        {"name": "upper", "position": [0.3, 0, 0], "linear_velocity": [0, 0.3, 0], **rod},
        {"name": "lower", "position": [0.9, 0, 0], "linear_velocity": [0, 0.9, 0], **rod},
    ]
    for body in bodies:
        body["angular_velocity"] = [0, 0, 1.0]
    ball = {"type": "ball", "child": "upper", "parent": "world", "anchor": [0, 0, 0]}
    knee = {"type": "ball", "child": "lower", "parent": "upper", "anchor": [0.6, 0, 0]}
    joints = [{"name": "hip", **ball}, {"name": "knee", **knee}]
    return {"bodies": bodies, "joints": joints, "simulation": {"dt": dt}}


def time_turned_round() -> list[Row]:
    """Smooth motion runs back the way it came, but for what the step errs."""
    errors = [return_error(dt) for dt in (2e-3, 1e-3, 5e-4)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    return [
        at_most("miss of the start after 1 s and back, steps of 1 ms", errors[1], 1e-4, "m"),
        at_least("order in the step", float(orders.min()), 1.9, ""),
    ]


def convergence_order(scene: dict[str, Any], seconds: float) -> float:
    """Order from three steps, each half of the one before."""
    ends = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        scene["simulation"] = {**scene.get("simulation", {}), "dt": dt}
        ends.append(after(scene, round(seconds / dt))[0])
    return math.log2(np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max())


def convergence() -> list[Row]:
    """Where nothing collides, errors fall with the square of the step."""
    smooth = SCENES["machine"]()
    for joint in smooth["joints"]:
        joint.pop("limits", None)
        joint.pop("motor", None)
    slider_crank = {
        "bodies": [
            {"name": "crank", "mass": 0.5, "inertia": [1e-4, 2e-3, 2e-3], "position": [0.1, 0, 0]},
            {"name": "rod", "mass": 0.3, "inertia": [1e-4, 4e-3, 4e-3], "position": [0.4, 0, 0]},
            {"name": "piston", "mass": 1.0, "inertia": [1e-3] * 3, "position": [0.6, 0, 0]},
        ],
        "joints": [
            {"name": "main", "type": "hinge", "parent": "world", "child": "crank"}
            | {"anchor": [0, 0, 0], "axis": [0, 1, 0], "motor": {"type": "force", "target": 0.4}},
            {"name": "pin", "type": "hinge", "parent": "crank", "child": "rod"}
            | {"anchor": [0.2, 0, 0], "axis": [0, 1, 0]},
            {"name": "wrist", "type": "hinge", "parent": "rod", "child": "piston"}
            | {"anchor": [0.6, 0, 0], "axis": [0, 1, 0]},
            {"name": "bore", "type": "slider", "parent": "world", "child": "piston"}
            | {"axis": [1, 0, 0]},
        ],
    }
    cases = {
        "double pendulum": (pendulums(1e-3), 1.0),
        "machine of six joints, springs and dampers": (smooth, 0.5),
        "slider-crank with a torque": (slider_crank, 0.5),
    }
    return [
        at_least(f"order, {name}", convergence_order(scene, seconds), 1.9, "")
        for name, (scene, seconds) in cases.items()
    ]


MEASURES: dict[str, Callable[[], list[Row]]] = {
    "order of bodies": order_of_bodies,
    "change of frame": change_of_frame,
    "mirror image": mirror_image,
    "units": units,
    "isolated systems": isolated,
    "energy of chains": functools.partial(chains, SHORT, 0.1),
    "energy of long chains": functools.partial(chains, LONG, 1.0),
    "time turned round": time_turned_round,
    "convergence": convergence,
}
CASES = {name: Case(LAW, measure, "long" in name) for name, measure in MEASURES.items()}
