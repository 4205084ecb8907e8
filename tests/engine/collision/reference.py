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


def lengths(x):
    """Lengths of rows, in a third of the time of `np.linalg.norm`."""
    return np.sqrt(np.einsum("ij,ij->i", x, x))


def reach(solid, d):
    """h(d) = max d.x over the solid about its own origin, for rows d."""
    e = d @ rotation(solid.q)
    a, b, c = solid.size
    if solid.kind == SPHERE:
        h = a * lengths(e)
    elif solid.kind == BOX:
        h = np.abs(e) @ np.array([a, b, c])
    elif solid.kind == CAPSULE:
        h = a * lengths(e) + b * np.abs(e[:, 2])
    elif solid.kind == CYLINDER:
        h = a * lengths(e[:, :2]) + b * np.abs(e[:, 2])
    elif solid.kind == CONE:
        h = np.maximum(b * e[:, 2], a * lengths(e[:, :2]) - b * e[:, 2])
    elif solid.kind == ELLIPSOID:
        h = lengths(e * np.array([a, b, c]))
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
    """Largest s(n) that a search finds, and its n: all over the sphere, then closing in.

    The starts are the best directions with at least 11 degrees between them.
    """
    flat = [axes(a), axes(b)]
    flat += [np.cross(x, axes(b)) for x in axes(a)]
    d = np.concatenate([DIRECTIONS, *flat, *(-f for f in flat)])
    length = np.linalg.norm(d, axis=1)
    d = d[length > 1e-9] / length[length > 1e-9, None]
    s = separation(a, b, d)
    rest, chosen = s.copy(), []
    for _ in range(starts):
        chosen.append(rest.argmax())
        rest[d @ d[chosen[-1]] >= 0.98] = -np.inf
    # all starts close in side by side
    n, value, spread = d[chosen], s[chosen], 0.1
    every = np.arange(starts)
    for _ in range(rounds):
        trial = n[:, None] + spread * rng.normal(size=(starts, samples, 3))
        trial /= lengths(trial.reshape(-1, 3)).reshape(starts, samples, 1)
        values = separation(a, b, trial.reshape(-1, 3)).reshape(starts, samples)
        best = values.argmax(axis=1)
        better = values[every, best] > value
        n = np.where(better[:, None], trial[every, best], n)
        value = np.where(better, values[every, best], value)
        spread *= 0.85
    return value.max(), n[value.argmax()]


def gap_to_plane(a, plane):
    """Lowest point above the plane z <= 0 of the plane's frame."""
    up = rotation(plane.q)[:, 2]
    return float(-reach(a, -up[None])[0] - up @ np.asarray(plane.p))


def separation_along(a, b, n):
    """s(n) for one n; b may be a plane (only its own normal separates)."""
    if b.kind == PLANE:
        return gap_to_plane(a, b)
    return float(separation(a, b, np.asarray(n, float)[None])[0])
