"""The vectors of Featherstone 2022 as arrays of six, by the spatial algebra of the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cardan.engine.spatial.inertia import Spatial, momentum_of
from tests.engine.spatial import plucker
from tests.engine.spatial.plucker import flat, rigid_inertia
from tests.engine.trees.projection import skew

Array = np.ndarray
I3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
X3, Y3, Z3 = np.eye(3)
O3 = np.zeros(3)


def pair(x: Array) -> Spatial:
    """Six numbers as the engine's pair of vectors."""
    return tuple(map(float, x[:3])), tuple(map(float, x[3:]))  # type: ignore[return-value]


def three(x: Array) -> tuple[float, float, float]:
    return (float(x[0]), float(x[1]), float(x[2]))


def close(a: ArrayLike, b: ArrayLike, within: float = 1e-13) -> bool:
    """Whether numbers agree, all to the same absolute error."""
    return bool(np.allclose(a, b, rtol=0.0, atol=within))


def rotation_about(axis: Array, point: Array, rate: float = 1.0) -> Array:
    """A rotation about the line through a point: as a motion at the point, seen from O."""
    at_point = np.concatenate([rate * axis, O3])
    return flat(plucker.move_back((I3, three(point)), pair(at_point)))


def translation(direction: Array, speed: float = 1.0) -> Array:
    return np.concatenate([O3, speed * direction])


def field(v: Array, point: Array) -> Array:
    """V(P): velocity of the body-fixed point at P."""
    return flat(plucker.move((I3, three(point)), pair(v)))[3:]


def force_along(direction: Array, point: Array, size: float = 1.0) -> Array:
    """A line force through a point, seen from O."""
    at_point = np.concatenate([O3, size * direction])
    return flat(plucker.push_back((I3, three(point)), pair(at_point)))


def couple(direction: Array, size: float = 1.0) -> Array:
    return np.concatenate([size * direction, O3])


def power(f: Array, v: Array) -> float:
    return float(plucker.power(pair(f), pair(v)))


def cross_m(v: Array, m: Array) -> Array:
    return flat(plucker.cross_motion(pair(v), pair(m)))


def cross_f(v: Array, f: Array) -> Array:
    return flat(plucker.cross_force(pair(v), pair(f)))


def cross_matrix(v: Array) -> Array:
    """[w x, 0; v x, w x]."""
    M = np.zeros((6, 6))
    M[:3, :3] = M[3:, 3:] = skew(v[:3])
    M[3:, :3] = skew(v[3:])
    return M


def inertia_matrix(m: float, c: Array, I_c: Array) -> Array:
    """The 6 x 6 inertia about O, column by column from the engine's momentum of a body."""
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    body = rigid_inertia(m, three(c), tuple(float(I_c[i, j]) for i, j in order))  # type: ignore[arg-type]
    return np.stack([flat(momentum_of(body, pair(e))) for e in np.eye(6)], axis=1)


def random_inertia(rng: np.random.Generator) -> tuple[float, Array, Array]:
    """Mass, centre of mass, moments about it."""
    F = rng.normal(size=(3, 3))
    return float(rng.uniform(0.5, 3.0)), rng.normal(size=3), F @ F.T + np.eye(3)


def random_rotation(rng: np.random.Generator) -> Array:
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))
