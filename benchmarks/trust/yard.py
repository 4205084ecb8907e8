"""Families that stood nowhere when the limits were last chosen: what strikes, slides and breaks."""

from __future__ import annotations

import math

from scipy.integrate import solve_ivp

from benchmarks.trust.case import Case, Document, G, axis, family, floor, joint, mass, scene
from benchmarks.trust.mechanisms import along_x, rotor
from benchmarks.trust.strangers import about_y
from benchmarks.trust.touching import box


@family([(1.5, 0.0005), (1.5, 0.005), (2.2, 0.01), (2.5, 0.02)])
def breaking_pendulums(form: str, ratio: float, dt: float) -> Case:
    """A weight that swings on a rope until its tension breaks it, and flies off."""
    length, m = 1.0, 2.0
    bob = mass("bob", [length, 0, 0], m)
    bob["inertia"] = [1e-6] * 3
    rope = joint("distance", "bob", anchor=[0, 0, 0], anchor2=[length, 0, 0],
                 breaking_force=ratio * m * G)  # fmt: skip
    # tension 3 m g sin(angle below the horizontal)
    angle = math.asin(ratio / 3.0)

    def rates(_t, y):
        return [y[1], G / length * math.cos(y[0])]

    def broken(_t, y):
        return y[0] - angle

    broken.terminal = True  # type: ignore[attr-defined]
    swing = solve_ivp(
        rates, (0.0, 5.0), [0.0, 0.0], "DOP853", events=broken, rtol=1e-11, atol=1e-12,
        dense_output=True,
    )  # fmt: skip
    at, (a, w) = float(swing.t[-1]), swing.y[:, -1]

    def true(t: float) -> list[float]:
        if t < at:
            now = float(swing.sol(t)[0])
            return [length * math.cos(now), -length * math.sin(now)]
        s = t - at
        vx, vz = -length * w * math.sin(a), -length * w * math.cos(a)
        return [length * math.cos(a) + vx * s, -length * math.sin(a) + vz * s - 0.5 * G * s * s]

    return Case(
        "rope that breaks",
        f"{ratio} weights, dt {dt}, {form}",
        scene([bob], [rope], dt=dt, duration=1.0, formulation=form),
        lambda s: s.poses()[0, [0, 2]],
        true,
    )


@family([(0.3, 0.0005), (0.3, 0.003), (0.2, 0.01), (0.25, 0.02)])
def toppling_bricks(_form: str, push: float, dt: float) -> Case:
    """A brick that is let go on one edge, falls on its face and rocks on to the other edge."""
    tall, wide = 0.4, 0.25
    c, s = math.cos(push), math.sin(push)
    x = 0.5 * wide - 0.5 * wide * c + 0.5 * tall * s
    z = 0.5 * wide * s + 0.5 * tall * c
    shape = {"type": "box", "size": [wide, 0.2, tall], "material": "m"}
    brick = {
        "name": "brick", "mass": 6.0, "position": [x, 0, z], "orientation": about_y(push),
        "shapes": [shape],
    }  # fmt: skip
    return Case(
        "brick that rocks",
        f"{push} rad, dt {dt}",
        scene([floor("m"), brick], dt=dt, duration=0.7, materials={"m": {"friction": 1.5}}),
        axis("brick"),
        scale=push,
    )


@family([(0.0005,), (0.005,), (0.02,), (0.05,)])
def starting_trains(form: str, dt: float) -> Case:
    """A locomotive that takes up the slack of three couplings, one after the other."""
    masses, slack, pull = [4.0, 1.0, 1.0, 1.0], 0.05, 20.0
    bodies, joints = [], []
    for k, m in enumerate(masses):
        bodies.append(mass(f"c{k}", [-0.5 * k, 0, 0], m))
        if k == 0:
            motor = {"type": "force", "target": pull}
            joints.append(joint("slider", "c0", axis=[1, 0, 0], motor=motor))
        else:
            stop = {"lower": -slack, "upper": 0.0, "restitution": 0.0}
            joints.append(joint("slider", f"c{k}", f"c{k - 1}", axis=[1, 0, 0], limits=stop))

    def true(t: float) -> list[float]:
        x, v, moved = 0.0, 0.0, masses[0]
        taut = [0.0]
        for m in masses[1:]:
            # x + v s + a s^2/2 = next place where a coupling is taut
            a, way = pull / moved, len(taut) * slack - x
            s = (-v + math.sqrt(v * v + 2.0 * a * way)) / a
            if s >= t:
                break
            x, v, t = x + way, (v + a * s) * moved / (moved + m), t - s
            moved += m
            taut.append(0.0)
        front = x + v * t + 0.5 * pull / moved * t * t
        joined = len(taut)
        places = [front - slack * k for k in range(joined)]
        return places + [0.0] * (len(masses) - joined)

    return Case(
        "train that starts",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=0.8, gravity=0.0, formulation=form),
        lambda s: [s.poses()[k, 0] + 0.5 * k for k in range(len(masses))],
        true,
    )


@family([(2.0, 0.001), (2.0, 0.02), (0.5, 0.05), (4.0, 0.03)])
def parcels(_form: str, speed: float, dt: float) -> Case:
    """A parcel that is laid on a belt: friction brings it to the speed of the belt."""
    mu = 0.4
    materials = {"belt": {"friction": mu, "surface_velocity": [speed, 0, 0]}, "m": {"friction": mu}}
    late = speed / (mu * G)

    def true(t: float) -> list[float]:
        s = min(t, late)
        return [0.5 * mu * G * s * s + speed * (t - s)]

    return Case(
        "parcel on a belt",
        f"{speed} m/s, dt {dt}",
        scene([floor("belt"), box("parcel", [0, 0, 0.1], 0.2, 3.0)], dt=dt, duration=1.5,
              materials=materials),
        along_x("parcel"),
        true,
    )  # fmt: skip


def slotted_wheel(parts: int, centre: float, pin: float) -> list[Document]:
    """Bars beside the slots of a Geneva wheel about its origin, in the plane z = 0."""
    shapes = []
    slot, reach = 0.5 * pin + 2e-4, centre * math.cos(math.pi / parts)
    for k in range(parts):
        for side in (1.0, -1.0):
            turned = 2.0 * math.pi * (k + 0.5) / parts
            c, s = math.cos(turned), math.sin(turned)
            off = side * (slot + 0.01)
            x, y = 0.7 * reach, off
            shapes.append(
                {
                    "type": "box", "size": [0.6 * reach, 0.02, 0.02], "material": "m",
                    "position": [c * x - s * y, s * x + c * y, 0],
                    "orientation": [math.cos(0.5 * turned), 0, 0, math.sin(0.5 * turned)],
                }
            )  # fmt: skip
    return shapes


@family([(2.0, 0.0005), (2.0, 0.002), (6.0, 0.002), (6.0, 0.01)])
def geneva_drives(_form: str, speed: float, dt: float) -> Case:
    """A Geneva drive: a pin enters a slot of a wheel, turns it by a quarter and leaves it."""
    parts, centre, pin = 4, 0.2, 0.02
    crank = centre * math.sin(math.pi / parts)
    drive = {"type": "velocity", "target": speed}
    knob = {
        "type": "cylinder", "radius": 0.5 * pin, "length": 0.04, "position": [crank, 0, 0],
        "material": "m",
    }  # fmt: skip
    start = math.pi - 1.2
    driver = rotor("driver", 0.01, 2.0, shapes=[knob], position=[centre, 0, 0])
    driver |= {"orientation": [math.cos(0.5 * start), 0, 0, math.sin(0.5 * start)]}
    driver |= {"angular_velocity": [0, 0, speed]}
    wheel = rotor("wheel", 0.002, 1.0, shapes=slotted_wheel(parts, centre, pin))
    joints = [
        joint("hinge", "driver", anchor=[centre, 0, 0], axis=[0, 0, 1], motor=drive),
        joint("hinge", "wheel", anchor=[0, 0, 0], axis=[0, 0, 1], friction=0.02),
    ]
    return Case(
        "geneva drive",
        f"{speed} rad/s, dt {dt}",
        scene([driver, wheel], joints, dt=dt, duration=3.0 / speed, gravity=0.0,
              materials={"m": {"friction": 0.05}}),
        axis("wheel", 0),
        scale=1.0,
    )  # fmt: skip


FAMILIES = (
    breaking_pendulums, toppling_bricks, starting_trains, parcels, geneva_drives,
)  # fmt: skip
