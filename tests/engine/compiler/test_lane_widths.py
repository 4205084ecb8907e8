"""Lanes of eight worlds use AVX-512, and lanes of four, compiled beside them, do not."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from llvmlite import binding as llvm
from numpy.typing import NDArray

from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import HAS_LANES, W, compile_for_width, lanes_handle
from cardan.engine.compiler.processor import FAMILY, NARROW, WIDE, target
from cardan.engine.compiler.structs import struct
from cardan.engine.lanes.arrays import lane_array
from tests.engine.compiler.fresh import answer_of

pytestmark = pytest.mark.skipif(not HAS_LANES, reason="this mode has no lanes")


@struct
class Numbers(NamedTuple):
    """What the kernel of these tests computes with."""

    x: NDArray[Any]
    y: NDArray[Any]


@kernel
def add_squares(handle: Numbers) -> None:
    """y <- y + x x, element by element."""
    numbers = struct_of(handle)
    for k in range(numbers.x.shape[0]):
        numbers.y[k] += numbers.x[k] * numbers.x[k]


def test_every_width_is_compiled_for_its_own_registers() -> None:
    x, y = lane_array((3,)), lane_array((3,))
    x["lane"] = np.arange(3 * W).reshape(3, W)
    y["lane"] = 0.5
    add_squares(lanes_handle(Numbers(x, y)))
    np.testing.assert_array_equal(y["lane"], x["lane"] ** 2 + 0.5)
    if target().name != FAMILY:
        pytest.skip("not a processor of the family that has AVX-512")
    for width in (NARROW, WIDE):
        compile_for_width(add_squares, width)
    overloads: dict[Any, Any] = add_squares.overloads  # type: ignore[attr-defined]
    assert len(overloads) == 2
    uses_zmm = {}
    for arguments, made in overloads.items():
        # the module that was compiled, for the processor it was compiled for
        uses_zmm[arguments[0].lane_width] = "zmm" in made.library.get_asm_str()
    assert uses_zmm == {NARROW: False, WIDE: True}


def width(**variables: str) -> int:
    """Worlds in a lane group, of a fresh process."""
    return int(answer_of("from cardan.engine.compiler.lanes import W; print(W)", **variables))


def test_the_width_is_that_of_the_processor_or_of_the_features_that_are_named() -> None:
    has = llvm.get_host_cpu_features().get("avx512f", False)
    assert width() == (WIDE if has and target().name == FAMILY else NARROW)
    named = {"NUMBA_CPU_NAME": FAMILY, "NUMBA_CPU_FEATURES": "+avx2,+fma"}
    assert width(**named) == NARROW
    more = ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
    assert width(**named | {"NUMBA_CPU_FEATURES": "+avx2,+fma" + more}) == WIDE
    assert width(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="+sse2") == NARROW
