"""Families of vehicles: cars on steps and hills, trains of carts."""

from typing import Any

import numpy as np

from benchmarks.families.heaps import reach, terrain
from benchmarks.families.solids import (
    ALONG_Y,
    Random,
    Scene,
    Y,
    about,
    between,
    body,
    joint,
    offset,
    scene,
    shape,
    still,
    velocity,
)


def _car(
    bodies: list[Scene], joints: list[Scene], at: Any, wheel: Scene, speed: float, most: float
) -> None:
    """A chassis with four driven wheels."""
    at, r = np.array(at), reach(wheel) if wheel["kind"] == "sphere" else wheel["size"][0]
    chassis = len(bodies)
    bodies.append(body(shape("box", [0.5, 0.25, 0.08]), at, 30.0))
    for x in (-0.35, 0.35):
        for y in (-1, 1):
            hub = offset(at, x, y * (0.27 + r if wheel["kind"] == "sphere" else 0.35), -0.1)
            bodies.append(body(wheel, hub, 3.0))
            drive = velocity(speed, most)
            i = len(bodies) - 1
            joints.append(joint("hinge", chassis, i, hub, axis=Y, axis2=Y, motor=drive))


def cars_on_steps(rng: Random) -> Scene:
    """Cars that drive over planks and up ramps."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(8):
        size = [0.1, 4.0, rng.uniform(0.01, 0.05)]
        bodies.append(still(shape("box", size), [1.0 + 0.6 * i, 3.0, size[2] - 1e-3]))
    tilt = rng.uniform(0.1, 0.3)
    ramp = shape("box", [1.5, 4.0, 0.05])
    bodies.append(still(ramp, [-2.6, 3.0, 0.2], quat=about(Y, -tilt)))
    wheels = [shape("sphere", [0.15]), shape("capsule", [0.15, 0.02], quat=ALONG_Y)]
    for i in range(int(rng.integers(2, 6))):
        wheel = wheels[int(rng.integers(2))]
        speed = rng.uniform(5.0, 15.0) * (1 if i % 2 else -1)
        _car(bodies, joints, [0.0, 1.2 * i, 0.27], wheel, speed, rng.uniform(10.0, 40.0))
    return scene(bodies, joints, mu=0.8, steps=240, window=(60, 240))


def cars_on_hills(rng: Random) -> Scene:
    """Cars on a mesh."""
    bodies, joints = [terrain(rng)], list[Scene]()
    wheels = [shape("sphere", [0.16]), shape("cylinder", [0.16, 0.04], quat=ALONG_Y)]
    wheel = wheels[int(rng.integers(2))]
    for i in range(int(rng.integers(2, 5))):
        _car(bodies, joints, [0.0, 1.3 * i - 2.0, 0.9], wheel, rng.uniform(3.0, 10.0), 30.0)
    return scene(bodies, joints, plane=False, mu=0.8, steps=300, window=(120, 300))


def carts(rng: Random) -> Scene:
    """Trains of carts on ball couplings pulled through boxes."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    wheel = shape("sphere", [0.12])
    n = int(rng.integers(2, 6))
    before = -1
    for i in range(n):
        here = len(bodies)
        speed, most = (rng.uniform(5.0, 20.0), 60.0) if i == 0 else (0.0, 0.0)
        _car(bodies, joints, [-1.4 * i, 0, 0.22], wheel, speed, most)
        if before >= 0:
            joints.append(joint("ball", before, here, [-1.4 * i + 0.7, 0, 0.22]))
        before = here
    for i in range(int(rng.integers(6, 20))):
        at = [1.0 + 0.25 * (i // 4), 0.3 * (i % 4) - 0.45, 0.1]
        bodies.append(body(shape("box", [0.1] * 3), at, between(rng, 0.5, 20.0)))
    return scene(bodies, joints, mu=0.8, steps=240, window=(60, 240))


FAMILIES = (cars_on_steps, cars_on_hills, carts)
