"""Kernels of the engine take indices as they are; other functions count from the end, as Python."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.compiler import indexing
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.mode import COMPILER, INTERPRETED, ORDINARY

pytestmark = pytest.mark.skipif(
    INTERPRETED or COMPILER != ORDINARY, reason="indices are changed by the ordinary compiler"
)


def element(a, i):
    """One element."""
    return a[i]


def size_of_slice(a, first, end):
    """How much of an array a slice has."""
    return a[first:end].shape[0]


def of_the_engine(function):
    """A kernel with the name of one in a module of the engine."""
    ours = type(function)(function.__code__, function.__globals__, f"{function.__name__}_of_engine")
    ours.__module__, ours.__qualname__ = indexing.__name__, ours.__name__
    return kernel(ours)


# elements before the slice keep what is read there in the memory of the test
ROOM = np.array([7.0, 8.0, 1.0, 2.0, 3.0])


def test_a_negative_index_does_not_count_from_the_end_in_the_engine() -> None:
    ours, other = of_the_engine(element), kernel(element)
    assert [ours(ROOM[2:], i) for i in (0, 2, -1, -2)] == [1.0, 3.0, 8.0, 7.0]
    assert [other(ROOM[2:], i) for i in (0, 2, -1, -2)] == [1.0, 3.0, 3.0, 2.0]


@pytest.mark.parametrize(
    ("first", "end", "size"), [(0, 3, 3), (1, 2, 1), (1, 9, 2), (3, 9, 0), (4, 9, 0), (2, 1, 0)]
)
def test_slices_are_cut_to_their_array(first: int, end: int, size: int) -> None:
    assert of_the_engine(size_of_slice)(ROOM[2:], first, end) == size
    assert kernel(size_of_slice)(ROOM[2:], first, end) == size


def test_a_float_that_is_stored_leaves_integers_as_they_were() -> None:
    def follow(x, order, n):
        """Walk along `order` and count in x."""
        k = 0
        for _ in range(n):
            x[k] += 1.0
            k = order[k]
        return k

    found = [np.zeros(4), np.zeros(4)]
    order = np.array([2, 0, 3, 1])
    ends = [of_the_engine(follow)(found[0], order, 7), kernel(follow)(found[1], order, 7)]
    assert ends[0] == ends[1] == 1
    assert found[0].tolist() == found[1].tolist() == [2.0, 1.0, 2.0, 2.0]
