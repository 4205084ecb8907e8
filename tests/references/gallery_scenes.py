"""What the scenes of the gallery with closed forms are expected to show, and how it is measured.

Each function runs a scene as it stands, with default settings.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from scipy.linalg import expm
from scipy.special import ellipk

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_document
from tests.references.example_runs import Run
from tests.references.rolling_forms import bicycle_flow
from tests.references.rows import Row, at_least, at_most, near

G = 9.81


def pendulum_wave() -> list[Row]:
    """Each of twelve pendulums swings a whole number of times in 30 s: all come back."""
    result = Run("pendulum-wave")
    ends = []
    for number in range(1, 13):
        path = result.body(f"bob-{number}", "px", "pz")
        ends.append(np.hypot(*(path[-1] - path[0])) / np.hypot(*path[0]))
    middle = result.time.searchsorted(15.0)
    sides = [float(result.body(f"bob-{n}", "px")[middle, 0]) for n in (1, 2, 3, 4)]
    drift = result.summary["energy"]["max_relative_drift"]
    alternate = all(a * b < 0.0 for a, b in pairwise(sides))
    return [
        at_most("off the start after 30 s, over the length", max(map(float, ends)), 1e-3, ""),
        Row(
            "neighbours on opposite sides after 15 s",
            "yes",
            "yes" if alternate else "no",
            alternate,
        ),
        at_most("energy drift", drift, 1e-4, ""),
    ]


def rolling_race() -> list[Row]:
    """s = g sin(10 deg) t^2 / (2 (1 + I / (m r^2))), exact for rolling."""
    result = Run("rolling-race")
    slope = math.radians(10.0)
    along = np.array([math.cos(slope), 0.0, -math.sin(slope)])
    rows = []
    for name, share in (("ball", 0.4), ("disk", 0.5), ("hoop", 1.0)):
        path = result.body(name, "px", "py", "pz")
        exact = G * math.sin(slope) / (1.0 + share) * float(result.time[-1]) ** 2 / 2.0
        rows.append(
            near(f"way of the {name}", float((path[-1] - path[0]) @ along), exact, 1e-4, "m")
        )
    return rows


def bowling_ball() -> list[Row]:
    """Sliding friction mu g until v = w r: at t = 2 v0 / (7 mu g), with 5/7 v0."""
    result = Run("bowling-ball")
    speed = result.body("ball", "vx")[:, 0]
    v0, mu = 4.0, 0.15
    grip = 2.0 * v0 / (7.0 * mu * G)
    still = np.abs(speed - speed[-1]) < 1e-3 * v0
    first = float(result.time[np.argmax(still)])
    return [
        near("speed after it grips", float(speed[-1]), 5.0 / 7.0 * v0, 1e-3, "m/s"),
        near("when it grips", first, grip, 0.02, "s"),
    ]


def bicycle() -> list[Row]:
    """Nobody steers: from 2 s on it follows the published linear equations back to upright."""
    result = Run("bicycle")
    w, x, y, z = result.body("frame and rider", "qw", "qx", "qy", "qz").T
    path = np.column_stack([np.arcsin(2.0 * (w * x + y * z)), -result.joint("steering", "q")])
    first = int(np.searchsorted(result.time, 2.0))
    spacing = float(result.time[1] - result.time[0])
    rates = (path[first + 1] - path[first - 1]) / (2.0 * spacing)
    now, step = np.concatenate([path[first], rates]), expm(spacing * bicycle_flow(5.0))
    off = 0.0
    for found in path[first:]:
        off = max(off, float(np.abs(found - now[:2]).max()))
        now = step @ now
    turned = np.degrees(np.abs(path[:, 0]))
    return [
        at_least("leans, at most", float(turned.max()), 3.0, "degrees"),
        at_most("leans at the end", float(turned[-1]), 0.1, "degrees"),
        at_most(
            "lean and steer off the published ones, over the largest",
            off / float(np.abs(path[first:]).max()),
            0.02,
            "",
        ),
        at_most("energy drift", result.summary["energy"]["max_relative_drift"], 1e-4, ""),
    ]


def bouncing_balls() -> list[Row]:
    """Each rises to e^2 of the height it fell from."""
    result = Run("bouncing-balls")
    rows = []
    for e in (1.0, 0.9, 0.8, 0.6, 0.3):
        height = result.body(f"ball-{e:g}", "pz")[:, 0] - 0.08
        struck = int(np.argmax(height < 0.02))
        after = height[struck:]
        # up to the second time on the ground
        landed = struck + 5 + int(np.argmax(after[5:] < 0.005)) if e < 1.0 else len(height)
        top = float(height[struck:landed].max())
        rows.append(near(f"rebound with restitution {e:g}", top, e**2, 2e-3, "m"))
    return rows


def spinning_handle() -> list[Row]:
    """Half a period of w2 = sn(...), the component that changes sign at each flip."""
    simulation = Simulation(load_scene(example_document("spinning-handle")))
    # the body axes are the principal ones, by symmetry
    diagonal = np.diag(np.linalg.inv(simulation.model.bodies.inverse_inertia_B[0]))
    result = Run("spinning-handle")
    rates = result.body("handle", "wx", "wy", "wz")
    poses = result.body("handle", "qw", "qx", "qy", "qz")
    body = np.array([unturned(q, w) for q, w in zip(poses, rates, strict=True)])
    order = np.argsort(diagonal)
    i1, i2, i3 = (float(diagonal[k]) for k in order)
    w1, w2, w3 = (body[0][k] for k in order)
    energy2 = i1 * w1**2 + i2 * w2**2 + i3 * w3**2
    momentum2 = (i1 * w1) ** 2 + (i2 * w2) ** 2 + (i3 * w3) ** 2
    if momentum2 < energy2 * i2:
        i1, i3 = i3, i1
    scale = (i3 - i2) * (momentum2 - energy2 * i1) / (i1 * i2 * i3)
    k2 = (i2 - i1) * (energy2 * i3 - momentum2) / ((i3 - i2) * (momentum2 - energy2 * i1))
    exact = 2.0 * float(ellipk(k2)) / math.sqrt(scale)
    middle = body[:, order[1]]
    crossings = np.flatnonzero(np.diff(np.sign(middle)))
    times = result.time[crossings]
    found = float(np.diff(times).mean())
    momentum = result.summary["momentum"]["max_angular_drift"]
    return [
        near("time between two flips", found, exact, 0.02 * exact, "s"),
        at_most("drift of the angular momentum", momentum, 1e-8, ""),
    ]


def unturned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A vector of W in the axes of the body with orientation q = w, x, y, z."""
    w, u = q[0], -q[1:]
    return v + 2.0 * (w * np.cross(u, v) + np.cross(u, np.cross(u, v)))


def cardan_joint() -> list[Row]:
    """tan b = tan a cos(40 deg), and the speeds at its two extremes."""
    result = Run("cardan-joint")
    a, b = result.joint("drive", "q"), result.joint("bearing", "q")
    slant = math.cos(math.radians(40.0))
    exact = np.unwrap(np.arctan2(slant * np.sin(a), np.cos(a)))
    ratio = result.joint("bearing", "qd") / result.joint("drive", "qd")
    later = result.time > 0.1
    return [
        at_most(
            "driven shaft off tan b = tan a cos 40", float(np.abs(b - exact).max()), 1e-8, "rad"
        ),
        near("slowest, over the first shaft", float(ratio[later].min()), slant, 1e-4, ""),
        near("fastest, over the first shaft", float(ratio[later].max()), 1.0 / slant, 1e-4, ""),
    ]


def tippe_top() -> list[Row]:
    """Jellett's integral is exact for any friction at the contact of the ball; the top turns over.

    L . (k e - z R), with the axis k of the top, the ball's centre e along it, and L = I w.
    """
    result = Run("tippe-top")
    radius, off = 0.03, 0.0045
    qw, qx, qy, qz = result.body("top", "qw", "qx", "qy", "qz").T
    axis = np.stack(
        [2 * (qx * qz + qw * qy), 2 * (qy * qz - qw * qx), 1 - 2 * (qx**2 + qy**2)], axis=1
    )
    lever = off * axis - np.array([0.0, 0.0, radius])
    integral = np.einsum("ij,ij->i", result.body("top", "wx", "wy", "wz"), lever)
    energy = result.tables["energy"]["total"]
    return [
        at_most(
            "Jellett's integral off its start",
            float(np.abs(integral / integral[0] - 1.0).max()),
            1e-6,
            "",
        ),
        at_most("upward part of the axis at the end", float(axis[-1, 2]), -0.98, ""),
        at_most("energy gained from frame to frame", float(np.diff(energy).max()), 1e-9, "J"),
    ]


def dominoes() -> list[Row]:
    """All lie down, one after another; on a circle the wave runs evenly."""
    result = Run("dominoes")
    limit = math.cos(0.3)
    times, tilts = [], []
    for number in range(1, 29):
        qx, qy = result.body(f"domino-{number}", "qx", "qy").T
        up = 1.0 - 2.0 * (qx**2 + qy**2)
        at = int(np.argmax(up < limit))
        share = (up[at - 1] - limit) / (up[at - 1] - up[at])
        times.append(float(result.time[at - 1] + share * (result.time[at] - result.time[at - 1])))
        tilts.append(math.degrees(math.acos(max(-1.0, min(1.0, float(up[-1]))))))
    steps = np.diff(times)
    even = steps[9:-3]
    return [
        at_least("least tilt at the end", min(tilts), 70.0, "degrees"),
        at_least("shortest time between two that fall", float(steps.min()), 0.01, "s"),
        at_most("spread of these times after the tenth, over their mean",
                float(np.ptp(even) / even.mean()), 0.05, ""),
    ]  # fmt: skip


def kapitza_pendulum() -> list[Row]:
    """Sways about the top at sqrt((a w)^2 / (2 l^2) - g / l), the mean of fast shaking."""
    result = Run("kapitza-pendulum")
    angle = 0.15 + result.joint("pivot", "q")
    crossings = np.flatnonzero(np.diff(np.sign(angle)))
    half = float(result.time[crossings[-1]] - result.time[crossings[0]]) / (len(crossings) - 1)
    shake, length = 0.02 * 2.0 * math.pi * 25.0, 0.2
    exact = math.pi / math.sqrt(shake**2 / (2.0 * length**2) - G / length)
    return [
        near("half a period about the top (mean motion)", half, exact, 0.03 * exact, "s"),
        at_most("leans, at most", float(np.abs(angle).max()), 0.17, "rad"),
    ]
