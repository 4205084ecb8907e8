"""The same scene seen otherwise: moved, mirrored, in other units, in another order.

Every transform takes a document and gives a document; `turn_of` and the like say how its motion
must follow. Documents are those of tests/laws/machines.py: no planes, no series, no tuples of k.
"""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.references.exact_rods import matrices, product

Document = dict[str, Any]
Change = Callable[[np.ndarray], np.ndarray]

POINTS = ("anchor", "anchor2", "point")
DIRECTIONS = ("axis", "axis2")


def changed(values: list[float], change: Change) -> list[float]:
    """Three numbers through a function of arrays."""
    return [float(x) for x in change(np.array(values, dtype=float))]


def shuffled(scene: Document, seed: int) -> Document:
    """Bodies, joints and forces in another order."""
    other = copy.deepcopy(scene)
    dice = random.Random(seed)
    for part in ("bodies", "joints", "forces"):
        dice.shuffle(other.get(part, []))
    return other


def moved(scene: Document, q: list[float], shift: list[float], boost: list[float]) -> Document:
    """Turned by q about the origin, moved by `shift`, and flying at `boost`: all in W."""
    other = copy.deepcopy(scene)
    R = matrices(np.array([q]))[0]

    def turn(v: np.ndarray) -> np.ndarray:
        return R @ v

    def place(p: np.ndarray) -> np.ndarray:
        return R @ p + shift

    def speed(v: np.ndarray) -> np.ndarray:
        return R @ v + boost

    other["gravity"] = changed(other["gravity"], turn)
    for body in other["bodies"]:
        body["position"] = changed(body.get("position", [0, 0, 0]), place)
        first = np.array([body.get("orientation", [1, 0, 0, 0])])
        body["orientation"] = product(np.array(q), first)[0].tolist()
        body["linear_velocity"] = changed(body.get("linear_velocity", [0, 0, 0]), speed)
        body["angular_velocity"] = changed(body.get("angular_velocity", [0, 0, 0]), turn)
    for part in (*other["joints"], *other.get("forces", [])):
        for key in POINTS:
            if key in part:
                part[key] = changed(part[key], place)
        for key in (*DIRECTIONS, "force", "torque"):
            if key in part:
                part[key] = changed(part[key], turn)
    return other


FLIP = np.array([-1.0, 1.0, 1.0])
TURN_FLIP = np.array([1.0, -1.0, -1.0])


def mirrored(scene: Document) -> Document:
    """Seen in the mirror x = 0: arrows flip their x, turns keep theirs and flip the others.

    A joint's axis is a turn (of a slider: an arrow), so that its angle stays what it was.
    """
    other = copy.deepcopy(scene)
    other["gravity"] = changed(other["gravity"], lambda v: FLIP * v)
    for body in other["bodies"]:
        for key in ("position", "linear_velocity"):
            if key in body:
                body[key] = changed(body[key], lambda v: FLIP * v)
        if "angular_velocity" in body:
            body["angular_velocity"] = changed(body["angular_velocity"], lambda v: TURN_FLIP * v)
        if "orientation" in body:
            w, x, y, z = body["orientation"]
            body["orientation"] = [w, x, -y, -z]
        if len(body.get("inertia", [])) == 6:
            xx, yy, zz, xy, xz, yz = body["inertia"]
            body["inertia"] = [xx, yy, zz, -xy, -xz, yz]
    for part in (*other["joints"], *other.get("forces", [])):
        for key in (*POINTS, "force"):
            if key in part:
                part[key] = changed(part[key], lambda v: FLIP * v)
        sense = FLIP if part["type"] == "slider" else TURN_FLIP
        for key in (*DIRECTIONS, "torque"):
            if key in part:
                part[key] = changed(part[key], functools.partial(np.multiply, sense))
    return other


def in_units(scene: Document, length: float, time: float, mass: float) -> Document:
    """All lengths, times and masses in other units: numbers times these factors (Buckingham)."""
    other = copy.deepcopy(scene)
    force = mass * length / time**2

    def times(part: Document, key: str, factor: float) -> None:
        if key in part:
            value = np.array(part[key], dtype=float) * factor
            part[key] = value.tolist()

    times(other, "gravity", length / time**2)
    simulation = other["simulation"]
    times(simulation, "dt", time)
    times(simulation, "duration", time)
    contact = simulation.setdefault("contact", {"restitution_threshold": 0.5})
    times(contact, "restitution_threshold", length / time)
    times(contact, "max_correction_speed", length / time)
    for body in other["bodies"]:
        times(body, "position", length)
        times(body, "linear_velocity", length / time)
        times(body, "angular_velocity", 1.0 / time)
        times(body, "mass", mass)
        times(body, "inertia", mass * length**2)
        for shape in body.get("shapes", []):
            for key in ("size", "radius", "length", "position"):
                times(shape, key, length)
    for joint in other["joints"]:
        times(joint, "anchor", length)
        # forces of the coordinate per unit of it: a slider's is a length, the others' an angle
        unit, push = (length, force) if joint["type"] == "slider" else (1.0, force * length)
        times(joint, "damping", push * time / unit)
        times(joint.get("limits", {}), "lower", unit)
        times(joint.get("limits", {}), "upper", unit)
        times(joint.get("spring", {}), "stiffness", push / unit)
        times(joint.get("spring", {}), "damping", push * time / unit)
        times(joint.get("spring", {}), "rest", unit)
        motor = joint.get("motor", {})
        times(motor, "target", unit / time if motor.get("type") == "velocity" else unit)
        times(motor, "max_force", push)
        times(motor, "stiffness", push / unit)
        times(motor, "damping", push * time / unit)
    for one in other.get("forces", []):
        for key in POINTS:
            times(one, key, length)
        unit, push = (1.0, force * length) if one["type"] == "torsion" else (length, force)
        times(one, "stiffness", push / unit)
        times(one, "damping", push * time / unit)
        times(one, "force", force)
        times(one, "torque", force * length)
    return other
