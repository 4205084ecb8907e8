"""Exact motions of a rod on the ground, to 1e-12, where a published curve is not good enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

G = 9.80665
TIMES = np.arange(0, 501) * 0.01

Array = np.ndarray


class Curves(NamedTuple):
    """A motion at TIMES: of the centre of mass in W, and what acts on the ground."""

    position: Array
    """(501, 3) m"""
    orientation: Array
    """(501, 4) w, x, y, z"""
    velocity: Array
    """(501, 3) m/s"""
    spin: Array
    """(501, 3) rad/s"""
    acceleration: Array
    """(501, 3) m/s^2; ours: NaN at both ends"""
    spin_rate: Array
    """(501, 3) rad/s^2; ours: NaN at both ends"""
    force: Array
    """(501, 3) N on the ground; ours: NaN at both ends"""
    torque: Array
    """(501, 3) N m on the ground about the joint; ours: NaN at both ends"""


def size(values: Array) -> Array:
    """Lengths of the rows of (n, 3)."""
    return np.linalg.norm(values, axis=1)


def product(a: Array, b: Array) -> Array:
    """Quaternion products a b, (n, 4) and (n, 4) or (4,)."""
    a, b = np.broadcast_arrays(np.atleast_2d(a), np.atleast_2d(b))
    w = a[:, 0] * b[:, 0] - (a[:, 1:] * b[:, 1:]).sum(1)
    v = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.column_stack([w, v])


def inverse(q: Array) -> Array:
    """Inverses of unit quaternions (n, 4)."""
    return q * [1.0, -1.0, -1.0, -1.0]


def matrices(q: Array) -> Array:
    """(n, 3, 3) rotations of unit quaternions (n, 4)."""
    axes = []
    for e in np.eye(3):
        there = product(q, np.array([0.0, *e]))
        axes.append(product(there, inverse(q))[:, 1:])
    return np.stack(axes, axis=2)


def plane_pendulum(start: tuple[float, float, float], axis: tuple[float, float, float]) -> Curves:
    """The exact motion of a rod let go from the horizontal, by quadrature to 1e-12.

    r = 2 m from the pivot, I = 0.1 + r^2 about it; I phi'' = r g cos(phi), phi from `start` about
    `axis`; the ground feels -(a - g).
    """
    r, inertia = 2.0, 0.1 + 4.0
    e, s = np.array(start), np.array(axis)
    down = np.cross(s, e)

    def motion(_: float, y: Array) -> list[float]:
        return [y[1], r * G * np.cos(y[0]) / inertia]

    solved = solve_ivp(motion, (0, 5), [0, 0], "DOP853", TIMES, rtol=1e-12, atol=1e-13)
    phi, rate = solved.y
    alpha = r * G * np.cos(phi) / inertia
    out = np.outer(np.cos(phi), e) + np.outer(np.sin(phi), down)
    along = np.outer(np.cos(phi), down) - np.outer(np.sin(phi), e)
    a = r * (alpha[:, None] * along - (rate**2)[:, None] * out)
    half = np.column_stack([np.cos(phi / 2), np.outer(np.sin(phi / 2), s)])
    return Curves(
        r * out,
        half,
        r * rate[:, None] * along,
        np.outer(rate, s),
        a,
        np.outer(alpha, s),
        -np.add(a, [0.0, 0.0, G]),
        np.zeros((501, 3)),
    )


class Tethered(NamedTuple):
    """A rod of 1 kg, one point of which keeps its distance from a point of the ground."""

    peg: Array
    """The ground's point [m]."""
    position: Array
    """Centre of mass at the start [m]."""
    point: Array
    """The rod's point from its centre of mass, body axes [m]."""
    inertia: Array
    """Principal moments, body axes [kg m^2]."""


def tethered_rates(rod: Tethered, q: Array, p: Array, v: Array, w: Array) -> tuple[Array, ...]:
    """(n, 3) each: acceleration, angular acceleration, force on the rod (all in W).

    With d from the peg to the rod's point, d.d stays: d.(a + alpha x r + w x (w x r)) + |d'|^2 = 0,
    a = g + lam d, I alpha = r x lam d - w x I w.
    """
    R = matrices(q)
    r = R @ rod.point
    d = p + r - rod.peg
    rate = v + np.cross(w, r)

    def into(x: Array, moments: Array) -> Array:
        body = np.einsum("nji,nj->ni", R, x) * moments
        return np.einsum("nij,nj->ni", R, body)

    gyroscopic = into(-np.cross(w, into(w, rod.inertia)), 1.0 / rod.inertia)
    free = np.cross(gyroscopic, r) + np.cross(w, np.cross(w, r)) - [0.0, 0.0, G]
    swing = into(np.cross(r, d), 1.0 / rod.inertia)
    per_lam = (d * (d + np.cross(swing, r))).sum(1)
    lam = -((d * free).sum(1) + (rate**2).sum(1)) / per_lam
    force = lam[:, None] * d
    return force - [0.0, 0.0, G], gyroscopic + lam[:, None] * swing, force


def tethered(rod: Tethered) -> Curves:
    """Its exact motion from rest, by quadrature in all its coordinates."""

    def motion(_: float, y: Array) -> Array:
        p, q, v, w = (part[None, :] for part in np.split(y, [3, 7, 10]))
        q = q / np.linalg.norm(q)
        a, alpha, _force = tethered_rates(rod, q, p, v, w)
        spin = np.column_stack([np.zeros(1), w])
        return np.concatenate([v[0], 0.5 * product(spin, q)[0], a[0], alpha[0]])

    start = np.concatenate([rod.position, [1, 0, 0, 0], np.zeros(6)])
    y = solve_ivp(motion, (0, 5), start, "DOP853", TIMES, rtol=1e-12, atol=1e-13).y.T
    p, q, v, w = np.split(y, [3, 7, 10], axis=1)
    q = q / size(q)[:, None]
    a, alpha, force = tethered_rates(rod, q, p, v, w)
    return Curves(p, q, v, w, a, alpha, -force, np.zeros((501, 3)))
