"""Spatial vectors, and inertias of rigid and articulated bodies: maps from motion to force.

Angular velocity w and the velocity v of the origin are one motion vector (w, v); the moment n about
the origin and the force f are one force vector (n, f). Both are written about the same origin, the
angular part first; their product n . w + f . v is a power.

A symmetric 3 x 3 matrix is six numbers (xx, yy, zz, xy, xz, yz). The inertia of a rigid body is
(m, h, I): mass, mass times the centre of mass seen from the origin, moments about the origin.
An articulated inertia is (A, B, C):  n = A w + B v,  f = B^T w + C v.
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import times_vector, transposed
from cardan.engine.spatial.rotation import Mat3
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, cross, dot, scale, sub

Spatial = tuple[Vec3, Vec3]
Sym3 = tuple[float, float, float, float, float, float]
RigidInertia = tuple[float, Vec3, Sym3]
ArticulatedInertia = tuple[Sym3, Mat3, Sym3]


@kernel
def sym_times(S: Sym3, v: Vec3) -> Vec3:
    """S v."""
    return (
        S[0] * v[0] + S[3] * v[1] + S[4] * v[2],
        S[3] * v[0] + S[1] * v[1] + S[5] * v[2],
        S[4] * v[0] + S[5] * v[1] + S[2] * v[2],
    )


@kernel
def sym_add(S: Sym3, T: Sym3) -> Sym3:
    """S + T."""
    return (S[0] + T[0], S[1] + T[1], S[2] + T[2], S[3] + T[3], S[4] + T[4], S[5] + T[5])


@kernel
def sym_outer(s: float, a: Vec3) -> Sym3:
    """s a a^T."""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (x * a[0], y * a[1], z * a[2], x * a[1], x * a[2], y * a[2])


@kernel
def sym_turned(E: Mat3, S: Sym3) -> Sym3:
    """E S E^T."""
    x, y, z = sym_times(S, E[0]), sym_times(S, E[1]), sym_times(S, E[2])
    return (
        dot(E[0], x),
        dot(E[1], y),
        dot(E[2], z),
        dot(E[0], y),
        dot(E[0], z),
        dot(E[1], z),
    )


@kernel
def sym_inverse(S: Sym3) -> Sym3:
    """S^-1 of a positive definite S, by its cofactors."""
    a = S[1] * S[2] - S[5] * S[5]
    b = S[4] * S[5] - S[3] * S[2]
    c = S[3] * S[5] - S[4] * S[1]
    f = 1.0 / (S[0] * a + S[3] * b + S[4] * c)
    d = S[0] * S[2] - S[4] * S[4]
    e = S[4] * S[3] - S[0] * S[5]
    return (f * a, f * d, f * (S[0] * S[1] - S[3] * S[3]), f * b, f * c, f * e)


@kernel
def steiner(m: float, c: Vec3) -> Sym3:
    """m (c.c 1 - c c^T): increase of the moments of a mass m when the origin moves by c."""
    x, y, z = c
    return (
        m * (y * y + z * z),
        m * (x * x + z * z),
        m * (x * x + y * y),
        -m * x * y,
        -m * x * z,
        -m * y * z,
    )


@kernel
def momentum_of(inertia: RigidInertia, v: Spatial) -> Spatial:
    """I v = (I w + h x v, m v - h x w)."""
    m, h, moments = inertia
    return (
        add(sym_times(moments, v[0]), cross(h, v[1])),
        sub(scale(m, v[1]), cross(h, v[0])),
    )


@kernel
def rigid_sum(a: RigidInertia, b: RigidInertia) -> RigidInertia:
    """Inertia of two bodies that are rigidly connected."""
    return a[0] + b[0], add(a[1], b[1]), sym_add(a[2], b[2])


@kernel
def rigid_shifted(inertia: RigidInertia, r: Vec3) -> RigidInertia:
    """The same about another origin, with the old one at r from it; same axes.

    m stays, h' = h + m r, and the moments by Steiner's theorem twice, from the old origin to the
    centre and from there to the new one, without dividing by the mass:
    I' = I + (2 r.h + m r.r) 1 - (r h^T + h r^T) - m r r^T = I + r.g 1 - sym(r g^T),  g = 2 h + m r
    """
    m, h, moments = inertia
    g = add_scaled(add(h, h), m, r)
    x, y, z = r[0] * g[0], r[1] * g[1], r[2] * g[2]
    shift = (
        y + z,
        x + z,
        x + y,
        -0.5 * (r[0] * g[1] + g[0] * r[1]),
        -0.5 * (r[0] * g[2] + g[0] * r[2]),
        -0.5 * (r[1] * g[2] + g[1] * r[2]),
    )
    return m, add_scaled(h, m, r), sym_add(moments, shift)


@kernel
def force_of(inertia: ArticulatedInertia, v: Spatial) -> Spatial:
    """(A w + B v, B^T w + C v)."""
    A, B, C = inertia
    n = add(sym_times(A, v[0]), times_vector(B, v[1]))
    return n, add(times_vector(transposed(B), v[0]), sym_times(C, v[1]))


@kernel
def without(inertia: ArticulatedInertia, U: Spatial, inverse: float) -> ArticulatedInertia:
    """I - U U^T/D for U = I S, D = S . U: the inertia transmitted by a joint free along S.

    inverse = 1/D.

    Source  Featherstone 2022, articulated-body inertia
    Check   tests/engine/spatial/test_inertia.py
    """
    A, B, C = inertia
    n, f = U
    x = scale(-inverse, n)
    B_less = (add_scaled(B[0], x[0], f), add_scaled(B[1], x[1], f), add_scaled(B[2], x[2], f))
    return sym_add(A, sym_outer(-inverse, n)), B_less, sym_add(C, sym_outer(-inverse, f))


@kernel
def shifted_back(inertia: ArticulatedInertia, r: Vec3) -> ArticulatedInertia:
    """The same about another origin, with the old one at r from it; same axes.

    C' = C,  B' = B + [r x] C,  A' = A - B' [r x] - (B [r x])^T
    """
    A, B, C = inertia
    C0, C1, C2 = (C[0], C[3], C[4]), (C[3], C[1], C[5]), (C[4], C[5], C[2])
    x, y, z = r
    # rows of B + [r x] C
    B_new = (
        add(B[0], sub(scale(y, C2), scale(z, C1))),
        add(B[1], sub(scale(z, C0), scale(x, C2))),
        add(B[2], sub(scale(x, C1), scale(y, C0))),
    )
    # row b of a matrix times [r x] is b x r
    P = (cross(B_new[0], r), cross(B_new[1], r), cross(B_new[2], r))
    Q = (cross(B[0], r), cross(B[1], r), cross(B[2], r))
    A_new = (
        A[0] - P[0][0] - Q[0][0],
        A[1] - P[1][1] - Q[1][1],
        A[2] - P[2][2] - Q[2][2],
        A[3] - P[0][1] - Q[1][0],
        A[4] - P[0][2] - Q[2][0],
        A[5] - P[1][2] - Q[2][1],
    )
    return A_new, B_new, C
