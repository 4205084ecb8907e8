"""The friction problems that solvers are compared on: published ones, and piles of this engine.

A pile is simulated until it rests upon itself; the problem of its last step is taken as a matrix,
A = J M^-1 J^T + diag(cfm), and solved from nothing.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse

from cardan.engine import Simulation
from cardan.engine.complementarity import Complementarity, problem
from cardan.schemas import load_scene
from tests.published import FRICTION

# bodies of the piles, and steps of 5 ms until their problem is taken
PILES = (100, 1000, 5000)
STEPS = 200
RADIUS = 0.1


class Named(NamedTuple):
    """A problem with its name."""

    name: str
    problem: Complementarity

    @property
    def is_pile(self) -> bool:
        """Whether it is of this engine."""
        return self.name.startswith("pile")


def published() -> Iterator[Named]:
    """The friction problems of the reference data; none where there are no data."""
    for path in sorted(FRICTION.glob("*.npz")):
        data = np.load(path)
        q = data["q"].astype(float)
        csr = (data["W_data"], data["W_indices"], data["W_indptr"])
        W = scipy.sparse.csr_matrix(csr, shape=(len(q), len(q)))
        mu, tangents = data["mu"].astype(float), int(data["dim"]) - 1
        yield Named(path.stem, problem(W, q, mu=mu, tangents=tangents))


def pile_scene(n: int) -> dict[str, object]:
    """Boxes and balls in turns that fall into a pit as wide as the heap is high."""
    rng = np.random.default_rng(n)
    side = max(2, round((n / 2) ** (1 / 3)))
    width = 2.6 * RADIUS * side
    bodies: list[dict[str, object]] = []
    for i in range(n):
        place = np.array([i % side, i // side % side, i // side**2]) + 0.5
        place[:2] -= 0.5 * side
        place += rng.uniform(-0.05, 0.05, 3)
        size = 1.6 * RADIUS
        ball = {"type": "sphere", "radius": RADIUS}
        box = {"type": "box", "size": [size, size, size]}
        bodies.append(
            {
                "name": f"b{i}",
                "position": (2.4 * RADIUS * place).tolist(),
                "mass": 1.0,
                "shapes": [ball if i % 2 else box],
            }
        )
    walls: list[dict[str, object]] = [{"type": "plane", "normal": [0, 0, 1]}]
    for normal in ([1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]):
        walls.append({"type": "plane", "normal": normal, "offset": -0.5 * width})
    return {
        "simulation": {"dt": 0.005, "duration": 10.0, "solver": {"method": "pgs"}},
        "bodies": [{"name": "pit", "type": "static", "shapes": walls}, *bodies],
    }


def problem_of_step(simulation: Simulation) -> Complementarity:
    """The problem of the last step as a matrix: contacts only."""
    rows = simulation.work.problem
    n_rows, n_box = (int(k) for k in rows.count)
    if n_box:
        raise ValueError("the scene has rows that are no contacts")
    n_bodies = len(rows.inverse_mass)

    def wide(left: np.ndarray, right: np.ndarray) -> scipy.sparse.csr_matrix:
        """Rows (n, 6) of both bodies as a matrix (n, 6 n_bodies)."""
        row = np.repeat(np.arange(n_rows), 12)
        places = np.stack([rows.body_a[:n_rows], rows.body_b[:n_rows]], axis=1)[:, :, None]
        column = (6 * places + np.arange(6)).ravel()
        value = np.concatenate([left[:n_rows], right[:n_rows]], axis=1).ravel()
        out = scipy.sparse.csr_matrix((value, (row, column)), shape=(n_rows, 6 * n_bodies))
        out.eliminate_zeros()
        return out

    A = wide(rows.J_a, rows.J_b) @ wide(rows.MJ_a, rows.MJ_b).T
    A = 0.5 * (A + A.T) + scipy.sparse.diags(rows.cfm[:n_rows])
    return problem(A, rows.b[:n_rows].copy(), mu=rows.mu[1:n_rows:3].copy())


def piles(wanted: list[str]) -> Iterator[Named]:
    """Piles that rest, as problems; those whose names contain one of `wanted` (none: all)."""
    for n in PILES:
        if wanted and not any(part in f"pile of {n}" for part in wanted):
            continue
        simulation = Simulation(load_scene(pile_scene(n)))
        simulation.advance(STEPS)
        if simulation.failure is not None:
            raise RuntimeError(simulation.failure.message)
        yield Named(f"pile of {n}", problem_of_step(simulation))
