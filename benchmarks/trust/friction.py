"""Families with friction: bowling, clutches, belts, ladders."""

from __future__ import annotations

import math

from scipy.integrate import solve_ivp

from benchmarks.trust.case import (
    Case,
    Document,
    G,
    family,
    floor,
    joint,
    scene,
    turn,
)
from benchmarks.trust.mechanisms import along_x, rotor
from benchmarks.trust.touching import box, sphere


@family(
    [
        (4.0, 0.0, 0.2, 0.001),
        (4.0, -60.0, 0.3, 0.005),
        (10.0, 0.0, 0.1, 0.02),
        (1.0, 100.0, 0.5, 0.01),
    ]
)
def bowls(_form: str, speed: float, spin: float, mu: float, dt: float) -> Case:
    """A ball that slides until it rolls."""
    r = 0.1
    ball = sphere("ball", [0, 0, r], r, linear_velocity=[speed, 0, 0])
    ball["angular_velocity"] = [0, spin, 0]
    slip = speed - r * spin
    sign = math.copysign(1.0, slip)
    until = abs(slip) / (3.5 * mu * G)

    def true(t, v=speed, a=sign * mu * G):
        s = min(t, until)
        return [v * s - 0.5 * a * s * s + (v - a * s) * (t - s)]

    return Case(
        "bowling",
        f"{speed} m/s, {spin} rad/s, friction {mu}, dt {dt}",
        scene([floor("m"), ball], dt=dt, duration=2.0, materials={"m": {"friction": mu}}),
        along_x("ball"),
        true,
    )


@family([(1.0, 0.002, 0.001), (2.0, 0.01, 0.01), (0.5, 0.001, 0.02)])
def resistances(_form: str, speed: float, lever: float, dt: float) -> Case:
    """A ball that rolls until rolling friction stops it."""
    r = 0.1
    ball = sphere("ball", [0, 0, r], r, linear_velocity=[speed, 0, 0])
    ball["angular_velocity"] = [0, speed / r, 0]
    rate = G * lever / r / 1.4

    def true(t, v=speed, a=rate):
        s = min(t, v / a)
        return [v * s - 0.5 * a * s * s]

    materials = {"m": {"friction": 0.8, "rolling_friction": lever}}
    return Case(
        "rolling resistance",
        f"{speed} m/s, {lever} m, dt {dt}",
        scene([floor("m"), ball], dt=dt, duration=3.0, materials=materials),
        along_x("ball"),
        true,
    )


@family(
    [
        (20.0, 0.2, 0.001),
        (100.0, 0.5, 0.005),
        (10.0, 0.05, 0.02),
        (300.0, 0.1, 0.01),
    ]
)
def coulombs(_form: str, stiffness: float, mu: float, dt: float) -> Case:
    """A block on a spring on a rough floor: each half swing is shorter by 2 mu m g / k."""
    x0 = 5.3 * mu * G / stiffness
    # longer than the first swing: the block does not pass the anchor
    rest = max(1.0, x0)
    block = box("block", [rest + x0, 0, 0.1])
    w, lost = math.sqrt(stiffness), mu * G / stiffness
    spring = {
        "type": "spring", "parent": "world", "child": "block", "anchor": [0, 0, 0.1],
        "anchor2": [rest + x0, 0, 0.1], "rest": rest, "stiffness": stiffness,
    }  # fmt: skip

    def true(t):
        a, sign = x0, 1.0
        while a > lost:
            if t < math.pi / w:
                return [rest + sign * (lost + (a - lost) * math.cos(w * t))]
            t, a, sign = t - math.pi / w, a - 2.0 * lost, -sign
        return [rest + sign * a]

    return Case(
        "spring and dry friction",
        f"{stiffness} N/m, friction {mu}, dt {dt}",
        scene(
            [floor("m"), block], [], [spring], dt=dt, duration=4.0 * math.pi / w,
            materials={"m": {"friction": mu}},
        ),
        along_x("block"),
        true,
    )  # fmt: skip


@family(
    [
        (0.3, 0.001),
        (1.0, 0.01),
        (0.1, 0.02),
        (0.5, 0.03),
    ]
)
def hinges(form: str, friction: float, dt: float) -> Case:
    """A flywheel on a torsion spring with dry friction in its bearing."""
    inertia, stiffness = 0.1, 5.0
    wheel = rotor("wheel", inertia)
    start = 7.4 * friction / stiffness
    hinge = joint(
        "hinge", "wheel", anchor=[0, 0, 0], axis=[0, 0, 1], friction=friction,
        spring={"stiffness": stiffness}, initial={"position": start},
    )  # fmt: skip
    w, lost = math.sqrt(stiffness / inertia), friction / stiffness

    def true(t, a0=start):
        a, sign = a0, 1.0
        while a > lost:
            if t < math.pi / w:
                return [sign * (lost + (a - lost) * math.cos(w * t))]
            t, a, sign = t - math.pi / w, a - 2.0 * lost, -sign
        return [sign * a]

    return Case(
        "bearing friction",
        f"{friction} N m, dt {dt}, {form}",
        scene([wheel], [hinge], dt=dt, duration=2.0, gravity=0.0, formulation=form),
        turn("world-wheel"),
        true,
    )


@family([(1.0, 0.001), (5.0, 0.01), (20.0, 0.02)])
def clutches(form: str, friction: float, dt: float) -> Case:
    """Two flywheels whose common bearing has friction until they turn alike."""
    a, b, speed = 0.2, 0.5, 30.0
    bodies = [rotor("a", a, angular_velocity=[0, 0, speed]), rotor("b", b)]
    joints = [
        joint("hinge", "a", anchor=[0, 0, 0], axis=[0, 0, 1]),
        joint("hinge", "b", "a", anchor=[0, 0, 0], axis=[0, 0, 1], friction=friction),
    ]
    end = a * b / (a + b) * speed / friction

    def true(t, f=friction):
        s = min(t, end)
        w = f / b * s
        return [w if t > 0 else 0.0, speed - f / a * s]

    def look(s):
        w = s.velocities()
        return [w[s.body_names.index("b"), 5], w[s.body_names.index("a"), 5]]

    return Case(
        "clutch",
        f"{friction} N m, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=2.0 * end, gravity=0.0, formulation=form),
        look,
        true,
    )


@family(
    [
        (0.1, 200.0, 0.001),
        (0.02, 1000.0, 0.002),
        (0.5, 50.0, 0.01),
        (0.05, 100.0, 0.02),
    ]
)
def sticks(_form: str, speed: float, stiffness: float, dt: float) -> Case:
    """Stick and slip: a block that a spring pulls over a rough belt that moves evenly."""
    still, sliding = 0.5, 0.3
    block = box("block", [1.0, 0, 0.1])
    spring = {
        "type": "spring", "parent": "world", "child": "block", "anchor": [0, 0, 0.1],
        "anchor2": [1.0, 0, 0.1], "stiffness": stiffness,
    }  # fmt: skip
    materials = {
        "belt": {
            "friction": sliding,
            "static_friction": still,
            "surface_velocity": [speed, 0, 0],
        },
        "m": {"friction": sliding, "static_friction": still},
    }
    w = math.sqrt(stiffness)
    # sticks until k x = still g; slides as an oscillation about x1 = sliding g/k until v = speed
    most, middle = still * G / stiffness, sliding * G / stiffness
    size = math.hypot(most - middle, speed / w)
    phase = math.atan2(speed / w, most - middle)
    slip_time = (math.pi + 2.0 * phase) / w
    least = 2.0 * middle - most

    def true(t):
        # from rest on the belt: it slides until it has the speed of the belt
        until, x = slides_until(speed, w, middle)
        if t < until:
            return [1.0 + middle * (1 - math.cos(w * t))]
        t -= until
        while True:
            stick = max(most - x, 0.0) / speed
            if t < stick:
                return [1.0 + x + speed * t]
            t -= stick
            if t < slip_time:
                return [1.0 + middle + size * math.cos(w * t - phase)]
            t, x = t - slip_time, least

    return Case(
        "stick-slip",
        f"{speed} m/s, {stiffness} N/m, dt {dt}",
        scene(
            [floor("belt"), block],
            [],
            [spring],
            dt=dt,
            duration=min(most / speed * 3.0, 10.0),
            materials=materials,
        ),
        along_x("block"),
        true,
    )


def slides_until(speed: float, w: float, middle: float) -> tuple[float, float]:
    """When a block let go on a belt has its speed [s], and how far it is then [m]."""
    share = speed / (w * middle)
    if share >= 1.0:
        return math.inf, 0.0
    angle = math.asin(share)
    return angle / w, middle * (1.0 - math.cos(angle))


@family([(0.3, 0.001), (0.3, 0.01), (0.6, 0.02)])
def rollers(_form: str, mu: float, dt: float) -> Case:
    """A bar on two rollers that turn against each other: friction drives it to and fro."""
    r, half, thick = 0.1, 0.3, 0.05
    lying = [math.sqrt(0.5), math.sqrt(0.5), 0, 0]
    disc = {
        "type": "cylinder",
        "radius": r,
        "length": 0.2,
        "orientation": lying,
        "material": "m",
    }
    spin = 100.0
    bodies: list[Document] = [
        {"name": n, "type": "kinematic", "position": [s * half, 0, -r],
         "angular_velocity": [0, -s * spin, 0], "shapes": [disc]}
        for n, s in (("a", -1.0), ("b", 1.0))
    ]  # fmt: skip
    shape = {"type": "box", "size": [2.0, 0.1, 2 * thick], "material": "m"}
    x0 = 0.1
    bar = {"name": "bar", "position": [x0, 0, thick], "mass": 1.0, "shapes": [shape]}
    # N_b - N_a = m g x / (half + mu thick) ... with moments about the middle of the bar
    rate = mu * G / (half - mu * thick)
    w = math.sqrt(rate)
    return Case(
        "friction oscillator",
        f"friction {mu}, dt {dt}",
        scene([*bodies, {**bar}], dt=dt, duration=3.0, materials={"m": {"friction": mu}}),
        along_x("bar"),
        lambda t: [x0 * math.cos(w * t)],
    )


@family([(0.3, 0.001), (0.5, 0.005), (0.8, 0.02)])
def ladders(_form: str, lean: float, dt: float) -> Case:
    """A ladder with round ends that slides down a smooth wall."""
    length, r, m = 2.0, 0.02, 5.0
    shape = {"type": "capsule", "radius": r, "length": length, "material": "m"}
    wall = {"name": "wall", "type": "static",
            "shapes": [{"type": "plane", "normal": [1, 0, 0], "material": "m"}]}  # fmt: skip
    x, z = 0.5 * length * math.sin(lean) + r, 0.5 * length * math.cos(lean) + r
    turned = [math.cos(0.5 * lean), 0, -math.sin(0.5 * lean), 0]
    inertia = m * length**2 / 12.0
    ladder = {"name": "ladder", "position": [x, 0, z], "mass": m, "shapes": [shape]}
    ladder |= {"orientation": turned, "inertia": [inertia, inertia, 1e-3]}
    # until it leaves the wall: 3 g sin / 2 L; wall force = 0 at cos = 2/3 cos0
    leave = math.acos(2.0 / 3.0 * math.cos(lean))

    def law(_t, y):
        return [y[1], 1.5 * G / length * math.sin(y[0])]

    def left(_t, y):
        return y[0] - leave

    left.terminal = True
    found = solve_ivp(law, (0, 5), [lean, 0.0], "DOP853", rtol=1e-10, atol=1e-12,
                      dense_output=True, events=left)  # fmt: skip
    end = float(found.t_events[0][0])
    return Case(
        "ladder",
        f"{lean} rad, dt {dt}",
        scene([floor("m"), wall, ladder], dt=dt, duration=0.98 * end,
              materials={"m": {"friction": 0.0}}),
        lambda s: [s.poses()[2, 0], s.poses()[2, 2]],
        lambda t, sol=found.sol: [
            r + 0.5 * length * math.sin(sol(t)[0]), r + 0.5 * length * math.cos(sol(t)[0]),
        ],
    )  # fmt: skip


FAMILIES = (
    bowls,
    resistances,
    coulombs,
    hinges,
    clutches,
    sticks,
    rollers,
    ladders,
)
