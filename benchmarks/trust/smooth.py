"""Families of smooth motion: pendulums, springs, tops, chains, orbits, drag."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.trust.case import (
    BOTH,
    Case,
    Document,
    G,
    Parameters,
    axis,
    by_equation,
    height,
    joint,
    mass,
    place,
    scene,
    turn,
)

PENDULUMS: Parameters = [
    (1.0, 0.5, 0.001, 5.0),
    (1.0, 2.5, 0.001, 10.0),
    (0.3, 1.0, 0.002, 10.0),
    (0.2, 0.2, 0.01, 10.0),
    (1.0, 1.5, 0.02, 20.0),
    (0.1, 1.0, 0.02, 10.0),
    (2.0, 0.3, 0.05, 20.0),
    (0.5, 3.0, 0.002, 10.0),
]


def pendulums(parameters: Parameters = PENDULUMS) -> Iterator[Case]:
    """A bob on a hinge, let go at an angle; the equation of the mathematical pendulum."""
    for k, (length, angle, dt, duration) in enumerate(parameters):
        inertia = 0.01 / 6.0 + length**2
        rate = G * length / inertia
        bob = mass("bob", [length * math.sin(angle), 0, -length * math.cos(angle)])
        hinge = joint("hinge", "bob", anchor=[0, 0, 0], axis=[0, -1, 0])
        document = scene([bob], [hinge], dt=dt, duration=duration, formulation=BOTH[k % 2])

        def law(_t, y, rate=rate):
            return [y[1], -rate * np.sin(y[0])]

        true = by_equation(law, [angle, 0.0], duration)
        yield Case(
            "pendulum",
            f"{length} m, {angle} rad, dt {dt}, {duration} s",
            document,
            turn("world-bob"),
            lambda t, true=true, angle=angle: [true(t)[0] - angle],
            2.0 * angle,
        )


OSCILLATORS: Parameters = [
    (0.01, 0.0, 100.0),
    (0.05, 0.0, 60.0),
    (0.2, 0.0, 60.0),
    (0.2, 0.1, 60.0),
    (0.5, 0.0, 30.0),
    (0.05, 0.3, 40.0),
    (1.0, 0.0, 20.0),
    (2.5, 0.0, 50.0),
    (0.3, 0.02, 100.0),
    (1.0, 0.5, 20.0),
    (0.02, 1.5, 20.0),
    (5.0, 0.05, 50.0),
]


def oscillators(parameters: Parameters = OSCILLATORS) -> Iterator[Case]:
    """A mass on a spring, free of gravity or not; closed form, by frequency times step."""
    for k, (product, ratio, turns) in enumerate(parameters):
        dt, amplitude = 0.002, 0.2
        w = product / dt
        duration = turns / w
        stiffness, damping = w * w, 2.0 * ratio * w
        start = mass("bob", [1.0 + amplitude, 0, 0])
        if k % 2:
            slider = joint("slider", "bob", axis=[1, 0, 0])
            slider["spring"] = {"stiffness": stiffness, "damping": damping, "rest": -amplitude}
            joints, forces = [slider], []
        else:
            spring = {"type": "spring", "parent": "world", "child": "bob", "anchor": [0, 0, 0]}
            spring |= {"anchor2": [1.0 + amplitude, 0, 0], "stiffness": stiffness}
            joints, forces = [], [{**spring, "damping": damping, "rest": 1.0}]

        def law(_t, y, w=w, ratio=ratio):
            return [y[1], -w * w * y[0] - 2.0 * ratio * w * y[1]]

        true = by_equation(law, [amplitude, 0.0], duration)
        document = scene([start], joints, forces, dt=dt, duration=duration, gravity=0.0)
        document["simulation"]["formulation"] = BOTH[k // 2 % 2] if joints else "maximal"
        yield Case(
            "spring",
            f"w dt {product}, damping ratio {ratio}, {turns} rad",
            document,
            lambda s: [s.poses()[0, 0] - 1.0],
            true,
            amplitude,
        )


TORSIONS: Parameters = [(0.02, 50.0), (0.1, 50.0), (0.3, 60.0), (0.8, 40.0), (0.05, 200.0)]


def torsions(parameters: Parameters = TORSIONS) -> Iterator[Case]:
    """A disc on a torsion spring; closed form."""
    for product, turns in parameters:
        dt, w0 = 0.001, 3.0
        w = product / dt
        disc = {"name": "disc", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
        disc["angular_velocity"] = [0, 0, w0 * w / 20.0]
        hinge = joint("hinge", "disc", anchor=[0, 0, 0], axis=[0, 0, 1])
        hinge["spring"] = {"stiffness": 0.1 * w * w}
        amplitude = w0 / 20.0
        document = scene([disc], [hinge], dt=dt, duration=turns / w, gravity=0.0)
        yield Case(
            "torsion",
            f"w dt {product}, {turns} rad",
            document,
            turn("world-disc"),
            lambda t, w=w, a=amplitude: [a * math.sin(w * t)],
            amplitude,
        )


def two_links(angles: tuple[float, float], dt: float, duration: float, form: str) -> Document:
    """Two rods of 1 m, let go at angles from the vertical."""
    bodies, joints, at, parent = [], [], np.zeros(3), "world"
    for k, angle in enumerate(angles):
        along = np.array([math.sin(angle), 0.0, -math.cos(angle)])
        bodies.append(
            {
                "name": f"rod{k}",
                "position": list(at + 0.5 * along),
                "orientation": [math.cos(-0.5 * angle), 0.0, math.sin(-0.5 * angle), 0.0],
                "mass": 1.0,
                "inertia": [1 / 12, 1 / 12, 0.001],
                "shapes": [{"type": "box", "size": [0.05, 0.05, 1.0], "collision_mask": 0}],
            }
        )
        joints.append(joint("hinge", f"rod{k}", parent, anchor=list(at), axis=[0, -1, 0]))
        at, parent = at + along, f"rod{k}"
    return scene(bodies, joints, dt=dt, duration=duration, formulation=form)


DOUBLE_PENDULUMS: Parameters = [
    ((0.2, 0.1), 0.001, 10.0),
    ((2.0, 2.5), 0.001, 15.0),
    ((0.3, -0.2), 0.01, 10.0),
    ((3.0, 1.0), 0.002, 2.0),
    ((2.0, 1.0), 0.01, 10.0),
    ((0.1, 0.1), 0.03, 20.0),
    ((1.0, 1.0), 0.001, 3.0),
    ((2.8, -2.0), 0.0005, 20.0),
]


def double_pendulums(parameters: Parameters = DOUBLE_PENDULUMS) -> Iterator[Case]:
    """Two rods: small swings are regular, large ones chaotic."""
    for k, (angles, dt, duration) in enumerate(parameters):
        # a run of the other formulation refuses where neither has converged
        form = BOTH[k % 2]
        document = two_links(angles, dt, duration, form)
        yield Case(
            "double pendulum",
            f"{angles} rad, dt {dt}, {duration} s",
            document,
            place("rod0", "rod1"),
            double_truth(angles, duration),
        )


def double_truth(angles: tuple[float, float], duration: float):
    """Centres of two uniform rods of 1 m, 1 kg (width 5 cm does not count: inertia is given)."""
    from scipy.integrate import solve_ivp

    def rate(_t, y):
        a, b, u, w = y
        c, s = math.cos(a - b), math.sin(a - b)
        M = np.array([[1 / 12 + 0.25 + 1.0, 0.5 * c], [0.5 * c, 1 / 12 + 0.25]])
        f = [
            -0.5 * s * w * w - 1.5 * G * math.sin(a),
            0.5 * s * u * u - 0.5 * G * math.sin(b),
        ]
        return [u, w, *np.linalg.solve(M, f)]

    found = solve_ivp(
        rate, (0, duration * 1.01), [*angles, 0, 0], "DOP853", rtol=1e-12, atol=1e-12,
        dense_output=True,
    )  # fmt: skip

    def true(t: float) -> list[float]:
        a, b = found.sol(t)[:2]
        x, z = math.sin(a), -math.cos(a)
        return [0.5 * x, 0, 0.5 * z, x + 0.5 * math.sin(b), 0, z - 0.5 * math.cos(b)]

    return true


TOPS: Parameters = [
    (50.0, 0.001, 3.0),
    (20.0, 0.005, 3.0),
    (200.0, 0.005, 2.0),
    (10.0, 0.02, 4.0),
]


def tops(parameters: Parameters = TOPS) -> Iterator[Case]:
    """Heavy tops and free bodies; a run with a finer step in the other formulation."""
    for spin, dt, duration in parameters:
        tilt = 0.4
        top = {
            "name": "top",
            "position": [0.2 * math.sin(tilt), 0, 0.2 * math.cos(tilt)],
            "orientation": [math.cos(0.5 * tilt), 0, math.sin(0.5 * tilt), 0],
            "angular_velocity": [spin * math.sin(tilt), 0, spin * math.cos(tilt)],
            "mass": 1.0,
            "inertia": [0.006, 0.006, 0.01],
        }
        ball = joint("ball", "top", anchor=[0, 0, 0])
        yield Case(
            "top",
            f"{spin} rad/s, dt {dt}, {duration} s",
            scene([top], [ball], dt=dt, duration=duration),
            axis("top"),
            other="reduced",
        )
    for spin, dt, duration in [(5.0, 0.001, 10.0), (20.0, 0.01, 10.0), (50.0, 0.02, 5.0)]:
        body = {"name": "top", "mass": 1.0, "inertia": [0.1, 0.2, 0.3]}
        body["angular_velocity"] = [0.02 * spin, spin, 0.01 * spin]
        yield Case(
            "free body",
            f"{spin} rad/s, dt {dt}, {duration} s",
            scene([body], dt=dt, duration=duration, gravity=0.0),
            axis("top"),
        )


ROTORS: Parameters = [
    (300.0, 0.001, 1.0),
    (1000.0, 0.001, 1.0),
    (100.0, 0.005, 2.0),
    (700.0, 0.002, 1.0),
]


def rotors(parameters: Parameters = ROTORS) -> Iterator[Case]:
    """Bodies that turn about a fixed or principal axis, fast: exact at any step."""
    for k, (spin, dt, duration) in enumerate(parameters):
        disc = {"name": "disc", "position": [0.02 * (k // 2), 0, 0], "mass": 1.0}
        disc |= {"inertia": [0.05, 0.05, 0.1], "angular_velocity": [0, 0, spin]}
        disc["linear_velocity"] = [0, 0.02 * (k // 2) * spin, 0]
        hinge = joint("hinge", "disc", anchor=[0, 0, 0], axis=[0, 0, 1])
        yield Case(
            "rotor",
            f"{spin} rad/s, dt {dt}",
            scene([disc], [hinge] if k != 1 else [], dt=dt, duration=duration, gravity=0.0),
            lambda s: [s.velocities()[0, 5]],
            lambda t, spin=spin: [spin],
            spin,
        )


CHAINS: Parameters = [
    (5, 0.1, 1.0, 0.001, 2.0),
    (6, 0.001, 1000.0, 0.002, 1.0),
    (10, 0.001, 1000.0, 0.001, 2.0),
    (4, 0.01, 10.0, 0.001, 2.0),
    (10, 0.01, 100.0, 0.001, 2.0),
    (3, 0.05, 5.0, 0.005, 2.0),
    (8, 0.01, 1.0, 0.0005, 2.0),
]


def chains(parameters: Parameters = CHAINS) -> Iterator[Case]:
    """Heavy loads on light ropes, which swing as one rod would."""
    for k, (links, link_mass, load, dt, duration) in enumerate(parameters):
        length, angle = 2.0 / links, 0.2
        along = np.array([math.sin(angle), 0.0, -math.cos(angle)])
        turned = [math.cos(-0.5 * angle), 0.0, math.sin(-0.5 * angle), 0.0]
        bodies, joints, parent = [], [], "world"
        for i in range(links):
            bodies.append(
                {
                    "name": f"link{i}",
                    "position": list((i + 0.5) * length * along),
                    "orientation": turned,
                    "mass": link_mass,
                    "shapes": [{"type": "box", "size": [0.02, 0.02, length], "collision_mask": 0}],
                }
            )
            at = list(i * length * along)
            joints.append(joint("ball", f"link{i}", parent, anchor=at))
            parent = f"link{i}"
        bodies.append({**mass("load", 2.0 * along, load), "orientation": turned})
        joints.append(joint("fixed", "load", parent, anchor=list(2.0 * along)))
        yield Case(
            "light rope",
            f"{links} links of {link_mass} kg carry {load} kg, dt {dt}, {BOTH[k % 2]}",
            scene(bodies, joints, dt=dt, duration=duration, formulation=BOTH[k % 2]),
            lambda s: [np.linalg.norm(s.poses()[s.body_names.index("load"), :3])],
            lambda t: [2.0],
            2.0 * math.sin(angle) if load > 20 * link_mass * links else 2.0,
        )


ORBITS: Parameters = [
    (1.0, 0.001, 20.0),
    (0.5, 0.001, 10.0),
    (0.2, 0.01, 10.0),
    (1.0, 0.05, 60.0),
]


def orbits(parameters: Parameters = ORBITS) -> Iterator[Case]:
    """Two bodies that attract each other, on an ellipse; Kepler's equation by integration."""
    for speed, dt, duration in parameters:
        sun = {"name": "sun", "mass": 1e6, "inertia": [1.0] * 3}
        comet = {"name": "comet", "mass": 1e-3, "inertia": [1e-6] * 3}
        comet |= {"position": [1, 0, 0], "linear_velocity": [0, speed, 0]}
        pull = [{"name": "pull", "type": "point_gravity", "constant": 1e-6}]

        def rate(_t, y):
            r3 = (y[0] ** 2 + y[1] ** 2) ** 1.5
            return [y[2], y[3], -y[0] / r3, -y[1] / r3]

        true = by_equation(rate, [1.0, 0.0, 0.0, speed], duration)
        yield Case(
            "orbit",
            f"speed {speed}, dt {dt}, {duration} s",
            scene([sun, comet], forces=pull, dt=dt, duration=duration, gravity=0.0),
            lambda s: [s.poses()[1, 0]],
            true,
        )


DRAGS: Parameters = [(1.0, 0.001), (5.0, 0.01), (100.0, 0.01), (0.5, 0.05), (1000.0, 0.02)]


def drags(parameters: Parameters = DRAGS) -> Iterator[Case]:
    """A body that falls through what slows it down: an exponential."""
    for rate, dt in parameters:
        drag = {"type": "drag", "body": "ball", "linear": rate}
        final, duration = G / rate, max(5.0 / rate, 20 * dt)
        yield Case(
            "drag",
            f"rate {rate}, dt {dt}",
            scene([mass("ball", [0, 0, 0])], forces=[drag], dt=dt, duration=duration),
            height("ball"),
            lambda t, c=rate, v=final: [-v * t + v / c * (1.0 - math.exp(-c * t))],
        )
