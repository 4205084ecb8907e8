"""Spatial vectors: motion (w, v) and force (n, f), angular part first, at a common origin.

X_BA = (E, r) transforms from frame A to frame B: E rotates components in A to those in B, r is B's
origin relative to A's, in A's axes. Angular velocity w and the velocity v of the origin are one
motion vector; the moment n about the origin and the force f are one force vector. Their product
n . w + f . v is a power and does not depend on the frame.
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import times_vector
from cardan.engine.spatial.rotation import Mat3
from cardan.engine.spatial.vec3 import Vec3, add, cross, dot, sub

Spatial = tuple[Vec3, Vec3]
Transform = tuple[Mat3, Vec3]


@kernel
def transposed(E: Mat3) -> Mat3:
    """E^T."""
    return (
        (E[0][0], E[1][0], E[2][0]),
        (E[0][1], E[1][1], E[2][1]),
        (E[0][2], E[1][2], E[2][2]),
    )


@kernel
def times_matrix(A: Mat3, B: Mat3) -> Mat3:
    """A B."""
    T = transposed(B)
    return (times_vector(T, A[0]), times_vector(T, A[1]), times_vector(T, A[2]))


@kernel
def move(X: Transform, m: Spatial) -> Spatial:
    """X m: a motion vector from A to B, (E w, E (v - r x w)).

    Source  Featherstone 2022, Pluecker transforms
    Check   tests/engine/spatial/test_plucker.py
    """
    E, r = X
    return times_vector(E, m[0]), times_vector(E, sub(m[1], cross(r, m[0])))


@kernel
def move_back(X: Transform, m: Spatial) -> Spatial:
    """X^-1 m: a motion vector from B to A."""
    E, r = X
    T = transposed(E)
    w = times_vector(T, m[0])
    return w, add(times_vector(T, m[1]), cross(r, w))


@kernel
def push(X: Transform, f: Spatial) -> Spatial:
    """X* f = X^-T f: a force vector from A to B, (E (n - r x f), E f)."""
    E, r = X
    return times_vector(E, sub(f[0], cross(r, f[1]))), times_vector(E, f[1])


@kernel
def push_back(X: Transform, f: Spatial) -> Spatial:
    """X^T f: a force vector from B to A."""
    E, r = X
    T = transposed(E)
    force = times_vector(T, f[1])
    return add(times_vector(T, f[0]), cross(r, force)), force


@kernel
def then(first: Transform, second: Transform) -> Transform:
    """X_CB X_BA = X_CA, for first = X_BA and second = X_CB."""
    E, r = first
    return times_matrix(second[0], E), add(r, times_vector(transposed(E), second[1]))


@kernel
def inverted(X: Transform) -> Transform:
    """X_AB of X_BA."""
    E, r = X
    back = times_vector(E, r)
    return transposed(E), (-back[0], -back[1], -back[2])


@kernel
def cross_motion(v: Spatial, m: Spatial) -> Spatial:
    """v x m: the rate of a motion vector m that is fixed in a frame of velocity v."""
    return cross(v[0], m[0]), add(cross(v[0], m[1]), cross(v[1], m[0]))


@kernel
def cross_force(v: Spatial, f: Spatial) -> Spatial:
    """v x* f: the rate of a force vector f that is fixed in a frame of velocity v."""
    return add(cross(v[0], f[0]), cross(v[1], f[1])), cross(v[0], f[1])


@kernel
def power(f: Spatial, m: Spatial) -> float:
    """f . m = n . w + f . v [W when m is a velocity]."""
    return dot(f[0], m[0]) + dot(f[1], m[1])
