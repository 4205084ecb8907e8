"""Scenes in which bodies meet, and the plane mechanics of one contact to compare them with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cardan.engine import Simulation
from tests.engine.scenes import Document, document, ground, simulate

LAWS = ("newton", "poisson", "propagating")
TIMES = ("step", "exact")


def ball(name: str, position: list[float], velocity: list[float], **more: Any) -> Document:
    """A ball of radius 0.1 m."""
    shape = {"type": "sphere", "radius": 0.1, "material": more.pop("material", "steel")}
    return {
        "name": name,
        "position": position,
        "linear_velocity": velocity,
        "mass": 0.5,
        "shapes": [shape],
        **more,
    }


def steel(restitution: float = 1.0, friction: float = 0.0) -> Document:
    """Materials of a scene with one surface."""
    return {"steel": {"friction": friction, "restitution": restitution}}


def row_of_balls(
    speeds: list[float], law: str, time: str = "step", gap: float = 0.0, **more: Any
) -> Simulation:
    """Equal balls along x, frictionless, restitution 1; without gravity unless told."""
    bodies = [ball(f"ball-{k}", [k * (0.2 + gap), 0, 0.1], [v, 0, 0]) for k, v in enumerate(speeds)]
    bodies += more.pop("bodies", [])
    return simulate(
        document(
            bodies,
            materials=more.pop("materials", steel()),
            gravity=more.pop("gravity", [0, 0, 0]),
            simulation={"dt": 1e-3, **more.pop("simulation", {})},
            contact={"restitution_law": law, "impact_time": time, **more.pop("contact", {})},
            **more,
        )
    )


def coulomb(A: np.ndarray, u: np.ndarray, w_n: float, mu: float) -> np.ndarray:
    """Impulse (normal, tangent) with which A lam + u has the normal speed w_n, under Coulomb's law.

    A (2, 2) of one contact in the plane; friction sticks, or slides against the speed it leaves.
    """
    lam = np.linalg.solve(A, [w_n - u[0], -u[1]])
    if abs(lam[1]) <= mu * lam[0]:
        return lam
    for sign in (1.0, -1.0):
        normal = (w_n - u[0]) / (A[0, 0] + sign * mu * A[0, 1])
        lam = normal * np.array([1.0, sign * mu])
        if sign * (A @ lam + u)[1] <= 0.0 <= normal:
            return lam
    raise AssertionError("neither sticks nor slides")


def coulomb_given(A: np.ndarray, u: np.ndarray, normal: float, mu: float) -> np.ndarray:
    """The same where the normal impulse is given."""
    tangent = np.clip(-(u[1] + A[1, 0] * normal) / A[1, 1], -mu * normal, mu * normal)
    return np.array([normal, tangent])


def newton(A: np.ndarray, u: np.ndarray, e: float, mu: float) -> np.ndarray:
    """Impulse by Newton's law."""
    return coulomb(A, u, -e * u[0], mu)


def poisson(A: np.ndarray, u: np.ndarray, e: float, mu: float) -> np.ndarray:
    """Impulse by Poisson's law, both phases."""
    first = coulomb(A, u, 0.0, mu)
    return first + coulomb_given(A, u + A @ first, e * first[0], mu)


def gain(A: np.ndarray, u: np.ndarray, lam: np.ndarray) -> float:
    """Energy that an impulse adds [J]."""
    return float(lam @ (u + 0.5 * A @ lam))


def slanted_rod(law: str, e: float, mu: float, dt: float = 1e-7) -> tuple[Simulation, np.ndarray]:
    """A rod at 45 degrees, 2 m, 1 kg, whose lower end slides and falls on rough ground.

    Returns the simulation and the contact's A (2, 2), normal first; u = (-1, 0.5) m/s
    """
    r, tilt, inertia = 0.01, math.radians(45), 1.0 / 3.0
    arm_x, arm_z = -math.sin(tilt), -math.cos(tilt) - r
    rod = {
        "name": "rod",
        "position": [0, 0, -arm_z],
        "orientation": [math.cos(tilt / 2), 0, math.sin(tilt / 2), 0],
        "linear_velocity": [0.5, 0, -1],
        "mass": 1.0,
        "center_of_mass": [0, 0, 0],
        "inertia": [inertia, inertia, 0.01],
        "shapes": [{"type": "sphere", "radius": r, "position": [0, 0, -1], "material": "steel"}],
    }
    scene = document(
        [ground(material="steel"), rod],
        materials=steel(e, mu),
        gravity=[0, 0, 0],
        simulation={"dt": dt, "duration": 100 * dt},
        contact={"restitution_law": law, "impact_time": "exact"},
    )
    J = np.array([[0, 1, -arm_x], [1, 0, arm_z]])
    return simulate(scene), J @ np.diag([1, 1, 1 / inertia]) @ J.T


# Kane and Levinson's double pendulum: two rods of 1 m and 1 kg, tilted by 20 and 30 degrees, whose
# lower end hits rough ground
KANE_ANGLES = np.radians([20.0, 30.0])
KANE_RATES = np.array([-0.1, -0.2])


def kane(law: str, e: float, mu: float, dt: float = 1e-7) -> tuple[Simulation, np.ndarray]:
    """The double pendulum at its impact; and its rates after an impact by `newton` or `poisson`.

    The rates come from two coordinates, without joints: M q'+ = M q'- + J^T lam.
    """
    (a, b), (va, vb) = KANE_ANGLES, KANE_RATES
    r = 1e-3
    height = math.cos(a) + math.cos(b) + r
    knee = np.array([math.sin(a), 0, height - math.cos(a)])
    knee_velocity = va * np.array([math.cos(a), 0, math.sin(a)])
    half_b = 0.5 * np.array([math.sin(b), 0, -math.cos(b)])
    bodies: list[Document] = [ground(material="steel")]
    for name, angle, rate, position, velocity in (
        ("upper", a, va, [0.5 * math.sin(a), 0, height - 0.5 * math.cos(a)], 0.5 * knee_velocity),
        (
            "lower",
            b,
            vb,
            knee + half_b,
            knee_velocity + 0.5 * vb * np.array([math.cos(b), 0, math.sin(b)]),
        ),
    ):
        bodies.append(
            {
                "name": name,
                "position": list(map(float, position)),
                "orientation": [math.cos(angle / 2), 0, -math.sin(angle / 2), 0],
                "linear_velocity": list(map(float, velocity)),
                "angular_velocity": [0, -float(rate), 0],
                "mass": 1.0,
                "center_of_mass": [0, 0, 0],
                "inertia": [1 / 12, 1 / 12, 1e-3],
            }
        )
    tip = {"type": "sphere", "radius": r, "position": [0, 0, -0.5], "material": "steel"}
    bodies[-1]["shapes"] = [tip]
    axis = [0, 1, 0]
    joints = [
        {
            "name": "hip",
            "type": "hinge",
            "parent": "world",
            "child": "upper",
            "axis": axis,
            "anchor": [0, 0, height],
        },
        {
            "name": "knee",
            "type": "hinge",
            "parent": "upper",
            "child": "lower",
            "axis": axis,
            "anchor": list(map(float, knee)),
        },
    ]
    contact = {"restitution_law": law, "impact_time": "exact", "restitution_threshold": 1e-3}
    scene = document(
        bodies,
        joints,
        materials=steel(e, mu),
        gravity=[0, 0, 0],
        simulation={"dt": dt, "duration": 100 * dt},
        contact=contact,
    )
    cross = 0.5 * math.cos(a - b)
    M = np.array([[4 / 3, cross], [cross, 1 / 3]])
    J = np.array([[math.sin(a), math.sin(b)], [math.cos(a), math.cos(b) + r]])
    A, u = J @ np.linalg.solve(M, J.T), J @ KANE_RATES
    lam = newton(A, u, e, mu) if law == "newton" else poisson(A, u, e, mu)
    return simulate(scene), KANE_RATES + np.linalg.solve(M, J.T @ lam)


def cluster(law: str, time: str, seed: int) -> Simulation:
    """27 touching balls of three rough surfaces and unlike restitution, thrown at random."""
    rng = np.random.default_rng(seed)
    bodies = []
    for k in range(27):
        at = [0.2 * (k % 3), 0.2 * (k // 3 % 3), 0.2 * (k // 9)]
        v = list(map(float, rng.normal(0, 2, 3)))
        spin = list(map(float, rng.normal(0, 20, 3)))
        surface = ("a", "b", "c")[int(rng.integers(3))]
        bodies.append(ball(f"ball-{k}", at, v, angular_velocity=spin, material=surface))
    surfaces = {"a": 1.0, "b": 0.5, "c": 0.1}
    return simulate(
        document(
            bodies,
            materials={n: {"friction": 0.4, "restitution": e} for n, e in surfaces.items()},
            gravity=[0, 0, 0],
            simulation={"dt": 1e-4},
            contact={"restitution_law": law, "impact_time": time},
        )
    )
