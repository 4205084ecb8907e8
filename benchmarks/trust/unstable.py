"""Families that begin near an unstable equilibrium, or at a resonance that grows: written when the
verdict had learned to do small smooth runs once more (decision 0800).
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.trust.case import (
    BOTH,
    Case,
    Document,
    G,
    axis,
    by_equation,
    family,
    joint,
    place,
    scene,
    solved,
    turn,
)
from benchmarks.trust.mechanisms import rotor
from benchmarks.trust.smooth import double_truth, two_links
from benchmarks.trust.strangers import about_y

UPRIGHT = math.pi


def body_motion(inertia, torque_of_axis, start, spin, end: float):
    """Axes (t) -> (3, 3), rows in W, of a body that turns about a fixed point: Euler's equations.

    inertia (3,) principal; torque_of_axis of the third axis, in W; start (3, 3) columns are the
    axes in W; spin (3,) in the axes of the body
    """
    moments = np.asarray(inertia, float)

    def rate(_t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        skew = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        torque = R.T @ torque_of_axis(R[:, 2])
        turning = (torque - np.cross(w, moments * w)) / moments
        return np.concatenate([(R @ skew).ravel(), turning])

    sol = solved(rate, [*np.asarray(start, float).ravel(), *spin], end)
    return lambda t: sol(t)[:9].reshape(3, 3)


@family([(1.05, 0.001), (0.98, 0.002), (1.02, 0.004), (0.9, 0.0005)])
def heavy_gyroscopes(form: str, share: float, dt: float) -> Case:
    """A heavy gyroscope on a point, upright but for 0.02 rad, at a share of its critical spin."""
    m, arm, across, along, lean = 1.5, 0.06, 0.004, 0.003, 0.02
    about_pivot = across + m * arm**2
    spin = share * 2.0 * math.sqrt(m * G * arm * about_pivot) / along
    up = [math.sin(lean), 0.0, math.cos(lean)]
    wheel = {
        "name": "wheel", "mass": m, "inertia": [across, across, along],
        "position": [arm * x for x in up], "orientation": about_y(lean),
        "angular_velocity": [spin * x for x in up],
    }  # fmt: skip
    c, s = math.cos(lean), math.sin(lean)
    true = body_motion(
        [about_pivot, about_pivot, along], lambda z: m * G * arm * np.array([-z[1], z[0], 0.0]),
        [[c, 0, s], [0, 1, 0], [-s, 0, c]], [0.0, 0.0, spin], 3.0,
    )  # fmt: skip
    return Case(
        "heavy gyroscope",
        f"{share} of the critical spin, dt {dt}, {form}",
        scene([wheel], [joint("ball", "wheel", anchor=[0, 0, 0])], dt=dt, duration=3.0,
              formulation=form),
        axis("wheel"),
        lambda t: true(t)[:, 2],
        scale=1.0,
    )  # fmt: skip


@family([(1e-3, 0.001, 2.0), (1e-3, 0.005, 2.0), (1e-2, 0.02, 1.5), (1e-4, 0.002, 3.0)])
def upright_links(form: str, lean: float, dt: float, end: float) -> Case:
    """Two rods on top of each other, let go a little off the vertical."""
    angles = (UPRIGHT - lean, UPRIGHT + lean)
    return Case(
        "double inverted pendulum",
        f"{lean} rad, dt {dt}, {end} s, {form}",
        two_links(angles, dt, end, form),
        place("rod0", "rod1"),
        double_truth(angles, end),
    )


@family([(5.0, 0.001), (20.0, 0.005), (20.0, 0.02), (60.0, 0.002)])
def turning_wings(form: str, spin: float, dt: float) -> Case:
    """A wing nut held at its middle, which turns over and over about its middle axis."""
    inertia = [0.02, 0.01, 0.03]
    end = 200.0 / spin
    nut = {"name": "nut", "mass": 1.0, "inertia": inertia}
    nut["angular_velocity"] = [spin, 1e-3 * spin, 1e-3 * spin]
    true = body_motion(inertia, lambda _z: np.zeros(3), np.eye(3), nut["angular_velocity"], end)
    return Case(
        "wing nut",
        f"{spin} rad/s, dt {dt}, {form}",
        scene([nut], [joint("ball", "nut", anchor=[0, 0, 0])], dt=dt, duration=end, gravity=0.0,
              formulation=form),
        axis("nut", 0),
        lambda t: true(t)[:, 0],
        scale=1.0,
    )  # fmt: skip


@family([(10.0, 0.001), (30.0, 0.01), (30.0, 0.003)])
def sprung_wings(form: str, spin: float, dt: float) -> Case:
    """The same in free flight, with a mass on a spring along its long axis (no closed equation)."""
    end = 120.0 / spin
    nut = {"name": "nut", "mass": 1.0, "inertia": [0.02, 0.01, 0.03]}
    nut["angular_velocity"] = [spin, 1e-3 * spin, 1e-3 * spin]
    bob = rotor(
        "bob", 1e-5, 0.05, position=[0, 0.1, 0], linear_velocity=[-1e-4 * spin, 0, 1e-1 * spin]
    )
    bob["angular_velocity"] = nut["angular_velocity"]
    hold = joint(
        "slider", "bob", "nut", axis=[0, 1, 0], spring={"stiffness": 400.0, "damping": 0.02}
    )
    return Case(
        "wing nut with a sprung mass",
        f"{spin} rad/s, dt {dt}, {form}",
        scene([nut, bob], [hold], dt=dt, duration=end, gravity=0.0, formulation=form),
        axis("nut", 0),
        scale=1.0,
        other=BOTH[form == BOTH[0]],
    )  # fmt: skip


@family([(0.98, 0.001), (0.98, 0.02), (1.02, 0.01), (0.8, 0.005)])
def struts(form: str, share: float, dt: float) -> Case:
    """Euler's strut of one link: upright on a torsion spring, near the load that buckles it."""
    m, length, lean, inertia = 5.0, 0.5, 0.01, 0.05
    stiffness = share * m * G * length
    bob = rotor("bob", inertia, m, position=[length * math.sin(lean), 0, length * math.cos(lean)])
    spring = {"stiffness": stiffness, "rest": -lean}
    true = by_equation(
        lambda _t, y: [
            y[1],
            (m * G * length * math.sin(y[0]) - stiffness * y[0]) / (inertia + m * length**2),
        ],
        [lean, 0.0], 6.0,
    )  # fmt: skip
    return Case(
        "strut",
        f"{share} of the stiffness, dt {dt}, {form}",
        scene([bob], [joint("hinge", "bob", anchor=[0, 0, 0], axis=[0, 1, 0], spring=spring)],
              dt=dt, duration=6.0, formulation=form),
        turn("world-bob"),
        lambda t: [true(t)[0] - lean],
    )  # fmt: skip


@family([(1.02, 0.001), (1.1, 0.01), (1.5, 0.02), (1.01, 0.005)])
def beads_on_hoops(form: str, share: float, dt: float) -> Case:
    """An arm on a shaft that turns a little faster than lets it hang: it leaves the vertical."""
    arm, lean = 0.4, 0.01
    speed = share * math.sqrt(G / arm)
    end = 6.0
    shaft = rotor("shaft", 0.1, angular_velocity=[0, 0, speed])
    x = arm * math.sin(lean)
    bead = rotor("bead", 1e-6, position=[x, 0, -arm * math.cos(lean)])
    bead |= {"linear_velocity": [0, speed * x, 0], "angular_velocity": [0, 0, speed]}
    drive = {"type": "velocity", "target": speed}
    joints = [
        joint("hinge", "shaft", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
        joint("hinge", "bead", "shaft", anchor=[0, 0, 0], axis=[0, -1, 0]),
    ]
    true = by_equation(
        lambda _t, y: [y[1], (speed**2 * math.cos(y[0]) - G / arm) * math.sin(y[0])],
        [lean, 0.0], end,
    )  # fmt: skip
    return Case(
        "bead on a hoop",
        f"{share} of the critical speed, dt {dt}, {form}",
        scene([shaft, bead], joints, dt=dt, duration=end, formulation=form),
        turn("shaft-bead"),
        lambda t: [true(t)[0] - lean],
    )


@family([(0.001,), (0.01,), (0.03,)])
def resonant_pendula(_form: str, dt: float) -> Case:
    """A bob on a spring that bounces twice a swing: the bounce turns into swings and back."""
    rest, mass_of, end, x0 = 0.75, 1.0, 15.0, 0.02
    stiffness = mass_of * G / (1.0 - rest)
    bob = rotor("bob", 1e-4, mass_of, position=[x0, 0, -1.1])
    spring: Document = {
        "type": "spring", "parent": "world", "child": "bob", "anchor": [0, 0, 0],
        "anchor2": [x0, 0, -1.1], "stiffness": stiffness, "rest": rest,
    }  # fmt: skip

    def law(_t, y):
        r = math.hypot(y[0], y[1])
        f = -stiffness * (r - rest) / r / mass_of
        return [y[2], y[3], f * y[0], f * y[1] - G]

    sol = solved(law, [x0, -1.1, 0.0, 0.0], end)
    return Case(
        "spring pendulum in resonance",
        f"dt {dt}",
        scene([bob], [], [spring], dt=dt, duration=end),
        place("bob"),
        lambda t: [sol(t)[0], 0, sol(t)[1]],
    )


@family([(0.02, 0.001), (0.02, 0.01), (0.05, 0.02)])
def swings_pumped(form: str, lift: float, dt: float) -> Case:
    """A pendulum whose pivot goes up and down twice a swing: its swings grow from 0.01 rad."""
    length, lean, end = 0.5, 0.01, 12.0
    rate = 2.0 * math.sqrt(G / length)
    n = 4000
    times = [k * end / n for k in range(n + 1)]
    way = [lift * (1.0 - math.cos(rate * t)) for t in times]
    drive = {"type": "position", "target": {"times": times, "values": way}}
    bob = rotor("bob", 1e-6, 1.0, position=[length * math.sin(lean), 0, -length * math.cos(lean)])
    joints = [
        joint("slider", "pivot", axis=[0, 0, 1], motor=drive),
        joint("hinge", "bob", "pivot", anchor=[0, 0, 0], axis=[0, -1, 0]),
    ]

    def law(t, y):
        pull = G + lift * rate**2 * math.cos(rate * t)
        return [y[1], -pull / length * math.sin(y[0]) / (1.0 + 1e-6 / length**2)]

    true = by_equation(law, [lean, 0.0], end)
    return Case(
        "swing that is pumped",
        f"{lift} m, dt {dt}, {form}",
        scene([rotor("pivot", 0.1), bob], joints, dt=dt, duration=end, formulation=form),
        turn("pivot-bob"),
        lambda t: [true(t)[0] - lean],
    )


FAMILIES = (
    heavy_gyroscopes, upright_links, turning_wings, sprung_wings, struts, beads_on_hoops,
    resonant_pendula, swings_pumped,
)  # fmt: skip
