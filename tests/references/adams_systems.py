"""The published one-joint systems as scenes of the public format.

Scenes as in Project Chrono's unit tests of joints (BSD-3). Where the published curve itself is off
the exact motion goes in its place: by 8e-4 m for a rod that swings in a plane (three systems), by
3e-4 m/s and more where it cracks like a whip on a tether (Distance_Case02).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.engine.scenes import document
from tests.references.exact_rods import Curves, G, Tethered, plane_pendulum, product, tethered

WHIP = 1e-5
HALF = 0.7071067811865476
AS_WRITTEN = [1.0, 0.0, 0.0, 0.0]

Scene = dict[str, Any]


class System(NamedTuple):
    """One of the systems."""

    scene: Scene
    place: tuple[float, float, float]
    """Where the joint is on the ground, about which torques are published [m]."""
    files: tuple[str, str] = ("Rforce", "Rtorque")
    """Names of the published force and torque; "" where there is none."""
    exact: Callable[[], Curves] | None = None
    """What replaces a published curve that is off."""
    sign: float = 1.0
    """-1 where the published force is that on the body."""
    dt: float = 1e-3
    """Step: shorter where the rod cracks like a whip [s]."""


def rod(position: list[float], **more: Any) -> Scene:
    """A rod of 4 m and 1 kg along its own x, given by its centre of mass."""
    return {"name": "rod", "mass": 1.0, "inertia": [0.04, 0.1, 0.1], "position": position, **more}


def joint(kind: str, name: str = "joint", **more: Any) -> Scene:
    """A joint of the rod with the ground."""
    return {"name": name, "type": kind, "parent": "world", "child": "rod", **more}


def spring(stiffness: Any, damping: float, ends: tuple[list[float], list[float]]) -> Scene:
    """A spring and damper from the ground to a point of the rod, free at the start."""
    found = {"type": "spring", "parent": "world", "child": "rod", "stiffness": stiffness}
    return {**found, "damping": damping, "anchor": ends[0], "anchor2": ends[1]}


def scene(body: Scene, *joints: Scene, forces: tuple[Scene, ...] = ()) -> Scene:
    """A document; the time step is the system's."""
    gravity = [0.0, 0.0, -G]
    return document([body], list(joints), forces=list(forces), gravity=gravity)


def swinging(
    start: tuple[float, float, float], axis: tuple[float, float, float], first: list[float]
) -> Callable[[], Curves]:
    """The exact pendulum of a rod whose orientation at the start is `first`."""

    def curves() -> Curves:
        found = plane_pendulum(start, axis)
        return found._replace(orientation=product(found.orientation, np.array(first)))

    return curves


def whip() -> Curves:
    """The exact motion of Distance_Case02."""
    peg, end, position = np.array([1.0, 2, 3]), np.array([1.0, 4, 3]), np.array([-1.0, 4, 3])
    return tethered(Tethered(peg, position, end - position, np.array([0.04, 0.1, 0.1])))


def systems() -> dict[str, System]:
    """All systems by their published names."""
    origin, corner, end = [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [1.0, 4.0, 3.0]
    out, away = [2.0, 0.0, 0.0], [-1.0, 4.0, 3.0]
    upright = {"inertia": [0.1, 0.1, 0.04]}
    spun = [HALF, HALF, 0.0, 0.0]
    tipped = [HALF, 0.0, HALF, 0.0]
    skew = [0.0, HALF, HALF]
    o, c = (0.0, 0.0, 0.0), (1.0, 2.0, 3.0)
    hinge = joint("hinge", anchor=origin, axis=[0, 1, 0])
    # a massless arm on a hinge, the rod on a ball at its end: the ball's point keeps its distances
    # to two points of the hinge's axis, which is a circle exactly
    arm = [
        joint("distance", name, anchor=[0, 0, z], anchor2=out)
        for name, z in (("above", 2.0), ("below", -2.0))
    ]
    rail = joint("slider", axis=[0, 0, 1], anchor=origin)
    driven = {**rail, "motor": {"type": "velocity", "target": 1.0}}
    cube = {"inertia": [1.0, 1.0, 1.0], "linear_velocity": [0, 0, 1.0]}
    twice = spring(10.0, 0.5, (origin, origin))
    stiffening = spring([50.0, 10.0, 0.0], 5.0, (corner, end))
    return {
        "Revolute_Case01": System(scene(rod(out), hinge), o),
        "Spherical_Case01": System(
            scene(rod(out), joint("ball", anchor=origin)),
            o,
            exact=swinging((1, 0, 0), (0, 1, 0), AS_WRITTEN),
        ),
        "Prismatic_Case01": System(scene(rod(out), rail), o),
        "Cylindrical_Case01": System(
            scene(rod(out), joint("cylindrical", anchor=origin, axis=[0, 0, 1])), o
        ),
        "Cylindrical_Case03": System(
            scene(
                rod(
                    [3.0, 2.0, 3.0],
                    orientation=[math.cos(math.pi / 8), -math.sin(math.pi / 8), 0, 0],
                ),
                joint("cylindrical", anchor=corner, axis=skew),
            ),
            c,
        ),
        "Universal_Case01": System(
            scene(
                rod([0.0, 2.0, 0.0], orientation=spun, **upright),
                joint("universal", anchor=origin, axis=[1, 0, 0], axis2=[0, 0, 1]),
            ),
            o,
            exact=swinging((0, 1, 0), (-1, 0, 0), spun),
        ),
        "Universal_Case02": System(
            scene(
                rod([-2.0, 0.0, 0.0], orientation=tipped, **upright),
                joint("universal", anchor=origin, axis=[0, 0, -1], axis2=[0, 1, 0]),
            ),
            o,
            exact=swinging((-1, 0, 0), (0, -1, 0), tipped),
        ),
        "Distance_Case01": System(
            scene(rod([0.0, 2.0, 0.0]), joint("distance", anchor=origin, anchor2=[0, 2, 0])), o
        ),
        "Distance_Case02": System(
            scene(rod(away), joint("distance", anchor=corner, anchor2=end)), c, exact=whip, dt=WHIP
        ),
        "RevSpherical_Case01": System(
            scene(rod([2.0, 2.0, 0.0], inertia=[0.1, 0.04, 0.1]), *arm),
            o,
            ("Rforce_Body1", "Rtorque_Body1"),
            # at its sharpest turn the curve itself is off by what is asked, whatever the step
            dt=1.25e-5,
        ),
        "RotSpring_Case01": System(
            scene(rod(out), {**hinge, "spring": {"stiffness": 200.0, "damping": 10.0}}), o
        ),
        "TranSpring_Case01": System(scene(rod(origin), forces=(twice,)), o, ("Rforce", "")),
        "TranSpringCB_Case01": System(scene(rod(origin), forces=(twice,)), o, ("Rforce", "")),
        "TranSpringCB_Case03": System(
            scene(rod(away), forces=(stiffening,)), c, ("Rforce", ""), dt=1e-4
        ),
        "LinActuator_Case01": System(
            scene(rod(origin, **cube), driven), o, ("RforceA", "RtorqueA"), sign=-1.0
        ),
    }
