"""Pluecker transforms, products and inertias of Featherstone 2022, which tests compare with.

X_BA = (E, r) transforms from frame A to frame B: E rotates components in A to those in B, r is B's
origin relative to A's, in A's axes. Motion and force vectors as in engine/spatial/inertia.py.
"""

from __future__ import annotations

import numpy as np

from cardan.engine.spatial.inertia import (
    ArticulatedInertia,
    RigidInertia,
    Spatial,
    Sym3,
    momentum_of,
    rigid_shifted,
    shifted_back,
    steiner,
    sym_add,
    sym_turned,
)
from cardan.engine.spatial.mat3 import times_matrix, times_vector, transposed
from cardan.engine.spatial.rotation import Mat3, matrix
from cardan.engine.spatial.vec3 import Vec3, add, cross, dot, scale, sub
from tests.engine.trees.projection import skew

Transform = tuple[Mat3, Vec3]

rng = np.random.default_rng(5)


def random_vector() -> Spatial:
    return tuple(rng.normal(size=3)), tuple(rng.normal(size=3))


def random_transform() -> Transform:
    q = rng.normal(size=4)
    return matrix(tuple(q / np.linalg.norm(q))), tuple(rng.normal(size=3))


def flat(x: Spatial) -> np.ndarray:
    return np.concatenate(x)


def six(X: Transform) -> np.ndarray:
    """The 6 x 6 matrix [E 0; -E [r x] E]."""
    E, r = np.array(X[0]), np.array(X[1])
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:], M[3:, :3] = E, E, -E @ skew(r)
    return M


def move(X: Transform, m: Spatial) -> Spatial:
    """X m: a motion vector from A to B, (E w, E (v - r x w))."""
    E, r = X
    return times_vector(E, m[0]), times_vector(E, sub(m[1], cross(r, m[0])))


def move_back(X: Transform, m: Spatial) -> Spatial:
    """X^-1 m: a motion vector from B to A."""
    E, r = X
    T = transposed(E)
    w = times_vector(T, m[0])
    return w, add(times_vector(T, m[1]), cross(r, w))


def push(X: Transform, f: Spatial) -> Spatial:
    """X* f = X^-T f: a force vector from A to B, (E (n - r x f), E f)."""
    E, r = X
    return times_vector(E, sub(f[0], cross(r, f[1]))), times_vector(E, f[1])


def push_back(X: Transform, f: Spatial) -> Spatial:
    """X^T f: a force vector from B to A."""
    E, r = X
    T = transposed(E)
    force = times_vector(T, f[1])
    return add(times_vector(T, f[0]), cross(r, force)), force


def then(first: Transform, second: Transform) -> Transform:
    """X_CB X_BA = X_CA, for first = X_BA and second = X_CB."""
    E, r = first
    return times_matrix(second[0], E), add(r, times_vector(transposed(E), second[1]))


def inverted(X: Transform) -> Transform:
    """X_AB of X_BA."""
    E, r = X
    back = times_vector(E, r)
    return transposed(E), (-back[0], -back[1], -back[2])


def cross_motion(v: Spatial, m: Spatial) -> Spatial:
    """v x m: the rate of a motion vector m that is fixed in a frame of velocity v."""
    return cross(v[0], m[0]), add(cross(v[0], m[1]), cross(v[1], m[0]))


def cross_force(v: Spatial, f: Spatial) -> Spatial:
    """v x* f: the rate of a force vector f that is fixed in a frame of velocity v."""
    return add(cross(v[0], f[0]), cross(v[1], f[1])), cross(v[0], f[1])


def power(f: Spatial, m: Spatial) -> float:
    """f . m = n . w + f . v [W when m is a velocity]."""
    return dot(f[0], m[0]) + dot(f[1], m[1])


def rigid_inertia(m: float, c: Vec3, I_c: Sym3) -> RigidInertia:
    """Inertia of a mass m with its centre at c and moments I_c about it."""
    return m, scale(m, c), sym_add(I_c, steiner(m, c))


def rigid_energy(inertia: RigidInertia, v: Spatial) -> float:
    """Kinetic energy v . I v/2 [J]."""
    p = momentum_of(inertia, v)
    return 0.5 * (dot(p[0], v[0]) + dot(p[1], v[1]))


def rigid_back(X: Transform, inertia: RigidInertia) -> RigidInertia:
    """X^T I X: a rigid-body inertia from frame B to frame A."""
    E, r = X
    m, h, moments = inertia
    T = transposed(E)
    return rigid_shifted((m, times_vector(T, h), sym_turned(T, moments)), r)


def as_articulated(inertia: RigidInertia) -> ArticulatedInertia:
    """The articulated inertia of a single body: A = I, B = [h x], C = m 1."""
    m, h, moments = inertia
    B = ((0.0, -h[2], h[1]), (h[2], 0.0, -h[0]), (-h[1], h[0], 0.0))
    return moments, B, (m, m, m, 0.0, 0.0, 0.0)


def articulated_back(X: Transform, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """X^T I X: an articulated inertia from frame B to frame A."""
    E, r = X
    A, B, C = inertia
    T = transposed(E)
    turned = (sym_turned(T, A), times_matrix(times_matrix(T, B), E), sym_turned(T, C))
    return shifted_back(turned, r)
