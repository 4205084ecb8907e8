"""Four neighbours of an array as one value: the bits of the numbers one by one."""

import numpy as np
import pytest

from cardan.engine.compiler.fours import four_of, put_four
from cardan.engine.compiler.inline import fused_kernel
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import HAS_LANES

pytestmark = pytest.mark.skipif(not HAS_LANES, reason="four numbers are a small array here")


@kernel
def subtract(x: np.ndarray, f: float, y: np.ndarray) -> None:
    """y[1:5] -= f x[2:6]."""
    put_four(four_of(y, 1) - f * four_of(x, 2), y, 1)


@fused_kernel
def subtract_fused(x: np.ndarray, f: float, y: np.ndarray) -> None:
    """The same; product and difference are one operation."""
    put_four(four_of(y, 0) - f * four_of(x, 0), y, 0)


@fused_kernel
def subtract_one(x: np.ndarray, f: float, y: np.ndarray) -> None:
    """The first of these numbers alone."""
    y[0] -= f * x[0]


@kernel
def subtract_both(x: np.ndarray, f: float, y: np.ndarray, z: np.ndarray) -> None:
    """Four numbers of y at once, and of z one by one."""
    subtract_fused(x, f, y)
    for k in range(4):
        subtract_one(x[k:], f, z[k:])


def test_four_numbers_are_subtracted_and_no_others() -> None:
    dice = np.random.default_rng(5)
    x, y = dice.normal(size=8), dice.normal(size=8)
    wanted = y.copy()
    wanted[1:5] -= 0.3 * x[2:6]
    subtract(x, 0.3, y)
    assert y.tobytes() == wanted.tobytes()


def test_products_are_fused_as_they_are_one_by_one() -> None:
    dice = np.random.default_rng(6)
    for _ in range(50):
        x, y = dice.normal(size=4), dice.normal(size=4)
        z, f = y.copy(), float(dice.normal())
        subtract_both(x, f, y, z)
        assert y.tobytes() == z.tobytes()


def test_numbers_that_are_apart_are_refused() -> None:
    apart = np.zeros((8, 2))[:, 0]
    with pytest.raises(Exception, match="numbers are apart"):
        subtract(apart, 0.3, np.zeros(8))
