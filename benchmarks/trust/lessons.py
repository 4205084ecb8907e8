"""Families of lessons that stood nowhere when limits were chosen: seesaws, kerbs, springs."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.trust.case import (
    Case,
    G,
    axis,
    family,
    floor,
    height,
    joint,
    mass,
    place,
    scene,
    solved,
    turn,
)
from benchmarks.trust.further import LYING
from benchmarks.trust.mechanisms import along_x, rotor
from benchmarks.trust.strangers import about_y, series
from benchmarks.trust.touching import box, sphere


@family([(0.001,), (0.005,), (0.02,)])
def wedges(_form: str, dt: float) -> Case:
    """A box that slides down a wedge, which slides away: no friction anywhere."""
    heavy, m, slope, long, half = 3.0, 1.0, 0.5, 1.2, 0.1
    tall = long * math.tan(slope)
    points = [[x, y, z] for x, z in ((0, 0), (long, 0), (0, tall)) for y in (-0.2, 0.2)]
    c, s = math.cos(slope), math.sin(slope)
    wedge = {
        "name": "wedge", "mass": heavy,
        "shapes": [{"type": "convex", "points": points, "material": "m"}],
    }  # fmt: skip
    position = [0.15 * c + half * s, 0, tall - 0.15 * s + half * c]
    block = box("block", position, 2 * half, m, orientation=about_y(slope))
    back = m * G * s * c / (heavy + m * s * s)
    return Case(
        "box on a wedge",
        f"dt {dt}",
        scene([floor("m"), wedge, block], dt=dt, duration=0.5, materials={"m": {"friction": 0.0}}),
        along_x("wedge"),
        lambda t: [-0.5 * back * t * t],
    )


@family([(0.0005,), (0.002,), (0.01,)])
def seesaws(_form: str, dt: float) -> Case:
    """A ball falls on one end of a seesaw; the box on its other end is thrown."""
    shape = {"type": "box", "size": [3, 0.3, 0.05], "material": "m"}
    plank = {"name": "plank", "mass": 4.0, "position": [0, 0, 0.5], "shapes": [shape]}
    pin = joint("hinge", "plank", anchor=[0, 0, 0.5], axis=[0, 1, 0],
                limits={"lower": -0.15, "upper": 0.15})  # fmt: skip
    bodies = [plank, sphere("ball", [-1.3, 0, 2.0], 0.1, 3.0), box("cube", [1.3, 0, 0.625])]
    return Case(
        "seesaw",
        f"dt {dt}",
        scene(bodies, [pin], dt=dt, duration=0.9, materials={"m": {"friction": 0.5}}),
        height("cube"),
    )


@family([(0.0005,), (0.002,), (0.01,)])
def kerbs(_form: str, dt: float) -> Case:
    """A wheel that rolls against a kerb, and over it."""
    r, tall, v = 0.3, 0.06, 2.5
    shape = {"type": "cylinder", "radius": r, "length": 0.1, "orientation": LYING, "material": "m"}
    wheel = {
        "name": "wheel", "mass": 5.0, "position": [-0.6, 0, r], "linear_velocity": [v, 0, 0],
        "angular_velocity": [0, v / r, 0], "shapes": [shape],
    }  # fmt: skip
    kerb = {
        "name": "kerb", "type": "static", "position": [1.0, 0, 0.5 * tall],
        "shapes": [{"type": "box", "size": [2, 1, tall], "material": "m"}],
    }  # fmt: skip
    return Case(
        "wheel and kerb",
        f"dt {dt}",
        scene([floor("m"), kerb, wheel], dt=dt, duration=0.7, materials={"m": {"friction": 1.0}}),
        place("wheel"),
    )


@family([(0.0005,), (0.002,), (0.008,)])
def stools(_form: str, dt: float) -> Case:
    """A stool on three balls that falls, tilted: its feet meet the floor one after the other."""
    shapes = [
        {"type": "sphere", "radius": 0.04, "material": "m",
         "position": [0.3 * math.cos(a), 0.3 * math.sin(a), -0.3]}
        for a in (0.0, 2.1, 4.2)
    ]  # fmt: skip
    stool = {
        "name": "stool", "mass": 3.0, "inertia": [0.2, 0.2, 0.15], "position": [0, 0, 0.6],
        "orientation": about_y(0.2), "shapes": shapes,
    }  # fmt: skip
    return Case(
        "stool",
        f"dt {dt}",
        scene([floor("m"), stool], dt=dt, duration=0.9,
              materials={"m": {"friction": 0.5, "restitution": 0.3}}),
        place("stool"),
    )  # fmt: skip


@family([(114.0, 0.0005), (90.0, 0.002), (126.0, 0.004), (105.0, 0.001)])
def sleeping_tops(form: str, spin: float, dt: float) -> Case:
    """A top let go nearly upright, with about the spin that just holds it there."""
    lean = 0.03
    up = [math.sin(lean), 0.0, math.cos(lean)]
    top = {
        "name": "top", "mass": 0.5, "inertia": [0.0005, 0.0005, 0.0008],
        "position": [0.1 * x for x in up], "orientation": about_y(lean),
        "angular_velocity": [spin * x for x in up],
    }  # fmt: skip
    return Case(
        "top that sleeps",
        f"{spin} rad/s, dt {dt}, {form}",
        scene([top], [joint("ball", "top", anchor=[0, 0, 0])], dt=dt, duration=2.0,
              formulation=form),
        place("top"),
        scale=0.1,
    )  # fmt: skip


@family([(200.0, 0.001), (200.0, 0.01), (2000.0, 0.01), (2000.0, 0.002)])
def slinkies(_form: str, stiffness: float, dt: float) -> Case:
    """A hanging row of six masses on springs that is let go: how long it is."""
    n, m, rest = 6, 0.1, 0.2
    places = [0.0]
    for k in range(n - 1):
        places.append(places[-1] - rest - (n - 1 - k) * m * G / stiffness)
    bodies = [mass(f"m{k}", [0, 0, z], m) for k, z in enumerate(places)]
    forces = [
        {"type": "spring", "parent": f"m{k}", "child": f"m{k + 1}", "anchor": [0, 0, places[k]],
         "anchor2": [0, 0, places[k + 1]], "stiffness": stiffness, "rest": rest}
        for k in range(n - 1)
    ]  # fmt: skip

    def rates(_t, y):
        pull = stiffness * (y[: n - 1] - y[1:n] - rest) / m
        rate = np.full(n, -G)
        rate[:-1] -= pull
        rate[1:] += pull
        return np.concatenate([y[n:], rate])

    found = solved(rates, places + [0.0] * n, 0.8)
    return Case(
        "slinky",
        f"{stiffness} N/m, dt {dt}",
        scene(bodies, [], forces, dt=dt, duration=0.8),
        lambda s: [s.poses()[0, 2] - s.poses()[n - 1, 2]],
        lambda t: [found(t)[0] - found(t)[n - 1]],
    )


@family([(0.0025,), (0.01,), (0.05,)])
def bungees(form: str, dt: float) -> Case:
    """A jumper on a rubber rope that is slack at first."""
    k, m, long, side = 200.0, 70.0, 10.0, 0.5
    rope = joint("distance", "jumper", anchor=[0, 0, 0], anchor2=[side, 0, 0],
                 limits={"upper": long, "stiffness": k})  # fmt: skip

    def rates(_t, y):
        now = math.hypot(y[0], y[1])
        pull = k * max(now - long, 0.0) / m / now
        return [y[2], y[3], -pull * y[0], -pull * y[1] - G]

    found = solved(rates, (side, 0.0, 0.0, 0.0), 8.0)
    return Case(
        "bungee",
        f"dt {dt}, {form}",
        scene([mass("jumper", [side, 0, 0], m)], [rope], dt=dt, duration=8.0, formulation=form),
        lambda s: s.poses()[0, [0, 2]],
        lambda t: found(t)[:2],
    )


@family([(0.0005,), (0.002,), (0.01,)])
def rimless_wheels(_form: str, dt: float) -> Case:
    """A wheel of eight spokes without a rim that walks down a slope."""
    spokes, long, slope, spin = 8, 0.5, 0.25, 3.0
    points = [
        [long * math.sin(a), y, long * math.cos(a)]
        for a in (2 * math.pi * (k + 0.5) / spokes for k in range(spokes))
        for y in (-0.1, 0.1)
    ]
    c, s = math.cos(slope), math.sin(slope)
    plane = {"type": "plane", "normal": [s, 0, c], "material": "m"}
    up = long * math.cos(math.pi / spokes)
    wheel = {
        "name": "wheel", "mass": 4.0, "position": [s * up, 0, c * up],
        "orientation": about_y(slope), "angular_velocity": [0, spin, 0],
        "linear_velocity": [spin * up * c, 0, -spin * up * s], "inertia": [0.3, 0.5, 0.3],
        "center_of_mass": [0, 0, 0],
        "shapes": [{"type": "convex", "points": points, "material": "m"}],
    }  # fmt: skip
    hill = {"name": "hill", "type": "static", "shapes": [plane]}
    return Case(
        "wheel without a rim",
        f"dt {dt}",
        scene([hill, wheel], dt=dt, duration=1.5, materials={"m": {"friction": 2.0}}),
        place("wheel"),
    )


@family([(0.001,), (0.003,), (0.005,), (0.02,)])
def rubber_balls(_form: str, dt: float) -> Case:
    """A ball of damped rubber that is thrown and bounces three times."""
    ball = sphere("ball", [0, 0, 1.0], 0.1, 0.5, linear_velocity=[1, 0, 0])
    rubber = {"friction": 0.5, "compliance": 2e-5, "damping": 8.0}
    return Case(
        "rubber ball",
        f"dt {dt}",
        scene([floor("rubber"), ball], dt=dt, duration=1.5,
              materials={"m": {"friction": 0.5}, "rubber": rubber}),
        place("ball"),
    )  # fmt: skip


@family([(0.001,), (0.005,), (0.02,)])
def crashing_carts(form: str, dt: float) -> Case:
    """A cart on a rail strikes one of two that a spring joins."""
    bodies = [box("a", [-1, 0, 0], linear_velocity=[2.0, 0, 0]), box("b", [0, 0, 0])]
    bodies.append(box("c", [0.6, 0, 0], 0.2, 1.5))
    joints = [joint("slider", name, axis=[1, 0, 0]) for name in "abc"]
    spring = {"type": "spring", "parent": "b", "child": "c", "anchor": [0, 0, 0],
              "anchor2": [0.6, 0, 0], "stiffness": 150.0}  # fmt: skip
    return Case(
        "carts that crash",
        f"dt {dt}, {form}",
        scene(bodies, joints, [spring], dt=dt, duration=1.2, gravity=0.0, formulation=form,
              materials={"m": {"friction": 0.0, "restitution": 0.8}}),
        place("a", "b", "c"),
    )  # fmt: skip


@family([(0.0005,), (0.003,), (0.01,)])
def buffers(form: str, dt: float) -> Case:
    """Two wagons that meet with sprung and damped buffers."""
    k, d = 2e4, 100.0
    joints = [
        joint("slider", "a", axis=[1, 0, 0]),
        joint("slider", "b", "a", axis=[1, 0, 0],
              limits={"lower": -1.0, "stiffness": k, "damping": d}),
    ]  # fmt: skip
    bodies = [mass("a", [0, 0, 0], 20.0, linear_velocity=[3.0, 0, 0]), mass("b", [2, 0, 0], 10.0)]

    def rates(_t, y):
        depth = 1.0 - (y[2] - y[0])
        push = max(0.0, k * depth - d * (y[3] - y[1])) if depth > 0.0 else 0.0
        return [y[1], -push / 20.0, y[3], push / 10.0]

    found = solve_ivp(
        rates, (0.0, 1.1), [0.0, 3.0, 2.0, 0.0], "DOP853", rtol=1e-9, atol=1e-11, max_step=1e-4,
        dense_output=True,
    ).sol  # fmt: skip
    return Case(
        "wagons with buffers",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.0, gravity=0.0, formulation=form),
        lambda s: s.poses()[:, 0],
        lambda t: [found(t)[0], found(t)[2]],
    )


@family([(0.0005,), (0.002,), (0.01,)])
def backlashes(form: str, dt: float) -> Case:
    """A motor that turns a load to and fro through play between two stops."""
    push = {"type": "force", "target": series(lambda t: 5.0 * math.sin(8.0 * t), 3.0, 3000)}
    joints = [
        joint("hinge", "motor", anchor=[0, 0, 0], axis=[0, 0, 1], motor=push),
        joint("hinge", "load", "motor", anchor=[0, 0, 0], axis=[0, 0, 1],
              limits={"lower": -0.05, "upper": 0.05}),
    ]  # fmt: skip
    return Case(
        "play",
        f"dt {dt}, {form}",
        scene([rotor("motor", 0.05), rotor("load", 0.2)], joints, dt=dt, duration=2.0, gravity=0.0,
              formulation=form),
        turn("world-motor"),
    )  # fmt: skip


@family([(0.001,), (0.005,), (0.02,)])
def rocking_boards(_form: str, dt: float) -> Case:
    """A plank that rocks on a fixed drum, on which it rolls."""
    r, half, rate = 0.4, 0.025, 1.2
    shape = {"type": "cylinder", "radius": r, "length": 1, "orientation": LYING, "material": "m"}
    plank = {
        "name": "plank", "mass": 3.0, "position": [0, 0, r + half],
        "angular_velocity": [0, rate, 0], "linear_velocity": [rate * half, 0, 0],
        "shapes": [{"type": "box", "size": [2.0, 0.4, 2 * half], "material": "m"}],
    }  # fmt: skip
    drum = {"name": "drum", "type": "static", "shapes": [shape]}
    return Case(
        "rocking board",
        f"dt {dt}",
        scene([drum, plank], dt=dt, duration=3.0, materials={"m": {"friction": 1.0}}),
        axis("plank"),
    )


@family([(0.001,), (0.001,), (0.005,), (0.02,)])
def crossed_belts(form: str, dt: float) -> Case:
    """A box that a guide leaves free across a running belt is pushed over it by a small force."""
    m, mu, speed, push = 2.0, 0.5, 2.0, 3.0
    long = {"type": "box", "size": [20, 20, 1], "material": "m"}
    belt = {"name": "belt", "type": "kinematic", "position": [0, 0, -0.5], "shapes": [long]}
    belt |= {"linear_velocity": [speed, 0, 0]}
    guide = joint("planar", "cube", axis=[1, 0, 0])
    force = {"type": "wrench", "body": "cube", "force": [0, push, 0]}

    def rate(_t, y):
        return [y[1], (push - mu * m * G * y[1] / math.hypot(speed, y[1])) / m]

    found = solved(rate, (0.0, 0.0), 1.0)
    return Case(
        "box across a belt",
        f"dt {dt}, {form}",
        scene([belt, box("cube", [0, 0, 0.1], 0.2, m)], [guide], [force], dt=dt, duration=1.0,
              formulation=form, materials={"m": {"friction": mu}}),
        lambda s: s.poses()[1, 1:2],
        lambda t: [found(t)[0]],
    )  # fmt: skip


FAMILIES = (
    wedges, seesaws, kerbs, stools, sleeping_tops, slinkies, bungees, rimless_wheels, rubber_balls,
    crashing_carts, buffers, backlashes, rocking_boards, crossed_belts,
)  # fmt: skip
