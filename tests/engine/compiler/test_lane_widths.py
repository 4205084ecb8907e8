"""Lanes of eight worlds use AVX-512, and lanes of four, compiled beside them, do not."""

from pathlib import Path
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


def test_the_kernel_of_these_tests_computes_every_lane() -> None:
    add_to_all()


def add_to_all() -> None:
    """Compile and run the kernel."""
    x, y = lane_array((3,)), lane_array((3,))
    x["lane"] = np.arange(3 * W).reshape(3, W)
    y["lane"] = 0.5
    add_squares(lanes_handle(Numbers(x, y)))
    np.testing.assert_array_equal(y["lane"], x["lane"] ** 2 + 0.5)


def uses_wide_registers() -> dict[int, bool]:
    """Whether the kernel uses registers of AVX-512, by the width it is compiled for."""
    add_to_all()
    for width in (NARROW, WIDE):
        compile_for_width(add_squares, width)
    overloads: dict[Any, Any] = add_squares.overloads  # type: ignore[attr-defined]
    return {
        # the module that was compiled, for the processor it was compiled for
        arguments[0].lane_width: "zmm" in made.library.get_asm_str()
        for arguments, made in overloads.items()
    }


def test_every_width_is_compiled_for_its_own_registers(tmp_path: Path) -> None:
    if target().name != FAMILY:
        pytest.skip("not a processor of the family that has AVX-512")
    # nothing is read from the disk: that has no listing
    code = "import json\nfrom tests.engine.compiler import test_lane_widths as tests\n"
    code += "print(json.dumps(tests.uses_wide_registers()))"
    found = answer_of(code, CARDAN_KERNEL_CACHE=str(tmp_path))
    assert found == {str(NARROW): False, str(WIDE): True}


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
