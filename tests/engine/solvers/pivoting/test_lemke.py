"""Lemke's method on plain matrices: conditions, textbook problems, degenerate ones, rays."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardan.engine.complementarity.paths import solve_lcp
from cardan.engine.world.report import STOPPED_EXACT, STOPPED_NO_SOLUTION
from tests.published import data


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 12))
def test_positive_definite_problems_are_solved(seed, n):
    """A skew part makes the matrix unsymmetric and leaves it a P-matrix: one answer, always."""
    rng = np.random.default_rng(seed)
    B, K = rng.normal(size=(2, n, n))
    s = solve_lcp(B @ B.T + 0.1 * np.eye(n) + K - K.T, rng.normal(size=n))
    assert s.status == STOPPED_EXACT
    assert (s.z >= 0.0).all()
    assert s.residual < 1e-9


@given(seed=st.integers(0, 2**32 - 1), rank=st.integers(1, 6))
def test_degenerate_problems_are_solved(seed, rank):
    """Singular matrices of small whole numbers tie in every other ratio."""
    rng = np.random.default_rng(seed)
    B = rng.integers(-1, 2, size=(10, rank)).astype(float)
    q = B @ rng.integers(-2, 3, size=rank).astype(float) + rng.integers(0, 2, size=10)
    s = solve_lcp(B @ B.T, q)
    assert s.status == STOPPED_EXACT
    assert s.residual < 1e-9


def test_nothing_to_do_takes_no_pivot():
    s = solve_lcp(np.eye(2), [1.0, 0.0])
    assert (s.status, s.iterations, s.residual) == (STOPPED_EXACT, 0, 0.0)


def test_beale_cycle_ends():
    """Murty's example of a cycle under the largest-coefficient rule, with ties at zero."""
    M = np.array([[1.0, 2, 0], [0, 1, 2], [2, 0, 1]])
    s = solve_lcp(M, [-1.0, -1.0, -1.0])
    np.testing.assert_allclose(s.z, np.full(3, 1 / 3), atol=1e-14)


def test_impossible_is_said():
    s = solve_lcp([[-1.0]], [-1.0])
    assert s.status == STOPPED_NO_SOLUTION
    assert not s.z.any()


@pytest.mark.parametrize(("M", "q"), [(np.eye(2), [1.0]), ([[np.nan]], [1.0]), ([[1.0]], [np.inf])])
def test_what_is_no_problem_is_refused(M, q):
    with pytest.raises(ValueError, match=r"shape|finite"):
        solve_lcp(M, q)


def read_lcp(path):
    """Matrix and vector of a file of the collection, dense or in blocks (columns first)."""
    words = path.read_text().split()
    n = int(words[0])
    if words[1] == "0":
        numbers = np.array(words[6 : 6 + n * n + n], float)
        return numbers[: n * n].reshape(n, n), numbers[n * n :]
    # sizes, ends of the blocks (twice), lengths of both indices, starts of rows, columns, blocks
    n_blocks, size = int(words[4]), int(words[5])
    at = 7
    ends = [int(word) for word in words[at : at + size]]
    at += 2 * size + 2
    starts = [int(word) for word in words[at : at + size + 1]]
    at += size + 1
    columns = [int(word) for word in words[at : at + n_blocks]]
    at += n_blocks
    begins = [0, *ends]
    M = np.zeros((n, n))
    for row in range(size):
        for block in range(starts[row], starts[row + 1]):
            column = columns[block]
            shape = (ends[row] - begins[row], ends[column] - begins[column])
            values = np.array(words[at + 1 : at + 1 + shape[0] * shape[1]], float)
            at += 1 + shape[0] * shape[1]
            M[begins[row] : ends[row], begins[column] : ends[column]] = values.reshape(
                shape, order="F"
            )
    return M, np.array(words[at : at + n], float)


@pytest.mark.reference
def test_published_problems():
    answers = json.loads(data("lcp", "reference.json").read_text())
    assert len(answers) == 10
    for answer in answers:
        M, q = read_lcp(data("lcp", answer["file"]))
        s = solve_lcp(M, q)
        if answer["status"] == "ray":
            assert s.status == STOPPED_NO_SOLUTION, answer["file"]
            continue
        assert s.status == STOPPED_EXACT, answer["file"]
        assert s.residual < 1e-12, answer["file"]
        if answer["eig_min_sym"] > 0.0:
            np.testing.assert_allclose(s.z, answer["z"], atol=1e-12)
