"""Published problems, read from the folder named by CARDAN_REFERENCE_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from engine.complementarity import problem

DATA = Path(os.environ.get("CARDAN_REFERENCE_DATA", "../shared/data"))
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="no reference data: set CARDAN_REFERENCE_DATA"
)


def names_in(folder, pattern):
    """Names of the files of a collection, without their ending."""
    return sorted(path.stem for path in (DATA / folder).glob(pattern))


def read_friction(name):
    """A friction problem: u = W r + q, normal first in each contact."""
    data = np.load(DATA / "friction" / f"{name}.npz")
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
