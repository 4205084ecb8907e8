"""Motion and constraint subspaces of joints, and apparent inverse inertia of bodies of trees.

    v = S qd           motions of the joint; S (n, 6, d)
    f = T lam          forces that do no work along them: T^T S = 0; T (n, 6, 6 - d)
    a = Phi f + b      acceleration of a body under a force f on it, Phi = J H^-1 J^T

Angular parts first; arrays over n states. Not compiled, as the step does not use them.

Source  Featherstone 2022, sections 49 to 52 and exercise B1
Check   tests/engine/trees/test_subspaces.py
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def constraint_subspace(S: Array) -> Array:
    """T (n, 6, 6 - d): orthonormal columns, orthogonal to those of S (n, 6, d) of full rank."""
    n, _, freedom = S.shape
    whole = np.concatenate([S, np.broadcast_to(np.eye(6), (n, 6, 6))], axis=2)
    found: Array = np.linalg.qr(whole)[0][:, :, freedom:]
    return found


def apparent_inverse_inertia(H: Array, J: Array) -> Array:
    """Phi (n, 6, 6) = J H^-1 J^T of H (n, v, v) and J (n, 6, v); of rank below 6 if constrained."""
    found: Array = J @ np.linalg.solve(H, J.transpose(0, 2, 1))
    return found


def moved_to(motions: Array, arm: Array) -> Array:
    """Translate motions (n, 6, k) of a body to a point at the offset `arm` (n, 3) [m]."""
    shift = np.cross(motions[:, :3], arm[:, :, None], axis=1)
    return np.concatenate([motions[:, :3], motions[:, 3:] + shift], axis=1)
