"""Equilibria of the smooth part of a scene, by a damped Newton method from a state.

    r(z) = T^T Q = 0,   K = -dr/dz

r are the forces along the independent motions z, K is the stiffness on the manifold of all
constraints. A step solves |K| dz = r, with the absolute eigenvalues of K, so that it leads downhill
in energy, to stable equilibria; it is halved while it overshoots. An unstable equilibrium is found
where the search starts in it, since r = 0 there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cardan.engine.statics.smooth import SmoothModel
from cardan.engine.statics.stencil import stencil_of

Array = NDArray[np.float64]

MOST_STEPS = 200
# a step evaluates the forces 4 n times, and an evaluation visits all velocities: most visits of a
# search, which takes some seconds for up to 300 velocities; and the steps of any search
MOST_VISITS, LEAST_STEPS = 3_000_000, 3
# largest change of an angle in a step [rad], of a displacement as a share of the scene's length
LARGEST_STEP = 0.3
# tolerated residual as a share of the acting forces, and tolerated last step [rad]
BALANCED, MOVED = 1e-11, 1e-12
# residual, as a share of the acting forces, below which Newton steps use the unsymmetric K
CLOSE = 1e-3
# eigenvalues of K below this share of the largest one count as zero
NEUTRAL = 1e-9
# rounding of a stiffness by differences, as a share of the acting forces
ROUNDING = 1e-11
# step of differences: rad, or share of the scene's length
STEP = 1e-3
# a step may overshoot to this share of the force it started with
OVERSHOOT = 0.9


class Equilibrium(NamedTuple):
    """Where the search ended."""

    found: bool
    q: Array  # (nq,)
    steps: int
    residual: float  # N m: largest force left, lengths as the scene's length
    stiffness: Array  # (n, n)  K, N m/rad ...
    mass: Array  # (n, n)  T^T H T
    T: Array  # (nv, n)
    free: NDArray[np.int64]  # (n,)  independent velocities


def find_equilibrium(smooth: SmoothModel, search: bool = True) -> Equilibrium:
    """The equilibrium that is reached from the smooth model's coordinates.

    search: False judges the coordinates as they are.
    """
    q = held_in_place(smooth, smooth.q)
    force, q, T, free = forces(smooth, q)
    scale = smooth.scales()
    size = force_scale(smooth, q, T)
    steps, most = 0, min(MOST_STEPS, max(LEAST_STEPS, MOST_VISITS // (4 * smooth.nv**2)))
    while search and steps < most:
        K, unit = stiffness(smooth, q, T, free), scale[free]
        left = float(np.abs(force * unit).max(initial=0.0))
        d = downhill(K, force, unit)
        if left <= CLOSE * size:
            d = newton(K, force, unit)
        largest = float(np.abs(d / unit).max(initial=0.0))
        if left <= BALANCED * size and (largest <= MOVED or left <= 1e-3 * BALANCED * size):
            break
        steps += 1
        share = LARGEST_STEP / max(largest, LARGEST_STEP)
        before = float(force @ d)
        while True:
            new_force, new_q, new_T, new_free = forces(smooth, smooth.moved(q, T @ (share * d)))
            after = float(new_force @ d) if np.array_equal(new_free, free) else 0.0
            if after >= -OVERSHOOT * before or share * largest < MOVED:
                break
            share *= 0.5
        force, q, T, free = new_force, new_q, new_T, new_free
        if share * largest <= MOVED:
            break
    K = stiffness(smooth, q, T, free)
    left = float(np.abs(force * scale[free]).max(initial=0.0))
    forces(smooth, q)
    mass = T.T @ smooth.mass_matrix(q) @ T
    return Equilibrium(left <= 1e3 * BALANCED * size, q, steps, left, K, mass, T, free)


def held_in_place(smooth: SmoothModel, q: Array) -> Array:
    """Coordinates with held ones moved to their values in steps that keep loops closed."""
    apart = {
        smooth.place_in_q(v): held.value - q[smooth.place_in_q(v)]
        for v, held in smooth.held_places.items()
        if held.value is not None
    }
    most = max(map(abs, apart.values()), default=0.0)
    steps = math.ceil(most / (LARGEST_STEP * min(1.0, smooth.length)))
    places, change = list(apart), np.array(list(apart.values()))
    found, start = q.copy(), q[places]
    for share in np.arange(1, steps + 1) / max(steps, 1):
        found[places] = start + share * change
        found = smooth.sample(found, *_still(smooth)).q
    return found


def forces(
    smooth: SmoothModel, q: Array, independent: NDArray[np.int64] | None = None
) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    """r (n,) at coordinates q, q with closed loops, T and the independent velocities."""
    still = np.zeros(smooth.nv)
    found = smooth.sample(q, still, still)
    T, free = smooth.motions(found.q, independent)
    return T.T @ (smooth.mass_matrix(found.q) @ found.qdd), found.q, T, free


def force_scale(smooth: SmoothModel, q: Array, T: Array) -> float:
    """Size of the forces along the motions [N m]: of the weight, or of those at the start."""
    bodies = smooth.model.bodies
    weight = float(bodies.mass.sum()) * float(np.linalg.norm(smooth.simulation.state.gravity_W))
    acting = np.abs(T.T @ (smooth.mass_matrix(q) @ smooth.sample(q, *_still(smooth)).qdd))
    return max(weight * smooth.length, float(acting.max(initial=0.0)), 1e-12)


def _still(smooth: SmoothModel) -> tuple[Array, Array]:
    return np.zeros(smooth.nv), np.zeros(smooth.nv)


def stiffness(smooth: SmoothModel, q: Array, T: Array, free: NDArray[np.int64]) -> Array:
    """K (n, n) = -dr/dz at q, by differences of fourth order."""
    n, scale = len(free), smooth.scales()[free]
    K, stencil = np.zeros((n, n)), stencil_of(smooth.model)
    for k in range(n):
        for offset, weight in stencil:
            z = np.zeros(n)
            z[k] = offset * STEP * scale[k]
            r = forces(smooth, smooth.moved(q, T @ z), free)[0]
            K[:, k] -= weight / (STEP * scale[k]) * r
    return K


def downhill(K: Array, force: Array, unit: Array) -> Array:
    """The step |K| d = force, with K scaled to equal units and made symmetric."""
    scaled = unit[:, None] * (0.5 * (K + K.T)) * unit
    values, vectors = np.linalg.eigh(scaled)
    least = NEUTRAL * float(np.abs(values).max(initial=0.0))
    size = np.maximum(np.abs(values), max(least, 1e-300))
    found: Array = unit * (vectors @ ((vectors.T @ (unit * force)) / size))
    return found


def newton(K: Array, force: Array, unit: Array) -> Array:
    """The step K d = force, which converges also where K is not symmetric."""
    scaled = unit[:, None] * K * unit
    found: Array = unit * np.linalg.lstsq(scaled, unit * force, rcond=NEUTRAL)[0]
    return found


class Stability(NamedTuple):
    """Stiffness of an equilibrium on the manifold of its constraints."""

    stable: bool | None  # None: neutral in some direction, or no motion is free
    least_stiffness: float | None  # N m/rad or N/m: eigenvalue of K in units of rad and length
    eigenvalues: Array  # 1/s^2  of K z = eigenvalue M z, ascending
    symmetric: bool  # whether all forces have a potential

    @property
    def frequencies(self) -> Array:
        """Natural frequencies of the directions in which it swings [Hz], ascending."""
        frequencies: Array = np.sqrt(self.eigenvalues[self.eigenvalues > 0.0]) / (2.0 * np.pi)
        return frequencies


NOTHING_MOVES = Stability(None, None, np.zeros(0), True)


def judge(smooth: SmoothModel, found: Equilibrium, acting: float) -> Stability:
    """Least stiffness, and the eigenvalues of stiffness against mass.

    acting: size of all forces, about the scene's length [N m]
    """
    if not len(found.free):
        return NOTHING_MOVES
    unit = smooth.scales()[found.free]
    scaled = unit[:, None] * found.stiffness * unit
    size = float(np.abs(scaled).max(initial=0.0))
    skew = float(np.abs(scaled - scaled.T).max(initial=0.0))
    values = np.linalg.eigvalsh(0.5 * (scaled + scaled.T))
    half = 0.5 * (found.stiffness + found.stiffness.T)
    against_mass = scipy.linalg.eigh(half, found.mass, eigvals_only=True)
    tolerance = max(1e-8 * size, ROUNDING * acting)
    stable = None if abs(values[0]) <= tolerance else bool(values[0] > 0.0)
    return Stability(stable, float(values[0]), against_mass, skew <= 1e-6 * size)
