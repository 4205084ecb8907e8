"""Families with contact: falls, bounces, slopes, stacks, brakes, rolling, impacts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchmarks.trust.case import Case, Document, G, Parameters, axis, floor, height, place, scene
from benchmarks.trust.machines import kept

UPRIGHT, TOP = axis("disk"), axis("top")


def box(name: str, position: list[float], size: float = 0.2, m: float = 1.0, **more) -> Document:
    """A cube of material m."""
    shape = {"type": "box", "size": [size] * 3, "material": "m"}
    return {"name": name, "position": position, "mass": m, "shapes": [shape], **more}


def sphere(
    name: str, position: list[float], radius: float = 0.1, m: float = 1.0, **more
) -> Document:
    """A ball of material m."""
    shape = {"type": "sphere", "radius": radius, "material": "m"}
    return {"name": name, "position": position, "mass": m, "shapes": [shape], **more}


def bouncing(drop: float, e: float):
    """Height above the lowest place of a ball that falls from `drop` [m]."""

    def true(t: float) -> list[float]:
        fall = math.sqrt(2.0 * drop / G)
        if t < fall:
            return [drop - 0.5 * G * t * t]
        t, v = t - fall, e * G * fall
        while v > 1e-9 and t > 2.0 * v / G:
            t, v = t - 2.0 * v / G, e * v
        return [v * t - 0.5 * G * t * t if v > 1e-9 else 0.0]

    return true


BOUNCES: Parameters = [
    (1.0, 0.8, 0.0005, 1.5, "step"),
    (1.0, 0.5, 0.001, 1.0, "step"),
    (1.0, 0.9, 0.01, 4.0, "step"),
    (2.0, 1.0, 0.001, 10.0, "step"),
    (0.5, 0.7, 0.001, 3.0, "exact"),
    (1.0, 0.9, 0.005, 5.0, "exact"),
    (1.0, 0.0, 0.001, 2.0, "step"),
    (1.0, 0.6, 0.02, 2.0, "step"),
]


def bounces(parameters: Parameters = BOUNCES) -> Iterator[Case]:
    """A ball that bounces on the floor."""
    for drop, e, dt, duration, time in parameters:
        ball = sphere("ball", [0, 0, drop + 0.1])
        contact = {"restitution_threshold": 0.01, "impact_time": time}
        true = bouncing(drop, e)
        yield Case(
            "bounce",
            f"{drop} m, e {e}, dt {dt}, {duration} s, {time}",
            scene(
                [floor("m"), ball],
                dt=dt,
                duration=duration,
                contact=contact,
                materials={"m": {"restitution": e, "friction": 0.5}},
            ),
            height("ball"),
            lambda t, true=true: [true(t)[0] + 0.1],
            drop,
        )


SLOPES: Parameters = [
    ("box", 0.3, 0.5, 0.001),
    ("box", 0.5, 0.3, 0.001),
    ("box", 0.5, 0.3, 0.02),
    ("ball", 0.3, 0.5, 0.001),
    ("ball", 0.8, 0.1, 0.005),
    ("ball", 0.3, 0.5, 0.02),
    ("box", 0.2, 0.0, 0.01),
    ("box", 0.6, 0.75, 0.005),
]


def slopes(parameters: Parameters = SLOPES) -> Iterator[Case]:
    """A box or ball on a slope: a constant acceleration, or none."""
    for kind, angle, mu, dt in parameters:
        c, s = math.cos(angle), math.sin(angle)
        plane = {"type": "plane", "normal": [s, 0, c], "material": "m"}
        turned = [math.cos(0.5 * angle), 0, math.sin(0.5 * angle), 0]
        at = [0.1 * s, 0, 0.1 * c]
        body = {**box("body", at), "orientation": turned} if kind == "box" else sphere("body", at)
        if kind == "box":
            rate = max(0.0, G * (s - mu * c))
        else:
            rolls = math.tan(angle) <= 3.5 * mu
            rate = G * s / 1.4 if rolls else G * (s - mu * c)
        yield Case(
            "slope",
            f"{kind}, {angle} rad, friction {mu}, dt {dt}",
            scene(
                [{"name": "slope", "type": "static", "shapes": [plane]}, body],
                dt=dt,
                duration=1.0,
                materials={"m": {"friction": mu}},
            ),
            lambda x, c=c, s=s: [x.poses()[1, 0] * c - x.poses()[1, 2] * s],
            lambda t, r=rate: [0.5 * r * t * t],
            0.5 * rate if rate > 0.0 else 0.1,
        )


STACKS: Parameters = [
    (3, 1.0, 0.001, 2.0),
    (10, 1.0, 0.002, 2.0),
    (5, 1.0, 0.01, 3.0),
    (3, 100.0, 0.001, 2.0),
    (5, 1000.0, 0.005, 2.0),
    (15, 1.0, 0.005, 3.0),
    (4, 10000.0, 0.005, 2.0),
]


def stacks(parameters: Parameters = STACKS) -> Iterator[Case]:
    """Boxes that stand on each other and stay, also a heavy one on light ones."""
    for count, top, dt, duration in parameters:
        bodies = [
            box(f"b{k}", [0, 0, 0.1 + 0.2 * k], m=top if k == count - 1 else 1.0)
            for k in range(count)
        ]
        names = [body["name"] for body in bodies]
        start = [x for body in bodies for x in body["position"]]
        yield Case(
            "stack",
            f"{count} boxes, the top one {top} kg, dt {dt}",
            scene(
                [floor("m"), *bodies], dt=dt, duration=duration, materials={"m": {"friction": 0.6}}
            ),
            place(*names),
            lambda t, start=start: start,
            0.2,
        )


BRAKES: Parameters = [
    (3.0, 0.5, 0.001),
    (10.0, 0.8, 0.005),
    (1.0, 0.3, 0.02),
    (30.0, 0.7, 0.01),
]


def brakes(parameters: Parameters = BRAKES) -> Iterator[Case]:
    """A box that slides until friction has stopped it."""
    for speed, mu, dt in parameters:
        time = speed / (mu * G)

        def true(t, v=speed, a=mu * G, stop=time):
            t = min(t, stop)
            return [v * t - 0.5 * a * t * t]

        body = box("car", [0, 0, 0.1], linear_velocity=[speed, 0, 0])
        yield Case(
            "brake",
            f"{speed} m/s, friction {mu}, dt {dt}",
            scene(
                [floor("m"), body], dt=dt, duration=1.5 * time, materials={"m": {"friction": mu}}
            ),
            lambda s: [s.poses()[1, 0]],
            true,
        )


BULLETS: Parameters = [
    (5.0, 0.001, 0.1),
    (50.0, 0.002, 0.05),
    (200.0, 0.005, 0.02),
    (1000.0, 0.01, 0.01),
]


def bullets(parameters: Parameters = BULLETS) -> Iterator[Case]:
    """A ball thrown at a wall that it may not pass."""
    for speed, dt, thick in parameters:
        wall = {"name": "wall", "type": "static", "position": [1, 0, 0]}
        wall["shapes"] = [{"type": "box", "size": [thick, 2, 2], "material": "m"}]
        ball = sphere("ball", [0, 0, 0], 0.05, linear_velocity=[speed, 0, 0])
        stop = 1.0 - 0.5 * thick - 0.05
        yield Case(
            "bullet",
            f"{speed} m/s at {thick} m, dt {dt}",
            scene(
                [wall, ball],
                dt=dt,
                duration=max(3.0 / speed, 20 * dt),
                gravity=0.0,
                materials={"m": {"friction": 0.5}},
            ),
            lambda s: [s.poses()[1, 0]],
            lambda t, v=speed, stop=stop: [min(v * t, stop)],
        )


CRADLES: Parameters = [
    (5, "propagating", 0.0, 0.001),
    (5, "newton", 0.0, 0.001),
    (3, "newton", 0.0, 0.0005),
    (2, "newton", 0.0, 0.001),
    (4, "newton", 0.02, 0.001),
    (4, "poisson", 0.0, 0.001),
]


def cradles(parameters: Parameters = CRADLES) -> Iterator[Case]:
    """A row of balls that one more strikes: what strikes stops, the last goes."""
    for count, law, gap, dt in parameters:
        row = [sphere(f"b{k}", [k * (0.2 + gap), 0, 0]) for k in range(count)]
        row[0]["position"][0] -= 0.3
        row[0]["linear_velocity"] = [1.0, 0, 0]
        names = [body["name"] for body in row]
        hit = (0.3 + (count - 1) * gap) / 1.0

        def true(t, count=count, gap=gap, hit=hit):
            # every ball stops where it touches the start of the next one
            ends = [(0.2 + gap) * (k + 1) - 0.2 for k in range(count - 1)]
            ends.append((0.2 + gap) * (count - 1) + max(0.0, t - hit))
            return [x for e in ends for x in (e, 0.0, 0.0)]

        yield Case(
            "cradle",
            f"{count} balls, {law}, gap {gap}, dt {dt}",
            scene(
                row,
                dt=dt,
                duration=1.0,
                gravity=0.0,
                materials={"m": {"restitution": 1.0, "friction": 0.0}},
                contact={"restitution_law": law, "restitution_threshold": 0.01},
            ),
            place(*names),
            true,
            0.7 - (count - 1) * gap,
            from_time=0.3 + (count - 1) * gap + 0.05,
        )


OVERLAPS: Parameters = [(0.0, 0.001), (0.05, 0.001), (0.15, 0.002)]


def overlaps(parameters: Parameters = OVERLAPS) -> Iterator[Case]:
    """Bodies that start inside one another, or just touch."""
    for depth, dt in parameters:
        bodies = [box("low", [0, 0, 0.1]), box("high", [0, 0, 0.3 - depth])]
        yield Case(
            "overlap",
            f"{depth} m, dt {dt}",
            scene([floor("m"), *bodies], dt=dt, duration=0.5, materials={"m": {"friction": 0.6}}),
            place("low", "high"),
            lambda t, depth=depth: [0, 0, 0.1, 0, 0, 0.3 - depth],
            0.2,
        )


ROLLERS: Parameters = [(2.0, 0.001), (5.0, 0.01), (20.0, 0.005)]


def rollers(parameters: Parameters = ROLLERS) -> Iterator[Case]:
    """Bodies that roll as they must by laws of their own, or do not."""
    for speed, dt in parameters:
        ball = sphere("ball", [0, 0, 0.1], linear_velocity=[speed, 0, 0])
        slip = speed * 2.0 / 7.0 / (0.4 * G)

        def true(t, v=speed, slip=slip):
            s = min(t, slip)
            return [v * s - 0.5 * 0.4 * G * s * s + v * 5.0 / 7.0 * (t - s)]

        yield Case(
            "rolling ball",
            f"{speed} m/s, dt {dt}",
            scene([floor("m"), ball], dt=dt, duration=1.0, materials={"m": {"friction": 0.4}}),
            lambda s: [s.poses()[1, 0]],
            true,
        )
    for dt in (0.001, 0.0001, 0.003):
        document = kept("disk-29")
        document["simulation"] |= {"dt": dt, "duration": 2.0}
        yield Case(
            "rolling disc",
            f"dt {dt}",
            document,
            lambda s: [UPRIGHT(s)[2]],
            lambda t: [math.cos(math.radians(30.0))],
            0.5,
        )
    for name in ("ellipsoid-rock", "ellipsoid-slip"):
        for dt in (0.001, 0.0002):
            document = kept(name)
            document["simulation"] |= {"dt": dt, "duration": 5.0}
            lifted = G * 0.02998255810676257
            # an amplitude is off by half of what the energy is off by
            yield Case(
                "rocking ellipsoid",
                f"{name}, dt {dt}",
                document,
                lambda s: [s.energy()["total"]],
                lambda t: [G * 0.12998255810676257],
                2.0 * lifted,
            )


def known() -> Iterator[Case]:
    """Scenes with answers of their own: README.md in their folder says where these come from."""
    for dt in (0.001, 0.0002):
        document = kept("rattleback-5")
        document["simulation"] |= {"dt": dt, "duration": 8.0}
        yield Case(
            "rattleback",
            f"dt {dt}",
            document,
            lambda s: [s.velocities()[1, 5]],
            lambda t: [5.09],
            5.0,
            from_time=7.99,
        )
        document = kept("tippe")
        document["simulation"] |= {"dt": dt, "duration": 6.0}
        yield Case(
            "tippe top",
            f"dt {dt}",
            document,
            lambda s: [min(TOP(s)[2], 0.95)],
            lambda t: [0.95],
            1.0,
        )
    for dt in (0.001, 0.0002):
        document = kept("gripper")
        document["simulation"] |= {"dt": dt}
        yield Case(
            "gripper",
            f"dt {dt}",
            document,
            lambda s: [s.poses()[4, 2] - s.poses()[1, 2]],
            lambda t: [-0.26],
            0.08,
        )
    document = kept("capstan2-20-0.1-0.95")
    start = [x for one in document["bodies"] for x in one.get("position", (0.0, 0.0, 0.0))]
    bodies = place(*(one["name"] for one in document["bodies"]))
    yield Case("capstan", "20 links", document, bodies, lambda t: start, 0.1)


def dominoes() -> Iterator[Case]:
    """A row of dominoes, pushed: it falls by a time that finer steps agree upon."""
    for dt in (0.0005, 0.01):
        bodies = [floor("m")]
        for k in range(5):
            shape = {"type": "box", "size": [0.02, 0.1, 0.2], "material": "m"}
            one = {"name": f"d{k}", "position": [0.08 * k, 0, 0.1], "mass": 0.1, "shapes": [shape]}
            bodies.append(one)
        bodies[1]["angular_velocity"] = [0, 4.0, 0]
        bodies[1]["linear_velocity"] = [0.4, 0, 0]
        yield Case(
            "dominoes",
            f"dt {dt}",
            scene(bodies, dt=dt, duration=0.6, materials={"m": {"friction": 0.4}}),
            place("d1", "d2", "d3"),
            changes={},
        )
