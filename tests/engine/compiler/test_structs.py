"""Structs: the same to a kernel as the named tuple is to Python."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target
from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.mode import INTERPRETED
from cardan.engine.compiler.structs import StructType, size_of, struct
from cardan.engine.compiler.warmup import tiny_scene
from cardan.engine.simulation import Simulation
from cardan.engine.world.workspace import Workspace
from cardan.schemas import load_scene


@struct
class Inner(NamedTuple):
    """Two arrays."""

    x: NDArray
    y: NDArray


@struct
class Outer(NamedTuple):
    """A struct among an array and numbers of several widths."""

    k: NDArray
    flag: bool
    inner: Inner
    count: int  # type: ignore[assignment]  # hides tuple.count, as in the engine
    scale: float


@kernel
def read(outer: Outer) -> tuple[float, float, int, bool]:
    """One of each."""
    return outer.inner.y[1, 2], outer.k[3] * outer.scale, outer.count, outer.flag


@kernel
def write(outer: Outer) -> None:
    """Through two levels."""
    outer.inner.x[0] = outer.k[1] + outer.inner.x[1]


@kernel
def exchanged(inner: Inner, k: NDArray) -> Outer:
    """One that a kernel makes and gives away."""
    return Outer(k, True, Inner(inner.x, inner.y), k.shape[0], 0.5)


@kernel
def make_and_read(outer: Outer) -> float:
    """Made in a loop: each time what was asked for."""
    total = 0.0
    for i in range(4):
        made = exchanged(outer.inner, outer.k[i:])
        total += made.k[0] * made.scale + made.inner.x[0] * made.count
    return total


@kernel
def count_only(outer: Outer) -> int:
    """Takes one struct and never looks inside another."""
    return outer.count


def sample() -> Outer:
    return Outer(
        np.arange(4.0), True, Inner(np.array([7.0, 2.0]), np.arange(6.0).reshape(2, 3)), 9, 3.0
    )


def test_members_are_read_through_any_level() -> None:
    assert read(sample()) == (5.0, 9.0, 9, True)
    assert read(sample()._replace(flag=False))[3] is False


def test_arrays_in_a_struct_are_the_callers_own() -> None:
    outer = sample()
    write(outer)
    assert outer.inner.x[0] == 3.0


def test_a_struct_made_in_a_kernel_holds_what_it_was_given() -> None:
    # k[i] / 2 + 7 (4 - i)
    assert make_and_read(sample()) == sum(i / 2 + 7 * (4 - i) for i in range(4))


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_struct_made_in_a_kernel_has_the_type_of_one_from_outside() -> None:
    outer = sample()
    inner = exchanged.inner  # type: ignore[attr-defined]
    inner.compile((numba.typeof(outer.inner), numba.typeof(outer.k)))
    assert inner.nopython_signatures[0].return_type == numba.typeof(outer)


def test_two_classes_with_the_same_members_are_two_types() -> None:
    one, other = (
        StructType(Inner, (numba.float64, numba.int64)),
        StructType(Inner, (numba.float64, numba.float64)),
    )
    assert one != other
    assert one == StructType(Inner, (numba.float64, numba.int64))


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_what_is_no_struct_of_the_kernel_is_refused() -> None:
    with pytest.raises(numba.TypingError):
        count_only(np.zeros(3))  # type: ignore[arg-type]  # what is refused


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_the_workspace_travels_as_one_pointer() -> None:
    work = Simulation(load_scene(tiny_scene())).work
    assert isinstance(work, Workspace)
    found = numba.typeof(work)
    assert isinstance(found, StructType)
    assert all(
        isinstance(member, StructType | numba.types.Array) for member in found.members.values()
    )


@pytest.mark.skipif(INTERPRETED, reason="in Python a struct is a tuple")
def test_llvm_is_asked_once_for_the_size_of_a_type() -> None:
    world = numba.typeof(Simulation(load_scene(tiny_scene())).world)
    manager = cpu_target.target_context.data_model_manager
    size_of.cache_clear()
    asked = manager.lookup(StructType(Outer, (world, *[numba.float64] * 4))).size
    again = manager.lookup(StructType(Outer, (*[numba.float64] * 4, world))).size
    assert asked == again > 8 * 1000
    assert size_of.cache_info().misses < 20
