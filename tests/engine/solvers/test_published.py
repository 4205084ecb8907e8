"""Published problems with answers: LCPs of textbooks, Coulomb friction of real scenes."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse

from cardan.engine.problem.projection import project_cone
from cardan.engine.solvers.direct.dense_problem import DenseProblem
from cardan.engine.solvers.newton.proximal_newton import solve_proximal_newton
from cardan.engine.world.problem import FRICTION_CONE
from cardan.engine.world.report import STOPPED_EXACT
from tests.engine.solvers.box_lcp import solve_box_lcp
from tests.engine.solvers.newton.scratch import make_proximal_newton
from tests.published import FRICTION, data, needs_friction

pytestmark = pytest.mark.reference

SYMMETRIC = ["lcp_CPS_1", "lcp_deudeu", "lcp_mmc", "lcp_trivial"]
REAL_SCENES = [
    "Confeti-ex13-4contact-Fc3D-SBM",
    "CubeH8",
    "FC3D_Example1_SBM",
    "GFC3D_TwoRods1-condensed",
    "LMGC_100_PR_PerioBox-i00361-60-03000",
    "NESpheres_10_1",
    "OneObject-i100000-316",
    "OneObject-i1028-138",
    "Rover1039",
    "Rover11035",
    "Rover3865",
    "Rover9770",
    "contactbench_sliding_cube",
    "faf_Box_Stacks-i0035-31-0",
    "fclib_local_problem_test",
]


@pytest.mark.parametrize("name", SYMMETRIC)
def test_textbook_lcp(name):
    words = data("lcp", f"{name}.dat").read_text().split()
    n = int(words[0])
    numbers = np.array(words[6 : 6 + n * n + n], float)
    matrix, q = numbers[: n * n].reshape(n, n), numbers[n * n :]
    solution = solve_box_lcp(matrix, q, 0.0, np.inf)
    assert solution.status == STOPPED_EXACT
    assert solution.residual < 1e-12 * np.abs(matrix).max()
    answers = json.loads(data("lcp", "reference.json").read_text())
    (answer,) = (row for row in answers if row["file"] == f"{name}.dat")
    if name == "lcp_CPS_1":
        # every z with z1 + z2 = 1 is an answer
        assert solution.lam.sum() == pytest.approx(1.0)
    else:
        np.testing.assert_allclose(solution.lam, answer["z"], atol=1e-12)


def coulomb_error(W, q, mu, r):
    """|r - P_K(r - u - mu |u_t| n)| / |q|, as the collection defines it."""
    u = W @ r + q
    total = 0.0
    for i in range(0, len(q), 3):
        slip = mu[i // 3] * np.hypot(u[i + 1], u[i + 2])
        x = r[i : i + 3] - u[i : i + 3] - [slip, 0, 0]
        total += np.sum((r[i : i + 3] - project_cone(x[0], x[1], x[2], mu[i // 3])) ** 2)
    return np.sqrt(total) / np.linalg.norm(q)


@needs_friction
@pytest.mark.parametrize("name", REAL_SCENES)
def test_coulomb_friction_of_real_scenes(name):
    held = np.load(FRICTION / f"{name}.npz")
    q, mu = held["q"].astype(float), held["mu"].astype(float)
    n = len(q)
    csr = (held["W_data"], held["W_indices"], held["W_indptr"])
    W = scipy.sparse.csr_matrix(csr, shape=(n, n)).toarray()
    dp = DenseProblem(
        W,
        q,
        np.zeros(n),
        np.full(n, np.inf),
        np.repeat(mu, 3),
        np.diag(W).copy(),
        np.zeros(n),
        np.zeros(n),
        n,
        0,
        FRICTION_CONE,
        0,
        0,
        np.zeros(n, np.int64),
    )
    solve_proximal_newton(dp, make_proximal_newton(n), 2000, 1e-11 * np.abs(q).max())
    assert coulomb_error(W, q, mu, dp.lam) < 1e-10
