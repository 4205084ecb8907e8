"""Parts of graphs beside those that SciPy finds."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

from cardan.engine.build.components import components


@pytest.mark.parametrize("n_edges", [0, 1, 20, 60, 400])
def test_parts_are_those_of_scipy_in_the_order_of_their_smallest_nodes(n_edges: int) -> None:
    n, rng = 60, np.random.default_rng(n_edges)
    a, b = rng.integers(0, n, (2, n_edges))
    graph = scipy.sparse.coo_array((np.ones(n_edges), (a, b)), shape=(n, n))
    _, wanted = scipy.sparse.csgraph.connected_components(graph, directed=False)
    found = components(n, a, b)
    assert (found[:, None] == found).tolist() == (wanted[:, None] == wanted).tolist()
    first = [int(np.flatnonzero(found == part)[0]) for part in range(found.max() + 1)]
    assert first == sorted(first)


def test_the_longest_chain_is_one_part_whichever_way_its_edges_run() -> None:
    n = 2000
    order = np.random.default_rng(1).permutation(n)
    assert not components(n, order[1:], order[:-1]).any()
