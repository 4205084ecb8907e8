"""Independent of the engine: gaps of convex solids by searching over directions.

    gap = max over unit n of  s(n),   s(n) = min_B n.x - max_A n.x = -(h_A(n) + h_B(-n))

This holds apart (distance) and overlapping (minus the least depth). Any n gives a lower bound.
"""

from __future__ import annotations

import numpy as np

from cardan.engine.world.model import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    PLANE,
    SPHERE,
)


def rotation(q):
    """Matrix of [w, x, y, z] of any length: v v^T + w^2 1 + 2 w [v] + [v]^2, over its square."""
    w, x, y, z = q
    v = np.array([x, y, z])
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (np.outer(v, v) + w * w * np.eye(3) + 2 * w * across + across @ across) / (w * w + v @ v)


def reach(solid, d):
    """h(d) = max d.x over the solid about its own origin, for rows d."""
    e = d @ rotation(solid.q)
    a, b, c = solid.size
    rho = np.hypot(e[:, 0], e[:, 1])
    if solid.kind == SPHERE:
        h = a * np.linalg.norm(e, axis=1)
    elif solid.kind == BOX:
        h = np.abs(e) @ np.array([a, b, c])
    elif solid.kind == CAPSULE:
        h = a * np.linalg.norm(e, axis=1) + b * np.abs(e[:, 2])
    elif solid.kind == CYLINDER:
        h = a * rho + b * np.abs(e[:, 2])
    elif solid.kind == CONE:
        h = np.maximum(b * e[:, 2], a * rho - b * e[:, 2])
    elif solid.kind == ELLIPSOID:
        h = np.linalg.norm(e * np.array([a, b, c]), axis=1)
    elif solid.kind == CONVEX:
        h = (e @ np.asarray(solid.points).T).max(axis=1)
    else:
        raise ValueError(solid.kind)
    return h + d @ np.asarray(solid.p)


def separation(a, b, n):
    """s(n) for rows n."""
    return -(reach(a, n) + reach(b, -n))


def fibonacci(count):
    """Directions spread evenly over the sphere."""
    k = np.arange(count) + 0.5
    z = 1 - 2 * k / count
    phi = np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(phi), r * np.sin(phi), z], axis=1)


DIRECTIONS = fibonacci(6000)


def axes(solid):
    """Directions in which a box or a round solid may be flat."""
    return rotation(solid.q).T


def gap_by_search(a, b, rng, starts=5, rounds=90, samples=60):
    """Largest s(n) that a search finds, and its n: all over the sphere, then closing in."""
    flat = [axes(a), axes(b)]
    flat += [np.cross(x, axes(b)) for x in axes(a)]
    d = np.concatenate([DIRECTIONS, *flat, *(-f for f in flat)])
    length = np.linalg.norm(d, axis=1)
    d = d[length > 1e-9] / length[length > 1e-9, None]
    s = separation(a, b, d)
    chosen: list[int] = []
    for k in np.argsort(-s):
        if all(d[k] @ d[c] < 0.98 for c in chosen):
            chosen.append(k)
        if len(chosen) == starts:
            break
    best, best_n = -np.inf, None
    for k in chosen:
        n, value, spread = d[k], s[k], 0.1
        for _ in range(rounds):
            trial = n + spread * rng.normal(size=(samples, 3))
            trial /= np.linalg.norm(trial, axis=1)[:, None]
            values = separation(a, b, trial)
            if values.max() > value:
                n, value = trial[values.argmax()], values.max()
            spread *= 0.85
        if value > best:
            best, best_n = value, n
    return best, best_n


def gap_to_plane(a, plane):
    """Lowest point above the plane z <= 0 of the plane's frame."""
    up = rotation(plane.q)[:, 2]
    return float(-reach(a, -up[None])[0] - up @ np.asarray(plane.p))


def separation_along(a, b, n):
    """s(n) for one n; b may be a plane (only its own normal separates)."""
    if b.kind == PLANE:
        return gap_to_plane(a, b)
    return float(separation(a, b, np.asarray(n, float)[None])[0])
