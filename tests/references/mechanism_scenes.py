"""Benchmark mechanisms of the IFToMM library: pendulum, rows of four-bars, flyball governor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.scenes import Document, document
from tests.published import data


def table(name: str) -> np.ndarray:
    """Columns of a reference file."""
    found: np.ndarray = np.genfromtxt(data("mechanisms", name), delimiter=",", names=True)
    return found


def options(**simulation: Any) -> Document:
    return {"dt": 0.001, "formulation": "reduced", **simulation}


def pendulum(**simulation: Any) -> Document:
    """A01: a point of 1 kg (nearly) on a bar of 1 m without mass, from the horizontal."""
    point = {"name": "point", "position": [1, 0, 0], "mass": 1.0, "inertia": [1e-12] * 3}
    pin: Document = {"type": "hinge", "name": "pin", "parent": "world", "child": "point"}
    pin |= {"anchor": [0, 0, 0], "axis": [0, 1, 0]}
    return document([point], [pin], simulation=options(**simulation))


def four_bars(n: int, **simulation: Any) -> Document:
    """A02: n + 1 upright bars on pins 1 m apart and n couplers on top, B0 at 1 m/s along x."""
    thin, across = 1e-6, 1.0 / 12.0
    bodies: list[Document] = []
    joints: list[Document] = []
    for i in range(n + 1):
        upright = {"name": f"up{i}", "position": [i, 0, 0.5], "inertia": [across, across, thin]}
        upright |= {"linear_velocity": [0.5, 0, 0], "angular_velocity": [0, 1, 0]}
        bodies.append(upright | {"mass": 1.0})
        joints.append(
            {"name": f"pin{i}", "parent": "world", "child": f"up{i}", "anchor": [i, 0, 0]}
        )
    for i in range(n):
        bar = {"name": f"bar{i}", "position": [i + 0.5, 0, 1], "inertia": [thin, across, across]}
        bodies.append(bar | {"mass": 1.0, "linear_velocity": [1, 0, 0]})
        for k in (0, 1):
            joint = {"name": f"knee{i}-{k}", "parent": f"up{i + k}", "child": f"bar{i}"}
            joints.append(joint | {"anchor": [i + k, 0, 1]})
    hinges = [{"type": "hinge", "axis": [0, 1, 0], **joint} for joint in joints]
    return document(bodies, hinges, simulation=options(**simulation))


def governor(omega: float, **simulation: Any) -> Document:
    """A05: balls on rods that a spinning shaft throws out, tied to a slider by stiff springs."""
    shaft = {"name": "shaft", "position": [0, 0, 0.5], "mass": 0.3}
    long, thin = 0.3 * (1.0 + 1e-4) / 12.0, 0.3 * 2e-4 / 12.0
    shaft["inertia"] = [long, long, thin]
    slider = {"name": "slider", "position": [0, 0, 0.5], "mass": 3.0, "inertia": [0.005] * 3}
    bodies: list[Document] = [shaft, slider]
    joints: list[Document] = [
        {"type": "hinge", "name": "bearing", "parent": "world", "child": "shaft"},
        {"type": "slider", "name": "guide", "parent": "shaft", "child": "slider"},
    ]
    for joint in joints:
        joint |= {"anchor": [0, 0, 0.5], "axis": [0, 0, 1]}
    forces = []
    mass, centre = 5.3, (0.3 * 0.5 + 5.0) / 5.3
    about = long + 0.3 * (centre - 0.5) ** 2 + 5.0 * (1.0 - centre) ** 2
    for side, name in ((1.0, "right"), (-1.0, "left")):
        c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
        hinge = np.array([0.05 * side, 0.0, 1.0])
        along = np.array([c * side, 0.0, -s])
        place = hinge + centre * along
        # turned about y so that the body's x lies along the rod
        angle = math.atan2(-along[2], along[0])
        turn = [math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0]
        rod = {"name": name, "position": place.tolist(), "orientation": turn, "mass": mass}
        bodies.append(rod | {"inertia": [thin, about, about]})
        joint = {"type": "hinge", "name": f"hinge-{name}", "parent": "shaft", "child": name}
        joints.append(joint | {"anchor": hinge.tolist(), "axis": [0, 1, 0]})
        spring = {"type": "spring", "parent": "slider", "child": name, "stiffness": 8e5}
        spring |= {"anchor": [0.05 * side, 0, 0.5], "anchor2": (hinge + 0.5 * along).tolist()}
        forces.append(spring | {"damping": 4e4, "rest": 0.5})
    for body in bodies:
        x, y, _ = body["position"]
        body["angular_velocity"] = [0, 0, omega]
        body["linear_velocity"] = [-omega * y, omega * x, 0]
    return document(bodies, joints, forces=forces, simulation=options(**simulation))
