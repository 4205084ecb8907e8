"""Published problems as this engine takes them."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from cardan.engine.complementarity import problem
from tests.published import FRICTION


def read_friction(name):
    """A friction problem: u = W r + q, normal first in each contact."""
    data = np.load(FRICTION / f"{name}.npz")
    q = data["q"].astype(float)
    csr = (data["W_data"], data["W_indices"], data["W_indptr"])
    W = scipy.sparse.csr_matrix(csr, shape=(len(q), len(q)))
    return problem(W, q, mu=data["mu"].astype(float), tangents=int(data["dim"]) - 1)


def read_mixed(path):
    """M, q and the number of equations, which come first; the matrix is stored column by column."""
    words = path.read_text().split()
    n, m = int(words[2]), int(words[3])
    size = n + m
    head = ["1", "1", n, m, "0", n, size, "0", "1", "0", size, size, size, size]
    assert words[: len(head)] == [str(word) for word in head]
    at = len(head)
    M = np.array(words[at : at + size * size], float).reshape(size, size, order="F")
    at += size * size
    return M, np.array(words[at : at + size], float), n
