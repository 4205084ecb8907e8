"""Residuals of an answer x, from the problem and x alone, independent of all solvers.

    box       | y - clamp(y - w, D lo, D hi) |,   y = D x,  D the row's own diagonal
    contact   | y - P_K(y - u) |,   y = D x,  D the largest diagonal of the contact,
              u = (w_n + mu |w_t|, w_t) for Coulomb's law, u = w for the relaxation

in the unit of w.  Where nothing slides or parts from x, all are zero, and only there.
"""

from __future__ import annotations

import numpy as np

from cardan.engine.complementarity.problem import Array, Complementarity


def velocities(problem: Complementarity, x: Array) -> Array:
    """w = A x + b."""
    return np.asarray(problem.A @ x + problem.b)


def nearest_in_cones(z: Array, mu: Array) -> Array:
    """Nearest points to z (n, 1 + tangents) in the cones |t| <= mu n, all at once.

    The cone is the epigraph of |t| / mu: split z along its axis and across.
    """
    n, t = z[:, 0], z[:, 1:]
    length = np.sqrt(np.sum(t * t, axis=1))
    # point on the surface nearest to (n, length) in the half plane: along (1, mu)
    along = np.maximum((n + mu * length) / (1.0 + mu * mu), 0.0)
    inside = length <= mu * n
    share = np.divide(mu * along, length, out=np.zeros_like(length), where=length > 0.0)
    out = np.column_stack([along, share[:, None] * t])
    return np.where(inside[:, None], z, out)


def _contact_maps(problem: Complementarity, x: Array, w: Array, relaxed: bool, D: Array) -> Array:
    """Rows D x - P_K(D x - u) of all contacts (n_contacts, 1 + tangents)."""
    n_box, size = problem.n_box, 1 + problem.tangents
    y = (D * x)[n_box:].reshape(-1, size)
    u = w[n_box:].reshape(-1, size).copy()
    if not relaxed:
        u[:, 0] += problem.mu * np.sqrt(np.sum(u[:, 1:] ** 2, axis=1))
    z = y - u
    inside = np.sqrt(np.sum(z[:, 1:] ** 2, axis=1)) <= problem.mu * z[:, 0]
    # inside y - (y - u), but without the rounding that hides u behind a huge y
    return np.where(inside[:, None], u, y - nearest_in_cones(z, problem.mu))


def box_map(problem: Complementarity, x: Array) -> Array:
    """| y - clamp(y - w, D lo, D hi) | of every box."""
    n_box = problem.n_box
    D = np.abs(problem.A.diagonal())[:n_box]
    D = np.where(D > 0.0, D, 1.0)
    y, w = D * x[:n_box], velocities(problem, x)[:n_box]
    # y - clamp(y - w, lo, hi), but without the rounding that hides w behind a huge y
    return np.asarray(np.abs(np.clip(w, y - D * problem.hi, y - D * problem.lo)))


def residual(problem: Complementarity, x: Array) -> float:
    """Largest natural map of the problem's law [unit of w]."""
    worst = float(box_map(problem, x).max(initial=0.0))
    if len(problem.mu):
        w = velocities(problem, x)
        maps = _contact_maps(problem, x, w, problem.relaxed, problem.block_size)
        worst = max(worst, float(np.sqrt(np.sum(maps * maps, axis=1)).max()))
    return worst if np.isfinite(x).all() else float("inf")


def coulomb_error(problem: Complementarity, x: Array, *, scaled: bool = False) -> float:
    """|x - P_K(x - u)| / |b| over all contacts, u with De Saxce's correction, also where the
    relaxation was solved.

    scaled: |x - P_K(x - rho u)| / |x|, rho = n / trace A, as the published collections also say.
    """
    if not len(problem.mu):
        return 0.0
    rho = 1.0
    if scaled:
        rho = problem.n / max(float(problem.A.diagonal().sum()), 1e-300)
    w = rho * velocities(problem, x)
    maps = _contact_maps(problem, x, w, False, np.ones(problem.n))
    unit = np.linalg.norm(x[problem.n_box :] if scaled else problem.b[problem.n_box :])
    return float(np.linalg.norm(maps) / (unit if unit > 0.0 else 1.0))
