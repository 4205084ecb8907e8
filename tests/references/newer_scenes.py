"""What examples with triggers, static friction, drives and gears show, and how it is measured.

Each function runs a scene as it stands, with default settings.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from cardan.schemas.examples import example_document
from tests.references.example_runs import Run
from tests.references.rows import Row, at_most, near

G = 9.81


def throwing_arm() -> list[Row]:
    """A ball leaves an arm of length r at the angle a with the speed w r, and flies a parabola.

    The arm hangs at first; a = 3/4 pi is 45 degrees above the horizontal, behind the pivot.
    """
    result = Run("throwing-arm")
    pivot, r, speed, dt = 1.2, 0.8, 7.5 * 0.8, 0.0005
    path = result.body("ball", "px", "pz")
    top = pivot + r * math.sin(math.pi / 4) + (speed * math.sin(math.pi / 4)) ** 2 / (2.0 * G)
    # the motor accelerates uniformly for half a second, and has a constant speed from then on
    opens = 0.5 + (0.75 * math.pi - 0.5 * 7.5 * 0.5) / 7.5
    found = result.summary["triggers"][0]["last"]
    # a trigger acts up to a step late
    late = speed * dt
    inside = bool(abs(path[-1, 0] - 4.45) < 0.5 and 0.07 < path[-1, 1] < 0.09)
    return [
        Row("grip opens", f"{opens:.5g} s, up to a step late", f"{found:.5g} s",
            -1e-9 <= found - opens <= dt + 1e-9),
        near("peak of the parabola", float(path[:, 1].max()), top, late, "m"),
        Row("the ball ends in the bin", "yes", "yes" if inside else "no", inside),
    ]  # fmt: skip


def stick_slip() -> list[Row]:
    """A block on a belt of speed V, held by a spring k; friction s if it sticks, d if it slides.

    It goes along to x_s = s m g / k, then swings about x_d = d m g / k with the amplitude
    A = sqrt((x_s - x_d)^2 + (V / w)^2), w = sqrt(k / m), until it has the speed of the belt again.
    """
    result = Run("stick-slip")
    k, m, belt, w = 20.0, 1.0, 0.06, math.sqrt(20.0)
    sticks, slides = 0.6 * m * G / k, 0.4 * m * G / k
    reach = math.hypot(sticks - slides, belt / w)
    period = 2.0 * (sticks - slides) / belt
    period += (2.0 * math.pi - 2.0 * math.atan((sticks - slides) * w / belt)) / w
    x, late = result.body("sticks", "px")[:, 0], result.time > 4.0
    back = result.time[1:][np.diff(x) < 0.0]
    starts = [back[0], *(b for a, b in pairwise(back) if b - a > 0.5)]
    other = result.body("slides", "px")[late, 0]
    small = belt / w
    return [
        near("farthest along", float(x.max()), slides + reach, 0.003, "m"),
        near("farthest back", float(x[late].min()), slides - reach, 0.003, "m"),
        near("period", float(np.diff(starts).mean()), period, 0.06, "s"),
        # without static friction: as soon as it slips it swings by V / w about x_d
        near("the other one, farthest along", float(other.max()), slides + small, 0.001, "m"),
        near("the other one, farthest back", float(other.min()), slides - small, 0.001, "m"),
    ]


def robot_arm() -> list[Row]:
    """Joints follow their targets, and the hand is where their angles place it."""
    result = Run("robot-arm")
    worst = 0.0
    angle = {}
    for joint in example_document("robot-arm")["joints"]:
        target = joint["motor"]["target"]
        wanted = np.interp(result.time, target["times"], target["values"])
        angle[joint["name"]] = q = result.joint(joint["name"], "q")
        worst = max(worst, float(np.abs(q - wanted).max()))
    lean = angle["shoulder"]
    bent = lean + angle["elbow"]
    out, up = 0.5 * (np.sin(lean) + np.sin(bent)), 0.41 + 0.5 * (np.cos(lean) + np.cos(bent))
    turn = angle["waist"]
    hand = np.stack([out * np.cos(turn), out * np.sin(turn), up], axis=1)
    apart = float(np.abs(result.body("hand", "px", "py", "pz") - hand).max())
    return [
        at_most("joints off their targets", worst, 2e-3, "rad"),
        at_most("hand off the place of its angles", apart, 1e-8, "m"),
    ]


def planetary_gear() -> list[Row]:
    """Willis: S (sun - carrier) + R (ring - carrier) = 0; without losses powers add up to 0.

    The carrier drives a damper of 2 N m s.
    """
    result = Run("planetary-gear")
    sun, ring, carrier = (
        result.joint(name, "qd") for name in ("sun shaft", "ring bearing", "carrier shaft")
    )
    torque = result.joint("sun shaft", "motor_force")
    brake = result.joint("ring bearing", "motor_force")
    S, R, forward, reverse = 0.12, 0.24, result.time == 3.5, result.time == 7.5
    willis = float(np.abs(S * (sun - carrier) + R * (ring - carrier)).max())
    load = 2.0 * 3.0 * S / (S + R)
    return [
        near("carrier, the ring held", float(carrier[forward][0]), 3.0 / 3.0, 1e-6, "rad/s"),
        near("torque of the sun", float(torque[forward][0]), load / 3.0, 1e-4, "N m"),
        near("torque of the brake", float(brake[forward][0]), load * 2.0 / 3.0, 1e-4, "N m"),
        near("ring, the carrier held", float(ring[reverse][0]), -3.0 / 2.0, 1e-6, "rad/s"),
        at_most("off Willis' equation", willis, 1e-5, "m/s"),
        at_most("energy drift", result.summary["energy"]["max_relative_drift"], 1e-4, ""),
    ]
