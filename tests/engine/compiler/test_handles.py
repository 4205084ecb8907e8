"""Kernels see through a handle what Python wrote into its arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.compiler.handles import handle_of, struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.structs import struct


@struct
class Inner(NamedTuple):
    """One of two."""

    x: NDArray
    grid: NDArray


@struct
class Outer(NamedTuple):
    """A struct with everything that occurs in one."""

    count: NDArray  # type: ignore[assignment]  # hides tuple.count, as in the engine
    inner: Inner
    h: float
    n: int


@kernel
def add_up(outer: Outer) -> float:
    """n h, all of x and grid, and the count."""
    total = outer.n * outer.h + outer.count[0]
    for i in range(outer.inner.x.shape[0]):
        total += outer.inner.x[i]
    for i in range(outer.inner.grid.shape[0]):
        for j in range(outer.inner.grid.shape[1]):
            total += outer.inner.grid[i, j]
    outer.count[0] += 1
    return total


@kernel
def add_up_through(handle: Outer) -> float:
    """The same through a handle."""
    return add_up(struct_of(handle))


def example() -> Outer:
    """6 of n h, 6 of x, 15 of the grid."""
    return Outer(np.zeros(1, np.int64), Inner(np.arange(4.0), np.arange(6.0).reshape(2, 3)), 2.0, 3)


def type_of(outer: Outer) -> Any:
    """What the compiler takes the handle of a struct for."""
    handle: Any = handle_of(outer)
    return handle._numba_type_


def test_kernels_find_every_member() -> None:
    assert add_up_through(handle_of(example())) == add_up(example()) == 27.0


def test_both_sides_write_to_the_same_arrays() -> None:
    outer = example()
    handle = handle_of(outer)
    add_up_through(handle)
    assert outer.count[0] == 1
    outer.inner.x[0] = 100.0
    assert add_up_through(handle) == 128.0


def test_arrays_live_as_long_as_the_handle() -> None:
    handles = [handle_of(example()) for _ in range(50)]
    assert {add_up_through(one) for one in handles} == {27.0}


def test_handles_of_other_types_of_arrays_are_other_types() -> None:
    outer = example()
    turned = outer._replace(inner=outer.inner._replace(grid=np.arange(6.0).reshape(3, 2).T))
    # the same numbers, stored by columns
    assert add_up_through(handle_of(turned)) == add_up_through(handle_of(example())) == 27.0
    counted = example()._replace(inner=outer.inner._replace(x=np.arange(4)))
    assert add_up_through(handle_of(counted)) == 27.0
    assert type_of(outer) is type_of(example())
    assert type_of(outer) != type_of(counted)
